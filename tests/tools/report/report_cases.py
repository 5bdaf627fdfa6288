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
equal("what is wrong with them, most cost first", page.found(),
      ["slow-reader-server server 86:25", "no-answer network 83:29", "refused server 82:9", "reset server 85:28",
       "slow-server server 81:36"])
equal("refused, by whom", page.text("refused"),
      "Refused: 1 attempt to connect to 198.51.100.2 port 82 got a RST; nothing listens there.")
equal("a slow server", page.text("slow-server"),
      "The server is slow: clients waited 1.29 s for the program at 198.51.100.2 port 81, which took 500.0 ms or more for 1 "
      "of 1 answer on 1 connection, at most 1.29 s.")
weights = [sentence["weight"] for sentence in page.data["verdict"]]
equal("the heaviest first", weights, sorted(weights, reverse=True))
equal("the worst connections have their segments", len(page.data["details"]), 9)
point("a second page is the same", report(cases, *options).html == first.html)

page = report(made("attempts.py", "attempts.pcap", "0", "1", "3", "7"))
equal("SYNs that are repeated until the capture ends have no answer", page.found(), ["no-answer network 80:2"])
equal("which is not a gap of the capture", page.text("capture").split(":")[0], "The capture itself has no gap")
equal("the connection is opening all the time",
      (min(page.data["states"]["opening"]), max(page.data["states"]["open"])), (1, 0))
page = report(made("attempts.py", "attempts.pcap", "0"))
equal("a single SYN may have an answer after the capture", page.found(), [])
equal("and is not a gap either", page.verdict["capture"]["weight"], 0)

page = case("probes")
equal("probes of a closed window with data are not retransmissions", page.found(), ["slow-reader-client client 80:6"])
equal("in the ladder neither", [s[8] for s in page.segments() if s[8]], [6, 6, 6, 6])
page = case("lost")
equal("a lost request or answer makes no slow server; the link goes to the answer", page.found(),
      ["lost-client network 80:5 82:27 81:16", "slow-server server 81:18 82:30", "lost-server network 83:40"])
equal("how many are slow, and how long", page.text("slow-server"),
      "The server is slow: clients waited 1.49 s for the program at 198.51.100.2 port 81 and 1 other, which took 500.0 ms or "
      "more for 2 of 3 answers on 2 connections, at most 890.0 ms.")
equal("where losses are", [re.search(r"lost (before and after|before|after) the", page.text(kind))[1]
                           for kind in ("lost-client", "lost-server")], ["after", "before"])
equal("the packets of requests and answers", page.evidence("slow-server"),
      "[(81, 'request in packet 15 and again in packet 16, answer in packet 18'), (82, 'request in packet 29, answer "
      "in packet 30')]")
page = case("replies")
equal("after a short reply to the server's data the server is asked, too", page.found(),
      ["slow-server server 82:29 81:18 80:7 83:41"])
page = case("holes")
equal("a slow answer after a hole of the capture; another one may be in a hole", page.found(),
      ["slow-server server 81:17"])
equal("loss has the time of a server that does not acknowledge a request that is sent again",
      case("unacknowledged").found(), ["lost-client network 80:5"])
page = case("first_holes")
equal("the first answer is in a hole of the capture", page.found(), [])
equal("which is a gap of the capture", page.text("capture").split(".")[0],
      "The capture itself has gaps, which are not faults of the network: 3 connections lack data (3000 bytes that the "
      "receiver acknowledges)")
equal("a request in a SYN that is lost makes no slow server", case("fast_open").found(), ["lost-attempts network 80:4"])
equal("a server that sends first, and late", case("greeting").found(),
      ["slow-server server 25:4", "lost-server network 26:15"])
equal("a client that does not wait for the server", case("preconnection").found(), [])
page = case("one_direction")
equal("no silence of an end that the capture lacks", page.found(), [])
equal("and perhaps answers of DNS", page.text("dns-mute"),
      "DNS does not answer: 2 DNS queries were never answered by 198.51.100.2 port 53, for example for www.example, "
      "perhaps because the capture has one direction only, as of TCP.")
page = case("too_big")
equal("silence, and an ICMP error", page.found(), ["mtu network 80:6", "silent network 81:18"])
equal("which side loses what", page.text("mtu"),
      "MTU black hole: on 1 connection with 198.51.100.2 port 80 large segments of the client (1400 bytes) never arrive "
      "and small ones do; an ICMP error says that they are too big for the path, and the sender does not heed it.")
equal("the wait of a request is not known while the client sends others", case("queued").found(), [])
equal("more slow answers than are searched for", case("many_lost").found(),
      ["lost-client network 1:428 2:434 3:442 4:450 5:458"])
