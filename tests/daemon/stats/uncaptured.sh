#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What a capture lacks because of how it was taken is counted, and said at the end of a replay: ends of packets that the snapshot
# length has cut off, connections of one direction, tunnels that are not unpacked.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
chmod 755 "$tmp" # netobsd that is started as root changes its user
python3 "$top/tests/daemon/stats/uncaptured.py" "$tmp"

# said NAME ARGUMENT...: the messages of a replay about what is missing, and the counters
said() {
	said_name=$1
	shift
	"$netobsd" -r "$tmp/$said_name.pcap" --summary "$@" 2>&1 >/dev/null |
		sed -nE 's/^netobsd: (.* (cut off|is captured|not observed): .*)/\1/p; /^(conversation\.cut|flow\.one-way|tunnel\.)/p'
}

one_way="connections of which only one direction is captured: 6
flow.one-way 6"
is "connections of one direction" "$(said one-way)" "$one_way"
is "whatever is traced" "$(said one-way --print=tcp-*,http-*)" "$one_way"
is "only counted while records are written, in silence" "$(said one-way --records)" "$(echo "$one_way" | grep "^flow")"
is "also if their timers end them" "$(said one-way --tcp-idle 1 --tcp-closing-idle 1 --time-wait 1)" "$one_way"
is "not without a local end" "$(said one-way --view host --local 203.0.113.1/32)" ""

is "packets that are cut off" "$(said cut --print=http-*,dns-*)" "dns packets whose end the snapshot length has cut off: 1
http packets whose end the snapshot length has cut off: 2
conversation.cut 3"
is "of protocols that are read" "$(said cut --print=dns-*)" "dns packets whose end the snapshot length has cut off: 1
conversation.cut 1"
is "nothing reads them" "$(said cut)" ""

text="tunnels that are not unpacked, so that connections inside them are not observed"
is "tunnels that are not unpacked" "$(said tunnels)" "$text: 5 packets, 2 UDP streams
tunnel.closed-packets 5
tunnel.closed-streams 2"
is "whatever is traced" "$(said tunnels --print)" "$(said tunnels)"
is "no tunnel is unpacked" "$(said tunnels --no-inner | head -n 1)" "$text: 7 packets, 2 UDP streams"

is "nothing is missing" "$(said whole --print)" ""
tap_done
