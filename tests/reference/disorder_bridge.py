#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""disorder_bridge.py SEED LOSS DEVICE DEVICE READY: a bridge between two interfaces that is slow, and brings TCP out of order.

Each frame takes 2 ms.  Of a thousand TCP frames LOSS are lost, 60 take up to 8 ms longer, so that later ones overtake them,
15 take 250 to 400 ms longer, after a retransmission, and 30 arrive twice.  Touches READY when bridging; ends at SIGTERM."""
import heapq
import pathlib
import random
import selectors
import socket
import sys
import time

EVERY_PROTOCOL = 3  # ETH_P_ALL
DELAY = 0.002


def is_tcp(frame):
    if frame[12:14] == b"\x08\x00":
        return frame[23] == 6
    return frame[12:14] == b"\x86\xdd" and frame[20] == 6


def arrivals(choice, loss, frame):
    """How much later each copy of a frame arrives."""
    if not is_tcp(frame):
        return [DELAY]
    fate = choice.randrange(1000)
    late = DELAY
    if fate < loss:
        return []
    if fate >= 985:
        late += choice.uniform(0.25, 0.4)
    elif fate >= 925:
        late += choice.uniform(0.0005, 0.008)
    return [late, late + choice.uniform(0, 0.3)] if choice.randrange(1000) < 30 else [late]


def main():
    seed, loss, *names, ready = sys.argv[1:]
    choice = random.Random(int(seed))
    selector = selectors.DefaultSelector()
    ends = []
    for name in names:
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        end.bind((name, EVERY_PROTOCOL))
        end.setblocking(False)
        ends.append(end)
    for index, end in enumerate(ends):
        selector.register(end, selectors.EVENT_READ, index)
    pathlib.Path(ready).touch()
    waiting, number = [], 0
    while True:
        timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for key, _ in selector.select(timeout):
            try:
                while True:
                    frame, address = key.fileobj.recvfrom(65536)
                    if address[2] == socket.PACKET_OUTGOING:
                        continue
                    now = time.monotonic()
                    for late in arrivals(choice, int(loss), frame):
                        number += 1  # two frames of one time stay in order
                        heapq.heappush(waiting, (now + late, number, 1 - key.data, frame))
            except BlockingIOError:
                pass
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(waiting)
            ends[to].send(frame)


if __name__ == "__main__":
    main()
