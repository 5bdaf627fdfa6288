#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""first_bytes.py CAPTURE EXPECTED [COUNT]: connections whose first bytes come in a SYN, in small segments or out of order.  EXPECTED
has a line for each probe that fires, "CLIENT-PORT PROBE"; the client has
another port in each connection.  The
server's port is one of its protocol, or 27272, on which only the first bytes tell.
With COUNT, so many connections send what may begin a request, and nothing else; then one sends a whole one."""
import struct
import sys

CLIENT, SERVER = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
FIN, SYN, ACK, RST, DATA = 1, 2, 16, 4, 24
ELSEWHERE = 27272
REQUEST = b"GET /first HTTP/1.1\r\nHost: a.example\r\n\r\n"
OTHER = b"GET /other HTTP/1.1\r\nHost: a.example\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
EXCHANGE = ("http-request-start GET /first", "http-request-done GET /first")
HELLO = ("tls-client-hello",)


def hello(size):
    """A ClientHello with a padding extension, as long as one with a post-quantum key share."""
    extensions = struct.pack("!HHHBH", 0, 14, 12, 0, 9) + b"a.example" + struct.pack("!HH", 21, size) + bytes(size)
    body = b"\x03\x03" + bytes(32) + b"\0" + struct.pack("!HHBB", 2, 0x1301, 1, 0)
    body += struct.pack("!H", len(extensions)) + extensions
    return struct.pack("!BHHBBH", 22, 0x301, len(body) + 4, 1, 0, len(body)) + body


class Capture:
    def __init__(self):
        self.frames, self.expected = [], []
        self.port, self.server, self.time = 10000, 80, 1_700_000_000_000_000

    def begin(self, server, *expected):
        self.port += 1
        self.server = server
        self.isn = 5000 if self.port % 2 else 0x90000000
        self.next, self.answered = 1000, self.isn
        self.expected += ["%d %s" % (self.port, probe) for probe in expected]

    def segment(self, to_server, flags, seq, ack, payload=b""):
        ports = (self.port, self.server) if to_server else (self.server, self.port)
        source, destination = (CLIENT, SERVER) if to_server else (SERVER, CLIENT)
        tcp = struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 65535, 0, 0) + payload
        tcp = tcp[:16] + struct.pack("!H", checksum(source + destination + struct.pack("!HH", 6, len(tcp)) + tcp)) + tcp[18:]
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), len(self.frames) % 65536, 0, 64, 6, 0, source, destination)
        ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
        self.time += 1000
        self.frames.append((self.time, ip + tcp))

    def syn(self, data=b"", accepted=0, reply=b"", ack=True, again=None):
        """The handshake: the server accepts so many bytes of the data in the SYN, which may be sent again with others."""
        self.segment(True, SYN, 1000, 0, data)
        if again is not None:
            self.segment(True, SYN, 1000, 0, again)
        self.segment(False, SYN | ACK, self.isn, 1001 + accepted, reply)
        self.next, self.answered = 1001 + accepted, self.isn + 1 + len(reply)
        if ack:
            self.segment(True, ACK, self.next, self.answered)

    def send(self, data, size=100000, order=None):
        pieces = [(self.next + at, data[at:at + size]) for at in range(0, len(data), size)]
        for at in order or range(len(pieces)):
            self.segment(True, DATA, pieces[at][0], self.answered, pieces[at][1])
        self.next += len(data)

    def acknowledge(self):
        """Without it nothing shows that the server has accepted what was sent."""
        self.segment(False, ACK, self.answered, self.next)

    def answer(self, data=RESPONSE, ack=True):
        self.segment(False, DATA, self.answered, self.next, data)
        self.answered += len(data)
        if ack:
            self.segment(True, ACK, self.next, self.answered)


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def fast_open(c, port):
    for accepted in (1, 3, 4, 5, 10, 20, len(REQUEST) - 1, len(REQUEST), 0):  # whole, in part, not at all
        c.begin(port, *EXCHANGE)
        c.syn(REQUEST, accepted)
        if accepted < len(REQUEST):
            c.send(REQUEST[accepted:])
        c.answer()
    for first in (1, 4, 15):  # the rest after the SYN
        c.begin(port, *EXCHANGE)
        c.syn(REQUEST[:first], first)
        c.send(REQUEST[first:], 3)
        c.answer()
    c.begin(port, *EXCHANGE)  # the response is before the client's first ACK
    c.syn(REQUEST, len(REQUEST), ack=False)
    c.answer()
    c.begin(port, *EXCHANGE)  # the client acknowledges nothing: the server has read the request all the same
    c.syn(REQUEST, len(REQUEST), ack=False)
    c.answer(ack=False)
    c.begin(port, EXCHANGE[0])
    c.syn(REQUEST, len(REQUEST), ack=False)
    c.begin(port, *EXCHANGE)  # the response is in the SYN,ACK
    c.syn(REQUEST, len(REQUEST), RESPONSE)
    c.begin(port, *EXCHANGE)  # the SYN is sent again without data
    c.syn(REQUEST, len(REQUEST), again=b"")
    c.answer()
    c.begin(port, *EXCHANGE)  # and again with data
    c.syn(REQUEST, len(REQUEST), again=REQUEST)
    c.answer()
    for accepted in (0, 5):  # what the server does not accept counts for nothing, whatever is sent instead
        c.begin(port, *EXCHANGE)
        c.syn(REQUEST[:5] + OTHER[5:], accepted)
        c.send(REQUEST[accepted:])
        c.answer()
    c.begin(port, "http-request-start GET /other", "http-request-done GET /other", *EXCHANGE)  # two requests
    c.syn(OTHER + REQUEST[:9], len(OTHER) + 9)
    c.send(REQUEST[9:])
    c.answer(RESPONSE + RESPONSE)
    c.begin(port)  # nothing is accepted, and nothing sent again
    c.syn(REQUEST, 0)
    c.begin(port)  # no answer; a refusal
    c.segment(True, SYN, 1000, 0, REQUEST)
    c.begin(port)
    c.segment(True, SYN, 1000, 0, REQUEST)
    c.segment(False, RST | ACK, 0, 1001 + len(REQUEST))


def fast_open_others(c):
    for port in (443, ELSEWHERE):
        for accepted in (0, 1, 5, 11, 700, 1400):
            c.begin(port, *HELLO)
            c.syn(hello(1400)[:1400], accepted)
            c.send(hello(1400)[accepted:], 500)
            c.acknowledge()
    query = struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"\x01a\0" + struct.pack("!HH", 1, 1)
    for accepted in (0, 1, 10, len(query) + 2):
        c.begin(53, "dns-query")
        c.syn(struct.pack("!H", len(query)) + query, accepted)
        c.send((struct.pack("!H", len(query)) + query)[accepted:])
        c.acknowledge()


def small_segments(c, port):
    for size in (1, 2, 3, 4, 5, 8, 17, 18, 19, 20, 21, 30):
        c.begin(port, *EXCHANGE)
        c.syn()
        c.send(REQUEST, size)
        c.answer()
        c.begin(port, *HELLO)
        c.syn()
        c.send(hello(20), size)
    for size in (100, 517, 1400):  # a long URI, and a hello with a post-quantum key share
        for length in (300, 2000, 6000, 20000):
            c.begin(port, *EXCHANGE)
            c.syn()
            c.send(REQUEST.replace(b"first", b"first" + b"u" * length), size)
            c.answer()
        c.begin(port, *HELLO)
        c.syn()
        c.send(hello(1700), size)
    for order in ((1, 0, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (0, 0, 1, 2, 2, 3)):  # out of order, and repeated
        c.begin(port, *EXCHANGE)
        c.syn()
        c.send(REQUEST, 10, order)
        c.answer()
        c.begin(port, *HELLO)
        c.syn()
        c.send(hello(1700), 450, order)
        c.acknowledge()
    for lines in (b"\r\n", b"\n\r\n\r\n"):  # RFC 9112 section 2.2
        for size in (1, 100):
            c.begin(port, *EXCHANGE)
            c.syn()
            c.send(lines + REQUEST, size)
            c.answer()


def other_protocols(c):
    for first in (b"GEX", b"GET /first\r\n", b"\x16\x03\x01\x02\x00\x02", b"\r\n\r\nEHLO a\r\n", b"\x16\x03\x05", b"G" * 50):
        for size in (1, 100):
            c.begin(ELSEWHERE)
            c.syn()
            c.send(first, size)
            c.answer(b"220 ready\r\n")
            c.send(REQUEST)
            c.answer()
    c.begin(ELSEWHERE, *EXCHANGE)  # a missing segment, in front of which nothing is read
    c.syn()
    c.send(REQUEST[:10])
    c.answer(b"")
    c.send(REQUEST[10:], 5)
    c.answer()


def no_answer(c, port):
    """What a client has sent is told although no server has acknowledged it, and however the connection ends."""
    for last in ("nothing", "reset", "close", "refused", "syn-ack", "resent"):
        c.begin(port, *HELLO)
        c.syn()
        c.send(hello(517))
        if last == "reset":
            c.segment(True, RST | ACK, c.next, c.answered)
        elif last == "close":
            c.segment(True, FIN | ACK, c.next, c.answered)
        elif last == "refused":
            c.segment(False, RST, c.answered, 0)
        elif last == "syn-ack":
            c.time += 1_000_000
            c.segment(False, SYN | ACK, c.isn, 1001)
            c.segment(True, ACK, c.next, c.answered)
        elif last == "resent":
            c.time += 300_000
            c.next -= len(hello(517))
            c.send(hello(517))


def early_ack(c, port):
    """An ACK that is captured before what it acknowledges, or is wrong, gives up nothing."""
    for ahead in (30, len(OTHER), 3000):
        c.begin(port, *EXCHANGE, "http-request-start GET /other", "http-request-done GET /other")
        c.syn()
        c.send(REQUEST)
        c.answer()
        c.segment(False, ACK, c.answered, c.next + ahead)
        c.send(OTHER, 20, (1, 0))
        c.answer()


def flood(c, count):
    """Connections that send what may begin a request, then one that goes on."""
    for n in range(count):
        c.begin(ELSEWHERE)
        c.syn()
        c.send(b"GET /" + b"u" * (n % 1500))
    c.begin(ELSEWHERE, *EXCHANGE)
    c.syn()
    c.send(REQUEST[:5])
    c.send(REQUEST[5:])
    c.answer()


def main():
    c = Capture()
    if len(sys.argv) > 3:
        flood(c, int(sys.argv[3]))
    else:
        fast_open(c, 80)
        c.port = 11000
        fast_open(c, ELSEWHERE)
        fast_open_others(c)
        for port in (80, 443, 22, ELSEWHERE):
            small_segments(c, port)
        for port in (443, ELSEWHERE):
            no_answer(c, port)
        early_ack(c, 80)
        other_protocols(c)
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 101))
        for time, frame in c.frames:
            out.write(struct.pack("<IIII", time // 10**6, time % 10**6, len(frame), len(frame)) + frame)
    with open(sys.argv[2], "w") as out:
        out.write("".join(line + "\n" for line in sorted(c.expected)))


if __name__ == "__main__":
    main()
