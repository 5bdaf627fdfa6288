#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""dccp_frames.py FILE: writes the capture dccp-tunnels.pcap, DCCP (RFC 4340) where the other captures lack it: in
tunnels, after an authentication header, in fragments, with 24-bit sequence numbers, with part of the data covered by
the checksum, and one packet of each type."""
import struct
import sys

DCCP, SOURCE, DESTINATION = 33, bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
ETHERNET = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0])
REQUEST, RESPONSE, DATA, ACK, DATA_ACK, CLOSE_REQ, CLOSE, RESET, SYNC, SYNC_ACK = range(10)


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ipv4(protocol, payload, number=1, flags_offset=0x4000):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), number, flags_offset, 64, protocol, 0, SOURCE,
                         DESTINATION)
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


def dccp(kind, extended=True, data=b"", options=b"", coverage=0):
    rest = bytes([kind << 1 | extended]) + (b"\0" + struct.pack("!HI", 0x0102, 0x03040506) if extended else b"\4\5\6")
    if kind not in (REQUEST, DATA):
        rest += struct.pack("!HHI", 0, 0x1112, 0x13141516) if extended else b"\0\x14\x15\x16"
    if kind in (REQUEST, RESPONSE):
        rest += b"test"
    if kind == RESET:
        rest += bytes([3, 0, 0, 0])
    rest += options

    def packet(field):
        return struct.pack("!HHBBH", 5001, 5002, (8 + len(rest)) // 4, coverage, field) + rest + data

    covered = 8 + len(rest) + (4 * (coverage - 1) if coverage else len(data))
    pseudo = SOURCE + DESTINATION + struct.pack("!HH", DCCP, len(packet(0)))
    return packet(checksum(pseudo + packet(0)[:covered]))


def frames():
    for kind in range(10):
        yield ipv4(DCCP, dccp(kind))
    yield ipv4(DCCP, dccp(ACK, False))
    short = dccp(DATA, False, b"hello, world", coverage=2)
    yield ipv4(DCCP, short)
    yield ipv4(47, b"\0\0\x08\0" + ipv4(DCCP, short))  # GRE
    yield ipv4(4, ipv4(DCCP, dccp(RESET)))
    inside = ETHERNET + ipv4(DCCP, dccp(DATA_ACK, data=bytes(20), options=bytes([38, 3, 0, 0])))
    yield ipv4(17, struct.pack("!HHHH", 40000, 4789, 16 + len(inside), 0) + b"\x08\0\0\0\0\0\7\0" + inside)  # VXLAN
    yield ipv4(51, bytes([DCCP, 4]) + bytes(22) + dccp(REQUEST))  # authentication header
    long = dccp(DATA, data=bytes(range(200)))
    yield ipv4(DCCP, long[:80], 9, 0x2000)
    yield ipv4(DCCP, long[80:], 9, 80 // 8)


with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for second, frame in enumerate(frames()):
        frame = ETHERNET + frame
        file.write(struct.pack("<IIII", 1700000000 + second, 0, len(frame), len(frame)) + frame)
