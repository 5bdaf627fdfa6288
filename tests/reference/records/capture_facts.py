# SPDX-License-Identifier: BSD-2-Clause
"""Used by records.py: facts of a capture file that explain why two counts of a connection differ."""
import collections
import ipaddress
import struct

MAGIC = {b"\xd4\xc3\xb2\xa1": ("<", 1e6), b"\xa1\xb2\xc3\xd4": (">", 1e6), b"\x4d\x3c\xb2\xa1": ("<", 1e9),
         b"\xa1\xb2\x3c\x4d": (">", 1e9)}
LINK = {0: 4, 1: 14, 12: 0, 101: 0, 113: 16, 228: 0, 229: 0, 276: 20}
TAGS = (b"\x81\x00", b"\x88\xa8", b"\x91\x00")
FIN, SYN, RST = 1, 2, 4
ERRORS = {1: (3, 4, 5, 11, 12), 58: (1, 2, 3, 4)}  # ICMP and ICMPv6: the types that quote a packet


class Facts:
    """Of the packets of one direction of a connection, those without fragments or extension headers: their number, the
    bytes of their frames outside the IP packet (link header, tags, padding), their times, the times of those with
    payload or SYN (`data`) and of those with FIN or RST (`ends`); and the number and bytes of ICMP errors that quote a packet of
    this direction."""

    def __init__(self):
        self.packets = self.beside = self.errors = self.error_bytes = 0
        self.times, self.data, self.ends = [], [], []


def frames(data):
    """(link type, time, length on the wire, captured bytes) of each frame of a pcap or pcapng file."""
    order, unit = MAGIC.get(data[:4], (None, 0))
    if order:
        link, at = struct.unpack(order + "I", data[20:24])[0] & 0xffff, 24
        while at + 16 <= len(data):
            seconds, fraction, captured, length = struct.unpack(order + "IIII", data[at:at + 16])
            yield link, seconds + fraction / unit, length, data[at + 16:at + 16 + captured]
            at += 16 + captured
        return
    links, at, order = [], 0, "<"
    while at + 12 <= len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order, links = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">", []
        kind, size = struct.unpack(order + "II", data[at:at + 8])
        if kind == 1:
            links.append(struct.unpack(order + "H", data[at + 8:at + 10])[0])
        elif kind == 6:
            number, high, low, captured, length = struct.unpack(order + "IIIII", data[at + 8:at + 28])
            yield links[number], ((high << 32) + low) / 1e6, length, data[at + 28:at + 28 + captured]
        at += max(size, 12)


def ip_start(link, frame):
    """Where the IP packet of a frame begins; None if it has no IP packet."""
    at = LINK.get(link)
    if at is None:
        return None
    while link == 1 and frame[at - 2:at] in TAGS:
        at += 4
    return at if len(frame) > at + 20 and frame[at] >> 4 in (4, 6) else None


def ip_header(packet):
    """(header length, protocol, total length, source, destination); None if it is a fragment or cut."""
    if packet[0] >> 4 == 4 and len(packet) >= 20:
        header, proto = (packet[0] & 15) * 4, packet[9]
        total, fragment = struct.unpack("!H", packet[2:4])[0], packet[6] & 63 or packet[7]
        return None if fragment else (header, proto, total, packet[12:16], packet[16:20])
    if packet[0] >> 4 == 6 and len(packet) >= 40:
        return 40, packet[6], 40 + struct.unpack("!H", packet[4:6])[0], packet[8:24], packet[24:40]
    return None


def direction(packet, header, proto, source, target):
    ports = struct.unpack("!HH", packet[header:header + 4])
    return ("tcp" if proto == 6 else "udp", str(ipaddress.ip_address(source)), str(ports[0]),
            str(ipaddress.ip_address(target)), str(ports[1]))


def add_error(found, packet, header, proto, length):
    """Counts an ICMP error for the direction of the packet that it quotes."""
    quoted = packet[header + 8:]
    if packet[header] not in ERRORS[proto] or len(quoted) < 20:
        return
    inner = ip_header(quoted)
    if inner and inner[1] in (6, 17) and len(quoted) >= inner[0] + 4:
        facts = found[direction(quoted, inner[0], inner[1], inner[3], inner[4])]
        facts.errors += 1
        facts.error_bytes += length


def add(found, time, length, packet):
    parts = ip_header(packet)
    if not parts or len(packet) < parts[0] + 4:
        return
    header, proto, total, source, target = parts
    if proto in ERRORS:
        add_error(found, packet, header, proto, length)
    if proto not in (6, 17):
        return
    facts = found[direction(packet, header, proto, source, target)]
    facts.packets += 1
    facts.beside += length - total
    facts.times.append(time)
    if proto == 17 or len(packet) < header + 14:
        facts.data.append(time)
        return
    if packet[header + 13] & SYN or total > header + (packet[header + 12] >> 4) * 4:
        facts.data.append(time)
    if packet[header + 13] & (FIN | RST):
        facts.ends.append(time)


def read(path):
    """(protocol, source, port, destination, port) -> Facts."""
    found = collections.defaultdict(Facts)
    with open(path, "rb") as file:
        data = file.read()
    for link, time, length, frame in frames(data):
        at = ip_start(link, frame)
        if at is not None:
            add(found, time, length, frame[at:])
    return found
