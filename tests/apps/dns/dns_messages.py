#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the dns probes with tshark, message by message.

    dns_messages.py NETOBSD [--explained FILE] CAPTURE...

tests/apps/tshark_messages.py says what it prints; a message whose fields differ is one, too.
"""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from tshark_messages import firings, main, tshark_frames  # noqa: E402  # pylint: disable=wrong-import-position

FIELDS = ["dns.id", "dns.flags", "dns.qry.name", "dns.qry.type", "dns.count.queries", "dns.count.answers",
          "dns.count.auth_rr", "dns.count.add_rr", "dns.rr.udp_payload_size"]
DISPLAY = "(dns || mdns || llmnr) && !icmp && !icmpv6"


def number(text):
    return int(text, 0) if text else 0


def of_tshark(path):
    """Messages of tshark.  A frame may have several, whose fields tshark joins; each message has one id."""
    messages = []
    for frame in tshark_frames(path, DISPLAY, FIELDS, "-J", "dns mdns llmnr", "-o", "tcp.check_checksum:FALSE"):
        count = len(frame.get("dns.id", []))
        # With several questions or records in one message the lists cannot be divided: only one-to-one lists are compared.
        for at in range(count):
            message = {}
            for field in FIELDS:
                values = frame.get(field, [])
                if len(values) == count or (count == 1 and values):
                    message[field] = values[at] if len(values) == count else values[0]
            messages.append(message)
    return messages


def of_netobsd(netobsd, path):
    return [firing["args"][1] for firing in firings(netobsd, path, "dns-query,dns-response")]


def plain_name(text):
    """tshark does not escape; it shows the root as <Root>, and replaces what is not printable."""
    return "." if text == "<Root>" else text


def differences(theirs, ours):
    pairs = [("dns.id", "dns_id"), ("dns.flags", "dns_flags"), ("dns.qry.type", "dns_qtype"),
             ("dns.count.queries", "dns_questions"), ("dns.count.answers", "dns_answers"),
             ("dns.count.auth_rr", "dns_authority"), ("dns.count.add_rr", "dns_additional"),
             ("dns.rr.udp_payload_size", "dns_edns_size")]
    found = ["%s %s, %s" % (field, theirs[field], ours[mine]) for field, mine in pairs
             if field in theirs and number(theirs[field]) != ours[mine]]
    name = theirs.get("dns.qry.name")
    if name is not None and "\\" not in ours["dns_qname"] and plain_name(name)[:255] != ours["dns_qname"]:
        found.append("name %r, %r" % (name, ours["dns_qname"]))
    return found


def compare(netobsd, path):
    """Matches the messages of a capture by id and flags, in order, and returns (number of messages, differences)."""
    waiting = collections.defaultdict(collections.deque)
    found, theirs = [], of_tshark(path)
    for message in of_netobsd(netobsd, path):
        waiting[message["dns_id"], message["dns_flags"]].append(message)
    for message in theirs:
        queue = waiting[number(message.get("dns.id")), number(message.get("dns.flags"))]
        if not queue:
            found.append("only tshark has %s" % message)
            continue
        wrong = differences(message, queue.popleft())
        if wrong:
            found.append("id %s: %s" % (message["dns.id"], "; ".join(wrong)))
    for queue in waiting.values():
        found += ["only netobsd has id %d %s" % (message["dns_id"], message["dns_qname"]) for message in queue]
    return len(theirs), found


main(compare)
