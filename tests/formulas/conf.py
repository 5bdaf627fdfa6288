#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the firings of each formula of SCRATCH/formulas.conf with answers that do not use formulas.

usage: conf.py NETOBSD CAPTURES SCRATCH
       conf.py tshark CAPTURES SCRATCH

On each capture the formula's firings must be those firings of its probes, with the same arguments, for which a
predicate of this file is true; the number of firings is given here for each capture.  With "tshark" compares these numbers
with the frames that a display filter selects, if there is one.  Writes one line of the Test Anything Protocol for each point.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from points import point  # noqa: E402

NETOBSD, CAPTURES, SCRATCH = sys.argv[1:]
CONF = os.path.join(SCRATCH, "formulas.conf")
SYN, RST, ACK = 2, 4, 16
ISCSI_PORT = 47048 # of the initiator in the first connection of iscsi.pcap


# ---------------------------------------------------------------------------------------------------- own captures

def checksum(data):
    words = struct.unpack("!%dH" % ((len(data) + 1) // 2), data + b"\0" * (len(data) % 2))
    total = sum(words)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def address(text):
    return bytes(int(part) for part in text.split("."))


def transport(saddr, daddr, protocol, segment, at):
    """The segment with its checksum, which is at `at`, over the pseudo-header of IPv4 or IPv6."""
    if len(saddr) == 4:
        pseudo = saddr + daddr + struct.pack("!BBH", 0, protocol, len(segment))
    else:
        pseudo = saddr + daddr + struct.pack("!IHBB", len(segment), 0, 0, protocol)
    return segment[:at] + struct.pack("!H", checksum(pseudo + segment)) + segment[at + 2:]


def ipv4(saddr, daddr, protocol, payload, ttl=64):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0x4000, ttl, protocol, 0, saddr, daddr)
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


def ipv6(saddr, daddr, protocol, payload, hops=64):
    return (b"\2\0\0\0\0\1\2\0\0\0\0\2\x86\xdd" + struct.pack("!IHBB", 6 << 28, len(payload), protocol, hops) +
            saddr + daddr + payload)


def tcp(saddr, sport, daddr, dport, flags, seq, ack):
    segment = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 8192, 0, 0)
    saddr, daddr = address(saddr), address(daddr)
    return ipv4(saddr, daddr, 6, transport(saddr, daddr, 6, segment, 16))


def udp(saddr, sport, daddr, dport, data):
    segment = struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data
    if isinstance(saddr, bytes):
        return ipv6(saddr, daddr, 17, transport(saddr, daddr, 17, segment, 6))
    saddr, daddr = address(saddr), address(daddr)
    return ipv4(saddr, daddr, 17, transport(saddr, daddr, 17, segment, 6))


def refusal(client, port, server, server_port):
    """A SYN and the RST that refuses it."""
    return [tcp(client, port, server, server_port, SYN, 1000, 0), tcp(server, server_port, client, port, RST | ACK, 0, 1001)]


def dns(identification, flags):
    question = b"\7example\3com\0\0\x10\0\1"
    return struct.pack("!HHHHHH", identification, flags, 1, 0, 0, 0) + question


def icmp(type_, code, quoted):
    message = struct.pack("!BBHHH", type_, code, 0, 0, 1400 if (type_, code) == (3, 4) else 0) + quoted[14:42]
    return ipv4(address("192.0.2.1"), address("192.0.2.10"), 1,
                message[:2] + struct.pack("!H", checksum(message)) + message[4:])


def icmpv6_too_big(source, target):
    quoted = udp(target, 4000, source, 9, b"x" * 8)[14:]
    return ipv6(source, target, 58, transport(source, target, 58, struct.pack("!BBHI", 2, 0, 0, 1280) + quoted, 2))


def arp(operation, sender, target, mac=7):
    hardware = bytes((2, 0, 0, 0, 0, mac))
    return (b"\xff" * 6 + hardware + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation) + hardware +
            address(sender) + b"\0" * 6 + address(target))


def sctp(chunk_type):
    """An SCTP packet with one chunk; its CRC32c is computed bit by bit."""
    packet = struct.pack("!HHII", 5000, 5001, 0x1234, 0) + struct.pack("!BBH", chunk_type, 0, 4)
    crc = 0xFFFFFFFF
    for byte in packet:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return ipv4(address("192.0.2.10"), address("192.0.2.20"), 132,
                packet[:8] + struct.pack("<I", crc ^ 0xFFFFFFFF) + packet[12:])


