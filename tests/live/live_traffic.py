#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real sockets of every kind for tests/reference/live_truth.sh and truth_fresh.sh.

    live_traffic.py serve ADDRESS4 ADDRESS6 READY               serves until it is killed; touches READY when it listens
    live_traffic.py connect ADDRESS4 ADDRESS6 SEED CONNECTIONS  CONNECTIONS short web-like connections, and of each other
                                                                kind one for every fifty of them, at the same time
    live_traffic.py once ADDRESS4 PORT                          one short connection

What a connection does is drawn from SEED; what the network does to it is not.  Errors are part of the traffic."""
import pathlib
import random
import socket
import struct
import sys
import threading
import time

WEB, BULK, RESET, STUCK, HALF, IDLE, WARM_UP, ODD, FAST_OPEN, CROWDED = range(7001, 7011)
CLOSED = 7998    # no socket listens
FILTERED = 7999  # the router drops it
WORKERS = 24
FAST_OPEN_OPTION = 23  # TCP_FASTOPEN, which socket has since Python 3.12


def reset_on_close(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def read_all(connection):
    while connection.recv(65536):
        pass


# --- the server's side ---

def serve_web(connection):
    """One request in one line: how many bytes, and who closes first."""
    size, first = connection.makefile("rb").readline().split()
    connection.sendall(b"w" * int(size))
    if first == b"client":
        read_all(connection)


def serve_bulk(connection):
    direction, size = connection.makefile("rb").readline().split()
    if direction == b"down":
        connection.sendall(bytes(int(size)))
    else:
        connection.sendall(b"!")
        read_all(connection)


def serve_reset(connection):
    connection.recv(100)
    reset_on_close(connection)


def serve_stuck(connection):
    """The window closes, and opens again."""
    time.sleep(1.5)  # no event: the pace of the traffic
    read_all(connection)


def serve_half(connection):
    """Continues to send after the other side has closed its half."""
    read_all(connection)
    connection.sendall(b"h" * 60000)


def serve_idle(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    read_all(connection)


def serve_odd(connection):
    """One close of an unusual kind, which the first line names."""
    kind = connection.recv(8)[:8].strip()
    if kind == b"unread":  # the rest of the request is not read: close() sends a RST
        return
    if kind == b"both":  # both close at nearly the same time
        time.sleep(0.05)  # no event: the pace of the traffic
    elif kind == b"deaf":  # the client closes while it is sent to
        for _ in range(20):
            connection.sendall(b"d" * 3000)
            time.sleep(0.01)  # no event: the pace of the traffic
    elif kind == b"abort":  # a RST after the client's FIN
        read_all(connection)
        connection.sendall(b"a" * 5000)
        reset_on_close(connection)
    elif kind == b"orphan":  # FIN-WAIT-2 without an owner, which ends by itself
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_LINGER2, 1)


SERVERS = {WEB: serve_web, BULK: serve_bulk, RESET: serve_reset, STUCK: serve_stuck, HALF: serve_half,
           IDLE: serve_idle, WARM_UP: serve_web, ODD: serve_odd, FAST_OPEN: serve_web, CROWDED: serve_web}


def serve_one(serving, connection):
    with connection:
        connection.settimeout(60)
        try:
            serving(connection)
        except (OSError, ValueError):
            pass


def accept_all(listener, port, serving):
    while True:
        if port == CROWDED:
            time.sleep(0.7)  # no event: the pace of the traffic
        connection, _ = listener.accept()
        threading.Thread(target=serve_one, args=(serving, connection), daemon=True).start()


def serve(address4, address6, ready):
    for family, address in ((socket.AF_INET, address4), (socket.AF_INET6, address6)):
        for port, serving in SERVERS.items():
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if port == STUCK:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            if port == FAST_OPEN:
                listener.setsockopt(socket.IPPROTO_TCP, FAST_OPEN_OPTION, 100)
            listener.bind((address, port))
            listener.listen(1 if port == CROWDED else 1024)
            threading.Thread(target=accept_all, args=(listener, port, serving), daemon=True).start()
    pathlib.Path(ready).touch()
    threading.Event().wait()  # which nothing sets


# --- the client's side ---

def web(choice, connection):
    first = choice.choice(["client", "server"])
    size = choice.randrange(1, 12000)
    connection.sendall(b"%d %s\n" % (size, first.encode()))
    while size > 0 and (data := connection.recv(65536)):
        size -= len(data)
    if first == "server":
        read_all(connection)


def bulk(choice, connection):
    size = choice.randrange(200_000, 1_500_000)
    direction = choice.choice(["down", "up"])
    connection.sendall(b"%s %d\n" % (direction.encode(), size))
    if direction == "down":
        read_all(connection)
    else:
        connection.recv(1)
        connection.sendall(bytes(size))


def reset(choice, connection):
    connection.sendall(b"go away\n")
    if choice.random() < 0.5:
        reset_on_close(connection)
    else:
        connection.recv(10)


def stuck(_, connection):
    connection.sendall(b"s" * 200000)


def half(_, connection):
    connection.sendall(b"h" * 3000)
    connection.shutdown(socket.SHUT_WR)
    read_all(connection)


def idle(_, connection):
    time.sleep(2.7)  # no event: the pace of the traffic
    connection.sendall(b"still here")


def odd(choice, connection):
    kind = choice.choice([b"unread", b"both", b"deaf", b"abort", b"orphan"])
    connection.sendall(kind.ljust(8))
    if kind == b"unread":
        connection.sendall(b"u" * choice.randrange(1, 20000))
        read_all(connection)
    elif kind == b"both":
        time.sleep(0.05)  # no event: the pace of the traffic
    elif kind == b"deaf":
        connection.recv(100)
    elif kind == b"abort":
        connection.shutdown(socket.SHUT_WR)
        read_all(connection)
    elif kind == b"orphan":
        time.sleep(choice.choice([0.2, 2.5]))  # no event: the pace of the traffic
        connection.sendall(b"o")


def fast_open(choice, connection, address):
    """The request is in the SYN, once the client has the server's cookie."""
    size = choice.randrange(1, 12000)
    connection.sendto(b"%d server\n" % size, socket.MSG_FASTOPEN, (address, FAST_OPEN))
    read_all(connection)


