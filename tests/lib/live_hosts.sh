# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests on live interfaces, sourced after tap.sh: two network namespaces, $near and $far, with a cable between
# near0 (10.77.0.1, fd77::1) and far0 (10.77.0.2, fd77::2), and functions to observe and to open connections there.

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip python3 || skip_all "ip or python3 is not installed"

near=netobs-near-$$ far=netobs-far-$$
namespaces "$near" "$far" || skip_all "$kernel_refusal"
permitted ip link add near0 netns "$near" type veth peer name far0 netns "$far" || skip_all "$kernel_refusal"
ip -n "$near" link set lo up
ip -n "$far" link set lo up
ip -n "$near" addr add 10.77.0.1/24 dev near0
ip -n "$far" addr add 10.77.0.2/24 dev far0
ip -n "$near" addr add fd77::1/64 dev near0 nodad
ip -n "$far" addr add fd77::2/64 dev far0 nodad
ip -n "$near" link set near0 up
ip -n "$far" link set far0 up

sockets=$top/tests/live/live_sockets.py

in_near() {
	ip netns exec "$near" "$@"
}

in_far() {
	ip netns exec "$far" "$@"
}

sockets_in() {
	ip netns exec "$1" sh -c "[ \$(grep -c ' 0003 ' /proc/net/packet) -ge $2 ]"
}

# observe NAMESPACE SOCKETS ARGUMENT...: starts netobsd there, $pid, and waits until it observes on SOCKETS
# capture sockets; with --wait-tracer, until it has opened them
observe() {
	observe_where=$1 observe_sockets=$2
	shift 2
	ip netns exec "$observe_where" "$netobsd" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	case " $*" in
	*" --wait-tracer"*) wait_for sockets_in "$observe_where" "$observe_sockets" ;;
	*) wait_for observing "$pid" "$observe_sockets" ;;
	esac || cat "$tmp/err" >&2
	wait_for begun "$pid"
}

# finish: ends netobsd when it can read every frame; its exit status
finish() {
	let_deliver
	finish_now
}

# finish_now: ends netobsd, which has observed every frame that matters; its exit status
finish_now() {
	kill -INT "$pid"
	wait "$pid"
}

# closed PORT: whether every TCP connection of that port has ended at both hosts, except for TIME-WAIT (06)
closed() {
	closed_port=$(printf ':%04X' "$1")
	! { in_near cat /proc/net/tcp /proc/net/tcp6 && in_far cat /proc/net/tcp /proc/net/tcp6; } |
		awk '$4 != "06" && $4 != "0A" { print $2; print $3 }' | grep -q "$closed_port\$"
}

# converse NAMESPACE_OF_SERVER NAMESPACE_OF_CLIENT ADDRESS PORT [PAUSE]: one whole TCP connection, to the last segment; the
# server closes PAUSE seconds after the client
converse() {
	rm -f "$tmp/ready"
	ip netns exec "$1" python3 "$sockets" serve "$3" "$4" "$tmp/ready" "${5:-0}" &
	server=$!
	wait_for test -e "$tmp/ready"
	ip netns exec "$2" python3 "$sockets" connect "$3" "$4" || echo "the connection failed" >>"$tmp/err"
	wait "$server"
	wait_for closed "$4"
}

states_of() {
	python3 "$sockets" states "$1" <"$tmp/out"
}

count() {
	grep -c "\"probe\":\"$1\"" "$tmp/out"
}

counter() {
	awk -v name="$1" '$1 == name { value = $2 } END { print value }' "$tmp/err"
}