def write(name, frames):
    """A capture of (seconds, frame)."""
    with open(os.path.join(SCRATCH, name), "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for at, frame in frames:
            file.write(struct.pack("<IIII", 1700000000 + int(at), round(at % 1 * 1000000), len(frame), len(frame)) + frame)


def iscsi_without_errors():
    """The first connection of iscsi.pcap, with status GOOD in each SCSI response; its responses begin their segments."""
    with open(os.path.join(CAPTURES, "iscsi.pcap"), "rb") as file:
        data = file.read()
    at, frames, changed = 24, [], 0
    while at < len(data):
        seconds, micros, length, _ = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + length]
        at += 16 + length
        if ISCSI_PORT not in struct.unpack_from("!HH", frame, 34):
            continue
        segment = frame[34:]
        header = segment[12] >> 4 << 2
        if segment[header:header + 1] == b"\x21":
            changed += segment[header + 3] != 0
            segment = segment[:header + 3] + b"\0" + segment[header + 4:]
            frame = frame[:34] + transport(frame[26:30], frame[30:34], 6, segment[:16] + b"\0\0" + segment[18:], 16)
        frames.append((seconds - 1700000000 + micros / 1000000, frame))
    assert changed > 0
    return frames


def in_sequence(step, frames, start=0.0):
    return [(start + step * i, frame) for i, frame in enumerate(frames)]


def write_captures():
    client, server, six = "192.0.2.10", "192.0.2.20", [bytes.fromhex("20010db8" + "00" * 11 + "0" + n) for n in "12"]

    # Four attempts on port 81, three of them within 10 s; three on port 82 within 22 s; two on port 83.
    frames = []
    for i, (at, port) in enumerate([(0, 81), (1, 82), (3, 81), (9, 81), (9.5, 83), (9.6, 83), (12, 82), (18, 81), (23, 82)]):
        frames += in_sequence(0.001, refusal(client, 40000 + i, server, port), at)
    write("refused.pcap", frames)
    write("refused-slowly.pcap", [(at + 11 * i, frame) for i in range(4)
                                  for at, frame in in_sequence(0.001, refusal(client, 40000 + i, server, 81))])

    # 25 ports by one address, 9 by another, each of them twice, and 25 times one port by a third, at the same time.
    frames = []
    for i in range(25):
        frames += in_sequence(0.001, refusal("198.51.100.1", 50000 + i, server, 100 + i), i * 0.1)
        frames += in_sequence(0.001, refusal("198.51.100.2", 50000 + i, server, 100 + i % 9), i * 0.1 + 0.05)
        frames += in_sequence(0.001, refusal("198.51.100.3", 50000 + i, server, 100), i * 0.1 + 0.07)
    write("scan.pcap", sorted(frames, key=lambda frame: frame[0]))

    # SYNs without answer: 70 ports of one host, 29 of another again and again, and 65 hosts on one port.
    frames = in_sequence(0.01, [tcp("198.51.100.1", 50000, server, 100 + i, SYN, 1, 0) for i in range(70)])
    frames += in_sequence(0.01, [tcp("198.51.100.1", 50001, client, 100 + i % 29, SYN, 1, 0) for i in range(70)], 1)
    write("syn-scan.pcap", frames)
    write("host-sweep.pcap", in_sequence(0.01, [tcp("198.51.100.1", 50000, "192.0.2.%d" % (100 + i), 445, SYN, 1, 0)
                                                for i in range(65)]))

    # A SYN without answer to port 443 and one to port 8443; a datagram 200 s later moves the clock.
    late = [(200, udp(client, 4000, server, 9, b"x"))]
    write("unanswered.pcap", [(0, tcp(client, 40000, server, 443, SYN, 1, 0))] + late)
    write("unanswered-high.pcap", [(0, tcp(client, 40000, server, 8443, SYN, 1, 0))] + late)

    # A handshake that the client resets before its last step.
    opening = [tcp(client, 40000, server, 80, SYN, 1000, 0), tcp(server, 80, client, 40000, SYN | ACK, 5000, 1001)]
    write("half-open.pcap", in_sequence(0.01, opening + [tcp(client, 40000, server, 80, RST, 1001, 0)]))

    message = udp(client, 4000, server, 9, b"x" * 8)
    write("too-big.pcap", in_sequence(0.01, [icmp(3, 4, message), icmp(3, 3, message), icmpv6_too_big(*six),
                                             icmp(11, 0, message)]))

    # Messages with the bit TC go to or come from port 4001; one of them is a query, and one is not DNS.
    answers = [udp(server, 53, client, 4001, dns(1, 0x8380)), udp(server, 53, client, 4000, dns(2, 0x8180)),
               udp(client, 4001, server, 53, dns(3, 0x0300)), udp(six[0], 53, six[1], 4001, dns(4, 0x8780)),
               udp(six[0], 53, six[1], 4000, dns(5, 0x8180)), udp(server, 5000, client, 4001, dns(6, 0x8380))]
    write("dns.pcap", in_sequence(0.01, answers))
    write("dns-whole.pcap", in_sequence(0.01, answers[1:3] + answers[4:]))

    # Hop limits 64, 1 and 2 to a host, 1 to a group; the same for IPv6.
    datagram = struct.pack("!HHHH", 4000, 9, 9, 0) + b"x"
    hosts, groups = (address(server), six[1]), (address("224.0.0.251"), bytes.fromhex("ff02" + "00" * 13 + "fb"))
    frames = [ipv4(address(client), to, 17, datagram, hops) for to, hops in
              ((hosts[0], 64), (hosts[0], 1), (hosts[0], 2), (groups[0], 1))]
    whole = transport(six[0], hosts[1], 17, datagram, 6)
    frames += [ipv6(six[0], hosts[1], 17, whole, hops) for hops in (64, 1, 1, 2)]
    frames += [ipv6(six[0], groups[1], 17, transport(six[0], groups[1], 17, datagram, 6), 1)]
    write("hops.pcap", in_sequence(0.01, frames))

    write("iscsi-good.pcap", iscsi_without_errors())

    write("aborts.pcap", in_sequence(0.01, [sctp(6), sctp(11), sctp(6)]))

    # Announcements of .5: four within 10 s; of .6: three within 24 s; requests for another address.
    announced = [(0, arp(1, "192.0.2.5", "192.0.2.5")), (2, arp(1, "192.0.2.6", "192.0.2.6")),
                 (3, arp(2, "192.0.2.5", "192.0.2.5", 8)), (6, arp(1, "192.0.2.5", "192.0.2.5")),
                 (7, arp(1, "192.0.2.5", "192.0.2.5", 8)), (14, arp(1, "192.0.2.6", "192.0.2.6")),
                 (26, arp(1, "192.0.2.6", "192.0.2.6"))]
    write("announced.pcap", announced + in_sequence(0.1, [arp(1, "192.0.2.7", "192.0.2.8")] * 5, 27))


