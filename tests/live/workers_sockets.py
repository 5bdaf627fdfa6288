#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Many connections for tests/live/workers.sh, and a check of the firings of several workers.

    workers_sockets.py serve ADDRESS PORT READY       echoes TCP connections until it is ended; touches READY
    workers_sockets.py connect ADDRESS PORT COUNT     COUNT whole TCP connections; the client closes first
    workers_sockets.py hold ADDRESS PORT COUNT READY  opens COUNT connections, touches READY, and keeps them until it is ended
    workers_sockets.py check WORKERS COUNTERS <JSON   every connection is whole and in one worker, every id and number
                                                      occurs once; the counts are those of the summary in the file COUNTERS
"""
import asyncio
import collections
import json
import pathlib
import socket
import sys

CLIENT = "closed syn-sent established fin-wait-1 fin-wait-2 time-wait".split()
SERVER = "listen syn-received established close-wait last-ack closed".split()


async def echo(reader, writer):
    while data := await reader.read(4096):
        writer.write(data)
        await writer.drain()
    # The kernel acknowledges the FIN now, in a segment before our own FIN.
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    writer.close()


async def serve(address, port, ready):
    server = await asyncio.start_server(echo, address, int(port), backlog=1000)
    pathlib.Path(ready).touch()
    async with server:
        await server.serve_forever()


async def converse(address, port, together):
    async with together:
        reader, writer = await asyncio.open_connection(address, int(port))
        for size in (10, 700):
            writer.write(b"x" * size)
            await reader.readexactly(size)
            await asyncio.sleep(0.1)  # no event: the pace of the traffic, in which netobsd finds the process
        writer.write_eof()
        if await reader.read(1) != b"":
            sys.exit("more than an echo")
        writer.close()


async def connect(address, port, count):
    together = asyncio.Semaphore(100)
    await asyncio.gather(*(converse(address, port, together) for _ in range(int(count))))


async def hold(address, port, count, ready):
    held = [await asyncio.open_connection(address, int(port)) for _ in range(int(count))]
    pathlib.Path(ready).touch()
    await asyncio.Event().wait()  # which nothing sets


def counters_of(path):
    with open(path, encoding="utf-8") as lines:
        words = (line.split() for line in lines)
        return {word[0]: int(word[1]) for word in words if len(word) == 2 and word[1].isdigit()}


class Check:
    """Checks firings one by one: which may occur only once, and in which order."""

    def __init__(self, workers):
        self.workers = workers
        self.numbers = collections.defaultdict(list)  # probe -> pkt_seq or cs_seq
        self.frames = collections.defaultdict(list)  # worker -> ids of frames
        self.states = {}  # cid -> ends, states
        self.apart = 0  # firings whose packet and connection have ids of different workers

    def check_firing(self, firing):
        probe, args = firing["probe"], firing["args"]
        packet, connection = args[0], args[1] if len(args) > 1 else None
        self.numbers[probe].append(packet["pkt_seq"] if packet is not None else connection["cs_seq"])
        if probe in ("gld-send", "gld-receive"):
            self.frames[(packet["pkt_addr"] - 1) % self.workers].append(packet["pkt_addr"])
        if packet is not None and connection is not None:
            self.apart += (packet["pkt_addr"] - 1 - (connection["cs_cid"] - 1) // 2) % self.workers != 0
        if probe == "tcp-state-change":
            before, after = args[2], args[3]
            ends = tuple(before["tcps_" + part] for part in ("laddr", "lport", "raddr", "rport"))
            known, states = self.states.setdefault(connection["cs_cid"], (ends, [before["tcps_statestr"]]))
            if known != ends or states[-1] != before["tcps_statestr"]:
                states.append("GAP")
            states.append(after["tcps_statestr"])

    def results(self, counters):
        dense = [probe for probe, numbers in self.numbers.items() if sorted(numbers) != list(range(1, len(numbers) + 1))]
        yield "sequence numbers with gaps or duplicates", dense
        yield "counts that differ from the summary", [
            probe for probe, numbers in self.numbers.items() if counters.get("probe." + probe) != len(numbers)]
        yield "workers without frames", [n for n in range(self.workers) if n not in self.frames]
        yield "frame ids that do not rise", [n for n, ids in self.frames.items() if any(a >= b for a, b in zip(ids, ids[1:]))]
        frames = [number for ids in self.frames.values() for number in ids]
        yield "duplicate frames", len(frames) - len(set(frames))
        yield "frames not reported, or not counted", counters["frames"] - len(frames)
        yield "firings whose packet and connection are of different workers", self.apart
        yield "connections with several ids", len(self.states) - len({ends for ends, _ in self.states.values()})
        expected = [["state-" + state for state in states] for states in (CLIENT, SERVER)]
        yield "unusual states", [states for _, states in self.states.values() if states not in expected]


def check(workers, path):
    checked, counters, bad = Check(int(workers)), counters_of(path), 0
    for line in sys.stdin:
        checked.check_firing(json.loads(line))
    for what, found in checked.results(counters):
        if found:
            bad = 1
            print(what + ":", str(found)[:500])
    print(len(checked.states), "connections")
    print(len(checked.numbers["tcp-receive"]), len(checked.numbers["tcp-send"]), "segments")
    sys.exit(bad)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(*sys.argv[2:])
    else:
        asyncio.run({"serve": serve, "connect": connect, "hold": hold}[sys.argv[1]](*sys.argv[2:]))
