#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shared by truth.py, tshark_fields.py, tshark_records.py and tshark_retransmissions.py: the capture files of a folder,
the exact counts of the data that the source tree carries (accuracy.expected beside this file), and the rows of the
tables that state them (README.md and tests/reference/README.md).

    accuracy.py            prints each row of the tables that does not have the counts of accuracy.expected
    accuracy.py --accept   corrects these rows
"""
import collections
import gzip
import hashlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
NOT_CAPTURES = (".md", ".tsv", ".sh", ".py", ".bt")


def readable(path, scratch):
    """The path of the same capture without compression: libpcap and the test programs read no gzip."""
    if not path.endswith(".gz"):
        return path
    plain = os.path.join(scratch, hashlib.sha1(path.encode()).hexdigest() + ".pcap")
    if not os.path.exists(plain):
        with gzip.open(path, "rb") as packed, open(plain, "wb") as file:
            file.write(packed.read())
    return plain


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()


def captures(folder, scratch, known=()):
    """(name, readable path) of every capture below a folder, in order of the names.  A name is relative to the folder
    and without ".gz".  A capture whose content is among the digests `known` is left out."""
    found = {}
    for top, _, names in os.walk(folder):
        for name in names:
            if name.endswith(NOT_CAPTURES):
                continue
            path = os.path.join(top, name)
            plain = readable(path, scratch)
            if not known or digest(plain) not in known:
                found[os.path.relpath(path, folder).removesuffix(".gz")] = plain
    return sorted(found.items())


def expected(test):
    """Name -> value of the counts that accuracy.expected lists for a test."""
    with open(os.path.join(HERE, "accuracy.expected"), encoding="ascii") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {row[1]: int(row[2]) for row in rows if row[0] == test}


def wrong_counts(test, counts):
    """Compares the counts of the shipped data with accuracy.expected.  Returns a line for every difference; a count
    that is missing on either side is one."""
    wanted = expected(test)
    return [f"{test} {name}: {counts.get(name, 'none')}, but accuracy.expected has {wanted.get(name, 'none')}"
            for name in sorted(set(wanted) | set(counts)) if counts.get(name) != wanted.get(name)]


def accept_counts(test, counts):
    """Writes the counts of a test into accuracy.expected, in place of those that are there."""
    path = os.path.join(HERE, "accuracy.expected")
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(test + " ")), len(lines))
    others = [line for line in lines if not line.startswith(test + " ")]
    others[first:first] = [f"{test} {name} {counts[name]}" for name in sorted(counts)]
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(line + "\n" for line in others))


MAIN, OURS = "README.md", "tests/reference/README.md"
FIELDS, RETRANSMISSIONS = "| tshark, fields (4) |", "| tshark, retransmissions (5) |"
RECORDS = "| captures, connections |"


def cells(test, total):
    """The cells of the table of README.md after the first one, and those of the tables of tests/reference/README.md."""
    t = total
    if test == "tshark":
        right = f"{t['fields'] - t['differences']} of {t['fields']}"
        return (f"{t['packets']} packets | {right} | | {t['differences']} |",
                f"{t['captures']} captures, {t['packets']} packets | {right} fields | | {t['differences']} |")
    if test == "tshark_retransmissions":
        right, different = f"{t['agreed']} of {t['reported']}", f"{t['differences']} in {t['classes']} classes"
        return (f"{t['segments']} segments | | {right} agree | {different} |",
                f"{t['captures']} captures, {t['segments']} segments | | {right} alike | {different} |")
    if test == "tshark_records":
        return None, f"| {t['alike']} | {t['clients-alike']} of {t['clients']}"
    right = f"{t['transitions-right']} of {t['transitions-visible']}"
    again = f"{t['retransmissions-kernel'] - t['retransmissions-explained']} of {t['retransmissions-kernel']}"
    return (f"{t['endpoints']} endpoints | {right} | {again} | {t['retransmissions-explained']} |",) * 2


def table_rows():
    """The rows that accuracy.expected determines, for wrong_rows()."""
    truth = collections.Counter()
    for name, count in expected("truth").items():
        truth[name.split(":")[1]] += count
    main, ours = cells("truth", truth)
    beginning = "| the kernel, captures in the source tree (1) |"
    yield MAIN, beginning, 0, f"{beginning} {main}"
    beginning = "| the kernel, captures (1) |"
    yield OURS, beginning, 0, f"{beginning} in the source tree | {ours}"
    for test, beginning in (("tshark", FIELDS), ("tshark_retransmissions", RETRANSMISSIONS)):
        main, ours = cells(test, expected(test))
        yield MAIN, beginning, 0, f"{beginning} {main}"
        yield OURS, beginning, 0, f"{beginning} in the source tree | {ours}"
    total = expected("tshark_records")
    yield OURS, RECORDS, 2, (f"| {total['captures']}, {total['connections']} in the source tree "
                             f"{cells('tshark_records', total)[1]} with a SYN | {total['differences']} |")


def rows_with_shared(test, further):
    """The row with the sums of the shipped and of further captures."""
    total = collections.Counter(expected(test)) + collections.Counter(further)
    cell = cells(test, total)[1]
    if test == "tshark_records":
        row = f"| {total['captures']}, {total['connections']} with `$NETOBS_SHARED` {cell} | {total['differences']} |"
        return [(OURS, RECORDS, 3, row)]
    beginning = {"tshark": FIELDS, "tshark_retransmissions": RETRANSMISSIONS}[test]
    return [(OURS, beginning, 1, f"| | with `$NETOBS_SHARED` | {cell}")]


def wrong_rows(rows, accept=False):
    """Compares rows of tables with what they should be.  Each of `rows` is (file, beginning of a line, rows after that
    line, row).  Returns a line for every difference; with `accept` corrects the file instead."""
    wrong = []
    for name, beginning, after, row in rows:
        path = os.path.join(TOP, name)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        at = [i for i, line in enumerate(lines) if line.startswith(beginning)]
        if not at:
            wrong.append(f"{name} has no row that begins with {beginning}")
        elif lines[at[0] + after] != row and accept:
            lines[at[0] + after] = row
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
        elif lines[at[0] + after] != row:
            wrong.append(f"{name} should have the row: {row}")
    return wrong


if __name__ == "__main__":
    for fault in wrong_rows(table_rows(), sys.argv[1:] == ["--accept"]):
        print(fault)
