#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""damaged_captures.py DIRECTORY: writes captures of packets with wrong checksums, one NAME.pcap for each name of CASES."""
import os
import socket
import struct
import sys

CLIENT, SERVER = 0, 1
PORTS = 40000, 80
ADDRESSES = {4: ("192.0.2.10", "198.51.100.20"), 6: ("2001:db8::10", "2001:db8::20")}
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
REQUEST = b"GET /%s HTTP/1.1\r\nHost: example.com\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CRC = [0] * 256
for byte in range(256):
    value = byte
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    CRC[byte] = value


def total(data):
    value = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    return value


def crc32c(data):
    crc = 0xFFFFFFFF
    for octet in data:
        crc = crc >> 8 ^ CRC[crc & 0xFF ^ octet]
    return struct.pack("<I", ~crc & 0xFFFFFFFF)


class Capture:
    """Packets between a client and a server.  `sums` of a packet: right, wrong, offload, zero, header (that of IPv4)."""

    def __init__(self, version=4):
        self.version, self.out, self.now = version, [], 1_700_000_000 * 10**6
        self.seq = [1000, 5000]
        self.sums = ["right", "right"]  # of packets that do not say it

    def ip(self, sender, protocol, payload, sums):
        ends = [socket.inet_pton({4: socket.AF_INET, 6: socket.AF_INET6}[self.version], text) for text in
                ADDRESSES[self.version]]
        source, target = ends[sender], ends[1 - sender]
        at = {6: 16, 17: 6}.get(protocol)
        if at:
            pseudo = source + target + struct.pack(">II", len(payload), protocol)
            value = total(pseudo) if sums == "offload" else ~total(pseudo + payload) & 0xFFFF
            value = 0 if sums == "zero" else value ^ (0x1234 if sums == "wrong" else 0)
            payload = payload[:at] + struct.pack(">H", value) + payload[at + 2:]
        else:
            crc = crc32c(payload)
            payload = payload[:8] + (bytes(4) if sums == "zero" else crc[::-1] if sums == "wrong" else crc) + payload[12:]
        if self.version == 6:
            packet = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + source + target
        else:
            packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), len(self.out) + 1, 0, 64, protocol, 0)
            value = ~total(packet + source + target) & 0xFFFF
            packet = packet[:10] + struct.pack(">H", value ^ (0x1234 if sums == "header" else 0)) + source + target
        self.out.append((self.now, packet + payload))
        self.now += 1000

    def segment(self, sender, flags, payload=b"", sums=None, keep=False, seq=None):
        """`keep`: the sender's next number stays, because the receiver does not see the segment."""
        number = self.seq[sender] if seq is None else seq
        acknowledges = self.seq[1 - sender] if flags & ACK else 0
        header = struct.pack(">HHIIBBHHH", PORTS[sender], PORTS[1 - sender], number, acknowledges, 5 << 4, flags, 8000, 0, 0)
        self.ip(sender, 6, header + payload, sums or self.sums[sender])
        if not keep:
            self.seq[sender] = number + len(payload) + bool(flags & SYN) + bool(flags & FIN)

    def open(self):
        self.segment(CLIENT, SYN)
        self.segment(SERVER, SYN | ACK)
        self.segment(CLIENT, ACK)

    def exchange(self):
        self.segment(CLIENT, PSH | ACK, REQUEST % b"a")
        self.segment(SERVER, PSH | ACK, RESPONSE)
        self.segment(CLIENT, ACK)

    def close(self):
        self.segment(CLIENT, FIN | ACK)
        self.segment(SERVER, FIN | ACK)
        self.segment(CLIENT, ACK)

    def datagram(self, sender, payload, sums="right", port=53):
        ports = (PORTS[CLIENT], port)[::1 if sender == CLIENT else -1]
        self.ip(sender, 17, struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload, sums)

    def query(self, number, name):
        self.datagram(CLIENT, struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + name + b"\0\0\1\0\1")

    def answer(self, number, name, code, sums="right"):
        self.datagram(SERVER, struct.pack(">HHHHHH", number, 0x8180 | code, 1, 0, 0, 0) + name + b"\0\0\1\0\1", sums)

    def chunk(self, sender, tag, chunk, sums="right"):
        self.ip(sender, 132, struct.pack(">HHII", PORTS[sender], PORTS[1 - sender], tag, 0) + chunk, sums)

    def write(self, path):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
            for now, packet in self.out:
                out.write(struct.pack("<IIII", now // 10**6, now % 10**6, len(packet), len(packet)) + packet)


def one(flags, payload=b"", sender=SERVER, version=4, sums="wrong", seq=None):
    """A connection in which one segment, before the request, has a wrong checksum."""
    capture = Capture(version)
    capture.open()
    capture.segment(sender, flags, payload, sums, True, seq)
    capture.exchange()
    capture.close()
    return capture


def damaged_syn_ack():
    capture = Capture()
    capture.segment(CLIENT, SYN)
    capture.segment(SERVER, SYN | ACK)
    capture.segment(SERVER, SYN | ACK, sums="wrong", keep=True, seq=77777)
    capture.segment(CLIENT, ACK)
    capture.exchange()
    capture.close()
    return capture


def offloaded(sums, reset):
    """What the server sends is captured before its interface has computed the checksums."""
    capture = Capture()
    capture.sums[SERVER] = sums
    capture.open()
    capture.exchange()
    if reset:
        capture.segment(SERVER, RST | ACK)
    else:
        capture.close()
    return capture


def altered():
    """The payload was altered behind the capture, and the receiver has acknowledged it."""
    capture = Capture()
    capture.open()
    for _ in range(4):
        capture.segment(CLIENT, PSH | ACK, bytes(100), "wrong")
        capture.segment(SERVER, ACK)
    capture.close()
    return capture


def dns():
    capture = Capture()
    for number, name in ((1, b"\1a"), (2, b"\1b")):
        capture.query(number, name)
        if number == 2:
            capture.answer(number, name, 3, "wrong")
        capture.answer(number, name, 0)
    return capture


def sctp(sums):
    capture = Capture()
    init = struct.pack(">IIHHI", 11, 65536, 1, 1, 100)
    capture.chunk(CLIENT, 0, struct.pack(">BBH", 1, 0, 20) + init)
    cookie = struct.pack(">HHI", 7, 8, 1)
    capture.chunk(SERVER, 11, struct.pack(">BBH", 2, 0, 28) + struct.pack(">IIHHI", 22, 65536, 1, 1, 200) + cookie)
    capture.chunk(CLIENT, 22, struct.pack(">BBHI", 10, 0, 8, 1))
    capture.chunk(SERVER, 11, struct.pack(">BBH", 11, 0, 4))
    capture.chunk(SERVER, 11, struct.pack(">BBH", 6, 0, 4), sums)  # ABORT
    capture.chunk(CLIENT, 22, struct.pack(">BBHIHHI", 0, 3, 20, 100, 0, 0, 0) + b"data")
    return capture


BAD = REQUEST % b"b"
CASES = {
    "rst": one(RST), "rst-ack": one(RST | ACK), "rst-client": one(RST, sender=CLIENT), "rst-6": one(RST, version=6),
    "rst-header": one(RST, sums="header"), "fin": one(FIN | ACK), "fin-6": one(FIN | ACK, sender=CLIENT, version=6),
    "data": one(PSH | ACK, BAD, CLIENT), "data-6": one(PSH | ACK, BAD, CLIENT, 6),
    "data-ahead": one(PSH | ACK, BAD, CLIENT, seq=3001), "syn": one(SYN, sender=CLIENT, seq=999999),
    "syn-ack": damaged_syn_ack(), "offload": offloaded("offload", False), "offload-reset": offloaded("offload", True),
    "zero": offloaded("zero", False), "zero-reset": offloaded("zero", True), "wrong": offloaded("wrong", False),
    "wrong-reset": offloaded("wrong", True), "altered": altered(), "dns": dns(), "abort": sctp("wrong"),
    "abort-right": sctp("right"),
}
for case, written in CASES.items():
    written.write(os.path.join(sys.argv[1], case + ".pcap"))
