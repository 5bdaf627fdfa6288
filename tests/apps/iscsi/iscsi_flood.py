#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""iscsi_flood.py KIND COUNT OUTPUT [CAPTURE BURSTS]: a capture of COUNT connections to the iSCSI port of 192.0.2.1,
each from another address and port.  With CAPTURE (pcap, Ethernet, least significant byte first) they come between the
frames of that capture, at BURSTS places and with its times.

logins     one full-sized segment each, without a handshake: 30 login requests with a TSIH
answered   as logins, and the RST that a host without that connection answers with
opened     a handshake and one login request, from the addresses of one /24
"""
import struct
import sys

SYN, RST, PUSH, ACK = 2, 4, 8, 16
PORT = 3260
TARGET = bytes((192, 0, 2, 1))


def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(source, target, ports, numbers, flags, data=b""):
    """A TCP segment over IPv4; `numbers`: sequence and acknowledgement number.  `data` has an even length."""
    tcp = struct.pack("!HHIIBBHHH", *ports, *numbers, 5 << 4, flags, 64240, 0, 0) + data
    pseudo = source + target + struct.pack("!HH", 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source, target)
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    return b"\2\0\0\0\0\1" + b"\2\0\0\0\0\2" + b"\x08\0" + ip + tcp


def login(tsih):
    """A login request (RFC 7143 section 11.12) without text, from operational negotiation to full feature phase."""
    return struct.pack("!BBBBB3s6sHIHHII16s", 0x43, 0x87, 0, 0, 0, b"\0" * 3, b"\x80\0\0\1\0\7", tsih, 1, 1, 0, 1, 0,
                       b"\0" * 16)


def logins(n):
    source = bytes((198, 18, n >> 8 & 255, n & 255))
    ports = (1024 + n % 60000, PORT)
    return [frame(source, TARGET, ports, (n * 77777 & 0xFFFFFFFF, 1), PUSH | ACK, login(1 + n % 65535) * 30)]


def answered(n):
    source = bytes((198, 18, n >> 8 & 255, n & 255))
    return logins(n) + [frame(TARGET, source, (PORT, 1024 + n % 60000), (1, 0), RST)]


def opened(n):
    source = bytes((198, 51, 100, n & 255))
    there, back = (1024 + n % 60000, PORT), (PORT, 1024 + n % 60000)
    return [frame(source, TARGET, there, (1000, 0), SYN),
            frame(TARGET, source, back, (5000, 1001), SYN | ACK),
            frame(source, TARGET, there, (1001, 5001), ACK),
            frame(source, TARGET, there, (1001, 5001), PUSH | ACK, login(1 + n % 65535))]


def records(path):
    """The file header of a capture, and its records."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1"), "not a pcap file with this byte order"
    at, found = 24, []
    while at < len(data):
        end = at + 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:end])
        at = end
    return data[:24], found


def main():
    kind = {"logins": logins, "answered": answered, "opened": opened}[sys.argv[1]]
    count, output = int(sys.argv[2]), sys.argv[3]
    if len(sys.argv) > 4:
        header, session = records(sys.argv[4])
        bursts = int(sys.argv[5])
    else:
        header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        session, bursts = [b""] * count, count
    made = 0
    with open(output, "wb") as out:
        out.write(header)
        for i, record in enumerate(session):
            out.write(record)
            time = record[:8] or struct.pack("<II", 1700000000 + i // 10**6, i % 10**6)
            while made < bursts * (i + 1) // len(session) * (count // bursts):
                for data in kind(made):
                    out.write(time + struct.pack("<II", len(data), len(data)) + data)
                made += 1


main()
