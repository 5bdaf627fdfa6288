# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests of netobsctl stream, sourced after running.sh: streams, and datagrams that make udp-send fire.

client=$top/tests/service/stream_client.py

# fire COUNT [SENDER]: makes exactly COUNT further firings of udp-send
fired=0
fire() {
	traffic udp "${2:-sender}" 7000 "$1" 8
	fired=$((fired + $1))
	wait_for reached probe.udp-send "$fired" || note "udp-send fired $(value probe.udp-send) times, not $fired"
}

# stream NAME ARGUMENT...: starts a stream to $tmp/NAME, its pid in $reader; returns when it receives lines
streams=''
stream() {
	stream_name=$1 stream_count=0
	shift
	for stream_reader in $streams; do
		! kill -0 "$stream_reader" 2>/dev/null || stream_count=$((stream_count + 1))
	done
	wait_for reached feed.now "$stream_count" # netobsd may not have noticed the end of another one
	"$ctl" -s "$socket" stream "$@" >"$tmp/$stream_name" 2>"$tmp/$stream_name.err" &
	reader=$!
	streams="$streams $reader"
	wait_while "$reader" reached feed.now $((stream_count + 1)) || cat "$tmp/$stream_name.err"
}

# finish: ends netobsd, and with it all streams.  A reader has little time for what it has not read: wait for the lines
# first.
finish() {
	stop
	# shellcheck disable=SC2086 # process ids
	[ -z "$streams" ] || wait $streams
	streams='' fired=0
}

# disabled: whether udp-send is not enabled
disabled() {
	ctl probes --json | grep -q '"udp-send","enabled":0,'
}

begin_traffic
traffic receive 7000
