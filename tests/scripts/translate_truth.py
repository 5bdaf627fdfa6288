#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a script of tests/scripts/published must print, computed from the built-in printer's JSON.

    netobsd -r FILE --print --format json | translate_truth.py NAME

Prints the lines in any order, without the bars of histograms and their empty rows.
"""
import collections
import json
import sys
import time

FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
CONNECTION, IP, TCPS, TCP = 1, 2, 3, 4


def payload(args):
    return args[IP]["ip_plength"] - args[TCP]["tcp_offset"]


def of(firings, *probes):
    return ((probe, args) for probe, args in firings if probe in probes)


def clauses(firings):
    keys = collections.Counter()
    for probe, a in firings:
        if probe == "tcp-accept-established":
            keys["@accepted[%s, %d]" % (a[TCPS]["tcps_raddr"], a[TCPS]["tcps_lport"])] += 1
        if probe == "tcp-send":
            keys["@sent[%s]" % a[IP]["ip_daddr"]] += payload(a)
        if probe == "tcp-receive" and a[TCP]["tcp_flags"] & SYN:
            keys["@syn[%s]" % a[IP]["ip_saddr"]] += 1
        if probe == "tcp-state-change":
            keys["@changes[%s, %s]" % (a[5]["tcps_statestr"], a[TCPS]["tcps_statestr"])] += 1
        if probe == "ip-send" and a[4]:
            keys["@protocols[%s, %s]" % (a[IP]["ip_saddr"], a[4]["ipv4_protostr"])] += 1
        if probe == "udp-receive":
            keys["@ports[%d]" % a[4]["udp_dport"]] += a[4]["udp_length"]
        if probe == "tcp-connect-refused":
            keys["@refused[%s, %d]" % (a[IP]["ip_saddr"], a[4]["tcp_sport"])] += 1
    for key, value in keys.items():
        print("%s: %d" % (key, value))


def ipio(firings):
    print("%20s %-3s %20s %8s" % ("SOURCE", "", "DESTINATION", "BYTES"))
    for probe, a in of(firings, "ip-send", "ip-receive"):
        here, there, arrow = ("ip_saddr", "ip_daddr", "->") if probe == "ip-send" else ("ip_daddr", "ip_saddr", "<-")
        print("%20s %-3s %20s %8d" % (a[IP][here], arrow, a[IP][there], a[IP]["ip_plength"]))


def ipproto(firings):
    count("@packets", ("%s, %s, %s" % (probe[3:], a[IP]["ip_saddr"], a[4]["ipv4_protostr"] if a[4] else a[5]["ipv6_nextstr"])
                       for probe, a in of(firings, "ip-send", "ip-receive")))


def tcpsnoop(firings):
    for probe, a in of(firings, "tcp-send", "tcp-receive"):
        tcp, flags = a[TCP], a[TCP]["tcp_flags"]
        ends = [(a[IP]["ip_saddr"], tcp["tcp_sport"]), (a[IP]["ip_daddr"], tcp["tcp_dport"])]
        (here, there), arrow = (ends, "->") if probe == "tcp-send" else (ends[::-1], "<-")
        words = "".join(word + "|" for bit, word in zip((SYN, ACK, FIN, RST, PSH), "SAFRP") if flags & bit)
        print("%15s:%-5d %s %15s:%-5d %5d (%s\b)" % (*here, arrow, *there, payload(a), words if flags else "none|"))


def tcpio(firings):
    for probe, a in of(firings, "tcp-send", "tcp-receive"):
        if payload(a) > 0:
            print("%s %s:%d %s" % ("out" if probe == "tcp-send" else "in", a[IP]["ip_saddr"], a[TCP]["tcp_sport"],
                                   "push" if a[TCP]["tcp_flags"] & PSH else "more"))


def tcpbytes(firings):
    total, sizes = collections.Counter(), []
    for _, a in of(firings, "tcp-send"):
        if payload(a) > 5:
            total["%s, %d" % (a[IP]["ip_daddr"], a[TCP]["tcp_dport"])] += payload(a)
            sizes.append(payload(a))
    show("@bytes", total)
    print("@largest: %d\n@mean: %d" % (max(sizes), sum(sizes) // len(sizes)))


def tcpsize(firings):
    sizes = [(a[IP]["ip_daddr"], payload(a)) for _, a in of(firings, "tcp-send")]
    for address in {address for address, _ in sizes}:
        print("@sent[%s]:" % address)
        rows = collections.Counter(size.bit_length() for to, size in sizes if to == address)
        for bits, number in rows.items():
            print("%s %d" % (power(bits), number))
    print("@linear:")
    for low, number in collections.Counter(size // 500 * 500 for _, size in sizes).items():
        print("[%d, %d) %d" % (low, low + 500, number))


def power(bits):
    """A row of bpftrace's hist(): the values with so many bits."""
    def short(number):
        return "%dK" % (number >> 10) if number >= 1024 else str(number)
    return "[%d]" % bits if bits < 2 else "[%s, %s)" % (short(1 << (bits - 1)), short(1 << bits))


