#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""input_seeds.py TARGET DIRECTORY [CAPTURE...]: seeds of the fuzz targets of what is read or printed besides frames.

TARGET is capture, decompress, formula, netlink, print, query or slots.  The CAPTUREs are seeds of capture and decompress, cut to a size
that is fuzzed quickly.
"""
import gzip
import pathlib
import random
import struct
import sys
import zlib

CUT = 2000
rng = random.Random(1)


# ------------------------------------------------------------------------------------------------------ capture files

def pcap(order, magic, records, link=1, snaplen=65535):
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)
    for seconds, fraction, caplen, length, body in records:
        data += struct.pack(order + "IIII", seconds, fraction, caplen, length) + body
    return data


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack(order + "II", kind, len(body) + 12) + body + struct.pack(order + "I", len(body) + 12)


def pcapng(order, options=b""):
    data = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    data += block(order, 1, struct.pack(order + "HHI", 1, 0, 0) + options)
    for i in range(3):
        data += block(order, 6, struct.pack(order + "IIIII", 0, 0x60000, i, 20, 60) + bytes(20))
    data += block(order, 3, struct.pack(order + "I", 10) + bytes(10))
    return data + block(order, 5, struct.pack(order + "III", 0, 0x60000, 9))


def pcapng_mixed(order, link):
    """Two interfaces, frames of both and of neither, a simple packet block, the obsolete packet block, a second section."""
    data = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    for kind, name, resolution in ((1, b"eth0", 9), (link, b"a-long-interface-name", 0x94)):
        options = struct.pack(order + "HH", 2, len(name)) + name + bytes(-len(name) % 4)
        options += struct.pack(order + "HHBxxxHHqHH", 9, 1, resolution, 14, 8, -5, 0, 0)
        data += block(order, 1, struct.pack(order + "HHI", kind, 0, 40) + options)
    for interface in (0, 1, 0, 1):
        data += block(order, 6, struct.pack(order + "IIIII", interface, 0x600, interface, 20, 60) + bytes(20))
    data += block(order, 3, struct.pack(order + "I", 60) + bytes(40)) + block(order, 0xBAD, b"skipped")
    data += block(order, 2, struct.pack(order + "HHIIII", 1, 3, 1, 2, 5, 5) + b"frame")
    return data + pcapng(">" if order == "<" else "<")


def snoop(link, records, version=2):
    data = b"snoop\0\0\0" + struct.pack(">II", version, link)
    for length, included, record, drops, seconds, fraction, body in records:
        data += struct.pack(">IIIiII", length, included, record, drops, seconds, fraction) + body
    return data


def snoop_seeds():
    good = [(60, 20, 44, i - 1, 1700000000 + i, 999999, bytes(20)) for i in range(3)] + [(6, 6, 32, 0, 1, 1, bytes(8))]
    for link in (0, 4, 8, 9, 26, 0x80000005):
        yield snoop(link, good)
    for lie in ((60, 20, 43), (60, 20, 0), (60, 0xFFFFFFFF, 23), (4, 20, 44), (60, 20, 1 << 31), (60, 300000, 300024)):
        yield snoop(4, good + [lie + (-1, 0xFFFFFFFF, 0xFFFFFFFF, bytes(20))] + good)
    yield snoop(4, good)[:-3]
    yield snoop(4, good, version=1)


def capture_seeds(paths):
    yield from snoop_seeds()
    for order in "<>":
        for link in (101, 276, 147):
            yield pcapng_mixed(order, link)
    good = [(1700000000 + i, i * 1000, 20, 60, bytes([i]) * 20) for i in range(3)]
    odd = [
        good,
        good + [(0xFFFFFFFF, 999999, 4, 4, b"late")],
        good + [(1, 1000000, 4, 4, b"frac"), (1, 0xFFFFFFFF, 4, 4, b"frac"), (0x80000000, 0x7FFFFFFF, 0, 0, b"")],
        good + [(1, 1, 100, 100, b"short")],
        good + [(1, 1, 0x7FFFFFFF, 0x7FFFFFFF, b"")],
        good + [(1, 1, 300000, 300000, b"")],
        good + [(1, 1, 8, 4, b"captured")],
        [],
    ]
    for order in "<>":
        for magic in (0xA1B2C3D4, 0xA1B23C4D, 0xA1B2CD34):
            for records in odd:
                yield pcap(order, magic, records)
            yield pcap(order, magic, good, snaplen=10)
            yield pcap(order, magic, good, link=101)
            yield pcap(order, magic, good, link=228)
            yield pcap(order, magic, good)[:-7]
        for resolution in (b"", b"\x09", b"\x06", b"\x8a", b"\x40", b"\xff"):
            option = struct.pack(order + "HH", 9, 1) + resolution + bytes(3) + bytes(4) if resolution else b""
            yield pcapng(order, option)
        yield pcapng(order)[:-5]
        yield pcapng("<") + pcapng(">")
    for path in paths:
        yield pathlib.Path(path).read_bytes()[:CUT]


# --------------------------------------------------------------------------------------------------------- compression

def zstd_frame(body, raw=True, checksum=False):
    """A frame of one raw block, or of one block of a repeated byte (RFC 8878)."""
    head = struct.pack("<IBI", 0xFD2FB528, 0xA0 | (4 if checksum else 0), len(body))
    kind, stored = (0, body) if raw else (1, body[:1])
    return head + struct.pack("<I", 1 | kind << 1 | len(body) << 3)[:3] + stored + (b"sum!" if checksum else b"")


def decompress_seeds(paths):
    texts = [b"a" * 5000, bytes(rng.randrange(256) for _ in range(300)), pcap("<", 0xA1B2C3D4, []), b"xx"]
    packed = []
    for text in texts:
        packed += [text, gzip.compress(text, mtime=0), zstd_frame(text), zstd_frame(text, raw=False),
                   zstd_frame(text, checksum=True), zlib.compress(text)]
    packed.append(packed[1] + packed[7])  # two members
    packed.append(packed[2] + packed[8])  # two frames
    packed.append(struct.pack("<II", 0x184D2A50, 4) + b"skip" + packed[2])
    packed.append(packed[2] + struct.pack("<II", 0x184D2A50, 4) + b"skip")
    packed.append(packed[1] + b"garbage")
    # A damaged frame of zstd 0.7, for which libzstd counts bytes that it has not written.
    packed.append(zstd_frame(b"xx") + bytes.fromhex("27b52ffd00001101000000001000 00a018000000c300001f8b"))
    # An empty block that claims to be compressed: libzstd refuses it only if it is given the whole frame.
    packed.append(bytes.fromhex("28b52ffd2018 040000c30000d4"))
    packed.append(b"\x1f\x8b\x08\x1c\x00\x00\x00\x00\x00\x03\x02\x00abname\x00comment\x00" + packed[1][10:])
    packed += [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x1f\x8b" + packed[2], b"\x28\xb5\x2f\xfd" + packed[1]]
    for text in packed:
        for piece in (0, 16, 255):
            yield bytes([piece]) + text
        for cut in (len(text) // 2, len(text) - 1):
            yield b"\x07" + text[:cut]
    for path in paths:
        yield b"\x10" + pathlib.Path(path).read_bytes()[:CUT]


# ------------------------------------------------------------------------------------------------------------- netlink

NEWLINK, DELLINK, NEWADDR, DELADDR, DONE, ERROR, SOCKET, OVERRUN = range(8)
END, LOST, WRONG = 0x20, 0x40, 0x80


def attribute(kind, body):
    return struct.pack("=HH", 4 + len(body), kind) + body + bytes(-len(body) % 4)


def record(kind, sequence, payload=b"", flags=0):
    payload += bytes(-len(payload) % 4)
    return bytes([kind | flags, sequence, len(payload) // 4]) + payload


def link(index, name, extra=b"", arphrd=1, flags=1):
    head = struct.pack("=BBHiII", 0, 0, arphrd, index, flags, 0)
    return head + attribute(3, name + b"\0") + attribute(4, struct.pack("=I", 1500)) + extra


def kind(word, data=b"", slave=b""):
    body = attribute(1, word + b"\0")
    body += attribute(2, data) if data else b""
    body += attribute(4, slave + b"\0") if slave else b""
    return attribute(18, body)


def address(index, family, local, peer=b""):
    head = struct.pack("=BBBBI", family, 24, 0, 0, index)
    return head + (attribute(1, peer) if peer else b"") + (attribute(2, local) if local else b"")


def links():
    tunnel = attribute(6, bytes([192, 0, 2, 1])) + attribute(7, bytes([192, 0, 2, 2]))
    vxlan = attribute(1, struct.pack("=I", 42)) + attribute(15, struct.pack(">H", 4789)) + attribute(4, bytes(4))
    return [
        link(1, b"lo", arphrd=772, flags=9),
        link(2, b"eth0", attribute(1, bytes(6))),
        link(3, b"br0", kind(b"bridge")),
        link(4, b"port", attribute(10, struct.pack("=I", 3)) + kind(b"veth", slave=b"bridge")),
        link(5, b"vlan", attribute(5, struct.pack("=I", 2)) + kind(b"vlan")),
        link(6, b"ipvlan", attribute(5, struct.pack("=I", 2)) + kind(b"ipvlan", attribute(1, struct.pack("=H", 2)))),
        link(7, b"gre1", kind(b"gre", tunnel + attribute(4, bytes(4)))),
        link(8, b"sit1", kind(b"sit", attribute(2, bytes(4)) + attribute(9, b"\x29"))),
        link(9, b"vxlan1", kind(b"vxlan", vxlan)),
        link(10, b"geneve1", kind(b"geneve", attribute(1, struct.pack("=I", 7)) + attribute(14, b""))),
        link(11, b"ppp0", arphrd=512),
        link(12, b"a name of more than sixteen bytes"),
        link(13, b"ifb0", kind(b"ifb")),
    ]


def socket_message(family, local, remote, extra=b""):
    head = bytes([family, 1, 0, 0]) + struct.pack(">HH", 80, 4000) + local.ljust(16, b"\0") + remote.ljust(16, b"\0")
    return head + struct.pack("=IIIIIIII", 0, 1, 2, 0, 0, 0, 1000, 4242) + extra


def netlink_seeds(_):
    dump = [record(NEWLINK, 0, each) for each in links()] + [record(DONE, 0, bytes(4))]
    dump += [record(NEWADDR, 1, address(2, 2, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 9]))),
             record(NEWADDR, 1, address(2, 10, b"", bytes(15) + b"\5")),
             record(DONE, 1, bytes(4), END)]
    events = [record(DELADDR, 8, address(2, 2, bytes([10, 0, 0, 1]))), record(DELLINK, 8, link(4, b"port")),
              record(NEWADDR, 8, address(3, 2, bytes([10, 0, 0, 2]))), record(NEWLINK, 8, link(2, b"renamed"))]
    again = [record(NEWLINK, 8, link(2, b"eth0"), LOST)] + [record(NEWLINK, 2, each) for each in links()[:3]]
    again += [record(DONE, 2, bytes(4)), record(NEWADDR, 3, address(2, 2, bytes([10, 0, 0, 1]))), record(DONE, 3, bytes(4))]
    yield b"\0" + b"".join(dump)
    yield b"\0" + b"".join(dump + events)
    yield b"\0" + b"".join(dump + again + events)
    yield b"\0" + b"".join(dump[:-1] + [record(DONE, 1 | 4, bytes(4)), *dump])
    yield b"\0" + b"".join([record(ERROR, 0, struct.pack("=i", -1) + bytes(16))])
    yield b"\0" + b"".join(dump + [record(NEWLINK, 0x78, link(2, b"eth0"), WRONG)])
    for each in links():
        yield b"\0" + record(NEWLINK, 0, each) + b"".join(dump[-4:])
    info = attribute(2, bytes(range(232)))
    mapped = bytes(10) + b"\xff\xff" + bytes([10, 0, 0, 1])
    sockets = [socket_message(2, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]), info),
               socket_message(10, mapped, mapped, info + attribute(11, b"\1")),
               socket_message(10, bytes(15) + b"\1", bytes(16)), socket_message(2, b"", b"", attribute(2, bytes(20)))]
    for how in (2, 3, 6, 7):
        for each in sockets:
            yield bytes([how]) + record(SOCKET, 0, each) + record(DONE, 0, bytes(4))
        yield bytes([how]) + b"".join(record(SOCKET, 0, each) for each in sockets) + record(DONE, 0, bytes(4), END)
        yield bytes([how]) + record(SOCKET, 1, sockets[0], END) + record(ERROR, 0, struct.pack("=i", -2) + bytes(16))
        yield bytes([how]) + record(ERROR, 0, struct.pack("=i", -1) + bytes(16))


# ------------------------------------------------------------------------------------------------------------ printers

def print_seeds(_):
    hidden = [0xAD, 0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xE0041]
    fills = [
        b"\0", b"\xff", b"A", b"\\\"\x1b[31m\n", "gr\u00fc\u00df\u20ac\U0001f600".encode(), b"\xc2\x9b\xed\xa0\x80\xc0\xaf",
        "".join(map(chr, hidden)).encode(), b"\xf0\x9f\x98", b"\x01\x7f", b"<unknown>\0", b"bad\0",
    ]
    for probe in range(0, 120):
        fill = fills[probe % len(fills)]
        yield struct.pack("<HB", probe, 0) + (fill * 2000)[:1500]
        yield struct.pack("<HB", probe, rng.randrange(64)) + bytes(rng.randrange(256) for _ in range(1500))
    for fill in fills:
        yield struct.pack("<HB", 0, 0) + fill * 3


# ------------------------------------------------------------------------------------------------------------ requests

REQUESTS = """status|probes|interfaces|counters|connections|reload|debug|debug off|debug all|debug live,host
connections state=established|connections client_state == "time-wait" && server_port == 80|connections --limit=1 --no-wait
connections client == ::1|connections --cid=1|connections --cid=18446744073709551615|connections --cid|connection x|nonsense||status now
stream|stream --text --fields=cs_cid,udp_sport udp-send,tcp-* ip-send|stream nosuch|stream --fields=x tcp-send|stream tcp-send --fields=x|stream x*
connections client_bytes > 3|connections --fields=cid,client_rto,server_owner client_srtt_us < 1s|connections where x|connections --closed|connections --closed --last=10m --fields=client,reason reason == "fin"|connections --closed --cid=3 --limit=3|connections --limit=0|connections --closed --last=x|connections --fields=x|connections client_port
connections port|connections port 65536|connections state dreaming|a b c d e f g h i j k l m n o p q r|debug nothing
write|write --last=10m --format=pcap|write --cid=3|write --cid=99 --format=pcap|write 1 2,48 0 0 9,6 0 0 262144|write --link-types|write --format=snoop 1 1,6 0 0 x|write --last=1 1 1,5 0 0 4294967295
formulas|formulas known|formulas other|undefine known|undefine other|sites|define other = tcp-*, 3 times in 1s|define known = udp-send|define x = tcp-send where nonsense|define
connections proto udp|connections protostr == "UDP" || resent > 3|connections port 1 port|connections proto=udp proto="""
LINES = ["GET /metrics HTTP/1.1", "HEAD /metrics HTTP/1.0", "GET /metrics?x=y HTTP/1.1", "GET / HTTP/1.1",
         "GET / HTTP/1.1\r\nHost: 127.0.0.1:9812", "GET /connections HTTP/1.1\r\nhost:  [::1]", "POST /metrics HTTP/1.1",
         "GET /metrics", "GET  HTTP/1.1", "GET /metrics HTTP/2", " ", ""]
NAMES = [b"", b"eth0", b"a\"b\\c", b"\xff\xfe", b"\xe2\x80\xaeeth", b"\x1b[31m", b"eth0\n", b"0123456789abcde"]


def query_seeds(_):
    for number, request in enumerate(REQUESTS.replace("\n", "|").split("|")):
        for form in (request, " " + request.replace("connections ", "connections --json ", 1) + "\t", request + " --json\r"):
            name = NAMES[number % len(NAMES)]
            yield bytes([number % 2 * 2 + 4 * (number % 3 == 0), len(name)]) + name + form.encode() + b"\n"
    for name in NAMES:
        for request in (b"interfaces\n", b"status\n", b"reload\n"):
            yield bytes([0, len(name)]) + name + request
        yield bytes([1, len(name)]) + name + b"GET /metrics HTTP/1.1\r\n\r\n"
    for line in LINES:
        yield bytes([1, 0]) + line.encode() + b"\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
        yield bytes([3, 0]) + line.encode() + b"\r\n\r\nrest"
    for flags in (0, 1, 3):
        yield bytes([flags, 0]) + b"a" * 5000
        yield bytes([flags, 0]) + bytes(rng.randrange(256) for _ in range(200)) + b"\n\r\n\r\n"


# ------------------------------------------------------------------------------------------------------------ formulas

DEFINITIONS = """slow-handshake = tcp-connect-established where tcps_srtt_us > 100ms
web-reset = tcp-receive where tcp_dport in {80, 443} && tcp_flags & RST && tcps_state == established
third-loss = tcp-retransmit, 3 times in 1s by cs_cid
scan = tcp-receive where (tcp_flags & (SYN|ACK)) == SYN, 3 distinct ip_daddr, tcp_dport in 10s by ip_saddr
stalled = tcp-* where cs_pid != 5 for 200ms by cs_cid
unanswered = dns-query, no dns-response where dns_rcode == 0 within 2s by ci_cid, dns_id
a = tcp-*, udp-send, 50 times in 1min by cs_cid, cs_comm counted
big = iscsi-scsi-command where ic_cdb16[1] & 4 && ci_remote in {10.0.0.0/8, 2001:db8::/32, ::1} uncounted
x = ip-send where ipv4_src in 192.0.2.0/24 || pcap("vlan and greater 1000") || ip_saddr == 0.0.0.0/0
x = tcp-state-change where tcps_state in {fin-wait-1, NETOBS_TCP_CLOSED, state-last-ack} && args[5]->tcps_state != closed
x = tcp-send where cs_comm ~ "[!a-c]*\\\\?" || cs_comm in {"nginx", "\\x41\\n"} || args[1] == NULL
x = tcp-send where (tcp_flags & (SYN|ACK)) == ACK ? -1 + 2 * 0x10 % 3 << 4 >> 1 ^ 7 | ~tcp_seq : pkt_len > 1.5KiB
x = tcp-send where ip_saddr == tcps_laddr && !(tcp_sport <= tcp_dport) && pkt_ts - tcps_start < 1h
x = tcp-recieve where tcp_dprt == 80 and nonsense
x = tcp-send where tcp_dport in {8000..8080, 1, 3, 5, 7, 9, 11} == 3""".split("\n")


def formula_seeds(_):
    for number, definition in enumerate(DEFINITIONS):
        yield bytes([number, 0, 0]) + definition.encode()
        expression = definition.partition(" where ")[2]
        for probe in (16, 18, 24, 26):
            yield bytes([probe, rng.choice((0, 2, 8)), 1]) + expression.encode()
    for probe in range(57):
        for length in (10, 20, 30, 100, 100, 400):
            yield bytes([probe, rng.choice((0, 0, 0, 2, 255)), 2]) + bytes(rng.randrange(256) for _ in range(length))


# --------------------------------------------------------------------------------------------------------- formulas.so

def note(order, owner, kind, description):
    data = struct.pack(order + "III", len(owner) + 1, len(description), kind) + owner + bytes(8 - len(owner)) + description
    return data + bytes(-len(data) % 4)


def slot_notes(order, word, sites, operands, names):
    longest = 3 * word + 7 + 80 + len(operands) + 1
    for slot in range(1, 65):
        default = b"formula__%02d" % slot
        name = names.get(slot, default)
        for site in range(sites):
            addresses = struct.pack(order + ("QQQ" if word == 8 else "III"), 32 * slot + site, 4096, 8192 + 2 * slot)
            pair = note(order, b"stapsdt", 3, addresses + b"netobs\0" + name + b"\0" + operands + b"\0")
            space = 20 + longest + -longest % 4 + 12 - len(pair)
            yield pair + note(order, b"netobs", 0x736C6F74, default + bytes(space - len(default)))


def shared_object(order, word, sites, operands, names):
    header, row = (64, 64) if word == 8 else (52, 40)
    notes = b"".join(slot_notes(order, word, sites, operands, names))
    build_id = struct.pack(order + "III", 4, 20, 3) + b"GNU\0" + bytes(range(20))
    texts = b"\0.note.stapsdt\0.note.gnu.build-id\0.shstrtab\0"
    at = 64
    table = bytes(row)
    for name, kind, content in ((1, 7, notes), (15, 7, build_id), (34, 3, texts)):
        address = struct.pack(order + ("QQQQ" if word == 8 else "IIII"), 0, 0, at, len(content))
        entry = struct.pack(order + "II", name, kind) + address
        table += entry + bytes(row - len(entry))
        at += len(content)
    elf = b"\x7fELF" + bytes([word // 4, 1 if order == "<" else 2, 1]) + bytes(9)
    elf += struct.pack(order + ("HHIQQQI6H" if word == 8 else "HHIIIII6H"), 3, 0, 1, 0, 0, at, 0, header, 0, 0, row, 4, 3)
    return elf + bytes(64 - len(elf)) + notes + build_id + texts + table


def slots_seeds(_):
    for order in "<>":
        for word in (4, 8):
            for choice in (0, 0x80, 0x27, 0xA7):
                for names in ({}, {1: b"slow__handshake", 2: b"a", 64: b"a" + 39 * b"__"}):
                    operands = b"8@%rdi 8@%rsi" if word == 8 else b""
                    yield bytes([choice, choice]) + shared_object(order, word, word // 4, operands, names)


SEEDS = {"capture": capture_seeds, "decompress": decompress_seeds, "formula": formula_seeds, "netlink": netlink_seeds,
         "print": print_seeds, "query": query_seeds, "slots": slots_seeds}


def main():
    directory = pathlib.Path(sys.argv[2])
    directory.mkdir(exist_ok=True)
    for number, seed in enumerate(SEEDS[sys.argv[1]](sys.argv[3:])):
        (directory / f"{number:04}").write_bytes(seed)


if __name__ == "__main__":
    main()
