#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Interfaces that are removed and return, and lower devices, in network namespaces of the test's own.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip python3 setpriv || skip_all "ip, python3 or setpriv is not installed"

near=netobs-links-$$ far=netobs-peer-$$
namespaces "$near" "$far" || skip_all "$kernel_refusal"

near() {
	ip -n "$near" "$@"
}

far() {
	ip -n "$far" "$@"
}

# cable NEAR FAR: a cable between the namespaces, up at both ends
cable() {
	permitted ip link add "$1" netns "$near" type veth peer name "$2" netns "$far" || return 1
	near link set "$1" up
	far link set "$2" up
}

# As the service does it: opening an interface again takes the one capability that is kept.
capable="setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps -all,+net_raw --ambient-caps -all,+net_raw"

# observe SOCKETS COMMAND...: starts netobsd in `near`, $pid, and waits until it observes on SOCKETS capture sockets
observe() {
	observe_sockets=$1
	shift
	: >"$tmp/out"
	ip netns exec "$near" "$@" >>"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for observing "$pid" "$observe_sockets" || cat "$tmp/err" >&2
	wait_for begun "$pid"
}

finish() {
	let_deliver
	kill -INT "$pid"
	wait "$pid"
}

counter() {
	awk -v name="$1" '$1 == name { value = $2 } END { print value }' "$tmp/err"
}

logs() {
	wait_for grep -q "^netobsd: $1" "$tmp/err"
}

# lines PATTERN: how many lines of the log match
lines() {
	grep -c "^netobsd: $1" "$tmp/err"
}

twice() {
	[ "$(lines "$1")" -eq 2 ]
}

sockets=$top/tests/live/live_sockets.py

# ping_from NAMESPACE ADDRESS [COUNT [SIZE [ID]]]: ICMP echoes that are answered
ping_from() {
	ip netns exec "$1" python3 "$sockets" ping "$2" "${3:-1}" "${4:-56}" "${5:-4711}" >/dev/null 2>&1
}

ping_far() {
	ping_from "$near" "$@"
}

# fired_on IFACE PROBE: number of firings of the probe for frames of the interface
fired_on() {
	grep "\"probe\":\"$2\"" "$tmp/out" | grep -c "\"if_name\":\"$1\""
}

cable a0 b0 || skip_all "$kernel_refusal"
cable a1 b1
near addr add 10.79.0.1/24 dev a0
far addr add 10.79.0.2/24 dev b0
near addr add 10.79.1.1/24 dev a1
far addr add 10.79.1.2/24 dev b1

# ------------------------------------------------------------------------------------------------------ come and go

chmod 755 "$tmp"
# shellcheck disable=SC2086
observe 2 $capable "$(private_netobsd)" -i a0 -i a1 --print=icmp-send --format json
near link set a0 down
logs "interface a0 is down"
is "down: one line" $? 0
near link set a0 up
logs "interface a0 is up again"
is "up again: one line" $? 0
wait_for ping_far 10.79.0.2
check "up again: frames are observed" wait_for fired_on a0 icmp-send

near link set a0 down
wait_for twice "interface a0 is down"
is "down again: another line" $? 0
near link set a0 name wan0
near link set wan0 up
logs "interface a0 was renamed to wan0"
is "renamed: one line" $? 0
wait_for ping_far 10.79.0.2
logs "interface wan0 is up again"
check "renamed: observed under its new name" wait_for fired_on wan0 icmp-send
near link set wan0 down
logs "interface wan0 is down"
near link set wan0 name a0
near link set a0 up
logs "interface wan0 was renamed to a0"
is "renamed back: one line" $? 0

near link del a0
logs "interface a0 was removed: .*continuing with the others"
is "removed: one line" $? 0
ping_far 10.79.1.2
check "removed: the others are observed" wait_for fired_on a1 icmp-send
: >"$tmp/out"
cable a0 b0
near addr add 10.79.0.1/24 dev a0
far addr add 10.79.0.2/24 dev b0
logs "interface a0 has returned and is observed again"
is "returned: one line" $? 0
wait_for ping_far 10.79.0.2
check "returned: frames are observed" wait_for fired_on a0 icmp-send
near link set a1 mtu 1400
near addr add 10.79.1.9/24 dev a1
is "no message is repeated" "$(lines 'interface a0 was removed') $(lines 'interface a0 has returned') $(uniq -d "$tmp/err")" \
	"1 1 "

near link del a0
near link del a1
wait_for sh -c "grep -q 'interface a1 was removed' '$tmp/err'"
check "all removed: netobsd waits and writes its summary" summary_of "$pid" "$tmp/err"
cable a1 b1
near addr add 10.79.1.1/24 dev a1
far addr add 10.79.1.2/24 dev b1
wait_for sh -c "grep -q 'interface a1 has returned' '$tmp/err'"
: >"$tmp/out"
wait_for ping_far 10.79.1.2
check "all removed, one returned: frames are observed" wait_for fired_on a1 icmp-send
finish
is "removed and returned: exit status" $? 0

