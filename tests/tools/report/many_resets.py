#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of a connection whose server sends 20,000 RST that are not the next in order.

usage: many_resets.py FILE
"""
import struct
import sys

SYN, RST, ACK = 2, 4, 16
CLIENT, SERVER = (bytes([192, 0, 2, 1]), 40000), (bytes([198, 51, 100, 2]), 80)


def segment(source, target, sequence, ack, flags):
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, ack, 0x50, flags, 60000, 0, 0)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source[0], target[0]) + tcp


frames = [segment(CLIENT, SERVER, 100, 0, SYN), segment(SERVER, CLIENT, 900, 101, SYN | ACK), segment(CLIENT, SERVER, 101, 901, ACK)]
frames += [segment(SERVER, CLIENT, 100901 + number, 0, RST) for number in range(20000)]
frames.append(segment(CLIENT, SERVER, 101, 901, ACK))
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for number, frame in enumerate(frames):
        file.write(struct.pack("<IIII", 1700000000 + number // 1000, number % 1000 * 1000, len(frame), len(frame)) + frame)
