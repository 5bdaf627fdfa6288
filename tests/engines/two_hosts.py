#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes alpha.pcap and beta.pcap: the same connections captured at the clients and at the servers.

    two_hosts.py DIRECTORY

A segment takes 10 ms from one capture to the other, and the clock of beta is 40 s ahead.  In one capture only are
segments that are lost between the two, and attempts to a server that does not exist.  Addresses are those of RFC 5737,
RFC 3849 and RFC 2544.
"""
import ipaddress
import pathlib
import struct
import sys

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
MICROSECOND, MILLISECOND, SECOND = 1, 1000, 1000000
DELAY, AHEAD = 10 * MILLISECOND, 40 * SECOND
CLIENT, SERVER = 0, 1

captures = ([], [])  # (time in us, frame) of alpha and of beta


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return 0xffff - total


def frame(source, destination, protocol, segment, at):
    """An Ethernet frame; `at` is where the checksum of the segment is."""
    one, two = (ipaddress.ip_address(address).packed for address in (source, destination))
    pseudo = one + two + struct.pack("!II", len(segment), protocol)
    segment = segment[:at] + struct.pack("!H", checksum(pseudo + segment)) + segment[at + 2:]
    if len(one) == 16:
        return b"\2\0\0\0\0\1\2\0\0\0\0\2\x86\xdd" + struct.pack("!IHBB", 6 << 28, len(segment), protocol, 64) + one + two + segment
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 1, 0x4000, 64, protocol, 0) + one + two
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\x00" + header + segment


def send(side, when, packet, lost=False):
    """A packet of the client (side 0) or of the server at its own capture, and unless it is lost at the other one."""
    captures[side].append((when, packet))
    if not lost:
        captures[1 - side].append((when + DELAY, packet))


class Connection:
    """A TCP connection; `now` is the time at the client's capture."""

    def __init__(self, client, port, server, server_port, start, isn):
        self.ends = ((client, port), (server, server_port))
        self.now, self.next = start, [isn, isn * 7 % (1 << 32)]

    def segment(self, side, flags, data=b"", lost=False, again=False):
        """Sends what comes next, or with `again` repeats it without taking sequence numbers."""
        (source, sport), (destination, dport) = self.ends[side], self.ends[1 - side]
        ack = self.next[1 - side] if flags & ACK else 0
        header = struct.pack("!HHIIBBHHH", sport, dport, self.next[side], ack, 0x50, flags, 8000, 0, 0)
        send(side, self.now, frame(source, destination, 6, header + data, 16), lost)
        if not again:
            self.next[side] = (self.next[side] + len(data) + (flags & (SYN | FIN) != 0)) % (1 << 32)

    def open(self):
        self.segment(CLIENT, SYN)
        self.now += DELAY + 50
        self.segment(SERVER, SYN | ACK)
        self.now += DELAY + 50
        self.segment(CLIENT, ACK)

    def exchange(self, think, losses=(0, 0)):
        """A request and its answer after `think`; each is lost and repeated so many times, by request and answer."""
        self.now += 5 * MILLISECOND
        for side, wait, size in ((CLIENT, 0, 100), (SERVER, think, 900)):
            self.now += DELAY + wait
            for _ in range(losses[side]):
                self.segment(side, PSH | ACK, b"x" * size, lost=True, again=True)
                self.now += 300 * MILLISECOND
            self.segment(side, PSH | ACK, b"x" * size)
            self.now += DELAY + 100
            self.segment(1 - side, ACK)

    def close(self):
        for side, flags in ((CLIENT, FIN | ACK), (SERVER, FIN | ACK), (CLIENT, ACK)):
            self.now += DELAY + MILLISECOND
            self.segment(side, flags)

    def reset(self):
        self.now += DELAY
        self.segment(CLIENT, RST | ACK)


def refused(client, port, server, server_port, start, isn):
    connection = Connection(client, port, server, server_port, start, isn)
    connection.segment(CLIENT, SYN)
    connection.now += DELAY + 30
    connection.next[SERVER] = 0
    connection.segment(SERVER, RST | ACK)


def unanswered(client, port, server, server_port, start, isn):
    connection = Connection(client, port, server, server_port, start, isn)
    connection.segment(CLIENT, SYN, lost=True, again=True)
    connection.now += SECOND
    connection.segment(CLIENT, SYN, lost=True)


def datagrams(client, port, server, server_port, start):
    for side, when in ((CLIENT, start), (SERVER, start + DELAY + 200)):
        ends = ((client, port), (server, server_port))
        (source, sport), (destination, dport) = ends[side], ends[1 - side]
        header = struct.pack("!HHHH", sport, dport, 8 + 40, 0)
        send(side, when, frame(source, destination, 17, header + bytes(40), 6))


def generate():
    start = 1700000000 * SECOND
    # A good server; two answers and one request are lost on the way.
    for number, losses in enumerate(((0, 0), (0, 1), (0, 2), (1, 0), (0, 0))):
        connection = Connection("198.18.0.10", 40000 + number, "192.0.2.80", 443, start + number * SECOND, 1000 + number)
        connection.open()
        connection.exchange(20 * MILLISECOND, losses)
        connection.exchange(20 * MILLISECOND)
        connection.close()
    # A slow server, with requests lost from another subnet.
    for number in range(3):
        connection = Connection("198.18.1.10", 41000 + number, "192.0.2.81", 80, start + (6 + number * 3) * SECOND, 2000 + number)
        connection.open()
        connection.exchange((900 + 100 * number) * MILLISECOND, (2, 0))
        connection.close()
    for number in range(4):
        refused("198.18.0.11", 42000 + number, "192.0.2.82", 25, start + (16 + number) * SECOND, 3000 + number)
    unanswered("198.18.0.11", 43000, "192.0.2.83", 9, start + 21 * SECOND, 4000)
    # IPv6, and lost requests.
    for number in range(2):
        connection = Connection("2001:db8:a:1::10", 44000 + number, "2001:db8:b:2:0:1:0:80", 443, start + (24 + number) * SECOND,
                                5000 + number)
        connection.open()
        connection.exchange(30 * MILLISECOND, (1, 0))
        connection.close()
    # The same ports twice: two connections with the same Community ID.
    for number in range(2):
        connection = Connection("198.18.0.12", 45000, "192.0.2.80", 443, start + (27 + number) * SECOND, 6000 + number * 100000)
        connection.open()
        connection.exchange(20 * MILLISECOND)
        connection.reset()
    datagrams("198.18.0.10", 46000, "192.0.2.53", 53, start + 30 * SECOND)
    # When the attempt without an answer has expired.
    datagrams("198.18.0.10", 46001, "192.0.2.53", 53, start + 900 * SECOND)


def write(path, frames, ahead):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for when, packet in sorted(frames, key=lambda entry: entry[0]):
            seconds, microseconds = divmod(when + ahead, SECOND)
            file.write(struct.pack("<IIII", seconds, microseconds, len(packet), len(packet)) + packet)


if __name__ == "__main__":
    generate()
    directory = pathlib.Path(sys.argv[1])
    write(directory / "alpha.pcap", captures[0], 0)
    write(directory / "beta.pcap", captures[1], AHEAD)