page = case("repeated")
equal("a DNS query that is sent again after its time", page.text("dns-mute")[:34], "DNS does not answer: 2 DNS queries")
equal("closings that are long in all", case("closings").found(), ["slow-reader-client client 80:6"])
page = case("readers")
equal("the longest closing, of one of many ends that close their windows", page.found(),
      ["slow-reader-client client 80:9", "slow-reader-server server 81:55"])
page = report(f"{directory}/readers.pcap", "--top=0")
equal("without details, its connection", page.text("slow-reader-client"),
      "The client reads too slowly: 1 transfer waited 380.0 ms for the receive window of 192.0.2.1 port 40000 to open; "
      "the program there does not read.")
equal("one that is longer than those that are not opened again", case("reopened").found(),
      ["slow-reader-server server 81:5", "slow-reader-client client 80:11"])
page = case("stuck")
equal("windows that are not opened again", page.found(),
      ["reset server 81:26", "slow-reader-client client 80:19", "slow-reader-server server 81:14 82:16"])
equal("until the capture ends", re.search("waited ([0-9.]+ s)", page.text("slow-reader-client"))[1], "2.93 s")
for version in "twice", "twice6":
    page = case(version)
    equal(f"{version}: packets that were captured twice", page.text("capture").split(":")[0],
          "About half of the packets are duplicates")
    equal(f"{version}: which are not retransmissions", page.found(), [])
page = case("twice_midway")
equal("duplicates, and then a list of gaps", page.text("capture").split("below count them. ")[-1],
      "The capture itself has gaps, which are not faults of the network: 1 connection began before it.")
page = case("again")
equal("retransmissions are not duplicates", [page.verdict["capture"]["weight"], page.found()],
      [0, ["lost-server network 80:25"]])
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
equal("a slow handshake, and its packet", case("handshake").found(), ["slow-handshake server 81:8"])
equal("of which the client's ACK is late", case("slow_ack").found(), ["slow-handshake client 80:5"])
page = case("crossed")
equal("a SYN-ACK after the handshake counts for nothing", page.found(), ["slow-handshake client 80:6"])
equal("what was waited for", page.text("slow-handshake"),
      "Slow handshakes: on 1 connection to 198.51.100.2 port 80 the ACK of the client came late, at most after 999.0 ms, "
      "though round trips are shorter later.")
page = case("syn_again")
equal("a SYN or SYN-ACK that is sent again, and one that waits for the server all the same", page.found(),
      ["lost-attempts network 81:8 80:5", "slow-handshake server 82:11"])
equal("which of them was lost", re.search("after the (.*) was sent again", page.text("lost-attempts"))[1],
      "SYN (1) or the SYN,ACK (1)")
page = case("hung")
equal("requests without answer", page.found(), ["unanswered server 82:15 83:22 88:29 81:9 80:4"])
equal("of whom, and until when", page.text("unanswered"),
      "Never answered: the server took 6 requests to 198.51.100.2 port 82 and 5 others and sent nothing; the server gave "
      "up after 4.00 s.")
page = case("old_port")
equal("a SYN that is answered for an older connection", page.text("slow-handshake"),
      "Slow handshakes: on 1 connection to 198.51.100.2 port 80 the server answered for an older connection of the same "
      "ports, and the SYN was sent again, at most after 3.02 s.")
equal("a SYN-ACK that is captured twice was sent once", case("twice_slow").found(), ["slow-handshake client 80:9"])
for version in "twice_server", "twice_server6":
    page = case(version)
    equal(f"{version}: a copy is not an answer", [page.found(), page.evidence("slow-server")],
          [["slow-server server 80:11"], "[(80, 'request in packet 7, answer in packet 11')]"])
page = case("twice_server")
equal("the ladder has each segment once", len(page.segments()), 14)
equal("messages of one direction, and one before the client closes, are none", case("one_way").found(), [])
page = case("hang")
equal("those that hang until the client closes, or of several segments", page.found(), ["unanswered server 81:31 80:19"])
equal("a FIN without answer, before a probe", case("last_fin").found(), ["silent network 80:10"])
page = case("silent")
equal("connections that fall silent are not servers that do not answer", page.found(),
      ["silent network 80:12 81:19", "lost-client network 82:27 83:30"])
equal("who answers nothing", page.text("silent"),
      "The path died: 2 connections fell silent; the server 198.51.100.2 port 80 answered none of 3 retransmissions in "
      "1.20 s.")
equal("nor is an end silent that has acknowledged what is sent again", case("spurious").found(), [])
equal("handshakes that are never completed", case("half_open").found(), ["half-open network 80:6 81:4"])
page = case("untaken")
equal("nor by a server that does not take the ACK, which is not silence; it may send a RST instead", page.found(),
      ["unanswered server 83:17", "backlog server 80:18", "half-open network 84:10", "reset server 82:16",
       "lost-attempts network 81:26", "lost-client network 80:18 83:19"])
