#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Overload and exhaustion: under any traffic memory is bounded, nothing crashes, and observation continues.  NETOBS_LONG=1
# makes the test long: thirty million connections, a gigabyte of garbage, an hour of traffic.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
traffic=$build/tests/live/overload_traffic
built "$traffic"
if [ -n "${NETOBS_LONG:-}" ]; then
	syns=30000000 fragments=5000000 collisions=2000000 garbage=1000000 seconds=3600 attachments=100
else
	syns=1000000 fragments=300000 collisions=300000 garbage=60000 seconds=120 attachments=10
fi
# resident: memory in use by $pid in KiB; nothing when it has ended
resident() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$pid/status" 2>/dev/null
}

# sample: memory in use by $pid in KiB, and the bytes it has read so far; nothing when it has ended
sample() {
	awk '$1 == "VmRSS:" { memory = $2 } $1 == "rchar:" && memory { print memory, $2 }' "/proc/$pid/status" "/proc/$pid/io" 2>/dev/null
}

# feed KIND COUNT ARGUMENT...: replays such traffic; memory in use is sampled into $tmp/memory
feed() {
	feed_kind=$1 feed_count=$2
	shift 2
	mkfifo "$tmp/fifo"
	"$traffic" "$feed_kind" "$feed_count" >"$tmp/fifo" 2>/dev/null &
	"$netobsd" -r - --summary "$@" <"$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	: >"$tmp/memory"
	while kill -0 "$pid" 2>/dev/null; do
		sample >>"$tmp/memory"
		sleep 0.05 # no event: the interval between two samples of memory
	done
	wait "$pid"
	feed_status=$?
	rm -f "$tmp/fifo"
	return $feed_status
}

counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$tmp/err"
}

# Sanitizers keep freed memory for a while, so its amount says nothing; they look for leaks themselves.
sanitized=$(grep -c __asan_init "$netobsd")

# flat SLACK: whether memory grew by no more than SLACK KiB from the middle of the traffic to the end
flat() {
	[ "$sanitized" -gt 0 ] || awk -v slack="$1" '{ memory[NR] = $1; bytes[NR] = $2 }
		END {
			for (middle = 1; bytes[middle] < bytes[NR] / 2; middle++)
				continue
			exit !(NR < 4 || memory[NR] - memory[middle] <= slack)
		}' "$tmp/memory"
}

most() {
	[ "$sanitized" -eq 0 ] || echo 0
	[ "$sanitized" -gt 0 ] || cut -d ' ' -f 1 "$tmp/memory" | sort -n | tail -n 1
}

# ------------------------------------------------------------------------------------------------------------ floods

feed syn "$syns" --max-flows 100000
is "SYN flood: status" $? 0
is "SYN flood: every connection is created" "$(counter flow.created)" "$syns"
is "SYN flood: the limit holds" "$(counter flow.now)" 100000
is "SYN flood: half-open connections are evicted" "$(counter flow.evicted-half-open)" "$((syns - 100000))"
check "SYN flood: memory is flat" flat 1024
check "SYN flood: no more memory than reserved" test "$(most)" -lt 80000

feed fragments "$fragments"
is "fragment flood: status" $? 0
is "fragment flood: every frame is observed" "$(counter frames)" "$fragments"
check "fragment flood: the anomaly fragment-limit is counted" test "$(counter anomaly.fragment-limit)" -gt 0
check "fragment flood: memory is flat" flat 2048

feed collisions "$collisions" --max-flows 1000000
is "colliding keys: status" $? 0
is "colliding keys: no connection is evicted" "$(counter flow.created) $(counter flow.evicted-crowded)" "$collisions 0"

feed random "$garbage" --print --format json
is "random frames: status" $? 0
is "random frames: every frame is observed" "$(counter frames)" "$garbage"
check "random frames: memory is flat" flat 8192

# The first seconds of traffic fill tables; from then on nothing may grow.
feed mixed "$seconds" --max-flows 20000
is "steady traffic: status" $? 0
is "steady traffic: every frame is observed" "$(counter frames)" "$((seconds * 10000))"
check "steady traffic: memory is flat" flat 512

# --------------------------------------------------------------------------------------------------- live capture

if [ "$(id -u)" -ne 0 ] || ! have ip python3; then
	skip "observing" "needs root, ip and python3"
	tap_done
fi
space=netobs-overload-$$
namespaces "$space" || {
	skip "observing" "$kernel_refusal"
	tap_done
}
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run"
sockets=$top/tests/live/live_sockets.py

