#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The totals over connections, compared with the firings of one run.  Each command prints what differs.

    totals.py summary SUMMARY JSON     counters of --summary, with the records of all connections (connection-end), and
                                       the retransmissions and state changes that --print printed
    totals.py same SUMMARY SUMMARY     totals of two runs with the same frames
    totals.py kinds SUMMARY...         kinds of totals that are in no summary
    totals.py page PAGE JSON           the ends on a page of metrics, with the connections that have ended so far
    totals.py final PAGE SUMMARY       what only packets count on that page, with the summary at the end of the run
    totals.py consistent PAGE          the histograms of a page in themselves
    totals.py total PAGE NAME          the sum of a metric
    totals.py send INTERFACE CAPTURE   sends the Ethernet frames of a capture file
"""
import collections
import json
import pathlib
import re
import socket
import struct
import sys

BOUNDS = (100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000, 5000000,
          10000000)
NAMES = [f"up-to-{bound}us" if bound < 1000 else f"up-to-{bound / 1e3:g}ms" if bound < 1000000 else
         f"up-to-{bound / 1e6:g}s" for bound in BOUNDS] + ["above-10s"]
RESENT = {"fast": "fast", "timeout": "timeout", "tail-loss-probe": "probe", "spurious": "spurious", "syn": "syn"}
GROUPS = ("ended.", "reset.", "zero-window.", "retransmission.", "handshake.", "rtt.", "answer.", "tcp-segments")


def counters(path):
    lines = [line.split() for line in pathlib.Path(path).read_text().splitlines()]
    return {words[0]: int(words[1]) for words in lines
            if len(words) == 2 and words[1].isdigit() and words[0].startswith(GROUPS)}


def firings(path):
    for line in pathlib.Path(path).read_text().splitlines():
        firing = json.loads(line)
        yield firing["probe"], firing["args"]


def report(name, got, wanted):
    if got != wanted:
        print(f"{name}: {got} instead of {wanted}")


# ---------------------------------------------------------------------------------------------- records and the summary

def add_record(expected, record):
    """What a record says exactly."""
    proto = record["cr_protostr"].lower()
    expected[f"ended.{proto}.{record['cr_reason']}"] += 1
    if proto != "tcp":
        return
    for side in ("client", "server"):
        expected[f"zero-window.{side}"] += record[f"cr_{side}_zero_windows"]
    for kind, field in RESENT.items():
        expected[f"retransmission.{kind}"] += record[f"cr_resent_{field}"]
    if (handshake := record["cr_handshake_us"]) >= 0:
        expected["handshake.sum-us"] += handshake
        bucket = next((i for i, bound in enumerate(BOUNDS) if handshake <= bound), len(BOUNDS))
        expected[f"handshake.{NAMES[bucket]}"] += 1


def check_means(got, records):
    """Samples of a record are rounded to their mean, which bounds the sum."""
    for group, count, mean in (("rtt", "cr_rtt_samples", "cr_rtt_mean_us"), ("answer", "cr_exchanges", "cr_answer_mean_us")):
        with_samples = [record for record in records if record[count] > 0]
        samples = sum(record[count] for record in with_samples)
        least = sum(record[count] * record[mean] for record in with_samples)
        report(f"{group}, samples", sum(got.get(f"{group}.{name}", 0) for name in NAMES), samples)
        total = got.get(f"{group}.sum-us", 0)
        if not least <= total <= least + samples:
            print(f"{group}: a sum of {total} us instead of {least} to {least + samples}")


def check_resets(got, records, closed_from):
    """The state of an end before its reset is that before its change to closed."""
    expected = collections.Counter()
    for record in records:
        for side in ("client", "server"):
            if record["cr_protostr"] == "TCP" and record["cr_reason"] == f"reset-by-{side}":
                expected[f"reset.{side}.{closed_from.get(record[f'cr_{side}_cid'], 'closed')}"] += 1
    report("resets", {name: value for name, value in got.items() if name.startswith("reset.")}, dict(expected))


def summary(summary_path, json_path):
    got = counters(summary_path)
    expected, events, records, closed_from = collections.Counter(), collections.Counter(), [], {}
    for probe, args in firings(json_path):
        if probe == "connection-end":
            records.append(args[0])
            add_record(expected, args[0])
        elif probe == "tcp-retransmit":
            event = next(arg for arg in args if arg and "tcpr_kind" in arg)
            events[f"retransmission.{event['tcpr_kindstr']}"] += 1
        elif probe == "tcp-state-change" and args[3]["tcps_statestr"] == "state-closed":
            closed_from[args[1]["cs_cid"]] = args[2]["tcps_statestr"].removeprefix("state-")
        elif probe == "tcp-send":
            events["tcp-segments"] += 1
    for name in sorted(set(got) | set(expected)):
        if name.startswith(("ended.", "zero-window.", "handshake.")):
            report(name, got.get(name, 0), expected[name])
        elif name.startswith("retransmission."):
            report(name, got.get(name, 0), events[name])
            report(f"{name}, in the records", expected[name], events[name])
    report("tcp-segments", got.get("tcp-segments"), events["tcp-segments"])
    check_means(got, records)
    check_resets(got, records, closed_from)


def same(one, other):
    one, other = counters(one), counters(other)
    if not one.get("tcp-segments"):
        print("no segments")
    for name in sorted(set(one) | set(other)):
        report(name, one.get(name, 0), other.get(name, 0))


def kinds(*paths):
    """Without it the comparison would be empty."""
    found = set().union(*(counters(path) for path in paths))
    wanted = {f"ended.tcp.{reason}" for reason in ("fin", "reset-by-client", "reset-by-server", "refused", "no-answer")}
    wanted |= {f"retransmission.{kind}" for kind in RESENT} | {"zero-window.client", "zero-window.server"}
    wanted |= {"reset.client.established", "reset.server.established", "rtt.sum-us", "answer.sum-us", "handshake.sum-us"}
    for name in sorted(wanted - found):
        print(name)


# ----------------------------------------------------------------------------------------------------- a page of metrics

def samples(path):
    found = {}
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        if match := re.fullmatch(r"(\w+)(?:\{(.*)\})? ([0-9.]+)", line):
            found[match[1], match[2] or ""] = float(match[3])
    return found


def page(path, json_path):
    got = {key: int(value) for key, value in samples(path).items() if key[0] == "netobs_connections_ended_total"}
    expected = collections.Counter()
    for probe, args in firings(json_path):
        if probe == "connection-end":
            record = args[0]
            labels = f'proto="{record["cr_protostr"].lower()}",reason="{record["cr_reason"]}"'
            expected["netobs_connections_ended_total", labels] += 1
    for key in sorted(set(got) | set(expected)):
        report(key[1], got.get(key, 0), expected[key])
    if not expected:
        print("no connection has ended")


def final(path, summary_path):
    got, wanted = samples(path), counters(summary_path)
    report("segments", got["netobs_tcp_segments_total", ""], wanted["tcp-segments"])
    for kind in RESENT:
        report(kind, got["netobs_tcp_retransmissions_total", f'kind="{kind}"'], wanted.get(f"retransmission.{kind}", 0))
    for side in ("client", "server"):
        report(f"zero windows of the {side}", got["netobs_tcp_zero_windows_total", f'side="{side}"'],
               wanted.get(f"zero-window.{side}", 0))
    for group, metric in (("handshake", "tcp_handshake"), ("rtt", "tcp_rtt"), ("answer", "answer")):
        count = 0
        for name, bound in zip(NAMES, [f"{bound / 1e6:g}" for bound in BOUNDS] + ["+Inf"]):
            count += wanted.get(f"{group}.{name}", 0)
            report(f"{metric}, {bound}", got[f"netobs_{metric}_seconds_bucket", f'le="{bound}"'], count)
        report(f"{metric}, count", got[f"netobs_{metric}_seconds_count", ""], count)
        report(f"{metric}, sum", got[f"netobs_{metric}_seconds_sum", ""], wanted.get(f"{group}.sum-us", 0) / 1e6)


def consistent(path):
    """The buckets of each histogram, of all or of a service, agree with its sum and count."""
    found = samples(path)
    histograms = {}
    for (name, labels), value in found.items():
        if name.endswith("_bucket"):
            labels, bound = labels.rsplit('le="', 1)
            histograms.setdefault((name.removesuffix("_bucket"), labels.rstrip(",")), []).append((float(bound[:-1]), value))
    for (family, labels), buckets in sorted(histograms.items()):
        buckets.sort()
        total, below, least, most = found[f"{family}_sum", labels], 0, 0, 0
        for (lower, _), (bound, count) in zip([(0, 0), *buckets], buckets):
            if count < below:
                print(f"{family} {labels}: bucket {bound} is less than the one before")
            least += (count - below) * lower
            most += (count - below) * bound if count > below else 0
            below = count
        report(f"{family} {labels}: count", found[f"{family}_count", labels], buckets[-1][1])
        if not (buckets[-1][1] or labels) or not least <= total <= most:
            print(f"{family} {labels}: {buckets[-1][1]} samples with a sum of {total}, not {least} to {most}")
    if not any(labels for _, labels in histograms):
        print("no histogram of a service")


def total(path, name):
    print(int(sum(value for key, value in samples(path).items() if key[0] == name)))


def send(interface, capture):
    data = pathlib.Path(capture).read_bytes()
    magic, link, at = data[:4], struct.unpack_from("<I", data, 20)[0], 24
    if magic != b"\xd4\xc3\xb2\xa1" or link != 1:
        sys.exit(f"{capture}: not a little-endian pcap file of Ethernet")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as wire:
        wire.bind((interface, 0))
        while at < len(data):
            length = struct.unpack_from("<I", data, at + 8)[0]
            wire.send(data[at + 16:at + 16 + length])
            at += 16 + length


if __name__ == "__main__":
    {"summary": summary, "same": same, "kinds": kinds, "page": page, "final": final, "consistent": consistent,
     "total": total, "send": send}[sys.argv[1]](*sys.argv[2:])
