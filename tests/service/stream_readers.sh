#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Readers of netobsctl stream that stop, end in the middle of a line, or are many; netobsd that is killed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/streams.sh
. "$(dirname "$0")/streams.sh"

# read_all: whether 99 streams have the line of each firing
read_all() {
	[ "$(cat "$tmp/most/"[1-9]* | wc -l)" -eq $((99 * fired)) ]
}

# demanded: makes a firing; whether the stream has a line
demanded() {
	traffic udp sender 7000
	has_lines "$tmp/demanded" 1
}

start
before=$(descriptors)
timeout 60 ip netns exec "$space" python3 "$client" torn "$socket" 50
check "50 readers that end in the middle of a line: nothing is left enabled" wait_for disabled
is "and no descriptor is left" "$(descriptors)" "$before"
finish

start
stream stopped --json udp-send
slow=$reader
stream read --json udp-send --fields pkt_seq
kill -STOP "$slow"
fire 10000
wait_for has_lines "$tmp/read" 10000
dropped=$(value feed.dropped)
check "a stopped reader loses lines" test "$dropped" -gt 0
kill -CONT "$slow"
wait_for has_lines "$tmp/stopped" $((10000 - dropped)) # then there is room for more
fire 10
wait_for has_lines "$tmp/read" 10010
wait_for grep -q '"pkt_seq":10010}' "$tmp/stopped"
is "what was lost is exact" "$(value feed.dropped)" "$dropped"
finish
is "the stream has the number of lost lines in their place" "$(python3 "$client" check "$tmp/stopped" 2>&1)" \
	"$((10010 - dropped)) $dropped"
is "netobsctl prints the number of lost lines" "$(head -n 1 "$tmp/stopped.err")" \
	"netobsctl: $dropped lines were lost because they were not read in time"
awk 'BEGIN { for (i = 1; i <= 10010; i++) printf "{\"pkt_seq\":%d}\n", i }' >"$tmp/wanted"
check "the other reader has every line" cmp "$tmp/wanted" "$tmp/read"

start
mkdir "$tmp/most"
timeout 300 python3 "$client" most "$socket" 100 "$tmp/most" >"$tmp/most.err" 2>&1 &
many=$!
wait_while "$many" test -e "$tmp/most/ready"
fire 5
for _ in $(seq 12); do
	fire 500
done
is "100 streams: no frame is dropped" "$(value capture.dropped)" 0
is "100 streams" "$(value feed.now)" 100
is "100 streams: every line is counted" "$(value feed.lines)" $((100 * fired))
check "100 streams: the stopped one has lost lines" test "$(value feed.dropped)" -gt 0
wait_for read_all
lines=$fired
finish
wait "$many"
awk -v fired="$lines" 'BEGIN { for (i = 1; i <= fired; i++) printf "{\"pkt_seq\":%d}\n", i; print "" }' >"$tmp/wanted"
complete=0
for i in $(seq 99); do
	! cmp -s "$tmp/wanted" "$tmp/most/$i" || complete=$((complete + 1))
done
is "100 streams: 99 have every line, and an empty line at the end" "$complete" 99
check "the end of the stopped one is logged" grep -q 'the last [0-9]* bytes of a stream were not sent' "$tmp/err"

start --control-mode 666
mkfifo "$tmp/hold"
timeout 300 python3 "$client" hold "$socket" 128 "$tmp/held" <"$tmp/hold" &
holder=$!
exec 5>"$tmp/hold"
wait_while "$holder" test -e "$tmp/held"
timeout 60 "$ctl" -s "$socket" stream udp-send >"$tmp/refused" 2>&1
is "the 129th stream" "$?:$(cat "$tmp/refused")" '1:netobsctl: there are 128 streams already, as many as there can be'
check "other commands are served beside 128 streams" ctl status
exec 5>&-
wait "$holder"
check "streams that have ended make room" wait_for disabled
ctl_as 65533 stream udp-send >"$tmp/other" 2>&1
is "every user may connect: a stream is for root only" "$?:$(cut -c 1-62 "$tmp/other")" \
	"1:netobsctl: every user may connect to this control socket: only"
finish

# A stream is a tracer for --on-demand: it resumes capture.
start --on-demand
traffic udp sender 7000 3
is "--on-demand: nothing is captured without a stream" "$(value frames)" 0
stream demanded udp-send
check "--on-demand: a stream resumes capture" wait_for demanded
kill "$reader"
wait "$reader"
finish

# netobsd is killed: the stream breaks off.
start
stream broken --json udp-send
fire 3
wait_for has_lines "$tmp/broken" 3
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait "$reader"
is "netobsd is killed: status" $? 2
is "netobsd is killed: message" "$(cat "$tmp/broken.err")" \
	"netobsctl: the stream broke off: netobsd has closed the connection or was killed"

end_traffic
tap_done
