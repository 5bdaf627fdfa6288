#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""engine_values.py TRACE EVENTS FRAMES: compares what bpftrace has printed of netobs_engine during a replay with the events
that netobsd has printed of its provider netobs, and with the number of frames.

Writes a point for each claim.
"""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from points import point  # noqa: E402


def is_nested(lines):
    """Whether each layer that is entered is left, the last one first, and nothing remains."""
    inside = []
    for kind, packet, layer in lines:
        if kind == "enter":
            inside.append((packet, layer))
        elif not inside or inside.pop() != (packet, layer):
            return False
    return not inside


def main():
    with open(sys.argv[1], encoding="utf-8") as trace:
        rows = [line.split() for line in trace]
    rows = [(row[0], *map(int, row[1:])) for row in rows if row and row[0] in KINDS and len(row) > 1]
    with open(sys.argv[2], encoding="utf-8") as events:
        printed = [json.loads(line) for line in events]
    frames = int(sys.argv[3])
    seen = {kind: [row[1:] for row in rows if row[0] == kind] for kind in KINDS}
    packets = [event["args"][0] for event in printed if event["probe"] == "gld-receive"]
    senders = {event["args"][0]["pkt_addr"]: event["args"][1]["cs_cid"]
               for event in printed if event["probe"] in ("tcp-send", "udp-send")}

    starts, ends = seen["start"], seen["done"]
    point("batch-start as often as batch-done", starts and len(starts) == len(ends))
    point("worker 0", {row[0] for row in starts + ends} == {0})
    point("the frames of all batches", sum(row[1] for row in starts) == sum(row[1] for row in ends) == frames)
    point("batch-start: the time stamp of the first frame", starts[0][2] == packets[0]["pkt_ts"])
    point("batch-done: bytes on the wire", sum(row[2] for row in ends) == sum(packet["pkt_len"] for packet in packets))
    point("batch-done: all frames took the slow path", sum(row[3] for row in ends) == frames)
    point("batch-done: no lag in a capture", all(row[4] == 0 for row in ends))
    point("batch-done: the batch took time", all(0 < row[5] < 60e9 for row in ends))
    point("slow-path: each frame, because a probe reads packets, with its length, and no interface",
          seen["slow"] == [(1, 0, packet["pkt_len"]) for packet in packets])
    point("a packet leaves the layers that it enters", is_nested([row for row in rows if row[0] in ("enter", "leave")]))
    point("layer-enter: every packet enters the network layer, with its id",
          {row[0] for row in seen["enter"] if row[1] == 1} == {packet["pkt_addr"] for packet in packets})
    point("layer-enter: four layers", {row[1] for row in seen["enter"]} == {1, 2, 3, 4})
    born = dict(seen["born"])
    point("flow-born: once for each connection", len(born) == len(seen["born"]) == len(set(born.values())))
    found = dict(seen["found"])
    point("a packet has flow-born or flow-found", not set(born) & set(found))
    point("flow-born, flow-found: the id of each packet, and the connection id of its sender",
          {**born, **found} == senders)


KINDS = ("start", "done", "slow", "enter", "leave", "born", "found")
main()
