#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A pause of netobsd while traffic flows is not a step of the clock, wherever it is: packet time is that of the frames,
# timers fire, and no time stamp is ignored.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$top/tests/lib/live_hosts.sh"

${CC:-cc} -O2 -shared -fPIC -o "$tmp/pause.so" "$top/tests/live/pause_clock.c" 2>"$tmp/cc" || skip_all "$(head -n 1 "$tmp/cc")"

ip -n "$far" link set lo up
send=$top/tests/live/send_frames.py

# paused COUNT: whether the library has paused netobsd so often
paused() {
	[ "$(grep -c '^pause' "$tmp/err")" -ge "$1" ]
}

# stop_and_continue: stops netobsd for 1.5 s
stop_and_continue() {
	kill -STOP "$pid"
	sleep 1.5 # no event: the length of the pause
	kill -CONT "$pid"
	summary_of "$pid" "$tmp/err"
}

# traffic: frames on both interfaces, until quieten
traffic() {
	in_near python3 "$send" near0 120 2000 >"$tmp/sent.near" 2>&1 &
	senders=$!
	in_far python3 "$send" lo 120 500 >"$tmp/sent.lo" 2>&1 &
	senders="$senders $!"
}

quieten() {
	# shellcheck disable=SC2086
	kill $senders
	# shellcheck disable=SC2086
	wait $senders 2>/dev/null
}

# waited: seconds in TIME_WAIT, by packet time: the endpoint's change to the state and the one from it
waited() {
	sed -n '/state-time-wait/s/.*"cs_ts":\([0-9]*\).*/\1/p' "$tmp/out" | awk '{ ts[NR] = $1 } END { if (NR > 1) print (ts[2] - ts[1]) / 1e9 }'
}

# check_time NAME: what netobsd reports
check_time() {
	summary_of "$pid" "$tmp/err"
	is "$1: no step, no time stamp ignored" "$(counter clock.steps) $(counter clock.ignored-stamps)" "0 0"
	is "$1: no step is logged" "$(grep "time stamp" "$tmp/err" | head -n 3)" ""
}

for workers in 1 2; do
	observe "$far" $((2 * workers)) -i far0 -i lo --workers "$workers" --time-wait 2 --view both --no-owners \
		--print=tcp-state-change --format json
	traffic
	converse "$far" "$near" 10.77.0.2 7100
	for _ in 1 2 3 4; do
		stop_and_continue
	done
	check_time "stopped, $workers workers"
	check "stopped, $workers workers: TIME_WAIT takes its 2 s" awk -v seconds="$(waited)" 'BEGIN { exit !(seconds >= 2 && seconds < 10) }'
	quieten
	finish
done

for workers in 1 2; do
	LD_PRELOAD=$tmp/pause.so
	export LD_PRELOAD
	observe "$far" $((2 * workers)) -i far0 -i lo --workers "$workers" --no-owners
	unset LD_PRELOAD
	traffic
	check "paused after a reading of the clock" wait_for paused $((6 * workers))
	check_time "after a reading of the clock, $workers workers"
	quieten
	finish
done
tap_done