# ------------------------------------------------------------------------------------------------------ the answers

PRIVATE = re.compile(r"(10|127|192\.168|172\.(1[6-9]|2\d|3[01]))\.|f[cd]..:|fe[89ab].:|::1$")
WEB = (80, 443)
STATES = {"established": "state-established", "closing": "state-close-wait"}

# By formula: predicate over the six arguments of a firing; threshold (count, seconds, key) or, if distinct values are
# counted, (count, seconds, key, value), or None; the captures with the number of firings, below tests/captures or
# generated, of which at least one has no firing; display filter of tshark and, with a threshold, the fields that are its
# key and, if there is one, the value, or the reason why tshark cannot answer.
Row = collections.namedtuple("Row", "predicate threshold captures tshark")
NO_CONNECTIONS = "tshark keeps no states of connections"
OTHER_SEGMENTS = "tshark calls other segments retransmissions"
NO_ANSWER = (NO_CONNECTIONS, OTHER_SEGMENTS)


def is_fragment(a):
    """By the header of IPv4, and by the dissector's own note that an IPv6 packet is a part."""
    if a[4]:
        return a[4]["ipv4_flags"] % 2 == 1 or a[4]["ipv4_offset"] != 0
    return a[5]["ipv6_nexthdr"] == 44


def is_last_hop(a):
    if a[4]:
        first = int(a[2]["ip_daddr"].split(".")[0])
        return a[4]["ipv4_ttl"] < 2 and not 224 <= first <= 239 and a[2]["ip_daddr"] != "255.255.255.255"
    return a[5]["ipv6_hlim"] < 2 and not a[2]["ip_daddr"].startswith("ff")


