#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether a D script prints what is wanted of it.

    tests/scripts/d_same.py [--maps] WANTED <OUTPUT

WANTED is a file of scripts/examples, the output of bpftrace or of tests/scripts/scripts_truth.py; OUTPUT is what DTrace
printed.  The lines may be in another order, and a distribution has the form of its tracer; with --maps only aggregations
are compared.  Prints the lines that differ, and fails, if there are any or if WANTED has no lines.
"""
import re
import sys

BPFTRACE_ROW = re.compile(r"[\[(]([^,\])]+)[^ ]*(?: [^ |]*)? +(\d+)(?: \|[@ ]*\|)?$")
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
        elif line and not D_HEADING.match(line) and not line.startswith("$ netobs "):
            result.append(line)
    return sorted(result)


arguments = sys.argv[1:]
maps_only = "--maps" in arguments
if maps_only:
    arguments.remove("--maps")
with open(arguments[0], encoding="utf-8") as file:
    wanted = lines(file.read())
found = lines(sys.stdin.read())
if maps_only:
    wanted, found = ([line for line in some if line.startswith("@")] for some in (wanted, found))
differences = [] if wanted else [arguments[0] + " has no line to compare"]
for line in wanted:
    if line in found:
        found.remove(line)
    else:
        differences.append("- " + line)
differences += ["+ " + line for line in found]
print("\n".join(differences), end="\n" if differences else "")
sys.exit(1 if differences else 0)
