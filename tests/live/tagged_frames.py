#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tagged_frames.py IFACE [COUNT]: sends COUNT UDP frames, or 40, of several lengths, without a VLAN tag, with one and
with two, to ports 5001 and 5002 in turns.
"""
import socket
import struct
import sys
import time

TAGS = (b"", b"\x81\x00\x00\x05", b"\x81\x00\xe0\x06", b"\x88\xa8\x00\x07\x81\x00\x00\x08")
BURST = 200


def packet(number):
    payload = bytes(number % 1200)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), number & 0xffff, 0, 64, 17, 0,
                         bytes([10, 77, 0, 1]), bytes([10, 77, 0, 2]))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    header = header[:10] + struct.pack("!H", 0xffff - total) + header[12:]
    return header + struct.pack("!HHHH", 5000, 5001 + number % 2, 8 + len(payload), 0) + payload


def main():
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.bind((sys.argv[1], 0))
    addresses = b"\xff" * 6 + b"\x02\0\0\0\0\1"
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 40):
        wire.send(addresses + TAGS[number % len(TAGS)] + b"\x08\0" + packet(number))
        if number % BURST == BURST - 1:
            time.sleep(0.001)  # no event: the pace of the traffic


main()
