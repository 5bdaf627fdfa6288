#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connections on the loopback interface for report_live.sh.

usage: report_traffic.py ends|bulk

ends   1000 bytes to port 7001, and a connection to port 7002 that is refused
bulk   100,000 bytes to port 7003; the connection stays open until the end of the program
"""
import socket
import sys

port, pieces = (7001, 1) if sys.argv[1] == "ends" else (7003, 100)
listener = socket.create_server(("127.0.0.1", port))
client = socket.create_connection(("127.0.0.1", port))
server = listener.accept()[0]
for _ in range(pieces):
    client.sendall(b"x" * 1000)
    server.recv(1000, socket.MSG_WAITALL)
if sys.argv[1] == "ends":
    for end in client, server, listener:
        end.close()
    try:
        socket.create_connection(("127.0.0.1", 7002))
    except ConnectionRefusedError:
        pass
