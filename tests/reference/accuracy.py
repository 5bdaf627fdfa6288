# SPDX-License-Identifier: BSD-2-Clause
"""What truth.py, tshark_fields.py and tshark_retransmissions.py have in common: the capture files of a folder, and the
exact counts of the data that the source tree carries (accuracy.expected beside this file)."""
import gzip
import hashlib
import os

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
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "accuracy.expected")
    with open(path, encoding="ascii") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {row[1]: int(row[2]) for row in rows if row[0] == test}


def wrong_counts(test, counts):
    """Compares the counts of the shipped data with accuracy.expected.  Returns a line for every difference; a count
    that is missing on either side is one."""
    wanted = expected(test)
    return [f"{test} {name}: {counts.get(name, 'none')}, but accuracy.expected has {wanted.get(name, 'none')}"
            for name in sorted(set(wanted) | set(counts)) if counts.get(name) != wanted.get(name)]
