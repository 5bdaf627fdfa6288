#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --on-demand: frames take no processor time while capture is suspended, and a tracer gets its first event soon.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$top/tests/lib/live_hosts.sh"

send=$top/tests/live/send_frames.py
rate=20000
netobsd=$(private_netobsd) || exit 99

# cpu_of PID: the processor time of its main thread, us
cpu_of() {
	awk '{ printf "%d\n", $1 / 1000 }' "/proc/$1/schedstat"
}

# suspended: whether the only capture socket has left the list of those that receive every frame
suspended() {
	! in_far grep -q ' 0003 ' /proc/net/packet
}

# received: how many frames the interface has received so far
received() {
	in_far cat /sys/class/net/far0/statistics/rx_packets
}

more_received() {
	[ "$(received)" -gt "$1" ]
}

ip netns exec "$far" "$netobsd" -i far0 --on-demand --no-owners 2>>"$tmp/err" &
pid=$!
wait_for begun "$pid"
wait_for in_far grep -q ' 88b5 ' /proc/net/packet
wait_for suspended

# takes_nothing: the kernel adds interrupts to the time.  40,000 frames that are observed take 15 to 25 ms.
takes_nothing() {
	before=$(cpu_of "$pid")
	in_near python3 "$send" near0 2 "$rate" >"$tmp/sent"
	used=$(($(cpu_of "$pid") - before))
	note "$(cut -d' ' -f1 "$tmp/sent") frames passed in 2 s and took $used us of its time"
	[ "$used" -le 10000 ]
}

measured "suspended: frames take no processor time" takes_nothing

# first_event_soon: the time from BEGIN, which runs before the other probes are attached, to the first event.  A slow
# attachment may delay it: three of six attempts must be in time.  A netobsd that polls too seldom misses more of them.
first_event_soon() {
	# The sender runs until it is killed.  It is started with ip itself: a function would run in a shell, which would
	# be killed in its place.
	before=$(received)
	ip netns exec "$near" python3 "$send" near0 600 "$rate" >"$tmp/sent" &
	sender=$!
	wait_for more_received "$before"
	soon=0
	for _ in 1 2 3 4 5 6; do
		bpftrace -q -e "BEGIN { @begin = nsecs; }
			usdt:$netobsd:netobs:udp__receive /@begin/ {
				printf(\"%d\\n\", (nsecs - @begin) / 1000000); exit(); }
			interval:s:5 { printf(\"5000\\n\"); exit(); }" >"$tmp/first" 2>"$tmp/bpftrace"
		waited=$(head -n 1 "$tmp/first")
		note "the first event came $waited ms after the tracer began to attach"
		[ "${waited:-5000}" -gt 200 ] || soon=$((soon + 1))
		[ "$soon" -lt 3 ] || break
		wait_for suspended
	done
	kill "$sender"
	wait "$sender" 2>/dev/null
	[ "$soon" -eq 3 ]
}

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "a tracer gets its first event within 0.2 s" "$refused"
else
	measured "a tracer gets its first event within 0.2 s" first_event_soon
fi
finish

tap_done
