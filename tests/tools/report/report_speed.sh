#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page of a million packets is there soon.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$build/netobs-report"
built "$build/bench/gentrace"
export NETOBSD="$netobsd"

"$build/bench/gentrace" -n 1000000 -c 1000 -l 400 "$tmp/million.pcap" || exit 99

reported() {
	begin=$(date +%s%N)
	"$top/scripts/netobs" report "$tmp/million.pcap" >"$tmp/page" || return 1
	spent=$((($(date +%s%N) - begin) / 1000000))
	note "$spent ms"
	[ "$spent" -le 20000 ]
}

measured "a million packets within 20 s" reported
check "the page is whole" grep -q '</html>' "$tmp/page"
tap_done
