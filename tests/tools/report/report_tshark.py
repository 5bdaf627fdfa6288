#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Points of report.sh and report_tshark.sh: numbers of packets are those of tshark.

usage: report_tshark.py NETOBS CAPTURES evidence|segments|sack NAME...

NETOBS is the script netobs, CAPTURES tests/captures, of which NAME is a file.

evidence   the packets that refuse connections, and all frames and bytes
segments   the segments of the connections in detail
sack       the highest bytes that they acknowledge selectively
"""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path += [here, os.path.join(here, "../../lib")]
from points import equal  # noqa: E402
from report_data import Page  # noqa: E402

netobs, captures, what, *names = sys.argv[1:]


def report(path):
    """The page of a capture."""
    return Page(subprocess.run([netobs, "report", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True).stdout)


def tshark(path, selected, *fields):
    """These fields of each frame that the filter selects."""
    options = [word for field in fields for word in ("-e", field)]
    return [line.split("\t") for line in subprocess.run(
        ["tshark", "-r", path, "-o", "tcp.relative_sequence_numbers:false", "-Y", selected, "-T", "fields", *options],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.splitlines()]


def evidence(name, path, page):
    packets = tshark(path, "frame", "frame.number", "frame.len", "tcp.flags")
    refusals = [int(number) for number, _, flags in packets if flags and int(flags.split(",")[0], 16) & 20 == 20]  # RST, ACK
    equal("the evidence of refusals, as tshark finds it", page.evidence_packets("refused"), refusals[:5])
    equal("frames and bytes", [*page.values("frames", "bytes"), sum(frames for _, frames in page.volume())],
          [len(packets), sum(int(length) for _, length, _ in packets), len(packets)])


def segments(name, path, page):
    ports = " or ".join(f"tcp.port == {row[4]} and tcp.port == {row[6]}" for row in page.data["rows"] if row[19] >= 0)
    equal(f"{name}: the segments of the connections in detail are those of tshark",
          sorted(segment[1] for segment in page.segments()),
          [int(number) for number, in tshark(path, f"tcp and !icmp and !icmpv6 and ({ports})", "frame.number")])


def sack(name, path, page):
    def highest(edges):
        """Sequence numbers of these captures do not wrap."""
        return max(int(edge) for edge in edges.split(","))

    equal(f"{name}: the highest SACKed bytes are those of tshark",
          [(segment[1], segment[9]) for segment in page.segments() if segment[9]],
          [(int(number), highest(edges)) for number, edges in
           tshark(path, "tcp.options.sack_re", "frame.number", "tcp.options.sack_re")])


for name in names:
    path = f"{captures}/{name}"
    globals()[what](name, path, report(path))
