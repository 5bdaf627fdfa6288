#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints a part of the data of a page of netobs report.

usage: report_data.py PAGE EXPRESSION

The expression is one of Python; `data` is the block of data, `rows` the connections by server port, `verdict` the sentences by
topic, `page` the text of the page.
"""
import json
import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
rows = {row[6]: row for row in data["rows"]}
verdict = {sentence["topic"]: sentence for sentence in data["verdict"]}
print(eval(sys.argv[2]))
