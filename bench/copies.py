#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One capture out of many copies of small ones.

    bench/copies.py COPIES OUTPUT FILE...

Writes the frames of all FILEs (pcap, Ethernet), COPIES times, in order of time.  Copy k has other IPv4 addresses: k is added
to the first half of each address and subtracted from the second, in the arithmetic of the Internet checksum, so that every
checksum stays right.  The copies begin one after another, and overlap: copy k begins k/COPIES of the longest FILE later.
"""
import heapq
import struct
import sys


def read_frames(path):
    """(time in us, frame) of a capture, from its beginning."""
    with open(path, "rb") as file:
        data = file.read()
    magic = data[:4]
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\x3c\x4d": ">"}.get(magic)
    if order is None or struct.unpack(order + "I", data[20:24])[0] & 0xffff != 1:
        sys.exit("%s: not a pcap file of Ethernet frames" % path)
    per_us = 1000 if magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1
    at, frames, begin = 24, [], None
    while at + 16 <= len(data):
        seconds, fraction, captured, wire = struct.unpack(order + "IIII", data[at:at + 16])
        time = seconds * 1000000 + fraction // per_us
        begin = time if begin is None else begin
        frames.append((max(0, time - begin), data[at + 16:at + 16 + captured], wire))
        at += 16 + captured
    return frames


def move_address(frame, at, k):
    high, low = struct.unpack_from(">HH", frame, at)
    struct.pack_into(">HH", frame, at, (high + k) % 65535, (low - k) % 65535)


def copy_frame(frame, k):
    if k == 0 or len(frame) < 34 or frame[12:14] != b"\x08\x00":
        return frame
    copy = bytearray(frame)
    move_address(copy, 26, k)
    move_address(copy, 30, k)
    return bytes(copy)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    copies, files = int(sys.argv[1]), [read_frames(path) for path in sys.argv[3:]]
    span = max(frames[-1][0] for frames in files if frames)

    def frames_of(frames, k):
        begin = 1700000000000000 + span * k // copies
        for number, (time, frame, wire) in enumerate(frames):
            yield begin + time, k, number, wire, copy_frame(frame, k)

    with open(sys.argv[2], "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for time, _, _, wire, frame in heapq.merge(*(frames_of(frames, k) for k in range(copies) for frames in files)):
            out.write(struct.pack("<IIII", time // 1000000, time % 1000000, len(frame), wire) + frame)


main()
