#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""clock_captures.py KIND LEAD FILE: a capture of short TCP connections, about one a second, each with a round trip of 20 ms,
whose time stamps are irregular in one way.  LEAD frames of UDP come first, so that the irregular frame is at another place
of a batch.  Connection 20 of 40 is where it happens.

even      regular
back      the clock is set back by an hour, in the middle of connection 20
forth     as back; at connection 30 it is set forward again
future    one frame of connection 20 is an hour late
past      one frame of connection 20 is an hour early
gap       an hour without traffic before connection 20
blocks    every second connection is five seconds early
first     the first frame is a year ahead
y2038     all frames are of 2040
y2038ng   as y2038, as pcapng
"""
import struct
import sys

kind, lead, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
HOUR = 3600 * 10**6
CLIENT, SERVER = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))
frames = []  # (time in us, bytes)


def ip(protocol, source, destination, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), len(frames) & 0xFFFF, 0, 64, protocol, 0,
                         source, destination)
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return b"\2" * 6 + b"\4" * 6 + b"\x08\x00" + header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:] + payload


def tcp(time, source, port, to_port, seq, ack, flags, data=b""):
    segment = struct.pack("!HHIIBBHHH", port, to_port, seq, ack, 5 << 4, flags, 8192, 0, 0) + data
    frames.append((time, ip(6, source, SERVER if source == CLIENT else CLIENT, segment)))


def connection(time, port):
    SYN, ACK, FIN = 2, 16, 1
    tcp(time, CLIENT, port, 80, 1000, 0, SYN)
    tcp(time + 20000, SERVER, 80, port, 5000, 1001, SYN | ACK)
    tcp(time + 20010, CLIENT, port, 80, 1001, 5001, ACK)
    tcp(time + 20020, CLIENT, port, 80, 1001, 5001, ACK, b"x" * 100)
    tcp(time + 40020, SERVER, 80, port, 5001, 1101, ACK, b"y" * 200)
    tcp(time + 40030, CLIENT, port, 80, 1101, 5201, ACK)
    tcp(time + 60000, CLIENT, port, 80, 1101, 5201, ACK | FIN)
    tcp(time + 80000, SERVER, 80, port, 5201, 1102, ACK | FIN)
    tcp(time + 80010, CLIENT, port, 80, 1102, 5202, ACK)


start = (2208988800 if kind.startswith("y2038") else 1700000000) * 10**6
for i in range(lead):
    frames.append((start - 1000, ip(17, CLIENT, SERVER, struct.pack("!HHHH", 5000 + i, 53, 12, 0) + b"lead")))
for i in range(40):
    connection(start + i * 1003000, 20000 + i)
middle = lead + 20 * 9 + 5  # 10 us after the frame before it
change = {
    "back": lambda i, t: t - HOUR if i >= middle else t,
    "forth": lambda i, t: t - HOUR if middle <= i < lead + 30 * 9 else t,
    "future": lambda i, t: t + HOUR if i == middle else t,
    "past": lambda i, t: t - HOUR if i == middle else t,
    "gap": lambda i, t: t + HOUR if i >= lead + 20 * 9 else t,
    "blocks": lambda i, t: t - 5 * 10**6 if (i - lead) // 9 % 2 else t,
    "first": lambda i, t: t + 8760 * HOUR if i == 0 else t,
}.get(kind, lambda i, t: t)
with open(path, "wb") as out:
    if kind == "y2038ng":
        out.write(struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28))
        out.write(struct.pack("<IIHHII", 1, 20, 1, 0, 65535, 20))
    else:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for i, (time, data) in enumerate(frames):
        time = change(i, time)
        if kind == "y2038ng":
            body = data + bytes(-len(data) % 4)
            out.write(struct.pack("<IIIIIII", 6, 32 + len(body), 0, time >> 32, time & 0xFFFFFFFF, len(data), len(data)))
            out.write(body + struct.pack("<I", 32 + len(body)))
            continue
        out.write(struct.pack("<IIII", time // 10**6, time % 10**6, len(data), len(data)) + data)
