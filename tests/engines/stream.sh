#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The stream of a running netobsd, as conf/engines/README.md has it: through kcat to Kafka, and as files for DuckDB.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have ip || skip_all "ip is not installed"
{ have kcat jq && broker_possible; } || unavailable "kcat, jq or librdkafka-dev"
space=netobs-engines-$$
namespaces "$space" || skip_all "$kernel_refusal"
ip -n "$space" link set lo up
mkdir -m 755 "$tmp/run" "$tmp/records" "$tmp/records/alpha"

ctl() {
	"$build/netobsctl" -s "$tmp/run/control" "$@"
}

start_netobsd() {
	ip netns exec "$space" "$netobsd" -i lo --control "$tmp/run/control" >"$tmp/netobsd.out" 2>"$tmp/netobsd.err" &
	daemon=$!
	wait_while "$daemon" ctl status || {
		cat "$tmp/netobsd.err"
		return 1
	}
}

# streams COUNT: whether netobsd has so many streams
streams() {
	[ "$(ctl counters | awk '$1 == "feed.now" { print $2 }')" = "$1" ]
}

# connect: 20 connections to one port that are closed in order, and 5 to a port that refuses them
connect() {
	{
		for _ in $(seq 20); do
			printf '%s\n' "connect one 8000" "send one 8" "answer one 6" "close one"
		done
		echo "refused 8001 5"
	} | ip netns exec "$space" python3 "$top/tests/service/traffic.py" >"$tmp/traffic"
}

# streamed COUNT: whether the stream has so many lines
streamed() {
	[ "$(wc -l <"$tmp/streamed")" -ge "$1" ]
}

# sent COUNT: whether the topic has so many lines
sent() {
	consume >"$tmp/consumed" 2>"$tmp/kcat.err"
	[ "$(wc -l <"$tmp/consumed")" -ge "$1" ]
}

# first_row: the first row's server, port, number of connections and failures
first_row() {
	head -n 1 | cut -f 2-5 | tr '\t' ' '
}

require "a broker runs" start_broker
require "netobsd runs" start_netobsd
{
	ctl stream --json 2>"$tmp/stream.err"
	echo "$?" >"$tmp/stream.status"
} | tee "$tmp/streamed" | "$samples/record-lines" alpha | kcat -P -b "$broker" -t netobs -k alpha >"$tmp/kcat.out" 2>&1 &
pipeline=$!
ctl stream --dir "$tmp/records/alpha" >"$tmp/files.out" 2>&1 &
files=$!
require "two streams" wait_while "$daemon" streams 2
check "connections" connect
check "every record is in the stream" wait_while "$daemon" streamed 25
# kcat reads blocks of 1024 bytes, so that the end of the last line may wait for further lines.
check "the records are in Kafka while netobsd runs" wait_for sent 24
end_server "$daemon" INT
wait_server "$pipeline"
is "kcat ends with the stream" "$?:$(cat "$tmp/kcat.out")" "0:"
wait_server "$files"
is "the files end with the stream" "$?" 0
sent 25
is "each record once" "$(wc -l <"$tmp/consumed"):$(grep -c cr_uid "$tmp/streamed")" 25:25
is "the worst server, from the topic" "$(jq -s -r -f "$samples/kafka/worst-servers.jq" "$tmp/consumed" | first_row)" "127.0.0.1 8001 5 5"
if have node && [ -d "$cache/npm/node_modules/@duckdb/node-api" ]; then
	(cd "$tmp" && node "$here/duckdb.js" "$cache/npm" "$samples/duckdb/schema.sql" "$samples/duckdb/worst-servers.sql") >"$tmp/rows" 2>&1
	is "the worst server, from the files" "$(first_row <"$tmp/rows")" "127.0.0.1 8001 5 5"
	is "the other one" "$(sed 1d "$tmp/rows" | first_row)" "127.0.0.1 8000 20 0"
else
	skip "the worst server, from the files" "no DuckDB"
fi
end_broker

tap_done
