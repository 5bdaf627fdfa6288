#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""firing_order.py NETOBSD CAPTURE...: the order of firing for each frame, against the contract.

Replays each capture with every probe enabled, in each view, and compares the firings of each packet id with the
grammar below, which is section 3 of the provider contract.  Also: packet ids rise, pkt_seq, cs_seq, ci_seq and cr_seq of each
probe count 1, 2, 3, ..., and a connection id always belongs to the same endpoint.  TAP output.
"""
import json
import re
import subprocess
import sys

# One letter a probe; the grammar is a regular expression over them.  The rows are searched in order: a new transport or
# state machine needs no row of its own.
LETTERS = [(re.compile(pattern), letter) for pattern, letter in (
    ("socket-send", "S"), ("socket-receive", "R"), ("ip-packet-free", "."),
    ("gld-send", "g"), ("gld-receive", "G"), ("arp-send", "a"), ("arp-receive", "A"),
    ("ip-request", "q"), ("ip-send", "i"), ("ip-drop-out", "x"),
    ("ip-receive", "I"), ("ip-drop-in", "X"), ("ip-deliver", "D"),
    ("tcpf-send", "f"), ("tcpf-receive", "F"),
    ("[a-z]+-state-change", "c"), ("[a-z]+-send", "t"), ("[a-z]+-receive", "T"),
    ("connection-.*", "r"),
    ("tcp-(accept|connect)-.*|tcp-retransmit|tcp-timeout-.*|udp-stream-.*", "e"),
)]
APPLICATION = re.compile(r"(iscsi|dns|tls|http|smb)-")

# Sending, top down: the socket (an ACK may prove bytes delivered before), application providers, events and state changes,
# the transport, IP, the link.  Receiving, bottom up.  A packet inside a tunnel has no link layer of its own; a datagram that
# reassembly drops has only its drop.  Events of timers and evictions come first: they belong to no packet.  The record of
# a connection comes behind the events that end it, of a packet or of a timer.
TIMERS = r"([ec]*r)*"
SENDING = r"[ec]*R?S?p*[ec]*(tf?|a)?q?[ix]?g?"
RECEIVING = r"G?(A|I?(X|D?(TF?)?))[ec]*R?p*"
GRAMMAR = re.compile(rf"^{TIMERS}{SENDING}({RECEIVING})?r?\.$")


def replay(netobsd, capture, view):
    command = [netobsd, "-r", capture, "--view", view, "--print", "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for line in process.stdout:
            yield json.loads(line)


def letter(probe):
    if probe == "dns-timeout":
        return "e"  # an event of a timer
    if APPLICATION.match(probe):
        return "p"
    return next((letter for pattern, letter in LETTERS if pattern.fullmatch(probe)), "?")


class Checker:
    def __init__(self):
        self.word, self.packet, self.packets, self.wrong = "", None, 0, []
        self.sequences, self.endpoints, self.completed, self.ended = {}, {}, set(), {}

    def finish_packet(self):
        if self.packet is not None:
            self.packets += 1
            if not GRAMMAR.match(self.word):
                self.wrong.append(f"packet {self.packet}: {self.word}")
            if not self.completed <= {self.packet}:
                self.wrong.append(f"packet {self.packet}: messages of packets {self.completed}")
        self.word, self.packet, self.completed = "", None, set()

    def check_firing(self, firing):
        probe, args = firing["probe"], firing["args"]
        packet = args[0] if args and args[0] and "pkt_addr" in args[0] else None
        self.check_sequence(probe, packet, args)
        self.check_endpoint(args)
        self.check_record(probe, args)
        self.word += letter(probe)
        if probe == "dns-timeout":
            if args[0]["ci_pkt"] != 0:
                self.wrong.append(f"dns-timeout of packet {args[0]['ci_pkt']}")
        elif APPLICATION.match(probe):
            self.completed.add(args[0]["ci_pkt"])
        if packet is None:
            return
        if self.packet is not None and packet["pkt_addr"] != self.packet:
            self.wrong.append(f"packet {self.packet} is not freed before {packet['pkt_addr']}")
        self.packet = packet["pkt_addr"]
        if probe == "ip-packet-free":
            self.finish_packet()

    def check_sequence(self, probe, packet, args):
        if APPLICATION.match(probe):
            sequence = args[0]["ci_seq"]
        elif probe.startswith("connection-"):
            sequence = args[0]["cr_seq"]
        else:
            sequence = packet["pkt_seq"] if packet else args[1]["cs_seq"] if args[1] else None
        expected = self.sequences.get(probe, 0) + 1
        if sequence != expected:
            self.wrong.append(f"{probe}: firing {expected} has sequence number {sequence}")
        self.sequences[probe] = expected

    def check_record(self, probe, args):
        """connection-end fires once for each connection, and again if a refused attempt was accepted after all."""
        if probe == "connection-end":
            cids = (args[0]["cr_client_cid"], args[0]["cr_server_cid"])
            if self.ended.get(cids, "refused") != "refused":
                self.wrong.append(f"connection {cids} ends twice")
            self.ended[cids] = args[0]["cr_reason"]

    def check_endpoint(self, args):
        for arg in args:
            if arg and "tcps_laddr" in arg and "tcps_lport" in arg:
                ends = (arg["tcps_laddr"], arg["tcps_lport"], arg["tcps_raddr"], arg["tcps_rport"])
                if self.endpoints.setdefault(arg["tcps_addr"], ends) != ends:
                    self.wrong.append(f"connection id {arg['tcps_addr']} belongs to two endpoints")


def check(netobsd, capture, view):
    checker = Checker()
    for firing in replay(netobsd, capture, view):
        checker.check_firing(firing)
    if checker.packet is not None:
        checker.wrong.append(f"packet {checker.packet} is never freed")
    return checker


def main():
    netobsd, captures = sys.argv[1], sys.argv[2:]
    number = 0
    for capture in captures:
        for view in ("both", "host", "monitor"):
            checker = check(netobsd, capture, view)
            number += 1
            name = f"{capture.rsplit('/', 1)[-1]}, {view}: {checker.packets} packets"
            print(f"{'not ' if checker.wrong else ''}ok {number} - {name}")
            for wrong in checker.wrong[:5]:
                print(f"# {wrong}")
    print(f"1..{number}")


main()
