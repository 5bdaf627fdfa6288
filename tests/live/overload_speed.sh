#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connections whose keys collide in the flow table take no longer than others.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
traffic=$build/tests/live/overload_traffic
connections=300000

# milliseconds KIND: how long the replay of such traffic takes, the best of three
milliseconds() {
	for _ in 1 2 3; do
		began=$(date +%s%N)
		"$traffic" "$1" "$connections" | "$netobsd" -r - --summary --max-flows 1000000 >"$tmp/out" 2>"$tmp/err"
		echo "$((($(date +%s%N) - began) / 1000000))"
	done | sort -n | head -n 1
}

quiet
attacked=$(milliseconds collisions)
plain=$(milliseconds syn)
note "colliding keys took $attacked ms, others $plain ms"
check "colliding keys: no slower than others" test "$attacked" -lt "$((3 * plain + 1000))"
tap_done
