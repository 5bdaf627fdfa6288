#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel and netobs, compared on the same connections at the same time.  Two hosts and a lossy router between them
# in network namespaces, thousands of short connections and some of every unusual kind; the kernel's own record of states and
# retransmissions, and the firings of the probes of a netobsd on each host, recorded by bpftrace.  Both are compared
# connection by connection (live_truth.py, by the rules of truth.py).
#
# For longer runs, as root in a build directory:
#
#     NETOBS_LIVE_CONNECTIONS=5000 NETOBS_LIVE_LOSS=30 NETOBS_LIVE_SEED=7 ../tests/reference/live_truth.sh
#
# live_truth_hosts.sh lists the variables; NETOBS_LIVE_KEEP is a folder in which the records are left.
#
# What the hosts send by IPv6 is captured, too: a segment that the kernel sends again with all bytes of one before is, by
# netobs(7), no retransmission, and without the captures it could not be told from one that netobsd does not recognize.
#
# Why bpftrace does not record the kernel's side, too: a BPF program on a tracepoint does not run while it interrupts another
# on the same CPU, so that bpftrace misses some of the kernel's events under load, and prints those of several CPUs out of
# order.  An ftrace instance with a buffer of its own misses no event unless the buffer overruns, counts overruns, and merges
# by time.  The programs on netobs's probes never interrupt each other.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip nft python3 tcpdump || skip_all "ip, nft, python3 or tcpdump is not installed"
why=$(tracing_refused)
[ -z "$why" ] || skip_all "$why"

# shellcheck source=tests/reference/live_truth_hosts.sh
. "$top/tests/reference/live_truth_hosts.sh"

program=$(private_netobsd) || exit 99
traffic=$top/tests/live/live_traffic.py

# observe NAMESPACE DEVICE: a netobsd there; its standard error is DEVICE.err
observe() {
	ip netns exec "$1" "$program" -i "$2" -s 200 -B 65536 --summary >/dev/null 2>"$tmp/$2.err" &
}

both_are_traced() {
	ip netns exec "$near" python3 "$traffic" once "$far4" 7007
	grep -q " $near4 .* 7007 " "$tmp/probes" && grep -q " 7007 $near4 " "$tmp/probes"
}

set_up() {
	rm -f "$tmp/ready"
	set_up_network && set_up_record || return 1
	sed "s|PROGRAM|$program|" "$top/tests/reference/live_truth.bt" >"$tmp/live_truth.bt"
	BPFTRACE_PERF_RB_PAGES=4096 bpftrace -q -B line --include "$top/probes/netobs.h" "$tmp/live_truth.bt" \
		>"$tmp/probes" 2>"$tmp/bpftrace.err" &
	tracer=$!
	observe "$near" near0
	near_pid=$!
	observe "$far" far0
	far_pid=$!
	record_frames "$near" near0 near -Q out 'ip6 and tcp' || return 1
	captures=$!
	record_frames "$far" far0 far -Q out 'ip6 and tcp' || return 1
	captures="$captures $!"
	ip netns exec "$far" python3 "$traffic" serve "$far4" "$far6" "$tmp/ready" &
	wait_for test -e "$tmp/ready" && wait_for both_are_traced
}

counter() {
	awk -v name="$2" '$1 == name { print $2 }' "$tmp/$1.err"
}

# firings_are_read: returns when bpftrace has printed all firings so far.  It has a buffer for each processor: a replay on
# each of them is after all earlier firings there.
firings_are_read() {
	for processor in $(python3 -c 'import os; print(*os.sched_getaffinity(0))'); do
		taskset -c "$processor" "$program" -r "$top/tests/captures/dns-tcp.pcap" &
		wait "$!"
		wait_for grep -q "^S [0-9]* $! " "$tmp/probes" || return 1
	done
}

if ! set_up >"$tmp/set-up.out" 2>&1; then
	sed 's/^/# /' "$tmp/set-up.out" "$tmp/bpftrace.err"
	echo "Bail out! the set-up failed"
	exit 99
fi

ip netns exec "$near" python3 "$traffic" connect "$far4" "$far6" "$seed" "$connections"
wait_for_close
stop_record
check "the captures are complete" wait_for recorded near far
# shellcheck disable=SC2086
kill -INT "$near_pid" "$far_pid" $captures
# shellcheck disable=SC2086
wait "$near_pid" "$far_pid" $captures
check "bpftrace has read all firings" firings_are_read
tracer_end
[ -z "${NETOBS_LIVE_KEEP:-}" ] || cp "$tmp/kernel" "$tmp/probes" "$tmp/stopped" "$tmp/near.pcap" "$tmp/far.pcap" "$NETOBS_LIVE_KEEP/"

note "$connections short connections, $loss per mille lost, seed $seed, offloads $offloads"
is "the kernel's record is whole" "$lost" 0
is "bpftrace lost no event" "$(grep -ci lost "$tmp/bpftrace.err" "$tmp/probes" | tr '\n' ' ' | sed "s|$tmp/||g")" \
	"bpftrace.err:0 probes:0 "
is "no frame is dropped" "$(counter near0 capture.dropped) $(counter far0 capture.dropped)" "0 0"
python3 "$top/tests/reference/live_truth.py" "$tmp/kernel" "$tmp/probes" "$tmp/stopped" "$connections" \
	"$tmp/near.pcap" "$tmp/far.pcap" "$near4" "$near6" "$far4" "$far6" >"$tmp/points" || [ -s "$tmp/points" ] || exit 99
relay "$tmp/points"
tap_done
