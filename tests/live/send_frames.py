#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""send_frames.py IFACE SECONDS RATE: sends small UDP frames on IFACE, RATE a second, in bursts of a millisecond.

Prints the number of frames and the processor time of each in nanoseconds.
"""
import errno
import socket
import sys
import time


def main():
    interface, seconds, rate = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    ip = bytes.fromhex("45000020000140004011") + bytes.fromhex("2627") + bytes([10, 77, 0, 1, 10, 77, 0, 2])
    total = sum(int.from_bytes(ip[i:i + 2], "big") for i in range(0, 20, 2) if i != 10)
    total = (total & 0xffff) + (total >> 16)
    ip = ip[:10] + ((~total) & 0xffff).to_bytes(2, "big") + ip[12:]
    frame = b"\xff" * 6 + b"\x02\0\0\0\0\1" + b"\x08\0" + ip + bytes.fromhex("1388138900 0c0000".replace(" ", "")) + b"work"
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    wire.bind((interface, 0))
    burst, sent = max(rate // 1000, 1), 0
    begin, used = time.monotonic(), time.process_time()
    while (now := time.monotonic() - begin) < seconds:
        while sent < now * rate:
            for _ in range(burst):
                try:
                    wire.send(frame)
                except OSError as error:  # a full queue loses the frame, as a wire would
                    if error.errno in (errno.ENXIO, errno.ENETDOWN):  # the test is over
                        return
                    if error.errno != errno.ENOBUFS:
                        raise
            sent += burst
        time.sleep(0.0005)  # no event: the pace of the traffic
    print(sent, round((time.process_time() - used) / sent * 1e9))


main()
