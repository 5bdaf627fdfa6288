#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""damaged_captures.py DIRECTORY: writes captures of segments with wrong checksums, one NAME.pcap for each name of CASES."""
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

def total(data):
    value = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    return value


class Capture:
    """Segments between a client and a server.  `sums` of a segment: right, wrong, offload, zero."""

    def __init__(self, version=4):
        self.version, self.out, self.now = version, [], 1_700_000_000 * 10**6
        self.seq = [1000, 5000]
        self.sums = ["right", "right"]  # of packets that do not say it

    def ip(self, sender, payload, sums):
        ends = [socket.inet_pton({4: socket.AF_INET, 6: socket.AF_INET6}[self.version], text) for text in
                ADDRESSES[self.version]]
        source, target = ends[sender], ends[1 - sender]
        pseudo = source + target + struct.pack(">II", len(payload), 6)
        value = total(pseudo) if sums == "offload" else ~total(pseudo + payload) & 0xFFFF
        value = 0 if sums == "zero" else value ^ (0x1234 if sums == "wrong" else 0)
        payload = payload[:16] + struct.pack(">H", value) + payload[18:]
        if self.version == 6:
            packet = struct.pack(">IHBB", 6 << 28, len(payload), 6, 64) + source + target
        else:
            packet = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), len(self.out) + 1, 0, 64, 6, 0)
            packet = packet[:10] + struct.pack(">H", ~total(packet + source + target) & 0xFFFF) + source + target
        self.out.append((self.now, packet + payload))
        self.now += 1000

    def segment(self, sender, flags, payload=b"", sums=None, keep=False, seq=None):
        """`keep`: the sender's next number stays, because the receiver does not see the segment."""
        number = self.seq[sender] if seq is None else seq
        acknowledges = self.seq[1 - sender] if flags & ACK else 0
        header = struct.pack(">HHIIBBHHH", PORTS[sender], PORTS[1 - sender], number, acknowledges, 5 << 4, flags, 8000, 0, 0)
        self.ip(sender, header + payload, sums or self.sums[sender])
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


CASES = {
    "rst": one(RST), "rst-ack": one(RST | ACK), "rst-client": one(RST, sender=CLIENT), "rst-6": one(RST, version=6),
    "fin": one(FIN | ACK), "fin-6": one(FIN | ACK, sender=CLIENT, version=6), "syn": one(SYN, sender=CLIENT, seq=999999),
    "syn-ack": damaged_syn_ack(), "offload": offloaded("offload", False), "offload-reset": offloaded("offload", True),
    "zero": offloaded("zero", False), "zero-reset": offloaded("zero", True), "wrong": offloaded("wrong", False),
    "wrong-reset": offloaded("wrong", True),
}
for case, written in CASES.items():
    written.write(os.path.join(sys.argv[1], case + ".pcap"))
