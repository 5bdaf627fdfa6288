#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records of each capture compared with what the probes report, for every_capture.sh.

usage: every_capture.py NETOBSD CAPTURE...

Prints a line for each difference, and at last the number of records compared."""
import json
import subprocess
import sys
from collections import Counter


def lines(netobsd, capture, *options):
    """The lines that a replay writes, and the segments that it takes for copies of others."""
    run = subprocess.run([netobsd, "-r", capture, "--view", "both", "--format", "json", "--summary", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    copies = [int(line.split()[1]) for line in run.stderr.splitlines() if line.startswith(b"flow.duplicate-segments ")]
    return [json.loads(line) for line in run.stdout.splitlines()], sum(copies)


# Of a line only; of a firing only: they differ between shards.
OF_ONE = {"end", "cr_seq", "cr_client_cid", "cr_server_cid"}


# Classes of the time of a connection.
CLASSES = ("connect", "path", "network", "client", "server", "client_sending", "server_sending", "client_window",
           "server_window", "client_lost", "server_lost", "closing", "unknown")


def in_order(records):
    records = [{name: value for name, value in record.items() if name not in OF_ONE} for record in records]
    return sorted(records, key=lambda record: json.dumps(record, sort_keys=True))


def direction(firing):
    ip, tcp = firing["args"][2], firing["args"][4]
    return ip["ip_saddr"], tcp["tcp_sport"], ip["ip_daddr"], tcp["tcp_dport"]


def ends(record):
    ends_ = [(record[f"cr_{end}"], record[f"cr_{end}_port"]) for end in ("client", "server")]
    yield ends_[0] + ends_[1], record["cr_client_segments"]
    yield ends_[1] + ends_[0], record["cr_server_segments"]


def check_segments(fired, copies, report):
    """No segment is in two records of one direction, and the first record has all until its end."""
    captured, counted, until_end, records = Counter(), Counter(), {}, Counter()
    for firing in fired:
        if firing["probe"] == "tcp-send":
            captured[direction(firing)] += 1
        elif firing["args"][0]["cr_protocol"] == 6:
            for key, segments in ends(firing["args"][0]):
                counted[key] += segments
                records[key] += 1
                until_end.setdefault(key, captured[key])
    for key, count in records.items():
        if counted[key] > captured[key] or (count == 1 and counted[key] + copies < until_end[key]):
            report(f"{key}: {counted[key]} segments in {count} records, {until_end[key]} to {captured[key]} captured")


def main():
    netobsd, captures = sys.argv[1], sys.argv[2:]
    compared = 0
    for capture in captures:
        def report(text, capture=capture):
            print(f"{capture}: {text}")

        written = in_order(lines(netobsd, capture, "--records=-")[0])
        fired, copies = lines(netobsd, capture, "--print=tcp-send,connection-end")
        ended = in_order(firing["args"][0] for firing in fired if firing["probe"] == "connection-end")
        compared += len(written)
        if len(written) != len(ended):
            report(f"{len(written)} records, {len(ended)} firings")
        for record in written:
            divided = sum(record[f"cr_{name}_us"] for name in CLASSES)
            if divided != record["cr_duration_us"]:
                report(f"{divided} us of {record['cr_duration_us']} are divided, of {record['cr_uid']}")
        for record, argument_ in zip(written, ended):
            for name in record.keys() | argument_.keys():
                if record.get(name) != argument_.get(name):
                    report(f"{name} is {record.get(name)!r} and {argument_.get(name)!r} of {record['cr_uid']}")
        check_segments(fired, copies, report)
    print(compared)


main()
