#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A control socket that is not netobsd's: sends one reply to every request, whatever it is.

usage: control_peer.py SOCKET REPLY [LOG [WORD]]

Python's escapes are understood in the reply.  LOG gets the requests; one that begins with WORD has no reply.
"""
import os
import socket
import sys

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
        if len(sys.argv) > 4 and request.startswith(sys.argv[4].encode()):
            continue
        client.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
    except OSError:
        pass
    waiting.remove(client)
    client.close()
