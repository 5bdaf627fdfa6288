#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real sockets for the tests on live interfaces, and the states that netobsd reports for them.

    live_sockets.py serve ADDRESS PORT READY [PAUSE]  echoes one TCP connection, closes it PAUSE seconds after the other
                                                      side; touches READY when it listens
    live_sockets.py connect ADDRESS PORT              one TCP connection: sends a line, closes first
    live_sockets.py refused ADDRESS PORT              one TCP connection that is refused
    live_sockets.py unanswered ADDRESS PORT SECONDS   one TCP connection that is given up after SECONDS
    live_sockets.py knock ADDRESS PORT...             a TCP connection to each port in turn, refused or not
    live_sockets.py itself ADDRESS PORT BYTES         one TCP connection within this process, at a free port if it is 0: the
                                                      client sends BYTES and closes, the server reads to the end
    live_sockets.py flood ADDRESS PORT COUNT [RATE [BYTES]]
                                                      UDP datagrams of 400 BYTES, RATE a second or as fast as possible (0)
    live_sockets.py unreachable ADDRESS PORT OWN      UDP datagrams from port OWN until an ICMP error arrives
    live_sockets.py ping ADDRESS COUNT [SIZE [ID]]    ICMP echoes, each of which must be answered within five seconds
    live_sockets.py states PORT <JSON                 the state changes of the endpoint with this local or remote port
"""
import json
import pathlib
import socket
import struct
import sys
import time


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(address, port, ready, pause="0"):
    with socket.socket(family(address), socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, int(port)))
        listener.listen()
        listener.settimeout(20)
        pathlib.Path(ready).touch()
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(20)
            while data := connection.recv(4096):
                connection.sendall(data)
            # The kernel acknowledges the FIN now, in a segment before our own FIN.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            time.sleep(float(pause))  # no event: the pause is part of the traffic


def connect(address, port):
    with socket.create_connection((address, int(port)), timeout=20) as connection:
        connection.sendall(b"hello\n")
        if connection.recv(4096) != b"hello\n":
            sys.exit("the echo differs")
        connection.shutdown(socket.SHUT_WR)
        if connection.recv(4096) != b"":
            sys.exit("more than an echo")


def refused(address, port):
    try:
        socket.create_connection((address, int(port)), timeout=20).close()
    except ConnectionRefusedError:
        return
    sys.exit("not refused")


def unanswered(address, port, seconds):
    try:
        socket.create_connection((address, int(port)), timeout=float(seconds)).close()
    except OSError:
        return
    sys.exit("answered")


def knock(address, *ports):
    for port in ports:
        with socket.socket(family(address), socket.SOCK_STREAM) as client:
            client.connect_ex((address, int(port)))


def itself(address, port, size):
    with socket.create_server((address, int(port)), family=family(address)) as listener:
        client = socket.create_connection(listener.getsockname()[:2])
        server, _ = listener.accept()
        client.sendall(bytes(int(size)))
        client.close()
        while server.recv(65536):
            pass
        server.close()


def flood(address, port, count, rate="0", size="400"):
    with socket.socket(family(address), socket.SOCK_DGRAM) as sender:
        begin = time.monotonic()
        for number in range(int(count)):
            sender.sendto(bytes(int(size)), (address, int(port)))
            if int(rate) > 0:
                time.sleep(max(0, begin + number / int(rate) - time.monotonic()))  # no event: the rate


def unreachable(address, port, own):
    """The kernel limits how many errors it sends, some kernels those of all namespaces together."""
    with socket.socket(family(address), socket.SOCK_DGRAM) as sender:
        sender.bind(("", int(own)))
        sender.connect((address, int(port)))
        sender.settimeout(1)
        for _ in range(60):
            try:
                sender.send(b"x")
                sender.recv(1)
            except TimeoutError:
                continue
            except ConnectionRefusedError:
                return
    sys.exit("no error arrived")


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def ping(address, count, size="56", echo_id="4711"):
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as pinger:
        pinger.settimeout(5)
        for number in range(int(count)):
            echo = struct.pack("!BBHHH", 8, 0, 0, int(echo_id), number) + bytes(int(size))
            echo = echo[:2] + struct.pack("!H", checksum(echo)) + echo[4:]
            pinger.sendto(echo, (address, 0))
            while (reply := pinger.recv(65536))[20:21] != b"\0" or reply[24:28] != echo[4:8]:
                pass


def states(port):
    """One line per endpoint: whether it is the client or the server, its address, and its states in order."""
    endpoints = {}
    for line in sys.stdin:
        firing = json.loads(line)
        if firing["probe"] != "tcp-state-change":
            continue
        _, cs, before, after = firing["args"][:4]
        if int(port) not in (before["tcps_lport"], before["tcps_rport"]):
            continue
        role = "server" if before["tcps_lport"] == int(port) else "client"
        sequence = endpoints.setdefault((role, before["tcps_laddr"], cs["cs_cid"]), [])
        if sequence and sequence[-1] != before["tcps_statestr"]:
            sequence.append("GAP")
        if not sequence:
            sequence.append(before["tcps_statestr"])
        sequence.append(after["tcps_statestr"])
    for (role, address, _), sequence in sorted(endpoints.items()):
        print(role, address, *(state.removeprefix("state-") for state in sequence))


if __name__ == "__main__":
    MODES = (serve, connect, refused, unanswered, knock, itself, flood, unreachable, ping, states)
    {mode.__name__: mode for mode in MODES}[sys.argv[1]](*sys.argv[2:])
