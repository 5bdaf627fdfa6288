#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Transfers of a known size, and what the kernel counted of them.

    transfer.py serve PORT READY                            answers TCP and UDP on every address; touches READY when it
                                                            listens
    transfer.py reach ADDRESS ...                           waits until each address refuses a connection: the path to
                                                            it is open, and neighbours are known
    transfer.py fetch PORT REQUEST NAME=ADDRESS=REPLY ...   one transfer with each address, one after the other

A transfer is one TCP connection, on which the client sends REQUEST bytes and the end of its stream, and the server
REPLY bytes and the end of its stream, and then one UDP datagram of REQUEST % 1000 bytes that comes back.  fetch prints a
line for each:

    NAME LOCAL_ADDRESS REMOTE_ADDRESS TCP_PORT UDP_PORT REPLY CLIENT_RETRANSMISSIONS SERVER_RETRANSMISSIONS

with the client's ports, and the segments that each end has retransmitted.
"""
import functools
import pathlib
import selectors
import socket
import struct
import sys
import time

TOTAL_RETRANS = 100  # offset of tcpi_total_retrans in struct tcp_info (linux/tcp.h)


def retransmissions(connection):
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TOTAL_RETRANS + 4)
    return struct.unpack_from("I", information, TOTAL_RETRANS)[0]


def read_exactly(connection, count):
    got = bytearray()
    while len(got) < count:
        piece = connection.recv(count - len(got))
        if not piece:
            raise EOFError(f"the stream ended after {len(got)} bytes of {count}")
        got += piece
    return bytes(got)


def answer(connections, listener):
    """The request starts with its own length and the length of the reply."""
    connection, client = listener.accept()
    connection.settimeout(60)
    connections[client[:2]] = connection
    try:
        request, reply = struct.unpack("!II", read_exactly(connection, 8))
        read_exactly(connection, request - 8)
        if connection.recv(1):
            raise EOFError("more than the request")
        connection.sendall(bytes(reply))
        connection.shutdown(socket.SHUT_WR)
    except (OSError, EOFError, struct.error) as error:
        print(error, file=sys.stderr)


def count(connections, datagrams):
    """A datagram starts with the client's TCP port; the reply starts with the retransmissions on that connection."""
    data, client = datagrams.recvfrom(65536)
    connection = connections.pop((client[0], struct.unpack_from("!I", data)[0]))
    datagrams.sendto(struct.pack("!I", retransmissions(connection)) + data[4:], client)
    connection.close()


def serve(port, ready):
    selector = selectors.DefaultSelector()
    connections = {}
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        for kind, handler in ((socket.SOCK_STREAM, answer), (socket.SOCK_DGRAM, count)):
            listener = socket.socket(family, kind)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, int(port)))
            if kind == socket.SOCK_STREAM:
                listener.listen(64)
            selector.register(listener, selectors.EVENT_READ, functools.partial(handler, connections))
    pathlib.Path(ready).touch()
    while True:
        for key, _ in selector.select():
            key.data(key.fileobj)


def reach(*addresses):
    deadline = time.monotonic() + 60
    for address in addresses:
        while True:
            try:
                socket.create_connection((address, 9), timeout=1).close()
            except ConnectionRefusedError:
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    sys.exit(f"{address}: {error}")
                time.sleep(0.05)  # no event: the interval between two attempts


def fetch_tcp(connection, request, reply):
    connection.sendall(struct.pack("!II", request, reply) + bytes(request - 8))
    connection.shutdown(socket.SHUT_WR)
    read_exactly(connection, reply)
    if connection.recv(1):
        raise EOFError("more than the reply")


def fetch_udp(address, port, tcp_port, length):
    """The client's port, and the retransmissions of the server."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(20)
        datagrams.connect((address, port))
        datagrams.send(struct.pack("!I", tcp_port) + bytes(length - 4))
        data = datagrams.recv(65536)
        if len(data) != length:
            raise EOFError("a datagram of another length")
        return datagrams.getsockname()[1], struct.unpack_from("!I", data)[0]


def fetch(port, request, *targets):
    port, request = int(port), int(request)
    for target in targets:
        name, address, reply = target.split("=")
        try:
            with socket.create_connection((address, port), timeout=30) as connection:
                local, tcp_port = connection.getsockname()[:2]
                fetch_tcp(connection, request, int(reply))
                udp_port, server = fetch_udp(address, port, tcp_port, request % 1000)
                counts = retransmissions(connection), server
                print(name, local, address, tcp_port, udp_port, reply, *counts, flush=True)
        except (OSError, EOFError) as error:
            print(f"{name} {address}: {error}", file=sys.stderr)


if __name__ == "__main__":
    {"serve": serve, "reach": reach, "fetch": fetch}[sys.argv[1]](*sys.argv[2:])
