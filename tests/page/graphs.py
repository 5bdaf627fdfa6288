#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Values of the graphs of one connection, reached by keys, are those of tshark; prints TAP.

usage: graphs.py DIRECTORY CAPTURE...

The directory has the page NAME.html of each capture .../NAME.pcap.
"""
import os
import re
import subprocess
import sys

from points import check, finish
from reader import Reader

directory, *captures = sys.argv[1:]
FIELDS = ("frame.number", "tcp.srcport", "tcp.dstport", "tcp.analysis.acks_frame", "tcp.analysis.ack_rtt",
          "tcp.analysis.bytes_in_flight", "tcp.window_size", "tcp.analysis.retransmission", "tcp.options.sack_re",
          "tcp.flags.fin")

# What a graph says of each of its packets, from the first to the last.
WALK = """(plot => {
    const texts = [];
    for (let key = 'Home'; ; key = 'n') {
        plot.dispatchEvent(new KeyboardEvent('keydown', { key }));
        const text = document.getElementById('graph-packet').textContent;
        if (!text || text === texts.at(-1)) return texts;
        texts.push(text);
    }
})(document.getElementById('graph-plot'))"""


def tshark(path):
    """Packets of TCP by number."""
    options = [word for field in FIELDS for word in ("-e", field)]
    lines = subprocess.run(["tshark", "-r", path, "-Y", "tcp && !icmp", "-T", "fields", *options], check=True, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.splitlines()
    packets = (dict(zip(FIELDS, line.split("\t"))) for line in lines)
    return {int(packet["frame.number"]): packet for packet in packets}


def choose_graph(name):
    page.run(f"[...document.querySelectorAll('#graph-choice button')].find(e => e.textContent === '{name}').click()")


def values(graph, pattern):
    """The values that a graph has, by packet."""
    choose_graph(graph)
    found = (re.search(r"^Packet (\d+) .*?" + pattern, text) for text in page.run(WALK))
    return {int(match[1]): match.groups()[1:] for match in found if match}


def microseconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1e6, "ms": 1e3, "µs": 1}[unit]


def whole(text):
    return int(text.replace(",", ""))


def wrong_round_trips(trips, packets):
    """Round trips that tshark measures otherwise, or that it has and the graph has not although nothing was sent again."""
    theirs = {int(packet["tcp.analysis.acks_frame"]): (number, float(packet["tcp.analysis.ack_rtt"]) * 1e6)
              for number, packet in packets.items() if packet["tcp.analysis.ack_rtt"]}
    lossy = any(packet["tcp.analysis.retransmission"] for packet in packets.values())
    # An ACK before that of tshark has reported the segment in a SACK block.
    wrong = [(sent, number, time) for sent, (number, time) in theirs.items() if sent in trips and
             not (trips[sent][0] < number and packets[trips[sent][0]]["tcp.options.sack_re"]) and
             (trips[sent][0] != number or abs(trips[sent][1] - time) > 1.001)]
    return wrong, [] if lossy else sorted(theirs.keys() - trips.keys())


def check_capture(path):
    name = os.path.basename(path).split(".")[0]
    packets, trips, flights, windows = tshark(path), {}, {}, {}
    page.open_page(name)
    for row in page.each("#ladder-choice option", "e.value"):
        page.choose("ladder-choice", row)
        ports = re.findall(r":(\d+)(?= )", page.run("document.querySelector('#ladder-choice').selectedOptions[0].textContent"))
        for end in "0", "1":
            page.choose("graph-end", end)
            for sent, (number, time) in values("Round trip", r"Its ACK, packet (\d+), came (.*) later").items():
                trips[sent] = int(number), microseconds(time)
            amounts = r"([\d,]+) bytes? in flight(?:, window ([\d,]+) bytes?)?"
            for number, (flight, window) in values("Window", amounts).items():
                if packets[number]["tcp.srcport"] == ports[int(end)]:
                    flights[number] = whole(flight)
                elif window:
                    windows[number] = whole(window)
    wrong, missing = wrong_round_trips(trips, packets)
    check(f"{name}: round trips are those of tshark", wrong, [])
    check(f"{name}: and none is missing", [len(trips) > 4, missing], [True, []])
    theirs = {number: int(packet["tcp.analysis.bytes_in_flight"]) for number, packet in packets.items()
              if packet["tcp.analysis.bytes_in_flight"] and packet["tcp.flags.fin"] == "0" and
              not packet["tcp.analysis.retransmission"]}
    # Those of tshark are without what is SACKed, and without a FIN.
    if any(packet["tcp.options.sack_re"] for packet in packets.values()):
        theirs = {}
    check(f"{name}: bytes in flight", [(n, f, theirs[n]) for n, f in flights.items() if n in theirs and f != theirs[n]], [])
    check(f"{name}: windows", [(n, w, packets[n]["tcp.window_size"]) for n, w in windows.items()
                               if w != int(packets[n]["tcp.window_size"])], [])
    print(f"# {name}: {len(trips)} round trips, {len(flights)} segments in flight, {len(windows)} windows")


page = Reader(directory)
for capture in captures:
    check_capture(capture)
page.close()
finish()
