#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connections whose keys collide in the flow table take no longer than others.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
traffic=$build/tests/live/overload_traffic
connections=300000

# milliseconds KIND: how long the replay of such traffic takes
milliseconds() {
	began=$(date +%s%N)
	"$traffic" "$1" "$connections" | "$netobsd" -r - --summary --max-flows 1000000 >"$tmp/out" 2>"$tmp/err"
	echo "$((($(date +%s%N) - began) / 1000000))"
}

as_fast() {
	attacked=$(milliseconds collisions)
	plain=$(milliseconds syn)
	note "colliding keys took $attacked ms, others $plain ms"
	[ "$attacked" -lt "$((3 * plain + 1000))" ]
}

measured "colliding keys: no slower than others" as_fast
tap_done
