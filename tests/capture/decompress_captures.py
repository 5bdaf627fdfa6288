#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes captures for tests/capture/decompress_threads.sh.

usage: decompress_captures.py CAPTURE LARGE LATER DAMAGED

CAPTURE  a pcap file in little-endian byte order
LARGE    its packets eight times, one after the other, more than the buffers of a reader thread hold
LATER    the same, four times later
DAMAGED  its packets, then a record of an impossible length, then 500,000 random bytes
"""
import random
import struct
import sys

data = open(sys.argv[1], "rb").read()
records, at = [], 24
while at < len(data):
    seconds, fraction, caplen, length = struct.unpack_from("<IIII", data, at)
    records.append((seconds, fraction, data[at + 8:at + 16 + caplen]))
    at += 16 + caplen
span = records[-1][0] - records[0][0] + 100
for name, first in ((sys.argv[2], 0), (sys.argv[3], 4)):
    with open(name, "wb") as out:
        out.write(data[:24])
        for turn in range(first, first + 8):
            for seconds, fraction, rest in records:
                out.write(struct.pack("<II", seconds + turn * span, fraction) + rest)
impossible = struct.pack("<IIII", *records[0][:2], 0x7fffffff, 0x7fffffff)
with open(sys.argv[4], "wb") as out:
    out.write(data + impossible + random.Random(1).randbytes(500000))
