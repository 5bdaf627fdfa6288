#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""firing_order.py NETOBSD FOLDER: the order of firing for each frame, against the contract.

Replays each capture of the folder with every probe enabled, in each view, and compares the firings of each packet id with
the grammar below, which is section 3 of the provider contract.  Also: packet ids rise, pkt_seq, cs_seq, ci_seq and cr_seq of
each probe count 1, 2, 3, ..., and a connection id always belongs to the same endpoint.  TAP output, a point for each capture.
"""
import json
import os
import re
import subprocess
import sys

from json_lines import cases

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
# a connection comes after the events that end it, of a packet or of a timer.
TIMERS = r"([ec]*r)*"
SENDING = r"[ec]*R?S?p*[ec]*(tf?|a)?q?[ix]?g?"
RECEIVING = r"G?(A|I?(X|D?(TF?)?))[ec]*R?p*"
GRAMMAR = re.compile(rf"^{TIMERS}{SENDING}({RECEIVING})?r?\.$")
DECODE = json.JSONDecoder().raw_decode
VIEWS = {
    "both": [],
    "host": ["--local=10.0.0.0/8", "--local=172.16.0.0/12", "--local=192.168.0.0/16", "--local=fe80::/10", "--local=2001::/16"],
    "monitor": [],
}


def letter_of(probe):
    if probe == "dns-timeout":
        return "e"  # an event of a timer
    if APPLICATION.match(probe):
        return "p"
    return next((letter for pattern, letter in LETTERS if pattern.fullmatch(probe)), "?")


class Checker:
    """The firings of one replay.  Words and letters are kept from one to the next."""
    letters, right = {}, set()

    def __init__(self):
        self.word, self.packet, self.last, self.packets, self.wrong = "", None, 0, 0, []
        self.sequences, self.endpoints, self.completed, self.ended = {}, {}, set(), {}

    def finish_packet(self):
        self.packets += 1
        if self.packet <= self.last:
            self.wrong.append(f"packet {self.packet} comes after {self.last}")
        self.last = self.packet
        if self.word not in self.right:
            if GRAMMAR.match(self.word):
                self.right.add(self.word)
            else:
                self.wrong.append(f"packet {self.packet}: {self.word}")
        # Earlier ones wait until their connection is proved.
        if self.completed and max(self.completed) > self.packet:
            self.wrong.append(f"packet {self.packet}: messages of packets {self.completed}")
        self.word, self.packet, self.completed = "", None, set()

    def check_line(self, line):
        """Decodes only what is needed: the first argument, or all of them if there are endpoints or no packet."""
        probe, _, args = line[len('{"probe":"'):].partition('","args":[')
        first = DECODE(args)[0]
        self.check_firing(probe, DECODE(line)[0]["args"] if '"tcps_laddr"' in args or first is None else [first])

    def check_firing(self, probe, args):
        letter = self.letters.get(probe)
        if letter is None:
            letter = self.letters[probe] = letter_of(probe)
        self.word += letter
        first = args[0]
        packet = first.get("pkt_addr") if first else None
        if packet is not None:
            sequence = first["pkt_seq"]
        elif letter == "r":
            sequence = first["cr_seq"]
            if probe == "connection-end":
                self.check_end(first)
        elif first:
            sequence = first["ci_seq"]
            self.check_message(probe, first)
        else:
            sequence = args[1] and args[1]["cs_seq"]
        expected = self.sequences.get(probe, 0) + 1
        if sequence != expected:
            self.wrong.append(f"{probe}: firing {expected} has sequence number {sequence}")
        self.sequences[probe] = expected
        for arg in args:
            if arg and "tcps_laddr" in arg:
                self.check_endpoint(arg)
        if not packet:  # 0: a timer, or the end of the capture, has established the connection
            return
        if self.packet is not None and packet != self.packet:
            self.wrong.append(f"packet {self.packet} is not freed before {packet}")
        self.packet = packet
        if letter == ".":
            self.finish_packet()

    def check_message(self, probe, ci):
        if probe != "dns-timeout":
            self.completed.add(ci["ci_pkt"])
        elif ci["ci_pkt"] != 0:
            self.wrong.append(f"dns-timeout of packet {ci['ci_pkt']}")

    def check_end(self, record):
        """connection-end fires once for each connection, and again if a refused attempt was accepted after all."""
        cids = (record["cr_client_cid"], record["cr_server_cid"])
        if self.ended.get(cids, "refused") != "refused":
            self.wrong.append(f"connection {cids} ends twice")
        self.ended[cids] = record["cr_reason"]

    def check_endpoint(self, tcps):
        ends = (tcps["tcps_laddr"], tcps["tcps_lport"], tcps["tcps_raddr"], tcps["tcps_rport"])
        if self.endpoints.setdefault(tcps["tcps_addr"], ends) != ends:
            self.wrong.append(f"connection id {tcps['tcps_addr']} belongs to two endpoints")


def check(netobsd, capture, view, statuses):
    checker = Checker()
    command = [netobsd, "-r", capture, "--view", view, *VIEWS[view], "--print", "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8") as process:
        for line in process.stdout:
            checker.check_line(line)
    if checker.packet is not None:
        checker.wrong.append(f"packet {checker.packet} is never freed")
    if process.returncode not in statuses:
        checker.wrong.append(f"exit status {process.returncode}, wanted {' or '.join(map(str, sorted(statuses)))}")
    return checker


def main():
    netobsd, folder = sys.argv[1:]
    captures = [(name, statuses) for name, statuses in cases(folder) if ".pcap" in name]
    observed = 0
    for number, (name, statuses) in enumerate(captures, 1):
        replays = [(view, check(netobsd, os.path.join(folder, name), view, statuses)) for view in VIEWS]
        packets = ", ".join(f"{view} {checker.packets}" for view, checker in replays)
        observed += all(checker.packets > 0 for _, checker in replays)
        wrong = [f"{view}: {fault}" for view, checker in replays for fault in checker.wrong[:5]]
        print(f"{'not ' if wrong else ''}ok {number} - {name}\n# packets in each view: {packets}")
        for fault in wrong:
            print(f"# {fault}")
    few = observed <= len(captures) // 2
    print(f"{'not ' if few else ''}ok {len(captures) + 1} - most captures have packets\n1..{len(captures) + 1}")


main()
