#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether the list of the captures of netobs split counts their frames and bytes.

usage: split_list.py PREFIX CAPTURES
"""
import json
import os
import sys

prefix, count = sys.argv[1], int(sys.argv[2])
listed = json.load(open(f"{prefix}.json"))
captures = listed["captures"]
assert listed["split"] == count and len(captures) == count
for capture in captures:
    assert os.path.getsize(f"{prefix}-{capture['capture']}.pcapng") == capture["bytes"]
assert sum(capture["frames"] for capture in captures) == listed["frames"] > 0
assert sum(capture["frames"] > 0 for capture in captures) > count // 2, "badly distributed"
