#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traffic on 127.0.0.1.  Reads commands, one a line, up to "end", and answers each with a line when it is carried out:

    connect NAME PORT [SOURCE]    a TCP connection between two sockets of this process; answers with the client's port
    send NAME BYTES               from the client to the server, which reads them
    answer NAME BYTES             from the server to the client, which reads them
    pace NAME BYTES               from now on so much from the client to the server every tenth of a second
    half NAME                     the client ends its half, and the server reads the end
    close NAME                    closes it, the client first
    refused PORT [COUNT]          connections to a closed port
    udp NAME PORT [COUNT [SIZE]]  datagrams of the socket NAME, which stays open
    brief PORT                    a datagram of a socket that is closed at once
    ports NAME FIRST LAST         a datagram of the socket NAME to each of these ports
    unanswered PORT               a connection to a listener whose queue is full
    receive PORT                  opens the port for datagrams, which are not read
"""
import socket
import sys
import threading
import time

listeners, connections, sockets, paced = {}, {}, {}, {}
changing = threading.Lock()  # of what is paced


def receive_all(sender, receiver, size):
    """Sends so much, and reads it at the other end."""
    while size > 0:
        part = min(size, 10000)
        sender.sendall(bytes(part))
        while part > 0:
            got = len(receiver.recv(part))
            part, size = part - got, size - got


def connect(name, port, source=0):
    if port not in listeners:
        listeners[port] = socket.create_server(("127.0.0.1", port))
    client = socket.create_connection(("127.0.0.1", port), source_address=("127.0.0.1", source))
    connections[name] = client, listeners[port].accept()[0]
    return client.getsockname()[1]


def send(name, size):
    client, server = connections[name]
    receive_all(client, server, size)


def answer(name, size):
    client, server = connections[name]
    receive_all(server, client, size)


def keep_pace():
    while True:
        with changing:
            for name, size in paced.items():
                send(name, size)
        time.sleep(0.1)  # no event: the pace of the traffic


def pace(name, size):
    if not paced:
        threading.Thread(target=keep_pace, daemon=True).start()
    with changing:
        paced[name] = size


def half(name):
    client, server = connections[name]
    client.shutdown(socket.SHUT_WR)
    server.recv(1)


def close(name):
    with changing:
        paced.pop(name, None)
    client, server = connections.pop(name)
    client.close()
    server.recv(1)
    server.close()


def refused(port, count=1):
    for _ in range(count):
        with socket.socket() as client:
            client.connect_ex(("127.0.0.1", port))


def sender(name):
    if name not in sockets:
        sockets[name] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return sockets[name]


def udp(name, port, count=1, size=1):
    for _ in range(count):
        sender(name).sendto(bytes(size), ("127.0.0.1", port))


def brief(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closing:
        closing.sendto(b"x", ("127.0.0.1", port))


def ports(name, first, last):
    for port in range(first, last + 1):
        sender(name).sendto(b"x", ("127.0.0.1", port))


def unanswered(port):
    listener = sockets["listener"] = socket.socket()
    listener.bind(("127.0.0.1", port))
    listener.listen(0)
    for number in range(2):
        sockets[number] = socket.socket()
        sockets[number].setblocking(False)
        sockets[number].connect_ex(("127.0.0.1", port))


def receive(port):
    sockets[port] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sockets[port].bind(("127.0.0.1", port))


COMMANDS = {function.__name__: function
            for function in (connect, send, answer, pace, half, close, refused, udp, brief, ports, unanswered, receive)}
socket.setdefaulttimeout(60)
for line in sys.stdin:
    command, *words = line.split()
    if command == "end":
        break
    result = COMMANDS[command](*(int(word) if word.isdigit() else word for word in words))
    print("done" if result is None else result, flush=True)
