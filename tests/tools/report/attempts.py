#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of a client that sends the SYN of one connection at these times, in seconds, and has no answer.

usage: attempts.py FILE TIME...
"""
import struct
import sys

CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])

tcp = struct.pack(">HHIIBBHHH", 40000, 80, 100, 0, 0x50, 2, 60000, 0, 0)
syn = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, CLIENT, SERVER) + tcp
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for time in sys.argv[2:]:
        file.write(struct.pack("<IIII", 1700000000 + int(time), 0, len(syn), len(syn)) + syn)
