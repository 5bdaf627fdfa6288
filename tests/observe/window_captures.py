#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes captures of 100 datagrams, one a second from 1000 s on, each from a port of its own; the last byte is missing.

usage: window_captures.py ORDERED UNORDERED    UNORDERED: number 50 has the time of number 40
"""
import struct
import sys


def frame(number):
    udp = struct.pack("!HHHH", 1000 + number, 53, 26, 0) + bytes(18)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 46, number, 0, 64, 17, 0, bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]))
    total = sum(struct.unpack("!10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    return bytes(12) + b"\x08\x00" + ip[:10] + struct.pack("!H", 0xFFFF - total) + ip[12:] + udp


for path, late in (sys.argv[1], None), (sys.argv[2], 50):
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for i in range(100):
        body = frame(i)
        data += struct.pack("<IIII", 1040 if i == late else 1000 + i, 0, len(body), len(body)) + body
    with open(path, "wb") as file:
        file.write(data[:-1])
