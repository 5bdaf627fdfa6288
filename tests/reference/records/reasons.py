# SPDX-License-Identifier: BSD-2-Clause
"""Used by records.py: why a figure of Zeek or Suricata differs from that of a connection record.  A reason is a sentence
of WHY; it holds only if the facts of the capture or the expectation itself show it."""
import ipaddress
import re

SYN, FIN, RST = 2, 1, 4
WHY = {
    "unpacked": "an encapsulation that netobs does not unpack",
    "link": "a link type that netobs does not read",
    "invalid": "a source address that every receiver drops (multicast, or that of the destination)",
    "divided": "the same packets are another number of connections, by an idle time or after an end: sums are compared",
    "after": "packets after the end of the connection",
    "ack": "no packet of this end is captured: netobs counts what the other end acknowledges",
    "gap": "Zeek counts sequence numbers, also those of segments that are not captured",
    "bare": "after the last payload are only ACKs, repeated FINs and RSTs, which Zeek does not count into the duration",
    "tunnel": "in a tunnel, whose bare ACKs the facts of a capture do not show",
    "rst": "Zeek's SF is final with both FINs, also if data after a FIN is answered with RST",
    "flip": "Zeek has turned the connection round after its first packet and counts both for one end",
    "icmp": "Suricata counts ICMP errors for the connection of the packet that they quote",
    "unseen": "Suricata does not follow a TCP connection without its SYN",
    "cross": "the FINs cross: CLOSING in RFC 9293, where Suricata expects LAST-ACK",
    "length": "segments with an IP length beyond the end of their frame, and one that is captured twice",
    "skip": "a script of Zeek stops the analysis of a large transfer",
}
# Captures of encapsulations and link types, and single captures that need a word of their own.
UNPACKED = re.compile(r"gtp|teredo|ayiya|pbb|gre-over-udp|gre-aruba|vntag|cisco-fabric", re.IGNORECASE)
LINKS = re.compile(r"radiotap|wlanmon|ppp/")
SINGLE = {
    ("bug-2646-01/input.pcap", "state"): "cross", ("bug-2646-01/input.pcap", "tcp"): "cross",
    ("Traces/cisco-fabric-path.pcap", "*"): "unpacked",
    ("Traces/pppoe-over-qinq.pcap", "packets"): "length",
    ("Traces/globus-url-copy.pcap", "*"): "skip",
    ("Traces/ntp/misordered-ntp.pcap", "*"): "flip",
}


def invalid_source(expected):
    ends = [ipaddress.ip_address(end) for end in (expected.client, expected.server)]
    return ends[0] == ends[1] and not ends[0].is_loopback or any(end.is_multicast and end.version == 4 for end in ends)


def bare_end(wanted, record):
    """Whether a duration ends with a packet after which there is neither payload nor a SYN."""
    times = [time for facts in record.facts for time in facts.times]
    counted = [time for facts in record.facts for time in facts.data + facts.ends]
    data = [time for facts in record.facts for time in facts.data]
    end = min(times, default=0) + wanted
    return any(abs(time - end) < 2e-6 for time in counted) and max(data, default=0) < end + 2e-6


def after_end(wanted, record, value):
    """Whether the packets that the record lacks came after its end, in both directions."""
    later = tuple(sum(time > record.end + 1e-6 for time in facts.times) for facts in record.facts)
    return sum(later) > 0 and tuple(more - less for more, less in zip(wanted, value)) == later


def reason_of_zeek(name, expected, record, figure, wanted, value):
    if figure == "seconds" and record.tcp:
        if bare_end(wanted, record):
            return "bare"
        if not any(facts.times for facts in record.facts) and 0 < value - wanted < 0.001:
            return "tunnel"
    if figure == "payload":
        lacking = [want - have for want, have in zip(wanted, value)]
        if all(less == 0 or record.packets[end] == 0 and want == 0 for end, (less, want) in enumerate(zip(lacking, wanted))):
            return "ack"
        if min(lacking) >= 0 and re.search("[gG]", expected.history):
            return "gap"
    if figure == "state" and wanted == "SF" and record.reason.startswith("reset") and \
            all(flags & FIN for flags in expected.figures.get("flags", (0, 0))):
        return "rst"
    packets = expected.figures.get("packets", record.packets)
    return "after" if figure in ("packets", "payload") and after_end(packets, record, record.packets) else None


def reason_of_suricata(expected, record, figure, wanted, value):
    if figure in ("packets", "frames"):
        back = record.facts[::-1]
        extra = tuple(facts.errors if figure == "packets" else facts.error_bytes for facts in back)
        if sum(extra) and tuple(have + more for have, more in zip(value, extra)) == wanted:
            return "icmp"
    packets = expected.figures.get("packets", record.packets)
    if record.role != "seen" and figure in ("flags", "state"):
        return "unseen"
    return "after" if after_end(packets, record, record.packets) else None


def reason_of(source, name, expected, record, figure, wanted, value):
    """The name of the reason of a difference; None if there is no reason."""
    single = SINGLE.get((name, figure)) or SINGLE.get((name, "*"))
    if single:
        return single
    if LINKS.search(name):
        return "link"
    if UNPACKED.search(name) and (record is None or not record.facts[0].packets + record.facts[1].packets):
        return "unpacked"
    if "" not in (expected.client, expected.server) and invalid_source(expected):
        return "invalid"
    if record is None:
        return None
    if figure == "connections":
        return "divided"
    if source == "zeek":
        return reason_of_zeek(name, expected, record, figure, wanted, value)
    return reason_of_suricata(expected, record, figure, wanted, value)
