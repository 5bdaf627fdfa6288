#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture with one connection for each server port: how it ends, or what its client and server do.

usage: conns_cases.py FILE
"""
import struct
import sys

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
frames = []


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def packet(time, source, target, protocol, body):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(body), len(frames) + 1, 0x4000, 64, protocol, 0, source, target)
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    frames.append((time, ip + body))


class Connection:
    """Frames of one connection; times are seconds since its start."""

    def __init__(self, start, port):
        self.start, self.port, self.time = start, port, 0
        self.next = {"client": 1000, "server": 5000}

    def segment(self, time, end, flags, payload=b"", window=8192):
        other = "server" if end == "client" else "client"
        ports = (40000, self.port) if end == "client" else (self.port, 40000)
        addresses = (CLIENT, SERVER) if end == "client" else (SERVER, CLIENT)
        ack = self.next[other] if flags & ACK else 0
        tcp = struct.pack(">HHIIBBHHH", *ports, self.next[end], ack, 0x50, flags, window, 0, 0) + payload
        pseudo = addresses[0] + addresses[1] + struct.pack(">BBH", 0, 6, len(tcp))
        tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]
        packet(self.start + time, *addresses, 6, tcp)
        self.next[end] += len(payload) + (flags & SYN != 0) + (flags & FIN != 0)
        return self

    def open(self):
        return self.segment(0, "client", SYN).segment(0.01, "server", SYN | ACK).segment(0.02, "client", ACK)

    def close(self, time):
        return (
            self.segment(time, "client", FIN | ACK)
            .segment(time + 0.01, "server", FIN | ACK)
            .segment(time + 0.02, "client", ACK)
        )


def make():
    # The client thinks 1.3 s before it asks; the server answers within 20 ms.
    c = Connection(1000, 80).open().segment(1.32, "client", PSH | ACK, b"GET / HTTP/1.0\r\n\r\n")
    c.segment(1.34, "server", PSH | ACK, b"x" * 100).segment(1.35, "client", ACK).close(1.4)
    # The server thinks 1.3 s.
    c = Connection(1000.1, 81).open().segment(0.03, "client", PSH | ACK, b"GET / HTTP/1.0\r\n\r\n")
    c.segment(1.33, "server", PSH | ACK, b"x" * 100).segment(1.34, "client", ACK).close(1.4)
    # Refused, and never answered.
    c = Connection(1000.2, 82).segment(0, "client", SYN)
    c.segment(0.01, "server", RST | ACK)
    c = Connection(1000.3, 83)
    for time in (0, 1, 3):
        c.segment(time, "client", SYN)
        c.next["client"] = 1000
    # Reset by either end.
    Connection(1000.4, 84).open().segment(0.5, "client", RST | ACK)
    Connection(1000.5, 85).open().segment(0.5, "server", RST | ACK)
    # A window that never reopens, of a connection that is open at the end.
    c = Connection(1000.6, 86).open().segment(0.1, "client", PSH | ACK, b"y" * 1000)
    c.segment(0.2, "server", ACK, window=0)
    # Idle: two hours and more, of which the other connections see nothing.
    Connection(1000.7, 87).open()
    # Only its middle was captured.
    c = Connection(1000.8, 88)
    c.segment(0, "server", PSH | ACK, b"z" * 10).segment(0.1, "client", ACK)
    # The last frame of the capture, after the idle time.
    packet(1000 + 8000, SERVER, CLIENT, 17, struct.pack(">HHHH", 53, 5353, 8, 0))


make()
frames.sort(key=lambda frame: frame[0])
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
    for at, data in frames:
        seconds = int(at)
        out.write(struct.pack("<IIII", seconds, round((at - seconds) * 1e6) % 1000000, len(data), len(data)) + data)
