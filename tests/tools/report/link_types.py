#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a pcapng: five frames of an interface whose link type is not supported, then a SYN and the RST that refuses it.

usage: link_types.py FILE
"""
import struct
import sys

USER0, RAW = 147, 101
CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
SYN, RST_ACK = 2, 20


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def frame(interface, number, data):
    return block(6, struct.pack("<IIIII", interface, 0, number, len(data), len(data)) + data)


def segment(source, target, ports, numbers, flags):
    tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, flags, 60000, 0, 0)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source, target) + tcp


with open(sys.argv[1], "wb") as file:
    file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
    for link in USER0, RAW:
        file.write(block(1, struct.pack("<HHI", link, 0, 65535)))
    for number in range(5):
        file.write(frame(0, number, b"unknown"))
    file.write(frame(1, 6, segment(CLIENT, SERVER, (40000, 80), (100, 0), SYN)))
    file.write(frame(1, 7, segment(SERVER, CLIENT, (80, 40000), (0, 101), RST_ACK)))
