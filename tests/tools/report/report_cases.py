#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Points of report.sh: what the data of pages say of made connections and of real captures.

usage: report_cases.py NETOBS CAPTURES DIRECTORY

NETOBS is the script netobs, CAPTURES tests/captures; DIRECTORY gets the captures that are made.
"""
import json
import os
import re
import runpy
import shutil
import struct
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path += [here, os.path.join(here, "../../lib")]
from points import equal, point  # noqa: E402
from report_data import Page  # noqa: E402
import verdict_cases  # noqa: E402

netobs, captures, directory = sys.argv[1:]


def run(*arguments, **options):
    return subprocess.run([netobs, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)


def report(*arguments, **options):
    """Makes a page."""
    result = run("report", *arguments, **options)
    page = Page(result.stdout)
    page.outcome = (result.returncode, result.stderr)
    return page


def made(script, name, *arguments, before=()):
    """Runs a script that writes the capture DIRECTORY/NAME; returns the path."""
    path = f"{directory}/{name}"
    sys.argv = [script, *before, path, *arguments]
    runpy.run_path(os.path.join(here, script), run_name="__main__")
    return path


def case(name):
    """The page of a capture of verdict_cases.py."""
    verdict_cases.write(name, f"{directory}/{name}.pcap")
    return report(f"{directory}/{name}.pcap")


# -------------------------------------------------------------------------------------------------------- made cases

cases = made("../../scripts/conns_cases.py", "cases.pcap")
options = ("-o", "--tcp-idle=7200")
page = first = report(cases, *options)
equal("a page of made connections", page.outcome, (0, ""))
equal("connections", page.data["connections"], run("conns", cases, *options, "--json").stdout.count("\n"))
equal("how they end", [page.rows[port][17] for port in range(80, 89)],
      ["fin", "fin", "refused", "no-answer", "reset-by-client", "reset-by-server", "idle", "idle", "idle"])
equal("refused, by whom", page.text("refused"),
      "1 connection was refused: nothing listens there, or a firewall rejects them; for example by 198.51.100.2 port 82.")
equal("reset, by which end", page.text("reset"),
      "2 connections were reset, 1 by the client and 1 by the server; for example with 198.51.100.2 port 85.")
equal("without answer", page.text("no-answer"),
      "1 connection attempt had no answer: the host is away, or a firewall drops them; for example to 198.51.100.2 "
      "port 83, an address that answers other connections.")
equal("a slow server", page.text("slow-server"),
      "On 1 connection nothing came from the server for 500 ms or longer after data of the client; the longest time "
      "was 1.300 s, of 198.51.100.2 port 81.")
equal("a client that thinks is not a slow server", page.text("slow-client"),
      "On 1 connection of 1 s or longer the server needed less than a tenth of the time for its answers: the rest is "
      "handshake, waiting for the client, transfer, or idle.")
equal("a closed window, of which end", re.sub(",* for at most.*", "", page.text("zero-window")),
      "Receive windows were closed 1 time on 1 connection, 0 by clients and 1 by servers")
equal("a SYN that is sent again", page.text("retransmissions"),
      "2 segments were sent again on 1 connection, 2 by clients and 0 by servers: 2 SYN or SYN-ACK.")
equal("no handshake is slow", page.text("handshake"), "No handshake took 250 ms or longer; the longest took 20.000 ms.")
equal("no DNS query is without answer", page.text("dns"), "No DNS query timed out without an answer.")
weights = [sentence["weight"] for sentence in page.data["verdict"]]
equal("ten sentences, the heaviest first", (len(weights), weights), (10, sorted(weights, reverse=True)))
equal("the worst connections have their segments", len(page.data["details"]), 9)
point("a second page is the same", report(cases, *options).html == first.html)

page = report(made("attempts.py", "attempts.pcap", "0", "1", "3", "7"))
equal("SYNs that are repeated until the capture ends have no answer", page.text("no-answer").split(":")[0],
      "1 connection attempt had no answer")
equal("which is not a gap of the capture", page.text("capture").split(":")[0], "The capture itself has no gap")
equal("the connection is opening all the time",
      (min(page.data["states"]["opening"]), max(page.data["states"]["open"])), (1, 0))
page = report(made("attempts.py", "attempts.pcap", "0"))
equal("a single SYN may have an answer after the capture", page.text("no-answer"),
      "No connection attempt timed out or was repeated without an answer.")
equal("and is not a gap either", page.verdict["capture"]["weight"], 0)

page = case("probes")
equal("probes of a closed window with data are not retransmissions", page.text("retransmissions"),
      "Nothing was sent again.")
equal("in the ladder neither", [s[8] for s in page.segments() if s[8]], [6, 6, 6, 6])
page = case("lost")
equal("a lost request or answer makes no slow server", page.text("slow-server"),
      "On 2 connections nothing came from the server for 500 ms or longer after data of the client; the longest time "
      "was 900.000 ms, of 198.51.100.2 port 81. On 2 connections an answer took that long only because it or its "
      "request was sent again, the longest 1.220 s: that is the time of the network.")
equal("the packets of requests and answers", page.evidence("slow-server"),
      "[(81, 'request in packet 15 and again in packet 16, answer in packet 18'), (82, 'request in packet 29, answer "
      "in packet 30'), (80, 'request in packet 4 and again in packet 6, answer in packet 7'), (83, 'request in "
      "packet 38, answer sent again in packet 40')]")
equal("the link goes to the answer", page.evidence_packets("slow-server"), [18, 30, 7, 40])
page = case("replies")
equal("a short reply to the server's data needs no answer", page.text("slow-server"),
      "On 2 connections nothing came from the server for 500 ms or longer after data of the client; the longest time "
      "was 13.170 s, of 198.51.100.2 port 82. On 2 other connections nothing came from the server for up to 12.999 s "
      "after a short reply of the client to its data, which may need no answer (to a heartbeat, for example).")
equal("the packets of these", page.evidence("slow-server"),
      "[(82, 'request in packet 27, answer in packet 29'), (81, 'request in packet 16, answer in packet 18'), (80, "
      "'request in packet 5, answer in packet 7'), (83, 'request in packet 40, answer in packet 41')]")
page = case("holes")
equal("an answer that may be in a hole of the capture", page.text("slow-server"),
      "On 1 connection nothing came from the server for 500 ms or longer after data of the client; the longest time "
      "was 1.510 s, of 198.51.100.2 port 81. On 1 other connection the capture lacks data that the server sent in a "
      "pause of 500 ms or longer, perhaps the answer.")
page = case("unacknowledged")
equal("a server that does not acknowledge a request that is sent again", page.sentence("slow-server"),
      "No answer was measured. On 1 connection nothing came from the server for 900.000 ms, not even an ACK, after a "
      "request that was sent again: what it sent was lost, or the last copy, too. [(80, 'request in packet 4 and "
      "again in packet 6, answer in packet 7')]")
page = case("first_holes")
equal("the first answer is in a hole of the capture", page.text("slow-server"),
      "No answer was measured. On 3 connections the capture lacks data that the server sent in a pause of 500 ms or "
      "longer, perhaps the answer.")
equal("which is a gap of the capture", page.text("capture").split(".")[0],
      "The capture itself has gaps, which are not faults of the network: 3 connections lack data (3000 bytes that the "
      "receiver acknowledges)")
page = case("fast_open")
equal("a request in a SYN that is lost makes no slow server", page.sentence("slow-server"),
      "No server is known to have taken 500 ms or longer for an answer; the longest took 10.000 ms. On 1 connection "
      "an answer took that long only because it or its request was sent again, the longest 3.010 s: that is the time "
      "of the network. [(80, 'request in packet 1 and again in packet 4, answer in packet 5')]")
page = case("greeting")
equal("a server that sends first, and late", page.sentence("slow-server"),
      "On 1 connection nothing came from the server, which sends first, for 500 ms or longer after the handshake; "
      "the longest time was 9.980 s, of 198.51.100.2 port 25. [(25, 'packet 4')]")
equal("makes no slow client", page.text("slow-client"),
      "On no connection of 1 s or longer is the client known to be the slow end.")
page = case("preconnection")
equal("a client that does not wait for the server", page.text("slow-server"), "No answer was measured.")
page = case("one_direction")
equal("no silence of an end that the capture lacks", "silent" in page.verdict, False)
equal("and perhaps answers of DNS", page.text("dns"),
      "1 DNS query was not answered in time, perhaps because the capture has one direction only, as of TCP; the "
      "first by 198.51.100.2 port 53.")
page = case("too_big")
equal("silence, and an ICMP error", page.text("silent"),
      "2 connections fell silent: what was sent last had no acknowledgement. The server 198.51.100.2 port 80, for "
      "example, was sent 3 retransmissions in 2.800 s and did not answer: packet 5, an ICMP error, says that a packet "
      "was too big for the path.")
page = case("queued")
equal("the wait of a request is not known while the client sends others", page.text("slow-server"),
      "No server is known to have taken 500 ms or longer for an answer; the longest took 100.000 ms.")
equal("the client is not the slow end", page.text("slow-client"),
      "On no connection of 1 s or longer is the client known to be the slow end.")
page = case("many_lost")
equal("more slow answers than are searched for", page.text("slow-server"),
      "No server is known to have taken 500 ms or longer for an answer; the longest took 10.000 ms. On 300 "
      "connections an answer took that long only because it or its request was sent again, the longest 1.010 s: that "
      "is the time of the network. On 10 connections an answer took up to 1.010 s, perhaps the time of the network: "
      "its packets were not searched for, or not found.")
page = case("repeated")
equal("a DNS query that is sent again after its time", page.text("dns")[:13], "2 DNS queries")
page = case("closings")
equal("closings that are long in all", page.text("zero-window"),
      "Receive windows were closed 5 times on 1 connection, 5 by clients and 0 by servers, for at most 100.000 ms at "
      "a time, and for 500.000 ms in all on one connection: the program of the client 192.0.2.1 port 40000 reads too "
      "slowly.")
page = case("readers")
equal("the longest closing, of one of many ends that close their windows", page.sentence("zero-window"),
      "Receive windows were closed 26 times on 2 connections, 25 by clients and 1 by servers, for at most 300.000 ms "
      "at a time, and for 320.000 ms in all on one connection: the program of the server 198.51.100.2 port 81 reads "
      "too slowly. [(81, 'packet 55'), (80, 'packet 9')]")
page = report(f"{directory}/readers.pcap", "--top=0")
equal("without details, its connection", page.text("zero-window").split(": ")[-1],
      "a program of the connection with the server 198.51.100.2 port 81 reads too slowly.")
page = case("reopened")
equal("one that is longer than those that are not opened again", page.sentence("zero-window"),
      "Receive windows were closed 2 times on 2 connections, 1 by clients and 1 by servers, for at most 2.000 s at a "
      "time: the program of the server 198.51.100.2 port 81 reads too slowly. One was not opened again: the program "
      "of the client 192.0.2.1 port 40000 has stopped reading, 500.000 ms before the end. [(80, 'packet 11'), (81, "
      "'packet 5')]")
page = case("stuck")
equal("windows that are not opened again", page.text("zero-window"),
      "Receive windows were closed 5 times on 4 connections, 2 by clients and 3 by servers, for at most 2.930 s at a "
      "time, and for 3.010 s in all on one connection: the program of the client 192.0.2.1 port 40000 reads too "
      "slowly. 2 were not opened again, 1 of clients and 1 of servers: the program of the client 192.0.2.1 port "
      "40000 has stopped reading, 2.930 s before the end.")
equal("the packets that closed them", page.evidence("zero-window"),
      "[(80, 'packet 19'), (81, 'packet 14'), (82, 'packet 16'), (83, 'packet 31')]")
for version in "twice", "twice6":
    page = case(version)
    equal(f"{version}: packets that were captured twice", page.text("capture").split(":")[0],
          "About half of the packets are duplicates")
    equal(f"{version}: which are not retransmissions", page.text("retransmissions"), "Nothing was sent again.")
    equal(f"{version}: the first sentence", page.data["verdict"][0]["topic"], "capture")
page = case("twice_midway")
equal("duplicates, and then a list of gaps", page.text("capture").split("below count them. ")[-1],
      "The capture itself has gaps, which are not faults of the network: 1 connection began before it.")
page = case("again")
equal("retransmissions are not duplicates", [page.verdict["capture"]["weight"], page.text("retransmissions")[:26]],
      [0, "1 segment was sent again o"])
page = case("stamps")
equal("wrong time stamps are named", page.text("capture"),
      "The capture itself has no gap: it has all data that is acknowledged, and every connection begins in it. 2 "
      "packets, packet 1 the first, have time stamps far from those around them, and are not on the time axes.")
equal("and are in no axis", [*page.values("duration", "stray", "frames"), sum(frames for _, frames in page.volume())],
      [1110000, 2, 28, 26])
equal("nor in the times of segments", max(s[0] for s in page.segments()), 1110000)
page = case("days")
equal("a pause of days", page.text("capture"), "There is no TCP connection. It is silent for 3.0 days before packet 9.")
page = case("years")
equal("a pause of years", page.text("capture"),
      "There is no TCP connection. It is silent for 10.0 years before packet 9: the clock was set, or captures of "
      "different times are merged.")
page = case("lossy")
equal("data that the capture lacks", page.text("capture"),
      "The capture itself has gaps, which are not faults of the network: 1 connection lacks data (1000 bytes that the "
      "receiver acknowledges).")
equal("and on which connection",
      (page.verdict["capture"]["weight"], [e[0] for e in page.verdict["capture"]["evidence"]]), (60, [0]))
page = case("shortened")
equal("packets that are cut without a sign", page.text("capture").split(".")[0],
      "16 packets are shorter than the length in the IP header, although the capture says that they were captured "
      "whole")
page = case("snap")
equal("a snapshot length that cuts headers",
      (page.data["verdict"][0]["topic"], page.data["connections"], page.text("capture")),
      ("capture", 4, "The snapshot length is too small: 18 of 26 packets are cut in their headers, so that this page "
                     "lacks most of the traffic."))
page = case("only_queries")
equal("a capture without TCP", (page.text("capture"), page.verdict["capture"]["weight"]),
      ("There is no TCP connection.", 0))
page = report(made("../../capture/formats_captures.py", "statistics.pcapng", before=["statistics"]))
equal("frames that the interfaces of a pcapng file dropped", page.text("capture"),
      "The capture itself has gaps, which are not faults of the network: 2228 frames were dropped.")
page = case("handshake")
equal("a slow handshake, and its packet", page.sentence("handshake"),
      "1 handshake took 250 ms or longer: 1 for want of the SYN-ACK of the server; the longest took 320.000 ms, to "
      "198.51.100.2 port 81. [(81, 'packet 8')]")
page = case("slow_ack")
equal("of which the client's ACK is late", page.sentence("handshake"),
      "1 handshake took 250 ms or longer: 1 for want of the ACK of the client; the longest took 400.000 ms, to "
      "198.51.100.2 port 80. [(80, 'packet 5')]")
page = case("crossed")
equal("a SYN-ACK after the handshake counts for nothing", page.sentence("handshake"),
      "1 handshake took 250 ms or longer: 1 for want of the ACK of the client; the longest took 999.000 ms, to "
      "198.51.100.2 port 80. [(80, 'packet 6')]")
page = case("syn_again")
equal("a SYN or SYN-ACK that is sent again", page.sentence("handshake"),
      "3 handshakes took 250 ms or longer: 1 for want of the SYN-ACK of the server, 1 because the SYN was sent "
      "again, 1 because the SYN-ACK was sent again (it or the answer to it was lost, or the queue of the server was "
      "full); the longest took 2.010 s, to 198.51.100.2 port 82. [(82, 'packet 11'), (81, 'packet 8'), (80, 'packet "
      "5')]")
page = case("hung")
equal("requests without answer", page.sentence("open-request"),
      "6 requests were never answered: the server received them and sent nothing; for example by 198.51.100.2 port "
      "82, where the server closed the connection after 4.000 s. [(82, 'packet 15'), (83, 'packet 22'), (88, 'packet "
      "29'), (81, 'packet 9'), (80, 'packet 4')]")
page = case("old_port")
equal("a SYN that is answered for an older connection", page.text("handshake").split(";")[0],
      "1 handshake took 250 ms or longer: 1 because the server answered for an older connection of the same ports")
page = case("twice_slow")
equal("a SYN-ACK that is captured twice was sent once", page.text("handshake").split(";")[0],
      "1 handshake took 250 ms or longer: 1 for want of the ACK of the client")
for version in "twice_server", "twice_server6":
    page = case(version)
    equal(f"{version}: a copy is not an answer", page.sentence("slow-server"),
          "On 1 connection nothing came from the server for 500 ms or longer after data of the client; the longest time "
          "was 800.000 ms, of " + ("2001:db8::2" if version[-1] == "6" else "198.51.100.2") + " port 80. "
          "[(80, 'request in packet 7, answer in packet 11')]")
page = case("twice_server")
equal("the ladder has each segment once", len(page.segments()), 14)
page = case("one_way")
equal("messages of one direction, and one before the client closes: not counted", "open-request" in page.verdict, False)
page = case("hang")
equal("those that hang until the client closes, or of several segments", page.evidence("open-request"),
      "[(81, 'packet 31'), (80, 'packet 19')]")
equal("only a third client is slow", page.text("slow-client")[:15], "On 1 connection")
page = case("last_fin")
equal("a FIN without answer, before a probe", page.evidence("silent"), "[(80, 'packet 10')]")
page = case("silent")
equal("connections that fall silent", page.sentence("silent"),
      "2 connections fell silent: what was sent last had no acknowledgement. The server 198.51.100.2 port 80, for "
      "example, was sent 3 retransmissions in 1.200 s and did not answer, or the path to it is interrupted. [(80, "
      "'packet 12'), (81, 'packet 19')]")
equal("are not servers that do not answer", page.evidence("open-request"), "[(82, 'packet 20')]")
page = case("spurious")
equal("nor is an end silent that has acknowledged what is sent again",
      ("silent" in page.verdict, page.text("retransmissions").split(": ")[-1]),
      (False, "4 unneeded, because they were acknowledged already."))
page = case("half_open")
equal("handshakes that are never completed", page.sentence("half-open"),
      "2 connections were never established: 2 because the SYN-ACK had no ACK (it does not reach the client, or the "
      "SYN is one of a flood with wrong addresses); for example to 198.51.100.2 port 80. [(80, 'packet 6'), (81, "
      "'packet 4')]")
page = case("untaken")
equal("nor by a server that does not take the ACK", page.sentence("half-open"),
      "2 connections were never established: 1 because the SYN-ACK had no ACK (it does not reach the client, or the "
      "SYN is one of a flood with wrong addresses), 1 because the server took nothing that followed its SYN-ACK "
      "(its queue of connections is full, because the program does not accept them, or what the client sends does not "
      "reach it); for example to 198.51.100.2 port 80. [(80, 'packet 6'), (84, 'packet 10')]")
equal("which is not silence", "silent" in page.verdict, False)
equal("it may send a RST instead", page.text("reset"),
      "1 connection was reset, 0 by the client and 1 by the server: 1 before it was established; for example with "
      "198.51.100.2 port 82.")
page = case("rejected")
equal("attempts that ICMP rejects", page.sentence("unreachable"),
      "1 connection attempt was answered with an ICMP error: 1 communication administratively prohibited (from "
      "198.51.100.2); for example to 198.51.100.2 port 80. [(80, 'packet 2')]")
equal("are not without an answer", page.sentence("no-answer"),
      "1 connection attempt had no answer: the host is away, or a firewall drops them; for example to 198.51.100.2 "
      "port 81, an address that answers other connections. [(81, '')]")
equal("and DNS queries", page.text("dns"),
      "1 DNS query was not answered in time; the first by 198.51.100.2 port 53, rejected by 198.51.100.2: port "
      "unreachable.")
page = case("errors")
equal("ICMP errors by kind, with their senders", page.text("unreachable"),
      "7 connection attempts were answered with ICMP errors: 2 communication administratively prohibited (from "
      "192.0.2.254 and others), 1 fragment reassembly time exceeded (from 198.51.100.2), 1 host unreachable (from "
      "192.0.2.254), 1 parameter problem (from 192.0.2.254), 2 of other kinds; for example to 7 ports of "
      "198.51.100.2.")
equal("and what has no answer", page.text("no-answer").split(":")[0], "1 connection attempt had no answer")
page = case("errors6")
equal("ICMPv6 errors", page.text("unreachable"),
      "2 connection attempts were answered with ICMP errors: 1 communication administratively prohibited (from "
      "2001:db8::fe), 1 hop limit exceeded in transit (from 2001:db8::fe); for example to 2 ports of 2001:db8::2.")
equal("no attempt is without an answer then", page.text("no-answer"),
      "No connection attempt timed out or was repeated without an answer.")
page = case("survived")
equal("an attempt that goes on has had the error, too", page.text("unreachable").split("(")[0],
      "1 connection attempt was answered with an ICMP error: 1 host unreachable ")
equal("the records have the same words", sorted(json.loads(line)["cr_icmp_str"] for line in run(
    "conns", f"{directory}/survived.pcap", "--json").stdout.splitlines()), ["", "host unreachable"])
for name in "revived", "paused":
    equal(f"what goes on after its end has begun in the capture: {name}", case(name).text("capture").split(":")[0],
          "The capture itself has no gap")
equal("another connection of the same ports has not", case("reused").text("capture").split(".")[0],
      "The capture itself has gaps, which are not faults of the network: 1 connection began before it")
page = case("scan")
equal("a scan, and a SYN at the end of the capture", page.text("no-answer"),
      "20 connection attempts had no answer: the host is away, or a firewall drops them; for example to 20 ports of "
      "198.51.100.2, an address that answers other connections.")
page = case("queries")
equal("DNS queries without answer, and their packets", page.sentence("dns"),
      "2 DNS queries were not answered in time; the first by 198.51.100.2 port 53. [(53, 'packet 3'), (53, 'packet "
      "4')]")
page = report(f"{directory}/queries.pcap", "--top=0")
equal("packets are found without details", page.evidence("dns"), "[(53, 'packet 3'), (53, 'packet 4')]")

# ----------------------------------------------------------------------------------------------------- real captures


def numbering(name, reasons, *arguments):
    """Why the numbers of packets are not those of Wireshark."""
    equal(f"numbers of packets: {name}", report(*arguments).data["numbering"], reasons)


def real(name):
    return f"{captures}/{name}.pcap"


questions, http = real("questions"), real("http")
numbering("of one capture", [], questions)
numbering("of several, with a filter", ["files", "filter"], "-f", "tcp", questions, http)
numbering("of a part of its time", ["window"], "-o", "--from=2023-11-14T22:13:30Z", questions)
numbering("of frames with another link type", ["links"], made("link_types.py", "links.pcapng"))

page = report(questions)
equal("a page of a capture with losses", page.outcome, (0, ""))
equal("the evidence of refusals", page.evidence_packets("refused"), [37, 39, 41, 43, 48])
page = report(http, "--top", "3")
equal("--top", [len(page.data["details"]), sum(row[19] >= 0 for row in page.data["rows"]), page.data["connections"]], [3, 3, 36])
equal("--top=0", report(http, "--top=0").values("details", "connections"), [[], 36])
page = report("-f", "tcp port 80", questions, http)
equal("-f and two captures", [len(page.data["files"]), *page.values("filter", "frames", "connections")],
      [2, "tcp port 80", 32, 3])
summary = subprocess.run([os.environ["NETOBSD"], "-r", questions, "--summary", "tcp port 80 or port 53"],
                         capture_output=True, text=True).stderr
equal("several -f are one filter", report("-f", "tcp port 80", "-f", "or port 53", questions).values("filter", "frames"),
      ["tcp port 80 or port 53", int(re.search(r"^frames +(\d+)", summary, re.M)[1])])
page = report(real("empty"))
equal("a capture without frames", [page.outcome[0], *page.values("frames", "rows", "volume")], [0, 0, [], []])
equal("of which nothing can be said", page.data["verdict"][0]["text"],
      "There is no packet: nothing was captured, or nothing passes the filter.")
page = report(real("icmpv6-mld"))
equal("a capture without connections", [page.outcome[0], *page.values("connections", "details", "frames")], [0, 0, [], 1])
equal("ICMPv6 after an option of a router", page.volume(), [["ICMP", 1]])
equal("TCP and UDP after options, and a fragment", report(made("extended.py", "extended.pcap")).volume(),
      [["TCP", 1], ["UDP", 1], ["other IP", 1]])
equal("a connection of an address with itself counts once",
      [[talker[0], talker[3]] for talker in report(real("null-tcp")).data["talkers"]], [["127.0.0.1", 1], ["::1", 1]])
page = report(made("many_resets.py", "resets.pcap"))
senders = [segment[2] for segment in page.data["details"][0]["segments"]]
equal("a flood of RST is cut after the segments of its end, and shows its beginning", [senders.count(0), senders.count(1)],
      [3, 2100])
page = report(made("reset_cases.py", "resets.pcap"))
equal("which end has reset, and when", page.text("reset"),
      "4 connections were reset, 2 by the client and 2 by the server: 1 before it was established, 1 after its own "
      "FIN, because the program had closed already, which is usually harmless, 1 after the FIN of the other end, as "
      "some programs close; for example with 198.51.100.2 port 80.")
equal("the packets are the RST that had an effect", page.evidence_packets("reset"), [7, 17, 22, 14])
with open(f"{directory}/far.pcap", "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for second in (0, 0xFFFFFFFF, 1):  # 1970, 2106
        file.write(struct.pack("<IIII", second, 0, 60, 60) + bytes(60))
page = report(f"{directory}/far.pcap")
equal("the farthest time stamps", [page.outcome[0], *page.values("frames", "duration", "stray"), page.data["bins"] <= 240],
      [0, 3, 1000000, 1, True])
page = report(real("broken-record"))
equal("a damaged capture is reported", (page.outcome[0], page.outcome[1].count("broken-record.pcap ends unexpectedly")),
      (2, 1))
equal("and the page says so first", page.data["verdict"][0]["text"][:77],
      "The capture is damaged or incomplete, and this page ends where it breaks off.")

# ------------------------------------------------------------------------------------------------- what is in a page

page = report(http)
equal("a page", page.outcome, (0, ""))
equal("nothing is loaded from elsewhere", set(re.findall("(?:https?:)?//[a-z][^\"' ]*", page.html)),
      {"http://www.w3.org/2000/svg"})
policy = ("Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-[^ ]*'; style-src 'sha256-[^ ]*'; "
          "base-uri")
equal("and the policy forbids it", len(re.findall(policy, page.html)), 1)
# The last character is not UTF-8.
name = f"{directory}/</script>\"'&".replace("/", "_").encode() + b"\351.pcap"
shutil.copyfile(http, os.path.join(directory.encode(), name))
page = report(name, cwd=directory)
equal("no name ends an element",
      (page.html.count("</script>"), "</script>" in page.data["files"][0].replace("_", "/").replace("\\", "")), (2, True))
