#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Totals over connections in --summary: with the connections, retransmissions and state changes that the same run printed,
# on the slow path and on the fast path.  metrics.sh compares the metrics.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
totals=$top/tests/service/totals.py

# nothing NAME ARGUMENT...: totals.py prints nothing and succeeds
nothing() {
	nothing_name=$1
	shift
	if python3 "$totals" "$@" >"$tmp/nothing" 2>&1 && [ ! -s "$tmp/nothing" ]; then
		ok "$nothing_name"
	else
		not_ok "$nothing_name" "$tmp/nothing"
	fi
}

# replay CAPTURE PROBES NAME: prints the probes as JSON to NAME.json, the summary to NAME.summary
replay() {
	"$netobsd" -r "$(capture "$1")" --view both --summary --format json --print="$2" >"$tmp/$3.json" 2>"$tmp/$3.summary"
}

number=0
for file in home-network.pcap questions.pcap mptcp-fclose.pcap tcp-ignored.pcap vlan-refused-reuse.pcap \
	PcapPlusPlus/many-protocols-cut.pcap.gz suricata-verify/input-10-cut.pcap.gz \
	suricata-verify/input-12-cut.pcap.gz suricata-verify/input-21-cut.pcap.gz suricata-verify/input-26.pcap \
	suricata-verify/input-35-cut.pcap.gz; do
	number=$((number + 1))
	replay "$file" connection-end,tcp-retransmit,tcp-state-change,tcp-send "slow$number"
	nothing "$file: the summary and the printed firings" summary "$tmp/slow$number.summary" "$tmp/slow$number.json"
	replay "$file" connection-end "fast$number"
	nothing "$file: on the fast path" same "$tmp/fast$number.summary" "$tmp/slow$number.summary"
done
nothing "the captures have every kind of total" kinds "$tmp"/slow*.summary

# Without records, --summary does not contain them.
"$netobsd" -r "$(capture home-network.pcap)" --summary 2>"$tmp/summary"
is "no totals without records" "$(grep -cE '^(ended|reset|zero-window|handshake|rtt|answer)\.' "$tmp/summary")" 0

tap_done
