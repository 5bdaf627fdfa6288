#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a reader finds in pages of netobs report: texts, drawings, keys; prints TAP.

usage: pages.py DIRECTORY

The directory has the pages that pages.sh makes.
"""
import json
import os
import re
import subprocess
import sys

from browser import Browser
from points import check, finish

directory = sys.argv[1]


def texts(selector):
    return browser.run(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")


def text(selector):
    return browser.run(f"document.querySelector({selector!r}).textContent")


def amount(selector):
    return browser.run(f"document.querySelectorAll({selector!r}).length")


def click(selector):
    browser.run(f"document.querySelector({selector!r}).click()")


def choose(name, value):
    browser.run(f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('change')); }})(document.getElementById({name!r}))")


def open_page(name, width=1280, dark=False):
    browser.view(width, 900, dark)
    browser.open(os.path.join(directory, name + ".html"))


def alter_page(source, name, change):
    """Writes a page with other data: `change` gets the data of an existing page."""
    with open(os.path.join(directory, source + ".html"), encoding="utf-8") as file:
        head, block, end = re.split(r'(?<=id="data">)(.*?)(?=</script>)', file.read(), maxsplit=1, flags=re.S)
    data = json.loads(block)
    change(data)
    with open(os.path.join(directory, name + ".html"), "w", encoding="utf-8") as file:
        file.write(head + json.dumps(data).replace("<", "\\u003c") + end)


def unknown_kinds(data):
    """Retransmissions of a kind that a later netobsd may have."""
    for detail in data["details"]:
        for segment in detail["segments"]:
            segment[8] = 9 if segment[8] else 0


def hostile_filter(data):
    """A filter, of which each character is a byte."""
    data["filter"] = "tcp port 80 or <b>\u202e".encode().decode("latin-1")


def many_days(data):
    """The same traffic in a time that is a hundred thousand times longer."""
    data["duration"] *= 100000
    data["width"] *= 100000
    for row in data["rows"]:
        row[0] *= 100000


def long_addresses(data):
    """IPv6 addresses of the greatest length, and a number of bytes that rounds to a million."""
    for row in data["rows"]:
        row[3], row[5], row[7] = "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:7777:8888:9999:aaaa:bbbb:cccc", 999999


# Texts of drawings that are cut or lie on each other by more than 3 pixels.
BAD_TEXTS = """[...document.querySelectorAll('.plot svg')].flatMap(svg => {
    const { left, right } = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(e => ({ text: e.textContent, box: e.getBoundingClientRect() }));
    const apart = (a, b) => a.left >= b.right || b.left >= a.right || a.top >= b.bottom - 3 || b.top >= a.bottom - 3;
    return texts.filter(({ box }) => box.left < left - 1 || box.right > right + 1).map(({ text }) => 'cut: ' + text).concat(
        texts.flatMap((a, i) => texts.slice(i + 1).filter(b => a.text && b.text && !apart(a.box, b.box)).map(b => a.text + ' on ' + b.text)));
})"""


# By how many pixels the name of a lane reaches beyond the beginning of the time axis.
LONGEST_NAME = """[...document.querySelectorAll('#lanes-plot svg')].reduce((most, svg) => {
    const names = [...svg.querySelectorAll('text')].slice(0, document.querySelectorAll('#lanes-plot button').length);
    const left = svg.querySelector('line.s-rule').x1.baseVal.value;
    return Math.max(most, ...names.map(e => e.getBBox().width - left));
}, 0)"""


def check_every_page():
    """What holds for all pages, in both widths and colours."""
    for name in sorted(file[:-5] for file in os.listdir(directory) if file.endswith(".html")):
        for width, dark in (1280, False), (1280, True), (400, False), (400, True):
            open_page(name, width, dark)
            where = f"{name}, {width} pixels, {'dark' if dark else 'light'}"
            check(f"{where}: no complaint of the browser", browser.faults, [])
            check(f"{where}: nothing else is loaded", [url[:5] for url in browser.requests], ["file:"])
            check(f"{where}: fits", browser.run("document.documentElement.scrollWidth") <= width)
            check(f"{where}: no text is cut or lies on another", browser.run(BAD_TEXTS), [])
            check(f"{where}: no name of a lane runs into it", browser.run(LONGEST_NAME), 0)
            check(f"{where}: ten sentences", amount("#verdict-list > li"), 10)
            check(f"{where}: every control and drawing has a name", browser.run(
                "[...document.querySelectorAll('button, select, input, svg[role], canvas')].filter(e => "
                "!(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).length"), 0)
            check(f"{where}: nothing is NaN or undefined",
                  browser.run("/NaN|undefined|Infinity/.test(document.querySelector('main').innerHTML)"), False)


def press_everything():
    """Every key in every place that takes keys, and every button."""
    for place in range(amount("main [tabindex='0']")):
        for key in "+", "-", "0", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "Enter":
            browser.run(f"document.querySelectorAll(\"main [tabindex='0']\")[{place}]?.focus()")
            browser.key(key)
    browser.run("[...document.querySelectorAll('button')].forEach(e => e.click())")


def check_keys():
    for name in "empty", "mld", "sctp", "none", "questions", "older":
        open_page(name)
        press_everything()
        check(f"{name}: no key and no button fails", browser.faults, [])


def check_without_tcp():
    for name, words in (("empty", "The capture has no connection of TCP."), ("sctp", "The capture has no connection of TCP."),
                        ("filtered", "No connection of TCP passes the filter."),
                        ("none", "The page has no segments: it was made with --top=0.")):
        open_page(name)
        check(f"{name}: why there are no segments", [text(f"#{part}-note") for part in ("lanes", "ladder", "sequence")], [words] * 3)
        check(f"{name}: and no empty drawing or control", [amount(f"#{part}-plot *, #{part}-controls *") and browser.run(
            f"!document.querySelector('#{part}-plot').hidden") for part in ("lanes", "ladder", "sequence")], [0] * 3)
    open_page("empty")
    check("a capture without frames", [text("#capture").split("/")[-1], text("#volume"), text("#states"), text("#talkers"),
                                       text("#connections-table")],
          ["empty.pcap: no packet", "The capture has no packet.", "The capture has no connection of TCP.",
           "No connection has been captured.", "No connection has been captured."])


def check_verdict():
    open_page("questions")
    check("the capture", text("#capture").split(": ", 1)[1],
          "56 packets, 12.1 kB, 10 connections; 2023-11-14 22:13:20.000000 to 2023-11-14 22:13:43.623960 UTC, 23.624 s")
    check("the heaviest sentence", text("#verdict-list li:first-child").startswith("6 connections were refused"))
    check("its evidence", texts("#verdict-refused a")[0], "198.51.100.66:50000 → 192.0.2.80:21, packet 37")
    check("sentences without finding are faint", texts("#verdict-list .fine")[0].startswith("No connection attempt timed out"))
    click("#verdict-refused a")
    check("a link selects its connection", text("#ladder-note").startswith("Client 198.51.100.66:50000, server 192.0.2.80:21, ended: refused."))
    check("and goes to its ladder", browser.run("Math.abs(document.getElementById('ladder').getBoundingClientRect().top) < 400"))
    check("which has the SYN and the refusal", texts("#ladder-plot text[text-anchor=middle]")[2:], ["SYN", "RST ACK, ack 1"])
    check("in which its row is marked", [amount("#ladder-plot rect.f-soft"), browser.run(
        "(y => texts => [...texts].find(t => t.getAttribute('y') - y == 19).textContent)"
        "(document.querySelector('#ladder-plot rect.f-soft').getAttribute('y'))"
        "(document.querySelectorAll('#ladder-plot text[text-anchor=end]'))")], [1, "37"])
    check("numbers of packets", text("#numbers").split("; ")[1], "the numbers of packets are those of Wireshark")


def check_overview():
    check("protocols", [t.split(":")[0] for t in texts("#volume text:not(.faint)") if ":" in t], ["TCP", "UDP", "ICMP", "not IP"])
    check("talkers", texts("#talkers tbody tr:first-child td"), ["192.0.2.10", "94 B", "8.00 kB", "3"])
    check("a legend for each colour", amount("#legend li"), 8)
    check("the time of day is UTC", text("#states text:last-child"), "2023-11-14 22:13:20.000000 UTC")
    choose("zone", "local")
    check("the time zone of the reader on demand", text("#states text:last-child").startswith("2023-11-15 03:58:20.000000 Asia/Kat"))
    choose("zone", "-210")
    check("and any other, before UTC", text("#states text:last-child"), "2023-11-14 18:43:20.000000 UTC-03:30")
    check("all times are of that zone", [text("#capture").split("; ")[1], texts("#connections-table td:nth-child(2)")[0], text("#ladder-note")
                                         .count("Times in UTC-03:30;"), texts("#ladder-plot text.faint")[0]],
          ["2023-11-14 18:43:20.000000 to 2023-11-14 18:43:43.623960 UTC-03:30, 23.624 s", "18:43:23.611780", 1, "18:43:23.611780"])
    choose("zone", "825")
    check("and behind it", text("#states text:last-child"), "2023-11-15 11:58:20.000000 UTC+13:45")
    check("offsets in order", [len(texts("#zone option")), texts("#zone option")[:3], texts("#zone option")[-1]],
          [58, ["UTC", "the time zone of this computer", "UTC-12:00"], "UTC+14:00"])
    choose("zone", "0")


def check_time_axes():
    ticks = "[...document.querySelectorAll('#states text.faint')].map(e => e.textContent).slice(0, -1)"
    check("ticks in seconds", browser.run(ticks), ["0 s", "5 s", "10 s", "15 s", "20 s"])
    browser.run("document.querySelector(\"#lanes-plot [tabindex='0']\").focus()")
    for _ in range(12):
        browser.key("+")
    labels = browser.run("[...document.querySelectorAll('#lanes-plot text')].map(e => e.textContent).filter(t => t.startsWith('+'))")
    check("in a short range far from the beginning of the capture: since the beginning of the range", labels,
          [f"+{number} µs" for number in range(0, 801, 100)])
    open_page("days")
    check("ticks in days", browser.run(ticks), ["0 d", "5 d", "10 d", "15 d", "20 d", "25 d"])
    check("the width of a bar", text("#volume-note"), "Each bar is 3.64 h, the highest one is the peak.")
    check("times with their dates", [texts("#connections-table td:nth-child(2)")[0], texts("#verdict-dns a")[0].split(", from ")[1]],
          ["2023-11-19 02:32:58.000000", "2023-11-14 22:15:30.000000"])
    check("in the ladder as well", "Times in UTC from 2023-11-16;" in text("#ladder-note"))


def check_long_addresses():
    open_page("ipv6")
    check("a number of bytes below a million", texts("#connections-table td:nth-child(7)")[0], "1000 kB")
    check("long addresses leave the lanes half of the width", browser.run(
        "document.querySelector('#lanes-plot line.s-rule').x1.baseVal.value <= document.querySelector('#lanes-plot svg').clientWidth / 2"))
    check("and the table its last column", browser.run(
        "(host => host.scrollWidth <= host.clientWidth)(document.getElementById('connections-table'))"))


def check_lanes():
    open_page("questions")
    lanes = "#lanes-plot svg"
    check("a lane for each connection of TCP", browser.run(
        f"[...document.querySelectorAll('{lanes} text')].filter(t => t.textContent.includes('→')).length"), 9)
    check("states of both ends", amount(f"{lanes} rect.f-data"), 4)
    check("the client above the server", browser.run(
        f"[...new Set([...document.querySelectorAll('{lanes} rect')].map(e => e.y.baseVal.value % 24))]"), [4, 12])
    check("marks of closed windows", amount(f"{lanes} polygon.f-window"), 2)
    check("a reset is a cross, and a refusal", amount(f"{lanes} line.s-failure"), 15)
    before = texts(f"{lanes} text.faint")[-2]
    focused = "document.activeElement.ariaLabel"
    browser.run("document.querySelector(\"#lanes-plot [tabindex='0']\").focus()")
    check("one lane is in the order of Tab", amount("#lanes-plot [tabindex='0']"), 1)
    browser.key("Home")
    check("a lane has a name", browser.run(focused),
          "Ladder of 198.51.100.66:50000 → 192.0.2.80:21, refused, 0 segments sent again, 0 closed windows")
    browser.key("ArrowUp")
    browser.key("ArrowDown")
    check("a key moves to the next lane", browser.run(focused).startswith("Ladder of 198.51.100.66:50001 →"))
    browser.key("+")
    check("a key zooms", texts(f"{lanes} text.faint")[-2] != before)
    check("the focus stays in the lane", browser.run(focused).startswith("Ladder of 198.51.100.66:50001 →"))
    browser.key("0")
    check("and back", texts(f"{lanes} text.faint")[-2], before)
    browser.key("End")
    browser.key("ArrowUp")
    browser.key("Enter")
    check("Enter opens the ladder of a lane", text("#ladder-note").startswith("Client 192.0.2.10:40002, server 192.0.2.80:80,"))
    check("and the focus goes with it", browser.run("document.activeElement.id"), "ladder-title")
    check("the lane says that it is selected", browser.run("[...document.querySelectorAll(\"#lanes-plot [aria-current='true']\")]"
                                                           ".map(e => e.ariaLabel.slice(10, 26))"), ["192.0.2.10:40002"])
    browser.press("#lanes-plot .lanes button:nth-child(3)")
    check("a click opens one too", text("#ladder-note").startswith("Client 198.51.100.66:50002, server 192.0.2.80:23,"))


def type_filter(words):
    browser.run(f"(e => {{ e.value = {words!r}; e.dispatchEvent(new Event('input')); }})(document.getElementById('filter'))")


def check_filter():
    open_page("questions")
    browser.run("document.getElementById('lanes').scrollIntoView()")
    check("the filter is in sight of the lanes", browser.run(
        "(box => box.top >= 0 && box.bottom < 60)(document.getElementById('filter').getBoundingClientRect())"))
    type_filter("refused 80:")
    check("words that no connection has", [amount("#lanes-plot button"), text("#connections-table")], [0, "No connection has these words."])
    type_filter("refused 50003")
    check("one filter for lanes and table", [amount("#lanes-plot button"), amount("#connections-table tbody tr"), text("#found")],
          [1, 1, "1 connection"])
    check("the lanes say so", "of 10 connections, 1 of them with the words “refused 50003”." in text("#lanes-note"))


def check_ladder():
    open_page("questions")
    check("the worst connection with several segments is selected", text("#ladder-note")[:42], "Client 192.0.2.10:40002, server 192.0.2.80")
    check("an arrow for each segment that arrived", amount("#ladder-plot polygon"), 14)
    check("the lost one is a broken line", browser.run(
        "document.querySelectorAll('#ladder-plot line[stroke-dasharray]').length"), 1)
    check("the lost one and its repair", [t for t in texts("#ladder-plot text") if "lost?" in t or "sent again" in t],
          ["PSH ACK, 1,000 bytes from 3,001, ack 19, lost? again in 30",
           "PSH ACK, 1,000 bytes from 3,001, ack 19, sent again (timeout)"])
    check("states in the margins", [t for t in texts("#ladder-plot text.faint") if t[0].isalpha()],
          ["syn-sent", "syn-received", "established", "established", "fin-wait-1", "last-ack", "fin-wait-2", "closed", "time-wait"])
    check("numbers of packets", [t for t in texts("#ladder-plot text[text-anchor=end].faint") if t.isdigit()],
          [str(number) for number in range(21, 36)])


def check_older():
    """An answer to a SYN that belongs to an older connection, and the RST that answers it."""
    open_page("older")
    check("segments of an older connection", [t for t in texts("#ladder-plot text[text-anchor=middle]") if "older" in t],
          ["ACK, ack 3,000, of an older connection", "RST, of an older connection"])
    check("the SYN that they answer is not lost", [t for t in texts("#ladder-plot text") if t.startswith("SYN")],
          ["SYN", "SYN, sent again (SYN)", "SYN ACK"])
    check("the origins are those of this connection", [t for t in texts("#ladder-plot text") if "from" in t], ["PSH ACK, 7 bytes from 1, ack 1"])
    check("the lanes have no reset of it", amount("#lanes-plot line.s-failure"), 0)
    check("and the time-sequence has this connection only", browser.run("document.querySelector('#sequence-plot svg').getAttribute('aria-label')")
          .split("data of ")[1], "the client: 4 segments, 1 sent again")


def check_sequence():
    name = browser.run("document.querySelector('#sequence-plot svg').getAttribute('aria-label')")
    check("the time-sequence of the end that sends most", name,
          "Time-sequence of 192.0.2.10:40002 → 192.0.2.80:80, data of the server: 9 segments, 1 sent again")
    check("lines of acknowledgement and window", [amount("#sequence-plot polyline.s-ack"), amount("#sequence-plot polyline.s-window")], [1, 1])
    check("a retransmission after a timeout is broad and red", amount("#sequence-plot line.s-failure[stroke-width='4']"), 1)
    choose("sequence-end", "0")
    check("the other direction", browser.run("document.querySelector('#sequence-plot svg').getAttribute('aria-label')").split("data of ")[1],
          "the client: 6 segments, 0 sent again")


def check_unknown_kinds():
    open_page("kinds")
    check("a kind that the page does not know has a colour and a number", [amount("#sequence-plot line.s-ink[stroke-width='4']"), [
        t for t in texts("#ladder-plot text") if "sent again" in t]], [1, ["PSH ACK, 1,000 bytes from 3,001, ack 19, sent again (kind 9)"]])


def check_sack():
    """Blocks as upright lines, measured in bytes by the ticks of the axis."""
    open_page("sack")
    first, last = browser.run("[...document.querySelectorAll('#sequence-plot text[text-anchor=end]')].filter((e, i, all) => !i || i === all.length - 1)"
                              ".map(e => [parseFloat(e.textContent), e.getAttribute('y') - 4])")
    edges = browser.run("[...document.querySelectorAll('#sequence-plot line.s-ack')].map(e => [e.y1.baseVal.value, e.y2.baseVal.value])")
    check("ticks", [first[0], last[0]], [0, 20])
    check("SACK blocks", [[round((first[1] - y) / (first[1] - last[1]) * 200) / 10 for y in pair] for pair in edges],
          [[3, 4], [3, 5], [6, 7], [6, 8], [6, 8]])
    browser.run("document.querySelector('#sequence-plot').focus()")
    for key in "+", "+", "ArrowRight":
        browser.key(key)
    check("a line begins and ends with the range of time", browser.run(
        "(p => [p[0].x, p[p.length - 1].x])([...document.querySelector('#sequence-plot polyline.s-ack').points])"), [70, 1242])
    check("and no value from beyond it is drawn", browser.run(
        "new Set([...document.querySelector('#sequence-plot polyline.s-window').points].map(p => p.y)).size"), 1)


def check_table():
    open_page("cases")
    rows = "#connections-table tbody tr"
    check("a row for each connection", amount(rows), 10)
    type_filter("refused")
    check("a filter", [amount(rows), text("#found")], [1, "1 connection"])
    type_filter("")
    click("#connections-table th:nth-child(13) button")
    check("a click sorts", browser.run("document.querySelector('#connections-table th:nth-child(13)').ariaSort") != "none")
    ends = texts(f"{rows} td:nth-child(13)")
    check("in the order of texts", ends, sorted(ends))
    browser.run("document.querySelector('#connections-table th:nth-child(13) button').focus()")
    click("#connections-table th:nth-child(13) button")
    check("the title keeps the focus", browser.run("document.activeElement.textContent.slice(0, 3)"), "end")
    check("a second click reverses", texts(f"{rows} td:nth-child(13)"), sorted(ends, reverse=True))
    browser.run("[...document.querySelectorAll('#connections-table td button')].find(b => b.getAttribute('aria-label').endsWith(':85')).click()")
    check("a row leads to its ladder", "198.51.100.2:85, ended: reset-by-server" in text("#ladder-note"))
    open_page("http")
    check("more rows than connections are not offered", browser.run("document.getElementById('more').hidden"))


def check_long():
    open_page("long")
    check("a long connection is drawn on a canvas", amount("#sequence-plot canvas"), 1)
    check("the page has its first segments, and says so", "the first on this page of 8,043 (at most 2,000 of each end)" in text("#ladder-note"))
    check("retransmissions across the wrap", browser.run(
        "document.querySelector('#sequence-plot canvas').getAttribute('aria-label')").split(": ")[-1], "2,000 segments, 20 sent again")
    check("a hundred segments at a time", text("#ladder-note").count("Segments 1 to 100 of"), 1)
    click("#verdict-list a")
    check("a link of the verdict opens the hundred that has its packet", text("#ladder-note").count("Segments 101 to 200 of"), 1)
    check("at its row", browser.run("(box => Math.abs(box.top + box.height / 2 - innerHeight / 2) < 50)"
                                    "(document.querySelector('#ladder-plot rect.f-soft').getBoundingClientRect())"))
    click("#ladder-on")
    check("the mark stays at its segment", [text("#ladder-note").count("Segments 201 to 300 of"), amount("#ladder-plot rect.f-soft")], [1, 0])


def check_hostile():
    open_page("hostile")
    names = [t for t in texts("#connections-table td.name") if t]
    check("markup is text", [name in " ".join(names) for name in
                             ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "&lt;b&gt;", "</title>")], [True] * 4)
    check("control characters are not in the page", browser.run("/[\\x00-\\x08\\x0b-\\x1f\\x7f]/.test(document.body.innerText)"), False)
    check("nor are characters that are invisible or change the direction of others", [names.count("hidden\ufffd.example"), names.count("ü.example"),
          browser.run("/[\\u00ad\\u034f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff]/.test(document.body.innerText)")], [16, 1, False])
    type_filter("hidden\ufffd")
    check("the filter finds what is shown", text("#found"), "16 connections")
    check("no element comes of a name", [amount("img"), amount("script"), amount("main b")], [0, 2, 0])
    check("nor of the name of a file", text("#capture").split("/")[-1].split(": ")[0], "<img src=x onerror=alert(1)> Übung\ufffd.pcap")
    check("nor of the filter", text("#capture").split("filter: ")[1], "tcp port 80 or <b>\ufffd")


def check_other_media():
    open_page("questions")
    light = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.view(1280, 900, True)
    check("dark colours are others", browser.run("getComputedStyle(document.body).backgroundColor") != light)
    browser.view(1280, 900, False, "print")
    check("controls are not printed", browser.run("getComputedStyle(document.querySelector('.controls')).display"), "none")


# Numbers of what a canvas shows: its darkest opaque pixel, as a sum of three colours.
DARKEST = """e => {
    const { data } = e.getContext('2d').getImageData(0, 0, e.width, e.height), sums = [];
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) sums.push(data[i] + data[i + 1] + data[i + 2]);
    return sums.reduce((a, b) => Math.min(a, b), 999);
}"""


def words_of(path):
    """Words of a PDF, page by page, with their right edges as shares of the width of the paper."""
    answer = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, check=True, encoding="utf-8").stdout
    return [[(word, float(right) / float(width)) for right, word in re.findall(r'xMax="([0-9.]+)" yMax="[^"]*">(.*?)</word>', page)]
            for width, page in re.findall(r'<page width="([0-9.]+)"(.*?)</page>', answer, re.S)]


def check_print():
    path = os.path.join(directory, "page.pdf")
    for name in "questions", "long":
        open_page(name, 1280, True)
        drawings = browser.run("document.querySelector('#sequence-plot').innerHTML")
        browser.run(f"printed = [], matchMedia('print').addEventListener('change', () => printed.push("
                    f"[...document.querySelectorAll('#sequence-plot canvas')].map({DARKEST})))")
        browser.print(path)
        if name == "long":
            check("a canvas is printed in light colours", browser.run("printed[0][0]") < 250)
            check("and is dark again on the screen", browser.run(f"({DARKEST})(document.querySelector('#sequence-plot canvas'))") > 250)
        check(f"{name}: the drawings are those of the screen again",
              browser.run("document.querySelector('#sequence-plot').innerHTML") == drawings)
        pages = words_of(path)
        words = [word for page in pages for word, right in page]
        check(f"{name}: nothing is printed beyond the paper", [word for page in pages for word, right in page if right > 1], [])
        numbers = [int(word) for page in pages for word, right in page if right > .95 and word.isdigit()]
        check(f"{name}: the ladder has the numbers of its packets",
              sorted(numbers), list(range(21, 36)) if name == "questions" else list(range(1, 101)))
        check(f"{name}: the table has its last columns", words.count("capture-end"), 1)
        check(f"{name}: no page has hints for keys", words.count("Keys"), 0)


alter_page("questions", "kinds", unknown_kinds)
alter_page("hostile", "hostile", hostile_filter)
alter_page("questions", "days", many_days)
alter_page("ipv6", "ipv6", long_addresses)
browser = Browser(os.path.join(directory, "profile"), zone="Asia/Kathmandu")
for check_part in (check_every_page, check_keys, check_without_tcp, check_verdict, check_overview, check_time_axes, check_long_addresses, check_lanes, check_filter, check_ladder, check_sequence, check_unknown_kinds, check_sack, check_older, check_table, check_long,
                   check_hostile, check_other_media, check_print):
    check_part()
browser.close()
finish()
