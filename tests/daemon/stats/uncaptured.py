#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""uncaptured.py DIRECTORY: captures of which something is missing.  one-way.pcap: connections of which one direction is captured,
six whose other direction exists and four others; cut.pcap: two requests and a query of which the end is cut off, and whole ones;
tunnels.pcap: five packets and two UDP streams of tunnels that are not unpacked, and one VXLAN packet; whole.pcap: nothing is
missing."""
import struct
import sys

A, B = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
FIN, SYN, RST, ACK = 1, 2, 4, 16
REQUEST = b"GET /page HTTP/1.1\r\nHost: a.example\r\nUser-Agent: a browser\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
QUERY = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\x01a\x07example\0" + struct.pack("!HH", 1, 1)


def checksum(data):
    total = sum(struct.unpack("!%dH" % ((len(data) + 1) // 2), data + bytes(len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


class Capture:
    def __init__(self):
        self.frames, self.time, self.port = [], 1_700_000_000_000_000, 40000

    def packet(self, protocol, payload, forward=True, cut=None):
        source, destination = (A, B) if forward else (B, A)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), len(self.frames) + 1, 0, 64, protocol, 0, source, destination)
        frame = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + payload
        self.time += 1000
        self.frames.append((self.time, frame, cut or len(frame)))

    def segment(self, forward, flags, seq, ack, data=b"", port=80, cut=None):
        ports = (self.port, port) if forward else (port, self.port)
        tcp = struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 65535, 0, 0) + data
        ends = A + B if forward else B + A
        tcp = tcp[:16] + struct.pack("!H", checksum(ends + struct.pack("!HH", 6, len(tcp)) + tcp)) + tcp[18:]
        self.packet(6, tcp, forward, cut)

    def datagram(self, forward, ports, data, cut=None):
        self.packet(17, struct.pack("!HHHH", *ports, 8 + len(data), 0) + data, forward, cut)

    def connection(self, forward=True, answers=True, request=REQUEST, cut=None):
        """A connection with one request, of which only one direction is captured if `forward` or `answers` is false."""
        self.port += 1
        segments = [(True, SYN, 100, 0, b""), (False, SYN | ACK, 500, 101, b""), (True, ACK, 101, 501, b""),
                    (True, ACK, 101, 501, request), (False, ACK, 501, 101 + len(request), RESPONSE)]
        last, end = 101 + len(request), 501 + len(RESPONSE)
        segments += [(True, FIN | ACK, last, end, b""), (False, FIN | ACK, end, last + 1, b""), (True, ACK, last + 1, end + 1, b"")]
        for segment in segments:
            if forward if segment[0] else answers:
                self.segment(*segment, cut=cut if segment[4] == request else None)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
            for time, frame, cut in self.frames:
                file.write(struct.pack("<IIII", time // 10**6, time % 10**6, cut, len(frame)) + frame[:cut])


def one_way():
    c = Capture()
    c.connection(answers=False)
    c.connection(forward=False)
    c.connection()
    c.port += 1  # in mid-stream, with ACKs of data
    for i in range(4):
        c.segment(True, ACK, 1000, 5000 + 1000 * i)
    c.port += 1  # in mid-stream, an upload
    for i in range(4):
        c.segment(True, ACK, 1000 + 100 * i, 5000, bytes(100))
    c.port += 1  # still open: the ACK of the SYN,ACK
    c.segment(True, SYN, 1000, 0)
    c.segment(True, ACK, 1001, 5001)
    c.port += 1  # a SYN,ACK whose SYN is not captured
    c.segment(False, SYN | ACK, 1000, 5000)
    c.port += 1  # no answer
    for _ in range(3):
        c.segment(True, SYN, 1000, 0)
    c.port += 1  # an attempt that is given up
    c.segment(True, SYN, 1000, 0)
    c.segment(True, RST, 1001, 0)
    c.port += 1  # in mid-stream, data to a host that is down
    for _ in range(4):
        c.segment(True, ACK, 1000, 5000, bytes(100))
    c.port += 1  # the last ACK of a connection before the capture
    c.segment(True, ACK, 1000, 5000)
    c.datagram(True, (50000, 514), b"a message to a log")
    return c


def cut():
    c = Capture()
    c.connection(cut=60)
    c.connection(cut=80)
    c.connection()
    c.datagram(True, (50001, 53), QUERY, cut=45)
    c.datagram(True, (50002, 53), QUERY)
    return c


def tunnels():
    c = Capture()
    inner = Capture()
    inner.connection()
    packet = inner.frames[0][1]
    for i in range(3):
        c.packet(50, struct.pack("!II", 1, i) + bytes(64))  # ESP
    c.packet(115, struct.pack("!I", 1) + bytes(64))  # L2TP
    c.packet(47, struct.pack("!HH", 0, 0x88BE) + bytes(64))  # GRE with ERSPAN
    for i in range(2):
        c.datagram(True, (2152, 2152), struct.pack("!BBHI", 0x30, 255, len(packet), 7) + packet)  # GTP-U
        c.datagram(False, (51820, 51820), bytes(32))  # WireGuard
    c.datagram(False, (53, 8472), bytes(32))  # a service that answers on such a port
    c.packet(47, struct.pack("!HH", 0, 0x0800) + packet)  # GRE, unpacked
    c.datagram(True, (50003, 4789), struct.pack("!II", 0x08000000, 7 << 8) + bytes(12) + b"\x08\0" + packet)  # VXLAN, likewise
    return c


def whole():
    c = Capture()
    c.connection()
    c.datagram(True, (50004, 53), QUERY)
    return c


for make in one_way, cut, tunnels, whole:
    make().write("%s/%s.pcap" % (sys.argv[1], make.__name__.replace("_", "-")))
