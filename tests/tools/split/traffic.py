#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture of artificial traffic whose connections are hard to tell apart by a part of the capture.

    traffic.py FRAMES SEED FILE

TCP with losses, reordering, resets, refusals and connections that stay open; UDP, also fragmented, with the fragments in
any order; VXLAN and GRE tunnels, whose connections also appear outside; SCTP on two paths; ICMP errors; ARP.  Time stamps
are out of order now and then, and there are pauses in which idle timers act.  The same arguments give the same bytes.
"""
import random
import struct
import sys
from collections import deque


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data[: len(data) // 2 * 2]))
    total += data[-1] << 8 if len(data) % 2 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def crc32c_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


CRC = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


class Traffic:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.number = 0
        self.ids = 0

    def below(self, n):
        return self.random.randrange(n)

    def address(self):
        return bytes([10, self.below(3), self.below(4), self.below(250) + 1])

    # -- packets

    def ip(self, src, dst, protocol, payload, ident=None, offset=0, more=False):
        if ident is None:
            self.ids = (self.ids + 1) & 0xFFFF
            ident = self.ids
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident, offset // 8 | (0x2000 if more else 0),
                             64, protocol, 0, src, dst)
        return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload

    def udp(self, src, sport, dst, dport, payload):
        return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload

    def tcp(self, src, sport, dst, dport, seq, ack, flags, payload=b""):
        header = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 8192, 0, 0)
        pseudo = src + dst + struct.pack("!BBH", 0, 6, len(header) + len(payload))
        total = checksum(pseudo + header + payload)
        return header[:16] + struct.pack("!H", total) + header[18:] + payload

    def ethernet(self, packet, ethertype=0x0800):
        return b"\2\0\0\0\0\1\2\0\0\0\0\2" + struct.pack("!H", ethertype) + packet

    # -- conversations: generators of lists of frames

    def tcp_conversation(self, wrap):
        a, b = self.address(), self.address()
        sport, dport = 1024 + self.below(60000), self.random.choice([80, 443, 25, 3260, 5432])
        x, y = self.below(1 << 32), self.below(1 << 32)

        def client(seq, ack, flags, payload=b""):
            return [wrap(self.ip(a, b, 6, self.tcp(a, sport, b, dport, seq, ack, flags, payload)))]

        def server(seq, ack, flags, payload=b""):
            return [wrap(self.ip(b, a, 6, self.tcp(b, dport, a, sport, seq, ack, flags, payload)))]

        if self.below(10) == 0:  # mid-stream
            x, y = x + 1, y + 1
        else:
            yield client(x, 0, 2)
            if self.below(20) == 0:
                yield client(x, 0, 2)
            if self.below(20) == 0:
                yield server(0, x + 1, 0x14)
                return
            if self.below(30) == 0:
                return
            yield server(y, x + 1, 0x12)
            x, y = x + 1, y + 1
            yield client(x, y, 0x10)
        for _ in range(self.below(6)):
            request = bytes(self.below(300) + 1)
            yield client(x, y, 0x18, request)
            if self.below(15) == 0:
                yield client(x, y, 0x18, request)
            x += len(request)
            pieces = [bytes(self.below(800) + 1) for _ in range(self.below(5) + 1)]
            starts = [y + sum(map(len, pieces[:i])) for i in range(len(pieces))]
            order = list(range(len(pieces)))
            if self.below(8) == 0:
                self.random.shuffle(order)
            for i in order:
                if self.below(25) != 0:
                    yield server(starts[i], x, 0x18, pieces[i])
                else:  # lost, and sent again after duplicate acknowledgements
                    for _ in range(3):
                        yield client(x, starts[i], 0x10)
                    yield server(starts[i], x, 0x18, pieces[i])
            y += sum(map(len, pieces))
            yield client(x, y, 0x10)
        end = self.below(6)
        if end == 0:
            yield self.random.choice([client, server])(*((x, y) if self.below(2) else (x, y)), 0x14)
        elif end < 5:
            yield client(x, y, 0x11)
            yield server(y, x + 1, 0x11)
            if self.below(10) != 0:
                yield client(x + 1, y + 1, 0x10)

    def udp_conversation(self, wrap):
        a, b = self.address(), self.address()
        sport, dport = 1024 + self.below(60000), self.random.choice([53, 123, 2049])
        for _ in range(self.below(8) + 1):
            there = self.below(2) == 0
            src, dst = (a, b) if there else (b, a)
            ports = (sport, dport) if there else (dport, sport)
            datagram = self.udp(src, ports[0], dst, ports[1], bytes(self.below(400)))
            if self.below(6) == 0:
                datagram = self.udp(src, ports[0], dst, ports[1], bytes(1600 + self.below(2000)))
                self.ids = (self.ids + 1) & 0xFFFF
                ident = self.ids
                pieces = []
                for at in range(0, len(datagram), 1000):
                    piece = datagram[at : at + 1000]
                    more = at + 1000 < len(datagram)
                    pieces.append([wrap(self.ip(src, dst, 17, piece, ident, at, more))])
                self.random.shuffle(pieces)
                if self.below(12) == 0:
                    pieces.pop()
                yield from pieces
            else:
                packet = self.ip(src, dst, 17, datagram)
                yield [wrap(packet)]
                if self.below(12) == 0:  # port unreachable
                    error = struct.pack("!BBHI", 3, 3, 0, 0) + packet[:28]
                    error = error[:2] + struct.pack("!H", checksum(error)) + error[4:]
                    yield [wrap(self.ip(dst, src, 1, error))]

    def sctp_conversation(self, wrap):
        a, b = [self.address(), self.address()], [self.address(), self.address()]
        port, tags = 1024 + self.below(60000), (self.below(1 << 32) | 1, self.below(1 << 32) | 1)
        tsn = [self.below(1 << 32), self.below(1 << 32)]

        def packet(side, path, tag, chunk):
            ports = (port, 2905) if side == 0 else (2905, port)
            data = struct.pack("!HHII", *ports, tag, 0) + chunk + bytes(-len(chunk) % 4)
            data = data[:8] + struct.pack("<I", crc32c(data)) + data[12:]
            ends = (a, b) if side == 0 else (b, a)
            return [wrap(self.ip(ends[0][path], ends[1][path], 132, data))]

        def init(kind, side):
            addresses = b"".join(struct.pack("!HH4s", 5, 8, x) for x in (a if side == 0 else b))
            cookie = struct.pack("!HH4s", 7, 8, b"cook") if kind == 2 else b""
            value = struct.pack("!IIHHI", tags[side], 65536, 10, 10, tsn[side]) + addresses + cookie
            return struct.pack("!BBH", kind, 0, 4 + len(value)) + value

        if self.below(4):
            yield packet(0, 0, 0, init(1, 0))
            yield packet(1, 0, tags[0], init(2, 1))
            yield packet(0, 0, tags[1], struct.pack("!BBH4s", 10, 0, 8, b"cook"))
            yield packet(1, 0, tags[0], struct.pack("!BBH", 11, 0, 4))
        for _ in range(self.below(8) + 2):
            side, path = self.below(2), self.below(2)
            data = bytes(self.below(200) + 1)
            chunk = struct.pack("!BBHIHHI", 0, 3, 16 + len(data), tsn[side] & 0xFFFFFFFF, 0, 0, 0) + data
            yield packet(side, path, tags[1 - side], chunk)
            sack = struct.pack("!BBHIIHH", 3, 0, 16, tsn[side] & 0xFFFFFFFF, 65536, 0, 0)
            tsn[side] += 1
            yield packet(1 - side, path, tags[side], sack)
        if self.below(3):
            yield packet(0, 0, tags[1], struct.pack("!BBHI", 7, 0, 8, tsn[1] - 1 & 0xFFFFFFFF))
            yield packet(1, 0, tags[0], struct.pack("!BBH", 8, 0, 4))
            yield packet(0, 0, tags[1], struct.pack("!BBH", 14, 0, 4))

    def tunnels(self, wrap):
        """Wraps packets into VXLAN or GRE, one tunnel for each direction; some are captured outside of the tunnels."""
        x, y = bytes([192, 0, 2, self.below(200) + 1]), bytes([198, 51, 100, self.below(200) + 1])
        sport, gre = 49152 + self.below(64), self.below(2) == 0
        outside = self.below(3) == 0

        def wrap_tunnel(packet):
            if outside and self.below(4) == 0:
                return wrap(packet)
            src, dst = (x, y) if packet[12:16] < packet[16:20] else (y, x)
            if gre:
                outer = self.ip(src, dst, 47, struct.pack("!HH", 0, 0x0800) + packet)
            else:
                inner = struct.pack("!II", 0x08000000, 7 << 8) + self.ethernet(packet)
                outer = self.ip(src, dst, 17, self.udp(src, sport, dst, 4789, inner))
            return wrap(outer)

        yield from self.random.choice([self.tcp_conversation, self.udp_conversation])(wrap_tunnel)

    def conversation(self):
        wrap = self.ethernet
        n = self.below(100)
        if n < 62:
            return self.tcp_conversation(wrap)
        if n < 88:
            return self.udp_conversation(wrap)
        if n < 93:
            return self.sctp_conversation(wrap)
        return self.tunnels(wrap)


def write(frames, seed, path):
    traffic = Traffic(seed)
    under_way = deque()
    now, written = 1_700_000_000_000_000_000, 0
    with open(path, "wb", buffering=1 << 20) as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        while written < frames:
            while len(under_way) < 200:
                under_way.append(traffic.conversation())
            index = traffic.below(len(under_way))
            under_way.rotate(-index)
            group = next(under_way[0], None)
            if group is None or traffic.below(400) == 0:  # over, or given up
                under_way.popleft()
                continue
            if traffic.below(5000) == 0:
                group = group + [traffic.ethernet(bytes([0, 1, 8, 0, 6, 4, 0, 1]) + bytes(20), 0x0806)]
            for frame in group:
                now += traffic.below(400_000)
                if traffic.below(20_000) == 0 or written == frames - 5:
                    now += (10 + traffic.below(200)) * 1_000_000_000  # a pause: idle timers act
                stamp = now - (traffic.below(2_000_000) if traffic.below(50) == 0 else 0)
                out.write(struct.pack("<IIII", *divmod(stamp, 1_000_000_000), len(frame), len(frame)) + frame)
                written += 1


if __name__ == "__main__":
    write(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
