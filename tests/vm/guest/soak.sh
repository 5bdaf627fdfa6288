#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Half an hour of service in two minutes: 100,000 short connections, most of them as frames of a packet socket, while
# tracers come and go, interfaces appear and disappear, and the clock is set forward by a minute in each of 30 rounds, and
# back and forth by an hour and by a day.  Steps of the clock do not age connections, so the timeouts are scaled instead, and
# the table with them: its memory, and that of the log of sent segments, is reserved, and is resident after the first rounds.
# Timeout: 300
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

rounds=30
frames_each=3300 # connections a round
sockets_each=34
connections=$((2 * frames_each + rounds * (frames_each + sockets_each)))
conf=/etc/netobs/netobs.conf
ctl=${netobsd%/*}/netobsctl
space=soak
cp -p "$conf" "$tmp/conf"
true_time=$(date +%s) true_uptime=$(cut -d . -f 1 /proc/uptime)
huge_pages=/sys/kernel/mm/transparent_hugepage/enabled
huge_pages_before=$(sed 's/.*\[\(.*\)\].*/\1/' $huge_pages)
ipv6=$(sysctl -n net.ipv6.conf.default.disable_ipv6)

# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	systemctl stop netobs
	[ -z "${tracer:-}" ] || kill -KILL "$tracer" 2>/dev/null
	[ -z "${traffic:-}" ] || kill "$traffic" 2>/dev/null
	cp -p "$tmp/conf" "$conf"
	ip link del soak0 2>/dev/null
	for device in flap0 flap1 flap2; do
		ip link del "$device" 2>/dev/null
	done
	ip netns del "$space" 2>/dev/null
	sysctl -q -w "net.ipv6.conf.default.disable_ipv6=$ipv6"
	date -s "@$((true_time + $(cut -d . -f 1 /proc/uptime) - true_uptime))" >/dev/null
	echo "$huge_pages_before" >"$huge_pages"
	rm -rf "$tmp"
}
trap clean_up EXIT
trap 'exit 99' PIPE # a write to a traffic program that has ended

# order COMMAND VALUE: has the traffic program execute it; its reply is in $reply.  Ends the test if it fails or does not end
# in time: the traffic program has then ended.
order() {
	reply=''
	echo "$1 $2" >&3
	read -r reply <&4
	[ "${reply%% *}" = "$1" ] || {
		not_ok "the traffic program: $1 $2"
		tap_done
	}
}

# number NAME: a counter of the service
number() {
	timeout 10 "$ctl" counters | awk -v name="$1" '$1 == name { print $2 }'
}