# Frames longer than the MTU at the time when the capture was opened.
cable a0 b0
near addr add 10.79.0.1/24 dev a0
far addr add 10.79.0.2/24 dev b0
# shellcheck disable=SC2086
observe 1 $capable "$tmp/netobsd" -i a0 --immediate --print=ip-receive --format json --summary
near link set a0 mtu 9000
far link set b0 mtu 9000
summary_of "$pid" "$tmp/err"
wait_for ping_far 10.79.0.2 1 8000
finish
is "a larger MTU: no packet is truncated" "$(counter truncated)" 0
check "a larger MTU: long packets" grep -q '"ip_plength":8008' "$tmp/out"

# Started as root, netobsd drops the capability to open an interface.
observe 2 "$netobsd" -i a0 -i a1 --print=icmp-send --format json
near link del a0
logs "interface a0 was removed"
cable a0 b0
logs "interface a0 has returned, but netobsd has dropped the capability"
is "without the capability: a message" $? 0
near link set a0 down
near link set a0 up
sleep 1.5 # no event: the timer that could log it again expires after a second
is "without the capability: one message" "$(lines 'interface a0 has returned')" 1
ping_far 10.79.1.2
check "without the capability: the others are observed" wait_for fired_on a1 icmp-send
near link del a1
cable a1 b1
wait "$pid"
is "without the capability: exit status if no interface is left" $? 1
check "without the capability: message if no interface is left" grep -q "no interface is left to observe" "$tmp/err"
near addr add 10.79.0.1/24 dev a0
far addr add 10.79.0.2/24 dev b0

# --------------------------------------------------------------------------------------------------- lower devices

# echo_interfaces: count, direction and interface of the firings of icmp-send and icmp-receive for echoes of the default id
echo_interfaces() {
	grep '"icmp_echo_id":4711,' "$tmp/out" | sed -n 's/.*"probe":"icmp-\([a-z]*\)".*"if_name":"\([^"]*\)".*/\1 \2/p' | sort | uniq -c |
		awk '{ printf "%s%s %s %s", sep, $1, $2, $3; sep = ", " }'
}

near link add br0 type bridge
near addr flush dev a0
near link set a0 mtu 1500
far link set b0 mtu 1500
near link set a0 master br0
near link set br0 up
near addr add 10.79.0.1/24 dev br0
wait_for ping_far 10.79.0.2
observe 1 "$netobsd" -i any --print=icmp-send,icmp-receive --format json --summary icmp
ping_far 10.79.0.2 3
finish
is "any: through a bridge: once, at the bridge" "$(echo_interfaces)" "3 receive br0, 3 send br0"
is "any: through a bridge: duplicates are counted" "$(counter interface-copies)" 6

# A frame that the bridge forwards between its ports has no duplicate at the bridge device.
near link set a1 master br0
far addr flush dev b1
namespaces "$far-2" && far link set b1 netns "$far-2"
ip -n "$far-2" addr add 10.79.0.3/24 dev b1
ip -n "$far-2" link set b1 up
wait_for ping_from "$far-2" 10.79.0.2
observe 1 "$netobsd" -i any --print=gld-receive --format json --summary icmp
ping_from "$far-2" 10.79.0.2 3
finish
is "any: forwarded frames are observed, in and out" "$(fired_on a0 gld-receive) $(fired_on a1 gld-receive)" "6 6"
is "any: forwarded frames are not duplicates" "$(counter interface-copies)" 0
near link set a0 nomaster
near link del br0

near addr add 10.79.0.1/24 dev a0
if ! near link add link a0 name a0.7 type vlan id 7 2>/dev/null; then
	skip "any: VLAN devices" "this kernel has no such devices"
	tap_done
fi
far link add link b0 name b0.7 type vlan id 7
near link set a0.7 up
far link set b0.7 up
near addr add 10.80.0.1/24 dev a0.7
far addr add 10.80.0.2/24 dev b0.7
wait_for ping_far 10.80.0.2
wait_for ping_far 10.79.0.2
observe 1 "$netobsd" -i any --print=icmp-send,icmp-receive --format json --summary icmp
ping_far 10.80.0.2 3
ping_far 10.79.0.2 2
finish
is "any: with and without a VLAN tag" "$(echo_interfaces)" "2 receive a0, 3 receive a0.7, 2 send a0, 3 send a0.7"
is "any: with a VLAN tag: duplicates are counted" "$(counter interface-copies)" 6

# A bridge on a VLAN device, made while netobsd runs.
near addr flush dev a0.7
observe 1 "$netobsd" -i any --print=icmp-send,icmp-receive --format json --summary icmp
near link add br7 type bridge
near link set a0.7 master br7
near link set br7 up
near addr add 10.80.0.1/24 dev br7
wait_for ping_far 10.80.0.2 1 56 1
ping_far 10.80.0.2 2
finish
is "any: a bridge on a VLAN device" "$(echo_interfaces)" "2 receive br7, 2 send br7"

tap_done
