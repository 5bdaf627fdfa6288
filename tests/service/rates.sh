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
	[ "$(list -o rport -P proto tcp | wc -l)" -eq "$1" ]
}
wait_for listed 3

"$ctl" -s "$socket" connections -o rport,outbytes,inbytes,outsegs,cid --sort outbytes -P -i 2 -c 2 proto tcp \
	>"$tmp/rates" &
printing=$!
wait_for has_lines "$tmp/rates" 3
for _ in 1 2 3 4 5; do
	traffic send 200 10000
done
wait "$printing"
is "rates: so many tables" "$(wc -l <"$tmp/rates")" 6
# 50000 bytes in two seconds.
# shellcheck disable=SC2016
check "the bytes of an interval, per second" awk -F : 'NR == 4 { exit !($2 > 0 && $2 < 50000) }' "$tmp/rates"
# shellcheck disable=SC2016
check "its segments, with a decimal place" \
	awk -F : 'NR == 4 { exit !($4 ~ /^[0-9]+[.][0-9]$/ && $2 > 9000 * $4 && $2 < 11000 * $4) }' "$tmp/rates"
is "a connection that is idle" "$(awk -F : 'NR == 6 { print $1, $2, $3, $4 }' "$tmp/rates")" "7001 0 0 0.0"
is "connection ids are no rates" "$(awk -F : 'NR > 3 { print $5 }' "$tmp/rates" | sort)" "$(list -o cid -P proto tcp | sort)"
# A netobsd that goes away and comes back during intervals.
"$ctl" -s "$socket" connections -o rport,outbytes -P -i 0.2 -c 2 port 7002 >"$tmp/rates" 2>"$tmp/err.rates" &
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
