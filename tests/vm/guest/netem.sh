#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Retransmissions on real paths: loss, reordering, duplication and delay by sch_netem on the device of the sender or on the
# path beyond it, observed at the sender (live), in the middle and at the receiver (captures), and compared with the
# kernel's own record, nstat's counters included.
#
# A capture on a device sees a frame after the queueing discipline of that device: what netem drops there is not captured.
#
# Timeout: 240
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

[ -d /sys/kernel/tracing/instances ] || mount -t tracefs tracefs /sys/kernel/tracing
# shellcheck disable=SC2034 # live_truth_hosts.sh uses them
NETOBS_LIVE_LOSS=0 NETOBS_LIVE_OFFLOADS=0 NETOBS_LIVE_CONNECTIONS=2000
# shellcheck source=tests/reference/live_truth_hosts.sh
. "$top/tests/reference/live_truth_hosts.sh"

program=$top/tests/vm/guest/netem.py
started='' observer='' captures=''

stop_all() {
	for stop_pid in $started $observer; do
		kill "$stop_pid" 2>/dev/null
	done
	wait
	started='' observer=''
}

# capture NAMESPACE DEVICE NAME
capture() {
	ip netns exec "$1" tcpdump -Z root -i "$2" -s 128 -B 32768 -U -w "$tmp/$3.pcap" tcp 2>"$tmp/$3.err" &
	started="$started $!" captures="$captures $!"
	wait_for grep -q 'listening on' "$tmp/$3.err"
	kill -USR1 "${captures##* }"
	wait_for grep -q 'received by filter' "$tmp/$3.err"
}

# captured: whether each tcpdump has written every frame that its packet socket has received since the counts at its start,
# which may include frames from before its filter; requests their counts, too
captured() {
	for captured_pid in $captures; do
		kill -USR1 "$captured_pid" || return 1
	done
	for captured_err in "$tmp/middle.err" "$tmp/receiver.err"; do
		sed -n 's/^tcpdump: \([0-9]*\) packets* captured, \([0-9]*\) packets* received by filter.*/\1 \2/p' "$captured_err" |
			awk 'NR == 1 { before = $2 - $1 }
				{ equal = ($1 > 0 && $2 - $1 == before) }
				END { exit !equal }' || return 1
	done
}

# drops NAMESPACE DEVICE: frames that its queueing discipline dropped
drops() {
	ip netns exec "$1" tc -s qdisc show dev "$2" root | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}

# run PORT PLACE FAULT DELAY OPTION...: transfers with netem on the way from the sender (far) to the receiver (near), on the
# sender's device or on the router's (the path beyond the sender); DELAY (ms) in both directions
run() {
	port=$1 place=$2 fault=$3 delay=$4
	shift 4
	space=$far device=far0
	[ "$place" = sender ] || space=$router device=router0
	ip netns exec "$space" tc qdisc add dev "$device" root netem limit 10000 delay "${delay}ms" "$@"
	ip netns exec "$near" tc qdisc add dev near0 root netem limit 10000 delay "${delay}ms"
	ip netns exec "$far" nstat -n
	# shellcheck disable=SC2086 # one argument each
	check "$((2 * delay)) ms, $* ($place): the transfers" ip netns exec "$near" python3 "$program" fetch "$port" $far4 $far6
	wait_for_close
	ip netns exec "$far" nstat >"$tmp/nstat-$port"
	echo "$port $place $fault $(drops "$space" "$device") $((2 * delay)) ms, $* ($place)" >>"$tmp/cases"
	ip netns exec "$space" tc qdisc del dev "$device" root
	ip netns exec "$near" tc qdisc del dev near0 root
}

if ! { modprobe sch_netem && set_up_network && set_up_record; } >"$tmp/set-up.out" 2>&1; then
	sed 's/^/# /' "$tmp/set-up.out"
	echo "Bail out! the set-up failed"
	exit 99
fi
ip netns exec "$far" python3 "$program" serve 7101,7102,7103,7104,7105,7106,7107 "$tmp/ready" "$far4" "$far6" &
started=$!
capture "$router" router1 middle
capture "$near" near0 receiver
ip netns exec "$far" "$netobsd" -i far0 --buffer-size 32768 --strict --print=tcp-retransmit,tcp-timeout-retransmit --format json \
	>"$tmp/sender.json" 2>"$tmp/sender.err" &
observer=$!
wait_for begun "$observer"
wait_for test -e "$tmp/ready"

run 7101 path loss 10 loss 3%
run 7102 path loss 100 loss 8%
run 7103 path reorder 25 reorder 25% 50%
run 7104 path duplicate 25 duplicate 10%
run 7105 sender loss 50 loss 3%
run 7106 sender reorder 25 reorder 25% 50%
run 7107 sender duplicate 25 duplicate 10%

stop_record
let_deliver
kill -TERM "$observer"
wait "$observer"
is "netobsd at the sender ends without an error" "$? $(cat "$tmp/sender.err")" "0 "
observer=
check "tcpdump has written every frame" wait_for captured
stop_all
is "the kernel's record is whole" "$lost" 0
is "no frame is dropped by a capture" "$(sed -n 's/^\(.*[ ,]\)*\([0-9][0-9]*\) packets* dropped by kernel.*/\2/p' \
	"$tmp/middle.err" "$tmp/receiver.err" | sort -u)" 0
for place in middle receiver; do
	check "replay of the capture at the $place" sh -c "'$netobsd' -r '$tmp/$place.pcap' --view both --format json \
		--print=tcp-retransmit,tcp-timeout-retransmit >'$tmp/$place.json'"
done
python3 "$program" compare "$tmp" "$far4" "$far6" >"$tmp/points" 2>"$tmp/err" || not_ok "the comparison" "$tmp/err"
relay "$tmp/points"
[ -z "${NETOBS_LIVE_KEEP:-}" ] || cp -r "$tmp" "$NETOBS_LIVE_KEEP"
tap_done
