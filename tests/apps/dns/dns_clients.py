#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""For tests/apps/dns/dns.sh, what dnsmasq and dig do not do.

    dns_clients.py silent   takes queries at 192.0.2.3 without an answer, until it is ended; prints "bound" when it does
    dns_clients.py queries  a query three times from one port to 192.0.2.3, until its timeout of a second has passed; on TCP to
                            192.0.2.1 two queries in one segment, and one in three
"""
import socket
import struct
import sys
import threading
import time


def silent():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("192.0.2.3", 53))
        print("bound", flush=True)
        threading.Event().wait()  # which nothing sets


def query(number, name):
    body = struct.pack(">HHHHHH", number, 0x100, 1, 0, 0, 0)
    body += b"".join(bytes([len(label)]) + label for label in name.split(b".")) + b"\0\0\1\0\1"
    return struct.pack(">H", len(body)) + body


def queries():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        for _ in range(3):
            client.sendto(query(9, b"unanswered.example")[2:], ("192.0.2.3", 53))
        time.sleep(1.2)  # no event: the timeout passes
    with socket.create_connection(("192.0.2.1", 53)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(query(1, b"host.example") + query(2, b"a.example"))
        received = b""
        while received.count(b"\7example") < 2:
            received += client.recv(4096)
        late = query(3, b"host.example")
        for piece in late[:1], late[1:20], late[20:]:
            client.sendall(piece)
        while received.count(b"\7example") < 3:
            received += client.recv(4096)


{"silent": silent, "queries": queries}[sys.argv[1]]()
