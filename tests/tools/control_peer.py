#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A control socket that is not netobsd's: sends one reply to every request, whatever it is.

usage: control_peer.py SOCKET REPLY [LOG [WORD [MORE [SECONDS]]]]

Python's escapes are understood in the reply.  LOG gets the requests; one that begins with WORD has no reply.  After the
reply MORE is sent again and again, until the client closes the connection, with pauses of SECONDS.
"""
import os
import socket
import sys
import time

# Clients find the socket when they can connect to it.
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1] + ".new")
server.listen()
os.rename(sys.argv[1] + ".new", sys.argv[1])
waiting = []
while True:
    client = server.accept()[0]
    waiting.append(client)
    try:
        request = client.recv(4096)
        if len(sys.argv) > 3:
            with open(sys.argv[3], "ab") as log:
                log.write(request)
        if len(sys.argv) > 4 and sys.argv[4] != "-" and request.startswith(sys.argv[4].encode()):
            continue
        client.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
        while len(sys.argv) > 5:
            client.sendall(sys.argv[5].encode())
            time.sleep(float(sys.argv[6]) if len(sys.argv) > 6 else 0)  # no event: the pace of a slow peer
        # As netobsd: with input that is not read, the reply would seem to be incomplete.
        client.shutdown(socket.SHUT_WR)
        client.settimeout(10)
        while client.recv(4096):
            pass
    except OSError:
        pass
    waiting.remove(client)
    client.close()
