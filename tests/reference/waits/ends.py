#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ends.py server|client ADDRESS NAME...: one end of the connections of plays.py, which keeps a record by its own clock.

Writes a line of JSON for each connection: its ports, what the program did and when (CLOCK_REALTIME, microseconds; for
received data also when the kernel received the last byte), and the kernel's TCP_INFO of the socket before it closes.
The server prints "ready" first, and ends when its standard input does.
"""
import array
import fcntl
import json
import os
import socket
import struct
import sys
import termios
import threading
import time

import plays

SO_TIMESTAMPNS = 35
TCP_INFO_FIELDS = {"rtt": ("I", 68), "min_rtt": ("I", 148), "retransmissions": ("I", 100), "busy": ("Q", 168),
                   "window": ("Q", 176), "buffer": ("Q", 184)}
BLOCKED_US = 300  # a call that takes longer has waited
PRIORITY = os.sched_param(10)


def now_us():
    """The program's clock."""
    return time.time_ns() // 1000


def wait(ms):
    """The program takes its time."""
    if ms > 0:
        time.sleep(ms / 1000)  # no event: this time is what is measured


class End:
    """A socket that plays its part."""

    def __init__(self, sock, play):
        self.sock, self.play, self.events = sock, play, []
        self.ports = sock.getsockname()[1], sock.getpeername()[1]
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(60)

    def note(self, what, *times):
        """What the program did."""
        self.events.append([what, *times])

    def send(self, size):
        """Sends so many bytes."""
        data, begin = bytes(size), now_us()
        self.sock.sendall(data)
        self.note("send", begin, now_us(), size)

    def read(self, most):
        """Reads; returns the number of bytes and when the kernel received the last one.  What ends a wait in the middle
        of a transfer may be a segment that was lost, and older ones after it: then the program's clock has it."""
        begin = now_us()
        data, extra, _, _ = self.sock.recvmsg(most, 64)
        end = stamp = now_us()
        for level, kind, value in extra:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack("qq", value[:16])
                stamp = seconds * 10**6 + nanoseconds // 1000
        return len(data), end if stamp < begin < end - BLOCKED_US else stamp

    def receive(self, size, step=1 << 20, pause=0):
        """Receives so many bytes, at most `step` at once, and waits after each step."""
        rest, stamp, begin = size, 0, now_us()
        while rest:
            count, received = self.read(min(rest, step))
            if not count:
                raise EOFError
            rest, stamp = rest - count, max(stamp, received)
            if rest:
                wait(pause)
        self.note("receive", begin, stamp, size)

    def settle(self):
        """All that was sent is acknowledged, or the peer is gone; then TCP_INFO."""
        queued, patience = array.array("i", [1]), time.monotonic() + 30
        while queued[0] and time.monotonic() < patience:
            fcntl.ioctl(self.sock, termios.TIOCOUTQ, queued)
            wait(queued[0] and 0.5)
        data = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return {name: struct.unpack_from(code, data, at)[0] for name, (code, at) in TCP_INFO_FIELDS.items()}

    def run(self, words):
        """Plays, and closes; returns the record."""
        info = None
        for word in words:
            numbers = [int(number) for number in word[1:].split(":") if number]
            if word[0] == "s":
                self.send(*numbers)
            elif word[0] == "r":
                self.receive(*numbers)
            elif word[0] == "w":
                wait(*numbers)
            elif word[0] == "d":  # dribbles: bytes, steps, pause
                for _ in range(numbers[1]):
                    self.send(numbers[0])
                    wait(numbers[2])
            elif word[0] == "f":  # half close
                info = self.settle()
                self.note("close", now_us())
                self.sock.shutdown(socket.SHUT_WR)
            elif word[0] == "e":  # until the peer closes
                while self.read(1 << 20)[0]:
                    pass
            elif word[0] == "x":  # RST
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        info = info or self.settle()
        self.note("close", now_us())
        record = {"play": self.play, "ports": self.ports, "events": self.events, "tcp_info": info}
        self.sock.close()
        return record


def prepare(sock, words, congestion):
    """The options of the socket, before it has a connection."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
    for word in words:
        if word[0] == "b":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(word[1:]))
        elif word[0] == "k":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(word[1:]))


def put(record):
    """A line, in one piece."""
    os.write(1, (json.dumps(record) + "\n").encode())


def serve(listener, name):
    """One connection."""
    sock, _ = listener.accept()
    try:
        end = End(sock, name)
        end.note("connect", now_us(), now_us())
        put({"end": "server"} | end.run(plays.PLAYS[name].server))
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)


def connect(address, name, number):
    """One connection, a little after the one before."""
    play = plays.PLAYS[name]
    sock = socket.socket()
    prepare(sock, play.client, play.congestion)
    wait(number * plays.APART_MS)
    try:
        begin = now_us()
        sock.connect((address, play.port))
        end = End(sock, name)
        end.note("connect", begin, now_us())
        put({"end": "client"} | end.run(play.client))
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)


def main():
    """The command line."""
    end, address, *names = sys.argv[1:]
    threads = []
    for number, name in enumerate(names):
        if end == "server":
            listener = socket.socket()
            prepare(listener, plays.PLAYS[name].server, plays.PLAYS[name].congestion)
            listener.bind((address, plays.PLAYS[name].port))
            listener.listen(4)
            threads.append(threading.Thread(target=serve, args=(listener, name), daemon=True))
        else:
            threads.append(threading.Thread(target=connect, args=(address, name, number), daemon=True))
    os.sched_setscheduler(0, os.SCHED_FIFO, PRIORITY)
    for thread in threads:
        thread.start()
    if end == "server":
        print("ready", flush=True)
        sys.stdin.read()
    for thread in threads:
        thread.join(60)


if __name__ == "__main__":
    main()
