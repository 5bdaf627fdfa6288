#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""For netem.sh:

    netem.py serve PORTS READY ADDRESS...           sends as many bytes as a line asks for; touches READY when it listens
    netem.py fetch PORT ADDRESS...                  short and long transfers from PORT, from all ADDRESSes at once
    netem.py compare FOLDER ADDRESS...              compares what netobsd reports of the senders at these addresses with
                                                    the kernel's record; prints TAP points

FOLDER holds `cases` (PORT PLACE FAULT DROPS NAME in each line), the kernel's record (`kernel`), nstat's counters of the
sender for each case (nstat-PORT), and what netobsd has fired at the sender, in the middle and at the receiver (sender.json,
middle.json, receiver.json)."""
import collections
import json
import os
import pathlib
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ.get("top_srcdir", "."), "tests", "reference"))
import live_truth  # noqa: E402

SIZES = [8000] * 4 + [250000] * 2
POINTS = ("sender", "middle", "receiver")


# --- traffic ---

def serve_one(connection):
    with connection:
        connection.sendall(bytes(int(connection.makefile("rb").readline())))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def accept_all(listener):
    while True:
        threading.Thread(target=serve_one, args=(listener.accept()[0],), daemon=True).start()


def serve(ports, ready, *addresses):
    for port in ports.split(","):
        for address in addresses:
            listener = socket.create_server((address, int(port)), backlog=64,
                                            family=socket.AF_INET6 if ":" in address else socket.AF_INET)
            threading.Thread(target=accept_all, args=(listener,), daemon=True).start()
    pathlib.Path(ready).touch()
    threading.Event().wait()  # which nothing sets


def fetch_one(address, port, size):
    with socket.create_connection((address, port), timeout=60) as connection:
        connection.sendall(b"%d\n" % size)
        while size > 0 and (data := connection.recv(65536)):
            size -= len(data)
    assert size == 0


def fetch(port, *addresses):
    threads = [threading.Thread(target=fetch_one, args=(address, int(port), size))
               for address in addresses for size in SIZES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# --- comparison ---

def read_kernel(path, addresses):
    """Retransmissions of the senders: ends -> Counter of segments, timer, probe."""
    record = collections.defaultdict(collections.Counter)
    for _, name, fields, stack in live_truth.kernel_events(path):
        ends = live_truth.ends_of(fields)
        if name != "tcp_retransmit_skb" or ends[0] not in addresses or fields.get("err", "0") != "0":
            continue
        record[ends]["segments"] += 1
        if not stack:
            record[ends]["unknown"] += 1
        record[ends]["timer"] += "tcp_retransmit_timer" in stack
        record[ends]["probe"] += "tcp_send_loss_probe" in stack
    return record


def read_firings(path, addresses):
    """The same of netobsd, with the kinds."""
    record = collections.defaultdict(collections.Counter)
    with open(path, encoding="ascii") as lines:
        for line in lines:
            firing = json.loads(line)
            tcps, flags = firing["args"][3], firing["args"][4]["tcp_flags"]
            ends = (tcps["tcps_laddr"], str(tcps["tcps_lport"]), tcps["tcps_raddr"], str(tcps["tcps_rport"]))
            if ends[0] not in addresses:
                continue
            if flags & 2:
                record[ends]["syn-ack"] += firing["probe"] == "tcp-retransmit"
                record[ends]["syn-ack-timer"] += firing["probe"] == "tcp-timeout-retransmit"
            elif firing["probe"] == "tcp-timeout-retransmit":
                record[ends]["timer"] += 1
            else:
                kind = firing["args"][5]["tcpr_kindstr"]
                record[ends]["segments"] += 1
                record[ends][kind] += 1
                record[ends]["probe"] += kind == "tail-loss-probe"
    return record


def read_nstat(path):
    with open(path, encoding="ascii") as lines:
        words = [line.split() for line in lines if not line.startswith("#")]
    return collections.Counter({word[0].removeprefix("TcpExt").removeprefix("Tcp"): int(word[1]) for word in words})


def total(record, port, what):
    return sum(counts[what] for ends, counts in record.items() if ends[1] == port)


def difference(kernel, ours, port, what):
    """(retransmissions that only the kernel has, that only netobsd has, notes), endpoint by endpoint."""
    less = more = 0
    notes = []
    for ends in sorted({*kernel, *ours}):
        if ends[1] != port or kernel[ends][what] == ours[ends][what]:
            continue
        less += max(0, kernel[ends][what] - ours[ends][what])
        more += max(0, ours[ends][what] - kernel[ends][what])
        notes.append(f"{':'.join(ends[:2])} {':'.join(ends[2:])}: kernel {dict(kernel[ends])}, ours {dict(ours[ends])}")
    return less, more, notes


def point(good, text, notes=()):
    print(f"{'ok' if good else 'not ok'} - {text}")
    for note in notes:
        print(f"# {note}")


def compare_kinds(port, where, kernel, ours, nstat):
    """The kinds at a point where every frame of the sender is captured.  One in fifty may be wrong, because the kernel also
    decides by what no packet shows: its minimum round trip, its reordering estimate, when its timer was set."""
    segments, unknown = total(kernel, port, "segments"), total(kernel, port, "unknown")
    wrong, notes = 0, []
    for what in ("timer", "probe"):
        less, more, lines = difference(kernel, ours, port, what)
        # Data that the peer had acknowledged before is spurious to netobs, whatever made the kernel send it.
        wrong += max(less - total(ours, port, "spurious"), more - unknown, 0)
        notes += lines
    by_ack, fast = nstat["TCPFastRetrans"] + nstat["TCPSlowStartRetrans"], total(ours, port, "fast")
    notes.append(f"nstat: {dict(nstat)}, ours by ACKs {fast}")
    point(wrong + max(fast - by_ack, by_ack - fast - total(ours, port, "spurious"), 0) <= 1 + segments // 50,
          f"{where}: {total(kernel, port, 'timer')} by the timer, {total(kernel, port, 'probe')} tail-loss probes, "
          f"{by_ack} by ACKs; {wrong} reported otherwise", notes)
    # A tail-loss probe may also be new data.
    point(total(ours, port, "timer") + total(ours, port, "syn-ack-timer") <= nstat["TCPTimeouts"] + wrong and
          total(ours, port, "probe") <= nstat["TCPLossProbes"] + wrong, f"{where}: no more timers than nstat counts", notes)


def compare_case(port, place, fault, drops, name, kernel, ours, nstat):
    segments = total(kernel, port, "segments")
    for at in POINTS:
        where = f"{name}, at the {at}"
        less, more, notes = difference(kernel, ours[at], port, "segments")
        # After a loss, a retransmission is invisible if it was dropped itself, or if its first copy was and nothing
        # sent later arrived before it.
        whole = fault != "loss" or (place == "path" and at != "receiver")
        point(more == 0 and less <= (0 if whole else drops),
              f"{where}: kernel {segments} retransmissions, ours {total(ours[at], port, 'segments')}"
              f"{'' if whole else f', {drops} frames dropped before'}", notes)
        if whole and at == "sender":
            compare_kinds(port, where, kernel, ours[at], nstat)
            point(nstat["RetransSegs"] == segments + total(ours[at], port, "syn-ack"),
                  f"{where}: nstat counts {nstat['RetransSegs']}", [str(dict(nstat))])


def compare(folder, *addresses):
    kernel = read_kernel(os.path.join(folder, "kernel"), addresses)
    ours = {at: read_firings(os.path.join(folder, at + ".json"), addresses) for at in POINTS}
    lost = 0
    with open(os.path.join(folder, "cases"), encoding="ascii") as lines:
        for line in lines:
            port, place, fault, drops, name = line.split(maxsplit=4)
            compare_case(port, place, fault, int(drops), name.strip(), kernel, ours,
                         read_nstat(os.path.join(folder, "nstat-" + port)))
            lost += total(kernel, port, "segments") if fault == "loss" else 0
    point(lost > 20, f"{lost} retransmissions because of losses: something to compare")


if __name__ == "__main__":
    {"serve": serve, "fetch": fetch, "compare": compare}[sys.argv[1]](*sys.argv[2:])
