#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Replays every capture twice with --print --format json and prints TAP.

usage: json_lines.py NETOBSD OWN_CAPTURES SHARED_CAPTURES

SHARED_CAPTURES/INDEX.tsv has libpcap's result for each file, which decides the exit status: 1 if it cannot be opened or
its link type is not supported, 2 if it ends early, else 0.  netobs reads what libpcap does not: snoop, and pcapng files
whose interfaces differ; 0 for them.  The project's own captures have no index; any of the three is right for them.
"""

import csv
import hashlib
import json
import os
import subprocess
import sys

SUPPORTED_LINKS = {"EN10MB", "LINUX_SLL", "LINUX_SLL2", "NULL", "LOOP", "RAW", "IPV4", "IPV6", "PPP", "PPP_SERIAL",
                   "C_HDLC", "FRELAY", "NFLOG", "IPNET", "IPOIB", "IEEE802_11_RADIO"}
SECONDS = 300
MAX_ARGS = 6  # the limit of D and bpftrace


def expected_status(row):
    status = row["libpcap_status"]
    if row["format"] == "snoop" or "different from the" in status:
        return 0
    if status.startswith("OPENFAIL") or row["dlt_libpcap"] not in SUPPORTED_LINKS:
        return 1
    return 2 if status.startswith("READERR") else 0


def reject_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a name occurs twice in one object")
    return dict(pairs)


def reject_constant(word):
    raise ValueError(f"{word} is not JSON")


DECODER = json.JSONDecoder(object_pairs_hook=reject_duplicates, parse_constant=reject_constant)


def texts_never_empty(netobsd):
    """{probe: the names of the text fields of each argument whose comment in netobs.h does not contain two quotes}.
    DTrace loses the firing if such a field is empty."""
    run = subprocess.run([netobsd, "--list-probes", "--format", "json"], stdout=subprocess.PIPE, check=True)
    manifest = json.loads(run.stdout)
    fields = {struct["name"] + "_t *": {field["name"] for field in struct["fields"]
                                        if field["type"].startswith("char[") and '""' not in field["doc"]}
              for struct in manifest["structs"]}
    return {probe["name"]: [fields.get(kind, set()) for kind in probe["args"]] for probe in manifest["probes"]}


def check_line(line, never_empty):
    """Raises ValueError if the line is not one firing as the manual describes it."""
    firing = DECODER.decode(line.decode("utf-8"))
    if not isinstance(firing, dict) or set(firing) != {"probe", "args"}:
        raise ValueError("not an object of probe and args")
    if not isinstance(firing["probe"], str) or "__" in firing["probe"]:
        raise ValueError("probe is not a name with dashes")
    args = firing["args"]
    if not isinstance(args, list) or not 1 <= len(args) <= MAX_ARGS:
        raise ValueError("args is not a list of one to six")
    if not all(arg is None or isinstance(arg, dict) for arg in args):
        raise ValueError("an argument is neither an object nor null")
    if len(args) > len(never_empty.get(firing["probe"], [])):
        raise ValueError("the probe is unknown, or has fewer arguments")
    for arg, names in zip(args, never_empty[firing["probe"]]):
        for name in names.intersection(arg or {}):
            if arg[name] == "":
                raise ValueError(f'{name} is empty, and its comment in netobs.h does not contain ""')


def replay(netobsd, path, never_empty=None):
    """One run: (exit status, digest, number of lines, first fault or None, standard error).  The lines are checked if
    never_empty is given."""
    fault, lines, digest = None, 0, hashlib.sha256()
    with subprocess.Popen(
        ["timeout", str(SECONDS), netobsd, "-r", path, "--print", "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        for line in run.stdout:
            lines += 1
            digest.update(line)
            if never_empty is not None and fault is None:
                try:
                    check_line(line, never_empty)
                    if not line.endswith(b"\n"):
                        raise ValueError("the last line has no newline")
                except ValueError as error:
                    fault = f"line {lines}: {error}: {line[:200]!r}"
        err = run.stderr.read().decode("utf-8", "backslashreplace")
    return run.returncode, digest.hexdigest(), lines, fault, err


def check_capture(netobsd, path, wanted, never_empty):
    """The faults of this capture, a list."""
    status, digest, lines, fault, err = replay(netobsd, path, never_empty)
    wrong = [fault] if fault else []
    if status not in wanted:
        wrong.append(f"exit status {status}, wanted {' or '.join(map(str, sorted(wanted)))}")
    if status == 1 and lines > 0:
        wrong.append(f"{lines} firings of a run that could not start")
    if status in (1, 2) and not err.startswith("netobsd: "):
        wrong.append("no message on standard error")
    if status == 1 and err.count("\n") != 1:
        wrong.append("the message is not one line")
    again = replay(netobsd, path)
    if (status, digest) != again[:2]:
        wrong.append("a second run prints other bytes")
    return wrong + err.splitlines()[:20] if wrong else []


def cases(own, shared):
    """(name, path, statuses allowed) of every capture."""
    for folder, _, names in sorted(os.walk(own)):
        for name in sorted(names):
            if not name.endswith(".md"):
                path = os.path.join(folder, name)
                yield os.path.relpath(path, own), path, {0, 1, 2}
    index = os.path.join(shared, "INDEX.tsv")
    if os.path.exists(index):
        with open(index, encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t"):
                yield row["path"], os.path.join(shared, row["path"]), {expected_status(row)}
    else:
        yield "the shared captures", None, set()


def main():
    netobsd, own, shared = sys.argv[1:4]
    count = failed = 0
    never_empty = texts_never_empty(netobsd)
    for name, path, wanted in cases(own, shared):
        count += 1
        if path is None:
            print(f"ok {count} - {name} # SKIP {shared} is missing")
            continue
        wrong = check_capture(netobsd, path, wanted, never_empty)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {count} - {name}", flush=True)
        for fault in wrong:
            print(f"# {fault}", flush=True)
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
