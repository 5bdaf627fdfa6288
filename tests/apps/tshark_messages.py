# SPDX-License-Identifier: BSD-2-Clause
"""For the programs that compare the probes of an application protocol with tshark, message by message.

Their command line is

    PROGRAM NETOBSD [--explained FILE] CAPTURE...

They print each message that only one of the two has, and at the end the number of messages.  Exit status 1 if there is one that
FILE does not explain: a line of FILE is the capture's name, the number of differences, and the reason, separated by tabs.
"""
import json
import os
import subprocess
import sys

ENDS = ["ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport"]


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout


def tshark_frames(path, display, fields, *options):
    """Of each frame that the display filter shows: a dictionary of lists of values."""
    words = [word for field in fields for word in ("-e", field)]
    output = run(["tshark", "-r", path, "-Y", display, "-T", "json"] + words + list(options))
    return [frame["_source"]["layers"] for frame in json.loads(output or "[]")]


def first(frame, *fields):
    """The first value of the first field that the frame has, otherwise ''."""
    return next((frame[field][0] for field in fields if frame.get(field)), "")


def ends(frame):
    """(address, port) of the source and of the destination."""
    return ((first(frame, "ip.src", "ipv6.src"), int(first(frame, "tcp.srcport") or 0)),
            (first(frame, "ip.dst", "ipv6.dst"), int(first(frame, "tcp.dstport") or 0)))


def firings(netobsd, path, probes):
    output = run([netobsd, "--view=monitor", "-r", path, "--print=" + probes, "--format=json"])
    return [json.loads(line) for line in output.splitlines()]


def read_explained(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {row[0]: int(row[1]) for row in rows}


def main(compare):
    """compare(netobsd, path) returns the number of messages and a line for each difference."""
    arguments, explained = sys.argv[1:], {}
    netobsd = arguments.pop(0)
    if arguments[0] == "--explained":
        explained = read_explained(arguments[1])
        arguments = arguments[2:]
    total, captures, different, failed = 0, 0, 0, False
    for path in arguments:
        count, found = compare(netobsd, path)
        name = "/".join(path.split(os.sep)[-2:])
        total, captures, different = total + count, captures + (count > 0), different + len(found)
        if len(found) != explained.get(name, 0):
            failed = True
            print("%s: %d differences, %d are explained" % (name, len(found), explained.get(name, 0)))
            for line in found[:20]:
                print("  " + line)
    print("%d messages of %d captures are as tshark has them, but for %d that are explained" % (total, captures, different))
    sys.exit(failed or total == 0)
