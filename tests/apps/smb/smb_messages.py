#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the smb probes with tshark, message by message.

    smb_messages.py NETOBSD [--explained FILE] CAPTURE...

tests/apps/tshark_messages.py says what it prints.  Of each connection: command, message id and status of each request and final
response; the number of encrypted messages; the latency, within a microsecond, where tshark has that of a frame with one message.
"""
import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))
from tshark_messages import ENDS, ends, firings, main, tshark_frames  # noqa: E402  # pylint: disable=wrong-import-position

FIELDS = ENDS + ["smb2.cmd", "smb2.msg_id", "smb2.nt_status", "smb2.flags.response", "smb2.header.transform.msg_size", "smb2.time"]
PENDING, ENCRYPTED = 0x103, 65535


def of_tshark(path):
    """(client, message, latency or None) of each message."""
    for frame in tshark_frames(path, "smb2", FIELDS, "-o", "tcp.desegment_tcp_streams:TRUE"):
        source, destination = ends(frame)
        client = destination if source[1] in (139, 445) else source
        for _ in frame.get("smb2.header.transform.msg_size", []):
            yield client, (ENCRYPTED, source == client), None
        statuses = [int(status, 0) for status in frame.get("smb2.nt_status", [])]
        responses = [value in ("1", "True") for value in frame.get("smb2.flags.response", [])]
        commands = frame.get("smb2.cmd", [])
        for number, code in enumerate(commands):
            mid = int(frame["smb2.msg_id"][number], 0)
            status = statuses.pop(0) if responses[number] and statuses else None
            if not responses[number]:
                yield client, (int(code), mid, None), None
            elif status != PENDING and mid != 2 ** 64 - 1:
                times = frame.get("smb2.time", [])
                yield client, (int(code), mid, status), float(times[0]) * 1e6 if len(commands) == len(times) == 1 else None


def of_netobsd(netobsd, path):
    for firing in firings(netobsd, path, "smb-*"):
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


main(compare)
