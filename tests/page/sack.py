#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of a server that sends ten segments of 1,000 bytes; the third and the sixth are lost after the
capture, so the client SACKs what comes after them, in two blocks, until both have been sent again.

usage: sack.py FILE
"""
import struct
import sys

SYN, ACK = 2, 16
CLIENT, SERVER = (bytes([192, 0, 2, 1]), 40000), (bytes([198, 51, 100, 2]), 80)
PERMITTED = b"\4\2\1\1"  # SACK is permitted
frames = []


def segment(time, source, target, sequence, ack, flags, length=0, options=b""):
    """A segment at a time in milliseconds."""
    tcp = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, ack, (20 + len(options)) << 2, flags, 60000, 0, 0)
    tcp += options + bytes(length)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source[0], target[0])
    frames.append((time, ip + tcp))


def send(time, number):
    segment(time, SERVER, CLIENT, 5001 + 1000 * number, 101, ACK, 1000)


def acknowledge(time, number, *blocks):
    edges = b"".join(struct.pack(">II", 5001 + 1000 * left, 5001 + 1000 * right) for left, right in blocks)
    options = bytes([1, 1, 5, 2 + len(edges)]) + edges if blocks else b""
    segment(time, CLIENT, SERVER, 101, 5001 + 1000 * number, ACK, 0, options)


segment(0, CLIENT, SERVER, 100, 0, SYN, 0, PERMITTED)
segment(1, SERVER, CLIENT, 5000, 101, SYN | ACK, 0, PERMITTED)
acknowledge(2, 0)
ANSWERS = (1,), (2,), None, (2, (3, 4)), (2, (3, 5)), None, (2, (6, 7), (3, 5)), (2, (6, 8), (3, 5))
for number, answer in enumerate(ANSWERS):
    send(10 + 10 * number, number)
    if answer:
        acknowledge(15 + 10 * number, *answer)
send(100, 2)
acknowledge(105, 5, (6, 8))
send(110, 5)
acknowledge(115, 8)
send(120, 8)
send(121, 9)
acknowledge(125, 10)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for milliseconds, frame in frames:
        file.write(struct.pack("<IIII", 1700000000, milliseconds * 1000, len(frame), len(frame)) + frame)
