#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""expectations.py zeek BTEST | suricata TESTS: prints what Zeek's or Suricata's own tests expect of TCP connections
and UDP streams, as a table for records.py.  BTEST is the folder testing/btest of a checkout of Zeek, TESTS the folder
tests of a checkout of suricata-verify; nothing of them is in this source tree.

Zeek: every conn.log of a test with one capture and no settings that change the analysis (zeek.py), and the Community IDs
of the test of its policy script.  Suricata: the flow records that a test.yaml expects, and the Community IDs of all
events.  Pairs of figures are client/server, that is originator/responder and to server/to client."""
import base64
import collections
import functools
import hashlib
import ipaddress
import operator
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
import suricata  # noqa: E402
import zeek  # noqa: E402

FIGURES = ("packets", "payload", "ip", "frames", "state", "tcp", "flags", "seconds", "community")
# One expected connection, or `count` of them: the ends are "" if the test does not name them.  `rows` are
# the figures of all rows of a conn.log with the same ends, in order, and `order` is the number of this one.
Expectation = collections.namedtuple("Expectation", ("capture", "proto", "client", "client_port", "server", "server_port",
                                                     "count", "order", "figures", "history", "rows"))
FIN, SYN, RST = 1, 2, 4
HISTORY = FIN | SYN | RST
NO_RECORDS = re.compile("netcontrol|packetfilter")  # tests that drop packets of their capture
# Settings of a test of Suricata after which it drops packets, bypasses connections or follows other ones than by default.
SURICATA_SETTINGS = re.compile(r"simulate-ips|firewall|exception-policy|midstream|async|bypass|\bips\b|drop")
COMMUNITY = re.compile(r"zeek-cut ([\w. ]*community_id).*< *conn\.log *> *(\S+)")


def sum_of(flags):
    """All bits of some flags."""
    return functools.reduce(operator.or_, flags, 0)


def pair(row, first, second, base=10):
    """Two numbers of a row, or None."""
    values = row.get(first, "-"), row.get(second, "-")
    try:
        return int(values[0], base), int(values[1], base)
    except ValueError:
        return None


def zeek_flags(history, proto):
    """The flags that the letters of a history prove: (originator, responder)."""
    if history == "-" or proto != "tcp":
        return None
    letters = {"S": SYN, "H": SYN, "F": FIN, "R": RST, "I": FIN | RST}
    return (sum_of(letters.get(letter, 0) for letter in history),
            sum_of(letters.get(letter.upper(), 0) for letter in history if letter.islower()))


def community(seed, record):
    """The Community ID (version 1) of the ends of a record."""
    ends = [(ipaddress.ip_address(record.ends[at]).packed, int(record.ends[at + 1])) for at in (0, 2)]
    low, high = sorted(ends)
    text = struct.pack("!H", seed) + low[0] + high[0] + struct.pack("!BBHH", 6 if record.tcp else 17, 0, low[1], high[1])
    return "1:" + base64.b64encode(hashlib.sha1(text).digest()).decode()


def zeek_figures(row):
    found = {"packets": pair(row, "orig_pkts", "resp_pkts"), "payload": pair(row, "orig_bytes", "resp_bytes"),
             "ip": pair(row, "orig_ip_bytes", "resp_ip_bytes"), "state": row.get("conn_state"),
             "community": (row["community_id"], 0) if "community_id" in row else None,
             "flags": zeek_flags(row.get("history", "-"), row.get("proto"))}
    if re.fullmatch(r"[0-9.]+", row.get("duration", "-")):
        found["seconds"] = float(row["duration"])
    return {name: value for name, value in found.items() if value not in (None, "-", "")}


def zeek_rows(capture, names, lines):
    """The expectations of the lines of a log."""
    rows_of = collections.defaultdict(list)
    for line in lines:
        row = dict(zip(names, line.split("\t")))
        ends = tuple(row.get(name) for name in ("id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p"))
        if None in ends or row.get("proto") not in ("tcp", "udp"):
            continue
        rows = rows_of[row["proto"], ends]
        rows.append(zeek_figures(row))
        yield Expectation(capture, row["proto"], *ends, 1, len(rows) - 1, rows[-1], row.get("history", ""), rows)


def zeek_communities(btest):
    """The Community IDs of the tests that cut them out of a conn.log."""
    for folder, _, names in sorted(os.walk(os.path.join(btest, "scripts"))):
        for name in sorted(names):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
            cut, capture = COMMUNITY.search(text), re.search(r"TRACES/([\w./-]+)", text)
            if not cut or not capture:
                continue
            test = os.path.splitext(os.path.relpath(os.path.join(folder, name), btest))[0].replace(os.sep, ".")
            log, path = os.path.join(btest, "Baseline", test, cut[2]), os.path.join(btest, "Traces", capture[1])
            if os.path.isfile(log) and os.path.isfile(path):
                with open(log, encoding="utf-8") as file:
                    yield path, cut[1].split(), [line for line in file.read().splitlines() if not line.startswith("#")]


def zeek_expectations(btest):
    for capture, log in zeek.tests_of(btest):
        if NO_RECORDS.search(log):
            continue
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        names = next((line.split("\t")[1:] for line in lines if line.startswith("#fields\t")), [])
        yield from zeek_rows(capture, names, [line for line in lines if line and not line.startswith("#")])
    for capture, names, lines in zeek_communities(btest):
        yield from zeek_rows(capture, names, lines)


def suricata_figures(fields):
    found = {"packets": pair(fields, "flow.pkts_toserver", "flow.pkts_toclient"),
             "frames": pair(fields, "flow.bytes_toserver", "flow.bytes_toclient"),
             "flags": pair(fields, "tcp.tcp_flags_ts", "tcp.tcp_flags_tc", 16),
             "state": fields.get("flow.state"), "tcp": fields.get("tcp.state"),
             "community": fields.get("community_id")}
    return {name: value for name, value in found.items() if value is not None}


def suricata_ends(fields):
    """Addresses and ports of a filter, "" for those that it does not name."""
    ends = []
    for name in ("src_ip", "src_port", "dest_ip", "dest_port"):
        value = fields.get(name, "")
        try:
            ends.append(str(ipaddress.ip_address(value)) if name.endswith("_ip") and value else value)
        except ValueError:
            return None
    return ends


def community_seed(folder):
    """The seed of the Community IDs of a test."""
    path = os.path.join(folder, "suricata.yaml")
    if not os.path.isfile(path):
        return 0
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(r"^ *community-id-seed: *(\d+)", file.read(), re.M)
    return int(found[1]) if found else 0


def suricata_expectations(tests):
    for folder, _, names in sorted(os.walk(tests)):
        if "test.yaml" not in names:
            continue
        with open(os.path.join(folder, "test.yaml"), encoding="utf-8", errors="replace") as file:
            text = file.read()
        capture = suricata.capture_of(folder, text)
        if SURICATA_SETTINGS.search(os.path.relpath(folder, tests) + text):
            continue
        for check in re.split(r"^ *- +filter:", text, flags=re.M)[1:] if capture else []:
            fields = {name: value.split(" #")[0].strip("\"' ")
                      for name, value in re.findall(r"^ +([\w.]+): *(.*)$", check, re.M)}
            if "community_id" in fields:
                fields["community_id"] = (fields["community_id"], community_seed(folder))
            figures, ends = suricata_figures(fields), suricata_ends(fields)
            if "lt-version" in fields or not figures or ends is None or fields.get("proto", "TCP") not in ("TCP", "UDP") or \
                    fields.get("flow.state") == "bypassed" or "spi" in fields or "icmp_type" in fields:
                continue
            if fields.get("event_type") != "flow":  # counts of other events are those of the moment
                figures = {"community": figures["community"]} if "community" in figures and "" not in ends else {}
            count = int(fields["count"]) if fields.get("count", "").isdigit() else 0
            if figures and count:
                yield Expectation(capture, fields.get("proto", "").lower(), *ends,
                                  count if fields.get("event_type") == "flow" else 1, 0, figures, "", [figures])


def read_expectations(source, folder):
    """Every expectation once, in order."""
    found, keys = [], set()
    for row in list({"zeek": zeek_expectations, "suricata": suricata_expectations}[source](folder)):
        key = row[:-3] + (tuple(tuple(sorted(figures.items())) for figures in row.rows),)
        if key not in keys:
            keys.add(key)
            found.append(row)
    return found


def main():
    source, folder = sys.argv[1:]
    print("\t".join(("capture", "proto", "client", "server", "count") + FIGURES))
    for row in read_expectations(source, folder):
        figures = [row.figures.get(name, "") for name in FIGURES]
        print("\t".join([os.path.relpath(row.capture, folder), row.proto, f"{row.client}:{row.client_port}",
                         f"{row.server}:{row.server_port}", str(row.count)] +
                        ["/".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in figures]))


if __name__ == "__main__":
    main()
