#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes pages that are others with changed data, for what no capture of the tests has.

usage: altered.py DIRECTORY
"""
import json
import os
import re
import sys

directory = sys.argv[1]


def alter(source, name, change):
    """Writes the page `name`: that of `source`, after `change` of its data."""
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
            segment[8] = 99 if segment[8] else 0


def hostile_filter(data):
    """A filter, each character of which is a byte."""
    data["filter"] = "tcp port 80 or <b>\u202e"


def many_days(data):
    """The same traffic in a time that is a hundred thousand times longer, and evidence without packets."""
    data["verdict"][0]["evidence"][0][2] = ""
    data["duration"] *= 100000
    data["width"] *= 100000
    for row in data["rows"]:
        row[0] *= 100000


def long_addresses(data):
    """IPv6 addresses of the greatest length, and a number of bytes that rounds to a million."""
    for row in data["rows"]:
        row[3], row[5] = "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:7777:8888:9999:aaaa:bbbb:cccc"
        row[7] = 999999


def slow(data):
    """The same segments, each a tenth of a second later than the one before it."""
    for detail in data["details"]:
        for number, segment in enumerate(detail["segments"]):
            segment[0] = number * 100000


def giant(data):
    """Ten segments, each a GiB after the one before it, so that the sequence numbers wrap twice."""
    sent = 0
    for segment in data["details"][0]["segments"]:
        if segment[2] == 1 and segment[5] > 0:
            segment[4], sent = (5001 + sent * 2 ** 30) % 2 ** 32, sent + 1
        elif segment[2] == 0 and sent > 0:
            segment[6], segment[9] = (6001 + (sent - 1) * 2 ** 30) % 2 ** 32, 0


alter("questions", "kinds", unknown_kinds)
alter("sack", "giant", giant)
alter("long", "slow", slow)
alter("hostile", "hostile", hostile_filter)
alter("questions", "days", many_days)
alter("ipv6", "ipv6", long_addresses)
