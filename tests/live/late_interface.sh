#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Interfaces that are absent or down at the start, and interfaces that are renamed, removed and created again while
# netobsd opens them: as long as netobsd has the right to open them, it goes on.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
have ip setpriv python3 || skip_all "ip, setpriv or python3 is not installed"
space=netobs-late-$$
namespaces "$space" || skip_all "$kernel_refusal"
permitted ip -n "$space" link add test0 type veth peer name test1 || skip_all "$kernel_refusal"
ip -n "$space" link del test0
ip -n "$space" link set lo up
chmod 755 "$tmp"
netobsd=$(private_netobsd) || exit 99

# inside COMMAND...: in the network namespace, as a user who may open interfaces, as the packaged unit does
inside() {
	exec ip netns exec "$space" setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +net_raw \
		--ambient-caps +net_raw "$@"
}

# start OPTION...: netobsd in the background, $pid, until it handles signals
start() {
	inside "$netobsd" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for begun "$pid"
}

# finish: ends netobsd; $status
finish() {
	kill -TERM "$pid"
	wait "$pid"
	status=$?
}

# appears NAME: creates an interface with an address and a peer, both up
appears() {
	ip -n "$space" link add "$1" type veth peer name peer0
	ip -n "$space" addr add 192.0.2.1/24 dev "$1"
	ip -n "$space" link set peer0 up
	ip -n "$space" link set "$1" up
}

# send: one datagram through the interface
send() {
	ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" flood 192.0.2.2 9 1 0 4
}

# prints: sends a datagram; whether netobsd has reported one
prints() {
	send
	grep -q udp-send "$tmp/out"
}

start -i late0 --print=udp-send --strict
wait_for grep -q "no such interface" "$tmp/err"
check "absent at the start: the message" \
	grep -q "^netobsd: no such interface: late0; available: any, .*lo.*; waiting for it" "$tmp/err"
appears late0
ip -n "$space" neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev late0
wait_for grep -q "interface late0 is observed" "$tmp/err"
check "absent at the start: observed when it appears" wait_for prints
ip -n "$space" link set late0 down
ip -n "$space" link set late0 name late9
ip -n "$space" link del late9
wait_for grep -q "removed" "$tmp/err"
: >"$tmp/out"
appears late0
ip -n "$space" neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev late0
wait_for grep -q "late0 has returned" "$tmp/err"
check "removed: observed when it returns" wait_for prints
finish
is "absent at the start: status at the end" "$status" 0
ip -n "$space" link del late0

appears eno1
start -i en01 -i lo --workers 2
check "a similar name is proposed, once" wait_for grep -q "no such interface: en01; available: .*; did you mean eno1?" "$tmp/err"
ip -n "$space" link set eno1 down
ip -n "$space" link set eno1 name en01
wait_for grep -q "interface en01 is observed" "$tmp/err" &
waiting=$!
ip -n "$space" link set en01 up
wait "$waiting"
check "with workers: observed" grep -q "interface en01 is observed" "$tmp/err"
finish
is "with workers: status" "$status" 0
is "with workers: one message" "$(grep -c 'no such' "$tmp/err")" 1
ip -n "$space" link set en01 down
start -i en01
check "down at the start: awaited" wait_for grep -q "interface en01 is down; .*; waiting for it" "$tmp/err"
ip -n "$space" link set en01 up
check "down at the start: observed" wait_for grep -q "interface en01 is observed" "$tmp/err"
finish
ip -n "$space" link del en01

inside "$netobsd" -i late0 no such words >"$tmp/out" 2>"$tmp/err" &
wait $!
is "absent and a bad filter: status" $? 1
check "absent and a bad filter: message" grep -q 'bad filter "no such words"' "$tmp/err"
ip netns exec "$space" "$netobsd" -i late0 2>"$tmp/err"
is "absent, and the right to open it is dropped: status" $? 1
check "absent, and the right to open it is dropped: message" \
	grep -q "^netobsd: no such interface: late0; available: any, .*lo$" "$tmp/err"

# The interface is renamed, removed and created again while it is opened.
appears flap0
start -i flap0 -i lo --workers 2
flap_observed() {
	observing "$pid" 4
}
check "an interface that flaps: observed at first" wait_for flap_observed
for _ in $(seq 60); do
	ip -n "$space" -batch - <<'BATCH' >/dev/null 2>&1
link del flap0
link add flap0 type veth peer name peer0
link set flap0 up
link set flap0 down
link set flap0 name flap1
link set flap1 up
link set flap1 down
link set flap1 name flap0
link set flap0 up
link del flap0
link add flap0 type veth peer name peer0
link set flap0 up
BATCH
done
check "an interface that flaps: netobsd goes on" kill -0 "$pid"
: >"$tmp/out"
check "an interface that flaps: observed in the end" wait_for flap_observed
finish
is "an interface that flaps: status" "$status" 0
check "an interface that flaps: no error" sh -c "! grep -v 'flap[01] \\(was\\|has\\|is\\)\\|suppressed' '$tmp/err'"
tap_done
