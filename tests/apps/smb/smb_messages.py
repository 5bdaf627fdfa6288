#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the smb probes with tshark, message by message.

    smb_messages.py NETOBSD [--explained FILE] CAPTURE...

Of each connection: command, message id, session, and status of each request and final response; the number of encrypted messages;
path and latency, within a microsecond, where tshark says them of a frame with one message.  Prints each message that only one of
the two has, and at the end the number of messages.  Exit status 1 if there is one that FILE does not explain: a line of FILE is the
capture's name, the number of differences, and the reason.
"""
import collections
import json
import os
import subprocess
import sys

FIELDS = ["ip.src", "ipv6.src", "tcp.srcport", "ip.dst", "ipv6.dst", "tcp.dstport", "smb2.cmd", "smb2.msg_id", "smb2.sesid",
          "smb2.nt_status", "smb2.flags.response", "smb2.header.transform.msg_size", "smb2.time"]
PENDING, ENCRYPTED = 0x103, 65535


def first(layers, *fields):
    return next((layers[field][0] for field in fields if layers.get(field)), "")


def of_tshark(path):
    """(client, message, latency or None) of each message."""
    command = ["tshark", "-r", path, "-Y", "smb2", "-T", "json", "-o", "tcp.desegment_tcp_streams:TRUE"]
    for field in FIELDS:
        command += ["-e", field]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    for frame in json.loads(output or "[]"):
        layers = frame["_source"]["layers"]
        source = (first(layers, "ip.src", "ipv6.src"), int(first(layers, "tcp.srcport") or 0))
        destination = (first(layers, "ip.dst", "ipv6.dst"), int(first(layers, "tcp.dstport") or 0))
        client = destination if source[1] in (139, 445) else source
        for _ in layers.get("smb2.header.transform.msg_size", []):
            yield client, (ENCRYPTED, source == client), None
        statuses = [int(status, 0) for status in layers.get("smb2.nt_status", [])]
        responses = [value in ("1", "True") for value in layers.get("smb2.flags.response", [])]
        commands = layers.get("smb2.cmd", [])
        for number, code in enumerate(commands):
            mid = int(layers["smb2.msg_id"][number], 0)
            status = statuses.pop(0) if responses[number] and statuses else None
            if not responses[number]:
                yield client, (int(code), mid, None), None
            elif status != PENDING and mid != 2 ** 64 - 1:
                times = layers.get("smb2.time", [])
                yield client, (int(code), mid, status), float(times[0]) * 1e6 if len(commands) == len(times) == 1 else None


def of_netobsd(netobsd, path):
    output = subprocess.run([netobsd, "--view=monitor", "-r", path, "--print=smb-*", "--format=json"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=False).stdout
    for line in output.splitlines():
        firing = json.loads(line)
        ci, soi = firing["args"]
        client, start = (ci["ci_remote"], ci["ci_rport"]), firing["probe"] == "smb-op-start"
        if soi["soi_encrypted"]:
            yield client, (ENCRYPTED, start), None
        else:
            yield client, (soi["soi_op"], soi["soi_mid"], None if start else soi["soi_status"]), soi["soi_latency_us"]


def compare(netobsd, path):
    theirs, ours = list(of_tshark(path)), list(of_netobsd(netobsd, path))
    counts = [collections.Counter(message[:2] for message in messages) for messages in (theirs, ours)]
    found = ["only tshark: %s" % (message,) for message in (counts[0] - counts[1]).elements()]
    found += ["only netobsd: %s" % (message,) for message in (counts[1] - counts[0]).elements()]
    latencies = {message[:2]: message[2] for message in ours}
    for client, message, latency in theirs:
        mine = latencies.get((client, message))
        if latency is not None and mine is not None and abs(latency - mine) > 1.5:
            found.append("latency of %s: tshark %d, netobsd %d" % ((client, message), latency, mine))
    return len(theirs), found


def read_explained(path):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {row[0]: int(row[1]) for row in rows}


def main():
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


main()
