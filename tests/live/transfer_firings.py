#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the firings of the transfers of transfer.py with what one end of them did.

    transfer_firings.py END PORT REQUEST TRANSFERS <FIRINGS

END is client or server, TRANSFERS the output of transfer.py, FIRINGS the output of netobsd --print as JSON, of the
probes gld-*, ip-send, ip-receive, tcp-*, udp-* and socket-*.  One line for each transfer:

    NAME INTERFACES TAGS LARGEST FAULTS

INTERFACES: those on which its packets were observed, with commas; TAGS: the VLAN ids of its frames, - for a frame
without a tag; LARGEST: most payload bytes of a TCP packet; FAULTS: what is not as the end did it, or "none".
"""
import collections
import json
import sys

STATES = {
    "client": "closed syn-sent established fin-wait-1 fin-wait-2 time-wait",
    "server": "listen syn-received established close-wait last-ack closed",
}


TIMESTAMPS = 12  # bytes of the option in each segment (RFC 7323)


class Transfer:
    def __init__(self, reply, client_retransmissions, server_retransmissions):
        self.reply = reply
        self.retransmissions = {"client": client_retransmissions, "server": server_retransmissions}
        self.retransmitted = 0  # segments of tcp-retransmit, at most
        self.kinds = []
        self.states = []
        self.interfaces, self.tags = set(), set()
        self.firings, self.bytes = collections.Counter(), collections.Counter()
        self.largest = 0
        self.reset = False

    def add(self, probe, protocol, args):
        self.firings[probe] += 1
        if probe == "tcp-state-change":
            before, after = (args[n]["tcps_statestr"].removeprefix("state-") for n in (2, 3))
            self.states += [after] if self.states and self.states[-1] == before else [before, after]
            # The kernel ends TIME_WAIT if the answer to a repeated FIN is repeated after the peer has closed, and the
            # peer resets (RFC 1337).
            if self.reset and self.states[-2:] == ["time-wait", "closed"]:
                self.states.pop()
        elif probe.startswith("socket-"):
            self.bytes[protocol, probe] += args[3]["so_bytes"]
        elif probe == "tcp-retransmit":
            self.kinds.append(f"{args[5]['tcpr_kindstr']} of {args[4]['tcp_payload']} bytes")
            self.retransmitted += max(1, -(-args[4]["tcp_payload"] // (args[3]["tcps_mss"] - TIMESTAMPS)))
        elif probe in ("tcp-send", "tcp-receive"):
            self.bytes[protocol, probe] += args[4]["tcp_payload"]
            self.largest = max(self.largest, args[4]["tcp_payload"])
            self.reset |= "RST" in args[4]["tcp_flagstr"]

    def faults(self, end, request):
        sent, received = (request, self.reply) if end == "client" else (self.reply, request)
        datagram = request % 1000
        expected = [
            ("states", " ".join(self.states), STATES[end]),
            ("bytes of socket-send", self.bytes["tcp", "socket-send"], sent),
            ("bytes of socket-receive", self.bytes["tcp", "socket-receive"], received),
            ("udp-send", self.firings["udp-send"], 1),
            ("udp-receive", self.firings["udp-receive"], 1),
            ("bytes of socket-send, UDP", self.bytes["udp", "socket-send"], datagram),
            ("bytes of socket-receive, UDP", self.bytes["udp", "socket-receive"], datagram),
        ]
        # A super-packet is one frame, of whose segments the kernel may have sent only some before.
        if not self.firings["tcp-retransmit"] <= self.retransmissions[end] <= self.retransmitted:
            expected.append(("tcp-retransmit", self.kinds, self.retransmissions[end]))
        if not any(self.retransmissions.values()):
            expected.append(("bytes of tcp-send", self.bytes["tcp", "tcp-send"], sent))
            expected.append(("bytes of tcp-receive", self.bytes["tcp", "tcp-receive"], received))
        return "; ".join(f"{what}: {got} instead of {wanted}" for what, got, wanted in expected if got != wanted)


def ends_of(probe, args):
    """Protocol and the two (address, port) pairs."""
    if probe == "tcp-state-change":
        prefix, protocol = "tcps", "tcp"
    elif probe.startswith("socket-"):
        prefix, protocol = "so", {6: "tcp", 17: "udp"}[args[3]["so_protocol"]]
    else:
        protocol, ip, header = probe[:3], args[2], args[4]
        return protocol, frozenset(
            ((ip["ip_saddr"], header[protocol + "_sport"]), (ip["ip_daddr"], header[protocol + "_dport"]))
        )
    info = args[3]
    return protocol, frozenset((info[f"{prefix}_{end}addr"], info[f"{prefix}_{end}port"]) for end in "lr")


def main(end, port, request, list_of_transfers):
    transfers, by_ends, by_addresses = {}, {}, {}
    with open(list_of_transfers, encoding="ascii") as lines:
        for line in lines:
            name, local, remote, tcp_port, udp_port, *numbers = line.split()
            transfers[name] = Transfer(*map(int, numbers))
            by_addresses[frozenset((local, remote))] = transfers[name]
            for protocol, local_port in (("tcp", tcp_port), ("udp", udp_port)):
                by_ends[protocol, frozenset(((local, int(local_port)), (remote, int(port))))] = transfers[name]
    for line in sys.stdin:
        firing = json.loads(line)
        probe, args = firing["probe"], firing["args"]
        if probe.startswith(("gld-", "ip-")):
            transfer = args[2] and by_addresses.get(frozenset((args[2]["ip_saddr"], args[2]["ip_daddr"])))
            if transfer and probe.startswith("ip-"):
                transfer.interfaces.add(args[3]["if_name"])
            elif transfer:
                transfer.tags.add(str(args[4]["eth_vlanid"]) if args[4]["eth_istagged"] else "-")
            continue
        protocol, ends = ends_of(probe, args)
        if (protocol, ends) in by_ends:
            by_ends[protocol, ends].add(probe, protocol, args)
    for name, transfer in transfers.items():
        interfaces, tags = ",".join(sorted(transfer.interfaces)) or "-", ",".join(sorted(transfer.tags)) or "-"
        faults = transfer.faults(end, int(request)) or "none"
        print(name, interfaces, tags, transfer.largest, faults)


if __name__ == "__main__":
    main(*sys.argv[1:])
