#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the dns probes with tshark, message by message.

    dns_messages.py NETOBSD [--explained FILE] CAPTURE...

Prints each message that only one of the two has, or whose fields differ, and at the end the number of messages.  Exit status 1
if there is one that FILE does not explain: a line of FILE is the capture's name, the number of differences, and the reason.
"""
import collections
import json
import os
import subprocess
import sys

FIELDS = ["dns.id", "dns.flags", "dns.qry.name", "dns.qry.type", "dns.count.queries", "dns.count.answers",
          "dns.count.auth_rr", "dns.count.add_rr", "dns.rr.udp_payload_size"]
DISPLAY = "(dns || mdns || llmnr) && !icmp && !icmpv6"


def number(text):
    return int(text, 0) if text else 0


def of_tshark(path):
    """Messages of tshark.  A frame may have several, whose fields tshark joins; each message has one id."""
    options = [word for field in ["dns.qry.name.len"] + FIELDS for word in ("-e", field)]
    process = subprocess.run(["tshark", "-r", path, "-Y", DISPLAY, "-T", "json", "-J", "dns mdns llmnr"] + options[2:] +
                             ["-o", "tcp.check_checksum:FALSE"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    messages = []
    for frame in json.loads(process.stdout or "[]"):
        layers = frame["_source"]["layers"]
        count = len(layers.get("dns.id", []))
        # With several questions or records in one message the lists cannot be divided: only one-to-one lists are compared.
        for at in range(count):
            message = {}
            for field in FIELDS:
                values = layers.get(field, [])
                if len(values) == count or (count == 1 and values):
                    message[field] = values[at] if len(values) == count else values[0]
            messages.append(message)
    return messages


def of_netobsd(netobsd, path):
    process = subprocess.run([netobsd, "--view=monitor", "-r", path, "--print=dns-query,dns-response", "--format=json"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line)["args"][1] for line in process.stdout.splitlines()]


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


def read_explained(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {row[0]: int(row[1]) for row in rows}


def main():
    arguments, explained = sys.argv[1:], {}
    netobsd = arguments.pop(0)
    if arguments[0] == "--explained":
        explained = read_explained(arguments[1])
        arguments = arguments[2:]
    total, captures, different, failed = 0, 0, 0, False
    for path in arguments:
        count, found = compare(netobsd, path)
        name = "/".join(path.split(os.sep)[-2:])
        total, captures, different = total + count, captures + (count > 0), different + len(found)
        if len(found) != explained.get(name, 0):
            failed = True
            print("%s: %d differences, %d are explained" % (name, len(found), explained.get(name, 0)))
            for line in found[:20]:
                print("  " + line)
    print("%d messages of %d captures are as tshark has them, but for %d that are explained" % (total, captures, different))
    sys.exit(failed or total == 0)


main()
