#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run_seeds.py DIRECTORY flows|LIMIT|options CAPTURE...: inputs of fuzz_run, always the same ones.

flows: every output at once.  The limit of flows is each of 16 to 40 in turn over the CAPTUREs, and each of them over a
capture that is made here, which has more connections than that.  LIMIT: the same with this limit over all CAPTUREs.
options: options at random over the beginnings of the CAPTUREs.
"""
import functools
import gzip
import pathlib
import random
import struct
import sys

OPTION_BYTES = 36
COMPARED = 8
# Places of option bytes, in the order in which fuzz_run.c reads them.
FLOWS, SPLIT, FORMULAS, EXCERPTS, OUTPUTS = 0, 13, 14, 16, 22
LIMITS = range(16, 41)
LONGEST, LONG, SHORT = 250000, 60000, 12000  # bytes; the first is what fuzz_run takes


# ------------------------------------------------------------------------------------------------- many connections

def checksum(data):
    total = sum(struct.unpack(">%dH" % ((len(data) + 1) // 2), data + bytes(len(data) % 2)))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def ipv4(protocol, source, destination, payload):
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, 64, protocol, 0, source, destination)
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def transport(protocol, source, destination, header, at):
    """The packet with the right checksum, whose place is `at`."""
    pseudo = source + destination + struct.pack(">HH", protocol, len(header))
    header = header[:at] + struct.pack(">H", checksum(pseudo + header)) + header[at + 2:]
    return ipv4(protocol, source, destination, header)


def tcp(ends, ports, seq, ack, flags, payload=b""):
    return transport(6, *ends, struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, flags, 8192, 0, 0) + payload, 16)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return ~crc & 0xFFFFFFFF


def sctp(ends, ports, tag, chunk):
    head = struct.pack(">HHI", *ports, tag)
    return ipv4(132, *ends, head + struct.pack("<I", crc32c(head + bytes(4) + chunk)) + chunk)


def connection(number):
    """The packets of a connection: TCP, closed or open, a DNS query, or an INIT of SCTP."""
    ends = bytes([10, 0, number // 64, number % 64 + 1]), bytes([10, 1, 0, 1])
    ports = 40000 + number, 80
    query = struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0) + b"\1%c\4test\0" % (97 + number % 26) + b"\0\1\0\1"
    if number % 8 == 5:
        return [sctp(ends, ports, 0, struct.pack(">BBHIIHHI", 1, 0, 20, number + 1, 65536, 1, 1, 1))]
    if number % 4 == 3:
        udp = struct.pack(">HHHH", 40000 + number, 53, 8 + len(query), 0) + query
        return [transport(17, *ends, udp, 6)]
    back = ends[::-1], ports[::-1]
    request, response = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 204 No\r\n\r\n"
    sent, received = 1001 + len(request), 2001 + len(response)
    packets = [tcp(ends, ports, 1000, 0, 2), tcp(*back, 2000, 1001, 0x12), tcp(ends, ports, 1001, 2001, 0x10),
               tcp(ends, ports, 1001, 2001, 0x18, request), tcp(*back, 2001, sent, 0x18, response),
               tcp(ends, ports, 1001, 2001, 0x18, request)]
    if number % 4 != 2:
        packets += [tcp(ends, ports, sent, received, 0x11), tcp(*back, received, sent + 1, 0x11),
                    tcp(ends, ports, sent + 1, received + 1, 0x10)]
    return packets


def crowd():
    """A capture of 100 connections, a few of them at the same time, some of them again."""
    numbers = [*range(100), *range(0, 100, 9)]
    packets = [(place * 0.02 + step * 0.1, packet) for place, number in enumerate(numbers)
               for step, packet in enumerate(connection(number))]
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for time, packet in sorted(packets, key=lambda timed: timed[0]):
        data += struct.pack("<IIII", 1000000000 + int(time), int(time % 1 * 1000000), len(packet), len(packet)) + packet
    return data


# ------------------------------------------------------------------------------------------------------------ seeds

def every_output(flows):
    """All outputs of one run: two formulas, two excerpts, the flight memory, JSON lines and records."""
    options = bytearray(OPTION_BYTES)
    options[FLOWS] = flows - 16
    options[FORMULAS:FORMULAS + 2] = 1 + flows % 4, 1 + flows % 3
    options[EXCERPTS:EXCERPTS + 6] = 1 + flows % 7, 1 + flows % 6, flows % 3, flows % 3, flows // 3 % 3, flows // 9 % 3
    options[OUTPUTS:OUTPUTS + 4] = 1, 0, 1, 1
    options[OUTPUTS + 8] = 1
    return bytes(options)


def split(flows):
    options = bytearray(OPTION_BYTES)
    options[FLOWS] = flows - 16
    options[SPLIT:SPLIT + 2] = 1, 2
    return bytes(options)


def flows_seeds(captures):
    for flows in LIMITS:
        yield f"crowd-{flows}", bytes([flows % 4 | COMPARED]) + every_output(flows) + crowd()
        yield f"split-{flows}", bytes([(0, 2, 3)[flows % 3]]) + split(flows) + crowd()
    for number, (name, capture) in enumerate(captures):
        flows = LIMITS[number % len(LIMITS)]
        yield name, bytes([number % 4]) + every_output(flows) + capture[:LONG]


def limit_seeds(flows, captures):
    for number, (name, capture) in enumerate(captures):
        yield f"{number}-{name}", bytes([number % 4]) + every_output(flows) + capture[:LONGEST]


def options_seeds(captures):
    rng = random.Random(1)
    crowds = [(f"crowd-{number}", crowd()) for number in range(20)]
    for name, capture in crowds + captures:
        options = bytes([rng.randrange(len(LIMITS)), *(rng.randrange(8) for _ in range(OPTION_BYTES - 1))])
        yield name, bytes([rng.randrange(16)]) + options + capture[:SHORT]


def read(path):
    content = pathlib.Path(path).read_bytes()
    return gzip.decompress(content) if path.endswith(".gz") else content


def main():
    directory, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
    seeds = {"flows": flows_seeds, "options": options_seeds}.get(kind) or functools.partial(limit_seeds, int(kind))
    directory.mkdir(exist_ok=True)
    captures = [(pathlib.Path(path).name, read(path)) for path in sorted(sys.argv[3:])]
    for name, seed in seeds(captures):
        (directory / name).write_bytes(seed)


if __name__ == "__main__":
    main()
