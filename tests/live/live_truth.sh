#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel and netobs, compared on the same connections at the same time.  Two hosts and a lossy router between them
# in network namespaces, thousands of short connections and some of every odd kind; the kernel's own record of states
# and retransmissions, and the firings of the probes of a netobsd on each host, recorded by bpftrace.  Both are compared connection
# by connection (live_truth.py, by the rules of truth.py).
#
# For longer runs, as root in a build directory:
#
#     NETOBS_LIVE_CONNECTIONS=5000 NETOBS_LIVE_LOSS=30 NETOBS_LIVE_SEED=7 ../tests/live/live_truth.sh
#
#	NETOBS_LIVE_CONNECTIONS	short connections; of each odd kind there is one for every fifty	[600]
#	NETOBS_LIVE_LOSS	per mille of segments that the router loses				[15]
#	NETOBS_LIVE_SEED	what the clients choose							[the time]
#	NETOBS_LIVE_OFFLOADS	1: super-packets, as interfaces make them by default; 0: frames as on a wire	[0]
#	NETOBS_LIVE_PATIENCE	seconds to wait for the last sockets to close				[6]
#	NETOBS_LIVE_KEEP	a folder in which the two records are left
#
# Why the kernel's side is not bpftrace's as well: one BPF program on a tracepoint does not run while it interrupts
# another on the same CPU, so bpftrace misses some of the kernel's events under load, and tells those of several CPUs
# out of order.  An instance of ftrace with a buffer of its own misses nothing as long as that does not overrun, counts
# it if it does, and merges by time.  The programs on netobs's probes never interrupt each other.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

connections=${NETOBS_LIVE_CONNECTIONS:-600}
loss=${NETOBS_LIVE_LOSS:-15}
seed=${NETOBS_LIVE_SEED:-$(date +%s)}
offloads=${NETOBS_LIVE_OFFLOADS:-0}
patience=${NETOBS_LIVE_PATIENCE:-6}

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip nft python3 || skip_all "ip, nft or python3 is not installed"
why=$(tracing_refused)
[ -z "$why" ] || skip_all "$why"

program=$(private_netobsd) || exit 99
traffic=$top/tests/live/live_traffic.py
near=netobs-truth-near-$$ way=netobs-truth-way-$$ far=netobs-truth-far-$$
net=$(($$ % 200 + 20)) # the kernel's record has addresses but no namespaces: those of two runs at once must differ
near4=10.$net.1.1 far4=10.$net.2.2 near6=fd77:$net:1::1 far6=fd77:$net:2::2
record=/sys/kernel/tracing/instances/netobs-truth-$$
started=

stop_all() {
	for stop_pid in $started; do
		kill "$stop_pid" 2>/dev/null
	done
	started=
	wait
}

tear_down() {
	stop_all
	if [ -d "$record" ]; then
		echo 0 >"$record/tracing_on"
		echo '!stacktrace' >"$record/events/tcp/tcp_retransmit_skb/trigger"
		rmdir "$record"
	fi 2>/dev/null
	for gone in "$near" "$way" "$far"; do
		ip netns del "$gone" 2>/dev/null
	done
	return 0
}
trap 'tear_down; rm -rf "$tmp"' EXIT

# attach NAMESPACE DEVICE IPV4 IPV6: addresses, and offloads or not
attach() {
	ip -n "$1" addr add "$3/24" dev "$2" && ip -n "$1" addr add "$4/64" dev "$2" nodad || return 1
	if [ "$offloads" = 0 ]; then
		ip -n "$1" link set "$2" gso_max_segs 1
		! have ethtool || ip netns exec "$1" ethtool -K "$2" tso off gso off gro off >/dev/null 2>&1
	fi
	ip -n "$1" link set lo up && ip -n "$1" link set "$2" up
}

set_up_network() {
	for host in "$near" "$way" "$far"; do
		ip netns add "$host" || return 1
	done
	ip link add near0 netns "$near" type veth peer name way0 netns "$way" || return 1
	ip link add far0 netns "$far" type veth peer name way1 netns "$way" || return 1
	attach "$near" near0 "$near4" "$near6" && attach "$far" far0 "$far4" "$far6" || return 1
	attach "$way" way0 "10.$net.1.254" "fd77:$net:1::fe" && attach "$way" way1 "10.$net.2.254" "fd77:$net:2::fe" ||
		return 1
	ip -n "$near" route add default via "10.$net.1.254" && ip -n "$near" -6 route add default via "fd77:$net:1::fe" ||
		return 1
	ip -n "$far" route add default via "10.$net.2.254" && ip -n "$far" -6 route add default via "fd77:$net:2::fe" ||
		return 1
	ip netns exec "$way" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' || return 1
	ip netns exec "$way" nft -f - <<-NFT
		table inet lossy {
			chain forward {
				type filter hook forward priority 0;
				tcp dport 7999 drop
				meta l4proto tcp numgen random mod 1000 < $loss drop
			}
		}
	NFT
}