# packets: frames that the interfaces have sent and received; flap0 has no frames
packets() {
	cat /sys/class/net/lo/statistics/?x_packets /sys/class/net/soak0/statistics/?x_packets |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# attach FILE: starts a tracer, $tracer, which attaches while the test goes on
attach() {
	bpftrace -B line -e "BEGIN { printf(\"attached\\n\"); } usdt:$netobsd:netobs:tcp__state__change { @changes = count(); }" \
		>"$1" 2>"$1.err" &
	tracer=$!
}

# detach FILE: ends the tracer after it has attached and counted
detach() {
	wait_for grep -q '^attached$' "$1"
	order sockets 10
	wait_for settled
	tracer_end
	tracer=
}

# memory: private memory of the service, KiB
memory() {
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status"
}

descriptors() {
	find "/proc/$pid/fd" -mindepth 1 | wc -l
}

flap() {
	ip link set flap0 up
	ip link set flap0 down
	ip link set flap0 name "flap$(($1 % 2 + 1))"
	ip link set "flap$(($1 % 2 + 1))" up
	ip link del "flap$(($1 % 2 + 1))"
	ip link add flap0 type dummy
}

# ------------------------------------------------------------------------------------------------------------ the start

sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
ip netns add "$space"
ip link add soak0 type veth peer name soak1 netns "$space"
ip netns exec "$space" sysctl -q -w net.ipv6.conf.all.disable_ipv6=1
ip link set soak0 up
ip -n "$space" link set soak1 up
ip link add flap0 type dummy
mkfifo "$tmp/orders" "$tmp/replies"
"$top/tests/vm/guest/soak_traffic.py" "$space" soak1 <"$tmp/orders" >"$tmp/replies" &
traffic=$!
exec 3>"$tmp/orders" 4<"$tmp/replies"

echo never >"$huge_pages" # a page of 2 MiB may come into use in any round
cursor=$(journal_cursor)
note_loopback
printf '%s = %s\n' time-wait 1 tcp-closing-idle 2 tcp-idle 10 udp-idle 2 max-flows 65536 >>"$conf"
check "the service starts" systemctl restart netobs
systemctl is-active -q netobs || tap_done
pid=$(property MainPID)
wait_for settled || note "frames are missing at the start"
packets_before=$(packets) received_before=$(number capture.received) created_before=$(number flow.created)
descriptors_before=$(descriptors)

# ----------------------------------------------------------------------------------------------------------- the rounds

silent=0 steps=0 early=0 late=0
set_clock() {
	order step "$1"
	steps=$((steps + 1))
}
begin=$(date +%s) # the traffic program's steps are subtracted below
for round in $(seq $rounds); do
	set_clock 60
	case $round in
	8) set_clock -3600 ;;
	12) set_clock 3600 ;;
	16) set_clock 86400 ;;
	20) set_clock -86400 ;;
	5 | 18) attach "$tmp/traced.$round" ;;
	7) detach "$tmp/traced.5" ;;
	22) detach "$tmp/traced.18" ;;
	esac
	# The most connections at a time are those of the first round: later rounds need no more memory.
	[ "$round" -gt 1 ] || order frames $((2 * frames_each))
	order frames $frames_each
	sent=${reply#* }
	order sockets $sockets_each
	[ $((round % 3)) -ne 0 ] || flap "$round"
	timeout 10 "$ctl" status >/dev/null || silent=$((silent + 1))
	now=$(memory)
	if [ "$round" -le 10 ]; then
		[ "$now" -le "$early" ] || early=$now
	else
		[ "$now" -le "$late" ] || late=$now
	fi
done
note "$connections connections in $(($(date +%s) - begin - 60 * rounds)) s"

# -------------------------------------------------------------------------------------------------------------- the end

check "every frame has been observed or dropped" wait_for settled
received=$(($(number capture.received) - received_before))
is "no frame is missing: received by netobsd, passed by the interfaces" "$received" "$(($(packets) - packets_before))"
is "all crafted frames arrived" "$(cat /sys/class/net/soak0/statistics/rx_packets)" "$sent"
note "received $received, dropped $(number capture.dropped)"
check "all connections were tracked" test "$(($(number flow.created) - created_before))" -ge \
	$((connections - $(number capture.dropped)))
empty() {
	[ "$(number flow.now)" -eq 0 ]
}
check "no connection is left" wait_for empty
is "the control socket replied in each round" "$((rounds - silent))" "$rounds"
charged=$(cat /sys/fs/cgroup/system.slice/netobs.service/memory.current)
note "private memory: up to $early KiB in rounds 1 to 10, $late KiB later; charged to the service: $charged bytes"
# A leak of 50 bytes a connection would be 3.2 MiB in 20 rounds.
check "memory is flat after the first 10 rounds: at most 3 MiB more" test "$late" -le $((early + 3072))
is "no descriptor is left open" "$(descriptors)" "$descriptors_before"
# Two steps at once may be seen as one.
check "steps of the clock are counted" test "$(number clock.steps)" -ge "$rounds" -a "$(number clock.steps)" -le "$steps"
is "no time stamp was ignored" "$(number clock.ignored-stamps)" 0
for round in 5 18; do
	check "tracer of round $round: state changes" grep -q '@changes: [1-9]' "$tmp/traced.$round"
done
is "the service was not restarted" "$(property NRestarts) $(property MainPID) $(property ActiveState)" "0 $pid active"
journal_since "$cursor" "$tmp/journal"
note "lines in the journal: $(wc -l <"$tmp/journal")"
check "the journal is not flooded" test "$(wc -l <"$tmp/journal")" -le $((steps + 30))
grep -vxE -e '.*the time stamps step by .*' -e 'netobsd: memory reserved: .*' -e 'Start(ing|ed) netobs\.service - .*' \
	"$tmp/journal" >"$tmp/others"
check "the journal has nothing unexpected" test ! -s "$tmp/others"
[ ! -s "$tmp/others" ] || sed 's/^/# /' "$tmp/others"
systemctl stop netobs
is "the service ends" "$(property Result)" success
exec 3>&- 4<&-
wait "$traffic"
tap_done
