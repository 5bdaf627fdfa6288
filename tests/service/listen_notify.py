# SPDX-License-Identifier: BSD-2-Clause
"""Stands in for the service manager of sd_notify(3): listen_notify.py SOCKET FILE writes each datagram as one line to FILE."""
import os
import socket
import sys

path, log = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind("\0" + path[1:] if path[0] == "@" else path)
if path[0] != "@":
    os.chmod(path, 0o666)
with open(log, "w", encoding="utf-8") as out:
    print("listening", file=out, flush=True)
    while True:
        text = listener.recv(4096).decode()
        print(text.replace("\n", " "), file=out, flush=True)
        if "STOPPING=1" in text:
            break
