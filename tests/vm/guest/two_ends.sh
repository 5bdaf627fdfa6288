#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The same connections observed at both ends: two hosts (network namespaces) with a path between them that loses segments,
# and a netobsd at each.  Both report the same states and bytes of every endpoint; the segments differ only by those that
# the path dropped.  Runs on any host with nftables, as root, too.
# Timeout: 300
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

CONNECTIONS=12
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip nft ethtool python3 || skip_all "ip, nft, ethtool or python3 is not installed"

near=netobs-near-$$ path=netobs-path-$$ far=netobs-far-$$
near_pid='' far_pid='' serve_pid=''
# shellcheck disable=SC2329 # trap runs it
clean_up() {
	for clean_pid in $near_pid $far_pid $serve_pid; do
		kill "$clean_pid" 2>/dev/null
	done
	for namespace in $near $path $far; do
		ip netns del "$namespace" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap clean_up EXIT

# cable NAMESPACE NAME NETWORK: connects a host to the path; no offload, so that a segment of the host is one of the path
cable() {
	ip netns add "$1" &&
		ip link add "$2" netns "$1" type veth peer name "to-$2" netns "$path" &&
		ip -n "$1" addr add "$3.2/24" dev "$2" &&
		ip -n "$path" addr add "$3.1/24" dev "to-$2" &&
		ip netns exec "$1" ethtool -K "$2" tso off gso off gro off >/dev/null &&
		ip netns exec "$path" ethtool -K "to-$2" tso off gso off gro off >/dev/null &&
		ip -n "$1" link set "$2" up && ip -n "$path" link set "to-$2" up &&
		ip -n "$1" route add default via "$3.1"
}

if ! { ip netns add "$path" && cable "$near" near0 10.78.1 && cable "$far" far0 10.78.2; } >"$tmp/cable" 2>&1; then
	skip_all "no network namespaces here: $(head -n 1 "$tmp/cable")"
fi
ip netns exec "$path" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'

# Every 23rd segment to far and every 29th to near is lost, of any kind, between the sender and the receiver.
ip netns exec "$path" nft -f - 2>"$tmp/nft" <<-'END' || skip_all "no nftables here: $(head -n 1 "$tmp/nft")"
	table ip loss {
		counter to_far { }
		counter to_near { }
		chain forward {
			type filter hook forward priority 0;
			ip protocol tcp oifname "to-far0" numgen inc mod 23 7 counter name to_far drop
			ip protocol tcp oifname "to-near0" numgen inc mod 29 11 counter name to_near drop
		}
	}
END

# dropped COUNTER: segments that the path dropped
dropped() {
	ip netns exec "$path" nft list counter ip loss "$1" | sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

# observe NAMESPACE INTERFACE: starts a netobsd there, $observe_pid; its firings are in $tmp/INTERFACE
observe() {
	ip netns exec "$1" "$netobsd" -i "$2" --buffer-size 32768 --view both --print='tcp-send,tcp-receive,tcp-state-change,socket-*' \
		--format json --summary >"$tmp/$2" 2>"$tmp/$2.err" &
	observe_pid=$!
	wait_for observing "$observe_pid" 1
	wait_for begun "$observe_pid"
}

# finish PID: ends a netobsd
finish() {
	kill -INT "$1"
	wait "$1"
}

# closed: whether all TCP connections have ended at both hosts, except for TIME-WAIT (06)
closed() {
	! { ip netns exec "$near" cat /proc/net/tcp; ip netns exec "$far" cat /proc/net/tcp; } |
		awk '$1 != "sl" && $4 != "06" && $4 != "0A"' | grep -q .
}

ends="python3 $top/tests/vm/guest/two_ends.py"
observe "$near" near0
near_pid=$observe_pid
observe "$far" far0
far_pid=$observe_pid
# $ends is a command and a path without blanks.
# shellcheck disable=SC2086
ip netns exec "$far" $ends serve 10.78.2.2 7700 "$CONNECTIONS" "$tmp/ready" &
serve_pid=$!
wait_for test -e "$tmp/ready"
# shellcheck disable=SC2086
check "$CONNECTIONS connections through the path" ip netns exec "$near" $ends connect 10.78.2.2 7700 "$CONNECTIONS"
wait "$serve_pid"
serve_pid=''
wait_for closed
let_deliver
finish "$near_pid"
is "the near end: exit status" $? 0
near_pid=''
finish "$far_pid"
is "the far end: exit status" $? 0
far_pid=''
for host in near0 far0; do
	is "$host: no frame is lost" "$(awk '/^capture\.(interface-)?dropped / { print $2 }' "$tmp/$host.err" | paste -s -d ' ' -)" "0 0"
done

is "the path dropped segments in both directions" \
	"$([ "$(dropped to_far)" -gt 10 ] && [ "$(dropped to_near)" -gt 10 ] && echo yes)" yes
# shellcheck disable=SC2086
$ends compare "$tmp/near0" "$tmp/far0" "$CONNECTIONS" "$(dropped to_far)" "$(dropped to_near)" >"$tmp/points"
relay "$tmp/points"
# This is the place to compare the records of both ends, joined on cr_community and cr_uid.
tap_done
