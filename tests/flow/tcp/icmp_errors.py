#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Attempts to connect that are answered with an ICMP error, a line of icmp_errors.tsv for each.
icmp_errors.py measure TABLE        prints the table with what the kernel does; in a network namespace of its own
icmp_errors.py capture TABLE FILE   writes a capture of the same attempts; the client's port is the number of the line"""
import errno
import fcntl
import os
import select
import socket
import struct
import subprocess
import sys

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
STATES = {2: "syn-sent", 3: "syn-received", 7: "closed"}
SYN, ACK = 2, 16
CLIENT = {4: "192.0.2.1", 6: "2001:db8::1"}
SERVER = {4: "192.0.2.9", 6: "2001:db8::9"}
ROUTER = {4: "192.0.2.254", 6: "2001:db8::fe"}
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
REDIRECT = 137  # ICMPv6


def address(version, text):
    return socket.inet_pton(FAMILY[version], text)


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ip_packet(version, protocol, source, destination, payload):
    if version == 6:
        return struct.pack(">IHBB", 6 << 28, len(payload), protocol, 255) + source + destination + payload
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0) + source + destination
    return header[:10] + struct.pack(">H", checksum(header)) + header[12:] + payload


def summed(version, protocol, source, destination, payload, at, wrong=0):
    """The payload with its checksum at byte `at`."""
    pseudo = source + destination + struct.pack(">II", len(payload), protocol)
    if (version, protocol) == (4, 1):
        pseudo = b""
    return payload[:at] + struct.pack(">H", checksum(pseudo + payload) ^ wrong) + payload[at + 2:]


class Row:
    def __init__(self, line):
        fields = line.rstrip("\n").split("\t")
        self.version, self.type, self.code, self.number = map(int, fields[:4])
        self.checksum = fields[4]
        self.simultaneous = fields[5] == "simultaneously"
        self.key = fields[:6]

    def answer(self, syn):
        """The ICMP error about a SYN, a whole IP packet; it quotes the number of the SYN plus `number`."""
        header = 20 if self.version == 4 else 40
        number = struct.unpack_from(">I", syn, header + 4)[0] + self.number & 0xFFFFFFFF
        quote = syn[:header + 4] + struct.pack(">I", number) + syn[header + 8:]
        client = syn[12:16] if self.version == 4 else syn[8:24]
        router = address(self.version, "fe80::1" if (self.version, self.type) == (6, REDIRECT) else ROUTER[self.version])
        message = bytes([self.type, self.code, 0, 0]) + struct.pack(">I", 1280)
        if (self.version, self.type) == (6, REDIRECT):
            message += address(6, "2001:db8::fd") + syn[24:40]
        protocol = 1 if self.version == 4 else 58
        message = summed(self.version, protocol, router, client, message + quote, 2, self.checksum == "bad")
        return ip_packet(self.version, protocol, router, client, message)


def segment(version, source, destination, ports, seq, ack, flags):
    source, destination = address(version, source[version]), address(version, destination[version])
    header = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 64240, 0, 0)
    return ip_packet(version, 6, source, destination, summed(version, 6, source, destination, header, 16))


def rows(path):
    with open(path, encoding="ascii") as table:
        return [Row(line) for line in table if not line.startswith("#")]


def open_tun():
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
    for arguments in ("addr add 192.0.2.1/24 dev tun0", "addr add 2001:db8::1/64 dev tun0 nodad", "link set tun0 up"):
        subprocess.run(["ip", *arguments.split()], check=True)
    return tun


def next_packet(tun, version, protocol, at, value):
    """The next packet of the protocol that has this number of 16 bits there."""
    while select.select([tun], [], [], 60)[0]:
        packet = os.read(tun, 4096)
        if packet[0] >> 4 == version and packet[9 if version == 4 else 6] == protocol:
            if struct.unpack_from(">H", packet, at)[0] == value:
                return packet
    raise TimeoutError("no packet")


def echo(tun, version, identifier):
    """An echo request and its reply: the kernel has processed what was sent before."""
    protocol, kind, header = (1, 8, 20) if version == 4 else (58, 128, 40)
    client, router = address(version, CLIENT[version]), address(version, ROUTER[version])
    request = summed(version, protocol, router, client, struct.pack(">BBHHH", kind, 0, 0, identifier, 1), 2)
    os.write(tun, ip_packet(version, protocol, router, client, request))
    next_packet(tun, version, protocol, header + 4, identifier)


def measure(tun, row):
    with socket.socket(FAMILY[row.version], socket.SOCK_STREAM) as client:
        client.setblocking(False)
        assert client.connect_ex((SERVER[row.version], 80)) == errno.EINPROGRESS
        header = 20 if row.version == 4 else 40
        port = client.getsockname()[1]
        sent = next_packet(tun, row.version, 6, header, port)
        if row.simultaneous:
            os.write(tun, segment(row.version, SERVER, CLIENT, (80, port), 5000, 0, SYN))
            sent = next_packet(tun, row.version, 6, header, port)
        os.write(tun, row.answer(sent))
        echo(tun, row.version, port)
        state = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        error = client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return STATES[state], errno.errorcode.get(error, "-")


def capture(table, path):
    now = 1_700_000_000 * 10**6
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for port, row in enumerate(table, 1):
            packets = [segment(row.version, CLIENT, SERVER, (port, 80), 1000, 0, SYN)]
            if row.simultaneous:
                packets += [segment(row.version, SERVER, CLIENT, (80, port), 5000, 0, SYN),
                            segment(row.version, CLIENT, SERVER, (port, 80), 1000, 5001, SYN | ACK)]
            for packet in packets + [row.answer(packets[-1])]:
                out.write(struct.pack("<IIII", now // 10**6, now % 10**6, len(packet), len(packet)) + packet)
                now += 100


if sys.argv[1] == "capture":
    capture(rows(sys.argv[2]), sys.argv[3])
else:
    interface = open_tun()
    for line in rows(sys.argv[2]):
        print("\t".join([*line.key, *measure(interface, line)]))
