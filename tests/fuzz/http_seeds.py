#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""http_seeds.py DIRECTORY CAPTURE: seeds of tests/fuzz/fuzz_http.c, one per connection of a capture of HTTP on port 8080 over IPv4.

Each connection is written whole, without its beginning, and damaged in several ways.
"""
import random
import struct
import sys


def segments(path):
    """(connection, from the server, payload) of each TCP segment with data, Ethernet or loopback."""
    data = open(path, "rb").read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        caplen, = struct.unpack(order + "I", data[at + 8:at + 12])
        frame = data[at + 16:at + 16 + caplen]
        at += 16 + caplen
        ip = frame[14:]
        if frame[12:14] != b"\x08\x00" or ip[9] != 6:
            continue
        total, = struct.unpack("!H", ip[2:4])
        tcp = ip[(ip[0] & 15) * 4:total]
        sport, dport = struct.unpack("!HH", tcp[:4])
        payload = tcp[(tcp[12] >> 4) * 4:]
        if payload:
            yield (dport if sport == 8080 else sport), sport == 8080, payload


def record(from_server, payload, flags=0):
    return struct.pack("!BH", flags | from_server, len(payload)) + payload


def main():
    directory, capture = sys.argv[1:]
    connections = {}
    for name, from_server, payload in segments(capture):
        connections.setdefault(name, []).append((from_server, payload[:20000]))
    random.seed(3)
    count = 0
    for segments_of_one in connections.values():
        whole = [record(*segment) for segment in segments_of_one]
        seeds = [b"\1" + b"".join(whole), b"\3" + b"".join(whole), b"\0" + b"".join(whole[4:])]
        for _ in range(20):
            seed = bytearray(b"\1" + b"".join(
                record(from_server, payload, random.choice([0, 0, 0, 2, 4, 8, 16, 32, 128])) for from_server, payload in segments_of_one))
            for _ in range(random.randrange(4)):
                seed[random.randrange(len(seed))] ^= 1 << random.randrange(8)
            seeds.append(bytes(seed))
        for seed in seeds:
            with open(f"{directory}/http-{count:04}", "wb") as file:
                file.write(seed)
            count += 1


main()
