#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The frames of captures in the formats pcap, pcapng and snoop, read without netobs and without Wireshark.

usage: capture_frames.py FILE...    prints each frame: its time in ns, captured length, length and bytes, on a line
"""
import collections
import struct
import sys

Frame = collections.namedtuple("Frame", "time length data")


def read_pcap(data):
    order = "<" if data[0] in (0xD4, 0x4D) else ">"
    unit = 1 if 0x4D in (data[0], data[3]) else 1000
    at = 24
    while at < len(data):
        seconds, fraction, caplen, length = struct.unpack_from(order + "IIII", data, at)
        yield Frame(seconds * 10**9 + fraction * unit, length, data[at + 16:at + 16 + caplen])
        at += 16 + caplen


def read_snoop(data):
    at = 16
    while at < len(data):
        length, caplen, size, _, seconds, fraction = struct.unpack_from(">IIIIII", data, at)
        yield Frame(seconds * 10**9 + fraction * 1000, length, data[at + 24:at + 24 + caplen])
        at += size


def pcapng_unit(order, body):
    """Time stamps per second, from the option of an interface block."""
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        if code == 9:
            return 2**(body[at + 4] & 127) if body[at + 4] & 128 else 10**body[at + 4]
        at += 4 + (length + 3) // 4 * 4
    return 10**6


def read_pcapng(data):
    order, units, at = "<", [], 0
    while at < len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order, units = "<" if data[at + 8] == 0x4D else ">", []
        kind, size = struct.unpack_from(order + "II", data, at)
        body = data[at + 8:at + size - 4]
        if kind == 1:
            units.append(pcapng_unit(order, body))
        elif kind == 6:
            interface, high, low, caplen, length = struct.unpack_from(order + "IIIII", body)
            yield Frame((high << 32 | low) * 10**9 // units[interface], length, body[20:20 + caplen])
        at += size


def read(path):
    """The frames of a capture."""
    with open(path, "rb") as file:
        data = file.read()
    formats = {b"\x0a\x0d\x0d\x0a": read_pcapng, b"snoo": read_snoop}
    return list(formats.get(data[:4], read_pcap)(data))


def write_pcap(path, link_type, frames):
    """Writes frames, with microseconds."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type))
        for frame in frames:
            seconds, fraction = divmod(frame.time // 1000, 10**6)
            file.write(struct.pack("<IIII", seconds, fraction, len(frame.data), frame.length) + frame.data)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for found in read(name):
            print(found.time, len(found.data), found.length, found.data.hex())
