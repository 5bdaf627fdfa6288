#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Graphs of pages of netobs report in a headless Chromium: round trips, bytes in flight and windows are those of tshark.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$build/netobs-report"
have python3 chromium tshark || skip_all "python3, chromium or tshark is not installed"
export NETOBSD="$netobsd"

python3 "$top/tests/page/sack.py" "$tmp/sack.pcap"
set -- "$tmp/sack.pcap"
for name in reordered-data questions ipv6-http tls; do
	set -- "$@" "$top/tests/captures/$name.pcap"
done
for capture; do
	"$top/scripts/netobs" report "$capture" >"$tmp/$(basename "$capture" .pcap).html" 2>/dev/null
done
timeout 300 python3 "$top/tests/page/graphs.py" "$tmp" "$@" >"$tmp/tap" 2>"$tmp/err"
status=$?
relay "$tmp/tap"
is "the browser" "$status $(cat "$tmp/err")" "0 "

tap_done
