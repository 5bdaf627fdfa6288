#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""zeek.py NETOBSD BTEST: compares netobs with what Zeek's tests expect of TCP connections.  BTEST is the folder
testing/btest of a Zeek checkout; nothing of it is in this source tree.  Prints TAP.

Compared are the connections in conn.log of every test with one capture and no settings that change the analysis: whether
the handshake completed (conn_state), if a SYN was captured; and whether an end has retransmitted payload (T and t in
history).  A difference has a class, or is listed in EXPLAINED."""
import collections
import json
import os
import re
import subprocess
import sys

ESTABLISHED = ("S1", "S2", "S3", "SF", "RSTO", "RSTR")
NEEDED = {"id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "history", "conn_state"}
# Settings of a test after which conn.log no longer describes the whole capture.
SETTINGS = re.compile(r"-f |BPF|redef .*(_timeout|capture_filters|ignore_checksums)|Pcap::|suspend|terminate|shunt|skip")
PROBES = "tcp-send,tcp-state-change,tcp-retransmit"
ONE_END = "the segments of one end are captured: its ACKs prove the connection"
NOT_UNPACKED = "an encapsulation that netobs does not unpack"
ENCAPSULATED = re.compile(r"(gtp|teredo|ayiya|pbb|gre-over-udp)", re.IGNORECASE)  # captures of such encapsulations
EXPLAINED = {
    ("connect-with-smtp.pcap", "T"): "first captured 24 ms after a later bare ACK: reordered here, repeated there",
}


def tests_of(btest):
    """Yields (capture, conn.log) of the tests that are compared."""
    for folder, _, names in sorted(os.walk(btest)):
        if os.path.relpath(folder, btest).split(os.sep)[0] in ("Baseline", "Traces", "Files"):
            continue
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            captures = set(re.findall(r"TRACES/([\w./-]+\.(?:pcapng|pcap|trace))", text))
            if not re.search(r"btest-diff.*conn\.log", text) or len(captures) != 1 or SETTINGS.search(text):
                continue
            test = os.path.splitext(os.path.relpath(path, btest))[0].replace(os.sep, ".")
            log = os.path.join(btest, "Baseline", test, "conn.log")
            capture = os.path.join(btest, "Traces", captures.pop())
            if os.path.exists(log) and os.path.exists(capture) and os.path.getsize(capture):
                yield capture, log


def connections_of(log):
    """The TCP connections of a conn.log whose addresses and ports occur once."""
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    names = next((line.split("\t")[1:] for line in lines if line.startswith("#fields\t")), [])
    if not NEEDED <= set(names):
        return []
    rows = [dict(zip(names, line.split("\t"))) for line in lines if line and not line.startswith("#")]
    rows = [row for row in rows if row["proto"] == "tcp"]
    ends = [(row["id.orig_h"], row["id.orig_p"], row["id.resp_h"], row["id.resp_p"]) for row in rows]
    return [(end, row) for end, row in zip(ends, rows) if ends.count(end) == 1]


def replay(netobsd, capture):
    """By endpoint: firings by probe, retransmissions with payload, states reached."""
    record = collections.defaultdict(collections.Counter)
    command = [netobsd, "-r", capture, "--view", "both", "--print=" + PROBES, "--format", "json"]
    for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
        firing = json.loads(line)
        args = firing["args"]
        tcps = next((arg for arg in args if isinstance(arg, dict) and "tcps_laddr" in arg), None)
        if tcps is None:
            continue
        end = record[(tcps["tcps_laddr"], str(tcps["tcps_lport"]), tcps["tcps_raddr"], str(tcps["tcps_rport"]))]
        end[firing["probe"]] += 1
        if firing["probe"] == "tcp-state-change":
            end[args[3]["tcps_statestr"]] += 1
        elif firing["probe"] == "tcp-retransmit":
            end["payload"] += args[4]["tcp_flags"] & 7 == 0
    return record


def compare(name, ends, row, record, total, notes):
    history, ours = row["history"], [record[ends], record[ends[2:] + ends[:2]]]
    letters = history.replace("^", "")
    captured = sum(end["tcp-send"] for end in ours) > 0
    checks = []
    if "S" in history or "h" in history:
        checks.append(("established", row["conn_state"] in ESTABLISHED, any(end["state-established"] for end in ours)))
    for letter, end in zip("Tt", ours):
        if "D" in history or "d" in history:
            checks.append((letter, letter in history, end["payload"] > 0))
    for what, zeek, netobs in checks:
        row_of = "established" if what == "established" else "retransmitted"
        total[row_of, "compared"] += 1
        if zeek == netobs:
            total[row_of, "alike"] += 1
            continue
        reason = EXPLAINED.get((name, what)) or \
            (NOT_UNPACKED if not captured and ENCAPSULATED.match(name) else None) or \
            (ONE_END if row_of == "established" and netobs and (letters.isupper() or letters.islower()) else None)
        if reason:
            total[row_of, reason] += 1
        else:
            notes[row_of].append(f"{name} {' '.join(ends)}: {row['conn_state']} {history}: {what}: Zeek {zeek}, netobs {netobs}")


def main():
    netobsd, btest = sys.argv[1:]
    total, notes = collections.Counter(), {"established": [], "retransmitted": []}
    records, seen = {}, set()
    for capture, log in tests_of(btest):
        for ends, row in connections_of(log):
            if (capture, ends) in seen:
                continue
            seen.add((capture, ends))
            if capture not in records:
                records[capture] = replay(netobsd, capture)
            compare(os.path.basename(capture), ends, row, records[capture], total, notes)
    print("1..3")
    print(f"{'ok' if seen else 'not ok'} 1 - there are connections\n# {len(records)} captures, {len(seen)} connections")
    for number, what in enumerate(notes, 2):
        print(f"{'not ok' if notes[what] else 'ok'} {number} - {what}")
        print(f"# {total[what, 'alike']} of {total[what, 'compared']} alike")
        for (row_of, reason), count in sorted(total.items()):
            if row_of == what and reason not in ("compared", "alike"):
                print(f"# {count} explained: {reason}")
        for note in notes[what]:
            print(f"# {note}")
    return 1 if not seen or any(notes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
