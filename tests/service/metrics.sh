#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The metrics of connections, with the connections and events that the same run prints, of one worker and of two; and that
# the dashboard and the alert rules name metrics that netobsd exports.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# shellcheck source=tests/lib/live_hosts.sh
. "$(dirname "$0")/../lib/live_hosts.sh"

totals=$top/tests/service/totals.py alerts=$top/tests/service/alerts.py client=$top/tests/service/control_client.py
frames=

# nothing NAME COMMAND...: the command prints nothing and succeeds
nothing() {
	nothing_name=$1
	shift
	if silent "$@"; then
		ok "$nothing_name"
	else
		not_ok "$nothing_name" "$tmp/silent"
	fi
}

silent() {
	"$@" >"$tmp/silent" 2>&1 && [ ! -s "$tmp/silent" ]
}

# scrape: a page of metrics to $tmp/page
scrape() {
	in_near python3 "$client" http 127.0.0.1 9812 "GET /metrics HTTP/1.1" | tr -d '\r' | sed '1,/^$/d' >"$tmp/page"
}

# has_observed: whether all frames are observed
has_observed() {
	scrape && [ "$(python3 "$totals" total "$tmp/page" netobs_frames_total)" -ge "$frames" ]
}

# agrees: whether the ends of connections on a page are those printed so far
agrees() {
	scrape && silent python3 "$totals" page "$tmp/page" "$tmp/out"
}

# run WORKERS: observes the frames of two captures; then the last page of metrics is in $tmp/page, the firings are in
# $tmp/out and the summary is in $tmp/err.  The filter excludes what the kernel sends by itself.
run() {
	observe "$near" "$1" -i near0 --workers "$1" --view both --summary --format json -B 65536 --metrics 127.0.0.1:9812 \
		--print=connection-end,tcp-retransmit,tcp-state-change,tcp-send "$filter"
	for file in home-network.pcap questions.pcap; do
		in_near python3 "$totals" send near0 "$top/tests/captures/$file" || echo "cannot send $file"
	done
	wait_for has_observed || echo "# not all frames were observed"
	wait_for agrees
	finish
	cp "$tmp/silent" "$tmp/ends.$1"
	cp "$tmp/page" "$tmp/page.$1"
	cp "$tmp/err" "$tmp/summary.$1"
}

filter="ip and not igmp"
for file in home-network.pcap questions.pcap; do
	"$netobsd" -r "$top/tests/captures/$file" --summary "$filter" 2>"$tmp/replayed"
	frames=$((${frames:-0} + $(awk '$1 == "frames" { print $2 }' "$tmp/replayed")))
done
for workers in 1 2; do
	run "$workers" >"$tmp/run" 2>&1
	is "workers $workers: no frame is dropped" "$(counter capture.dropped)" 0
	nothing "workers $workers: ended connections" cat "$tmp/run" "$tmp/ends.$workers"
	nothing "workers $workers: segments, retransmissions, windows and times" \
		python3 "$totals" final "$tmp/page" "$tmp/err"
	nothing "workers $workers: the summary and the printed firings" python3 "$totals" summary "$tmp/err" "$tmp/out"
	nothing "workers $workers: histograms" python3 "$totals" consistent "$tmp/page"
	check "workers $workers: strict format" python3 "$client" metrics "$tmp/page"
	for name in connections_ended_total tcp_resets_total tcp_zero_windows_total tcp_retransmissions_total; do
		check "workers $workers: $name is not 0" test "$(python3 "$totals" total "$tmp/page" "netobs_$name")" -gt 0
	done
	is "workers $workers: refused connections" \
		"$(sed -n 's/^netobs_connections_ended_total{proto="tcp",reason="refused"} //p' "$tmp/page")" 6
done
is "two workers have as many segments as one" "$(python3 "$totals" total "$tmp/page.2" netobs_tcp_segments_total)" \
	"$(python3 "$totals" total "$tmp/page.1" netobs_tcp_segments_total)"

# ------------------------------------------------------------------------------------------------------------- samples

if have promtool; then
	check "promtool accepts the page" sh -c "promtool check metrics <'$tmp/page'"
else
	skip "promtool accepts the page" "promtool is not installed"
fi
nothing "the dashboard and the rules name metrics that are exported" \
	python3 "$alerts" names "$tmp/page" "$top/conf/grafana-dashboard.json" "$top/conf/netobs.rules.yml"
nothing "the dashboard shows every metric of the network" \
	python3 "$alerts" shown "$tmp/page" "$top/conf/grafana-dashboard.json"
sed -n 's/^# TYPE \([^ ]*\) .*/\1/p' "$tmp/page" | while read -r name; do
	grep -q "$name" "$top/man/netobsd.8" || echo "$name"
done >"$tmp/unknown"
nothing "netobsd(8) has every metric" cat "$tmp/unknown"
sed 's/netobs_tcp_rtt_seconds/netobs_tcp_rtt_secs/g' "$top/conf/grafana-dashboard.json" >"$tmp/dashboard.json"
is "a metric of the dashboard that does not exist, and one that it lacks, are found" \
	"$(python3 "$alerts" names "$tmp/page" "$tmp/dashboard.json" | grep -c tcp_rtt_secs) $(
		python3 "$alerts" shown "$tmp/page" "$tmp/dashboard.json" | grep -c tcp_rtt)" "3 3"

tap_done
