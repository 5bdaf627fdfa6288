#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of three connections that end with a RST: one after a RST whose number is not in the window,
one with the RST of a client after its own FIN, and one that the client resets before it is established.

usage: reset_cases.py FILE
"""
import struct
import sys

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])

frames = []


def segment(port, from_client, sequence, ack, flags, payload=b""):
    source, target = (CLIENT, SERVER) if from_client else (SERVER, CLIENT)
    ports = (40000, port) if from_client else (port, 40000)
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence, ack, 0x50, flags, 60000, 0, 0) + payload
    frames.append(struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source, target) + tcp)


def handshake(port):
    segment(port, True, 100, 0, SYN)
    segment(port, False, 900, 101, SYN | ACK)
    segment(port, True, 101, 901, ACK)


handshake(80)
segment(80, True, 101, 901, PSH | ACK, b"request")
segment(80, False, 500000, 0, RST)  # 5: far out of the window
segment(80, False, 901, 108, PSH | ACK, b"answer")
segment(80, False, 907, 108, RST | ACK)  # 7

handshake(81)
segment(81, True, 101, 901, FIN | ACK)
segment(81, False, 901, 102, PSH | ACK, b"late")
segment(81, False, 905, 102, FIN | ACK)
segment(81, True, 102, 0, RST)  # 14: the client had closed

segment(82, True, 100, 0, SYN)
segment(82, False, 900, 101, SYN | ACK)
segment(82, True, 101, 0, RST)  # 17: a port scan

handshake(83)
segment(83, True, 101, 901, FIN | ACK)
segment(83, False, 901, 102, RST | ACK)  # 22: instead of a FIN
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for number, frame in enumerate(frames):
        file.write(struct.pack("<IIII", 1700000000, number * 10000, len(frame), len(frame)) + frame)
