#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs report of a million packets: the size of the page, and what it leaves out.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$build/netobs-report"
built "$build/bench/gentrace"
have python3 || skip_all "python3 is not installed"
export NETOBSD="$netobsd"

# data EXPRESSION: of the page
data() {
	python3 "$top/tests/tools/report/report_data.py" "$tmp/page" "$1"
}

# page NAME OPTION...: makes the page of a capture that bench/gentrace makes
page() {
	page_name=$1
	shift
	"$build/bench/gentrace" -n 1000000 "$@" "$tmp/million.pcap" || exit 99
	"$top/scripts/netobs" report "$tmp/million.pcap" >"$tmp/page" 2>"$tmp/err"
	is "$page_name" "$? $(cat "$tmp/err")" "0 "
	note "$(wc -c <"$tmp/page") bytes, $(data "data['connections']") connections"
	check "$page_name: fewer than 20 MB" test "$(wc -c <"$tmp/page")" -lt 20000000
}

page "a million packets" -c 1000 -l 400
is "all of them" "$(data "data['frames']")" 1000000
page "hundreds of thousands of connections" -c 1000000 -k 3
is "the page has the worst of them, and says how many there are" \
	"$(data "len(data['rows']) == 20000 and data['connections'] > 250000")" True
tap_done
