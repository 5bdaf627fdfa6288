#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""link_frames.py DIRECTORY: writes the captures link-*.pcap of the link types that this script knows: each frame is a UDP
datagram over IPv4 or IPv6, whose destination port is 2000 and the number of the frame, in one more encapsulation of its
link type.  Frames without a datagram are between them if the type has such frames."""
import os
import struct
import sys

V4 = bytes([192, 0, 2, 1]), bytes([198, 51, 100, 2])
V6 = tuple(bytes([0x20, 0x01, 0x0d, 0xb8] + [0] * 11 + [n]) for n in (1, 2))
HERE, ROUTER, PEER, BRIDGE = (bytes([2, 0, 0, 0, 0, n]) for n in (1, 2, 3, 4))
SNAP4, SNAP6 = b"\xaa\xaa\x03\0\0\0\x08\x00", b"\xaa\xaa\x03\0\0\0\x86\xdd"


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp(addresses, number, answer):
    data = b"frame %d" % number
    ports = (2000 + number, 1000) if answer else (1000, 2000 + number)
    header = struct.pack("!HHH", *ports, 8 + len(data))
    pseudo = b"".join(addresses) + struct.pack("!IHH", 8 + len(data), 0, 17)
    return header + struct.pack("!H", checksum(pseudo + header + b"\0\0" + data)) + data


def ipv4(number, answer=False):
    source, destination = V4[::-1] if answer else V4
    payload = udp((source, destination), number, answer)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), number, 0, 64, 17, 0, source, destination)
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


def ipv6(number, answer=False):
    source, destination = V6[::-1] if answer else V6
    payload = udp((source, destination), number, answer)
    return struct.pack("!IHBB", 6 << 28, len(payload), 17, 64) + source + destination + payload


def ppp():
    """Address and control there and left out, the protocol in two bytes and in one, LCP, MPLS."""
    return [b"\xff\x03\0\x21" + ipv4(1), b"\xff\x03\0\x57" + ipv6(2), b"\0\x21" + ipv4(3, True), b"\x21" + ipv4(4),
            b"\xff\x03\x57" + ipv6(5), b"\xff\x03\xc0\x21\x01\x01\0\x04", b"\xff\x03\x02\x81\0\x06\x41\x40" + ipv4(7)]


def hdlc():
    return [b"\x0f\0\x08\0" + ipv4(1), b"\x8f\0\x86\xdd" + ipv6(2), b"\x8f\0\x80\x35" + bytes(18), b"\x0f\0\x20\0\x01\xb4"]


def ppp_ether():
    def session(payload):
        return struct.pack("!BBHH", 0x11, 0, 7, len(payload)) + payload + bytes(4)
    return [session(b"\0\x21" + ipv4(1)), session(b"\0\x57" + ipv6(2)), session(b"\x21" + ipv4(3))]


def frame_relay():
    """NLPID, SNAP with and without padding, EtherType; addresses of 2 and 4 bytes; LMI."""
    return [b"\x18\x41\x03\xcc" + ipv4(1), b"\x18\x41\x03\x8e" + ipv6(2), b"\x18\x41\x03\0\x80\0\0\0\x08\0" + ipv4(3),
            b"\x18\x41\x03\x80\0\0\0\x86\xdd" + ipv6(4), b"\x18\x41\x08\0" + ipv4(5), b"\x18\x40\x42\x05\x03\xcc" + ipv4(6),
            b"\0\x01\x03\x08\0\x75\x95\x01\x01\0\x03\x02\0\0"]


def with_direction(frames):
    return [bytes([n % 2]) + frame for n, frame in enumerate(frames)]


def nflog():
    """Each hook, both byte orders of attributes, ARP, a bridge, and a payload that is not at the end."""
    def message(family, hook, protocol, payload, order="<", mark=False):
        def attribute(kind, value):
            return struct.pack(order + "HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
        text = struct.pack("!BBH", family, 0, 5) + attribute(1, struct.pack("!HBB", protocol, hook, 0))
        text += attribute(10, b"in\0") + attribute(9, payload)
        return text + (attribute(2, bytes(4)) if mark else b"")
    arp = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, HERE, V4[0], bytes(6), V4[1])
    return [message(2, 1, 0x0800, ipv4(1, True)), message(10, 3, 0x86dd, ipv6(2)), message(2, 0, 0x0800, ipv4(3, True)),
            message(2, 4, 0x0800, ipv4(4)), message(2, 2, 0x0800, ipv4(5)), message(2, 3, 0x0800, ipv4(6), ">"),
            message(3, 1, 0x0806, arp), message(7, 2, 0x0800, ipv4(8)), message(2, 3, 0x0800, ipv4(9), "<", True)]


def ipnet():
    """Received, sent, between two zones; the first in the form of version 1."""
    def header(version, family, hook, payload):
        return struct.pack("!BBHIIIII", version, family, hook, len(payload), 2, 0, 0, 0) + payload
    return [header(1, 2, 0x0100, ipv4(1)), header(2, 2, 0, ipv4(1, True)), header(2, 26, 1, ipv6(3)),
            header(2, 2, 2, ipv4(4))]


def enc():
    return [struct.pack("<I", 2) + bytes(8) + ipv4(1), struct.pack(">I", 24) + bytes(8) + ipv6(2)]


def fibre_channel():
    return [b"\x10\0" + PEER + b"\x10\0" + HERE + SNAP4 + ipv4(1), b"\x10\0" + HERE + b"\x10\0" + PEER + SNAP6 + ipv6(2)]


def wlan(flags=0, subtype=0, number=0, more=b"", first=HERE, second=ROUTER, third=PEER):
    return bytes([0x08 | subtype << 4, flags, 0, 0]) + first + second + third + struct.pack("<H", number) + more


def aggregate(payload):
    return HERE + PEER + struct.pack("!H", len(payload)) + payload + bytes(-(14 + len(payload)) % 4)


def wlan_frames():
    """Each direction of the distribution system, QoS with and without HT control, an aggregate; then frames without a
    datagram that can be read: no data, protected, first and second fragment, management, control."""
    return [wlan() + SNAP4 + ipv4(1), wlan(1) + SNAP6 + ipv6(2), wlan(2) + SNAP4 + ipv4(3, True),
            wlan(3, more=BRIDGE) + SNAP4 + ipv4(4), wlan(1, 8, more=b"\0\0") + SNAP4 + ipv4(5),
            wlan(0x81, 8, more=bytes(6)) + SNAP4 + ipv4(6), wlan(3, 8, more=BRIDGE + b"\0\0") + SNAP4 + ipv4(7),
            wlan(2, 8, more=b"\x80\0") + aggregate(SNAP4 + ipv4(8)) + aggregate(SNAP4 + ipv4(9)), wlan(1, 4),
            wlan(0x41) + bytes(8) + ipv4(11), wlan(5) + SNAP4 + ipv4(12)[:24], wlan(1, number=1) + ipv4(12)[24:],
            b"\x80\0\0\0" + b"\xff" * 6 + ROUTER + ROUTER + bytes(14), b"\xd4\0\0\0" + HERE]


def radiotap_frames():
    """Without fields, with a time stamp and flags, with two words of fields; FCS, padding, a wrong FCS."""
    def header(present, fields):
        return struct.pack("<BBH", 0, 0, 4 + len(present) + len(fields)) + present + fields
    fcs = b"\xfc\xfc\xfc\xfc"
    none, plain = header(bytes(4), b""), header(struct.pack("<I", 2), b"\0")
    stamped = header(struct.pack("<I", 3), bytes(8) + b"\x10")
    words = header(struct.pack("<II", 0x80000003, 0), b"\0" * 4 + bytes(8) + b"\x30")
    return [none + wlan(1) + SNAP4 + ipv4(1), plain + wlan(1) + SNAP6 + ipv6(2), stamped + wlan(1) + SNAP4 + ipv4(3) + fcs,
            words + wlan(1, 8, more=b"\0\0") + b"\0\0" + SNAP4 + ipv4(4) + fcs,
            header(struct.pack("<I", 2), b"\x40") + wlan(1) + SNAP4 + ipv4(5)]


def prism_frames():
    return [struct.pack("<II16s", 0x44, 144, b"wlan0") + bytes(120) + wlan(1) + SNAP4 + ipv4(1),
            struct.pack(">II16s", 0x44, 144, b"wlan0") + bytes(120) + wlan(1) + SNAP6 + ipv6(2), avs_frames()[0]]


def avs_frames():
    return [struct.pack("!II", 0x80211001, 64) + bytes(56) + wlan(1) + SNAP4 + ipv4(3),
            struct.pack("!II", 0x80211002, 80) + bytes(72) + wlan(1) + SNAP6 + ipv6(2)]


CAPTURES = {"ppp": (9, ppp()), "ppp-serial": (50, ppp()[:2] + hdlc()), "ppp-ether": (51, ppp_ether()),
            "ppp-pppd": (166, [bytes([n % 2]) + f[1:] for n, f in enumerate(ppp()) if f[0] == 0xff]),
            "chdlc-with-dir": (205, with_direction(hdlc())),
            "frelay": (107, frame_relay()), "frelay-with-dir": (206, with_direction(frame_relay())),
            "nflog": (239, nflog()), "ipnet": (226, ipnet()), "enc": (109, enc()), "ipfc": (122, fibre_channel()),
            "wlan": (105, wlan_frames()), "radiotap": (127, radiotap_frames()), "prism": (119, prism_frames()),
            "avs": (163, avs_frames())}


def main():
    for name, (link, frames) in CAPTURES.items():
        with open(os.path.join(sys.argv[1], "link-%s.pcap" % name), "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link))
            for n, frame in enumerate(frames):
                file.write(struct.pack("<IIII", 1700000000 + n, 0, len(frame), len(frame)) + frame)


if __name__ == "__main__":
    main()
