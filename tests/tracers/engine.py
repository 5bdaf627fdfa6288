#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""engine.py FILE: writes a capture in which a datagram is given up, and bytes of an HTTP stream.

A fragment without its others, a request with a hole that its receiver acknowledges, and a datagram a minute later.
"""
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ipv4(source, destination, protocol, payload, flags=0x4000):
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 7, flags, 64, protocol, 0, source, destination)
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def tcp(sport, dport, seq, ack, flags, payload=b""):
    return struct.pack(">HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 65000, 0, 0) + payload


CLIENT, SERVER = 0x0A000001, 0x0A000002
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
UDP = struct.pack(">HHHH", 1000, 2000, 24, 0) + bytes(16)


def from_client(seq, ack, flags, payload=b""):
    return ipv4(CLIENT, SERVER, 6, tcp(40000, 80, seq, ack, flags, payload))


def from_server(seq, ack, flags):
    return ipv4(SERVER, CLIENT, 6, tcp(80, 40000, seq, ack, flags))


PACKETS = [
    (0, ipv4(CLIENT, SERVER, 17, UDP, flags=0x2000)),
    (1, from_client(100, 0, 0x02)),
    (1, from_server(500, 101, 0x12)),
    (1, from_client(101, 501, 0x10)),
    (1, from_client(101, 501, 0x18, REQUEST)),
    (1, from_client(101 + len(REQUEST) + 50, 501, 0x18, REQUEST)),
    (1, from_server(501, 101 + 2 * len(REQUEST) + 50, 0x10)),
    (90, ipv4(CLIENT, SERVER, 17, UDP)),
]

with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
    for second, packet in PACKETS:
        out.write(struct.pack("<IIII", 1700000000 + second, 0, len(packet), len(packet)) + packet)
