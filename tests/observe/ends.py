#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ends.py CAPTURE EXPECTED: connections whose response is still held when they end, because it acknowledges a second request
that is not captured.  EXPECTED has the firings in their order, "CLIENT-PORT PROBE"."""
import struct
import sys

from first_bytes import ACK, Capture, DATA, RST, SYN

FIN = 17
REQUEST = b"GET /held HTTP/1.1\r\nHost: a.example\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def hold(c, queued=False):
    c.begin(80)
    c.syn()
    c.send(REQUEST)
    c.acknowledge()
    c.next += len(REQUEST)  # not captured
    if queued:  # nor is the beginning of the response
        c.answered += 10
    c.answer(RESPONSE, ack=False)


def tell(c, *probes):
    c.expected += ["%d %s" % (c.port, probe) for probe in probes]


def reopen(c):
    c.segment(True, SYN, 700001000, 0)
    c.segment(False, SYN | ACK, 800005000, 700001001)
    c.segment(True, ACK, 700001001, 800005001)
    c.segment(True, RST | ACK, 700001001, 800005001)


def add_reused(c):
    """The server closes, and 20 ms later the client opens another connection with the same ports."""
    hold(c)
    c.segment(False, FIN, c.answered, c.next)
    c.time += 20000
    reopen(c)
    tell(c, "http-request-start", "http-request-done", "connection-end", "connection-end")


def add_unanswered(c):
    """The server acknowledges nothing; the ports are used again, and the packet in progress is that of another connection."""
    c.begin(80)
    c.syn()
    c.send(REQUEST)
    c.time += 3_000_000
    reopen(c)
    tell(c, "http-request-start", "connection-end", "connection-end")


def add_reset(c):
    hold(c)
    c.segment(False, RST | ACK, c.answered, c.next)
    tell(c, "http-request-start", "http-request-done", "connection-end")


def add_idle(c):
    """Nothing of any connection is captured until it is given up."""
    hold(c)
    c.time += 10 * 86400 * 1000000
    tell(c, "http-request-start", "http-request-done", "connection-end")


def add_queued(c):
    """What is held has bytes in front of it that do not come: it is counted."""
    hold(c, queued=True)
    c.time += 10 * 86400 * 1000000
    tell(c, "http-request-start", "connection-end")


def add_last(c):
    hold(c)
    tell(c, "http-request-start", "http-request-done", "connection-end")


def main():
    c = Capture()
    for add in (add_reused, add_unanswered, add_reset, add_idle, add_queued, add_last):
        add(c)
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for time, frame in c.frames:
            out.write(struct.pack("<IIII", time // 1000000, time % 1000000, len(frame), len(frame)) + frame)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.writelines(line + "\n" for line in c.expected)


main()
