#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a browser shows of a running netobsd; prints TAP.

usage: live.py DIRECTORY ADDRESS PID NETOBSD...

Ends the netobsd with this process id, and starts it again.  Descriptors 8 and 9 are the commands and answers of
traffic.py.
"""
import atexit
import os
import re
import signal
import subprocess
import sys
import time

from browser import Browser
from points import check, finish

directory, address, pid, *netobsd = sys.argv[1:]


def traffic(*commands):
    for command in commands:
        os.write(8, command.encode() + b"\n")
        os.read(9, 100)


def becomes(name, expression):
    """The expression becomes true within a minute."""
    for _ in range(600):
        if browser.run(expression):
            break
        time.sleep(0.1)  # no event: the interval between two looks at the page
    check(name, browser.run(expression))


browser = Browser(os.path.join(directory, "profile"))
browser.view(1280, 900)
browser.visit(address)
becomes("four connections, not those that have ended", "document.querySelectorAll('#connections-table tbody tr').length === 4")


def column(title):
    """The texts of a column of the table of connections."""
    titles = browser.run("[...document.querySelectorAll('#connections-table thead th')].map(e => e.textContent)")
    return browser.run(f"[...document.querySelectorAll('#connections-table td:nth-child({titles.index(title) + 2})')].map(e => e.textContent)")


check("the header counts them", browser.run("document.getElementById('capture').textContent").split("; ")[1], "4 open connections")
check("their states", column("state"), ["established"] * 3 + ["fin-wait-2 / close-wait"])
check("the client is the end that sent the SYN, whatever the ports are", column("client")[2], "127.0.0.1:6001")
check("and the server its peer", column("server"), ["127.0.0.1:7001"] * 4)
check("their beginnings, newest first", column("start"), sorted(column("start"), reverse=True))
check("as times of the day", all(re.fullmatch("[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}", text) for text in column("start")))
SHORT = "([0-9]+ min )?[0-9]{1,2} s"  # of an age; a loaded machine needs minutes
check("their ages", all(re.fullmatch(SHORT, text) for text in column("age")))
check("and how long they are idle", all(re.fullmatch(SHORT, text) for text in column("idle")))
check("nothing is claimed about ports", "port" in browser.run("document.getElementById('connections-note').textContent").split("?")[0], False)
check("the page has its own title", browser.run("[document.title, document.querySelector('h1').textContent]"), ["netobsd, live"] * 2)
check("an address that talks to itself has each connection once", browser.run(
    "[...document.querySelectorAll('#talkers tbody td')].map(e => e.textContent)")[-1], "4")
check("sections that need segments are not there",
      browser.run("['lanes', 'ladder', 'sequence'].every(id => document.getElementById(id).hidden)"))
becomes("what was read is told, and nothing else", "document.querySelector('#verdict-list').children.length === 1 && "
        "/^(Nothing wrong was found in .* connections? and .* answers?|No connection was observed, so nothing is judged)[.]$/.test("
        "document.querySelector('#verdict-fine')?.textContent)")
traffic("refused 7002")
REFUSED = ("document.querySelector('#verdict-refused')?.textContent.startsWith("
           "'Refused: 1 attempt to connect to 127.0.0.1 port 7002 got a RST; nothing listens there.')")
becomes("a refusal is found, with its address", REFUSED)
check("and comes first", browser.run("document.querySelector('#verdict-list li').id"), "verdict-refused")
check("all is clear no more", browser.run("document.querySelector('#verdict-fine')"), None)
becomes("the table of services has it, and stands before others",
        "document.querySelector('#services-table td')?.textContent === '127.0.0.1:7002 TCP'")
check("with the share that failed", browser.run("[...document.querySelectorAll('#services-table tr:first-child td')].slice(1, 3)"
                                               ".map(e => e.textContent)"), ["1", "100 %"])
becomes("open connections are counted, too", "[...document.querySelectorAll('#services-table tr')].some(e => "
        "e.cells[0].textContent === '127.0.0.1:7001 TCP' && e.cells[1].textContent === '6')")
browser.run("document.querySelector('#verdict-refused a').click()")
becomes("a finding leads to the connections of its service", "document.getElementById('filter').value === '127.0.0.1 7002'")
browser.run("[...document.querySelectorAll('#services-table a')].find(e => e.textContent === '127.0.0.1:7001 TCP').click()")
becomes("a service, too", "document.querySelectorAll('#connections-table tbody tr').length === 4")
browser.run("[...document.querySelectorAll('#connections-controls button')][0].click()")
becomes("traffic over time", "document.querySelectorAll('#volume rect').length > 0")
check("no complaint of the browser", browser.faults, [])
check("it asks its own server only", sorted({url.removeprefix(address) for url in browser.requests} - {"favicon.ico"}),
      ["", "connections", "metrics", "services"])
# The page counts in the last minutes only, also if it was paused, or if netobsd was started again in them.
browser.run("""realFetch = fetch, later = async (...values) => {
    const text = await (await realFetch(...values)).text();
    return { ok: true, text: () => text.replace(/^{"time":(\\d+)/, (all, time) => `{"time":${BigInt(time) + 3600n * 1000000000n}`) };
}, fetch = later""")
becomes("after an hour: an hour later", "!document.querySelector('#verdict-refused')")
traffic("refused 7002")
becomes("and a refusal then", REFUSED)
browser.run("""fetch = async (...values) => {
    const text = await (await later(...values)).text(), started = text.replace(/^(netobs_start_time_seconds) .*/m, '$1 1');
    return { ok: true, text: () => started.replace(/"port":7002,(.*"refused"):[0-9]+/, '"port":7002,$1:9') };
}""")
becomes("a netobsd that was started again", "!document.querySelector('#verdict-refused')")
browser.run("fetch = realFetch")
for width in 1280, 400:
    browser.view(width, 900, width == 400)
    becomes(f"fits in {width} pixels", f"document.documentElement.scrollWidth <= {width}")
check("no element is made from the name of an interface", browser.run("document.querySelector('b')"), None)
check("nothing is NaN or undefined", browser.run("/NaN|undefined|Infinity/.test(document.querySelector('main').innerHTML)"), False)

header = "document.getElementById('capture').textContent"
os.kill(int(pid), signal.SIGTERM)
becomes("netobsd goes away", f"{header}.startsWith('netobsd does not answer, again in a second; what follows is from ')")
check("its connections stay, as of then", len(column("state")), 4)
browser.faults.clear()  # the browser reports that nothing listens
restarted = subprocess.Popen(netobsd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
atexit.register(restarted.kill)
becomes("netobsd is back, and tracks no connection", f"{header}.startsWith('Since ') && {header}.endsWith('; 0 open connections')")
check("no rows", browser.run("document.getElementById('connections-table').textContent"), "No connection is open.")
browser.faults.clear()
traffic("send second 500", "send third 500", "send fourth 500")
becomes("connections whose SYN was not captured", f"{header}.endsWith('; 3 open connections')")
check("the client of each is marked as uncertain", all(text.endswith(" ?") for text in column("client")))
check("still no complaint of the browser", browser.faults, [])
restarted.send_signal(signal.SIGSTOP)
becomes("an answer that does not come in time does not count", f"{header}.startsWith('netobsd does not answer')")
restarted.send_signal(signal.SIGCONT)
becomes("the page goes on", f"{header}.startsWith('Since ')")
browser.run("[...document.querySelectorAll('.controls button')].find(e => e.textContent === 'Pause').click()")
check("a button stops it", browser.run("[...document.querySelectorAll('.controls button')].some(e => e.textContent === 'Go on')"))
browser.screenshot(os.path.join(directory, "live.png"), "body")
browser.close()
finish()
