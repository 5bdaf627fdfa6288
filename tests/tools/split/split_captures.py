#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the captures of netobs split together have every frame of their input once.

usage: split_captures.py CAPTURES SPLIT LIST    LIST has the names of captures, one a line; SPLIT what netobs-split has written
"""
import glob
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lib"))
from capture_frames import read  # noqa: E402

captures, split, names = sys.argv[1:]
differ = []
for name in open(names).read().split():
    got = [frame for path in glob.glob(f"{split}/{name}-????-of-*.pcapng") for frame in read(path) if frame.data]
    if sorted(got) != sorted(frame for frame in read(f"{captures}/{name}.pcap") if frame.data):
        differ.append(name)
print("\n".join(differ))
sys.exit(bool(differ))
