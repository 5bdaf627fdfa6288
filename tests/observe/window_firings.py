#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads firings of tcp-receive as JSON lines.

usage: window_firings.py middle    prints the time in the middle, in seconds
       window_firings.py states    prints packet, state and bytes of each
"""
import json
import sys

firings = [json.loads(line)["args"] for line in sys.stdin]
if sys.argv[1] == "middle":
    print("%d.%09d" % divmod(firings[len(firings) // 2][0]["pkt_ts"], 10**9))
else:
    for packet, _, _, state, *_ in firings:
        if state is not None:
            print(packet["pkt_ts"], state["tcps_laddr"], state["tcps_lport"], state["tcps_statestr"], state["tcps_rcv_bytes"],
                  state["tcps_start"])
