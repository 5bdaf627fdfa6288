#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""netobsd --list-probes --format json | manifest_names.py: "probe NAME", "struct NAME" and "field NAME", a line each."""
import json
import sys

manifest = json.load(sys.stdin)
for probe in manifest["probes"]:
    print("probe", probe["name"])
for struct in manifest["structs"]:
    print("struct", struct["name"])
    for field in struct["fields"]:
        print("field", field["name"])