def tcpstate(firings):
    last, entered, ended = {}, collections.Counter(), 0
    for _, a in of(firings, "tcp-state-change"):
        cid, now, state = a[CONNECTION]["cs_cid"], a[CONNECTION]["cs_ts"], a[TCPS]["tcps_statestr"]
        print("%d %8d %-18s -> %s" % (cid, (now - last.get(cid, now)) // 1000, a[5]["tcps_statestr"], state))
        last[cid] = now
        entered[state] += 1
        if state in ("state-closed", "state-time-wait"):
            del last[cid]
            ended += 1
    show("@entered", entered)
    print("ended %d" % ended)


def tcp_rwndclosed(firings):
    closed, total = {}, collections.Counter()
    for _, a in of(firings, "tcp-send"):
        cid, now = a[CONNECTION] and a[CONNECTION]["cs_cid"], a[0]["pkt_ts"]
        if a[TCP]["tcp_window"] == 0 and not a[TCP]["tcp_flags"] & (RST | SYN):
            closed[cid] = now
        elif a[TCP]["tcp_window"] != 0 and cid in closed:
            total[a[IP]["ip_saddr"]] += now - closed.pop(cid)
    show("@ns", total)


def tcpnmap(firings):
    print("%-10s %s" % ("SCAN", "FROM"))
    found = ["refused, " + a[IP]["ip_daddr"] for _, a in of(firings, "tcp-accept-refused")]
    for _, a in of(firings, "tcp-receive"):
        if a[TCP]["tcp_flags"] == 0:
            found.append("null scan, " + a[IP]["ip_saddr"])
        if a[TCP]["tcp_flags"] == URG | PSH | FIN:
            found.append("xmas scan, " + a[IP]["ip_saddr"])
    count("@scans", found)


def between(firings, name, first, second, key, divide):
    start, total = {}, collections.Counter()
    for probe, a in of(firings, first, second):
        cid = a[CONNECTION] and a[CONNECTION]["cs_cid"]
        if probe == first:
            start[cid] = a[0]["pkt_ts"]
        elif cid in start and (second != "tcp-receive" or payload(a) > 0):
            total[key(a)] += (a[0]["pkt_ts"] - start.pop(cid)) // divide
    show(name, total)


def tcpconnlat(firings):
    between(firings, "@latency", "tcp-connect-request", "tcp-connect-established", lambda a: "us, " + a[IP]["ip_saddr"], 1000)


def tcp1stbyte(firings):
    between(firings, "@ns", "tcp-connect-established", "tcp-receive",
            lambda a: "%s, %d" % (a[IP]["ip_saddr"], a[TCP]["tcp_sport"]), 1)


def tcpaccept(firings):
    accepted, refused = collections.Counter(), collections.Counter()
    for probe, a in of(firings, "tcp-accept-established", "tcp-accept-refused"):
        if probe == "tcp-accept-refused":
            refused[a[TCP]["tcp_sport"]] += 1
            continue
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(a[0]["pkt_ts"] // 10**9))
        print("%s %-15s %5d" % (when, a[IP]["ip_saddr"], a[TCP]["tcp_dport"]))
        accepted[a[TCPS]["tcps_lport"]] += 1
        refused[a[TCPS]["tcps_lport"]] += 1
    show("@accepted", {port: number // 2 for port, number in accepted.items()})
    show("@refused", dict(sorted(refused.items(), key=lambda row: (row[1], row[0]))[-1:]))


def tcpconnect(firings):
    count("@", ("%s, %d, %s, %d" % (a[CONNECTION]["cs_comm"], a[CONNECTION]["cs_pid"], a[IP]["ip_daddr"], a[TCP]["tcp_dport"])
                for _, a in of(firings, "tcp-connect-request")))


def udpio(firings):
    for probe, a in of(firings, "udp-send", "udp-receive"):
        ends = [(a[IP]["ip_saddr"], a[4]["udp_sport"]), (a[IP]["ip_daddr"], a[4]["udp_dport"])]
        (here, there), arrow = (ends, "->") if probe == "udp-send" else (ends[::-1], "<-")
        print("%15s:%-5d %s %15s:%-5d %d" % (*here, arrow, *there, a[4]["udp_length"]))


def tcp_queue(firings):
    flight, window, large, small = {}, {}, 0, 0
    for _, a in of(firings, "tcp-send"):
        if a[TCPS] and a[TCPS]["tcps_statestr"] == "state-established":
            to, now = a[TCPS]["tcps_raddr"], a[TCPS]["tcps_snxt"] - a[TCPS]["tcps_suna"]
            flight[to] = max(flight.get(to, 0), now)
            window[to] = min(window.get(to, 1 << 32), a[TCPS]["tcps_swnd"])
            large, small = large + (now > 1000), small + (now <= 1000)
    show("@flight", flight)
    show("@window", window)
    print("large %d small %d 0xff" % (large, small))


def superping(firings):
    for number, (_, a) in enumerate(of(firings, "icmp-receive"), 1):
        print("%d %s type %d code %d" % (number, a[IP]["ip_saddr"], a[4]["icmp_type"], a[4]["icmp_code"]))


def tcpretransmit(firings):
    for _, a in of(firings, "tcp-retransmit"):
        if a[5]["tcpr_kind"] != 1:
            print("%-6s %s:%d" % ("timer" if a[5]["tcpr_kind"] == 2 else "other", a[IP]["ip_daddr"], a[TCP]["tcp_dport"]))


def count(name, keys):
    show(name, collections.Counter(keys))


def show(name, rows):
    for key, value in rows.items():
        print("%s[%s]: %d" % (name, key, value))


def main():
    firings = [(firing["probe"], firing["args"]) for firing in map(json.loads, sys.stdin)]
    globals()[sys.argv[1]](firings)


main()