# The kernel's record: states, and retransmissions with the stack, which identifies their timer.
set_up_record() {
	mkdir "$record" || return 1
	echo $((8192 + connections * 8)) >"$record/buffer_size_kb"
	echo mono >"$record/trace_clock" # the clock that live_truth.py compares with
	echo 'protocol == 6' >"$record/events/sock/inet_sock_set_state/filter"
	echo stacktrace >"$record/events/tcp/tcp_retransmit_skb/trigger"
	echo 1 >"$record/events/sock/inet_sock_set_state/enable" &&
		echo 1 >"$record/events/tcp/tcp_retransmit_skb/enable"
}

# observe NAMESPACE DEVICE: a netobsd there; its standard error is DEVICE.err
observe() {
	ip netns exec "$1" "$program" -i "$2" -s 200 -B 65536 --summary >/dev/null 2>"$tmp/$2.err" &
	started="$started $!"
}

both_are_traced() {
	ip netns exec "$near" python3 "$traffic" once "$far4" 7007
	grep -q " $near4 .* 7007 " "$tmp/probes" && grep -q " 7007 $near4 " "$tmp/probes"
}

set_up() {
	started=
	rm -f "$tmp/ready"
	set_up_network && set_up_record || return 1
	sed "s|PROGRAM|$program|" "$top/tests/live/live_truth.bt" >"$tmp/live_truth.bt"
	BPFTRACE_PERF_RB_PAGES=4096 bpftrace -q -B line --include "$top/probes/netobs.h" "$tmp/live_truth.bt" \
		>"$tmp/probes" 2>"$tmp/bpftrace.err" &
	tracer=$!
	started=$tracer
	observe "$near" near0
	near_pid=$!
	observe "$far" far0
	far_pid=$!
	ip netns exec "$far" python3 "$traffic" serve "$far4" "$far6" "$tmp/ready" &
	server=$!
	started="$started $server"
	wait_for test -e "$tmp/ready" && wait_for both_are_traced
}

# No socket left but listening ones and those that wait out TIME-WAIT or an orphan's FIN-WAIT-2.
all_closed() {
	for host in "$near" "$far"; do
		ip netns exec "$host" cat /proc/net/tcp /proc/net/tcp6
	done | awk '$4 ~ /^[0-9A-F][0-9A-F]$/ && $4 != "0A" && $4 != "06" && $4 != "05" { open = 1 } END { exit open }'
}

counter() {
	awk -v name="$2" '$1 == name { print $2 }' "$tmp/$1.err"
}

# nothing_comes FILE: whether it has not grown for a second
nothing_comes() {
	had=$(wc -c <"$1")
	sleep 1 # no event: bpftrace gives no sign when its buffers are empty
	[ "$(wc -c <"$1")" -eq "$had" ]
}

overruns() {
	cat "$record"/per_cpu/cpu*/stats | awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { printf "%.0f\n", n }'
}

for attempt in 1 2 3; do
	set_up >"$tmp/set-up.out" 2>&1 && break
	tear_down
done
if [ -z "$started" ]; then
	sed 's/^/# /' "$tmp/set-up.out" "$tmp/bpftrace.err"
	echo "Bail out! the set-up failed $attempt times"
	exit 99
fi

ip netns exec "$near" python3 "$traffic" talk "$far4" "$far6" "$seed" "$connections"
wait_up_to "$patience" all_closed

echo 0 >"$record/tracing_on"
python3 -c 'import time; print(time.monotonic_ns(), time.time_ns())' >"$tmp/stopped"
cat "$record/trace" >"$tmp/kernel"
lost=$(overruns)
let_deliver
kill -INT "$near_pid" "$far_pid"
wait "$near_pid" "$far_pid"
wait_for nothing_comes "$tmp/probes"
tracer_end
[ -z "${NETOBS_LIVE_KEEP:-}" ] || cp "$tmp/kernel" "$tmp/probes" "$tmp/stopped" "$NETOBS_LIVE_KEEP/"

note "$connections short connections, $loss per mille lost, seed $seed, offloads $offloads"
is "the kernel's record is whole" "$lost" 0
is "bpftrace lost nothing" "$(grep -ci lost "$tmp/bpftrace.err" "$tmp/probes" | tr '\n' ' ' | sed "s|$tmp/||g")" \
	"bpftrace.err:0 probes:0 "
is "netobsd lost nothing" "$(counter near0 capture.dropped) $(counter far0 capture.dropped)" "0 0"
python3 "$top/tests/live/live_truth.py" "$tmp/kernel" "$tmp/probes" "$tmp/stopped" "$connections" \
	"$near4" "$near6" "$far4" "$far6" >"$tmp/points" || [ -s "$tmp/points" ] || exit 99
relay "$tmp/points"
tap_done
