#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a capture for a sentence of the verdict.

usage: verdict_cases.py CASE FILE

probes    a receiver closes its window, its sender probes it with a byte of data, then the window opens
lost      one server answers at once, but a request to it is lost; another is slow, and a request was lost as well; of
          the third the longest answer is that of a lost request, and the second one is slow; of the fourth an answer
          is lost before the capture
replies   a client that replies to the server's data at once: in few bytes, in many, and late; and in few bytes while another
          request has no answer yet
holes     a slow answer, before which the capture lacks data of the server; one after such a hole
unacknowledged  a request that is sent again, and has no ACK before its answer comes 0.9 s later
first_holes  requests of whose answers the capture lacks the first segment; one goes on in segments without PSH
fast_open a SYN with a request, which is lost twice
greeting  a server that sends first, 10 s after the handshake; another one that is quick, but sends that again after 0.6 s
preconnection  clients that open a connection and send nothing: one closes after 5 s, then the server answers; another has
          the answer of the server, and its FIN, after 5 s; of the third the capture lacks the request
one_direction  data that is sent again three times, and a DNS query: the capture has nothing of the servers
too_big   data that is sent again three times, too big for a router; the same after an ICMP error that did no harm
queued    a request without data of the server for 5 s, in which the client sends two more
many_lost 310 connections with a request that is lost
repeated  a DNS query that is sent five times in 8 s, and one with the same id a minute later
stuck     a client that stops reading until the capture ends, a server that does until it resets the connection, and a
          window that is opened again
closings  a client that closes its window five times
readers   a client that closes its window often, each time for 10 ms; another one that does so for 4 ms, of which the
          server closes its window once, for 300 ms
reopened  a client that stops reading 0.5 s before the capture ends, and a server that does not read for 2 s before
twice     a connection and DNS queries, each packet twice: IPv4
twice6    the same in IPv6
twice_midway  the same as `twice`, after a connection that began before the capture
again     the same as `twice`, once, with retransmissions
stamps    the first frame is from the year 1970, the eighth, in the middle of a connection, from 2106
days      DNS queries with answers, 3 days apart
years     the same, 10 years apart
lossy     a connection of which the capture lacks a segment that the client acknowledges
handshake a client whose SYN,ACK comes late
queries   DNS queries without answers
only_queries  a DNS query with its answer
group     DNS queries to a multicast address, which a host answers from its own
snap      the connection and the queries of `twice`, each packet cut to 30 bytes
shortened the same, each packet cut to 45 bytes, which the capture does not say
hung      servers that acknowledge a request and send no data: the client closes after 2 s, the client resets, the server
          closes, the capture ends; a server that answers, one that closes at once, a client that closes,
          and control messages, and a request, after answers
one_way   messages that a server only acknowledges; a client that closes after a message, after answers
silent    data, and a FIN, that are sent again three times without any segment of the peer; data of which the third copy has an
          ACK; data that is sent again twice
spurious  data that is sent again four times although it has an ACK
untaken   clients of a server whose queue is full: it sends the SYN-ACK again, or acknowledges no data, or resets; and one
          that it takes late
half_open  a SYN-ACK that is sent again without an ACK, one that is the last packet but for later ones of others
rejected  SYNs and a DNS query that ICMP errors reject
errors    SYNs that ICMP errors of many kinds and senders answer, one of them an error that ends no attempt, and one without
          an answer
errors6   a SYN that an ICMPv6 error answers, and one that the router drops because of its hop limit
survived  a SYN that an ICMP error answers, and that is sent again and accepted
revived   connections that a server resets, and that go on 3 s and 40 s later, with a new socket that a SYN cookie makes
paused    a connection that is silent for three hours, and one of which a FIN comes again after two minutes
reused    a connection whose ports another one has after two minutes, of which the capture lacks the SYN
scan      SYNs to 20 ports, each once, and one at the very end of the capture
slow_ack  a client whose ACK of the SYN-ACK comes late
crossed   a client whose ACK comes late, and crosses the SYN-ACK that is sent again
syn_again a SYN, and a SYN-ACK, that are sent again and then have their answer at once; a server that answers the second
          SYN late
