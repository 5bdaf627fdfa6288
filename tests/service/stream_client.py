#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients and servers for the tests of netobsctl stream.

    stream_client.py most SOCKET COUNT DIR    opens COUNT streams, DIR/ready; the first one does not read; the lines of the
                                              others go to DIR/N, until netobsd ends them; then reads the first one
    stream_client.py hold SOCKET COUNT READY  opens streams, and READY; holds them to the end of standard input
    stream_client.py torn SOCKET COUNT        opens streams one after the other and closes each in the middle of a line
    stream_client.py taken DIR                takes the names that a file of udp-send could have within an hour
    stream_client.py check FILE               checks the lines of one stream of whole JSON lines: prints how many there are
                                              and how many were lost; pkt_seq has to agree
    stream_client.py serve SOCKET TEXT COMMAND...
                                              runs COMMAND, sends TEXT, with Python's escapes, to its stream and ends that
    stream_client.py leave SOCKET COMMAND...  runs COMMAND with a socket as standard output, closes that after a line while
                                              the stream goes on, and waits until COMMAND has ended
"""
import json
import os
import pathlib
import selectors
import socket
import subprocess
import sys
import time


def send():
    """A datagram to this process."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.sendto(b"datagram", receiver.getsockname())


def stream(path, request):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.sendall(request)
    reply = b""
    while not reply.endswith(b"\n"):
        byte = client.recv(1)
        if not byte:
            break
        reply += byte
    if reply != b"ok\n":
        raise SystemExit(f"the reply is {reply!r}")
    return client


def most(path, count, directory):
    clients = [stream(path, b"stream --fields=pkt_seq udp-send\n") for _ in range(count - 1)]
    stopped = stream(path, b"stream udp-send\n")
    files = [open(f"{directory}/{i}", "wb", buffering=0) for i in range(1, count)]
    selector = selectors.DefaultSelector()
    for client, file in zip(clients, files):
        selector.register(client, selectors.EVENT_READ, file)
    pathlib.Path(directory, "ready").touch()
    while selector.get_map():
        for key, _ in selector.select():
            data = key.fileobj.recv(65536)
            if data:
                key.data.write(data)
            else:
                selector.unregister(key.fileobj)
                key.data.close()
    with open(f"{directory}/0", "wb") as file:
        while data := stopped.recv(65536):
            file.write(data)


def hold(path, count, ready):
    clients = [stream(path, b"stream udp-send\n") for _ in range(count)]
    pathlib.Path(ready).touch()
    sys.stdin.read()
    for client in clients:
        client.close()


def torn(path, count):
    for _ in range(count):
        client = stream(path, b"stream udp-send\n")
        send()
        client.recv(100)
        client.close()


def taken(directory):
    now = int(time.time())
    for second in range(now, now + 3600):
        name = time.strftime("udp-send-%Y%m%dT%H%M%SZ-000001.jsonl.zst", time.gmtime(second))
        pathlib.Path(directory, name).touch()


def check(name):
    lines = lost = after = 0
    with open(name, encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if "lost" in line:
                lost += line["lost"]
                after += line["lost"]
                continue
            lines += 1
            after += 1
            if line["args"][0]["pkt_seq"] != after:
                raise SystemExit(f"line {lines} has pkt_seq {line['args'][0]['pkt_seq']}, not {after}")
    print(lines, lost)


def listen(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    return listener


def accept(listener, text):
    connection, _ = listener.accept()
    connection.recv(4096)
    connection.sendall(b"ok\n" + text.encode("ascii").decode("unicode_escape").encode())
    return connection


def serve(path, text, command):
    with listen(path) as listener, subprocess.Popen(command):
        accept(listener, text).close()


def leave(path, command):
    output, reader = socket.socketpair()
    with listen(path) as listener, subprocess.Popen(command, stdout=output) as program:
        output.close()
        connection = accept(listener, '{"text":"line"}\\n')
        reader.recv(100)
        reader.close()
        print(program.wait())
        connection.close()


def main():
    command, *words = sys.argv[1:]
    if command == "most":
        most(words[0], int(words[1]), words[2])
    elif command == "hold":
        hold(words[0], int(words[1]), words[2])
    elif command == "taken":
        taken(words[0])
    elif command == "torn":
        torn(words[0], int(words[1]))
    elif command == "check":
        check(words[0])
    elif command == "serve":
        serve(words[0], words[1], words[2:])
    elif command == "leave":
        leave(words[0], words[1:])
    else:
        raise SystemExit(f"unknown command {command}")
    sys.stdout.flush()
    os._exit(0)


main()
