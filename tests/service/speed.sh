#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The rate of a replay without a tracer, by processor time, because machines are busy.  Machines differ, so that only a rate
# far below the usual one is a failure.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

floor=1000000 # packets a second
packets=5000000

built "$netobsd"
built "$build/bench/gentrace"
! grep -aqE '__(asan|ubsan|tsan|msan)_|__gcov_' "$netobsd" || skip_all "a build with sanitizers or gcov is slow"

# 112 bytes a packet in the file: fewer packets if the disk is too small.
room=$(df -Pk "$tmp" | awk 'NR == 2 { print $4 }')
[ "${room:-0}" -gt 2000000 ] || packets=500000
"$build/bench/gentrace" -n "$packets" -c 100000 -l 40 "$tmp/trace.pcap" || exit 99
cat "$tmp/trace.pcap" >/dev/null # into the page cache

# spent: milliseconds of processor time of this shell's children so far, in $spent
spent() {
	times >"$tmp/times"
	spent=$(awk -F '[ms ]+' 'NR == 2 { print int(1000 * (60 * $1 + $2 + 60 * $3 + $4)) }' "$tmp/times")
}

fast() {
	spent
	begin=$spent
	"$netobsd" -r "$tmp/trace.pcap" || exit 99
	spent
	rate=$((packets * 1000 / (spent - begin + 1)))
	note "$rate packets a second"
	[ "$rate" -ge "$floor" ]
}

measured "replayed at least $floor packets a second of processor time" fast
"$netobsd" -r "$tmp/trace.pcap" --summary 2>"$tmp/summary"
is "every packet is observed" "$(awk '$1 == "frames" { print $2 }' "$tmp/summary")" "$packets"
note "$packets packets, $(awk '$1 == "flow.created" { print $2 }' "$tmp/summary") connections"
tap_done
