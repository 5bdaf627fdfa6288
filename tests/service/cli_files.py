#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Files for tests/service/cli.sh, on standard output.

    cli_files.py udp            a capture of 100 UDP datagrams in frames of 60 bytes, one per millisecond
    cli_files.py dbus           a capture without frames, of a link type that netobsd does not support
    cli_files.py window LOG     standard input as a zstd frame of one raw block, with a window of 2^LOG bytes (RFC 8878
                                section 3.1.1.1)
"""
import struct
import sys

out = sys.stdout.buffer


def header(link_type):
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link_type))


def udp():
    header(1)
    for i in range(100):
        datagram = struct.pack("!HHHH", 1000 + i, 53, 26, 0) + bytes(18)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 46, i, 0, 64, 17, 0, bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]))
        total = sum(struct.unpack("!10H", ip))
        total = (total & 0xffff) + (total >> 16)
        ip = ip[:10] + struct.pack("!H", 0xffff - total) + ip[12:]
        frame = bytes(12) + b"\x08\x00" + ip + datagram
        out.write(struct.pack("<IIII", 1000, i * 1000, len(frame), len(frame)) + frame)


def dbus():
    header(231)


def window(log):
    data = sys.stdin.buffer.read()
    block = (len(data) << 3 | 1).to_bytes(3, "little") + data
    out.write(bytes([0x28, 0xb5, 0x2f, 0xfd, 0, int(log) - 10 << 3]) + block)


if __name__ == "__main__":
    {"udp": udp, "dbus": dbus, "window": window}[sys.argv[1]](*sys.argv[2:])
