#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connections that go on after an end, and new ones of the same ends: attempts_capture.py FILE."""
import socket
import struct
import sys

A, B, ROUTER = (socket.inet_aton(f"192.0.2.{number}") for number in (1, 2, 254))
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
out = open(sys.argv[1], "wb")
out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
now = 1_700_000_000 * 10**6
identification = 0


def packet(protocol, source, destination, payload, after_ms):
    global now, identification
    now += after_ms * 1000
    identification += 1
    frame = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), identification, 0, 64, protocol, 0, source,
                        destination) + payload
    out.write(struct.pack("<IIII", now // 10**6, now % 10**6, len(frame), len(frame)) + frame)
    return frame


def icmp_error(kind, code, quote):
    message = struct.pack(">BBHI", kind, code, 0, 0) + quote
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    total = (total & 0xFFFF) + (total >> 16)
    packet(1, ROUTER, A, message[:2] + struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + message[4:], 10)


class Pair:
    def __init__(self, port):
        self.port = port

    def client(self, flags, seq, ack=0, data=b"", after_ms=10):
        return packet(6, A, B, struct.pack(">HHIIBBHHH", self.port, 80, seq, ack, 5 << 4, flags, 65000, 0, 0) + data,
                      after_ms)

    def server(self, flags, seq, ack=0, data=b"", after_ms=10):
        return packet(6, B, A, struct.pack(">HHIIBBHHH", 80, self.port, seq, ack, 5 << 4, flags, 65000, 0, 0) + data,
                      after_ms)

    def whole(self, client_isn, server_isn):
        """Opened, 100 bytes each way, closed by the client: 5 segments of the client, 3 of the server."""
        c, s = client_isn + 1, server_isn + 1
        self.client(SYN, client_isn)
        self.server(SYN | ACK, server_isn, c)
        self.client(ACK, c, s)
        self.exchange(c, s)
        self.close(c + 100, s + 100)

    def exchange(self, c, s):
        self.client(PSH | ACK, c, s, b"x" * 100)
        self.server(PSH | ACK, s, c + 100, b"y" * 100)

    def close(self, c, s):
        self.client(FIN | ACK, c, s)
        self.server(FIN | ACK, s, c + 1)
        self.client(ACK, c + 1, s + 1)


# 1: refused twice, then accepted.  2: only refused, three times.
for number in range(2):
    Pair(1).client(SYN, 1000, after_ms=1000 * number + 10)
    Pair(1).server(RST | ACK, 0, 1001)
Pair(1).whole(1000, 5000)
for number in range(3):
    Pair(2).client(SYN, 1000, after_ms=500 * number + 10)
    Pair(2).server(RST | ACK, 0, 1001)
# 3: an ICMP error, then accepted.
icmp_error(3, 13, Pair(3).client(SYN, 1000))
Pair(3).whole(1000, 5000)
# 4: a forged RST in an open connection, which goes on.
Pair(4).client(SYN, 1000)
Pair(4).server(SYN | ACK, 5000, 1001)
Pair(4).client(ACK, 1001, 5001)
Pair(4).exchange(1001, 5001)
Pair(4).server(RST | ACK, 5101, 1101)
for number in range(3):
    Pair(4).client(PSH | ACK, 1101 + 100 * number, 5101 + 100 * number, b"x" * 100, after_ms=400)
    Pair(4).server(PSH | ACK, 5101 + 100 * number, 1201 + 100 * number, b"y" * 100)
Pair(4).close(1401, 5401)
# 5: the ports are used again, twice, within TIME_WAIT.  6: after a RST of an open connection.
for number in range(3):
    Pair(5).whole(1000 + 100000 * number, 5000 + 100000 * number)
Pair(6).client(SYN, 1000)
Pair(6).server(SYN | ACK, 5000, 1001)
Pair(6).client(ACK, 1001, 5001)
Pair(6).client(RST | ACK, 1001, 5001)
Pair(6).whole(900000, 800000)
# 7: a new SYN while the old connection is open in the capture, and its answer.  8: the SYN is repeated first.
for port in 7, 8:
    Pair(port).client(SYN, 1000)
    Pair(port).server(SYN | ACK, 5000, 1001)
    Pair(port).client(ACK, 1001, 5001)
    Pair(port).exchange(1001, 5001)
    for number in range(2 if port == 8 else 0):
        Pair(port).client(SYN, 900000, after_ms=1000 * number + 10)
    Pair(port).whole(900000, 800000)
out.close()
