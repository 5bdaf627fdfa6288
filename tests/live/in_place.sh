#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Frames that are read in place, in the kernel's ring, and frames that libpcap reads (--immediate): the same events.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$top/tests/lib/live_hosts.sh"

probes='gld-*,ip-*,udp-*,tcp-*'

# counter NAME: a counter of the summary at the end
counter() {
	awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }' "$tmp/err"
}

# compare IFACE OPTION...: two at once in $far, one for each way
compare() {
	compare_interface=$1
	shift
	ip netns exec "$far" "$netobsd" -i "$compare_interface" --debug=live --print="$probes" --summary "$@" >"$tmp/in_place" 2>"$tmp/in_place.err" &
	first=$!
	ip netns exec "$far" "$netobsd" -i "$compare_interface" --immediate --debug=live --print="$probes" --summary "$@" >"$tmp/by_libpcap" \
		2>"$tmp/by_libpcap.err" &
	second=$!
	wait_for observing "$first" 1
	wait_for observing "$second" 1
	wait_for begun "$first"
	wait_for begun "$second"
	traffic
	let_deliver
	kill -INT "$first" "$second"
	wait "$first"
	wait "$second"
	grep -q 'read in place$' "$tmp/in_place.err" || echo "not read in place"
	grep -q 'read by libpcap$' "$tmp/by_libpcap.err" || echo "not read by libpcap"
	for way in in_place by_libpcap; do
		# The kernel sends frames of its own at any time.  Each socket has time stamps of its own.
		grep '10\.77\.0\.\|127\.0\.0\.1' "$tmp/$way" |
			sed 's/^[^ ]* //; s/rtt [0-9]* us//; s/after [0-9]* us//' >"$tmp/$way.events"
	done
	diff "$tmp/in_place.events" "$tmp/by_libpcap.events"
}

# same NAME PATTERN IFACE OPTION...: the same events, with some like PATTERN
same() {
	same_name=$1 same_pattern=$2
	shift 2
	compare "$@" >"$tmp/differences"
	if [ -s "$tmp/differences" ]; then
		not_ok "$same_name" "$tmp/differences"
	else
		check "$same_name" grep -q -- "$same_pattern" "$tmp/in_place.events"
	fi
}

tagged() {
	in_near python3 "$top/tests/live/tagged_frames.py" near0
}

conversation() {
	in_far python3 "$sockets" itself 127.0.0.1 0 50000
}

traffic() {
	tagged
	conversation
}

same "a cable: VLAN tags are there again" 'vlan 7' far0
same "a cable: cut to the snapshot length" 'vlan 5' far0 -s 60
same "any: the cooked header with its interface" 'gld-receive far0' any
same "any: cut to the snapshot length" 'udp-receive' any -s 60
same "the loopback interface: no frame twice" 'tcp-receive' lo

# The ring has 8 blocks, for about 3,300 frames; a busy machine may drop some of 20,000.
observe "$far" 1 -i far0 -B 2048 --debug=live --print=udp-receive --summary
in_near python3 "$top/tests/live/tagged_frames.py" near0 20000
finish
check "a small ring is read in place" grep -q 'read in place$' "$tmp/err"
is "the ring begins again: every frame that is not dropped is there" \
	$(($(counter frames) + $(counter capture.dropped))) "$(counter capture.received)"
check "and they are more than the ring holds" [ "$(grep -c ' udp-receive ' "$tmp/out")" -gt 4000 ]

# A ring that is full drops the latest frames, and counts them.
observe "$far" 1 -i far0 -B 2048 --print=udp-receive --summary
kill -STOP "$pid"
in_near python3 "$top/tests/live/tagged_frames.py" near0 20000
kill -CONT "$pid"
finish
check "a ring that is full drops frames" [ "$(counter capture.dropped)" -gt 0 ]
is "those that are read and those that are dropped are all" \
	$(($(counter frames) + $(counter capture.dropped))) "$(counter capture.received)"

# netobsd ends while its buffer is full of frames.
observe "$far" 1 -i far0 --print=udp-receive --summary
kill -STOP "$pid"
in_near python3 "$top/tests/live/tagged_frames.py" near0 30000
let_deliver
kill -INT "$pid"
kill -CONT "$pid"
wait "$pid"
is "a signal ends netobsd: the frames in its buffer are observed first" \
	$(($(counter frames) + $(counter capture.dropped))) "$(counter capture.received)"

# filter_later IFACE FILTER: frames before and after a filter that comes with new settings, which netobsd reads as
# another user
filter_later() {
	chmod 755 "$tmp"
	printf 'interface = {"%s"}\n' "$1" >"$tmp/conf"
	observe "$far" 1 -c "$tmp/conf" --debug=capture --print=udp-receive
	tagged
	let_deliver
	printf 'interface = {"%s"}\nfilter = "%s"\n' "$1" "$2" >"$tmp/conf"
	kill -HUP "$pid"
	wait_for grep -q "compiled for $1" "$tmp/err"
	let_deliver
	before=$(grep -c 'udp-receive' "$tmp/out")
	tagged
	finish
	sed "1,${before}d" "$tmp/out" >"$tmp/later"
}

filter_later far0 "udp dst port 5002 or (vlan and udp dst port 5002)"
is "without a filter every frame is there" "$before" 40
is "a filter that is set later is obeyed" "$(grep -c ' udp-receive .*5001' "$tmp/later")" 0
is "and lets those with one VLAN tag pass" "$(grep -c ' udp-receive .*5002' "$tmp/later")" 10
filter_later far0 outbound
is "a filter that only the kernel can run is obeyed" "$before $(grep -c ' udp-receive ' "$tmp/later")" "40 0"
# For "any" the kernel sees no link header: netobsd looks into it.
filter_later any 'ether[10] = 1'
is "a filter that only netobsd can run lets its frames pass" "$before $(grep -c ' udp-receive ' "$tmp/later")" "40 40"
filter_later any 'ether[10] = 4'
is "and no others" "$before $(grep -c ' udp-receive ' "$tmp/later")" "40 0"

observe "$far" 1 -i far0 --debug=live --print=udp-receive 'udp dst port 5001'
finish
check "with a filter from the start libpcap reads" grep -q 'read by libpcap$' "$tmp/err"

tap_done
