#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traffic and clients for tests/service/stream.sh.

    stream_client.py send COUNT [PORT]        sends COUNT UDP datagrams to itself on loopback
    stream_client.py most SOCKET COUNT DIR    opens COUNT streams, DIR/ready; the first one does not read; the lines of the
                                              others go to DIR/N, until netobsd ends them; then reads the first one
    stream_client.py torn SOCKET COUNT        opens streams one after the other and closes each in the middle of a line
    stream_client.py check FILE               checks the lines of one stream of whole JSON lines: prints how many there are
                                              and how many were lost; pkt_seq has to agree
"""
import json
import os
import pathlib
import selectors
import socket
import sys


def send(count, port=0):
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", port))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.connect(receiver.getsockname())
    for _ in range(count):
        sender.send(b"datagram")


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
    clients = [stream(path, b"stream --json udp-send --fields=pkt_seq\n") for _ in range(count - 1)]
    stopped = stream(path, b"stream --json udp-send\n")
    files = [open(f"{directory}/{i}", "wb") for i in range(1, count)]
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


def torn(path, count):
    for _ in range(count):
        client = stream(path, b"stream --json udp-send\n")
        send(1)
        client.recv(100)
        client.close()


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


def main():
    command, *words = sys.argv[1:]
    if command == "send":
        send(*(int(word) for word in words))
    elif command == "most":
        most(words[0], int(words[1]), words[2])
    elif command == "torn":
        torn(words[0], int(words[1]))
    elif command == "check":
        check(words[0])
    else:
        raise SystemExit(f"unknown command {command}")
    sys.stdout.flush()
    os._exit(0)


main()
