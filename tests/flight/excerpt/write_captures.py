#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes captures for tests/flight/excerpt/write.sh.

usage: write_captures.py CAPTURES DIRECTORY    makes them of tests/captures

huge.pcap         two segments of a connection; the second one claims to be longer than any frame
late.pcapng       two of them, after February 2106
raw.pcap          a datagram, with OpenBSD's number of raw IP
long.pcap         home-network.pcap 40 times one after the other, each time with other addresses
tunnels.pcap      the packets of a GRE tunnel and of a VXLAN tunnel, each in two fragments
lo.pcap           home-network.pcap as on the loopback interface: each frame twice, the outgoing copy first
fragments-N.pcap  ipv4-fragments.pcap likewise; N = 1, 3 outgoing copies before the others
"""
import os
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
from capture_frames import Frame, read, write_pcap  # noqa: E402

ETHERNET, OPENBSD_RAW, RAW, COOKED = 1, 14, 101, 113
SECOND = 10**9
captures, directory = sys.argv[1:]


def ip(protocol, ident, fragment, payload, host):
    return struct.pack(">BBHHHBBH4B4B", 0x45, 0, 20 + len(payload), ident, fragment, 64, protocol, 0,
                       10, 0, host, 1, 10, 0, host, 2) + payload


def tcp(port, payload=b""):
    return struct.pack(">HHIIBBHHH", port, 80, 1000, 1, 0x50, 0x10, 500, 0, 0) + payload


def write(name, link_type, frames):
    write_pcap(os.path.join(directory, name), link_type, frames)


def later_than_2106(frame):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    data = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(1, struct.pack("<HHI", ETHERNET, 0, 0))
    for i in range(2):
        time = (1 + (1 << 32)) * 10**6 + i
        data += block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame)) + frame)
    return data


def copies(frames):
    for copy in range(40):
        for frame in frames:
            data = bytearray(frame.data)
            if data[12:14] == b"\x08\x00" and copy:
                data[26] = data[30] = 10 + copy % 200
                data[27] = data[31] = copy // 200
            yield Frame(frame.time + copy * 60 * SECOND, frame.length, bytes(data))


def fragments_of_tunnels():
    for ident in range(1, 5):
        inner = ip(6, 9, 0, tcp(1000 + ident, bytes(100)), 1)
        vxlan = struct.pack(">II", 0x08000000, 0x100) + bytes(12) + b"\x08\0" + inner
        udp = struct.pack(">HHHH", 5000 + ident, 4789, 8 + len(vxlan), 0) + vxlan
        protocol, outer = (47, struct.pack(">HH", 0, 0x800) + inner) if ident % 2 else (17, udp)
        for fragment, payload in ((0x2000, outer[:80]), (10, outer[80:])):
            packet = ip(protocol, ident, fragment, payload, 0)
            yield Frame((1700000000 + ident) * SECOND, len(packet), packet)


def loopback(frames, step):
    for first in range(0, len(frames), step):
        for kind in 4, 0:
            for frame in frames[first:first + step]:
                cooked = struct.pack(">HHH8s", kind, 772, 6, bytes(8)) + frame.data[12:]
                yield Frame(frame.time, frame.length + 2, cooked)


segment = bytes(12) + b"\x08\0" + ip(6, 1, 0, tcp(1000), 0)
write("huge.pcap", ETHERNET, [Frame(SECOND, length, segment) for length in (len(segment), 300000)])
with open(os.path.join(directory, "late.pcapng"), "wb") as file:
    file.write(later_than_2106(segment))
datagram = bytes.fromhex("4500001c00010000401166ce7f0000017f00000103e807d000080000")
write("raw.pcap", OPENBSD_RAW, [Frame(SECOND, len(datagram), datagram)])
home = read(os.path.join(captures, "home-network.pcap"))
write("long.pcap", ETHERNET, copies(home))
write("tunnels.pcap", RAW, fragments_of_tunnels())
write("lo.pcap", COOKED, loopback(home, 1))
for number in 1, 3:
    write(f"fragments-{number}.pcap", COOKED, loopback(read(os.path.join(captures, "ipv4-fragments.pcap")), number))
