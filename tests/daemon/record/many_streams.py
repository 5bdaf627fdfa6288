#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of UDP streams with two datagrams each, so that records do not come in the order of their ends.

usage: many_streams.py FILE COUNT
"""
import struct
import sys

count = int(sys.argv[2])


def record(time, number):
    """A datagram of a stream, `time` us after the first one."""
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0, struct.pack(">I", 0x0A000000 + number // 50000),
                         b"\x0a\x01\0\0")
    total = sum(struct.unpack(">10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    return (struct.pack("<IIII", 1000000000 + time // 1000000, time % 1000000, 28, 28) + header[:10] +
            struct.pack(">H", ~total & 0xFFFF) + header[12:] + struct.pack(">HHHH", 1024 + number % 50000, 53, 8, 0))


with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
    for i in range(count):
        file.write(record(i * 10, i))
    for i in range(count):
        file.write(record((count + i) * 10, i * 7919 % count))