ROWS = {
    "slow-handshake": Row(
        lambda a: a[3]["tcps_srtt_us"] > 100000, None,
        {"dns-tcp.pcap": 1, "suricata-verify/input-23.pcap": 1, "home-network.pcap": 0},
        "tcp.flags.syn == 1 && tcp.flags.ack == 1 && tcp.time_delta > 0.1"),
    "connect-refused": Row(
        lambda a: True, (3, 10, lambda a: (a[3]["tcps_raddr"], a[3]["tcps_rport"])),
        {"refused.pcap": 1, "refused-slowly.pcap": 0, "questions.pcap": 0},
        ("tcp.flags.reset == 1 && tcp.flags.ack == 1 && tcp.seq == 1 && tcp.ack == 1", ("ip.src", "tcp.srcport"))),
    "connect-unanswered": Row(
        lambda a: a[3]["tcps_rport"] < 1024, None,
        {"unanswered.pcap": 1, "unanswered-high.pcap": 0, "suricata-verify/input-21-cut.pcap.gz": 2}, NO_CONNECTIONS),
    "half-open": Row(
        lambda a: a[5]["tcps_statestr"] == "state-syn-received" and a[3]["tcps_statestr"] == "state-closed", None,
        {"half-open.pcap": 1, "questions.pcap": 1, "home-network.pcap": 0}, NO_CONNECTIONS),
    "outside-accept": Row(
        lambda a: not PRIVATE.match(a[3]["tcps_raddr"]), None,
        {"iscsi.pcap": 20, "ipv6-http.pcap": 1, "home-network.pcap": 0},
        "tcp.flags.syn == 1 && tcp.flags.ack == 0 && !(ip.src == 10.0.0.0/8 || ip.src == 172.16.0.0/12 || "
        "ip.src == 192.168.0.0/16)"),
    "port-scan": Row(
        lambda a: True, (10, 10, lambda a: (a[2]["ip_saddr"], a[2]["ip_daddr"]), lambda a: a[4]["tcp_sport"]),
        {"scan.pcap": 2, "questions.pcap": 0},
        ("tcp.flags.reset == 1 && tcp.flags.ack == 1 && tcp.seq == 1 && tcp.ack == 1", ("ip.src", "ip.dst"),
         "tcp.srcport")),
    "syn-scan": Row(
        lambda a: {"SYN", "ACK"} & set(a[4]["tcp_flagstr"].split("|")) == {"SYN"},
        (30, 10, lambda a: (a[2]["ip_saddr"], a[2]["ip_daddr"]), lambda a: a[4]["tcp_dport"]),
        {"syn-scan.pcap": 2, "host-sweep.pcap": 0, "questions.pcap": 0},
        ("tcp.flags.syn == 1 && tcp.flags.ack == 0", ("ip.src", "ip.dst"), "tcp.dstport")),
    "host-sweep": Row(
        lambda a: {"SYN", "ACK"} & set(a[4]["tcp_flagstr"].split("|")) == {"SYN"},
        (30, 10, lambda a: (a[2]["ip_saddr"], a[4]["tcp_dport"]), lambda a: a[2]["ip_daddr"]),
        {"host-sweep.pcap": 2, "syn-scan.pcap": 0, "questions.pcap": 0},
        ("tcp.flags.syn == 1 && tcp.flags.ack == 0", ("ip.src", "tcp.dstport"), "ip.dst")),
    "web-reset": Row(
        lambda a: "RST" in a[4]["tcp_flagstr"].split("|") and (a[4]["tcp_sport"] in WEB or a[4]["tcp_dport"] in WEB) and
        a[3] is not None and a[3]["tcps_statestr"] in STATES.values(), None,
        {"suricata-verify/input-10-cut.pcap.gz": 1, "suricata-verify/TLPW1-tcp-47.32.209.86-10.11.23.101-tcp-80-49470-cut.pcap": 1,
         "questions.pcap": 0},
        "tcp.flags.reset == 1 && (tcp.port == 80 || tcp.port == 443) && tcp.seq > 1"),
    "syn-retransmit": Row(
        lambda a: a[5]["tcpr_kindstr"] == "syn", None,
        {"suricata-verify/input-cut.pcap.gz": 23, "suricata-verify/syn_retransmit_with_ts.pcap.gz": 1, "home-network.pcap": 0},
        "tcp.flags.syn == 1 && tcp.analysis.retransmission"),
    "third-loss": Row(
        lambda a: True, (3, 1, lambda a: a[1]["cs_cid"]),
        {"suricata-verify/input-26.pcap": 4, "suricata-verify/input-3.pcap.gz": 1, "home-network.pcap": 0},
        OTHER_SEGMENTS),
    "zero-window": Row(
        lambda a: a[4]["tcp_window"] == 0 and not {"RST", "SYN"} & set(a[4]["tcp_flagstr"].split("|")), None,
        {"questions.pcap": 2, "suricata-verify/input-12-cut.pcap.gz": 15, "home-network.pcap": 0},
        "tcp.window_size_value == 0 && tcp.flags.reset == 0 && tcp.flags.syn == 0"),
    "small-mss": Row(
        lambda a: 0 < a[3]["tcps_mss"] < 1220, None,
        {"pppoe-qinq-reset.pcap": 1, "suricata-verify/input-35-cut.pcap.gz": 67, "home-network.pcap": 0},
        "tcp.flags.syn == 1 && tcp.options.mss_val < 1220"),
    "packet-too-big": Row(
        lambda a: (a[4]["icmp_version"], a[4]["icmp_type"], a[4]["icmp_code"]) in ((4, 3, 4), (6, 2, 0)), None,
        {"too-big.pcap": 2, "home-network.pcap": 0}, "icmp.type == 3 && icmp.code == 4 || icmpv6.type == 2"),
    "unreachable": Row(
        lambda a: a[4]["icmp_version"] == 4 and a[4]["icmp_type"] == 3 and a[4]["icmp_code"] != 4 or
        a[4]["icmp_version"] == 6 and a[4]["icmp_type"] == 1, None,
        {"icmp.pcapng": 2, "too-big.pcap": 1, "home-network.pcap": 0},
        "icmp.type == 3 && icmp.code != 4 || icmpv6.type == 1"),
    "fragment": Row(
        is_fragment, None, {"ipv4-fragments.pcap": 3, "PcapPlusPlus/ipv6-frag.pcap": 4, "home-network.pcap": 0},
        "ip.flags.mf == 1 || ip.frag_offset > 0 || ipv6.fraghdr.nxt"),
    "ttl-expiring": Row(
        is_last_hop, None, {"hops.pcap": 3, "home-network.pcap": 0},
        "ip.ttl <= 1 && !(ip.dst == 224.0.0.0/4) && !(ip.dst == 255.255.255.255) || ipv6.hlim <= 1 && "
        "!(ipv6.dst == ff00::/8)"),
    "big-datagram": Row(
        lambda a: a[3]["udp_length"] > 1480, None,
        {"ipv4-fragments.pcap": 1, "PcapPlusPlus/ipv6-frag.pcap": 1, "home-network.pcap": 0}, "udp.length > 1480"),
    "dns-truncated": Row(
        lambda a: (a[3]["udp_sport"], a[3]["udp_dport"]) == (53, 4001), None, {"dns.pcap": 2, "dns-whole.pcap": 0},
        "dns.flags.response == 1 && dns.flags.truncated == 1 && udp.srcport == 53"),
    "sctp-abort": Row(
        lambda a: a[4]["sctp_chunk_type"] == 6, None,
        {"aborts.pcap": 2, "suricata-verify/sctp-max-chunks.pcap": 1, "sctp-restart.pcap": 0}, "sctp.chunk_type == 6"),
    "iscsi-error": Row(
        lambda a: a[1]["ii_status"] != 0, None, {"iscsi.pcap": 15, "iscsi-good.pcap": 0},
        "iscsi.opcode in {0x21, 0x25} && iscsi.scsiresponse.status > 0"),
    "arp-storm": Row(
        lambda a: a[4]["arp_spa"] == a[4]["arp_tpa"] != "<unknown>", (3, 10, lambda a: a[4]["arp_spa"]),
        {"announced.pcap": 1, "home-network.pcap": 1, "suricata-verify/input-cut.pcap.gz": 0},
        ("arp.isgratuitous == 1", ("arp.src.proto_ipv4",))),
}


