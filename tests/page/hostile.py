#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes two captures: names that are markup or hide something, and a connection of several thousand segments with
losses.

usage: hostile.py HOSTILE LONG
"""
import struct
import sys

FIN, SYN, PSH, ACK = 1, 2, 8, 16
CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])


def segment(number, client_sends, port, sequence, ack, flags, payload=b""):
    source, target = (CLIENT, SERVER) if client_sends else (SERVER, CLIENT)
    ports = (40000 + port, 80) if client_sends else (80, 40000 + port)
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 60000, 0, 0) + payload
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), number & 0xFFFF, 0x4000, 64, 6, 0, source, target)
    return ip + tcp


def write(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for number, frame in enumerate(frames):
            seconds, microseconds = 1700000000 + number // 1000, number % 1000 * 1000
            file.write(struct.pack("<IIII", seconds, microseconds, len(frame), len(frame)) + frame)


def hostile():
    """One connection for each name, which is that of the HTTP host."""
    frames = []
    names = [b'</script><script>alert(1)</script>', b'"><img src=x onerror=alert(2)>', b"&lt;b&gt;", b"\x1b[31m\x07",
             b"</title>", "ü.example".encode()]
    # Characters that are invisible or change the direction of others.
    names += [f"hidden{character}.example".encode() for character in "\u00ad\u061c\u200b\u200c\u200d\u200e\u200f"
              "\u2028\u202a\u202e\u2060\u2066\u2069\u3164\ufeff\U000e0041"]
    for port, name in enumerate(names):
        request = b"GET / HTTP/1.1\r\nHost: " + name + b"\r\n\r\n"
        frames += [segment(0, True, port, 100, 0, SYN), segment(0, False, port, 900, 101, SYN | ACK),
                   segment(0, True, port, 101, 901, ACK), segment(0, True, port, 101, 901, PSH | ACK, request)]
    return frames


def long():
    """A server that sends 4,000 segments, of which each hundredth is lost and sent again; its sequence numbers wrap."""
    begin = 0xFFFF0000
    frames = [segment(0, True, 1, 100, 0, SYN), segment(0, False, 1, begin - 1, 101, SYN | ACK),
              segment(0, True, 1, 101, begin, ACK)]
    for number in range(4000):
        frames.append(segment(number, False, 1, begin + 100 * number, 101, ACK, b"x" * 100))
        place = number % 100 - 70
        if place == 4:
            frames.append(segment(number + 4000, False, 1, begin + 100 * (number - place), 101, ACK, b"x" * 100))
        acknowledged = number - place if 0 <= place < 4 else number + 1
        frames.append(segment(number, True, 1, 101, begin + 100 * acknowledged, ACK))
    return frames


write(sys.argv[1], hostile())
write(sys.argv[2], long())
