#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of IPv6 packets, each with a header of destination options: a TCP segment, a datagram, a fragment.

usage: extended.py FILE
"""
import struct
import sys

TCP, UDP, FRAGMENT, OPTIONS = 6, 17, 44, 60
ADDRESSES = bytes.fromhex("20010db8" + "0" * 23 + "1" + "20010db8" + "0" * 23 + "2")


def packet(protocol, payload):
    options = struct.pack(">BBBBI", protocol, 0, 1, 4, 0) + payload
    return struct.pack(">IHBB", 6 << 28, len(options), OPTIONS, 64) + ADDRESSES + options


PACKETS = [
    packet(TCP, struct.pack(">HHIIBBHHH", 40000, 80, 100, 0, 0x50, 2, 60000, 0, 0)),
    packet(UDP, struct.pack(">HHHH", 40000, 53, 16, 0xFFFF) + bytes(8)),
    packet(FRAGMENT, struct.pack(">BBHI", UDP, 0, 8, 1) + bytes(8)),
]

with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for number, data in enumerate(PACKETS):
        file.write(struct.pack("<IIII", 1700000000, number, len(data), len(data)) + data)