def reach(events, count, seconds):
    """Of (time in ns, key, value) those with the COUNTth value of a key within SECONDS; the count then begins again."""
    times = collections.defaultdict(dict)
    reached = []
    for i, (now, key, value) in enumerate(events):
        times[key] = {v: t for v, t in times[key].items() if now - t <= seconds * 1000000000}
        times[key][value] = now
        if len(times[key]) == count:
            times[key] = {}
            reached.append(i)
    return reached


def events_of(firings, threshold):
    """Each firing is a value of its own unless distinct values are counted."""
    key, value = threshold[2], threshold[3] if len(threshold) > 3 else None
    return [(time_of(a), key(a), value(a) if value else i) for i, a in enumerate(firings)]


def run(*arguments):
    done = subprocess.run([NETOBSD, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def arguments_of(firing):
    """The arguments without the numbers of the firing."""
    return [None if a is None else {k: v for k, v in a.items() if k not in ("pkt_seq", "cs_seq", "ci_seq", "cr_seq")}
            for a in firing["args"]]


def time_of(a):
    return next(x[k] for x in a if x for k in ("pkt_ts", "cs_ts", "ci_ts") if k in x)


def locate(capture):
    own = os.path.join(SCRATCH, capture)
    return own if os.path.exists(own) else os.path.join(CAPTURES, capture)


def frames_of_tshark(source, row):
    """The number of frames that the display filter selects, past the threshold if there is one."""
    filter_, keys, value = ((row.tshark if isinstance(row.tshark, tuple) else (row.tshark, ())) + ("frame.number",))[:3]
    command = ["tshark", "-n", "-r", source, "-Y", filter_, "-T", "fields", "-e", "frame.time_epoch", "-e", value]
    for key in keys:
        command += ["-e", key]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout.decode()
    events = [(round(float(line.split("\t")[0]) * 1000000000), line.split("\t")[1:]) for line in out.splitlines()]
    if row.threshold is None:
        return len(events)
    return len(reach([(at, tuple(fields[1:]), fields[0]) for at, fields in events], row.threshold[0], row.threshold[1]))


def compare_tshark(name, capture, wanted, row):
    if row.tshark in NO_ANSWER:
        print("# %s on %s: %s" % (name, capture, row.tshark))
    else:
        got = frames_of_tshark(locate(capture), row)
        point("%s on %s: %d frames of tshark" % (name, capture, wanted), got == wanted, "got %d" % got)


def compare(name, probes, capture, wanted, row):
    source = locate(capture)
    firings, counts = run("-c", CONF, "-r", source, "--print=" + name, "--format=json", "--summary")
    base, _ = run("-r", source, "--print=" + ",".join(probes), "--format=json")
    true = [arguments_of(firing) for firing in base if row.predicate(firing["args"])]
    if row.threshold:
        true = [true[i] for i in reach(events_of(true, row.threshold), row.threshold[0], row.threshold[1])]
    got = [arguments_of(firing) for firing in firings if firing["probe"] == name and firing["of"] in probes]
    what = "%s on %s" % (name, capture)
    point(what + ": its probe fires", len(base) > 0, "probes: " + ",".join(probes))
    point(what + ": %d firings" % wanted, len(got) == wanted == len(firings), "got %d" % len(got))
    point(what + ": they are those for which the predicate is true", got == true, "%d and %d" % (len(got), len(true)))
    point(what + ": the counter", "formula.%s.matched %d\n" % (name, wanted) in counts)


def compare_all():
    with open(CONF, encoding="ascii") as file:
        text = "".join(line for line in file if not line.startswith("#"))
    defined = {m[0]: re.split(r",\s*", m[1]) for m in
               re.findall(r"formula \+= \{'([a-z-]+) = ([a-z-]+(?:, [a-z-]+)*)", text)}
    point("each formula has a row here", list(defined) and set(defined) == set(ROWS), set(defined) ^ set(ROWS))
    for name, row in ROWS.items():
        numbers = row.captures.values()
        point(name + ": a capture with firings and one without", 0 in numbers and max(numbers) > 0)
        for capture, wanted in row.captures.items():
            compare(name, defined[name], capture, wanted, row)


def compare_all_with_tshark():
    for name, row in ROWS.items():
        for capture, wanted in row.captures.items():
            compare_tshark(name, capture, wanted, row)


write_captures()
if NETOBSD == "tshark":
    compare_all_with_tshark()
else:
    compare_all()
