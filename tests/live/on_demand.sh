#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --on-demand: without a tracer frames pass and cost nothing; with one they are observed, and soon.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# shellcheck source=tests/lib/live_hosts.sh
. "$(dirname "$0")/../lib/live_hosts.sh"

send=$top/tests/live/send_frames.py
rate=20000

# A tracer attaches to every process of a file: this copy is used by this test only.
netobsd=$(private_netobsd) || exit 99

# cpu_of PID: its processor time in ticks of 1/100 s
cpu_of() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# frames_now: how many netobsd has observed so far
frames_now() {
	: >"$tmp/err"
	summary_of "$pid" "$tmp/err"
	counter frames
}

# arrived: how many frames the interface has received so far
arrived() {
	in_far cat /sys/class/net/far0/statistics/rx_packets
}

# more_arrived COUNT: whether it has received more than COUNT
more_arrived() {
	[ "$(arrived)" -gt "$1" ]
}

# asleep: whether the only capture socket has left the list of those that see every frame
asleep() {
	! in_far grep -q ' 0003 ' /proc/net/packet
}

ip netns exec "$far" "$netobsd" -i far0 --on-demand --no-owners 2>>"$tmp/err" &
pid=$!
wait_for begun "$pid"
wait_for in_far grep -q ' 88b5 ' /proc/net/packet
check "without a tracer it sleeps" asleep

before=$(cpu_of "$pid")
in_near python3 "$send" near0 2 "$rate" >"$tmp/sent"
used=$(($(cpu_of "$pid") - before))
note "$(cut -d' ' -f1 "$tmp/sent") frames passed in 2 s and took $used/100 s of its time"
check_speed "frames that pass cost nothing" [ "$used" -le 2 ]
is "none of them is observed" "$(frames_now)" 0

if ! have bpftrace || ! bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
	for point in "a tracer gets its first event within 0.2 s" "frames are observed while it stays" \
		"without it netobsd sleeps again" "and observes nothing more" "a second tracer wakes it again" \
		"the filter of the command line is back"; do
		skip "$point" "bpftrace is not there or may not trace"
	done
else
	# The clock of the first event against that of the last moment before the semaphore's rise: BEGIN runs before
	# the other probes are attached.
	# Until it is ended; by ip itself, for a function would have a shell of its own that is killed in its place.
	before=$(arrived)
	ip netns exec "$near" python3 "$send" near0 600 "$rate" >"$tmp/sent" &
	sender=$!
	wait_for more_arrived "$before"
	# Somebody else may have the processors just then, or the kernel take its time to attach, so that three of six
	# do; a netobsd that looks too seldom is not so lucky.
	soon=0
	for _ in 1 2 3 4 5 6; do
		bpftrace -q -e "BEGIN { @begin = nsecs; }
			usdt:$netobsd:netobs:udp__receive /@begin/ {
				printf(\"%d\\n\", (nsecs - @begin) / 1000000); exit(); }
			interval:s:5 { printf(\"5000\\n\"); exit(); }" >"$tmp/first" 2>"$tmp/bpftrace"
		waited=$(head -n 1 "$tmp/first")
		note "the first event came $waited ms after the tracer began to attach"
		[ "${waited:-5000}" -gt 200 ] || soon=$((soon + 1))
		[ $soon -lt 3 ] || break
		wait_for asleep
	done
	check_speed "a tracer gets its first event within 0.2 s" [ $soon -eq 3 ]
	check "frames are observed while it stays" [ "$(frames_now)" -gt 0 ]
	check "without it netobsd sleeps again" wait_for asleep
	seen=$(frames_now)
	wait_for more_arrived "$(($(arrived) + rate / 2))"
	is "and observes nothing more" "$(frames_now)" "$seen"
	bpftrace -q -e "usdt:$netobsd:netobs:udp__receive { exit(); } interval:s:60 { printf(\"never\\n\"); exit(); }" \
		>"$tmp/first" 2>"$tmp/bpftrace"
	is "a second tracer wakes it again" "$(grep never "$tmp/first")" ""
	finish
	ip netns exec "$far" "$netobsd" -i far0 --on-demand --no-owners udp port 9 2>>"$tmp/err" &
	pid=$!
	wait_for in_far grep -q ' 88b5 ' /proc/net/packet
	bpftrace -q -e "usdt:$netobsd:netobs:udp__receive { printf(\"passed\\n\"); exit(); }
		interval:s:2 { exit(); }" >"$tmp/first" 2>"$tmp/bpftrace"
	is "the filter of the command line is back" "$(cat "$tmp/first")" ""
	kill "$sender"
	wait "$sender" 2>/dev/null
fi

finish
is "exit status" $? 0

ip netns exec "$far" "$netobsd" -i far0 --on-demand --print=udp-receive >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_for watched "$pid" 1
in_near python3 "$send" near0 2 1000 >"$tmp/sent" # it would sleep after a second without a tracer
finish
is "with --print it never sleeps" "$(grep -c ' udp-receive ' "$tmp/out")" "$(cut -d ' ' -f 1 "$tmp/sent")"

tap_done
