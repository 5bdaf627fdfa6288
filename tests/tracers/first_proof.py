#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""netobsd -r FILE --print=... --format json | first_proof.py: what the tracers of first_proof.sh must print."""
import collections
import json
import sys

sent, refused = collections.Counter(), collections.Counter()
for firing in map(json.loads, sys.stdin):
    args = firing["args"]
    if firing["probe"] == "tcp-state-change":
        print(args[1]["cs_cid"], args[2]["tcps_statestr"], "->", args[3]["tcps_statestr"])
    if firing["probe"] == "tcp-send":
        sent[args[2]["ip_saddr"]] += args[4]["tcp_payload"]
    if firing["probe"] == "tcp-connect-refused":
        refused[args[2]["ip_saddr"], args[3]["tcps_rport"]] += 1
for sender, size in sent.items():
    print("@sent[%s]: %d" % (sender, size))
for (sender, port), count in refused.items():
    print("@refused[%s, %d]: %d" % (sender, port, count))
