#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""backwards.py PCAP BACKWARDS: copies a capture with time stamps that decrease from the first one on."""
import struct
import sys

with open(sys.argv[1], "rb") as capture:
    data = bytearray(capture.read())
at, first = 24, struct.unpack_from("<I", data, 24)[0]
while at < len(data):
    seconds, _, length = struct.unpack_from("<3I", data, at)
    struct.pack_into("<I", data, at, 2 * first - seconds)
    at += 16 + length
with open(sys.argv[2], "wb") as backwards:
    backwards.write(data)
