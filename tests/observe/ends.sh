#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What is held for bytes that were not captured is told before the end of its connection, however that ends; what is
# still lost is counted.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
python3 "$top/tests/observe/ends.py" "$tmp/ends.pcap" "$tmp/expected"

# The firings as lines of EXPECTED, by connection; those of one stay in their order.
fired() {
	"$netobsd" -r "$tmp/ends.pcap" --print=http-request-*,connection-end --summary "$@" 2>"$tmp/said" |
		sed -nE 's/^[^ ]* (http-[a-z-]*|connection-end) .*192\.0\.2\.1:([0-9]*)[ ,].*/\2 \1/p' | LC_ALL=C sort -s -k1,1
}

for options in "" "--local 192.0.2.1/32" "--local 198.51.100.2/32" "--view monitor"; do
	# shellcheck disable=SC2086
	fired $options >"$tmp/fired"
	check "each response before the end of its connection${options:+ ($options)}" diff "$tmp/expected" "$tmp/fired"
done
# packets PROBE: packet ids and times of tcp-send, if that probe is printed, too
packets() {
	"$netobsd" -r "$tmp/ends.pcap" --print="http-*,connection-end,tcp-send,$1" --format json |
		sed -n 's/^{"probe":"tcp-send","args":\[{\("pkt_addr":[0-9]*,"pkt_ts":[0-9]*\).*\("cs_ts":[0-9]*\).*/\1 \2/p'
}
packets connection-end >"$tmp/few"
packets ip-send >"$tmp/more"
check "what is told in the middle of a packet does not change it" diff "$tmp/more" "$tmp/few"
check "there are packets" [ -s "$tmp/few" ]
is "what is lost is counted" "$(sed -n 's/^stream.undelivered *//p' "$tmp/said")" 1
"$netobsd" -r "$tmp/ends.pcap" --print=http-request-done >"$tmp/alone"
is "without records, too" "$(wc -l <"$tmp/alone")" "$(grep -c "done" "$tmp/expected")"
tap_done
