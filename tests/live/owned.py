#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""owned.py serve|connect ADDRESS PORT PID ENOUGH: one end of a TCP connection, whose server sends and whose client receives
until the file ENOUGH exists; writes the id of this process to PID, when it listens if it is the server.
"""
import os
import pathlib
import socket
import sys

end, address, port, pid, enough = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
listener = socket.create_server((address, port)) if end == "serve" else None
pathlib.Path(pid).write_text(str(os.getpid()), encoding="ascii")
peer = listener.accept()[0] if listener else socket.create_connection((address, port))
peer.settimeout(0.2)
while not os.path.exists(enough):
    try:
        if listener:
            peer.sendall(b"12345678")
        peer.recv(8)
    except TimeoutError:
        pass