ctl() {
	"$build/netobsctl" -s "$tmp/run/control" "$@"
}

# enabled: ENABLED of udp-receive
enabled() {
	ctl probes --json | sed -n 's/.*"udp-receive","enabled":\([0-9]*\).*/\1/p'
}

is_disabled() {
	[ "$(enabled)" -eq 0 ]
}

frames() {
	ctl counters | awk '$1 == "frames" { print $2 }'
}

# frames_reach COUNT: whether COUNT frames have been observed
frames_reach() {
	[ "$(frames)" -ge "$1" ]
}

# continues NAME: whether frames are still observed
continues() {
	continues_before=$(frames)
	ip netns exec "$space" python3 "$sockets" flood 127.0.0.1 9 50
	check "$1: observation continues" wait_for frames_reach "$((continues_before + 50))"
}

# descriptors: number of descriptors of $pid, once it has closed those of its control socket's clients
descriptors() {
	wait_for all_gone
	find "/proc/$pid/fd" | wc -l
}

all_gone() {
	[ "$(ip netns exec "$space" grep -c " $tmp/run/control\$" /proc/net/unix)" -eq 1 ]
}

# begin ARGUMENT...: starts netobsd on lo; its standard output is the caller's
begin() {
	ip netns exec "$space" "$program" -i lo --control "$tmp/run/control" "$@" 2>"$tmp/err" &
	pid=$!
	wait_for ctl status || cat "$tmp/err" >&2
}

finish() {
	kill -INT "$pid"
	wait "$pid"
}

program=$netobsd
begin >/dev/null
check "the reserved memory is logged at the start" grep -qE "^netobsd: memory reserved: [0-9]+ MiB for 1000000 connections" "$tmp/err"
finish

begin --print >/dev/full
continues "a full disk"
continues "a full disk, still"
is "a full disk: one line" "$(grep -c "cannot write to standard output: printing is disabled" "$tmp/err")" 1
finish

mkfifo "$tmp/closed"
exec 4<>"$tmp/closed"
begin --print >"$tmp/closed" 4>&-
exec 4>&- # the only reader
continues "a closed pipe"
continues "a closed pipe, still"
is "a closed pipe: one line" "$(grep -c "cannot write to standard output: printing is disabled" "$tmp/err")" 1
finish

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "a tracer attaches again and again" "$refused"
else
	program=$(private_netobsd)
	chmod 755 "$program"
	begin >/dev/null
	continues "before a tracer"
	descriptors=$(descriptors)
	for attachment in $(seq "$attachments"); do
		bpftrace -e "usdt:$program:netobs:udp__receive { @ = count(); }" >/dev/null 2>&1 &
		tracer=$!
		wait_for sh -c "'$build/netobsctl' -s '$tmp/run/control' probes | grep -q '^udp-receive  *[1-9]'"
		ip netns exec "$space" python3 "$sockets" flood 127.0.0.1 9 20
		kill -9 "$tracer"
		wait "$tracer" 2>/dev/null
		# Connections touch reserved memory 2 MiB at a time.
		[ "$attachment" -ne 3 ] || before=$(resident)
	done
	note "resident memory after 3 tracers $before KiB, after $attachments $(resident) KiB"
	continues "a tracer was attached and killed $attachments times"
	check "a tracer attaches again and again: memory does not grow" test "$(resident)" -lt "$((before + 8192 + sanitized * 100000))"
	is "a tracer attaches again and again: no descriptor is left open" "$(descriptors)" "$descriptors"
	wait_for sh -c "! '$build/netobsctl' -s '$tmp/run/control' probes | grep -q '^udp-receive  *[1-9]'"
	is "a tracer attaches again and again: no probe stays enabled" "$(ctl probes --json | grep -c '"enabled":[1-9]')" 0
	# The kernel enables a probe with the first tracer and disables it with the last.
	count="usdt:$program:netobs:udp__receive { @ = count(); }"
	tracer "$tmp/first" "$count"
	first=$tracer
	is "one tracer enables a probe once" "$(enabled)" 1
	tracer "$tmp/second" "$count"
	is "two tracers enable a probe once" "$(enabled)" 1
	kill -9 "$first"
	wait "$first" 2>/dev/null
	is "after one of them has ended" "$(enabled)" 1
	kill -9 "$tracer"
	wait "$tracer" 2>/dev/null
	check "after both have ended" wait_for is_disabled
	finish
fi

tap_done
