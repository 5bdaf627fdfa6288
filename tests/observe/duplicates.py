#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""duplicates.py DIRECTORY: captures of the same traffic, once and with duplicates.

The traffic of each BASE (IPv4 with identifications, IPv4 without, IPv6; each with and without TCP timestamps): a
connection with a lost segment, duplicate ACKs and a fast retransmission; a DNS query; an echo; two datagrams with the same bytes,
which an application sends back to back.  BASE.pcap has it once, BASE-KIND.pcap with duplicates.
ipv4-constant.pcap: of ends that use one identification for all packets.  queries.pcap: different queries of mDNS at once."""
import struct
import sys

CLIENT, SERVER, ROUTER = b"\2\0\0\0\0\1", b"\2\0\0\0\0\2", b"\2\0\0\0\1\3"
START = 1_700_000_000_000_000
FIN, SYN, PSH, ACK = 1, 2, 8, 16
QUERY = struct.pack("!HHHHHH", 77, 0x100, 1, 0, 0, 0) + b"\1a\7example\0\0\1\0\1"
ANSWER = struct.pack("!HHHHHH", 77, 0x8180, 1, 0, 0, 0) + b"\1a\7example\0\0\1\0\1"


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Traffic:
    def __init__(self, version, idents, timestamps):
        self.version, self.idents, self.timestamps = version, idents, timestamps
        self.frames, self.time, self.ident = [], 0, {True: 100, False: 60000}
        self.offloads = False

    def addresses(self, sent):
        if self.version == 4:
            ends = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
        else:
            ends = b"\xfd" + bytes(14) + b"\1", b"\xfd" + bytes(14) + b"\2"
        return ends if sent else ends[::-1]

    def packet(self, after, sent, protocol, body, at):
        """Sends a packet so many microseconds after the one before; `at`: where its checksum is."""
        source, destination = self.addresses(sent)
        pseudo = source + destination + struct.pack("!IHBB", len(body), 0, 0, protocol)
        sum_of = body if protocol == 1 else pseudo + body
        value = ~checksum(pseudo) & 0xffff if self.offloads else checksum(sum_of)
        body = body[:at] + struct.pack("!H", value) + body[at + 2:]
        self.time += after
        self.ident[sent] += self.idents is True
        ident = self.ident[sent] if self.idents else 0
        self.frames.append((self.time, sent, ident, protocol, body, 64, SERVER if not sent else CLIENT))

    def segment(self, after, sent, flags, seq, ack, payload=b""):
        options = b"\2\4\5\xb4" if flags & SYN else b""
        if self.timestamps:
            now = 5000 + (self.time + after) // 1000
            options += b"\1\1\x08\x0a" + struct.pack("!II", now, 0 if flags == SYN else 5000)
        ports = (40000, 80) if sent else (80, 40000)
        header = struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 + len(options) // 4 << 4, flags, 64000, 0, 0) + options
        self.packet(after, sent, 6, header + payload, 16)

    def datagram(self, after, sent, port, payload):
        ports = (50000, port) if sent else (port, 50000)
        self.packet(after, sent, 17, struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload, 6)

    def echo(self, after, sent):
        kind = (8 if sent else 0) if self.version == 4 else (128 if sent else 129)
        self.packet(after, sent, 1 if self.version == 4 else 58, struct.pack("!BBHHH", kind, 0, 0, 9, 1) + b"echo", 2)

    def connection(self):
        self.segment(1000, True, SYN, 1000, 0)
        self.segment(20000, False, SYN | ACK, 5000, 1001)
        self.segment(300, True, ACK, 1001, 5001)
        self.segment(400, True, ACK | PSH, 1001, 5001, b"r" * 100)
        self.segment(20000, False, ACK, 5001, 1101)
        for i in range(6):
            if i != 1:  # lost before the capture
                self.segment(100, False, ACK, 5001 + 1000 * i, 1101, b"d" * 1000)
        for _ in range(5):  # the first acknowledges a segment
            self.segment(60, True, ACK, 1101, 6001)
        self.segment(20000, False, ACK, 6001, 1101, b"d" * 1000)
        self.segment(400, True, ACK, 1101, 11001)
        self.segment(3_000_000, True, ACK | FIN, 1101, 11001)
        self.segment(20000, False, ACK | FIN, 11001, 1102)
        self.segment(400, True, ACK, 1102, 11002)

    def all(self):
        self.connection()
        self.datagram(1000, True, 53, QUERY)
        self.datagram(20000, False, 53, ANSWER)
        self.echo(1000, True)
        self.echo(20000, False)
        self.datagram(5_000_000, True, 8125, b"page.views:1|c")
        self.datagram(90, True, 8125, b"page.views:1|c")
        return self.frames

    def bytes(self, frame):
        _, sent, ident, protocol, body, ttl, mac = frame
        source, destination = self.addresses(sent)
        if self.version == 4:
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), ident, 0x4000, ttl, protocol, 0)
            ip = ip[:10] + struct.pack("!H", checksum(ip + source + destination)) + source + destination
        else:
            ip = struct.pack("!IHBB", 6 << 28, len(body), protocol, ttl) + source + destination
        kind = struct.pack("!H", 0x800 if self.version == 4 else 0x86dd)
        return (SERVER if sent else CLIENT) + mac + kind + ip + body

    def write(self, path, frames):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
            for frame in sorted(frames, key=lambda frame: frame[0]):
                data, time = self.bytes(frame), START + frame[0]
                out.write(struct.pack("<IIII", time // 1000000, time % 1000000, len(data), len(data)) + data)


def mirrored(frame, delay):
    return (frame[0] + delay,) + frame[1:]


def routed(frame, delay):
    return (frame[0] + delay,) + frame[1:5] + (frame[5] - 1, ROUTER)


def damaged(frame, delay):
    """The same with a wrong checksum, at the other place."""
    _, sent, ident, protocol, body, ttl, _ = frame
    return frame[0] - delay, sent, ident, protocol, body[:16] + bytes([body[16] ^ 1]) + body[17:], ttl - 1, ROUTER


def queries():
    """Questions of one length and id, which an interface has not summed yet."""
    traffic = Traffic(4, False, False)
    traffic.offloads = True
    for n in range(8):
        name = b"\x1bmy-laptop-0%d-and-more-of-it\5local" % n
        traffic.datagram(500, True, 5353, struct.pack("!HHHHHH", 0, 0, 1, 0, 0, 0) + name + b"\0\0\x0c\0\1")
    traffic.write(sys.argv[1] + "/queries.pcap", traffic.frames)


def closes(frame):
    return frame[3] == 6 and frame[4][13] & FIN


def main():
    queries()
    traffic = Traffic(4, "constant", False)
    traffic.write(sys.argv[1] + "/ipv4-constant.pcap", traffic.all())
    for version, idents, name in ((4, True, "ipv4"), (4, False, "ipv4-atomic"), (6, False, "ipv6")):
        for timestamps in (False, True):
            traffic = Traffic(version, idents, timestamps)
            frames = traffic.all()
            base = "%s/%s%s" % (sys.argv[1], name, "-timestamps" if timestamps else "")
            traffic.write(base + ".pcap", frames)
            traffic.write(base + "-mirrored.pcap", frames + [mirrored(frame, 20) for frame in frames])
            traffic.write(base + "-one-direction.pcap", frames + [mirrored(frame, 20) for frame in frames if frame[1]])
            traffic.write(base + "-routed.pcap", frames + [routed(frame, 40) for frame in frames])
            traffic.write(base + "-routed-late.pcap", frames + [routed(frame, 3000) for frame in frames])
            traffic.write(base + "-damaged.pcap",
                          [damaged(frame, 100) for frame in frames if closes(frame)] + frames)
            if idents:
                traffic.write(base + "-mirrored-late.pcap", frames + [mirrored(frame, 25000) for frame in frames])


main()
