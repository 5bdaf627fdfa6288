#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How long a pause of netobsd its default buffer holds, and the processor time that a removed interface costs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$top/tests/lib/live_hosts.sh"

# holds_pause: the kernel closes a block of the buffer after 10 ms, however few frames it contains
holds_pause() {
	observe "$far" 1 -i far0 --summary udp
	kill -STOP "$pid"
	in_near python3 "$sockets" flood 10.77.0.2 9 1800 3000
	kill -CONT "$pid"
	finish
	note "$(counter frames) observed, $(counter capture.dropped) dropped"
	[ "$(counter frames) $(counter capture.dropped)" = "1800 0" ]
}

measured "the default buffer holds a pause of 0.6 s" holds_pause

# ticks: processor time of netobsd so far, hundredths of a second
ticks() {
	awk '{ print $14 + $15 }' "/proc/$pid/stat"
}

# As the service does it: opening an interface again takes the one capability that is kept.
chmod 755 "$tmp"
printf '#!/bin/sh\nexec setpriv --reuid nobody --regid nogroup --clear-groups %s %s "$@"\n' \
	"--inh-caps -all,+net_raw --ambient-caps -all,+net_raw" "$(private_netobsd)" >"$tmp/capable"
chmod 755 "$tmp/capable"
netobsd=$tmp/capable
ip -n "$far" link add spare0 type veth peer name spare1
ip -n "$far" link set spare0 up
ip -n "$far" link set spare1 up
observe "$far" 2 -i spare0 -i far0
ip -n "$far" link del spare0
wait_for grep -q "spare0 was removed" "$tmp/err"

idles() {
	before=$(ticks)
	sleep 2 # no event: the measure is processor time in two seconds
	used=$(($(ticks) - before))
	note "$used ticks in two seconds"
	[ "$used" -lt 10 ]
}

measured "a removed interface: waiting takes no processor time" idles
finish

tap_done
