#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares tcp-retransmit, frame by frame, with tshark's analysis of retransmissions.

usage: tshark_retransmissions.py NETOBSD SHARED [DIFFERENCES] [--write]

Every capture below SHARED/captures and SHARED/truth that has TCP in it is read by both.  A frame on which they differ
belongs to one of the classes that class_of() knows, each with its reason in DIFFERENCES (tests/reference/tshark_retransmissions.tsv
beside this script), which also says how many there are in which capture.  What belongs to none fails, and so does a
count that is not the one listed.  --write prints the counts of this run.

netobs says why something was sent again, tshark mostly only that it was: "retransmission" agrees with each kind but
spurious.  What tshark calls out of order, a keepalive or a probe of a closed window was not sent again in its eyes.
Exit status 77 says that tshark is not there."""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

ANALYSIS = {"tcp.analysis.retransmission": "again", "tcp.analysis.fast_retransmission": "fast",
            "tcp.analysis.spurious_retransmission": "spurious", "tcp.analysis.out_of_order": "out-of-order",
            "tcp.analysis.keep_alive": "keepalive", "tcp.analysis.zero_window_probe": "window-probe"}
FIELDS = ["frame.number", "tcp.stream", "tcp.seq_raw", "tcp.len", "tcp.flags", "tcp.analysis.reused_ports"] + list(ANALYSIS)
AGREED = {
    "none": ({"none"}, {"out-of-order"}, {"keepalive"}, {"window-probe"}),
    "fast": ({"again"}, {"again", "fast"}),
    "timeout": ({"again"},),
    "tail-loss-probe": ({"again"},),
    "spurious": ({"again", "spurious"},),
    "syn": ({"again"},),
}
FIN, SYN = 1, 2
FRAME = re.compile(r'"pkt_addr":(\d+),')


class Frame:
    """What both say of one frame: `kind` is ours, `analysis` the set of tshark's words."""

    def __init__(self, kind, analysis):
        self.kind, self.analysis = kind, analysis
        self.flags = self.length = self.seq = self.iss = self.elapsed = 0
        self.probed = False  # the same number was sent before as a probe of a closed window
        self.reused = False  # its stream has SYNs of different numbers


def class_of(frame):
    """The class of a difference, or None."""
    said = frame.analysis
    if frame.kind == "none":
        if frame.flags & SYN and frame.flags & FIN:
            return "syn-and-fin"
        if "again" not in said:
            return None
        if frame.reused or frame.flags & SYN:
            return "other-numbers"
        return "a-little-late" if frame.iss else "forgotten"
    if said == {"none"}:
        return "after-window-probe" if frame.probed else "number-of-the-syn" if frame.seq == frame.iss else None
    if frame.kind == "spurious":
        if frame.iss and (frame.seq - frame.iss) % 2**32 >= 2**31:
            return "before-the-syn"
        if said == {"again"} and frame.flags & FIN and frame.length == 0:
            return "fin-again"
        return "sacked" if said in ({"again"}, {"out-of-order"}) else None
    if said == {"again", "spurious"}:
        return "ack-of-the-unsent"
    if said == {"out-of-order"}:
        if frame.seq == frame.iss:
            return "number-of-the-syn"
        return "told-lost" if frame.elapsed else "first-unseen"
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
    """Takes what decides the class from the firings."""
    args = json.loads(line)["args"]
    tcps, tcp = args[3], args[4]
    frame.flags, frame.length, frame.seq = tcp["tcp_flags"], tcp["tcp_payload"], tcp["tcp_seq"]
    frame.iss = tcps["tcps_iss"] if tcps is not None else 0
    if again:
        frame.elapsed = args[5]["tcpr_elapsed_us"]


def compare(netobsd, path):
    """What there is to tell of one capture: counts, counts by class, frames that belong to none."""
    sent, again = run_ours(netobsd, path)
    total, classes, unexplained = collections.Counter(), collections.Counter(), []
    if not sent:
        return total, classes, unexplained
    rows = run_tshark(path)
    probes = {(row["tcp.stream"], row["tcp.seq_raw"]) for row in rows.values() if row["tcp.analysis.zero_window_probe"]}
    reused = {row["tcp.stream"] for row in rows.values() if row["tcp.analysis.reused_ports"]}
    total["captures"] += 1
    total["segments"] += len(sent)
    for number in sorted(set(rows) & set(sent)):
        row = rows[number]
        analysis = {word for field, word in ANALYSIS.items() if row[field]} or {"none"}
        kind = json.loads(again[number])["args"][5]["tcpr_kindstr"] if number in again else "none"
        if kind == "none" and analysis == {"none"}:
            continue
        total["told"] += 1
        if analysis in AGREED[kind]:
            total["agreed"] += 1
            continue
        frame = Frame(kind, analysis)
        describe(frame, again.get(number, sent[number]), number in again)
        frame.probed = (row["tcp.stream"], row["tcp.seq_raw"]) in probes
        frame.reused = row["tcp.stream"] in reused
        name = class_of(frame)
        if name is None:
            unexplained.append(f"frame {number}: netobs {kind}, tshark {' '.join(sorted(analysis))}")
        else:
            classes[name] += 1
    return total, classes, unexplained


def read_listed(path):
    """The classes with their reasons, and (capture, class) -> count."""
    reasons, counts = {}, {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.rstrip("\n").split("\t")
                if words[0] == "class":
                    reasons[words[1]] = words[2]
                elif words[0] == "count":
                    counts[(words[1], words[2])] = int(words[3])
    return reasons, counts


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    if shutil.which("tshark") is None:
        print("tshark is not installed")
        sys.exit(77)
    netobsd, shared = arguments[:2]
    listed = arguments[2] if len(arguments) > 2 else os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                                   "tshark_retransmissions.tsv")
    reasons, counts = read_listed(listed)
    paths = sorted(os.path.join(top, name) for folder in ("captures", "truth")
                   for top, _, names in os.walk(os.path.join(shared, folder)) for name in names
                   if not name.endswith((".tsv", ".md", ".sh", ".py", ".bt")))
    if not paths:
        sys.exit("no capture files in " + shared)
    totals, found, wrong = collections.Counter(), {}, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, result in zip(paths, pool.map(lambda path: compare(netobsd, path), paths)):
            total, classes, unexplained = result
            name = os.path.relpath(path, shared)
            totals.update(total)
            found.update({(name, kind): count for kind, count in classes.items()})
            wrong += [f"unexplained: {name} {text}" for text in unexplained]
    for key in sorted(set(found) | set(counts)):
        if found.get(key, 0) != counts.get(key, 0):
            wrong.append(f"{key[0]} {key[1]}: {found.get(key, 0)} differences, {counts.get(key, 0)} are listed")
        if key[1] not in reasons:
            wrong.append(f"{key[1]}: a class without a reason")
    if "--write" in sys.argv:
        for name, reason in reasons.items():
            print(f"class\t{name}\t{reason}")
        for key in sorted(found):
            print(f"count\t{key[0]}\t{key[1]}\t{found[key]}")
        for line in wrong:
            print(line, file=sys.stderr)
        return
    print("\n".join(wrong), end="\n" if wrong else "")
    by_class = collections.Counter()
    for (_, kind), count in found.items():
        by_class[kind] += count
    for kind, count in sorted(by_class.items()):
        print(f"{count} {kind}: {reasons.get(kind, '?')}")
    print(f"{totals['captures']} captures, {totals['segments']} segments, {totals['told']} of them told of by either, "
          f"{totals['agreed']} alike, {sum(found.values())} explained differences")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
