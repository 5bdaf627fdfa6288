#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends a datagram to a port of this host, from a process whose name has control characters and markup.

usage: hostile_name.py PORT

Ends when its standard input does.
"""
import socket
import sys

with open("/proc/self/comm", "w", encoding="ascii") as name:
    name.write("\033[31m<b>\007\t:")
held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
held.sendto(b"x", ("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
