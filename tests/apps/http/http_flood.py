#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""http_flood.py FILE: a capture of a web server under a flood.

20 clients open a connection each, send a request and get its response.  Then 80,000 connections from spoofed networks and 20,000
of one network send the beginning of a request and nothing else, 1,000 of them byte by byte.  Then the 20 clients send another
request, which is answered, too.
"""
import struct
import sys

SERVER = bytes([192, 0, 2, 1])
REQUEST = b"GET /page HTTP/1.1\r\nHost: www.example.com\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
BEGINNING = b"GET /slow HTTP/1.1\r\nX: "


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Capture:
    def __init__(self, path):
        self.out = open(path, "wb")
        self.out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        self.time = 1700000000 * 1000000

    def segment(self, source, destination, ports, seq, ack, flags, payload=b""):
        self.time += 2
        tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 65535, 0, 0) + payload
        pseudo = source + destination + struct.pack(">BBH", 0, 6, len(tcp))
        tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp)) + tcp[18:]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + source + destination
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        frame = bytes(range(6)) + bytes(range(6, 12)) + b"\x08\x00" + ip + tcp
        self.out.write(struct.pack("<IIII", self.time // 1000000, self.time % 1000000, len(frame), len(frame)) + frame)


class Connection:
    def __init__(self, capture, address, port):
        self.capture, self.address, self.ports = capture, address, (port, 80)
        self.sent, self.received = 1001, 5001
        capture.segment(address, SERVER, self.ports, 1000, 0, 2)
        capture.segment(SERVER, address, self.ports[::-1], 5000, 1001, 0x12)
        capture.segment(address, SERVER, self.ports, 1001, 5001, 0x10)

    def send(self, payload):
        self.capture.segment(self.address, SERVER, self.ports, self.sent, self.received, 0x18, payload)
        self.sent += len(payload)

    def receive(self, payload):
        self.capture.segment(SERVER, self.address, self.ports[::-1], self.received, self.sent, 0x18, payload)
        self.received += len(payload)


def main():
    capture = Capture(sys.argv[1])
    clients = [Connection(capture, bytes([198, 51, 100, n]), 40000) for n in range(20)]
    for client in clients:
        client.send(REQUEST)
        client.receive(RESPONSE)
    trickles = []
    for n in range(100000):
        spoofed = n % 5 != 0
        address = struct.pack(">I", 0x0a000000 + n * 150 % 0xffffff) if spoofed else bytes([203, 0, 113, n // 5 % 256])
        attacker = Connection(capture, address, 1024 + n // 5 // 256 if not spoofed else 1024 + n % 60000)
        if n % 100 == 0:
            trickles.append(attacker)
        else:
            attacker.send(BEGINNING)
    for at in range(len(BEGINNING)):
        for attacker in trickles:
            attacker.send(BEGINNING[at:at + 1])
    for client in clients:
        client.send(REQUEST)
        client.receive(RESPONSE)


main()
