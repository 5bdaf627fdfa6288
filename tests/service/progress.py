#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The progress of a replay.

    progress.py capture FILE    writes a capture of 100 frames in 2.5 seconds
    progress.py exact RAW       checks what was written to a terminal: each progress is the share of the 100 frames that
                                were replayed, and the rate is at most all of them in a second
"""
import re
import struct
import sys


def capture(path):
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i in range(100):
            frame = bytes(12) + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + bytes(20)
            out.write(struct.pack("<IIII", 1000 + i // 40, i % 40 * 25000, len(frame), len(frame)) + frame)


def exact(path):
    with open(path, encoding="ascii") as file:
        lines = re.findall(r"netobsd: (\d+) %, (\d+) frames, ([\d.]+) frames/s", file.read())
    print(lines)
    shares = [int(share) for share, _, _ in lines]
    rates = [float(rate) for _, _, rate in lines]
    if (not lines or shares != sorted(shares) or any(abs(int(share) - int(frames)) > 1 for share, frames, _ in lines) or
            not all(0 <= rate <= 100 for rate in rates) or not any(rates)):
        sys.exit("wrong")


if __name__ == "__main__":
    {"capture": capture, "exact": exact}[sys.argv[1]](sys.argv[2])
