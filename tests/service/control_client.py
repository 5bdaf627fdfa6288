#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Good and bad clients of the control socket and of the metrics address.

    control_client.py raw SOCKET <BYTES        sends its standard input, prints the reply
    control_client.py requests SOCKET <LINES   makes each line a request; prints the beginning of each reply and its lines
    control_client.py garbage SOCKET           sends random bytes
    control_client.py stall SOCKET COUNT       opens connections without a request; ends when all are closed
    control_client.py stall-http ADDRESS PORT COUNT
                                               likewise; every other one requests the metrics and does not read them
    control_client.py fill SOCKET USER GROUP   as this user, opens streams until there is no place for another, prints how
                                               many and the reply to the last one, and holds them until it is killed
    control_client.py crowd SOCKET USER GROUP  as this user, opens 48 streams and 90 connections without a request, and each
                                               again that is closed, until it is killed
    control_client.py slow SOCKET              requests all connections and does not read; ends when it is disconnected
                                               (these four print "ready" when they have connected)
    control_client.py own PORT NAME READY      connects to itself on loopback, as a process with this name; writes its
                                               process id to READY and ends both ends at the end of its input
    control_client.py http ADDRESS PORT LINE   makes one HTTP request
    control_client.py http-unix SOCKET LINE    makes one HTTP request on a Unix socket
    control_client.py raw-http ADDRESS PORT <BYTES
                                               sends its standard input, prints the reply
    control_client.py statuses ADDRESS PORT LINE...
                                               makes HTTP requests; prints the first line of each reply
    control_client.py reply SOCKET READY TEXT  listens, and sends TEXT, with Python's escapes, to one client
    control_client.py lie SOCKET SITES         listens, and answers "sites" with the content of SITES, all else with "ok"
    control_client.py fuzz ADDRESS PORT        opens connections with random bytes
    control_client.py json FILE...             checks that every line is a JSON object
    control_client.py metrics FILE             checks Prometheus text format 0.0.4, strictly
"""
import contextlib
import json
import os
import pathlib
import random
import re
import select
import signal
import socket
import sys


def unix(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    return connection


def rest(connection):
    reply = b""
    while data := connection.recv(65536):
        reply += data
    return reply


def converse(path, request):
    """The reply to a request that may be longer than netobsd reads."""
    reply = b""
    with unix(path) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            while data := connection.recv(65536):
                reply += data
        except ConnectionResetError:  # netobsd has not waited for the rest of the request
            pass
    return reply


def raw(path):
    sys.stdout.buffer.write(converse(path, sys.stdin.buffer.read()))


def requests(path):
    for line in sys.stdin:
        reply = converse(path, line.encode()).decode()
        print(f"{reply[:6]}: {reply.count(chr(10))} line")


def garbage(path):
    converse(path, random.Random(1).randbytes(1000000))


def hold(connections, partial):
    for number, connection in enumerate(connections):
        try:
            if number % 2:
                connection.sendall(partial)
        except (BrokenPipeError, ConnectionResetError):
            pass
    print("ready", flush=True)
    for connection in connections:
        try:
            rest(connection)
        except ConnectionResetError:
            pass


def stall(path, count):
    hold([unix(path) for _ in range(int(count))], b"stat")


def become(user, group):
    os.setgroups([])
    os.setgid(int(group))
    os.setuid(int(user))


def patient(path):
    """Waits while the backlog is full."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def crowd(path, user, group):
    become(user, group)
    requests_of = {}
    for i in range(138):
        requests_of[patient(path)] = b"stream\n" if i < 48 else b""
    for connection, line in requests_of.items():
        with contextlib.suppress(OSError):
            connection.sendall(line)
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select(list(requests_of), [], [])
        for connection in readable:
            with contextlib.suppress(OSError):
                if connection.recv(65536):
                    continue
            line = requests_of.pop(connection)
            connection.close()
            again = patient(path)
            requests_of[again] = line
            with contextlib.suppress(OSError):
                again.sendall(line)


def fill(path, user, group):
    become(user, group)
    streams = []
    reply = b"ok\n"
    while reply == b"ok\n" and len(streams) < 1000:
        streams.append(unix(path))
        streams[-1].sendall(b"stream\n")
        reply = streams[-1].recv(4096)
    print(len(streams) - 1, reply.decode(), end="", flush=True)
    signal.pause()


