#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""judge.py [-v] NETOBSD DIRECTORY [PATH...]: compares the division of each connection's time with the clocks of the
programs, with the kernel's TCP_INFO, and with the capture at the other end.  traffic.py makes the directory.

Prints, for each figure, of how many connections it is within its bound, and the worst difference; with -v each one that
is not.  The exit status is 1 if a figure that is marked with * has less than 95 %.
"""
import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import plays

MS = 1000
LOSSY = ("lossy", "worse", "narrow")
OTHER = {"client": "server", "server": "client"}


def records_of(netobsd, pcap):
    """The records of a capture, by the client's and the server's port."""
    with tempfile.NamedTemporaryFile() as plain:
        if pcap.suffix == ".gz":
            plain.write(gzip.decompress(pcap.read_bytes()))
            plain.flush()
            pcap = plain.name
        run = subprocess.run([netobsd, "-r", pcap, "--records=-", "--format", "json"], capture_output=True, check=True)
    records = map(json.loads, run.stdout.splitlines())
    return {(record["cr_client_port"], record["cr_server_port"]): record for record in records}


def find(folder, name):
    """A capture, which may be compressed."""
    path = folder / f"{name}.pcap"
    return path if path.exists() else path.with_suffix(".pcap.gz")


class Clocks:
    """What the clocks of the programs say that each end waited, microseconds."""

    def __init__(self, ends):
        self.thinking, self.sending = {"client": 0, "server": 0}, {"client": 0, "server": 0}
        closes = [(event[1], end) for end, record in ends.items() for event in record["events"] if event[0] == "close"]
        for end, record in ends.items():
            self.add(end, record["events"])
        self.closing = None
        if len(closes) == 2:
            (first, self.closer), (last, _) = sorted(closes)
            self.closing = last - first
            events = ends[self.closer]["events"]
            before = events[[event[0] for event in events].index("close") - 1]
            if before[0] == "receive":
                self.thinking[self.closer] += first - before[2]

    def add(self, end, events):
        """What passes before an end sends: since it was asked, or since it sent last."""
        for before, event in zip(events, events[1:]):
            if event[0] == "send":
                waits = self.sending if before[0] == "send" else self.thinking
                waits[end] += max(0, event[1] - before[2])


class Table:
    """Figures: how many are within their bound."""

    def __init__(self, verbose):
        self.verbose, self.rows = verbose, collections.OrderedDict()

    def take(self, figure, connection, wrong_us, bound_us, words):
        """One comparison."""
        row = self.rows.setdefault(figure, [0, 0, 0.0, ""])
        row[0] += 1
        row[1] += abs(wrong_us) <= bound_us
        if abs(wrong_us) > abs(row[2]):
            row[2], row[3] = wrong_us, connection
        if self.verbose and abs(wrong_us) > bound_us:
            print(f"{figure}: {connection}: {words}")

    def print(self):
        """A line for each figure; whether all that are promised have their share."""
        enough = True
        for figure, (count, right, worst, where) in sorted(self.rows.items()):
            share = 100 * right / count
            enough = enough and (share >= 95 or not figure.endswith("*"))
            print(f"{figure:66} {right:4} of {count:4} {share:6.1f} %   worst {worst / MS:9.2f} ms {where}")
        return enough


def judge_clocks(table, name, ends, records, lossy):
    """The programs' own clocks: 2 ms or 5 %."""
    clocks = Clocks(ends)
    kind = "with losses" if lossy else "no losses"
    for where, record in records.items():
        for end in OTHER:
            for what, field, wanted in (("waits", "", clocks.thinking), ("pauses", "_sending", clocks.sending)):
                got = record[f"cr_{end}{field}_us"]
                far = "captured there" if where == end else "captured at the other end"
                promised = "*" if where == end == "server" and not field else ""
                table.take(f"clock: {end} {what}, {far}, {kind}{promised}", name, got - wanted[end],
                           max(2 * MS, wanted[end] * 0.05), f"{got} {wanted[end]}")
        if clocks.closing is not None and not lossy and not name.split("/")[1].startswith("aborted"):
            least, most = clocks.closing, clocks.closing + record["cr_connect_us"]
            got = record["cr_closing_us"]
            wrong = min(0, got - least) + max(0, got - most)
            table.take(f"clock: closing, captured at the {where}, {kind}", name, wrong, max(2 * MS, least * 0.05),
                       f"{got} {least} to {most}")


def judge_kernel(table, name, ends, records, lossy):
    """TCP_INFO of the sender, captured there: 20 ms or 5 %."""
    congestion = plays.PLAYS[name.split("/")[1]].congestion.decode()
    for end, record in records.items():
        info, other = ends[end]["tcp_info"], OTHER[end]
        figures = [("busy*", record[f"cr_{end}_busy_us"], info["busy"], 20 * MS),
                   ("receiver-limited*", record[f"cr_{other}_window_us"], info["window"], 20 * MS),
                   ("smallest RTT", record[f"cr_{other}_rtt_min_us"], info["min_rtt"], MS)]
        if info["window"]:
            kind = "with losses" if lossy else "no losses"
            figures.append((f"receiver-limited, only those that are, {congestion}, {kind}", *figures[1][1:]))
        for what, got, wanted, least in figures:
            if got >= 0:
                table.take(f"kernel: {what}", name, got - wanted, max(least, wanted * 0.05), f"{end} {got} {wanted} {info}")


def judge_ends(table, name, ends, records, lossy):
    """Captures at both ends: what is not path differs by 2 ms or 5 %; the rest by the path, once."""
    del ends
    if lossy:
        return
    rtt = max(record["cr_connect_us"] for record in records.values())
    for figure in ("client", "server", "client_sending", "server_sending", "client_lost", "server_lost", "unknown"):
        two = [record[f"cr_{figure}_us"] for record in records.values()]
        table.take(f"both ends: {figure}", name, two[0] - two[1], max(2 * MS, max(two) * 0.05), str(two))
    for figures in (("duration",), ("connect",), ("closing",), ("path",), ("network", "client_window", "server_window")):
        two = [sum(record[f"cr_{figure}_us"] for figure in figures) for record in records.values()]
        table.take(f"both ends: {', '.join(figures)}: one RTT", name, two[0] - two[1],
                   rtt + max(2 * MS, max(two) * 0.05), f"{two} {rtt}")


def judge(netobsd, folder, table):
    """All connections of a path."""
    records = {end: records_of(netobsd, find(folder, end)) for end in OTHER}
    logs = collections.defaultdict(dict)
    for line in (folder / "ends.json").read_text("ascii").splitlines():
        record = json.loads(line)
        logs[record["play"]][record["end"]] = record
    for name, ends in sorted(logs.items()):
        if len(ends) != 2:
            continue
        ports = tuple(ends["client"]["ports"])
        found = {end: records[end].get(ports) for end in OTHER}
        label = f"{folder.name}/{name}"
        if None in found.values():
            table.take("records: of each connection*", label, 10**9, 0, str(ports))
            continue
        for part in (judge_clocks, judge_kernel, judge_ends):
            part(table, label, ends, found, folder.name in LOSSY)


def main():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true", dest="all")
    parser.add_argument("netobsd")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("paths", nargs="*")
    arguments = parser.parse_args()
    table = Table(arguments.all)
    for folder in sorted(arguments.directory.iterdir()):
        if folder.is_dir() and (not arguments.paths or folder.name in arguments.paths):
            judge(arguments.netobsd, folder, table)
    sys.exit(not table.print())


if __name__ == "__main__":
    main()
