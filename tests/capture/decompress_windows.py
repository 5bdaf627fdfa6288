#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compresses a capture with zstd, for tests/capture/decompress_windows.sh: frames whose headers ask for a window.

usage: decompress_windows.py CAPTURE FILE WINDOW...

WINDOW   the window descriptor of a frame (RFC 8878 section 3.1.1.1.2), in hexadecimal: 68 is 8 MiB, 69 9 MiB.  The first
         frame has the capture, each further one the packets of it again, a hundred times; "old" is the beginning of a
         frame of zstd 0.7 with a window of 128 MiB
"""
import struct
import sys

BLOCK = 128 * 1024

capture = open(sys.argv[1], "rb").read()


def frame(window, content):
    data = b"\x28\xb5\x2f\xfd\x00" + bytes([window])
    for at in range(0, len(content), BLOCK):
        part = content[at:at + BLOCK]
        data += struct.pack("<I", len(part) << 3 | (at + BLOCK >= len(content)))[:3] + part
    return data


with open(sys.argv[2], "wb") as out:
    for number, window in enumerate(sys.argv[3:]):
        if window == "old":
            out.write(b"\x27\xb5\x2f\xfd\x00\x88")
        else:
            out.write(frame(int(window, 16), capture if number == 0 else capture[24:] * 100))
