#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/engines/rsyslog: rsyslogd follows the files of two netobsd and sends their lines to librdkafka's mock cluster.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

{ have rsyslogd kcat jq && broker_possible; } || unavailable "rsyslogd, kcat, jq or librdkafka-dev"

# start_rsyslog HOST: with the sample, whose file and broker are those of this test, and its own working directory
start_rsyslog() {
	mkdir -p "$tmp/$1"
	: >"$tmp/$1.jsonl"
	{
		printf 'global(workDirectory="%s" localHostname="%s")\n' "$tmp/$1" "$1"
		sed -e "s|/var/log/netobs/records.jsonl|$tmp/$1.jsonl|" -e "s|localhost:9092|$broker|" "$samples/rsyslog/netobs.conf"
	} >"$tmp/$1.conf"
	rsyslogd -n -f "$tmp/$1.conf" -i "$tmp/$1.pid" >"$tmp/$1.log" 2>&1 &
	rsyslog=$!
	wait_while "$rsyslog" test -s "$tmp/$1.pid"
}

# sent COUNT: whether the topic has so many lines
sent() {
	consume >"$tmp/consumed" 2>"$tmp/kcat.err"
	[ "$(wc -l <"$tmp/consumed")" -ge "$1" ]
}

answer() {
	jq -s -r -f "$samples/kafka/$1.jq" "$tmp/consumed"
}

require "records of two hosts" make_records
require "a broker runs" start_broker
expected=0
for host in alpha beta; do
	if ! start_rsyslog "$host"; then
		not_ok "rsyslogd runs on $host" "$tmp/$host.log"
		continue
	fi
	is "the sample was changed for this test" "$(grep -c "$broker\|$tmp/$host.jsonl" "$tmp/$host.conf")" 2
	cat "$records/$host.jsonl" >>"$tmp/$host.jsonl" # as netobsd appends
	expected=$((expected + $(wc -l <"$records/$host.jsonl")))
	check "rsyslogd sends the lines of $host" wait_while "$rsyslog" sent "$expected"
	end_server "$rsyslog" TERM
	is "rsyslogd ends" "$?" 0
	is "rsyslogd reports nothing" "$(cat "$tmp/$host.log")" ""
done
for host in alpha beta; do
	with_host "$host" <"$records/$host.jsonl"
done >"$tmp/produced"
check "every line arrives once, with its host" cmp "$tmp/produced" "$tmp/consumed"
is "each line has its host as key" "$(keys)" "$(expected_keys)"
check_answers answer
end_broker

tap_done
