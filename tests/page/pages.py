#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a reader finds in pages of netobs report: texts, drawings, keys, paper; prints TAP.

usage: pages.py DIRECTORY

The directory has the pages that pages.sh makes.
"""
import json
import os
import re
import subprocess
import sys

from points import check, finish
from reader import Reader

directory = sys.argv[1]
SECTIONS = "lanes", "ladder", "graph"
LANES = "#lanes-plot svg"

# Texts of drawings that are cut or lie on each other by more than 3 pixels.
BAD_TEXTS = """[...document.querySelectorAll('.plot svg')].flatMap(svg => {
    const { left, right } = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter(e => e.textContent)
        .map(e => ({ text: e.textContent, box: e.getBoundingClientRect() }));
    const apart = (a, b) => a.left >= b.right || b.left >= a.right || a.top >= b.bottom - 3 || b.top >= a.bottom - 3;
    const cut = texts.filter(({ box }) => box.left < left - 1 || box.right > right + 1);
    return cut.map(({ text }) => 'cut: ' + text).concat(texts.flatMap((a, i) =>
        texts.slice(i + 1).filter(b => !apart(a.box, b.box)).map(b => a.text + ' on ' + b.text)));
})"""

# By how many pixels the name of a lane reaches beyond the beginning of the time axis.
LONGEST_NAME = """[...document.querySelectorAll('#lanes-plot svg')].reduce((most, svg) => {
    const names = [...svg.querySelectorAll('text')].slice(0, document.querySelectorAll('#lanes-plot button').length);
    const left = svg.querySelector('line.s-rule').x1.baseVal.value;
    return Math.max(most, ...names.map(e => e.getBBox().width - left));
}, 0)"""

# The number of controls and drawings without a name.
NAMELESS = """[...document.querySelectorAll('button, select, input, svg[role], canvas')].filter(e =>
    !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).length"""

# Whether the texts of a canvas have the colour that texts have at present.
PRESENT_COLOUR = """(e => {
    const { data } = e.getContext('2d').getImageData(0, 0, e.width, e.height);
    const faint = getComputedStyle(document.documentElement).getPropertyValue('--faint').match(/[0-9a-f]{2}/g)
        .map(hex => parseInt(hex, 16));
    for (let i = 0; i < data.length; i += 4)
        if (faint.every((colour, k) => data[i + k] === colour) && data[i + 3] === 255) return true;
    return false;
})"""

HIDDEN = r"/[\u00ad\u034f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff]/.test(document.body.innerText)"


def check_every_page():
    """What holds for all pages, in both widths and colours."""
    for name in sorted(file[:-5] for file in os.listdir(directory) if file.endswith(".html")):
        for width, dark in (1280, False), (1280, True), (400, False), (400, True):
            page.open_page(name, width, dark)
            where = f"{name}, {width} pixels, {'dark' if dark else 'light'}"
            check(f"{where}: no complaint of the browser", page.faults, [])
            check(f"{where}: nothing else is loaded", [url[:5] for url in page.requests], ["file:"])
            check(f"{where}: fits", page.run("document.documentElement.scrollWidth") <= width)
            check(f"{where}: no text is cut or lies on another", page.run(BAD_TEXTS), [])
            check(f"{where}: no name of a lane runs into it", page.run(LONGEST_NAME), 0)
            check(f"{where}: what is said of the capture itself", page.amount("#verdict-capture"), 1)
            check(f"{where}: every control and drawing has a name", page.run(NAMELESS), 0)
            check(f"{where}: nothing is NaN or undefined",
                  page.run("/NaN|undefined|Infinity/.test(document.querySelector('main').innerHTML)"), False)


def check_keys():
    """Every key in every place that takes keys, and every button."""
    for name in "empty", "mld", "sctp", "none", "questions", "older":
        page.open_page(name)
        for place in range(page.amount("main [tabindex='0']")):
            for key in "+", "-", "0", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "Enter":
                page.run(f"document.querySelectorAll(\"main [tabindex='0']\")[{place}]?.focus()")
                page.key(key)
        page.each("button", "e.click()")
        check(f"{name}: no key and no button fails", page.faults, [])


def check_without_tcp():
    no_tcp = "The capture has no connection of TCP."
    for name, words in (("empty", no_tcp), ("sctp", no_tcp), ("filtered", "No connection of TCP passes the filter."),
                        ("none", "The page has no segments: it was made with --top=0.")):
        page.open_page(name)
        check(f"{name}: why there are no segments", [page.text(f"#{part}-note") for part in SECTIONS], [words] * 3)
        check(f"{name}: and no empty drawing or control", [page.run(
            f"[...document.querySelectorAll('#{part}-plot, #{part}-controls')].every(e => !e.offsetHeight)")
            for part in SECTIONS], [True] * 3)
    page.open_page("empty")
    check("a capture without frames", page.text("#capture").split("/")[-1], "empty.pcap: no packet")
    check("its overview", [page.text("#volume"), page.text("#states"), page.text("#talkers")],
          ["The capture has no packet.", no_tcp, "No connection has been captured."])
    check("and its table", page.text("#connections-table"), "No connection has been captured.")


def marked_packet():
    """The number of the packet whose row of the ladder is marked."""
    return page.run("(y => [...document.querySelectorAll('#ladder-plot text[text-anchor=end]')]"
                    ".find(t => t.getAttribute('y') - y == 19).textContent)"
                    "(document.querySelector('#ladder-plot rect.f-soft').getAttribute('y'))")


def check_verdict():
    page.open_page("questions")
    check("the capture", page.text("#capture").split(": ", 1)[1], "56 packets, 12.1 kB, 10 connections; "
          "2023-11-14 22:13:20.000000 to 2023-11-14 22:13:43.623960 UTC, 23.624 s")
    check("the headline", page.text("#verdict-list li:first-child").startswith("Refused: 6 attempts to connect"))
    check("is larger than the rest", page.each("#verdict-list li", "parseInt(getComputedStyle(e).fontSize)")[:2], [17, 15])
    check("its evidence", page.texts("#verdict-refused a")[0], "198.51.100.66:50000 → 192.0.2.80:21, packet 37")
    check("what is not a finding is faint", page.texts("#verdict-list .fine"),
          ["The capture itself has no gap: it has all data that is acknowledged, and every connection begins in it. It is "
           "silent for 20.0 s before packet 56."])
    check("there is something wrong", page.run("document.getElementById('nothing').hidden"))
    page.open_page("sack")
    check("or not", [page.run("document.getElementById('nothing').hidden"), page.amount("#verdict-list .found")], [False, 0])
    page.open_page("questions")
    page.click("#verdict-refused a")
    check("a link selects its connection", page.text("#ladder-note").startswith(
        "Client 198.51.100.66:50000, server 192.0.2.80:21, ended: refused."))
    check("and goes to its ladder",
          page.run("Math.abs(document.getElementById('ladder').getBoundingClientRect().top) < 400"))
    check("with the focus", page.run("document.activeElement.id"), "ladder-title")
    check("which has the SYN and the refusal", page.texts("#ladder-plot text[text-anchor=middle]")[2:],
          ["SYN", "RST ACK, ack 1"])
    check("in which its row is marked", [page.amount("#ladder-plot rect.f-soft"), marked_packet()], [1, "37"])
    check("the address names the place", page.run("location.hash"), "#connection-1-packet-37")
    check("as the link does", page.each("#verdict-refused a", "e.hash")[0], "#connection-1-packet-37")
    page.click("#connections-table tbody tr:nth-child(3) button")
    shown = page.text("#ladder-note").split(",")[0]
    page.run("new Promise(r => { addEventListener('popstate', () => setTimeout(r), { once: true }); history.back(); })")
    check("the browser goes back to it", [shown != "Client 198.51.100.66:50000", page.text("#ladder-note").split(",")[0],
          page.amount("#ladder-plot rect.f-soft")], [True, "Client 198.51.100.66:50000", 1])
    page.open_page("questions", place=page.each("#verdict-refused a", "e.hash")[1])
    check("a page opens at the place of its address", [page.text("#ladder-note").split(",")[0],
          page.amount("#ladder-plot rect.f-soft")], ["Client 198.51.100.66:50001", 1])
    page.open_page("questions", place="#connection-99999")
    check("but not at one that it does not have", page.faults, [])
    check("its title", page.run("document.title"), "questions.pcap – netobs report")
    check("the capture without its directories", page.text("#capture").split(": ")[0], "questions.pcap")
    check("numbers of packets", page.text("#numbers").split("; ")[1], "the numbers of packets are those of Wireshark")
    page.open_page("filtered")
    check("after a filter", page.text("#numbers").split("; ")[1],
          "the numbers of packets count only those that pass the filter")
    page.open_page("none")
    page.click("#verdict-refused a")
    check("a link to a connection without segments filters the table", page.texts("#connections-table td.address"),
          page.text("#verdict-refused a").split(", ")[0].split(" → "))


def check_overview():
    page.open_page("questions")
    check("protocols", [t.split(":")[0] for t in page.texts("#volume text:not(.faint)") if ":" in t],
          ["TCP", "UDP", "ICMP", "not IP"])
    check("talkers", page.texts("#talkers tbody tr:first-child td"), ["192.0.2.10", "94 B", "8.00 kB", "3"])
    check("a legend for each colour", page.amount("#legend li"), 8)
    check("each of them is another one", len(set(page.each("#legend rect", "getComputedStyle(e).fill"))), 8)
    check("the highest bars are as high as their row", page.run(
        "Math.max(...[...document.querySelectorAll('#volume rect')].map(e => e.height.baseVal.value))"), 34)
    check("others are lower", page.run(
        "new Set([...document.querySelectorAll('#volume rect')].map(e => e.height.baseVal.value)).size > 3"))


def check_zones():
    page.open_page("questions")
    date = "#states text:last-child"
    check("the time of day is UTC", page.text(date), "2023-11-14 22:13:20.000000 UTC")
    page.choose("zone", "local")
    check("the time zone of the reader on demand", page.text(date).startswith("2023-11-15 03:58:20.000000 Asia/Kat"))
    page.choose("zone", "-210")
    check("and any other, before UTC", page.text(date), "2023-11-14 18:43:20.000000 UTC-03:30")
    check("all times are of that zone: of the capture", page.text("#capture").split("; ")[1],
          "2023-11-14 18:43:20.000000 to 2023-11-14 18:43:43.623960 UTC-03:30, 23.624 s")
    check("of connections and packets", [page.texts("#connections-table td:nth-child(2)")[0],
                                         page.texts("#ladder-plot text.faint")[0]],
          ["18:43:23.611780", "18:43:21.641940"])
    check("and the ladder says so", "Times in UTC-03:30;" in page.text("#ladder-note"))
    page.choose("zone", "825")
    check("and the time after it", page.text(date), "2023-11-15 11:58:20.000000 UTC+13:45")
    zones = page.texts("#zone option")
    check("offsets in order", [len(zones), zones[:3], zones[-1]],
          [58, ["UTC", "the time zone of this computer", "UTC-12:00"], "UTC+14:00"])


def check_time_axes():
    page.open_page("questions")
    check("ticks in seconds", page.texts("#states text.faint")[:-1], ["0 s", "5 s", "10 s", "15 s", "20 s"])
    page.focus("#lanes-plot [tabindex='0']")
    page.keys(*["+"] * 12)
    check("in a short range far from the beginning of the capture: since the beginning of the range",
          [t for t in page.texts("#lanes-plot text") if t.startswith("+")],
          [f"+{number} µs" for number in range(0, 801, 100)])
    page.open_page("days")
    check("ticks in days", page.texts("#states text.faint")[:-1], ["0 d", "5 d", "10 d", "15 d", "20 d", "25 d"])
    check("the width of a bar", page.text("#volume-note"), "Each bar is 3.64 h, the highest one is the peak.")
    check("times with their dates", [page.texts("#connections-table td:nth-child(2)")[0],
                                     page.text("#verdict-refused a").split(", from ")[1]],
          ["2023-11-19 02:32:58.000000"] * 2)
    check("in the ladder as well", "Times in UTC from 2023-11-16;" in page.text("#ladder-note"))


def check_long_addresses():
    page.open_page("ipv6")
    check("an address in brackets", page.text("#connections-table td.address"),
          "[2001:db8:1111:2222:3333:4444:5555:6666]:43210")
    check("a number of bytes below a million", page.texts("#connections-table td:nth-child(7)")[0], "1000 kB")
    check("long addresses leave the lanes half of the width", page.run(
        "document.querySelector('#lanes-plot line.s-rule').x1.baseVal.value * 2 <= "
        "document.querySelector('#lanes-plot svg').clientWidth"))
    check("and the table its last column", page.run(
        "(host => host.scrollWidth <= host.clientWidth)(document.getElementById('connections-table'))"))


def check_lanes():
    page.open_page("questions")
    check("a lane for each connection of TCP", len([t for t in page.texts(f"{LANES} text") if "→" in t]), 9)
    check("states of both ends", page.amount(f"{LANES} rect.f-data[height='7']"), 4)
    check("the client above the server", sorted(set(page.each(f"{LANES} rect", "e.y.baseVal.value % 24"))), [4, 12])
    check("marks of closed windows", page.amount(f"{LANES} polygon.f-window"), 2)
    check("a reset is a cross, and a refusal", page.amount(f"{LANES} line.s-failure"), 15)
    ticks = f"{LANES} text.faint"
    before = page.texts(ticks)
    focused = "document.activeElement.ariaLabel"
    check("one lane is in the order of Tab", page.amount("#lanes-plot [tabindex='0']"), 1)
    page.focus("#lanes-plot [tabindex='0']")
    page.key("Home")
    check("a lane has a name", page.run(focused), "Ladder of 198.51.100.66:50000 → 192.0.2.80:21, refused, "
          "0 segments sent again, 0 closed windows; time: handshake 40 µs")
    page.keys("ArrowUp", "ArrowDown")
    second = "Ladder of 198.51.100.66:50001 →"
    check("a key moves to the next lane", page.run(focused).startswith(second))
    check("which takes its place in the order of Tab", page.each("#lanes-plot [tabindex='0']", "e.ariaLabel"),
          [page.run(focused)])
    page.keys("+")
    check("a key zooms in", page.texts(ticks) != before)
    check("the focus stays in the lane", page.run(focused).startswith(second))
    nearer = page.texts(ticks)
    page.key("ArrowRight")
    later = page.texts(ticks)
    page.key("ArrowLeft")
    check("keys go to what is later, and to what is earlier", [later != nearer, page.texts(ticks)], [True, nearer])
    page.key("-")
    check("a key zooms out", page.texts(ticks), before)
    page.keys("+", "0")
    check("and one shows all", page.texts(ticks), before)
    page.keys("End", "ArrowUp", "Enter")
    check("Enter opens the ladder of a lane",
          page.text("#ladder-note").startswith("Client 192.0.2.10:40002, server 192.0.2.80:80,"))
    check("and the focus goes with it", page.run("document.activeElement.id"), "ladder-title")
    check("the lane says that it is selected",
          [name[10:26] for name in page.each("#lanes-plot [aria-current='true']", "e.ariaLabel")], ["192.0.2.10:40002"])
    page.press("#lanes-plot .lanes button:nth-child(3)")
    check("a click opens one too",
          page.text("#ladder-note").startswith("Client 198.51.100.66:50002, server 192.0.2.80:23,"))


def check_filter():
    page.open_page("questions")
    page.run("document.getElementById('lanes').scrollIntoView()")
    check("the filter is in sight of the lanes", page.run(
        "(box => box.top >= 0 && box.bottom < 60)(document.getElementById('filter').getBoundingClientRect())"))
    page.filter("refused 80:")
    check("words that no connection has", [page.amount("#lanes-plot button"), page.text("#connections-table")],
          [0, "No connection has these words."])
    page.filter("refused 50003")
    check("one filter for lanes and table", [page.amount("#lanes-plot button"),
                                             page.amount("#connections-table tbody tr"), page.text("#found")],
          [1, 1, "1 connection"])
    check("the lanes say so", "of 10 connections, 1 of them with the words “refused 50003”." in page.text("#lanes-note"))
    check("and the table", page.text("#shown"), "1 connection with the words “refused 50003”. ")
    page.click("#connections-controls button")
    check("a button shows all again", [page.text("#found"), page.run("document.getElementById('filter').value")],
          ["10 connections", ""])


def check_ladder():
    page.open_page("questions")
    arrows = "#ladder-plot polygon"
    check("the worst connection with several segments is selected", page.text("#ladder-note")[:42],
          "Client 192.0.2.10:40002, server 192.0.2.80")
    check("the list of connections shows it", page.run(
        "document.getElementById('ladder-choice').selectedOptions[0].textContent"), "192.0.2.10:40002 → 192.0.2.80:80 fin")
    check("an arrow for each segment that arrived", page.amount(arrows), 14)
    check("acknowledgements, data, and each other kind have their colours", [
        page.amount(f"{arrows}.f-{colour}") for colour in ("ack", "data", "opening", "closing", "failure")],
        [5, 4, 2, 2, 1])
    check("the lost one is a broken line", page.amount("#ladder-plot line[stroke-dasharray]"), 1)
    texts = page.texts("#ladder-plot text")
    check("the lost one and its repair", [t for t in texts if "lost?" in t or "sent again" in t],
          ["PSH ACK, 1,000 bytes from 3,001, ack 19, lost? again in 30",
           "PSH ACK, 1,000 bytes from 3,001, ack 19, sent again (timeout)"])
    check("a closed window", [t for t in texts if "closed" in t and "," in t], ["ACK, ack 4,001, window closed"])
    check("how much later a segment is", [t for t in texts if "later" in t], ["400.000 ms later", "1.500 s later"])
    states = page.each("#ladder-plot text.faint", "[e.textContent, (e.getAttribute('y') - 64) / 30]")
    check("states in the margins, each after its segment", [state for state in states if state[0][0].isalpha()],
          [["syn-sent", 0], ["syn-received", 1], ["established", 2], ["established", 2], ["fin-wait-1", 12],
           ["last-ack", 13], ["fin-wait-2", 13], ["closed", 14], ["time-wait", 14]])
    check("numbers of packets", [t for t in page.texts("#ladder-plot text[text-anchor=end].faint") if t.isdigit()],
          [str(number) for number in range(21, 36)])
    marked = "[...document.querySelectorAll('#ladder-plot rect.f-soft')].map(e => (e.getAttribute('y') - 33) / 30)"
    page.focus("#ladder-title")
    found = []
    for key in "n", "n", "n", "p", "n", "n", "n":
        page.key(key)
        found.append(page.run(marked))
    check("keys go to losses, closed windows and resets", found, [[8], [9], [10], [9], [10], [10], [10]])
    check("as the button does", page.run("document.getElementById('ladder-next').disabled"))
    check("no other page of segments", page.each("#ladder-back, #ladder-on", "e.disabled"), [True, True])
    page.choose("ladder-choice", "0")
    check("the list selects a connection", page.text("#ladder-note")[:26], "Client 198.51.100.66:50000")
    page.open_page("questions", 400)
    check("on a narrow page there are no sequence numbers", [
        t for t in page.texts("#ladder-plot text") if t.startswith("PSH")][0], "PSH ACK, 18 B")


def check_older():
    """An answer to a SYN that belongs to an older connection, and the RST that answers it."""
    page.open_page("older")
    texts = page.texts("#ladder-plot text")
    check("segments of an older connection", [t for t in texts if "older" in t],
          ["ACK, ack 3,000, of an older connection", "RST, of an older connection"])
    check("the SYN that they answer is not lost", [t for t in texts if t.startswith("SYN")],
          ["SYN", "SYN, sent again (SYN)", "SYN ACK"])
    check("the origins are those of this connection", [t for t in texts if "from" in t],
          ["PSH ACK, 7 bytes from 1, ack 1"])
    check("the lanes have no reset of it", page.amount("#lanes-plot line.s-failure"), 0)
    check("and the time-sequence has this connection only", page.label("#graph-plot svg").split("data of ")[1],
          "the client: 4 segments, 1 sent again")


def check_findings():
    """Evidence with several packets, without a ladder, and what is named in ladder and head."""
    page.open_page("lost")
    check("where the time went, by service", [page.texts("#services-table td:first-child")[:2],
                                              page.label("#services-table tr:first-child svg")],
          [["198.51.100.2:82 TCP", "198.51.100.2:80 TCP"], "Time: handshake 20 ms (1 %), path 60 ms (3 %), client "
           "330 ms (19 %), server 600 ms (35 %), loss from the client 690 ms (40 %), closing 20 ms (1 %)"])
    check("the packets of a slow answer", page.texts("#verdict-slow-server a")[0],
          "192.0.2.1:40000 → 198.51.100.2:81, request in packet 15 and again in packet 16, answer in packet 18")
    page.click("#verdict-slow-server a")
    check("its link marks the answer", marked_packet(), "18")
    check("and where its time went", [text.split(" (")[0] for text in page.texts("#ladder-time li")][3:5],
          ["server 890 ms", "loss from the client 290 ms"])
    page.open_page("queries")
    check("the packets of DNS queries", [t.split(", ")[1] for t in page.texts("#verdict-dns-mute a")],
          ["packet 3", "packet 4"])
    page.click("#verdict-dns-mute a")
    check("whose link selects the row of the table", page.texts("#connections-table td.address"),
          ["192.0.2.1:50002 ?", "198.51.100.2:53"])
    page.open_page("probes")
    check("probes of a closed window",
          sum(t.endswith(", probe of the closed window") for t in page.texts("#ladder-plot text")), 4)
    check("are not lost", page.amount("#ladder-plot line[stroke-dasharray]"), 0)
    page.open_page("stamps")
    check("wrong time stamps", page.text("#capture").split("UTC, ")[1],
          "1.110 s, without 2 packets whose time stamp is wrong")
    check("are not on the axes", page.texts("#states text.faint")[:-1], [f"{n} ms" for n in range(0, 1001, 200)])


def check_sequence():
    page.open_page("questions")
    check("the time-sequence of the end that sends most", page.label("#graph-plot svg"),
          "Sequence of 192.0.2.10:40002 → 192.0.2.80:80, data of the server: 9 segments, 1 sent again")
    check("as its list says", page.run("document.getElementById('graph-end').value"), "1")
    check("lines of acknowledgement and window",
          [page.amount(f"#graph-plot polyline.s-{colour}") for colour in ("ack", "window")], [1, 1])
    check("a retransmission after a timeout is broad and red",
          page.amount("#graph-plot line.s-failure[stroke-width='4']"), 1)
    check("the window has room above the data", page.run(
        "Math.max(...[...document.querySelectorAll('#graph-plot text[text-anchor=end]')]"
        ".map(e => parseInt(e.textContent.replace(',', ''))))"), 8000)
    page.choose("graph-end", "0")
    check("the other direction", page.label("#graph-plot svg").split("data of ")[1],
          "the client: 6 segments, 0 sent again")


def check_graphs():
    """The graphs beside the time-sequence, and how a packet of them leads to the ladder."""
    page.open_page("questions")
    said = {}
    for number, name in enumerate(("Sequence", "Throughput", "Round trip", "Window"), 1):
        page.click(f"#graph-choice button:nth-child({number})")
        page.focus("#graph-plot")
        page.keys("Home", "n")
        said[name] = page.text("#graph-packet")
        check(f"{name}: is chosen", page.texts("#graph-choice [aria-pressed='true']"), [name])
        check(f"{name}: a key marks a packet", [page.amount("#graph-plot .mark:not([hidden])"), said[name][:6]], [1, "Packet"])
    check("the division of the time is beside it", "window of the client 1.5" in page.text("#graph-time"))
    page.click("#graph-packet a")
    check("its link leads to the ladder", page.run("location.hash").split("-packet-")[1], said["Window"].split()[1])
    check("and the graph has it still", page.text("#graph-packet"), said["Window"])
    page.click("#graph-choice button:nth-child(1)")
    page.run("document.getElementById('graph-plot').scrollIntoView({ block: 'center' })")
    mark = page.run("(box => [box.x + box.width / 2, box.y + box.height / 2])"
                    "(document.querySelector('#graph-plot .mark').getBoundingClientRect())")
    page.click("#ladder-choice")
    page.key("Home")
    page.run("history.replaceState(null, '', '#')")
    for kind in "mouseMoved", "mousePressed", "mouseReleased":
        page.call("Input.dispatchMouseEvent", type=kind, x=mark[0], y=mark[1], button="left", clickCount=1)
    check("as does a click", page.run("location.hash").split("-packet-")[1:], [said["Window"].split()[1]])


def check_unknown_kinds():
    page.open_page("kinds")
    check("a kind that the page does not know has a colour",
          page.amount("#graph-plot line.s-ink[stroke-width='4']"), 1)
    check("and a number", [t for t in page.texts("#ladder-plot text") if "sent again" in t],
          ["PSH ACK, 1,000 bytes from 3,001, ack 19, sent again (kind 99)"])


def check_sack():
    """Blocks as upright lines, measured in bytes by the ticks of the axis."""
    page.open_page("sack")
    ticks = page.each("#graph-plot text[text-anchor=end]", "[parseFloat(e.textContent), e.getAttribute('y') - 4]")
    (first, bottom), (last, top) = ticks[0], ticks[-1]
    check("ticks", [first, last], [0, 20])
    blocks = page.each("#graph-plot line.s-ack", "[e.y1.baseVal.value, e.y2.baseVal.value]")
    check("SACK blocks", [[round((bottom - y) / (bottom - top) * 200) / 10 for y in block] for block in blocks],
          [[3, 4], [3, 5], [6, 7], [6, 8], [6, 8]])
    page.focus("#graph-plot")
    page.keys("+", "+", "ArrowRight")
    points = [page.run(f"[...document.querySelector('#graph-plot polyline.s-{line}').points].map(p => [p.x, p.y])")
              for line in ("ack", "window")]
    check("a line begins and ends with the range of time", [points[0][0][0], points[0][-1][0]], [70, 1242])
    check("and no value from beyond it is drawn", len({y for x, y in points[1]}), 1)


    page.open_page("giant")
    check("sequence numbers that wrap", page.texts("#graph-plot text[text-anchor=end]")[-1], "10.0 GB")


def check_table():
    page.open_page("cases")
    rows, title = "#connections-table tbody tr", "#connections-table th:nth-child(13)"
    ends = f"{rows} td:nth-child(13)"
    check("a row for each connection", page.amount(rows), 10)
    check("a connection that was open before", [t[-2:] for t in page.texts(f"{rows} td:nth-child(5)")].count(" ?"), 2)
    page.filter("refused")
    check("a filter", [page.amount(rows), page.text("#found")], [1, "1 connection"])
    page.filter("")
    page.click(f"{title} button")
    check("a click sorts", page.run(f"document.querySelector('{title}').ariaSort"), "ascending")
    found = page.texts(ends)
    check("in the order of texts", [found, len(set(found)) > 3], [sorted(found), True])
    page.focus(f"{title} button")
    page.click(f"{title} button")
    check("the title keeps the focus", page.run("document.activeElement.textContent.slice(0, 3)"), "end")
    check("a second click reverses", [page.run(f"document.querySelector('{title}').ariaSort"), page.texts(ends)],
          ["descending", sorted(found, reverse=True)])
    page.run("[...document.querySelectorAll('#connections-table td button')]"
             ".find(b => b.getAttribute('aria-label').endsWith(':85')).click()")
    check("a row leads to its ladder", "198.51.100.2:85, ended: reset-by-server" in page.text("#ladder-note"))
    more = "document.getElementById('more').hidden"
    page.open_page("http")
    check("more rows than connections are not offered", page.run(more))
    page.open_page("many")
    check("a table of many connections begins with the first", [page.run(more), page.amount(rows), page.text("#shown")],
          [False, 50, "The first 50 are shown."])
    page.click("#more")
    check("and has more on demand", page.amount(rows), 120)


def check_long():
    page.open_page("long")
    canvas = "#graph-plot canvas"
    check("a long connection is drawn on a canvas", page.amount(canvas), 1)
    check("the page has its first segments, and says so",
          "the first on this page of 8,043 (at most 2,000 of each end)" in page.text("#ladder-note"))
    check("retransmissions across the wrap", page.label(canvas).split(": ")[-1], "2,000 segments, 20 sent again")
    check("in the colours of the page", page.run(f"{PRESENT_COLOUR}(document.querySelector('{canvas}'))"))
    check("a hundred segments at a time", "Segments 1 to 100 of" in page.text("#ladder-note"))
    with open(os.path.join(directory, "long.html"), encoding="utf-8") as file:
        data = json.loads(re.search(r'id="data">(.*?)</script>', file.read(), re.S)[1])
    resent = next(segment[1] for segment in data["details"][0]["segments"] if segment[8])
    page.open_page("long", place=f"#connection-1-packet-{resent}")
    check("a link opens the hundred that has its packet",
          "Segments 101 to 200 of" in page.text("#ladder-note"))
    check("at its row", page.run("(box => Math.abs(box.top + box.height / 2 - innerHeight / 2) < 50)"
                                 "(document.querySelector('#ladder-plot rect.f-soft').getBoundingClientRect())"))
    check("between others", page.each("#ladder-back, #ladder-on", "e.disabled"), [False, False])
    page.click("#ladder-on")
    check("the mark stays at its segment", ["Segments 201 to 300 of" in page.text("#ladder-note"),
                                            page.amount("#ladder-plot rect.f-soft")], [True, 0])


def check_hostile():
    page.open_page("hostile")
    names = [t for t in page.texts("#connections-table td.name") if t]
    markup = "</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "&lt;b&gt;", "</title>"
    check("markup is text", [name in " ".join(names) for name in markup], [True] * 4)
    check("control characters are not in the page",
          page.run(r"/[\x00-\x08\x0b-\x1f\x7f]/.test(document.body.innerText)"), False)
    check("nor are characters that are invisible or change the direction of others", page.run(HIDDEN), False)
    check("others stand for them", [names.count("hidden\ufffd.example"), names.count("ü.example")], [16, 1])
    page.filter("hidden\ufffd")
    check("the filter finds what is shown", page.text("#found"), "16 connections")
    check("no element is made from a name", [page.amount("img"), page.amount("script"), page.amount("main b")], [0, 2, 0])
    check("nor of the name of a file", page.text("#capture").split("/")[-1].split(": ")[0],
          "<img src=x onerror=alert(1)> Übung\ufffd.pcap")
    check("nor of the filter", page.text("#capture").split("filter: ")[1], "tcp port 80 or <b>\ufffd")


def check_other_media():
    page.open_page("long")
    canvas = f"{PRESENT_COLOUR}(document.querySelector('#graph-plot canvas'))"
    light = page.run("getComputedStyle(document.body).backgroundColor")
    page.view(1280, 900, True)
    check("dark colours are others", page.run("getComputedStyle(document.body).backgroundColor") != light)
    check("on a canvas too, when they change", page.drawn(canvas))
    page.view(1280, 900, False, "print")
    check("controls are not printed",
          set(page.each(".controls, .bar, .skip, .lanes", "getComputedStyle(e).display")), {"none"})
    page.open_page("questions")
    page.view(700, 900)
    check("drawings follow the width of the window",
          page.drawn("document.querySelector('#lanes-plot svg').clientWidth"), 668)


def words_of(path):
    """Words of a PDF with their right edges as shares of the width of the paper."""
    answer = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, check=True, encoding="utf-8").stdout
    return [(word, float(right) / float(width))
            for width, paper in re.findall(r'<page width="([0-9.]+)"(.*?)</page>', answer, re.S)
            for right, word in re.findall(r'xMax="([0-9.]+)" yMax="[^"]*">(.*?)</word>', paper)]


def check_print(name, packets):
    page.open_page(name, 1280, True)
    drawing = "document.querySelector('#graph-plot').innerHTML"
    before, path = page.run(drawing), os.path.join(directory, "page.pdf")
    page.run("printed = [], matchMedia('print').addEventListener('change', () => printed.push("
             f"[...document.querySelectorAll('#graph-plot canvas')].map({PRESENT_COLOUR})))")
    page.print(path)
    words = words_of(path)
    if name == "long":
        check("a canvas is printed in the colours of paper", page.run("printed[0]"), [True])
        check("and is dark again on the screen",
              page.run(f"{PRESENT_COLOUR}(document.querySelector('#graph-plot canvas'))"))
    check(f"{name}: the drawings are those of the screen again", page.run(drawing) == before)
    check(f"{name}: nothing is printed beyond the paper", [word for word, right in words if right > 1], [])
    check(f"{name}: the ladder has the numbers of its packets",
          sorted(int(word) for word, right in words if right > .95 and word.isdigit()), packets)
    words = [word for word, right in words]
    check(f"{name}: a state is after one segment only", words.count("syn-sent"), 1)
    check(f"{name}: the table has its last columns", words.count("capture-end"), 1)
    check(f"{name}: no page has hints for keys", words.count("Keys"), 0)


def check_printed_parts():
    """A ladder and a table of several pages; the table has its titles on each."""
    path = os.path.join(directory, "page.pdf")
    page.open_page("slow")
    page.print(path)
    check("each segment but the first is later than the one before it",
          [word for word, right in words_of(path)].count("100.000"), 99)
    page.open_page("many")
    page.click("#more")
    page.print(path)
    words = [word for word, right in words_of(path)]
    check("titles of the table are on each page", [words.count("proto") > 2, words.count("capture-end")], [True, 120])


page = Reader(directory)
for check_part in (check_every_page, check_keys, check_without_tcp, check_verdict, check_overview, check_zones,
                   check_time_axes, check_long_addresses, check_lanes, check_filter, check_ladder, check_older,
                   check_sequence, check_graphs, check_findings, check_unknown_kinds, check_sack, check_table, check_long,
                   check_hostile, check_other_media):
    check_part()
check_print("questions", list(range(21, 36)))
check_print("long", list(range(1, 101)))
check_printed_parts()
page.close()
finish()
