#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A control socket that is not netobsd's: sends one reply to every request, whatever it is.

usage: control_peer.py SOCKET REPLY [LOG]

Python's escapes are understood in the reply.  LOG gets the requests.
"""
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
while True:
    client = server.accept()[0]
    try:
        request = client.recv(4096)
        if len(sys.argv) > 3:
            with open(sys.argv[3], "ab") as log:
                log.write(request)
        client.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
    except OSError:
        pass
    client.close()
