#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Replays every capture of a folder twice with --print --format json and prints TAP.

usage: json_lines.py NETOBSD FOLDER

FOLDER/INDEX.tsv, if there is one, has libpcap's result for each file, which decides the exit status: 1 if it cannot be opened
or its link type is not supported, 2 if it ends early, else 0.  netobs reads what libpcap does not: snoop, and pcapng files
whose interfaces differ; 0 for them.  Without an index any of the three is right.
"""

import csv
import json
import os
import subprocess
import sys

SUPPORTED_LINKS = {"EN10MB", "LINUX_SLL", "LINUX_SLL2", "NULL", "LOOP", "RAW", "IPV4", "IPV6", "PPP", "PPP_SERIAL",
                   "C_HDLC", "FRELAY", "NFLOG", "IPNET", "IPOIB", "IEEE802_11_RADIO"}
MAX_ARGS = 6  # the limit of D and bpftrace


def expected_status(row):
    status = row["libpcap_status"]
    if row["format"] == "snoop" or "different from the" in status:
        return 0
    if status.startswith("OPENFAIL") or row["dlt_libpcap"] not in SUPPORTED_LINKS:
        return 1
    return 2 if status.startswith("READERR") else 0


def reject_constant(word):
    raise ValueError(f"{word} is not JSON")


def without_repetition(members):
    members_by_name = dict(members)
    if len(members_by_name) != len(members):
        raise ValueError("a name occurs twice in one object")
    return members_by_name


DECODER = json.JSONDecoder(parse_constant=reject_constant, object_pairs_hook=without_repetition)


def texts_never_empty(netobsd):
    """{probe: the names of the text fields of each argument whose comment in netobs.h does not contain two quotes}.
    DTrace loses the firing if such a field is empty."""
    run = subprocess.run([netobsd, "--list-probes", "--format", "json"], stdout=subprocess.PIPE, check=True)
    manifest = json.loads(run.stdout)
    fields = {struct["name"] + "_t *": [field["name"] for field in struct["fields"]
                                        if field["type"].startswith("char[") and '""' not in field["doc"]]
              for struct in manifest["structs"]}
    return {probe["name"]: [fields.get(kind, []) for kind in probe["args"]] for probe in manifest["probes"]}


def check_line(line, never_empty):
    """Raises ValueError if the line is not one firing as the manual describes it."""
    firing = DECODER.decode(line)
    if not isinstance(firing, dict) or set(firing) != {"probe", "args"}:
        raise ValueError("not an object of probe and args")
    probe, args = firing["probe"], firing["args"]
    if not isinstance(probe, str) or "__" in probe:
        raise ValueError("probe is not a name with dashes")
    if not isinstance(args, list) or not 1 <= len(args) <= MAX_ARGS:
        raise ValueError("args is not a list of one to six")
    texts = never_empty.get(probe, ())
    if len(args) > len(texts):
        raise ValueError("the probe is unknown, or has fewer arguments")
    for arg, never in zip(args, texts):
        if arg is None:
            continue
        if not isinstance(arg, dict):
            raise ValueError("an argument is neither an object nor null")
        if any(isinstance(value, (dict, list)) for value in arg.values()):
            raise ValueError("a value is an object or a list")
        for name in never:
            if arg.get(name) == "":
                raise ValueError(f'{name} is empty, and its comment in netobs.h does not contain ""')


def first_fault(output, never_empty):
    """The fault of the first line that has one, a list."""
    number, line = 0, ""
    try:
        lines = output.decode("utf-8").split("\n")
        if lines.pop() != "":
            return ["the last line has no newline"]
        for number, line in enumerate(lines, 1):
            check_line(line, never_empty)
    except ValueError as error:
        return [f"line {number}: {error}: {line[:200]}"]
    return []


def check_capture(netobsd, path, wanted, never_empty):
    """The exit status of a replay, and the faults of this capture, a list."""
    command = [netobsd, "-r", path, "--print", "--format", "json"]
    run, again = (subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False) for _ in (1, 2))
    err = run.stderr.decode("utf-8", "backslashreplace")
    wrong = first_fault(run.stdout, never_empty)
    if run.returncode not in wanted:
        wrong.append(f"exit status {run.returncode}, wanted {' or '.join(map(str, sorted(wanted)))}")
    if run.returncode == 1 and run.stdout:
        wrong.append("firings of a run that could not start")
    if run.returncode in (1, 2) and not err.startswith("netobsd: "):
        wrong.append("no message on standard error")
    if run.returncode == 1 and err.count("\n") != 1:
        wrong.append("the message is not one line")
    if (run.returncode, run.stdout) != (again.returncode, again.stdout):
        wrong.append("a second run prints other bytes")
    return run.returncode, wrong + err.splitlines()[:20] if wrong else []


def cases(folder):
    """(name, statuses allowed) of every capture, relative to the folder."""
    index = os.path.join(folder, "INDEX.tsv")
    if os.path.exists(index):
        with open(index, encoding="utf-8", newline="") as table:
            return [(row["path"], {expected_status(row)}) for row in csv.DictReader(table, delimiter="\t")]
    files = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names if not name.endswith(".md")]
    return [(os.path.relpath(path, folder), {0, 1, 2}) for path in sorted(files)]


def main():
    netobsd, folder = sys.argv[1:]
    never_empty = texts_never_empty(netobsd)
    captures, failed, read = cases(folder), False, 0
    for number, (name, wanted) in enumerate(captures, 1):
        status, wrong = check_capture(netobsd, os.path.join(folder, name), wanted, never_empty)
        read += status != 1
        failed = failed or bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}", flush=True)
        for fault in wrong:
            print(f"# {fault}", flush=True)
    few = read <= len(captures) // 2
    print(f"{'not ok' if few else 'ok'} {len(captures) + 1} - most captures are read\n1..{len(captures) + 1}")
    return 1 if failed or few else 0


if __name__ == "__main__":
    sys.exit(main())
