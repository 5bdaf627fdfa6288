#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --on-demand: without a tracer capture is suspended; with a tracer frames are observed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$top/tests/lib/live_hosts.sh"

send=$top/tests/live/send_frames.py
rate=1000

# A tracer attaches to every process of a file: this copy is used by this test only.
netobsd=$(private_netobsd) || exit 99

# frames_now: number of frames observed so far
frames_now() {
	: >"$tmp/err"
	summary_of "$pid" "$tmp/err"
	counter frames
}

observed_more() {
	[ "$(frames_now)" -gt "$1" ]
}

# received: how many frames the interface has received so far
received() {
	in_far cat /sys/class/net/far0/statistics/rx_packets
}

# more_received COUNT: whether it has received more than COUNT
more_received() {
	[ "$(received)" -gt "$1" ]
}

# half_a_second_passes: returns when frames of half a second have been received
half_a_second_passes() {
	wait_for more_received "$(($(received) + rate / 2))"
}

# suspended: whether the only capture socket has left the list of those that receive every frame
suspended() {
	! resumed
}

resumed() {
	in_far grep -q ' 0003 ' /proc/net/packet
}

# on_demand ARGUMENT...: starts netobsd, $pid
on_demand() {
	ip netns exec "$far" "$netobsd" -i far0 --on-demand --no-owners "$@" 2>>"$tmp/err" &
	pid=$!
	wait_for begun "$pid"
	wait_for in_far grep -q ' 88b5 ' /proc/net/packet
}

on_demand
check "without a tracer capture is suspended" wait_for suspended
# The sender runs until it is killed.  It is started with ip itself: a function would run in a shell, which would
# be killed in its place.
ip netns exec "$near" python3 "$send" near0 600 "$rate" >"$tmp/sent" &
sender=$!
wait_for more_received "$(received)"
half_a_second_passes
is "suspended: no frame is observed" "$(frames_now)" 0

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	for point in "frames are observed while a tracer is attached" "the tracer has firings" \
		"capture is suspended after the tracer has ended" "no frame is observed after the tracer has ended" "a second tracer resumes capture" \
		"resumed capture applies the filter of the command line"; do
		skip "$point" "$refused"
	done
else
	tracer "$tmp/first" "usdt:$netobsd:netobs:udp__receive { @ = count(); }"
	check "frames are observed while a tracer is attached" wait_for observed_more 0
	tracer_end
	check "the tracer has firings" grep -q '^@: [1-9]' "$tmp/first"
	check "capture is suspended after the tracer has ended" wait_for suspended
	observed=$(frames_now)
	half_a_second_passes
	is "no frame is observed after the tracer has ended" "$(frames_now)" "$observed"
	tracer "$tmp/second" "usdt:$netobsd:netobs:udp__receive { printf(\"fired\\n\"); exit(); }"
	check "a second tracer resumes capture" wait_while "$tracer" grep -q '^fired$' "$tmp/second"
	tracer_end
	finish
	on_demand udp port 9
	tracer "$tmp/third" "usdt:$netobsd:netobs:udp__receive { @ = count(); }"
	wait_for resumed
	half_a_second_passes
	tracer_end
	is "resumed capture applies the filter of the command line" "$(grep '^@' "$tmp/third")" "@: 0"
fi
kill "$sender"
wait "$sender" 2>/dev/null
finish
is "exit status" $? 0

# printed ARGUMENT...: the frames that netobsd with these arguments prints, of those that are sent in two seconds; without a
# tracer it would be suspended after one
printed() {
	ip netns exec "$far" "$netobsd" -i far0 --on-demand "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for observing "$pid" 1
	in_near python3 "$send" near0 2 "$rate" >"$tmp/sent"
	finish
	grep -c -e ' udp-receive ' -e ' sent ' "$tmp/out"
}

is "with --print capture is never suspended" "$(printed --print=udp-receive)" "$(cut -d ' ' -f 1 "$tmp/sent")"
is "nor with --print of a formula" "$(printed --formula 'sent = udp-receive' --print=sent)" "$(cut -d ' ' -f 1 "$tmp/sent")"

tap_done
