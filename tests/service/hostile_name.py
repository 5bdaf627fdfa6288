#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends a datagram to a port of this host, from a process whose name has control characters and markup.

usage: hostile_name.py PORT [NAME]

NAME is another name, with Python's escapes for its bytes.  Sends a further datagram for each line of its standard input,
and ends when that does.
"""
import socket
import sys

NAME = sys.argv[2] if len(sys.argv) > 2 else r"\033[31m<b>\007\t:"
with open("/proc/self/comm", "wb") as name:
    name.write(NAME.encode().decode("unicode_escape").encode("latin-1"))
held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
held.sendto(b"x", ("127.0.0.1", int(sys.argv[1])))
for line in sys.stdin:
    held.sendto(b"x", ("127.0.0.1", int(sys.argv[1])))
