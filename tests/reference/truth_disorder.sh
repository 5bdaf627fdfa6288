#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Like truth_fresh.sh, with a bridge between the hosts that delays, reorders and duplicates (disorder_bridge.py).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

export NETOBS_LIVE_DISORDER=1
# shellcheck source=tests/reference/truth_fresh.sh
. "$top/tests/reference/truth_fresh.sh"
