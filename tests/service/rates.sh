#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl connections -i: rates of an interval, with processes, across a netobsd that goes away and comes back.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

# list ARGUMENT...: of connections
list() {
	ctl connections "$@"
}

start --all-owners --udp-idle=3600
# Three connections to port 7001, whose clients send 9000, 200 and 1000 bytes and receive 10; one UDP stream.
begin_traffic
for bytes in 9000 200 1000; do
	traffic connect "$bytes" 7001
	traffic send "$bytes" "$bytes"
	traffic answer "$bytes" 10
done
traffic udp stream 7002 1 77

# listed COUNT: whether so many TCP connections are listed
listed() {
	[ "$(list -o server_port -P 'protostr == "TCP"' | wc -l)" -eq "$1" ]
}
wait_for listed 3

"$ctl" -s "$socket" connections -o server_port,client_bytes,server_bytes,client_segments,cid -P -i 2 'protostr == "TCP"' >"$tmp/rates" &
printing=$!
wait_for has_lines "$tmp/rates" 3
for _ in 1 2 3 4 5; do
	traffic send 200 10000
done
# over: whether all of it is in the rates: a table shows some, and the last three lines show no rates
over() {
	# shellcheck disable=SC2016
	awk -F : 'NR > 3 && $2 > 0 { last = NR } END { exit !(last > 0 && NR >= last + 3) }' "$tmp/rates"
}
wait_for over
kill "$printing"
wait "$printing" 2>/dev/null
sed 1,3d "$tmp/rates" >"$tmp/later" # than the first table, which has the values since the beginning
# 50,000 bytes in an interval of two seconds, or in more than one.
# shellcheck disable=SC2016
check "the bytes of an interval, per second" awk -F : '{ sum += $2 } END { exit !(sum > 0 && sum < 50000) }' "$tmp/later"
# shellcheck disable=SC2016
check "its segments, with a decimal place" awk -F : '$2 > 0 {
		lines++
		wrong += $4 !~ /^[0-9]+[.][0-9]$/ || $2 < 5000 * $4 || $2 > 20000 * $4
	} END { exit !lines || wrong }' "$tmp/later"
is "a connection that is idle" "$(awk -F : '$2 == 0 { print $1, $2, $3, $4 }' "$tmp/later" | sort -u)" "7001 0 0 0.0"
is "connection ids are not rates" "$(cut -d : -f 5 "$tmp/later" | sort -u)" "$(list -o cid -P 'protostr == "TCP"' | sort)"
is "rates: so many tables" "$(list -o cid -P -i 0.1 -c 2 'protostr == "TCP"' | wc -l)" 6

# A netobsd that goes away and comes back during intervals.
"$ctl" -s "$socket" connections -o server_port,client_bytes -P -i 0.2 -c 2 server_port == 7002 >"$tmp/rates" 2>"$tmp/err.rates" &
printing=$!
wait_for test -s "$tmp/rates"
stop
check "netobsd has gone away: a message" wait_for grep -q '^netobsctl: .*: no netobsd is listening there' "$tmp/err.rates"
start --all-owners --udp-idle=3600
# seen: whether the stream is listed again
seen() {
	traffic udp stream 7002
	[ "$(wc -l <"$tmp/rates")" -ge 2 ]
}
wait_for seen
wait "$printing"
is "it is back: the tables that were asked for" "$? $(wc -l <"$tmp/rates")" "0 2"
is "one message" "$(wc -l <"$tmp/err.rates")" 1
end_traffic
stop
tap_done