page = case("rejected")
equal("attempts that ICMP rejects are not without an answer, and DNS queries", page.found(),
      ["no-answer network 81", "rejected network 80:2", "udp-unreachable server"])
page = case("errors")
equal("ICMP errors of many kinds and senders, and what has none", page.found(),
      ["rejected network 80:2 81:4 82:6 83:8 84:10", "no-answer network 87:16"])
equal("the first of them", page.text("rejected"),
      '7 attempts to connect to 198.51.100.2 port 80 and 6 others were rejected with an ICMP error: "communication '
      'administratively prohibited", sent by 192.0.2.254, a firewall or router that does not let them pass.')
page = case("errors6")
equal("ICMPv6 errors: no attempt is without an answer then", page.found(), ["rejected network 80:2 81:4"])
equal("with their words", page.text("rejected").split(", ")[0],
      "2 attempts to connect to 2001:db8::2 port 80 and 1 other were rejected with an ICMP error: \"communication "
      "administratively prohibited\"")
page = case("survived")
equal("an attempt that goes on has had the error, too", page.found(), ["rejected network 80:2"])
equal("the records have the same words", sorted(json.loads(line)["cr_icmp_str"] for line in run(
    "conns", f"{directory}/survived.pcap", "--json").stdout.splitlines()), ["", "host unreachable"])
for name in "revived", "paused":
    equal(f"what goes on after its end has begun in the capture: {name}", case(name).text("capture").split(":")[0],
          "The capture itself has no gap")
equal("another connection of the same ports has not", case("reused").text("capture").split(".")[0],
      "The capture itself has gaps, which are not faults of the network: 1 connection began before it")
page = case("scan")
equal("a scan", page.text("scan"),
      "192.0.2.1 scans: it tried 21 ports that do not take connections, and none answered.")
equal("which is not another finding", page.found(), ["scan client 80 81 82 83 84"])
page = case("queries")
equal("DNS queries without answer, and their packets", page.found(), ["dns-mute server 53:3 53:4"])
equal("an answer to a multicast address comes from another one", case("group").found(), [])
page = report(f"{directory}/queries.pcap", "--top=0")
equal("packets are found without details", page.evidence("dns-mute"), "[(53, 'packet 3'), (53, 'packet 4')]")

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
equal("which end has reset: not one that has closed before; the packets are the RST that had an effect", page.found(),
      ["reset server 80:7"])
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

# --------------------------------------------------------------------------------------------- findings without a page

text = run("report", "--text", f"{directory}/lost.pcap")
lines = text.stdout.splitlines()
equal("as text", [text.returncode, text.stderr, lines[0], [line[:30] for line in lines if line[:1].isdigit()][1:4]],
      [0, "", "45 packets in 6.920 s, 4 connections",
       ["1. Loss toward the server: 4 o", "2. The server is slow: clients", "3. Loss toward the client: 2 o"]])
equal("each with examples", lines[5],
      "    for example 192.0.2.1 port 40000 (packet 18), 192.0.2.1 port 40000 (packet 30)")
equal("and the services", lines[-4].split(), ["1", "0%", "20.0ms", "20.0ms", "20.0ms", "10.0ms", "590ms", "590ms", "8.3%", "214", "1.31s",
                                               "loss", "198.51.100.2", "port", "82/tcp"])
equal("a capture with nothing wrong", run("report", "--text", f"{directory}/queued.pcap").stdout.splitlines()[2],
      "Nothing wrong was found.")
answer = json.loads(run("report", "--json", f"{directory}/lost.pcap").stdout)
equal("as JSON", [list(answer), [finding["finding"] for finding in answer["findings"]]],
      [["files", "packets", "duration_us", "connections", "findings", "caveats", "services"],
       ["lost-client", "slow-server", "lost-server"]])
slow = answer["findings"][1]
equal("a finding", [slow[key] for key in ("side", "count", "of", "waited_us", "where")] + slow["examples"][:1],
      ["server", 2, 3, 1490000, {"address": "198.51.100.2", "port": 81},
       {"packet": 18, "client": {"address": "192.0.2.1", "port": 40000}, "server": {"address": "198.51.100.2", "port": 81}}])
equal("where time went, by service", [sum(service["waits_us"].values()) for service in answer["services"]],
      [1720000, 1420000, 1420000, 920000])
equal("the status of --check: something is wrong, nothing is, the capture cannot tell, it breaks off",
      [run("report", "--check", "--json", name).returncode for name in (
          f"{directory}/lost.pcap", f"{directory}/queued.pcap", f"{directory}/snap.pcap", real("empty"),
          real("broken-record"))], [3, 0, 4, 4, 2])

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
