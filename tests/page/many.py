#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of 120 connection attempts without an answer.

usage: many.py FILE
"""
import struct
import sys

with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for attempt in range(3):
        for port in range(120):
            tcp = struct.pack(">HHIIBBHHH", 40000 + port, 80, 1000, 0, 0x50, 2, 60000, 0, 0)
            frame = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40, 0, 0x4000, 64, 6, 0, bytes([192, 0, 2, 1]),
                                bytes([198, 51, 100, 2])) + tcp
            file.write(struct.pack("<IIII", 1700000000 + 2 ** attempt, port * 1000, len(frame), len(frame)) + frame)
