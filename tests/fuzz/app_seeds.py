#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""app_seeds.py DIRECTORY CAPTURE: seeds of the fuzz targets of application providers, from a capture of Ethernet and IPv4.

A seed has the payloads of one connection as records: a byte of flags (bit 0: from the server, the end with the lower port;
bit 1: TCP; bit 6: of the other connection), two bytes of length, the payload.  Each is written whole, without its beginning,
and damaged in several ways; then all connections as two.
"""
import collections
import os
import random
import struct
import sys


def payloads(path):
    """(connection, flags, payload) of each segment and datagram with data."""
    with open(path, "rb") as file:
        data = file.read()
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack("<I", data[at + 8:at + 12])[0]
        frame, at = data[at + 16:at + 16 + length], at + 16 + length
        if frame[12:14] != b"\x08\x00" or len(frame) < 42 or frame[23] not in (6, 17):
            continue
        packet = frame[14:14 + struct.unpack(">H", frame[16:18])[0]]
        transport = packet[(packet[0] & 15) * 4:]
        ports = struct.unpack(">HH", transport[:4])
        header = (transport[12] >> 4) * 4 if packet[9] == 6 else 8
        if len(transport) > header:
            yield (packet[9], frozenset((packet[12:16], packet[16:20])), frozenset(ports)), \
                (ports[0] < ports[1]) | (packet[9] == 6) << 1, transport[header:]


def main():
    directory, capture = sys.argv[1:]
    connections, together = collections.defaultdict(list), []
    for connection, flags, payload in payloads(capture):
        connections[connection].append((flags, payload))
        together.append((flags | list(connections).index(connection) % 2 << 6, payload))
    random.seed(18)
    for number, records in enumerate([*connections.values(), together]):
        whole = [bytes([flags]) + struct.pack(">H", len(payload)) + payload for flags, payload in records]
        variants = [b"".join(whole), b"".join(whole[1:]),
                    b"".join(bytes([record[0] | random.choice((4, 8, 16, 32))]) + record[1:] for record in whole)]
        for _ in range(3):
            damaged = bytearray(variants[0])
            for _ in range(1 + len(damaged) // 40):
                damaged[random.randrange(len(damaged))] = random.randrange(256)
            variants.append(bytes(damaged))
        for variant, content in enumerate(variants):
            with open(os.path.join(directory, "%s-%d-%d" % (os.path.basename(capture), number, variant)), "wb") as out:
                out.write(content[:65000])


main()
