# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For the comparisons with the kernel, sourced after tap.sh: two hosts, $near and $far, with a lossy router $router
# between them, and the kernel's record of their TCP sockets in an ftrace instance, $record.  Sets from the environment:
#
#	$connections	NETOBS_LIVE_CONNECTIONS	short connections; one of each other kind for every fifty [600]
#	$loss		NETOBS_LIVE_LOSS	per mille of segments that the router drops [15]
#	$seed		NETOBS_LIVE_SEED	seed of the clients' choices [the time]
#	$offloads	NETOBS_LIVE_OFFLOADS	1: super-packets, the default of interfaces; 0: frames as on a wire [0]
#	$disorder	NETOBS_LIVE_DISORDER	1: instead of the router a bridge that delays, reorders and duplicates [0]
#	$setting	NETOBS_LIVE_SETTING	of each host, such as net.ipv4.tcp_early_retrans=0 (no tail-loss probes) [none]
#	$patience	NETOBS_LIVE_PATIENCE	seconds to wait for the last sockets to close [6]

connections=${NETOBS_LIVE_CONNECTIONS:-600}
loss=${NETOBS_LIVE_LOSS:-15}
seed=${NETOBS_LIVE_SEED:-$(date +%s)}
offloads=${NETOBS_LIVE_OFFLOADS:-0}
disorder=${NETOBS_LIVE_DISORDER:-0}
setting=${NETOBS_LIVE_SETTING:-}
patience=${NETOBS_LIVE_PATIENCE:-6}

