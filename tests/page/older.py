#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of a SYN that the server answers for an older connection; the client resets it, and tries again.

usage: older.py FILE
"""
import struct
import sys

SYN, RST, PSH, ACK = 2, 4, 8, 16
CLIENT, SERVER = (bytes([192, 0, 2, 1]), 40000), (bytes([198, 51, 100, 2]), 80)


def segment(source, target, sequence, ack, flags, payload=b""):
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, ack, 0x50, flags, 60000, 0, 0) + payload
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source[0], target[0]) + tcp


frames = [
    (0, segment(CLIENT, SERVER, 4000000000, 0, SYN)),
    (0, segment(SERVER, CLIENT, 70000, 3000, ACK)),
    (0, segment(CLIENT, SERVER, 3000, 0, RST)),
    (1, segment(CLIENT, SERVER, 4000000000, 0, SYN)),
    (1, segment(SERVER, CLIENT, 900000, 4000000001, SYN | ACK)),
    (1, segment(CLIENT, SERVER, 4000000001, 900001, ACK)),
    (1, segment(CLIENT, SERVER, 4000000001, 900001, PSH | ACK, b"request")),
]
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for number, (second, frame) in enumerate(frames):
        file.write(struct.pack("<IIII", 1700000000 + second, number * 1000, len(frame), len(frame)) + frame)
