#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares tcp-retransmit, frame by frame, with tshark's analysis of retransmissions.

usage: tshark_retransmissions.py NETOBSD CAPTURES TRUTH [SHARED] [--few] [--write | --accept]

tshark_classes.py says which captures are compared and what the options do.  A frame on which the two differ belongs to one of
the classes of class_of(), each with its reason in tshark_retransmissions.tsv.

netobs reports the cause of a retransmission, tshark mostly only the fact: its "retransmission" agrees with each kind except
spurious.  A frame that tshark calls out of order, a keepalive or a window probe is not a retransmission for tshark."""
import collections
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import tshark_classes  # noqa: E402

ANALYSIS = {"tcp.analysis.retransmission": "again", "tcp.analysis.fast_retransmission": "fast",
            "tcp.analysis.spurious_retransmission": "spurious", "tcp.analysis.out_of_order": "out-of-order",
            "tcp.analysis.keep_alive": "keepalive", "tcp.analysis.zero_window_probe": "window-probe"}
SAME = ["tcp.stream", "ip.src", "ip.id", "tcp.seq_raw", "tcp.ack_raw", "tcp.len", "tcp.flags"]
FIELDS = ["frame.number", "tcp.analysis.reused_ports"] + SAME + list(ANALYSIS)
AGREED = {
    "none": ({"none"}, {"out-of-order"}, {"keepalive"}, {"window-probe"}),
    "fast": ({"again"}, {"again", "fast"}),
    "timeout": ({"again"},),
    "tail-loss-probe": ({"again"},),
    "spurious": ({"again", "spurious"},),
    "syn": ({"again"},),
}
FIN, SYN = 1, 2
ACK = 16
IGNORED = re.compile(r'"pkt_reason":"tcp-(syn|rst|ack|outside|old)-')
FRAME = re.compile(r'"pkt_addr":(\d+),')


class Frame:
    """The two results for one frame: `kind` is that of netobs, `analysis` the set of tshark's words."""

    def __init__(self, kind, analysis):
        self.kind, self.analysis = kind, analysis
        self.flags = self.length = self.seq = self.iss = self.elapsed = 0
        self.ignored = False  # netobs reports that its receiver ignores it
        self.reused = False  # its stream has SYNs of different numbers
        self.damaged = False  # an earlier frame with the same number has a wrong checksum
        self.twice = False   # an earlier frame has the same numbers and the same identification


def class_of(frame):
    """The class of a difference, or None."""
    words = frame.analysis
    if frame.kind == "none":
        if frame.flags & SYN and frame.flags & FIN:
            return "syn-and-fin"
        if "again" not in words:
            return None
        if frame.ignored or not frame.flags & ACK:
            return "ignored"
        if frame.twice:
            return "duplicate"
        if frame.damaged:
            return "damaged"
        if frame.reused or frame.flags & SYN:
            return "other-numbers"
        return "a-little-late" if frame.iss else "expired"
    if words == {"none"}:
        if frame.kind == "timeout" and frame.flags & FIN and frame.length == 0:
            return "fin-with-syn"
        return "number-of-the-syn" if frame.seq == frame.iss else None
    if frame.kind == "spurious":
        if frame.iss and (frame.seq - frame.iss) % 2**32 >= 2**31:
            return "before-the-syn"
        if words == {"again"} and frame.flags & FIN and frame.length == 0:
            return "fin-again"
        if words == {"keepalive"}:
            return "soon-keepalive"
        return "sacked" if words in ({"again"}, {"out-of-order"}) else None
    if words == {"keepalive"}:
        return "soon-keepalive"
    if words == {"again", "spurious"}:
        return "ack-of-the-unsent"
    if words == {"out-of-order"}:
        if frame.seq == frame.iss:
            return "number-of-the-syn"
        return "known-lost" if frame.elapsed else "first-unseen"
    return None


def run_ours(netobsd, path):
    """Frame number -> the printed firing, of tcp-send and of tcp-retransmit."""
    command = [netobsd, "-r", path, "--view", "both", "--print=tcp-send,tcp-retransmit", "--format", "json"]
    sent, again = {}, {}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        number = int(FRAME.search(line).group(1))
        (again if line.startswith('{"probe":"tcp-retransmit"') else sent)[number] = line
    return sent, again


def run_tshark(path):
    command = ["tshark", "-n", "-r", path, "-Y", "tcp", "-T", "fields", "-E", "occurrence=f"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          env=dict(os.environ, TZ="UTC", LC_ALL="C"))
    rows = {}
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        values = line.split("\t")
        if len(values) == len(FIELDS):
            rows[int(values[0])] = dict(zip(FIELDS, values))
    return rows


def describe(frame, line, again):
    """Adds the values of the firings that decide the class."""
    args = json.loads(line)["args"]
    tcps, tcp = args[3], args[4]
    frame.flags, frame.length, frame.seq = tcp["tcp_flags"], tcp["tcp_payload"], tcp["tcp_seq"]
    frame.iss = tcps["tcps_iss"] if tcps is not None else 0
    if again:
        frame.elapsed = args[5]["tcpr_elapsed_us"]


def compare(netobsd, path, _):
    """The result for one capture: counts, counts by class, frames that belong to no class."""
    sent, again = run_ours(netobsd, path)
    total, classes, unexplained = collections.Counter(), collections.Counter(), []
    if not sent:
        return total, classes, unexplained
    rows = run_tshark(path)
    reused = {row["tcp.stream"] for row in rows.values() if row["tcp.analysis.reused_ports"]}
    known, twice, wrong, damaged = set(), set(), set(), set()
    for number in sorted(rows):
        segment = rows[number]["ip.src"], rows[number]["tcp.stream"], rows[number]["tcp.seq_raw"]
        if segment in wrong:
            damaged.add(number)
        if '"pkt_reason":"checksum-wrong"' in sent.get(number, ""):
            wrong.add(segment)
        same = tuple(rows[number][field] for field in SAME)
        if same in known and rows[number]["ip.id"] not in ("", "0x0000"):
            twice.add(number)
        known.add(same)
    total["captures"] += 1
    total["segments"] += len(sent)
    for number in sorted(set(rows) & set(sent)):
        row = rows[number]
        analysis = {word for field, word in ANALYSIS.items() if row[field]} or {"none"}
        kind = json.loads(again[number])["args"][5]["tcpr_kindstr"] if number in again else "none"
        if kind == "none" and analysis == {"none"}:
            continue
        total["reported"] += 1
        if analysis in AGREED[kind]:
            total["agreed"] += 1
            continue
        frame = Frame(kind, analysis)
        describe(frame, again.get(number, sent[number]), number in again)
        frame.ignored = IGNORED.search(sent[number]) is not None
        frame.reused = row["tcp.stream"] in reused
        frame.twice = number in twice
        frame.damaged = number in damaged
        name = class_of(frame)
        if name is None:
            unexplained.append(f"frame {number}: netobs {kind}, tshark {' '.join(sorted(analysis))}")
        else:
            classes[name] += 1
    return total, classes, unexplained


def text(t):
    return (f"{t['captures']} captures, {t['segments']} segments; {t['agreed']} of {t['reported']} that either reports alike, "
            f"{t['differences']} explained differences in {t['classes']} classes")


if __name__ == "__main__":
    tshark_classes.main("tshark_retransmissions", compare, text)