near=netobs-truth-near-$$ router=netobs-truth-router-$$ far=netobs-truth-far-$$
# The kernel's record has addresses but no namespaces: those of two runs at once must differ.
near_net=$(($$ / 127 % 127 + 1)).$(($$ % 127 * 2 + 1)) far_net=$(($$ / 127 % 127 + 1)).$(($$ % 127 * 2 + 2))
near4=10.$near_net.1 far4=10.$far_net.2 near_net6=fd77:${near_net%.*}:${near_net#*.} far_net6=fd77:${far_net%.*}:${far_net#*.}
near6=$near_net6::1 far6=$far_net6::2
record=/sys/kernel/tracing/instances/netobs-truth-$$

namespaces "$near" "$router" "$far" || skip_all "$kernel_refusal"
at_end remove_record

remove_record() {
	if [ -d "$record" ]; then
		echo 0 >"$record/tracing_on"
		echo '!stacktrace' >"$record/events/tcp/tcp_retransmit_skb/trigger"
		rmdir "$record"
	fi 2>/dev/null
}

# attach NAMESPACE DEVICE IPV4 IPV6: addresses, and offloads or not
attach() {
	ip -n "$1" addr add "$3/24" dev "$2" && ip -n "$1" addr add "$4/64" dev "$2" nodad || return 1
	if [ "$offloads" = 0 ]; then
		ip -n "$1" link set "$2" gso_max_segs 1
		! have ethtool || ip netns exec "$1" ethtool -K "$2" tso off gso off gro off >/dev/null 2>&1
	fi
	ip netns exec "$1" sh -c 'echo 3 >/proc/sys/net/ipv4/tcp_fastopen' || return 1
	[ -z "$setting" ] || ip netns exec "$1" sysctl -qw "$setting" || return 1
	# The bridge passes on what is in a frame, without the kernel's note that the checksum is not yet computed.
	[ "$disorder" = 0 ] || ip netns exec "$1" ethtool -K "$2" tx off >/dev/null || return 1
	ip -n "$1" link set lo up && ip -n "$1" link set "$2" up
}

# set_up_bridge: the router's interfaces have no addresses, and all hosts are neighbours
set_up_bridge() {
	ip -n "$router" link set router0 up && ip -n "$router" link set router1 up || return 1
	for bridge_host in "$near near0" "$far far0"; do
		# shellcheck disable=SC2086
		set -- $bridge_host
		ip -n "$1" route add default dev "$2" && ip -n "$1" -6 route add default dev "$2" || return 1
	done
	ip netns exec "$router" python3 "$top/tests/reference/disorder_bridge.py" "$seed" "$loss" router0 router1 \
		"$tmp/bridged" &
	bridge=$!
	wait_for test -e "$tmp/bridged"
}

set_up_network() {
	ip link add near0 netns "$near" type veth peer name router0 netns "$router" || return 1
	ip link add far0 netns "$far" type veth peer name router1 netns "$router" || return 1
	attach "$near" near0 "$near4" "$near6" && attach "$far" far0 "$far4" "$far6" || return 1
	[ "$disorder" = 0 ] || { set_up_bridge; return; }
	attach "$router" router0 "10.$near_net.254" "$near_net6::fe" && attach "$router" router1 "10.$far_net.254" "$far_net6::fe" ||
		return 1
	ip -n "$near" route add default via "10.$near_net.254" && ip -n "$near" -6 route add default via "$near_net6::fe" ||
		return 1
	ip -n "$far" route add default via "10.$far_net.254" && ip -n "$far" -6 route add default via "$far_net6::fe" || return 1
	ip netns exec "$router" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' || return 1
	ip netns exec "$router" nft -f - <<-NFT
		table inet lossy {
			chain forward {
				type filter hook forward priority 0;
				tcp dport 7999 drop
				meta l4proto tcp numgen random mod 1000 < $loss drop
			}
		}
	NFT
}

# The kernel's record: states, and retransmissions with the stack, which shows the timer that caused them.
set_up_record() {
	mkdir "$record" || return 1
	echo $((8192 + connections * 8)) >"$record/buffer_size_kb"
	echo mono >"$record/trace_clock" # the clock that live_truth.py compares with
	echo 'protocol == 6' >"$record/events/sock/inet_sock_set_state/filter"
	echo stacktrace >"$record/events/tcp/tcp_retransmit_skb/trigger"
	echo 1 >"$record/events/sock/inet_sock_set_state/enable" &&
		echo 1 >"$record/events/tcp/tcp_retransmit_skb/enable"
}

# all_closed: whether all sockets are closed, except listening ones and those in TIME-WAIT or an orphan's FIN-WAIT-2
all_closed() {
	for host in "$near" "$far"; do
		ip netns exec "$host" cat /proc/net/tcp /proc/net/tcp6
	done | awk '$4 ~ /^[0-9A-F][0-9A-F]$/ && $4 != "0A" && $4 != "06" && $4 != "05" { open = 1 } END { exit open }'
}

# record_frames NAMESPACE DEVICE NAME TCPDUMP-OPTION...: starts tcpdump there, which writes each frame to NAME.pcap at once
record_frames() {
	record_space=$1 record_device=$2 record_name=$3
	shift 3
	ip netns exec "$record_space" tcpdump -Z root -i "$record_device" -s 128 -B 65536 --immediate-mode -U "$@" \
		-w "$tmp/$record_name.pcap" 2>"$tmp/$record_name.err" &
	wait_for grep -q 'listening on' "$tmp/$record_name.err"
}

# recorded NAME...: whether these captures have all earlier frames, because they have those of a connection that begins now.
# Its time is after the end of the kernel's record.
recorded() {
	ip netns exec "$near" python3 "$traffic" once "$far6" 7007
	for recorded_name; do
		tcpdump -n -r "$tmp/$recorded_name.pcap" 'ip6 and tcp port 7007' 2>&1 | grep -q ': Flags' || return 1
	done
}

# wait_for_close: until all sockets are closed, or for $patience seconds
wait_for_close() {
	wait_up_to "$patience" all_closed
}

# stop_record: ends the record and writes it to $tmp/kernel, the time up to which it is compared to $tmp/stopped, and the
# number of lost events to $lost
stop_record() {
	python3 -c 'import time; print(time.monotonic_ns(), time.time_ns())' >"$tmp/stopped"
	echo 0 >"$record/tracing_on"
	cat "$record/trace" >"$tmp/kernel"
	lost=$(overruns)
}

overruns() {
	cat "$record"/per_cpu/cpu*/stats | awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { printf "%.0f\n", n }'
}
