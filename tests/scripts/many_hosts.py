#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""many_hosts.py HOSTS FILE: writes a capture with a UDP packet of each of many hosts to a port of its own; every tenth host
sends two.  Prints HOSTS and the payload bytes of IP.
"""
import struct
import sys


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff


hosts, path = int(sys.argv[1]), sys.argv[2]
size = 0
with open(path, "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for host in range(hosts):
        for again in range(1 + (host % 10 == 0)):
            payload = bytes(20 + host % 7)
            udp = struct.pack("!HHHH", 1024 + host % 60000, host % 60000 + 1, 8 + len(payload), 0) + payload
            header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), again, 0, 64, 17, 0,
                                 struct.pack("!I", 0x0a000000 + host), bytes((192, 0, 2, 1)))
            header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
            frame = bytes(12) + b"\x08\0" + header + udp
            out.write(struct.pack("<IIII", 1700000000 + host // 1000, host % 1000 * 1000, len(frame), len(frame)) + frame)
            size += len(udp)
print(hosts, size)