CLIENTS = {BULK: bulk, RESET: reset, STUCK: stuck, HALF: half, IDLE: idle, ODD: odd, FAST_OPEN: None, CROWDED: web,
           CLOSED: None, FILTERED: None}


def talk_one(choice, addresses, port, talking):
    address = choice.choices(addresses, (2, 1))[0]
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(2.5 if port == FILTERED else 20)
        try:
            if port == FAST_OPEN:
                fast_open(choice, connection, address)
                return
            connection.connect((address, port))
            talking(choice, connection)
        except OSError:
            pass


def connect(address4, address6, seed, connections):
    choice = random.Random(int(seed))
    addresses = (address4, address6)
    shares = [len(range(worker, int(connections), WORKERS)) for worker in range(WORKERS)]

    def work(own, count):
        for _ in range(count):
            talk_one(own, addresses, WEB, web)

    threads = [threading.Thread(target=work, args=(random.Random(choice.random()), share)) for share in shares]
    others = [(port, talking) for port, talking in CLIENTS.items() for _ in range(max(4, int(connections) // 50))]
    choice.shuffle(others)
    for thread in threads:
        thread.start()
    for port, talking in others:
        thread = threading.Thread(target=talk_one, args=(random.Random(choice.random()), addresses, port, talking))
        thread.start()
        threads.append(thread)
        time.sleep(0.02)  # no event: the pace of the traffic
    for thread in threads:
        thread.join()


def once(address, port):
    talk_one(random.Random(1), (address, address), int(port), web)


if __name__ == "__main__":
    {"serve": serve, "connect": connect, "once": once}[sys.argv[1]](*sys.argv[2:])
