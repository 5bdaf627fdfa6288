#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of SMB with several connections.

    channels.py CAPTURE EXPECTED    writes the capture, and a line for each operation after the setup: port of the client,
                                    start or done, the operation, the path of the share and the path of the file, - if it is unknown
    channels.py                     writes these lines of the firings in JSON on standard input
"""
import json
import struct
import sys

FIRST, SECOND, FOREIGN, SERVER = (bytes([192, 0, 2, n]) for n in (10, 11, 66, 1))
SETUP, LOGOFF, TREE_CONNECT, CREATE, CLOSE, READ, ECHO = 1, 2, 3, 5, 6, 8, 13
NAMES = {LOGOFF: "logoff", TREE_CONNECT: "tree-connect", CREATE: "create", CLOSE: "close", READ: "read"}
MORE, DELETED, DENIED = 0xC0000016, 0xC0000203, 0xC0000022
BINDING = 1
SHARE, TREE = r"\\server\share", 5
frames, expected = [], []


def checksum(data):
    total = sum(struct.unpack("!%dH" % ((len(data) + 1) // 2), data + bytes(len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Connection:
    """`captured` False: its beginning is not captured."""
    port = 40000

    def __init__(self, client, session, captured=True):
        Connection.port += 1
        self.port, self.client, self.session, self.mid = Connection.port, client, session, 0
        self.next = {True: 1000, False: 5000}
        if captured:
            self.segment(True, 2)
            self.segment(False, 18)
            self.segment(True, 16)
        else:
            self.next = {True: 1001, False: 5001}

    def segment(self, to_server, flags, payload=b""):
        ports = (self.port, 445) if to_server else (445, self.port)
        source, destination = (self.client, SERVER) if to_server else (SERVER, self.client)
        ack = self.next[not to_server] if flags & 16 else 0
        tcp = struct.pack("!HHIIBBHHH", *ports, self.next[to_server], ack, 5 << 4, flags, 65535, 0, 0) + payload
        tcp = tcp[:16] + struct.pack("!H", checksum(source + destination + struct.pack("!HH", 6, len(tcp)) + tcp)) + tcp[18:]
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), len(frames) + 1, 0, 64, 6, 0, source, destination)
        frames.append(bytes(12) + b"\x08\0" + ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:] + tcp)
        self.next[to_server] += len(payload) + (flags & 3 != 0)

    def message(self, to_server, command, body, status, tree, session=None):
        header = struct.pack("<4sHHIHHIIQIIQ16x", b"\xfeSMB", 64, 1, status, command, 1, 0 if to_server else 1, 0, self.mid, 0, tree,
                             self.session if session is None else session)
        self.segment(to_server, 24, struct.pack("!I", len(header + body)) + header + body)

    def ask(self, command, body, answer, status=0, names=("-", "-"), late=None, tree=TREE, session=None):
        """A request and its response; `late` are the names of the response if they are others."""
        self.mid += 1
        self.message(True, command, body, 0, tree, session)
        self.message(False, command, answer if status == 0 else struct.pack("<HHIB", 9, 0, 0, 0), status, tree)
        for event, known in (("start", names), ("done", late or names)):
            if command in NAMES:
                expected.append("%d %s %s %s" % (self.port, event, NAMES[command], " ".join(known)))

    def set_up(self, flags=0, status=0):
        """In two rounds."""
        body, answer = struct.pack("<HBBIIHHQ", 25, flags, 1, 0, 0, 88, 0, 0), struct.pack("<HHHH", 9, 0, 72, 0)
        self.ask(SETUP, body, b"", MORE, tree=0, session=self.session if flags & BINDING else 0)
        self.ask(SETUP, body, answer, status, tree=0)

    def connect(self):
        name = SHARE.encode("utf-16le")
        self.ask(TREE_CONNECT, struct.pack("<HHHH", 9, 0, 72, len(name)) + name, struct.pack("<HBBIII", 16, 1, 0, 0, 0, 0),
                 names=(SHARE, "-"))

    def create(self, path, file):
        name = path.encode("utf-16le")
        self.ask(CREATE, struct.pack("<H42xHHII", 57, 120, len(name), 0, 0) + name, struct.pack("<H62x16s8x", 89, file),
                 names=(SHARE, path))

    def read(self, file, *names, **options):
        self.ask(READ, struct.pack("<HBBIQ16sIIIHHB", 49, 0, 0, 9, 0, file, 0, 0, 0, 0, 0, 0),
                 struct.pack("<HBBIII", 17, 80, 0, 9, 0, 0) + bytes(9), names=names or ("-", "-"), **options)

    def close(self, file, *names, **options):
        self.ask(CLOSE, struct.pack("<HHI16s", 24, 0, 0, file), struct.pack("<H58x", 60), names=names or ("-", "-"), **options)

    def log_off(self, status=0):
        self.ask(LOGOFF, struct.pack("<HH", 4, 0), struct.pack("<HH", 4, 0), status, tree=0)

    def end(self):
        for to_server in (True, False):
            self.segment(to_server, 17)
            self.segment(not to_server, 16)


def identifier(number):
    return struct.pack("<QQ", number, number)


def lines_of(firings):
    for line in firings:
        firing = json.loads(line)
        ci, soi = firing["args"]
        if soi["soi_op"] in NAMES:
            print(ci["ci_rport"] if ci["ci_lport"] == 445 else ci["ci_lport"], firing["probe"].split("-")[-1], soi["soi_opstr"],
                  soi["soi_share"] or "-", soi["soi_curpath"] or "-")


def write(capture, listing):
    one, two, three, four, five = (identifier(number) for number in range(1, 6))
    first = Connection(FIRST, 0x400000000001)
    first.set_up()
    first.connect()
    first.create("one", one)
    # A channel from another address of the client; both know what the other one opens and closes.
    second = Connection(SECOND, first.session)
    second.set_up(BINDING)
    second.read(one, SHARE, "one")
    second.create(r"dir\two", two)
    first.read(two, SHARE, r"dir\two")
    second.close(one, SHARE, "one")
    first.read(one, SHARE, "-", status=0xC0000128)
    first.close(two, SHARE, r"dir\two")
    first.create("three", two)
    second.read(two, SHARE, "three")
    # A channel whose beginning is not captured.
    third = Connection(FIRST, first.session, captured=False)
    third.ask(ECHO, struct.pack("<HH", 4, 0), struct.pack("<HH", 4, 0), tree=0)
    third.read(two, late=(SHARE, "three"))
    third.read(two, SHARE, "three")
    # A foreign host uses the id of the session; the server refuses it.
    foreign = Connection(FOREIGN, first.session)
    foreign.set_up(BINDING, DENIED)
    foreign.read(two, status=DELETED)
    foreign.close(two, status=DELETED)
    foreign.log_off(DELETED)
    foreign.end()
    first.read(two, SHARE, "three")
    # The first channel ends: the session goes on.
    first.end()
    second.read(two, SHARE, "three")
    second.create("four", three)
    third.read(three, SHARE, "four")
    # Logoff on one channel.
    second.log_off()
    third.read(three, status=DELETED)
    second.end()
    third.end()
    # The server uses the id again for another client.
    old = Connection(FIRST, 0x400000000005)
    old.set_up()
    old.connect()
    old.create("old", four)
    new = Connection(SECOND, old.session)
    new.set_up()
    new.read(four, status=0xC0000128)
    new.connect()
    new.create("new", five)
    new.read(five, SHARE, "new")
    new.end()
    with open(capture, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            out.write(struct.pack("<IIII", 1_700_000_000, 1000 * number, len(frame), len(frame)) + frame)
    with open(listing, "w", encoding="utf-8") as out:
        out.writelines(line + "\n" for line in expected)


if len(sys.argv) > 1:
    write(*sys.argv[1:])
else:
    lines_of(sys.stdin)
