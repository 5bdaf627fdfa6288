#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""formats_captures.py [KIND FILE]...: writes pcapng or snoop files of 30 DNS queries, or with a lie in them.

Good files have the same queries at the same times:
pcap            the model: nanoseconds, Ethernet
snoop, mixed, big, sections, late, packet-block
resolutions     interfaces of 10^-6, 10^-9, 2^-20 and 10^-6 seconds with an offset
unknown         blocks of unknown types between the frames
unnamed         interfaces whose names say that they have no name
snoop-NUMBER    of that link type, which has Ethernet frames, or those of IPNET
statistics      statistics of two interfaces in two sections, which count on, among them wrong ones
unsupported     frames of an interface with link type USB_LINUX beside them
only-unsupported
Others have good frames before the lie, and the name is the lie.
"""
import re
import struct
import sys

START = 1700000000
COUNT = 30
RAW, ETHERNET, SLL2 = 101, 1, 276
NO_NAME = "Unknown/not available in original file format"
IPNET, SNOOP_IPNET = 226, 0x80000005
UNSUPPORTED = 189


def query(i):
    dns = struct.pack(">HHHHHH", i, 0x0100, 1, 0, 0, 0) + b"\1a\4test\0" + struct.pack(">HH", 1, 1)
    udp = struct.pack(">HHHH", 40000 + i, 53, 8 + len(dns), 0) + dns
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), i, 0, 64, 17, 0, bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]))
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~total & 0xFFFF) + ip[12:]
    return ip + udp


def frame(link, i):
    ip = query(i)
    if link == RAW:
        return ip
    if link == SLL2:
        return struct.pack(">HHIHBB8s", 0x0800, 0, 1, 1, 4, 6, bytes([2, 0, 0, 0, 0, 1, 0, 0])) + ip
    if link == IPNET:
        return struct.pack(">BBHIII", 1, 2, 1, 1, 1, 0) + bytes(8) + ip
    return bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]) + ip


def nanoseconds(i):
    """A multiple of 1/64 s, which all resolutions of the tests represent."""
    return START * 10**9 + i * 10**9 // 64


class Pcapng:
    def __init__(self, order="<"):
        self.order = order
        self.data = b""

    def pack(self, layout, *values):
        return struct.pack(self.order + layout, *values)

    def block(self, kind, body, length=None, end=None):
        body += bytes(-len(body) % 4)
        length = len(body) + 12 if length is None else length
        self.data += self.pack("II", kind, length) + body + self.pack("I", length if end is None else end)

    def section(self, order=None, magic=0x1A2B3C4D, major=1):
        self.order = order or self.order
        self.block(0x0A0D0D0A, self.pack("IHHq", magic, major, 0, -1))

    def option(self, code, value, length=None):
        return self.pack("HH", code, len(value) if length is None else length) + value + bytes(-len(value) % 4)

    def interface(self, link=ETHERNET, name=None, snaplen=0, resolution=9, offset=0, more=b""):
        options = self.option(2, name.encode()) if name else b""
        options += self.option(9, bytes([resolution]))
        options += self.option(14, self.pack("q", offset)) if offset else b""
        self.block(1, self.pack("HHI", link, 0, snaplen) + options + more + self.pack("HH", 0, 0))

    def statistics(self, interface, *options):
        self.block(5, self.pack("III", interface, 0, 0) + b"".join(
            self.option(code, self.pack(form, value) if form else b"") for code, form, value in options))

    def packet(self, interface, stamp, data, caplen=None, length=None):
        caplen = len(data) if caplen is None else caplen
        head = self.pack("IIIII", interface, stamp >> 32, stamp & 0xFFFFFFFF, caplen, length or caplen)
        self.block(6, head + data)

    def good(self, first=0, count=COUNT, interface=0, link=ETHERNET):
        for i in range(first, first + count):
            self.packet(interface, nanoseconds(i), frame(link, i))


def pcap():
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    for i in range(COUNT):
        body = frame(ETHERNET, i)
        data += struct.pack("<IIII", nanoseconds(i) // 10**9, nanoseconds(i) % 10**9, len(body), len(body)) + body
    return data


def snoop(lie=None):
    numbered = re.fullmatch("snoop-(0x[0-9a-f]+|[0-9]+)", lie)
    link = int(numbered[1], 0) if numbered else 9 if lie == "snoop-link-type" else 4
    data = b"snoop\0\0\0" + struct.pack(">II", 3 if lie == "snoop-version" else 2, link)
    for i in range(COUNT):
        body = frame(IPNET if link == SNOOP_IPNET else ETHERNET, i)
        pad = bytes(-len(body) % 4)
        included, length = len(body), 24 + len(body) + len(pad)
        if i == 3:
            included = 0xFFFFFFF0 if lie == "snoop-included" else included
            length = {"snoop-short": 24 + included - 1, "snoop-zero": 0, "snoop-huge": 1 << 31}.get(lie, length)
        drops = -1 if i % 2 else 7
        data += struct.pack(">IIIiII", len(body), included, length, drops, nanoseconds(i) // 10**9,
                            nanoseconds(i) % 10**9 // 1000) + body + pad
    return data[:-9] if lie == "snoop-cut" else data


def good_file(kind):
    ng = Pcapng(">" if kind == "big" else "<")
    ng.section()
    if kind == "mixed":
        links = ((ETHERNET, "eth0", 65535), (RAW, "tun-with-a-long-name", 100), (SLL2, "any", 0))
        for link, name, snaplen in links:
            ng.interface(link, name, snaplen)
        for i in range(COUNT):
            ng.packet(i % 3, nanoseconds(i), frame(links[i % 3][0], i))
    elif kind == "resolutions":
        units = ((6, 10**6, 0), (9, 10**9, 0), (0x94, 1 << 20, 0), (6, 10**6, START - 5), (0xBF, 1 << 63, START),
                 (19, 10**19, START))
        for resolution, _, offset in units:
            ng.interface(resolution=resolution, offset=offset)
        for i in range(COUNT):
            index = i % len(units)
            stamp = (nanoseconds(i) - units[index][2] * 10**9) * units[index][1] // 10**9
            ng.packet(index, stamp, frame(ETHERNET, i))
    elif kind == "sections":
        ng.interface(name="one")
        ng.good(0, 10)
        ng.section(">")
        ng.interface(UNSUPPORTED, "other")
        ng.interface(RAW, "two")
        ng.good(10, 10, 1, RAW)
        ng.section("<")
        ng.interface(name="one")
        ng.good(20, 10)
    elif kind == "late":
        ng.interface(name="early")
        ng.good(0, 15)
        ng.interface(RAW, "late")
        ng.good(15, 15, 1, RAW)
    elif kind == "packet-block":
        ng.interface()
        for i in range(COUNT):
            body, stamp = frame(ETHERNET, i), nanoseconds(i)
            ng.block(2, ng.pack("HHIIII", 0, 9, stamp >> 32, stamp & 0xFFFFFFFF, len(body), len(body)) + body)
    elif kind == "simple":
        ng.interface(snaplen=60)
        ng.good(0, 1)
        for i in range(1, COUNT):
            body = frame(ETHERNET, i)
            ng.block(3, ng.pack("I", len(body)) + body[:60])
    elif kind == "unnamed":
        ng.interface(name=NO_NAME)
        ng.interface(name=NO_NAME + "(libpcap)")
        for i in range(COUNT):
            ng.packet(i % 2, nanoseconds(i), frame(ETHERNET, i))
    elif kind == "statistics":
        for dropped in (3, 10):
            ng.section()
            ng.interface()
            ng.interface()
            for number in (1, 2):
                ng.good(15 * (dropped == 10), 0 if number == 1 else 15)
                ng.statistics(0, (4, "Q", 99), (5, "Q", dropped * number), (7, "Q", 1), (0, "", None))
            ng.statistics(1, (5, "Q", 100))
            ng.statistics(1, (5, "I", 7), (7, "Q", 1000))
        ng.statistics(2, (5, "Q", 5))
        ng.block(5, ng.pack("IIIHHI", 0, 0, 0, 5, 60000, 0))
    elif kind == "unknown":
        ng.interface()
        for i in range(COUNT):
            ng.block(*((4, bytes(4)), (5, bytes(12)), (0xBAD, bytes(i)), (0x80000001, b""))[i % 4])
            ng.good(i, 1)
        ng.block(0xBAD, bytes(1 << 20))
    elif kind == "late-frame":
        ng.interface()
        for _ in range(20000):
            ng.block(0x80000001, b"")
        ng.good()
    elif kind in ("unsupported", "only-unsupported"):
        ng.interface(UNSUPPORTED, "odd")
        if kind == "unsupported":
            ng.interface(name="even")
            for i in range(COUNT):
                ng.packet(0, nanoseconds(i), b"not dissected")
                ng.good(i, 1, 1)
    else:
        ng.interface()
        ng.good()
    return ng.data


def lie_file(kind):
    ng = Pcapng()
    ng.section(magic=0x12345678 if kind == "magic" else 0x1A2B3C4D, major=2 if kind == "version" else 1)
    if kind == "endless":
        for _ in range(1000):
            ng.block(0x80000001, b"")
        return ng.data
    if kind == "no-interface":
        ng.packet(0, 0, b"frame")
        return ng.data
    ng.interface()
    ng.good(0, 3)
    body = frame(ETHERNET, 3)
    head = ng.pack("IIIII", 0, 0, 0, len(body), len(body)) + body
    if kind == "length-zero":
        ng.block(6, head, length=0)
    elif kind == "length-small":
        ng.block(6, bytes(4), length=16)
    elif kind == "length-odd":
        ng.block(6, head, length=len(head) + 13)
    elif kind == "length-huge":
        ng.block(0xBAD, head, length=0x40000000)
    elif kind == "length-end":
        ng.block(6, head, end=96)
    elif kind == "caplen":
        ng.packet(0, nanoseconds(3), body, caplen=len(body) + 40)
    elif kind == "caplen-huge":
        ng.packet(0, nanoseconds(3), body, caplen=0xFFFFFFFF)
    elif kind == "interface":
        ng.packet(1, nanoseconds(3), body)
    elif kind == "simple-length":
        ng.block(3, ng.pack("I", 5000) + body)
    elif kind == "option-length":
        ng.interface(more=ng.option(2, b"x", length=60000))
    elif kind == "option-size":
        ng.interface(more=ng.option(14, b"xx"))
    elif kind == "interface-short":
        ng.block(1, b"1234")
    elif kind == "section-short":
        ng.block(0x0A0D0D0A, ng.pack("I", 0x1A2B3C4D))
    elif kind == "decimal":
        ng.interface(resolution=30)
    elif kind == "binary":
        ng.interface(resolution=0xFF)
    elif kind == "interfaces":
        for i in range(9000):
            ng.interface(name=f"if{i}")
    elif kind == "link-types":
        for i in range(200):
            ng.interface(link=1000 + i)
    elif kind == "cut":
        ng.packet(0, nanoseconds(3), body)
        return ng.data[:-5]
    ng.good(4, 3)
    return ng.data


GOOD = ("mixed", "big", "sections", "late", "packet-block", "resolutions", "simple", "unknown", "late-frame",
        "unsupported", "only-unsupported", "plain", "unnamed", "statistics")

for name, path in zip(sys.argv[1::2], sys.argv[2::2]):
    if name == "pcap":
        content = pcap()
    elif name.startswith("snoop"):
        content = snoop(name)
    else:
        content = good_file(name) if name in GOOD else lie_file(name)
    with open(path, "wb") as file:
        file.write(content)
        # The last blocks of an endless file repeat until the reader closes its pipe.
        while name == "endless":
            file.write(content[28:])
