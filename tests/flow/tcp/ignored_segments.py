#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ignored_segments.py FILE: writes the capture tcp-ignored.pcap: segments that their receiver must ignore (RFC 9293, 5961,
7323), each in a connection of its own that goes on afterwards, and beside them segments that are nearly the same and must
not be ignored.  The client's port is the number of the scenario.  The client's ISN is 1000, the server's 5000; each accepts
1000 bytes."""
import struct
import sys

A, B = 0, 1
ADDRESS = bytes([198, 51, 100, 1]), bytes([203, 0, 113, 2])
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16}
STEP = 10_000


class Capture:
    def __init__(self):
        self.frames, self.now, self.port = [], 1_700_000_000 * 10**6, 0

    def begin(self, port):
        self.port = port
        self.now += 2_000_000

    def segment(self, sender, flags, seq, ack=0, length=0, tsval=None, step=STEP):
        ports = (self.port, 80) if sender == A else (80, self.port)
        options = b"" if tsval is None else struct.pack("!BBBBII", 1, 1, 8, 10, tsval, 1)
        bits = sum(FLAGS[flag] for flag in flags)
        header = struct.pack("!HHIIBBHHH", *ports, seq, ack, (20 + len(options)) << 2, bits, 1000, 0, 0)
        segment = header + options + bytes(length)
        pseudo = ADDRESS[sender] + ADDRESS[1 - sender] + struct.pack("!HH", 6, len(segment))
        segment = segment[:16] + struct.pack("!H", checksum(pseudo + segment)) + segment[18:]
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, 6, 0, ADDRESS[sender],
                         ADDRESS[1 - sender])
        self.now += step
        self.frames.append((self.now, ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + segment))

    def open(self, iss=1000, irs=5000, tsval=None):
        self.segment(A, "S", iss, tsval=tsval)
        self.segment(B, "S.", irs, iss + 1, tsval=tsval)
        self.segment(A, ".", iss + 1, irs + 1, tsval=tsval)

    def close(self, seq=1001, ack=5001, tsval=None):
        """Three bytes of data, and the close by the client."""
        self.segment(A, "P.", seq, ack, 3, tsval=tsval)
        self.segment(B, ".", ack, seq + 3, tsval=tsval)
        self.segment(A, "F.", seq + 3, ack, tsval=tsval)
        self.segment(B, "F.", ack, seq + 4, tsval=tsval)
        self.segment(A, ".", seq + 4, ack + 1, tsval=tsval)


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def resets(c):
    c.begin(101)  # beyond the window, before it, in it; then the one that counts
    c.open()
    for seq in (900_000, 4_000, 5_100):
        c.segment(B, "R", seq)
        c.segment(A, ".", 1001, 5001)
    c.segment(A, "P.", 1001, 5001, 5)
    c.segment(B, ".", 5001, 1006)
    c.segment(B, "R", 5001)
    c.begin(102)  # the client's socket is closed while data is in flight: the RST has the number of its FIN
    c.open()
    c.segment(A, "F.", 1001, 5001)
    c.segment(B, "P.", 5001, 1001, 10, step=200)
    c.segment(A, "R", 1001, step=200)
    c.begin(103)  # a RST that is not exact, to an endpoint in SYN_RECEIVED
    c.segment(A, "S", 1000)
    c.segment(B, "S.", 5000, 1001)
    c.segment(A, "R", 1101)
    c.segment(A, ".", 1001, 5001)
    c.close()
    c.begin(104)  # a half-open scan
    c.segment(A, "S", 1000)
    c.segment(B, "S.", 5000, 1001)
    c.segment(A, "R", 1001)


def syns(c):
    c.begin(201)  # a forged SYN, and its challenge ACK
    c.open()
    c.segment(A, "S", 777_777)
    c.segment(B, ".", 5001, 1001)
    c.close()
    c.begin(202)  # the client has lost its connection: its RST proves it
    c.open()
    c.segment(A, "S", 777_777)
    c.segment(B, ".", 5001, 1001)
    c.segment(A, "R", 1001)
    c.segment(A, "S", 777_777, step=1_000_000)
    c.segment(B, "S.", 9000, 777_778)
    c.segment(A, ".", 777_778, 9001)
    c.close(777_778, 9001)
    c.begin(203)  # both have closed the connection, in segments that are not captured
    c.open()
    c.segment(A, "S", 777_777)
    c.segment(B, "S.", 9000, 777_778)
    c.segment(A, ".", 777_778, 9001)
    c.close(777_778, 9001)
    c.begin(204)  # TIME_WAIT accepts a SYN with a larger number
    c.open()
    c.close()
    c.open(2_000, 9_000)
    c.close(2_001, 9_001)
    c.begin(205)  # and not one with a smaller number
    c.open(500_000)
    c.close(500_001)
    c.segment(B, "S", 4_000)
    c.segment(A, ".", 500_005, 5002)
    c.segment(B, "R", 5002)
    c.begin(206)  # a forged SYN,ACK
    c.open()
    c.segment(B, "S.", 777_777, 333_333)
    c.segment(A, ".", 1001, 5001)
    c.close()


def handshakes(c):
    c.begin(301)  # a SYN,ACK that does not acknowledge the SYN, and the one that does
    c.segment(A, "S", 1000)
    c.segment(B, "S.", 7000, 900_000_000)
    c.segment(A, "R", 900_000_000)
    c.segment(B, "S.", 5000, 1001)
    c.segment(A, ".", 1001, 5001)
    c.close()
    c.begin(302)  # an ACK that SYN_RECEIVED does not accept
    c.segment(A, "S", 1000)
    c.segment(B, "S.", 5000, 1001)
    c.segment(A, ".", 1001, 5501)
    c.segment(B, "R", 5501)
    c.segment(A, ".", 1001, 5001)
    c.close()
    c.begin(303)  # SYN,ACK and FIN at once; the client, as RFC 9293 demands, acknowledges both
    c.segment(A, "S", 1000)
    c.segment(B, "SF.", 5000, 1001)
    c.segment(A, ".", 1001, 5002)
    c.segment(A, "F.", 1001, 5002)
    c.segment(B, ".", 5002, 1002)
    c.begin(304)  # the same; the client, as Linux does, acknowledges the SYN alone
    c.segment(A, "S", 1000)
    c.segment(B, "SF.", 5000, 1001)
    c.segment(A, ".", 1001, 5001)
    c.begin(305)  # a split handshake: an ACK and a SYN instead of the SYN,ACK
    c.segment(A, "S", 1000)
    c.segment(B, ".", 4999, 1001)
    c.segment(B, "S", 5000)
    c.segment(A, "S.", 1000, 5001)
    c.segment(B, ".", 5001, 1001)
    c.close()


def acknowledgements(c):
    c.begin(401)  # far beyond the window
    c.open()
    c.segment(B, ".", 5001, 99_999)
    c.segment(A, ".", 1001, 5001)
    c.close()
    c.begin(402)  # a FIN, far beyond the window and in it
    c.open()
    c.segment(A, "F.", 1001, 99_999)
    c.segment(B, ".", 5001, 1001)
    c.segment(A, "F.", 1001, 5501)
    c.segment(B, ".", 5001, 1001)
    c.close()
    c.begin(403)  # data and a FIN with the number from before the connection
    c.open()
    c.segment(A, "P.", 1001, 4_900, 3)
    c.segment(A, "F.", 1001, 4_900)
    c.segment(B, ".", 5001, 1001)
    c.close()
    c.begin(404)  # a FIN without ACK
    c.open()
    c.segment(A, "F", 1001)
    c.close()


def numbers(c):
    c.begin(501)  # old timestamps
    c.open(tsval=5000)
    c.segment(A, "P.", 1001, 5001, 3, tsval=5100)
    c.segment(B, ".", 5001, 1004, tsval=5100)
    c.segment(A, "P.", 1004, 5001, 3, tsval=4900)
    c.segment(A, "F.", 1004, 5001, tsval=4900)
    c.segment(B, ".", 5001, 1004, tsval=5101)
    c.close(1004, tsval=5200)
    c.begin(502)  # outside the window
    c.open()
    for seq in (50_000, 4_000_000_000):
        c.segment(A, "P.", seq, 5001, 3)
        c.segment(A, "F.", seq, 5001)
        c.segment(B, ".", 5001, 1001)
    c.close()
    c.begin(503)  # frames are missing, many windows of them, in both directions: the connection is followed
    c.open()
    c.segment(A, "P.", 1001, 5001, 100)
    c.segment(B, ".", 5001, 1101)
    for piece in range(3):
        c.segment(A, "P.", 1_000_000 + 100 * piece, 5001, 100)
        c.segment(B, ".", 5001, 1_000_100 + 100 * piece)
    c.close(1_000_300)


def main():
    c = Capture()
    for scenarios in (resets, syns, handshakes, acknowledgements, numbers):
        scenarios(c)
    with open(sys.argv[1], "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for microseconds, frame in c.frames:
            file.write(struct.pack("<IIII", *divmod(microseconds, 10**6), len(frame), len(frame)) + frame)


main()
