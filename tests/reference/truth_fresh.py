#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""truth_fresh.py RECORD FOLDER CONNECTIONS OFFLOADS NEAR4 NEAR6 FAR4 FAR6: writes FOLDER/truth.tsv, FOLDER/a.pcap and
FOLDER/b.pcap.  Fails if the record has fewer endpoints than CONNECTIONS have.

RECORD holds the kernel's record (kernel), the time of its end (stopped), and the captures of the near host (a.pcap) and
of the far host (b.pcap).  Frames after the end of the kernel's record are left out.  Without offloads
each retransmission is one frame, and truth.tsv has the columns of the kinds for each endpoint of which the kernel
recorded the stack of every retransmission."""
import os
import struct
import sys

sys.dont_write_bytecode = True
import live_truth  # noqa: E402

HEADER = struct.Struct("<IHHiIII")
RECORD = struct.Struct("<IIII")
MICROSECONDS = 0xa1b2c3d4


def copy_until(source, target, end_ns):
    """Copies the frames of a capture up to a time.  Returns how many."""
    frames = 0
    with open(source, "rb") as old, open(target, "wb") as new:
        header = old.read(HEADER.size)
        if HEADER.unpack(header)[0] != MICROSECONDS:
            sys.exit(f"{source} is not a capture of this machine's tcpdump")
        new.write(header)
        while len(record := old.read(RECORD.size)) == RECORD.size:
            seconds, microseconds, length, _ = RECORD.unpack(record)
            data = old.read(length)
            if seconds * 10**9 + microseconds * 1000 <= end_ns:
                new.write(record + data)
                frames += 1
    return frames


def kinds_of(timers):
    """The column of the kinds, or None if the cause of a retransmission is unknown."""
    if timers["unknown"]:
        return None
    kinds = {"fast": timers["known"] - timers["timeout"] - timers["probe"], "probe": timers["probe"],
             "syn": timers["syn"], "timeout": timers["timeout"]}
    return ",".join(f"{kind}={count}" for kind, count in kinds.items() if count)


def rows_of(kernel, near, offloads):
    for ends, connections in sorted(kernel.items()):
        for end in connections:
            count = str(len(end.retransmissions))
            row = ["a" if ends[0] in near else "b", *ends, ",".join(end.states), count]
            kinds = kinds_of(end.timers)
            if not offloads:
                row += [count] if kinds is None else [count, kinds, kinds]
            yield row


def main():
    record, folder, connections, offloads, *addresses = sys.argv[1:]
    with open(os.path.join(record, "stopped"), encoding="ascii") as file:
        monotonic, real = (int(word) for word in file.read().split())
    kernel = live_truth.read_kernel(os.path.join(record, "kernel"), addresses, monotonic)
    rows = list(rows_of(kernel, addresses[:2], offloads != "0"))
    with open(os.path.join(folder, "truth.tsv"), "w", encoding="ascii") as file:
        print("#capture\tladdr\tlport\traddr\trport\tkernel_states\tkernel_retransmits\tsegments\tkinds\tkinds_segments",
              file=file)
        for row in rows:
            print("\t".join(row), file=file)
    frames = [copy_until(os.path.join(record, name), os.path.join(folder, name), real) for name in ("a.pcap", "b.pcap")]
    print(f"{len(rows)} endpoints, {frames[0]} and {frames[1]} frames")
    return 0 if len(rows) >= 2 * int(connections) and all(frames) else 1


if __name__ == "__main__":
    sys.exit(main())
