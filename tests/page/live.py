#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a browser shows of a running netobsd; prints TAP.

usage: live.py DIRECTORY ADDRESS

A line to descriptor 4 makes a connection that is refused.
"""
import os
import sys
import time

from browser import Browser
from points import check, finish

directory, address = sys.argv[1:]


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
becomes("three connections", "document.querySelectorAll('#connections-table tbody tr').length === 3")
check("their state", browser.run("[...document.querySelectorAll('#connections-table td:nth-child(13)')].map(e => e.textContent)"),
      ["established"] * 3)
check("their server is the end with the smaller port", browser.run(
    "[...document.querySelectorAll('#connections-table td:nth-child(6)')].every(e => e.textContent === '127.0.0.1:7001')"))
check("sections that need segments are not there",
      browser.run("['lanes', 'ladder', 'sequence'].every(id => document.getElementById(id).hidden)"))
becomes("no connection was refused yet", "document.querySelector('#verdict-refused')?.textContent === 'No connection was refused.'")
os.write(4, b"more\n")
becomes("a refusal is found", "document.querySelector('#verdict-refused')?.textContent === '1 connection was refused.'")
check("and comes first", browser.run("document.querySelector('#verdict-list li').id"), "verdict-refused")
becomes("traffic over time", "document.querySelectorAll('#volume rect').length > 0")
check("no complaint of the browser", browser.faults, [])
check("it asks its own server only", sorted({url.removeprefix(address) for url in browser.requests} - {"favicon.ico"}),
      ["", "connections", "metrics"])
# The page counts in the last minutes only, also if it was paused, or if netobsd was started again in them.
browser.run("realTime = Date.now, Date.now = () => realTime() + 3600e3")
becomes("after an hour: an hour later", "document.querySelector('#verdict-refused').textContent === 'No connection was refused.'")
os.write(4, b"more\n")
becomes("and a refusal then", "document.querySelector('#verdict-refused').textContent === '1 connection was refused.'")
browser.run("""realFetch = fetch, fetch = async (...values) => {
    const text = await (await realFetch(...values)).text(), started = text.replace(/^(netobs_start_time_seconds) .*/m, '$1 1');
    return { ok: true, text: () => started.replace(/^(.*proto="tcp".*reason="refused"}) .*/m, '$1 9') };
}""")
becomes("a netobsd that was started again", "document.querySelector('#verdict-refused').textContent === 'No connection was refused.'")
browser.run("Date.now = realTime, fetch = realFetch")
for width in 1280, 400:
    browser.view(width, 900, width == 400)
    becomes(f"fits in {width} pixels", f"document.documentElement.scrollWidth <= {width}")
check("nothing is NaN or undefined", browser.run("/NaN|undefined|Infinity/.test(document.querySelector('main').innerHTML)"), False)
browser.run("[...document.querySelectorAll('.controls button')].find(e => e.textContent === 'Pause').click()")
check("a button stops it", browser.run("[...document.querySelectorAll('.controls button')].some(e => e.textContent === 'Go on')"))
browser.screenshot(os.path.join(directory, "live.png"), "body")
browser.close()
finish()
