#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether a D script prints what its bpftrace twin prints.

    tests/scripts/d_same.py SAMPLE <OUTPUT

SAMPLE is a file of scripts/examples, OUTPUT what DTrace printed.  The lines may be in another order, and a distribution has
the form of its tracer; prints the lines that differ, and fails, if there are any.
"""
import re
import sys

BPFTRACE_ROW = re.compile(r"[\[(]([^,\]]+)[^|]* (\d+) \|[@ ]*\|$")
D_ROW = re.compile(r" +(-?\d+) \|[@ ]* +(\d+)$")
D_HEADING = re.compile(r" +value +-+ Distribution -+ count$")


def in_units(number):
    """As bpftrace writes the lower end of a range."""
    for unit in ("", "K", "M", "G"):
        if number < 1024:
            break
        number //= 1024
    return "%d%s" % (number, unit)


def lines(text):
    """The lines, sorted; each row of a distribution, if it is not 0, as a line of its own with the name of the map."""
    result = []
    distribution = None
    for line in text.split("\n"):
        line = line.rstrip()
        row = distribution and (BPFTRACE_ROW.match(line) or D_ROW.match(line))
        if row:
            low = row[1] if line.startswith(("[", "(")) else in_units(int(row[1]))
            if row[2] != "0":
                result.append("%s %s %s" % (distribution, low, row[2]))
        elif line.startswith("@") and line.endswith(":"):
            distribution = line
        elif line and not D_HEADING.match(line):
            result.append(line)
    return sorted(result)


with open(sys.argv[1], encoding="utf-8") as sample:
    sample.readline()  # the command
    wanted = lines(sample.read())
found = lines(sys.stdin.read())
for line in wanted:
    if line in found:
        found.remove(line)
    else:
        print("- " + line)
        found.append(None)
for line in found:
    if line is not None:
        print("+ " + line)
sys.exit(1 if found else 0)
