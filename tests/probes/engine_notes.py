#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""netobsd --list-probes --engine --format json | engine_notes.py: the notes that the private provider must have, as notes.sh
prints them."""
import json
import sys

for probe in json.load(sys.stdin)["probes"]:
    count = len(probe["args"])
    print("netobs_engine:%s %d%s" % (probe["c_name"], count, count * " 8@REG"))
