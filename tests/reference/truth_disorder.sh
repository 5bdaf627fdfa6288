#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Like truth_fresh.sh, with a bridge between the hosts that delays, reorders and duplicates (disorder_bridge.py).
NETOBS_LIVE_DISORDER=1 exec "$(dirname "$0")/truth_fresh.sh"