def stall_http(address, port, count):
    connections = []
    for _ in range(int(count)):
        connections.append(socket.socket())
        connections[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connections[-1].settimeout(60)
        connections[-1].connect((address, int(port)))
    hold(connections, b"GET /metrics HTTP/1.1\r\n\r\n")


def slow(path):
    with unix(path) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"connections\n")
        print("ready", flush=True)
        # The disconnection is noticed without reading.
        hung_up = select.poll()
        hung_up.register(connection, 0)
        if not hung_up.poll(60000):
            sys.exit("not disconnected")
        try:
            data = rest(connection)
        except ConnectionResetError:
            return
        # The content of the buffers can still be read, but the reply must not be complete.
        if data.endswith(b"}\n") and len(data) > 4000000:
            sys.exit("the reply is complete")


def request(connection, line):
    with connection:
        try:
            connection.sendall(line.encode() + b"\r\nHost: localhost\r\n\r\n")
        except BrokenPipeError:
            pass
        return rest(connection)


def http(address, port, line):
    sys.stdout.buffer.write(request(socket.create_connection((address, int(port)), timeout=60), line))


def http_unix(path, line):
    sys.stdout.buffer.write(request(unix(path), line))


def raw_http(address, port):
    with socket.create_connection((address, int(port)), timeout=60) as connection:
        connection.sendall(sys.stdin.buffer.read())
        sys.stdout.buffer.write(rest(connection))


def statuses(address, port, *lines):
    for line in lines:
        print(request(socket.create_connection((address, int(port)), timeout=60), line).split(b"\r\n")[0].decode())


def end_reply(connection):
    """Ends a reply as netobsd does: with input that is not read, it would seem to be incomplete."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(60)
    while connection.recv(4096):
        pass


def reply(path, ready, text):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        pathlib.Path(ready).touch()
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(text.encode("ascii").decode("unicode_escape").encode())
            end_reply(connection)


def lie(path, sites):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(8)
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                reply = pathlib.Path(sites).read_bytes() if connection.recv(4096) == b"sites\n" else b""
                try:
                    connection.sendall(b"ok\n" + reply)
                    end_reply(connection)
                except OSError:
                    pass


def fuzz(address, port):
    generator = random.Random(1)
    for _ in range(200):
        with socket.create_connection((address, int(port)), timeout=60) as connection:
            connection.sendall(generator.randbytes(generator.randrange(1, 3000)))
            if generator.random() < 0.5:
                connection.sendall(b"\r\n\r\n")


def json_lines(*paths):
    for path in paths:
        lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
        if not lines or not all(isinstance(json.loads(line), dict) for line in lines):
            sys.exit(f"{path}: no JSON objects")


SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? (-?[0-9]+(?:\.[0-9]+)?)')


def samples(path):
    """Name and labels of every sample; checks the rules of the format."""
    types, seen, family = {}, set(), None
    text = pathlib.Path(path).read_text(encoding="ascii")
    if not text.endswith("\n"):
        sys.exit("the last line has no newline")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            if family in types or len(line.split(" ", 3)) < 4:
                sys.exit(f"duplicate, or no help: {line}")
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != family or kind not in ("counter", "gauge", "histogram"):
                sys.exit(f"no type for the family: {line}")
            if (kind == "counter") != name.endswith("_total"):
                sys.exit(f"a counter's name ends in _total: {line}")
            types[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            parts = ("_bucket", "_sum", "_count") if types.get(family) == "histogram" else ("",)
            if not match or match[1] not in [family + part for part in parts] or family not in types:
                sys.exit(f"no sample of {family}: {line}")
            if (match[1], match[2]) in seen:
                sys.exit(f"duplicate: {line}")
            seen.add((match[1], match[2]))
    return seen


def metrics(path):
    if len(samples(path)) < 60:
        sys.exit("too few samples")


def own(port, name, ready):
    with open("/proc/self/comm", "w") as comm:
        comm.write(name)
    with socket.create_server(("127.0.0.1", int(port))) as listener:
        with socket.create_connection(("127.0.0.1", int(port))) as client, listener.accept()[0]:
            client.sendall(b"x")
            pathlib.Path(ready + ".new").write_text(str(os.getpid()))
            os.rename(ready + ".new", ready)
            sys.stdin.read()


COMMANDS = {
    "raw": raw,
    "requests": requests,
    "garbage": garbage,
    "stall": stall,
    "fill": fill,
    "crowd": crowd,
    "stall-http": stall_http,
    "slow": slow,
    "own": own,
    "http": http,
    "http-unix": http_unix,
    "raw-http": raw_http,
    "statuses": statuses,
    "reply": reply,
    "lie": lie,
    "fuzz": fuzz,
    "json": json_lines,
    "metrics": metrics,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
