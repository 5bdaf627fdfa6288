# SPDX-License-Identifier: BSD-2-Clause
"""Shared by truth.py, tshark_fields.py, tshark_records.py and tshark_retransmissions.py: the capture files of a folder,
the exact counts of the data that the source tree carries (accuracy.expected beside this file), and the rows of the
tables that state them (README.md and tests/reference/README.md)."""
import gzip
import hashlib
import os

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
    first = next(i for i, line in enumerate(lines) if line.startswith(test + " "))
    others = [line for line in lines if not line.startswith(test + " ")]
    others[first:first] = [f"{test} {name} {counts[name]}" for name in sorted(counts)]
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(line + "\n" for line in others))


def wrong_rows(rows, accept=False):
    """Compares rows of tables with what they should be.  Each of `rows` is (file, beginning of a line, rows behind that
    line, row).  Returns a line for every difference; with `accept` corrects the file instead."""
    wrong = []
    for name, beginning, behind, row in rows:
        path = os.path.join(TOP, name)
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        at = [i for i, line in enumerate(lines) if line.startswith(beginning)]
        if not at:
            wrong.append(f"{name} has no row that begins with {beginning}")
        elif lines[at[0] + behind] != row and accept:
            lines[at[0] + behind] = row
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
        elif lines[at[0] + behind] != row:
            wrong.append(f"{name} should have the row: {row}")
    return wrong
