#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The data of a page of netobs report.

usage: report_data.py PAGE EXPRESSION    prints a part of the data

The expression is one of Python; `data` is the block of data, `rows` the connections by server port, `verdict` the findings by
kind.
"""
import json
import re
import sys


class Page:
    def __init__(self, html):
        self.html = html
        self.data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S).group(1))
        self.rows = {row[6]: row for row in self.data["rows"]}
        self.verdict = {sentence["topic"]: sentence for sentence in self.data["verdict"]}

    def text(self, topic):
        """The sentence on a topic."""
        return self.verdict[topic]["text"]

    def evidence(self, topic):
        """Server port and packets of each connection."""
        return str([(self.data["rows"][row][6], packets) for row, _, packets in self.verdict[topic]["evidence"]])

    def found(self):
        """What is wrong: kind, side, and server port and packet of each connection in the evidence."""
        def packets(finding):
            return [f"{self.data['rows'][row][6]}" + (f":{packet}" if packet else "") for row, packet, _ in finding["evidence"]]
        return [" ".join([finding["topic"], finding["side"], *packets(finding)]) for finding in self.data["verdict"]
                if finding["weight"] and finding["topic"] != "capture"]

    def evidence_packets(self, topic):
        """The packets to which the evidence is linked."""
        return [packet for _, packet, _ in self.verdict[topic]["evidence"]]

    def values(self, *names):
        return [self.data[name] for name in names]

    def volume(self):
        """Protocols with their number of frames."""
        return [[protocol["name"], sum(protocol["frames"])] for protocol in self.data["volume"]]

    def segments(self):
        """Those of the connections in detail."""
        return [segment for detail in self.data["details"] for segment in detail["segments"]]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        page = Page(file.read())
    data, rows, verdict = page.data, page.rows, page.verdict
    print(eval(sys.argv[2]))
