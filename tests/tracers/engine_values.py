#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""engine_values.py TRACE EVENTS FRAMES: compares what bpftrace has printed of netobs_engine during a replay with the events
that netobsd has printed of its provider netobs, and with the number of frames.

Writes a line for each claim: "true" or "false", and the claim.
"""
import json
import sys


def claim(good, what):
    print(str(bool(good)).lower(), what)


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
    claim(starts and len(starts) == len(ends), "batch-start as often as batch-done")
    claim({row[0] for row in starts + ends} == {0}, "worker 0")
    claim(sum(row[1] for row in starts) == sum(row[1] for row in ends) == frames, "the frames of all batches")
    claim(starts[0][2] == packets[0]["pkt_ts"], "batch-start: the time stamp of the first frame")
    claim(sum(row[2] for row in ends) == sum(packet["pkt_len"] for packet in packets), "batch-done: bytes on the wire")
    claim(sum(row[3] for row in ends) == frames, "batch-done: all frames took the slow path")
    claim(all(row[4] == 0 for row in ends), "batch-done: no lag in a capture")
    claim(all(0 < row[5] < 60e9 for row in ends), "batch-done: the batch took time")
    claim(seen["slow"] == [(1, 0, packet["pkt_len"]) for packet in packets],
          "slow-path: each frame, because a probe reads packets, with its length, and no interface")
    claim(is_nested([row for row in rows if row[0] in ("enter", "leave")]), "a packet leaves the layers that it enters")
    claim({row[0] for row in seen["enter"] if row[1] == 1} == {packet["pkt_addr"] for packet in packets},
          "layer-enter: every packet enters the network layer, with its id")
    claim({row[1] for row in seen["enter"]} == {1, 2, 3, 4}, "layer-enter: four layers")
    born = dict(seen["born"])
    claim(len(born) == len(seen["born"]) == len(set(born.values())), "flow-born: once for each connection")
    found = dict(seen["found"])
    claim(not set(born) & set(found), "a packet has flow-born or flow-found")
    claim({**born, **found} == senders, "flow-born, flow-found: the id of each packet, and the connection id of its sender")


KINDS = ("start", "done", "slow", "enter", "leave", "born", "found")
main()
