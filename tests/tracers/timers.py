#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""timers.py FILE: writes a capture with packets that no small capture has: a loopback connection with a closed window and a
keepalive, an unanswered SYN, and a packet from a multicast address.
"""
import socket
import struct
import sys

SYN, ACK, SYN_ACK, PUSH = 2, 16, 18, 24
now = 1400000000


def ipv4(source, destination, ttl, protocol, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, ttl, protocol, 0,
                         socket.inet_aton(source), socket.inet_aton(destination))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    return header[:10] + struct.pack("!H", 0xffff - total) + header[12:] + payload


def tcp(ports, seq, ack, flags, window, payload=b""):
    ends = ("127.0.0.1", "127.0.0.2") if ports[0] > ports[1] else ("127.0.0.2", "127.0.0.1")
    return ipv4(*ends, 64, 6, struct.pack("!HHIIBBHHH", *ports, seq, ack, 0x50, flags, window, 0, 0) + payload)


there, back = (40000, 80), (80, 40000)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for packet in [
            tcp(there, 99, 0, SYN, 1000), tcp(back, 499, 100, SYN_ACK, 5), tcp(there, 100, 500, ACK, 1000),
            tcp(there, 100, 500, PUSH, 1000, b"hello"), tcp(back, 500, 105, ACK, 0),
            tcp(there, 104, 500, ACK, 1000), tcp(back, 500, 105, ACK, 0), tcp(back, 500, 105, ACK, 1000), # persist
            tcp(there, 105, 500, PUSH, 1000, b"?"), tcp(back, 500, 106, ACK, 1000),
            tcp(there, 105, 500, ACK, 1000), tcp(back, 500, 106, ACK, 1000), # a keepalive
            tcp((40001, 81), 7, 0, SYN, 1000),
            ipv4("224.0.0.1", "192.0.2.2", 64, 17, struct.pack("!HHHH", 1, 2, 8, 0))]:
        out.write(struct.pack("<IIII", now, 0, 14 + len(packet), 14 + len(packet)) + bytes(12) + b"\x08\x00" + packet)
        now += 2
