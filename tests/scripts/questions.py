#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/captures/questions.pcap: a minute in which something happens for every script of scripts/.

    tests/scripts/questions.py tests/captures/questions.pcap

A web client whose peer is slow and closes its window, a port scan, a name server that is gone, an IP address that
moves to another card, and packets that IP discards.  Addresses are those of RFC 5737 and RFC 7042.
"""
import socket
import struct
import sys

FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
WEB, CLIENT, SCANNER, RESOLVER = "192.0.2.80", "192.0.2.10", "198.51.100.66", "192.0.2.53"

frames = []
clock = 1700000000000000  # microseconds


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return 0xffff - total


def mac(address):
    return b"\x00\x00\x5e\x00\x53" + bytes([int(address.split(".")[3])])


def frame(source, destination, kind, payload, wait):
    global clock
    clock += wait
    frames.append((clock, destination + source + struct.pack("!H", kind) + payload))


def ipv4(source, destination, protocol, payload, wait):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), len(frames), 0x4000, 64, protocol, 0,
                         socket.inet_aton(source), socket.inet_aton(destination))
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    frame(mac(source), mac(destination), 0x0800, header + payload, wait)


def transport(source, destination, protocol, segment, at):
    pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!HH", protocol, len(segment))
    return segment[:at] + struct.pack("!H", checksum(pseudo + segment)) + segment[at + 2:]


def tcp(source, sport, destination, dport, flags, seq, ack, window, data, wait):
    segment = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, window, 0, 0) + data
    ipv4(source, destination, 6, transport(source, destination, 6, segment, 16), wait)


def udp(source, sport, destination, dport, data, wait):
    segment = struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data
    ipv4(source, destination, 17, transport(source, destination, 17, segment, 6), wait)


def arp(operation, sender, hardware, target, wait):
    packet = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, operation, hardware, socket.inet_aton(sender),
                         mac(target) if operation == 2 else bytes(6), socket.inet_aton(target))
    frame(hardware, mac(target) if operation == 2 else b"\xff" * 6, 0x0806, packet, wait)


# The client sends an ARP request for the server; the server replies, and later another host does as well.
arp(1, CLIENT, mac(CLIENT), WEB, 0)
arp(2, WEB, mac(WEB), CLIENT, 300)

# A name server that does not exist.
for attempt in range(2):
    udp(CLIENT, 53000, RESOLVER, 53, b"\x12\x34" + bytes(27), 1000)
    ipv4(RESOLVER, CLIENT, 1, (lambda quoted: struct.pack("!BBHI", 3, 3, checksum(
        struct.pack("!BBHI", 3, 3, 0, 0) + quoted), 0) + quoted)(frames[-1][1][14:42]), 400)

# Two requests.  The first response is late and fills the window of the client, which opens it again after 1.5 s; a segment
# of the second one is lost.
for port, think, lost in (40001, 80000, False), (40002, 20000, True):
    one, two = port * 1000, port * 2000
    tcp(CLIENT, port, WEB, 80, SYN, one, 0, 4000, b"", 5000)
    tcp(WEB, 80, CLIENT, port, SYN | ACK, two, one + 1, 8000, b"", 12000)
    tcp(CLIENT, port, WEB, 80, ACK, one + 1, two + 1, 4000, b"", 50)
    tcp(CLIENT, port, WEB, 80, PSH | ACK, one + 1, two + 1, 4000, b"GET / HTTP/1.0\r\n\r\n", 30)
    tcp(WEB, 80, CLIENT, port, ACK, two + 1, one + 19, 8000, b"", 12000)
    for piece in range(4):
        tcp(WEB, 80, CLIENT, port, PSH | ACK, two + 1 + 1000 * piece, one + 19, 8000, b"x" * 1000, think if piece == 0 else 200)
    if lost:
        tcp(WEB, 80, CLIENT, port, PSH | ACK, two + 3001, one + 19, 8000, b"x" * 1000, 400000)
    tcp(CLIENT, port, WEB, 80, ACK, one + 19, two + 4001, 0, b"", 100)
    tcp(CLIENT, port, WEB, 80, ACK, one + 19, two + 4001, 4000, b"", 1500000)
    tcp(WEB, 80, CLIENT, port, FIN | ACK, two + 4001, one + 19, 8000, b"", 12000)
    tcp(CLIENT, port, WEB, 80, FIN | ACK, one + 19, two + 4002, 4000, b"", 60)
    tcp(WEB, 80, CLIENT, port, ACK, two + 4002, one + 20, 8000, b"", 12000)

# A scan: SYN to closed ports and to the open one, then a segment without any flag and one with too many.
for number, dport in enumerate((21, 22, 23, 25, 80, 110, 443)):
    tcp(SCANNER, 50000 + number, WEB, dport, SYN, 7000 + number, 0, 1024, b"", 1000)
    if dport == 80:
        tcp(WEB, 80, SCANNER, 50000 + number, SYN | ACK, 9000, 7001 + number, 8000, b"", 40)
        tcp(SCANNER, 50000 + number, WEB, 80, RST, 7001 + number, 0, 0, b"", 900)
    else:
        tcp(WEB, dport, SCANNER, 50000 + number, RST | ACK, 0, 7001 + number, 0, b"", 40)
tcp(SCANNER, 50010, WEB, 22, 0, 1, 0, 1024, b"", 1000)
tcp(SCANNER, 50011, WEB, 22, FIN | PSH | URG, 1, 0, 1024, b"", 1000)

# Packets that IP discards: source and destination are the same, and two invalid sources.
ipv4(WEB, WEB, 17, struct.pack("!HHHH", 33434, 33434, 8, 0), 1000)
for attempt in range(2):
    ipv4("224.0.0.66", WEB, 17, struct.pack("!HHHH", 33434, 33434, 8, 0), 1000)

# The address of the server moves.
arp(2, WEB, b"\x00\x00\x5e\x00\x53\xee", CLIENT, 20000000)

with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for when, data in frames:
        out.write(struct.pack("<IIII", when // 1000000, when % 1000000, len(data), len(data)) + data)
