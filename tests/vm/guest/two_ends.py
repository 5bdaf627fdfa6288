#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traffic between two hosts, and the comparison of what the netobsd of each reports.

    two_ends.py serve ADDRESS PORT COUNT READY   answers COUNT connections; touches READY when it listens
    two_ends.py connect ADDRESS PORT COUNT       COUNT connections at a time; checks the answers
    two_ends.py compare NEAR FAR COUNT TO_FAR TO_NEAR
                                                 compares the JSON of both, of COUNT connections; TO_FAR and TO_NEAR are the
                                                 numbers of segments that the path dropped.  Prints TAP
"""
import collections
import json
import pathlib
import socket
import sys
import threading

REQUEST, ANSWER = 40_000, 90_000


def request_bytes(number):
    """Different lengths, so that mixed up connections are noticed."""
    return REQUEST + 1000 * number


def receive_all(connection):
    total = 0
    while data := connection.recv(65536):
        total += len(data)
    return total


def answer(connection):
    with connection:
        connection.settimeout(120)
        number = (receive_all(connection) - REQUEST) // 1000
        connection.sendall(b"a" * (ANSWER + number))


def serve(address, port, count, ready):
    with socket.create_server((address, int(port)), backlog=int(count)) as listener:
        listener.settimeout(120)
        pathlib.Path(ready).touch()
        threads = []
        for _ in range(int(count)):
            threads.append(threading.Thread(target=answer, args=(listener.accept()[0],)))
            threads[-1].start()
        for thread in threads:
            thread.join()


def converse(address, port, number, wrong):
    with socket.create_connection((address, port), timeout=120) as connection:
        connection.sendall(b"q" * request_bytes(number))
        connection.shutdown(socket.SHUT_WR)
        if receive_all(connection) != ANSWER + number:
            wrong.append(number)


def connect(address, port, count):
    wrong = []
    threads = [threading.Thread(target=converse, args=(address, int(port), number, wrong)) for number in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        sys.exit(f"wrong answers: {wrong}")


class End:
    """What one netobsd reports: per endpoint (its address and port, and the other's) states and bytes; the segments."""

    def __init__(self, path):
        self.states = collections.defaultdict(list)
        self.sent = collections.Counter()
        self.received = collections.Counter()
        self.segments = collections.Counter()
        for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
            firing = json.loads(line)
            getattr(self, "on_" + firing["probe"].replace("-", "_"), lambda args: None)(firing["args"])

    def on_tcp_state_change(self, args):
        tcps = args[3] if args[3] and "tcps_lport" in args[3] else args[2]
        endpoint = tcps["tcps_laddr"], tcps["tcps_lport"], tcps["tcps_raddr"], tcps["tcps_rport"]
        self.states[endpoint].append((args[5]["tcps_statestr"], args[3]["tcps_statestr"]))

    def on_tcp_send(self, args):
        ip, tcp = args[2], args[4]
        self.segments[ip["ip_saddr"], ip["ip_daddr"], tcp["tcp_sport"], tcp["tcp_dport"], tcp["tcp_seq"], tcp["tcp_ack"],
                      tcp["tcp_flags"], tcp["tcp_payload"], tcp["tcp_window"], tcp["tcp_checksum"]] += 1

    def on_socket_send(self, args):
        self.sent[self.endpoint_of_socket(args[3])] += args[3]["so_bytes"]

    def on_socket_receive(self, args):
        self.received[self.endpoint_of_socket(args[3])] += args[3]["so_bytes"]

    @staticmethod
    def endpoint_of_socket(so):
        return so["so_laddr"], so["so_lport"], so["so_raddr"], so["so_rport"]


class Points:
    def __init__(self):
        self.number = 0

    def check(self, name, complaints):
        self.number += 1
        print(f"{'not ok' if complaints else 'ok'} {self.number} - {name}")
        for complaint in complaints[:20]:
            print(f"# {complaint}")


def differences(near, far):
    return [f"{' '.join(map(str, key))}: near {near.get(key)}, far {far.get(key)}"
            for key in sorted(near.keys() | far.keys()) if near.get(key) != far.get(key)]


def compare(near_path, far_path, count, to_far, to_near):
    near, far, points = End(near_path), End(far_path), Points()
    wanted = 2 * int(count)
    points.check(f"both ends report the {wanted} endpoints of {count} connections",
                 [f"{name}: {len(end.states)}" for name, end in (("near", near), ("far", far)) if len(end.states) != wanted])
    points.check("every endpoint has the same states", differences(near.states, far.states))
    points.check("every endpoint ends closed or in TIME-WAIT",
                 [f"{endpoint}: {states[-1]}" for endpoint, states in near.states.items()
                  if states[-1][1] not in ("state-closed", "state-time-wait")])
    points.check("every endpoint has sent the same bytes", differences(near.sent, far.sent))
    points.check("every endpoint has received the same bytes", differences(near.received, far.received))
    points.check("the bytes are those of the sockets", check_bytes(near, int(count)))
    for name, sender, receiver, first, lost in (("near to far", near, far, "10.78.1.2", int(to_far)),
                                                ("far to near", far, near, "10.78.2.2", int(to_near))):
        gone = sum((sender.segments - receiver.segments)[key] for key in sender.segments if key[0] == first)
        new = [key for key in receiver.segments - sender.segments if key[0] == first]
        points.check(f"{name}: the {lost} segments that the path dropped are missing at the receiver, and no other",
                     [f"{gone} are missing"] * (gone != lost) + [f"only at the receiver: {key}" for key in new])
    print(f"1..{points.number}")


def check_bytes(end, count):
    """The sums of what the sockets sent, per direction."""
    wanted = sorted((request_bytes(number), ANSWER + number) for number in range(count))
    sent = sorted((sent, end.sent[endpoint[2], endpoint[3], endpoint[0], endpoint[1]])
                  for endpoint, sent in end.sent.items() if endpoint[0] == "10.78.1.2")
    received = sorted((end.received[endpoint[2], endpoint[3], endpoint[0], endpoint[1]], received)
                      for endpoint, received in end.received.items() if endpoint[0] == "10.78.1.2")
    return [f"{what}: {got}, not {wanted}" for what, got in (("sent", sent), ("received", received)) if got != wanted]


if __name__ == "__main__":
    {"serve": serve, "connect": connect, "compare": compare}[sys.argv[1]](*sys.argv[2:])
