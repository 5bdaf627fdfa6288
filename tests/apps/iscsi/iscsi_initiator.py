#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""iscsi_initiator.py ADDRESS TARGET SCRIPT...: an iSCSI initiator (RFC 7143) that does what libiscsi's tools do not.

Each SCRIPT is one session, words separated by commas: what to negotiate (header, data: digests; split: the login's text in
several PDUs; long: a name of 223 bytes; chap; wrong: a target that is not there), then what to do: inquiry, read,
write (with R2T), immediate (write with immediate data), extended (an extended CDB, which the target refuses), nop,
discovery, reset (of the logical unit), abort, second (another connection of the same session), logout.
"""
import hashlib
import socket
import struct
import sys

NAME = "iqn.2026-11.net.netobs:talk"
FIRST_TAG = 0x100


def make_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


def text_of(pairs):
    return b"".join(f"{key}={value}".encode() + b"\0" for key, value in pairs)


class Session:
    """State that the connections of one session share."""

    def __init__(self):
        self.tag, self.cmdsn, self.tsih, self.cid = FIRST_TAG, 1, 0, 0
        self.isid = struct.pack("!BHBH", 0x80, 0, 1, 7)

    def next_tag(self):
        self.tag += 1
        return self.tag


class Connection:
    def __init__(self, address, session):
        self.socket = socket.create_connection((address, 3260), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.session, self.statsn = session, 0
        self.header_digest = self.data_digest = False

    # --- PDUs

    def send(self, header, data=b"", ahs=b""):
        header = bytearray(header.ljust(48, b"\0"))
        header[4] = len(ahs) // 4
        header[5:8] = struct.pack("!I", len(data))[1:]
        pdu = bytes(header) + ahs
        if self.header_digest:
            pdu += crc32c(pdu)
        if data:
            data += b"\0" * (-len(data) % 4)
            pdu += data + (crc32c(data) if self.data_digest else b"")
        self.socket.sendall(pdu)

    def take(self, length):
        data = b""
        while len(data) < length:
            more = self.socket.recv(length - len(data))
            if not more:
                raise EOFError("the target has closed")
            data += more
        return data

    def receive(self):
        header = self.take(48)
        header += self.take(header[4] * 4)
        if self.header_digest:
            assert self.take(4) == crc32c(header), "header digest"
        length = struct.unpack("!I", b"\0" + header[5:8])[0]
        padded = self.take(length + -length % 4)
        if length and self.data_digest:
            assert self.take(4) == crc32c(padded), "data digest"
        opcode = header[0] & 0x3F
        if opcode != 0x31 and not (opcode == 0x25 and not header[1] & 1):
            self.statsn = struct.unpack("!I", header[24:28])[0] + 1
        return opcode, header, padded[:length]

    # --- the login

    def login_pdu(self, flags, tag, pairs_text):
        header = struct.pack("!BBBB4x6sHIHxxII", 0x43, flags, 0, 0, self.session.isid, self.session.tsih, tag,
                             self.session.cid, self.session.cmdsn, self.statsn)
        self.send(header, pairs_text)
        opcode, header, data = self.receive()
        assert opcode == 0x23, f"login response, not {opcode:#x}"
        if header[36] != 0:
            raise PermissionError(f"login refused: {header[36]:#x}{header[37]:02x}")
        self.session.tsih = struct.unpack("!H", header[14:16])[0]
        pairs = [pair.split(b"=", 1) for pair in data.split(b"\0") if pair]
        return header, {key.decode(): value.decode() for key, value in pairs}

    def authenticate(self, tag):
        _, answer = self.login_pdu(0x00, tag, text_of([("CHAP_A", "5")]))
        challenge = bytes.fromhex(answer["CHAP_C"][2:])
        digest = hashlib.md5(bytes([int(answer["CHAP_I"])]) + b"netobs-secret" + challenge).hexdigest()
        self.login_pdu(0x81, tag, text_of([("CHAP_N", "netobs"), ("CHAP_R", "0x" + digest)]))

    def login(self, target, words):
        tag = self.session.next_tag()
        name = NAME.ljust(223, "n") if "long" in words else NAME
        names = [("InitiatorName", name), ("SessionType", "Discovery" if target is None else "Normal")]
        if target is not None:
            names.append(("TargetName", target))
        if "chap" in words:
            self.login_pdu(0x00, tag, text_of(names + [("AuthMethod", "CHAP,None")]))
            self.authenticate(tag)
            names = []
        pairs = names + [
            ("HeaderDigest", "CRC32C,None" if "header" in words else "None"),
            ("DataDigest", "CRC32C" if "data" in words else "None"),
            ("MaxRecvDataSegmentLength", "8192"), ("InitialR2T", "Yes"), ("ImmediateData", "Yes"),
            ("MaxBurstLength", "65536"), ("FirstBurstLength", "16384"), ("MaxConnections", "2"),
        ]
        text = text_of(pairs)
        if "split" in words:
            self.login_pdu(0x04, tag, text_of(pairs[:4]))
            text = text_of(pairs[4:])
        header, answer = self.login_pdu(0x87, tag, text)
        while not (header[1] & 0x80 and header[1] & 3 == 3):
            header, more = self.login_pdu(0x87, tag, b"")
            answer.update(more)
        self.header_digest = answer.get("HeaderDigest") == "CRC32C"
        self.data_digest = answer.get("DataDigest") == "CRC32C"

    # --- full feature phase

    def command(self, cdb, flags, expected, data=b"", ahs=b""):
        tag = self.session.next_tag()
        header = struct.pack("!BBxx4xQIIII", 0x01, flags, 1 << 48, tag, expected, self.session.cmdsn, self.statsn)
        self.send(header + cdb[:16].ljust(16, b"\0"), data, ahs)
        self.session.cmdsn += 1
        return tag

    def finish(self, tag, data=b""):
        """Replies to R2T until the response arrives."""
        got = b""
        while True:
            opcode, header, more = self.receive()
            if opcode == 0x25:
                got += more
                if header[1] & 1:
                    return header[3], got
            elif opcode == 0x21:
                return header[3], got
            elif opcode == 0x31:
                self.answer(header, tag, data)
            else:
                assert opcode in (0x20, 0x3F), f"unexpected PDU {opcode:#x}"
                if opcode == 0x3F:
                    return None, got

    def answer(self, r2t, tag, data):
        ttt, = struct.unpack("!I", r2t[20:24])
        offset, length = struct.unpack("!II", r2t[40:48])
        number, end = 0, offset + length
        while offset < end:
            part = data[offset:min(end, offset + 8192)]
            header = struct.pack("!BBxx4xQII4xI4xII", 0x05, 0x80 if offset + len(part) == end else 0, 1 << 48, tag,
                                 ttt, self.statsn, number, offset)
            self.send(header, part)
            offset += len(part)
            number += 1

    def ready(self):
        """Sends TEST UNIT READY until no unit attention is pending."""
        while self.finish(self.command(bytes(6), 0x81, 0))[0] not in (0, None):
            pass

    def inquiry(self):
        self.finish(self.command(bytes([0x12, 0, 0, 0, 255, 0]), 0xC1, 255))

    def read(self):
        status, data = self.finish(self.command(struct.pack("!BBIBHB", 0x28, 0, 16, 0, 32, 0), 0xC1, 16384))
        assert status == 0 and len(data) == 16384, "read"

    def write(self):
        data = bytes(range(256)) * 64
        cdb = struct.pack("!BBQIBB", 0x8A, 0, 16, 32, 0, 0)
        status, _ = self.finish(self.command(cdb, 0xA1, len(data)), data)
        assert status == 0, "write"

    def immediate(self):
        data = b"netobs!!" * 64
        status, _ = self.finish(self.command(struct.pack("!BBIBHB", 0x2A, 0, 8, 0, 1, 0), 0xA1, 512, data), data)
        assert status == 0, "immediate write"

    def extended(self):
        cdb = bytes([0x7F, 0, 0, 0, 0, 0, 0, 24]) + bytes(range(8, 32))
        ahs = struct.pack("!HBB", len(cdb) - 15, 1, 0) + cdb[16:]
        self.finish(self.command(cdb, 0x81, 0, ahs=ahs))

    def nop(self):
        tag = self.session.next_tag()
        self.send(struct.pack("!BB6xQIIII", 0x40, 0x80, 0, tag, 0xFFFFFFFF, self.session.cmdsn, self.statsn), b"ping!")
        opcode, _, data = self.receive()
        assert opcode == 0x20 and data == b"ping!", "nop"

    def discovery(self):
        tag = self.session.next_tag()
        self.send(struct.pack("!BB6xQIIII", 0x04, 0x80, 0, tag, 0xFFFFFFFF, self.session.cmdsn, self.statsn),
                  text_of([("SendTargets", "All")]))
        self.session.cmdsn += 1
        assert self.receive()[0] == 0x24, "text"

    def task(self, function, referenced):
        tag = self.session.next_tag()
        self.send(struct.pack("!BB6xQIIIIII", 0x42, 0x80 | function, 1 << 48, tag, referenced, self.session.cmdsn,
                              self.statsn, self.session.cmdsn, 0))
        while self.receive()[0] != 0x22:
            pass

    def reset(self):
        self.task(5, 0xFFFFFFFF)

    def abort(self):
        self.task(1, self.session.tag)

    def logout(self):
        tag = self.session.next_tag()
        self.send(struct.pack("!BB6x8xIHxxII", 0x46, 0x80, tag, self.session.cid, self.session.cmdsn, self.statsn))
        while self.receive()[0] != 0x26:
            pass
        self.socket.close()


def play(address, target, words):
    session = Session()
    connection = Connection(address, session)
    if "discovery" in words:
        target = None
    elif "wrong" in words:
        target += "-not-there"
    connection.login(target, words)
    if target is not None:
        connection.ready()
    for word in words:
        if word == "second":
            session.cid += 1
            connection = Connection(address, session)
            connection.login(target, words)
        elif hasattr(connection, word):
            getattr(connection, word)()


def main():
    for script in sys.argv[3:]:
        try:
            play(sys.argv[1], sys.argv[2], script.split(","))
            print(f"{script}: done")
        except (PermissionError, EOFError, AssertionError, OSError) as why:
            print(f"{script}: {why}")


main()
