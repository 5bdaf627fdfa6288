#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Good and bad clients for tests/service/control.sh.

    control_ask.py raw SOCKET <BYTES            sends what it is given, prints the answer
    control_ask.py stall SOCKET COUNT           opens connections that never ask; ends when all are closed
    control_ask.py slow SOCKET                  asks for all connections and does not read; ends when it is let go
    control_ask.py streams COUNT                UDP streams on loopback
    control_ask.py http ADDRESS PORT LINE       one HTTP request
    control_ask.py http-unix SOCKET LINE
    control_ask.py fuzz ADDRESS PORT            connections with random bytes
    control_ask.py json FILE                    every line is a JSON object
    control_ask.py metrics FILE                 Prometheus text format 0.0.4, strictly
    control_ask.py dashboard FILE METRICS       every metric that the dashboard shows is there
"""
import json
import pathlib
import random
import re
import select
import socket
import sys
import time


def unix(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(path)
    return connection


def rest(connection):
    answer = b""
    while data := connection.recv(65536):
        answer += data
    return answer


def raw(path):
    with unix(path) as connection:
        answer = b""
        try:
            connection.sendall(sys.stdin.buffer.read())
            connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            while data := connection.recv(65536):
                answer += data
        except ConnectionResetError:  # netobsd has not waited for the rest of the question
            pass
        sys.stdout.buffer.write(answer)


def stall(path, count):
    connections = [unix(path) for _ in range(int(count))]
    for number, connection in enumerate(connections):
        try:
            if number % 2:
                connection.sendall(b"stat")
        except BrokenPipeError:
            pass
    print("ready", flush=True)
    for connection in connections:
        try:
            rest(connection)
        except ConnectionResetError:
            pass


def slow(path):
    with unix(path) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"connections --json\n")
        # The end is seen without reading anything.
        hung_up = select.poll()
        hung_up.register(connection, 0)
        if not hung_up.poll(60000):
            sys.exit("not let go")
        try:
            data = rest(connection)
        except ConnectionResetError:
            return
        # What was in the buffers may still be read, but not all of it was sent.
        if data.endswith(b"}\n") and len(data) > 4000000:
            sys.exit("served to the end")


def streams(count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink:
        sink.bind(("127.0.0.1", 0))
        for number in range(int(count)):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.bind((f"127.0.{1 + number // 250}.{1 + number % 250}", 0))
                sender.sendto(b"x", sink.getsockname())
            if number % 200 == 0:
                time.sleep(0.01)  # no event: the pace of the traffic


def request(connection, line):
    with connection:
        try:
            connection.sendall(line.encode() + b"\r\nHost: localhost\r\n\r\n")
        except BrokenPipeError:
            pass
        sys.stdout.buffer.write(rest(connection))


def http(address, port, line):
    request(socket.create_connection((address, int(port)), timeout=20), line)


def http_unix(path, line):
    request(unix(path), line)


def fuzz(address, port):
    generator = random.Random(1)
    for _ in range(200):
        with socket.create_connection((address, int(port)), timeout=20) as connection:
            connection.sendall(generator.randbytes(generator.randrange(1, 3000)))
            if generator.random() < 0.5:
                connection.sendall(b"\r\n\r\n")


def json_lines(path):
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    if not lines or not all(isinstance(json.loads(line), dict) for line in lines):
        sys.exit("no JSON objects")


SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? (-?[0-9]+)')


def samples(path):
    """Name and labels of every sample, with the rules of the format."""
    types, seen, family = {}, set(), None
    text = pathlib.Path(path).read_text(encoding="ascii")
    if not text.endswith("\n"):
        sys.exit("the last line is not whole")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            if family in types or len(line.split(" ", 3)) < 4:
                sys.exit(f"twice, or no help: {line}")
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name != family or kind not in ("counter", "gauge"):
                sys.exit(f"no type for the family: {line}")
            if (kind == "counter") != name.endswith("_total"):
                sys.exit(f"a counter's name ends in _total: {line}")
            types[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            if not match or match[1] != family or family not in types:
                sys.exit(f"no sample of {family}: {line}")
            if (match[1], match[2]) in seen:
                sys.exit(f"twice: {line}")
            seen.add((match[1], match[2]))
    return seen


def metrics(path):
    if len(samples(path)) < 100:
        sys.exit("too few samples")


def dashboard(path, page):
    known = {name for name, _ in samples(page)}
    used = set(re.findall(r"netobs_[a-z_]+", json.dumps(json.loads(pathlib.Path(path).read_text())["panels"])))
    if not used or used - known:
        sys.exit(f"unknown: {used - known}")


COMMANDS = {
    "raw": raw,
    "stall": stall,
    "slow": slow,
    "streams": streams,
    "http": http,
    "http-unix": http_unix,
    "fuzz": fuzz,
    "json": json_lines,
    "metrics": metrics,
    "dashboard": dashboard,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
