#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""beginnings.py CAPTURE EXPECTED: connections of each protocol, over IPv4 and IPv6, of which a part of the beginning or one
direction is not captured, or one direction is captured late.  EXPECTED has a line for each probe that fires, "CLIENT-PORT PROBE WORD", and at the end the
number of connections of each protocol of which nothing is read, "unread PROTOCOL NUMBER"."""
import collections
import struct
import sys

from first_bytes import checksum, hello

SYN, ACK, DATA, FIN = 2, 16, 24, 17
EXCHANGES = 3


def http(k):
    return (b"GET /r%d HTTP/1.1\r\nHost: a.example\r\n\r\n" % k, ["http-request-start /r%d" % k],
            b"HTTP/1.1 %d OK\r\nContent-Length: 2\r\n\r\nok" % (200 + k), ["http-request-done /r%d %d" % (k, 200 + k)])


def dns(k):
    question = b"\x02r%d\0" % k + struct.pack("!HH", 1, 1)
    query = struct.pack("!HHHHHH", k, 0x100, 1, 0, 0, 0) + question
    answer = struct.pack("!HHHHHH", k, 0x8180, 1, 1, 0, 0) + question
    answer += b"\xc0\x0c" + struct.pack("!HHIH4s", 1, 1, 60, 4, bytes([192, 0, 2, k]))
    return (struct.pack("!H", len(query)) + query, ["dns-query r%d" % k],
            struct.pack("!H", len(answer)) + answer, ["dns-response r%d" % k])


def tls(k):
    body = b"\x03\x03" + bytes(range(32)) + b"\0\x13\x01\0" + struct.pack("!HHHH", 6, 43, 2, 0x304)
    answer = struct.pack("!BHHBBH", 22, 0x303, len(body) + 4, 2, 0, len(body)) + body
    data = b"\x17\x03\x03\x00\x40" + bytes(64)
    return (hello(50), ["tls-client-hello -"], answer, ["tls-server-hello -"]) if k == 0 else (data, [], data, [])


def smb(k):
    def message(flags, body):
        header = struct.pack("<4sHHIHHIIQIIQ16s", b"\xfeSMB", 64, 1, 0, 8, 1, flags, 0, k, 0, 5, 7, bytes(16))
        return struct.pack("!I", len(header + body)) + header + body
    request = struct.pack("<HBBIQ16sIIIIHHB", 49, 0, 0, 100, 0, b"f" * 16, 0, 0, 0, 0, 0, 0, 0)
    response = struct.pack("<HBBIII", 17, 80, 0, 4, 0, 0) + b"data"
    return (message(0, request), ["smb-op-start %d" % k], message(1, response), ["smb-op-done %d" % k])


def iscsi(k):
    if k == 0:
        keys = b"InitiatorName=iqn.a\0SessionType=Discovery\0"
        keys += bytes(-len(keys) % 4)
        login = struct.pack("!BBHI6sHIHHII16s", 0x43, 0x87, 0, len(keys), bytes(6), 0, 0, 0, 0, 0, 0, bytes(16)) + keys
        answer = struct.pack("!BBHI6sHIIIIIBB10s", 0x23, 0x87, 0, 0, bytes(6), 1, 0, 0, 0, 1, 9, 0, 0, bytes(10))
        return (login, ["iscsi-login-command 0"], answer, ["iscsi-login-response 0"])
    command = struct.pack("!BBHI8sIIII16s", 1, 0xc1, 0, 0, bytes(8), k, 0, k + 1, k + 1, b"\0" * 16)
    answer = struct.pack("!BBBBI8sIIIIIIII", 0x21, 0x80, 0, 0, 0, bytes(8), k, 0, k + 1, k + 2, k + 9, 0, 0, 0)
    return (command, ["iscsi-scsi-command %d" % k], answer, ["iscsi-scsi-response %d" % k])


PROTOCOLS = {"http": (80, http), "dns": (53, dns), "tls": (443, tls), "smb": (445, smb), "iscsi": (3260, iscsi)}


class Capture:
    def __init__(self):
        self.frames, self.expected, self.unread = [], [], collections.Counter()
        self.port, self.time = 10000, 1_700_000_000_000_000

    def write_segment(self, version, server, to_server, flags, seq, ack, payload):
        client = bytes([192, 0, 2, 1]) if version == 4 else bytes.fromhex("20010db8") + bytes(11) + b"\1"
        other = bytes([198, 51, 100, 2]) if version == 4 else bytes.fromhex("20010db8") + bytes(11) + b"\2"
        ports = (self.port, server) if to_server else (server, self.port)
        source, destination = (client, other) if to_server else (other, client)
        tcp = struct.pack("!HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 65535, 0, 0) + payload
        pseudo = source + destination + struct.pack("!IHBB", len(tcp), 0, 0, 6)
        tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
        if version == 4:
            ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), len(self.frames) % 65536, 0, 64, 6, 0, source, destination)
            ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
        else:
            ip = struct.pack("!IHBB16s16s", 6 << 28, len(tcp), 6, 64, source, destination)
        self.frames.append((self.time, ip + tcp))

    def conversation(self, version, protocol, captured, told, unread=0, size=100000, late=None):
        """The frames whose name is captured: handshake, then for each exchange a request, its ACK, a response, its ACK.  What
        is longer than `size` is in several frames.  `late` is how much later than its time a frame is captured, in us, by its
        direction and whether it is of the handshake."""
        first = len(self.frames)
        server, make = PROTOCOLS[protocol]
        self.port += 1
        self.unread[protocol] += unread
        client, peer = 1001, 5001

        def frame(name, to_server, flags, payload=b""):
            nonlocal client, peer
            self.time += 1000
            syn = flags & SYN != 0
            seq, ack = (client - syn, peer) if to_server else (peer - syn, client)
            if captured(name):
                self.write_segment(version, server, to_server, flags, seq, ack if flags & ACK else 0, payload)
            if to_server:
                client += len(payload) + (flags & 1)
            else:
                peer += len(payload) + (flags & 1)

        frame("syn", True, SYN)
        frame("synack", False, SYN | ACK)
        frame("ack", True, ACK)
        for k in range(EXCHANGES):
            request, starts, response, ends = make(k)
            for part, at in enumerate(range(0, len(request), size)):
                frame("req%d%s" % (k, "." + str(part) if part else ""), True, DATA, request[at:at + size])
            frame("reqack%d" % k, False, ACK)
            frame("res%d" % k, False, DATA, response)
            frame("resack%d" % k, True, ACK)
            self.expected += ["%d %s" % (self.port, probe) for probe in
                              (starts if told("req%d" % k) else []) + (ends if told("res%d" % k) else [])]
        for name, to_server in (("fin", True), ("finack", False)):
            frame(name, to_server, FIN)
        frame("last", True, ACK)
        if late:
            delayed = [(time + late(frame[20 if version == 4 else 40:22 if version == 4 else 42] == self.port.to_bytes(2, "big"),
                                    at < 3), frame) for at, (time, frame) in enumerate(self.frames[first:])]
            self.frames[first:] = sorted(delayed, key=lambda f: f[0])
            self.time = self.frames[-1][0]


NAMES = ["syn", "synack", "ack"] + [w + str(k) for k in range(EXCHANGES) for w in ("req", "reqack", "res", "resack")]


def at_or_after(name, first):
    return NAMES.index(name) >= NAMES.index(first) if name in NAMES else True


def add_all(c, version, protocol):
    paired = protocol == "http"  # a response without its request is not told
    c.conversation(version, protocol, lambda n: True, lambda n: True)
    for missing in (("syn",), ("synack",), ("ack",), ("syn", "ack"), ("synack", "ack"), ("syn", "synack"), ("syn", "synack", "ack")):
        for without_acks in (False, True):  # the ACKs without data are missing, too
            c.conversation(version, protocol, lambda n: n not in missing and not (without_acks and "ack" in n and n != "synack"
                                                                                  and n != "ack"), lambda n: True)
    hellos = protocol == "tls"  # they are in the first exchange
    for first in ("reqack0", "res0", "resack0", "req1", "reqack1", "res1", "resack1"):
        def told(name):
            return at_or_after(name, first) and not (hellos and at_or_after(first, "reqack0")) and \
                not (paired and name.startswith("res") and not at_or_after("req" + name[-1], first))
        c.conversation(version, protocol, lambda n: at_or_after(n, first), told, unread=hellos)
    c.conversation(version, protocol, lambda n: n in ("req0", "res0"), lambda n: n.endswith("0"))
    c.conversation(version, protocol, lambda n: n in ("req0", "reqack0"), lambda n: n == "req0")
    for part in ("req", "res"):  # one direction, with or without its part of the handshake
        for own in ((), ("syn", "ack") if part == "req" else ("synack",)):
            c.conversation(version, protocol, lambda n: n.startswith(part) and "ack" not in n or n in own, lambda n: False, unread=1)
    # The capture begins in the middle of a request.
    c.conversation(version, protocol, lambda n: n == "req0.1" or (n != "req0" and at_or_after(n, "reqack0")),
                   lambda n: not hellos and n != "req0" and not (paired and n == "res0"), unread=hellos, size=50 if protocol == "iscsi" else 30)


def add_late(c, version, protocol):
    for us in (300, 1500, 2500, 5500, 9500, 40000):
        for client in (True, False):
            for handshake in (True, False):
                c.conversation(version, protocol, lambda n: True, lambda n: True,
                               late=lambda to_server, syn: us if to_server == client and (handshake or not syn) else 0)
            c.conversation(version, protocol, lambda n: at_or_after(n, "req0"), lambda n: True,
                           late=lambda to_server, syn: us if to_server == client else 0)


def add_banners(c, version, protocol):
    """The server speaks first, and its banner is captured before the client's ACK of the handshake: nothing is missing.  Or
    the client's data are."""
    server = PROTOCOLS[protocol][0]
    for missing in (False, True):
        c.port += 1
        c.unread[protocol] += missing
        for to_server, flags, seq, ack, payload in ((True, SYN, 1000, 0, b""), (False, SYN | ACK, 5000, 1001, b""),
                                                    (False, DATA, 5001, 1001, b"220 ready\r\n"), (True, ACK, 1001, 5012, b""),
                                                    (True, DATA, 1001, 5012, b"QUIT now\r\n"),
                                                    (False, DATA, 5012, 1011, b"221 bye\r\n")):
            c.time += 1000
            if not (missing and to_server and flags != SYN):
                c.write_segment(version, server, to_server, flags, seq, ack, payload)


def main():
    c = Capture()
    for version in (4, 6):
        for protocol in PROTOCOLS:
            add_all(c, version, protocol)
            add_late(c, version, protocol)
            add_banners(c, version, protocol)
    with open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
        for time, frame in c.frames:
            out.write(struct.pack("<IIII", time // 1000000, time % 1000000, len(frame), len(frame)) + frame)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.writelines(line + "\n" for line in sorted(c.expected))
        out.writelines("unread %s %d\n" % (protocol, n) for protocol, n in sorted(c.unread.items()) if n)


main()
