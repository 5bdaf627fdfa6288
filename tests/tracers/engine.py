#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""engine.py GIVEN-UP SLOW: writes two captures.

GIVEN-UP: datagrams are dropped before they are complete, and HTTP streams have gaps: a fragment of IPv4 and one of IPv6
without their others, a gap that its receiver acknowledges, one with more segments after it than may be queued, and a
datagram a minute later.

SLOW: two HTTP connections, with frames that take the slow path for different reasons.  Datagrams of one stream lie
between them, so that the connection is known at each lookup.
"""
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ipv4(source, destination, protocol, payload, flags=0x4000):
    header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 7, flags, 64, protocol, 0, source, destination)
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def tcp(sport, dport, seq, ack, flags, payload=b""):
    return struct.pack(">HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 65000, 0, 0) + payload


CLIENT, SERVER = 0x0A000001, 0x0A000002
REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
UDP = struct.pack(">HHHH", 1000, 2000, 24, 0) + bytes(16)


FRAGMENT = struct.pack(">BBHI", 17, 0, 1, 7)  # UDP, the first one, more follow
IPV6 = struct.pack(">IHBB", 6 << 28, len(FRAGMENT + UDP), 44, 64) + bytes(15) + b"\1" + bytes(15) + b"\2" + FRAGMENT + UDP
QUEUE_MAX = 128  # STREAM_QUEUE_MAX of flow/stream/stream.h


def from_client(port, seq, ack, flags, payload=b""):
    return ipv4(CLIENT, SERVER, 6, tcp(port, 80, seq, ack, flags, payload))


def from_server(port, seq, ack, flags, payload=b""):
    return ipv4(SERVER, CLIENT, 6, tcp(80, port, seq, ack, flags, payload))


def begin(port):
    """A handshake, a request, and a segment 50 bytes after it."""
    return [from_client(port, 100, 0, 0x02), from_server(port, 500, 101, 0x12), from_client(port, 101, 501, 0x10),
            from_client(port, 101, 501, 0x18, REQUEST),
            from_client(port, 101 + len(REQUEST) + 50, 501, 0x18, REQUEST)]


PACKETS = [(0, ipv4(CLIENT, SERVER, 17, UDP, flags=0x2000)), (0, IPV6)]
PACKETS += [(1, packet) for packet in begin(40000)]
PACKETS += [(1, from_server(40000, 501, 101 + 2 * len(REQUEST) + 50, 0x10))]
PACKETS += [(2, packet) for packet in begin(40001)]
PACKETS += [(2, from_client(40001, 101 + (2 + i) * len(REQUEST) + 50, 501, 0x18, REQUEST)) for i in range(QUEUE_MAX)]
PACKETS += [(90, ipv4(CLIENT, SERVER, 17, UDP))]

STREAM = [ipv4(CLIENT, SERVER, 17, struct.pack(">HHHH", 3000, 4000, 24, 0) + bytes(16))] * 64  # twice what is needed
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
END = 101 + len(REQUEST), 501 + len(REPLY)


def exchange(port):
    """A handshake, a request and its reply."""
    return [from_client(port, 100, 0, 0x02), from_server(port, 500, 101, 0x12), from_client(port, 101, 501, 0x10),
            from_client(port, 101, 501, 0x18, REQUEST), from_server(port, 501, END[0], 0x18, REPLY)]


SLOW = exchange(50000)
SLOW += [from_client(50000, *END, 0x11), from_server(50000, END[1], END[0] + 1, 0x11),
         from_client(50000, END[0] + 1, END[1] + 1, 0x10)]
SLOW += [ipv4(CLIENT, SERVER, 47, bytes(8))]  # of no transport
SLOW += exchange(50001)
SLOW_PACKETS = [(0, packet) for slow in SLOW for packet in [slow] + STREAM]
SLOW_PACKETS += [(1, from_server(50001, 501, END[0], 0x18, REPLY))]  # a retransmission
SLOW_PACKETS += [(3600, STREAM[0])]  # the stream was found at the lookup, and removed by its timer before the datagram


def write(path, packets):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for second, packet in packets:
            out.write(struct.pack("<IIII", 1700000000 + second, 0, len(packet), len(packet)) + packet)


write(sys.argv[1], PACKETS)
write(sys.argv[2], SLOW_PACKETS)
