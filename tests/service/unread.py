#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Output that is not read, for tests/service/unread.sh.

    unread.py capture FILE    writes a capture whose printed firings are more than all buffers on the way hold
    unread.py hold FIFO       opens FIFO for reading, and does not read until SIGUSR1; then copies all to FIFO.read.  Makes
                              FIFO.full when there is much to read
    unread.py lines FILE      checks that every line but the last, which may be cut, is JSON
"""
import fcntl
import json
import pathlib
import signal
import struct
import sys
import termios


def capture(path):
    frame = bytes.fromhex("020000000002020000000001080045000020000000004011f6cac0000201c000020204d20035000c0000") + b"text"
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i in range(20000):
            out.write(struct.pack("<IIII", 1700000000 + i // 1000, i % 1000 * 1000, len(frame), len(frame)) + frame)


def hold(fifo):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    full = pathlib.Path(fifo + ".full")
    with open(fifo, "rb") as source:
        # No event tells how much there is to read: the interval between two looks.
        while signal.sigtimedwait({signal.SIGUSR1}, 0.05) is None:
            if struct.unpack("i", fcntl.ioctl(source, termios.FIONREAD, bytes(4)))[0] > 32768:
                full.touch()
        with open(fifo + ".read", "wb") as copy:
            copy.write(source.read())


def lines(path):
    with open(path, encoding="ascii") as file:
        for line in file.read().split("\n")[:-1]:
            json.loads(line)


if __name__ == "__main__":
    {"capture": capture, "hold": hold, "lines": lines}[sys.argv[1]](sys.argv[2])