old_port  a SYN that the server answers with an ACK of an older connection; the client resets that and sends its SYN again
hang      after an answer, requests without one: one after which the client closes 30 s later, and one of six segments
last_fin  a FIN that is sent again five times without any segment of the peer, and then a probe with a byte of old data
twice_slow  a client whose ACK comes late, each packet twice
twice_server  a server that answers two requests late, each packet twice; the same in IPv6: twice_server6
"""
import socket
import struct
import sys

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
ADDRESSES = {4: ("192.0.2.1", "198.51.100.2"), 6: ("2001:db8::1", "2001:db8::2")}


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


class Capture:
    """Packets with their times, of IP version 4 or 6; `stamps` has wrong time stamps, by the number of the frame."""

    def __init__(self, version=4):
        self.version, self.frames, self.identification, self.stamps = version, [], [0, 0], {}
        self.snapshot, self.names_cut = 65535, True

    def packet(self, time, from_client, protocol, body, at, pseudo=True):
        """A packet between the client and the server; `at`: where in the body its checksum is."""
        family = socket.AF_INET if self.version == 4 else socket.AF_INET6
        source, target = [socket.inet_pton(family, text) for text in ADDRESSES[self.version]][:: 1 if from_client else -1]
        total = checksum((source + target + struct.pack(">II", len(body), protocol) if pseudo else b"") + body)
        body = body[:at] + struct.pack(">H", total) + body[at + 2:]
        if self.version == 6:
            self.frames.append((time, struct.pack(">IHBB", 6 << 28, len(body), protocol, 64) + source + target + body))
            return
        self.identification[from_client] += 1  # each host counts its own packets
        header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), self.identification[from_client], 0x4000, 64, protocol, 0)
        total = checksum(header + source + target)
        self.frames.append((time, header[:10] + struct.pack(">H", total) + source + target + body))

    def error(self, time, code, kind=3, sender=None):
        """An ICMP or ICMPv6 error about the last packet; kind 3: not delivered, code 3: port, 13: prohibited.  The server
        sends it, or this address."""
        message = struct.pack(">BBHI", kind, code, 0, 0) + self.frames[-1][1][:28 if self.version == 4 else 80]
        server = ADDRESSES[self.version]
        ADDRESSES[self.version] = (server[0], sender or server[1])
        self.packet(time, False, 1 if self.version == 4 else 58, message, 2, pseudo=self.version == 6)
        ADDRESSES[self.version] = server

    def query(self, time, number, from_client=True):
        """A DNS query, or its answer, without records."""
        flags = 0x0100 if from_client else 0x8180
        message = struct.pack(">HHHHHH", number, flags, 1, 0, 0, 0) + b"\3www\7example\0" + struct.pack(">HH", 1, 1)
        ports = (50000 + number, 53) if from_client else (53, 50000 + number)
        self.packet(time, from_client, 17, struct.pack(">HHHH", *ports, 8 + len(message), 0) + message, 6)

    def write(self, path, copies=1):
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
            for number, (time, packet) in enumerate(sorted(self.frames, key=lambda frame: frame[0]), 1):
                for copy in range(copies):
                    stamp = round(self.stamps.get(number, 1700000000 + time) * 1000000) + 20 * copy
                    captured = packet[:self.snapshot]
                    length = len(packet) if self.names_cut else len(captured)
                    file.write(struct.pack("<IIII", stamp // 1000000, stamp % 1000000, len(captured), length) + captured)


class Connection:
    """A connection of the client 192.0.2.1:40000 to a port; times are seconds since the capture began."""

    def __init__(self, capture, port):
        self.capture, self.port, self.next = capture, port, [1000, 5000]

    def segment(self, time, end, flags, payload=b"", window=8192, back=0):
        """A segment of the client (0) or the server (1); `back`: begins so many bytes before the next one."""
        sequence, ack = self.next[end] - back, self.next[1 - end] if flags & ACK else 0
        ports = (40000, self.port) if end == 0 else (self.port, 40000)
        self.capture.packet(time, end == 0, 6, struct.pack(">HHIIBBHHH", *ports, sequence, ack, 0x50, flags, window, 0, 0) + payload, 16)
        following = sequence + len(payload) + (flags & SYN != 0) + (flags & FIN != 0)
        self.next[end] = max(self.next[end], following)
        return self

    def open(self, time, slow=0):
        self.segment(time, 0, SYN).segment(time + slow + 0.01, 1, SYN | ACK)
        return self.segment(time + slow + 0.02, 0, ACK)

    def close(self, time):
        return self.segment(time, 0, FIN | ACK).segment(time + 0.01, 1, FIN | ACK).segment(time + 0.02, 0, ACK)


def probes(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request")
    c.segment(0.11, 1, PSH | ACK, b"x" * 1000).segment(0.12, 0, ACK, window=0)
    for number in range(4):
        c.segment(1 + number, 1, ACK, b"y", back=number > 0)
        c.next[1] -= 1
        c.segment(1.01 + number, 0, ACK, window=0)
        c.next[1] += 1
    c.next[1] -= 1
    c.segment(5, 0, ACK).segment(5.001, 1, PSH | ACK, b"y" * 1000).segment(5.01, 0, ACK).close(5.1)


def lost(capture):
    quick = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request")
    quick.segment(0.4, 0, PSH | ACK, b"request", back=7).segment(1.3, 0, PSH | ACK, b"request", back=7)
    quick.segment(1.32, 1, PSH | ACK, b"x" * 100).segment(1.33, 0, ACK).close(1.4)
    slow = Connection(capture, 81).open(2).segment(2.1, 0, PSH | ACK, b"request")
    slow.segment(2.4, 0, PSH | ACK, b"request", back=7).segment(2.41, 1, ACK)
    slow.segment(3.3, 1, PSH | ACK, b"x" * 100).segment(3.31, 0, ACK).close(3.4)
    both = Connection(capture, 82).open(4).segment(4.1, 0, PSH | ACK, b"request")
    both.segment(4.8, 0, PSH | ACK, b"request", back=7).segment(4.82, 1, PSH | ACK, b"x" * 100)
    both.segment(5, 0, PSH | ACK, b"request").segment(5.6, 1, PSH | ACK, b"x" * 100).segment(5.61, 0, ACK).close(5.7)
    late = Connection(capture, 83).open(6).segment(6.1, 0, PSH | ACK, b"request")
    late.next[1] += 200
    late.segment(6.2, 1, ACK)
    late.next[1] -= 200
    late.segment(6.8, 1, ACK, b"x" * 100).segment(6.81, 1, PSH | ACK, b"x" * 100).segment(6.82, 0, ACK).close(6.9)


def replies(capture):
    for port, start, length, delay in (80, 0, 6, 0.001), (81, 20, 101, 0.001), (82, 40, 6, 0.03):
        c = Connection(capture, port).open(start).segment(start + 0.1, 1, PSH | ACK, b"ab")
        c.segment(start + 0.1 + delay, 0, PSH | ACK, b"x" * length).segment(start + 0.2, 1, ACK)
        c.segment(start + 5.1 + port / 10, 1, PSH | ACK, b"ab").segment(start + 14, 0, ACK).close(start + 15)
    c = Connection(capture, 83).open(60).segment(60.1, 0, PSH | ACK, b"first").segment(60.11, 0, PSH | ACK, b"second")
    c.next[0] -= 6
    c.segment(60.12, 1, PSH | ACK, b"x")
    c.next[0] += 6
    c.segment(60.121, 0, PSH | ACK, b"reply").segment(61, 1, PSH | ACK, b"late").segment(61.01, 0, ACK).close(62)


def holes(capture):
    for port, before in (80, False), (81, True):
        c = Connection(capture, port).open(port).segment(port + 0.1, 0, PSH | ACK, b"request")
        c.segment(port + 0.2, 1, PSH | ACK, b"answer")
        c.next[1] += 1000 if before else 0
        c.segment(port + 0.3, 1, PSH | ACK, b"answer").segment(port + 0.4, 0, PSH | ACK, b"request" * 20)
        c.next[1] += 0 if before else 1000
        c.segment(port + 1.1 + port / 100, 1, PSH | ACK, b"answer").segment(port + 2.9, 0, ACK).close(port + 3)


def unacknowledged(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request")
    c.segment(0.4, 0, PSH | ACK, b"request", back=7).segment(1, 0, PSH | ACK, b"request", back=7)
    c.segment(1.9, 1, PSH | ACK, b"answer").segment(1.91, 0, ACK).close(2)


def first_holes(capture):
    for port, flags in (80, PSH | ACK), (81, ACK), (82, PSH | ACK):
        c = Connection(capture, port).open(port).segment(port + 0.1, 0, PSH | ACK, b"request")
        c.next[1] += 1000
        c.segment(port + 0.2, 0, ACK).segment(port + 2, 1, flags, b"x" * 500).segment(port + 2.1, 1, flags, b"x")
        c.segment(port + 2.2, 0, ACK)
        if port != 82:
            c.close(port + 3)


def fast_open(capture):
    c = Connection(capture, 80).segment(0, 0, SYN, b"request")
    for time in 1, 2, 3:
        c.segment(time, 0, SYN, b"request", back=8)
    c.segment(3.01, 1, SYN | ACK, b"answer").segment(3.02, 0, ACK).close(4)


def greeting(capture):
    c = Connection(capture, 25).open(0).segment(10, 1, PSH | ACK, b"220 ready").segment(10.01, 0, PSH | ACK, b"QUIT")
    c.segment(10.02, 1, PSH | ACK, b"221 bye").segment(10.03, 0, ACK).close(10.1)
    c = Connection(capture, 26).open(20).segment(20.03, 1, PSH | ACK, b"220 ready")
    c.segment(20.63, 1, PSH | ACK, b"220 ready", back=9).segment(20.64, 0, PSH | ACK, b"QUIT")
    c.segment(20.65, 1, PSH | ACK, b"221 bye").segment(20.66, 0, ACK).close(20.7)


def preconnection(capture):
    c = Connection(capture, 80).open(0).segment(5, 0, FIN | ACK).segment(5.1, 1, PSH | ACK, b"400")
    c.segment(5.2, 1, FIN | ACK).segment(5.3, 0, ACK)
    c = Connection(capture, 81).open(10).segment(15, 1, PSH | ACK, b"408").segment(15.01, 1, FIN | ACK)
    c.segment(15.02, 0, FIN | ACK).segment(15.03, 1, ACK)
    c = Connection(capture, 82).open(20)
    c.next[0] += 200
    c.segment(25, 1, PSH | ACK, b"answer").segment(25.01, 0, PSH | ACK, b"request").segment(25.02, 1, ACK).close(26)


def one_direction(capture):
    c = Connection(capture, 80).segment(0, 0, PSH | ACK, b"request")
    for time in 0.3, 0.9, 2.1:
        c.segment(time, 0, PSH | ACK, b"request", back=7)
    capture.query(1, 1)
    capture.query(20, 2)  # passes the time of the first one


def too_big(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"x" * 1400)
    capture.error(0.11, 4)
    for time in 0.4, 1, 3.2:
        c.segment(time, 0, PSH | ACK, b"x" * 1400, back=1400)
    c = Connection(capture, 81).open(10).segment(10.1, 0, PSH | ACK, b"x" * 1400)
    capture.error(10.11, 4)
    c.segment(10.12, 0, PSH | ACK, b"x" * 1400, back=1400).segment(10.13, 1, PSH | ACK, b"answer").segment(10.14, 0, ACK)
    c.segment(20, 0, PSH | ACK, b"request")
    for time in 20.4, 20.6, 21.1:
        c.segment(time, 0, PSH | ACK, b"request", back=7)


def queued(capture):
    c = Connection(capture, 443).open(0).segment(0.1, 0, PSH | ACK, b"request").segment(0.12, 1, ACK)
    c.segment(2, 0, PSH | ACK, b"request").segment(2.02, 1, ACK)
    c.segment(5, 0, PSH | ACK, b"request").segment(5.1, 1, PSH | ACK, b"answer").segment(5.11, 0, ACK).close(6)


def many_lost(capture):
    for port in range(1, 311):
        c = Connection(capture, port).open(port / 100).segment(port / 100 + 0.1, 0, PSH | ACK, b"request")
        c.segment(port / 100 + 1.1, 0, PSH | ACK, b"request", back=7)
        c.segment(port / 100 + 1.11, 1, PSH | ACK, b"x").segment(port / 100 + 1.12, 0, ACK).close(port / 100 + 1.2)


def repeated(capture):
    for time in 0, 1, 2, 4, 8, 100:
        capture.query(time, 1)
    capture.query(200, 2)
    capture.query(200.1, 2, False)


def readers(capture):
    c = Connection(capture, 80).open(0)
    for number in range(20):
        time = 0.1 + number / 50
        c.segment(time, 1, PSH | ACK, b"x" * 1000).segment(time + 0.001, 0, ACK, window=0).segment(time + 0.011, 0, ACK)
    c = Connection(capture, 81).open(0.01)
    for number in range(5):
        time = 0.1 + number / 50
        c.segment(time, 1, PSH | ACK, b"x" * 1000).segment(time + 0.002, 0, ACK, window=0).segment(time + 0.006, 0, ACK)
    c.segment(0.3, 0, PSH | ACK, b"x" * 1000).segment(0.31, 1, ACK, window=0).segment(0.61, 1, ACK).close(0.7)


def reopened(capture):
    c = Connection(capture, 81).open(0).segment(0.1, 0, PSH | ACK, b"x" * 1000).segment(0.11, 1, ACK, window=0)
    c.segment(2.11, 1, ACK)
    c = Connection(capture, 80).open(2).segment(2.5, 1, PSH | ACK, b"x" * 1000).segment(2.6, 0, ACK, window=0)
    c.segment(3.1, 1, ACK, back=1)


def closings(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request")
    for time in (0.2, 0.4, 0.6, 0.8, 1):
        c.segment(time, 1, PSH | ACK, b"x" * 1000).segment(time + 0.05, 0, ACK, window=0).segment(time + 0.15, 0, ACK)
    c.close(2)


def stuck(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request")
    c.segment(0.11, 1, PSH | ACK, b"x" * 1000).segment(0.12, 0, ACK, window=0)
    c.segment(0.2, 0, ACK).segment(0.21, 1, PSH | ACK, b"x" * 1000).segment(0.22, 0, ACK, window=0)
    c.segment(1.2, 1, ACK, back=1).segment(1.21, 0, ACK, window=0)
    c = Connection(capture, 81).open(0.03).segment(0.13, 0, PSH | ACK, b"x" * 1000).segment(0.14, 1, ACK, window=0)
    c.segment(2, 1, RST | ACK, window=0)
    c = Connection(capture, 82).open(0.06).segment(0.16, 0, PSH | ACK, b"x" * 1000).segment(0.17, 1, ACK, window=0)
    c.segment(0.9, 1, ACK).close(1)
    # A window that is closed at the very end says nothing.
    c = Connection(capture, 83).open(3).segment(3.1, 0, PSH | ACK, b"x" * 1000).segment(3.15, 1, ACK, window=0)


def talk(capture):
    c = Connection(capture, 80).open(0)
    for number in range(4):
        c.segment(0.1 + number / 10, 0, PSH | ACK, b"request").segment(0.11 + number / 10, 1, PSH | ACK, b"x" * 1000)
        c.segment(0.12 + number / 10, 0, ACK)
        capture.query(0.15 + number / 10, number)
        capture.query(0.16 + number / 10, number, False)
    return c


def twice_midway(capture):
    Connection(capture, 79).segment(0, 0, PSH | ACK, b"request").segment(0.01, 1, PSH | ACK, b"x" * 1000).close(0.02)
    talk(capture).close(1)


def again(capture):
    c = talk(capture)
    c.segment(1, 1, PSH | ACK, b"y" * 1000).segment(1.3, 1, PSH | ACK, b"y" * 1000, back=1000).segment(1.31, 0, ACK).close(1.4)


def stamps(capture):
    capture.query(-0.1, 9)
    capture.query(-0.09, 9, False)
    talk(capture).close(1)
    capture.stamps = {1: 5, 8: 0xFFFFFFFF}


def days(capture, pause=3 * 86400):
    for number in range(8):
        time = number / 100 + (pause if number > 3 else 0)
        capture.query(time, number)
        capture.query(time + 0.001, number, False)


def years(capture):
    days(capture, 10 * 365 * 86400)


def lossy(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request").segment(0.11, 1, PSH | ACK, b"x" * 1000)
    c.next[1] += 1000
    c.segment(0.13, 0, ACK).segment(0.14, 1, PSH | ACK, b"x" * 1000).segment(0.15, 0, ACK).close(0.2)


def handshake(capture):
    Connection(capture, 80).open(0).close(0.1)
    Connection(capture, 81).open(1, slow=0.3).close(1.4)


def hung(capture):
    for port, start in ((80, 0), (81, 1), (82, 2), (83, 3), (84, 4), (85, 5), (86, 6), (87, 6.3), (88, 3.4)):
        c = Connection(capture, port).open(start)
        if port > 86:
            c.segment(start + 0.05, 0, PSH | ACK, b"request").segment(start + 0.06, 1, PSH | ACK, b"answer")
        c.segment(start + 0.1, 0, PSH | ACK, b"request" * (10 if port == 88 else 1))
        c.segment(start + 0.11, 1, ACK if port != 84 else PSH | ACK, b"answer" if port == 84 else b"")
        if port == 80:
            c.close(start + 2.1)
        elif port == 81:
            c.segment(start + 3.1, 0, RST | ACK)
        elif port == 82:
            c.segment(start + 4.1, 1, FIN | ACK).segment(start + 4.2, 0, FIN | ACK)
        elif port == 84:
            c.close(start + 3)
        elif port == 85:
            c.segment(start + 0.12, 1, FIN | ACK)
        elif port == 86:
            c.segment(start + 0.2, 0, FIN | ACK)


def one_way(capture):
    c = Connection(capture, 514).open(0)
    for number in range(5):
        c.segment(0.1 + number / 10, 0, PSH | ACK, b"message").segment(0.11 + number / 10, 1, ACK)
    c = Connection(capture, 80).open(1).segment(1.1, 0, PSH | ACK, b"x" * 100).segment(1.11, 1, PSH | ACK, b"x" * 100)
    c.segment(1.2, 0, PSH | ACK, b"x" * 100).segment(1.21, 1, ACK).close(3.7)


def silent(capture):
    for port, start in ((80, 0), (81, 0.2), (82, 0.4), (83, 0.6)):
        c = Connection(capture, port).open(start).segment(start + 0.03, 0, PSH | ACK, b"first").segment(start + 0.04, 1, ACK)
        if port == 81:
            c.segment(start + 0.1, 0, FIN | ACK)
        else:
            c.segment(start + 0.1, 0, PSH | ACK, b"request")
        for time in (0.3, 0.7, 1.5) if port != 83 else (0.3, 0.7):
            c.segment(start + time, 0, FIN | ACK if port == 81 else PSH | ACK, b"" if port == 81 else b"request",
                      back=1 if port == 81 else 7)
        if port == 82:
            c.segment(start + 1.51, 1, ACK)


def spurious(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"request").segment(0.11, 1, PSH | ACK, b"x" * 1000)
    c.segment(0.12, 0, ACK)
    for number in range(4):
        c.segment(0.5 + number, 1, PSH | ACK, b"x" * 1000, back=1000)


def half_open(capture):
    c = Connection(capture, 80).segment(0, 0, SYN)
    for time in (0.01, 1.01, 3.01):
        c.next[1] = 5000
        c.segment(time, 1, SYN | ACK)
    Connection(capture, 81).segment(0.1, 0, SYN).segment(0.11, 1, SYN | ACK)
    Connection(capture, 82).segment(9, 0, SYN).segment(9.01, 1, SYN | ACK)


def rejected(capture):
    Connection(capture, 80).segment(0, 0, SYN)
    capture.error(0.01, 13)
    Connection(capture, 81).segment(0.5, 0, SYN)
    capture.query(1, 1)
    capture.error(1.01, 3)
    capture.query(10, 2)
    capture.query(10.1, 2, False)


def errors(capture):
    for port, code, kind, sender in ((80, 13, 3, "192.0.2.254"), (81, 13, 3, "192.0.2.253"), (82, 1, 3, "192.0.2.254"), (83, 3, 3, None),
                                     (84, 0, 11, "192.0.2.254"), (85, 0, 12, "192.0.2.254"), (86, 1, 11, None)):
        Connection(capture, port).segment(port / 100, 0, SYN)
        capture.error(port / 100 + 0.001, code, kind, sender)
    Connection(capture, 87).segment(1, 0, SYN).segment(2, 0, SYN, back=1)
    Connection(capture, 443).open(9).close(9.1)


def errors6(capture):
    Connection(capture, 80).segment(0, 0, SYN)
    capture.error(0.01, 1, 1, "2001:db8::fe")
    Connection(capture, 81).segment(1, 0, SYN)
    capture.error(1.01, 0, 3, "2001:db8::fe")


def survived(capture):
    c = Connection(capture, 80).segment(0, 0, SYN)
    capture.error(0.01, 1)
    c.segment(1, 0, SYN, back=1).segment(1.01, 1, SYN | ACK).segment(1.02, 0, ACK)
    c.segment(1.1, 0, PSH | ACK, b"request").segment(1.11, 1, PSH | ACK, b"answer").close(1.2)


def revived(capture):
    for port, after in (80, 3), (81, 40):
        c = Connection(capture, port).open(0).segment(0.1, 0, PSH | ACK, b"a").segment(0.11, 1, ACK)
        c.segment(1, 1, RST | ACK).segment(after, 0, PSH | ACK, b"bcd").segment(after + 0.01, 1, ACK)
        c.segment(after + 1, 1, PSH | ACK, b"efg").segment(after + 1.01, 0, ACK).close(after + 2)


def paused(capture):
    c = Connection(capture, 80).open(0).segment(0.1, 0, PSH | ACK, b"a").segment(0.11, 1, PSH | ACK, b"b").segment(0.12, 0, ACK)
    c.segment(10800, 0, PSH | ACK, b"a").segment(10800.1, 1, PSH | ACK, b"b").segment(10800.2, 0, ACK).close(10801)
    Connection(capture, 81).open(0).close(1).segment(121, 1, FIN | ACK, back=1)


def reused(capture):
    Connection(capture, 80).open(0).close(1)
    c = Connection(capture, 80)
    c.next = [70000, 90000]
    c.segment(121, 0, PSH | ACK, b"request").segment(121.1, 1, PSH | ACK, b"answer").segment(121.2, 0, ACK).close(122)


def untaken(capture):
    c = Connection(capture, 80).open(0)
    for time in 0.1, 0.3, 0.7, 1.5:
        c.segment(time, 0, PSH | ACK, b"request", back=7 if time > 0.1 else 0)
    c = Connection(capture, 81).open(0.001).segment(1.01, 1, SYN | ACK, back=1).segment(1.02, 0, ACK)
    c.segment(3.01, 1, SYN | ACK, back=1).segment(3.02, 0, ACK)
    Connection(capture, 82).open(0.002).segment(0.1, 1, RST)
    c = Connection(capture, 83).open(0.003).segment(0.13, 0, PSH | ACK, b"request").segment(0.33, 0, PSH | ACK, b"request", back=7)
    c.segment(0.73, 0, PSH | ACK, b"request", back=7).segment(0.74, 1, ACK).close(5)
    Connection(capture, 84).segment(0.004, 0, SYN).segment(0.014, 1, SYN | ACK)
    Connection(capture, 443).open(9).close(9.1)


def scan(capture):
    for port in range(20):
        Connection(capture, 80 + port).segment(port / 100, 0, SYN)
    Connection(capture, 443).open(9).close(9.1)
    Connection(capture, 444).segment(9.2, 0, SYN)


def slow_ack(capture):
    c = Connection(capture, 80).segment(0, 0, SYN).segment(0.01, 1, SYN | ACK).segment(0.4, 0, ACK)
    c.close(0.5)


def crossed(capture):
    c = Connection(capture, 80).segment(0, 0, SYN).segment(0.001, 1, SYN | ACK).segment(0.999, 0, ACK)
    c.segment(1.001, 1, SYN | ACK, back=1).close(1.1)


def syn_again(capture):
    Connection(capture, 80).segment(0, 0, SYN).segment(1, 0, SYN, back=1).segment(1.001, 1, SYN | ACK).segment(1.002, 0, ACK).close(3)
    c = Connection(capture, 81).segment(0.1, 0, SYN).segment(0.11, 1, SYN | ACK).segment(1.11, 1, SYN | ACK, back=1)
    c.segment(1.2, 0, ACK).close(3.1)
    Connection(capture, 82).segment(0.2, 0, SYN).segment(1.2, 0, SYN, back=1).segment(2.2, 1, SYN | ACK).segment(2.21, 0, ACK).close(3.2)


def old_port(capture):
    c = Connection(capture, 80).segment(0, 0, SYN)
    before, c.next = c.next, [700000, 900000]
    c.segment(0.02, 1, ACK)
    c.segment(0.021, 0, RST)
    c.next = before
    c.segment(3, 0, SYN, back=1).segment(3.02, 1, SYN | ACK).segment(3.021, 0, ACK).close(4)


def answered(capture, port):
    c = Connection(capture, port).open(0).segment(0.1, 0, PSH | ACK, b"q" * 100)
    return c.segment(0.11, 1, PSH | ACK, b"a" * 100).segment(0.12, 0, ACK)


def hang(capture):
    answered(capture, 80).segment(1, 0, PSH | ACK, b"q" * 100).segment(1.01, 1, ACK).close(31)
    c = answered(capture, 81)
    for number in range(6):
        c.segment(2 + number / 20, 0, PSH | ACK, b"q" * 1000).segment(2.02 + number / 20, 1, ACK)
    answered(capture, 82).close(40)


def last_fin(capture):
    c = answered(capture, 80).segment(1, 1, FIN | ACK).segment(1.01, 0, ACK).segment(1.02, 0, FIN | ACK)
    for time in 1.3, 1.9, 3.1, 5.5, 10.3:
        c.segment(time, 0, FIN | ACK, back=1)
    c.segment(12, 0, ACK, b"q", back=2)


def twice_slow(capture):
    Connection(capture, 80).segment(0, 0, SYN).segment(0.03, 1, SYN | ACK).segment(0.3, 0, ACK).close(1)


def twice_server(capture):
    c = Connection(capture, 80).open(0)
    for time in 1, 2:
        c.segment(time, 0, PSH | ACK, b"request").segment(time + 0.01, 1, ACK)
        c.segment(time + 0.8, 1, PSH | ACK, b"x" * 100).segment(time + 0.81, 0, ACK)
    c.close(3)


twice_server6 = twice_server


def only_queries(capture):
    capture.query(0, 1)
    capture.query(0.1, 1, False)


def snap(capture):
    talk(capture).close(1)
    capture.snapshot = 30


def shortened(capture):
    talk(capture).close(1)
    capture.snapshot, capture.names_cut = 45, False


def queries(capture):
    capture.query(0, 1)
    capture.query(0.1, 1, False)
    for time, number in ((1, 2), (2, 3), (3, 2)):
        capture.query(time, number)
    capture.query(9, 4)
    capture.query(9.1, 4, False)


def group(capture):
    """Queries to a multicast address, which a host answers from its own."""
    unicast = ADDRESSES[4]
    for number in (1, 2, 3):
        ADDRESSES[4] = (unicast[0], "224.0.0.252")
        capture.query(number, number)
        ADDRESSES[4] = unicast
        capture.query(number + 0.01, number, False)


def write(case, path):
    capture = Capture(6 if case.endswith("6") else 4)
    {"twice": lambda c: talk(c).close(1), "twice6": lambda c: talk(c).close(1)}.get(case, globals().get(case))(capture)
    capture.write(path, 2 if case.startswith("twice") else 1)


if __name__ == "__main__":
    write(*sys.argv[1:])
