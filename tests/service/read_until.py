#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads a file again and again, without a pause, until it has this line, for a minute at most; prints its first line.

usage: read_until.py FILE LINE
"""
import sys
import time

end = time.monotonic() + 60
while True:
    with open(sys.argv[1], encoding="ascii") as file:
        lines = file.read().splitlines()
    if sys.argv[2] in lines or time.monotonic() > end:
        break
print(lines[0])
