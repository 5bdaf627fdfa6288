#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Standard output and standard error that are not read: on an interface netobsd drops lines, counts them and goes on; a
# replay waits for its reader; a signal ends both.  A limit on the size of files is an error.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/unread.sh
. "$(dirname "$0")/unread.sh"

# ------------------------------------------------------------------------------------------------------------ a replay

"$netobsd" -r "$file" --print --view both --format json >"$tmp/wanted" 2>/dev/null
chmod 600 "$tmp/out" # the other user cannot open it a second time
for user in same other; do
	set --
	[ $user = same ] || set -- setpriv --reuid 65533 --regid 65533 --clear-groups
	replay "$@"
	check "replay, $user user: waits for its reader" kill -0 "$pid"
	kill -USR1 "$reader"
	wait "$pid"
	is "replay, $user user: status" $? 0
	wait "$reader"
	check "replay, $user user: the reader gets everything" cmp "$tmp/wanted" "$tmp/out.read"

	replay "$@"
	kill -TERM "$pid"
	wait "$pid"
	is "replay, $user user: a signal ends it: status" $? 0
	check "replay, $user user: message" grep -q "standard output was not read: [0-9]* lines were dropped" "$tmp/errors"
	continue_reading "$reader"
done

# ----------------------------------------------------------------------------------------------------- a file size limit

(
	ulimit -f 8
	exec "$netobsd" -r "$file" --print --format json >"$tmp/limited" 2>"$tmp/errors"
)
is "a limit on the size of files: status" $? 1
check "a limit on the size of files: message" grep -q "cannot write to standard output: File too large" "$tmp/errors"
(
	ulimit -f 8
	exec "$netobsd" --list-probes --format json >"$tmp/limited" 2>"$tmp/errors"
)
is "a limit on the size of files: --list-probes" $? 1

# ---------------------------------------------------------------------------------------------------------- an interface

# received COUNT: whether so many frames were received
received() {
	[ "$(value capture.received)" -ge "$1" ]
}

begin_traffic
for workers in 1 2; do
	observe $workers
	check "interface, $workers workers: the control socket replies" ctl status
	# Standard error: every summary is 4 KiB or more.
	for _ in $(seq 30); do
		kill -USR1 "$pid"
		ctl status >"$tmp/status"
	done
	check "interface, $workers workers: lines are dropped, and counted" drops_lines
	traffic udp sender 9 1000 8
	check "interface, $workers workers: capture goes on" wait_for received 22000
	is "interface, $workers workers: no frame is dropped" "$(value capture.dropped)" 0
	firings=$(ctl counters | awk '/^probe\./ { sum += $2 } END { printf "%.0f\n", sum }')
	note "firings $firings, dropped $(value print.dropped)"
	kill -TERM "$pid"
	wait "$pid"
	is "interface, $workers workers: a signal ends it: status" $? 0
	continue_reading "$out" "$err"
	check "interface, $workers workers: what is written are whole lines, but for the last" \
		python3 "$unread" lines "$tmp/out.read"
	check "interface, $workers workers: logged" \
		grep -q "standard output is not read: [0-9]* lines were dropped" "$tmp/err.read"
	check "interface, $workers workers: written or dropped" test "$(wc -l <"$tmp/out.read")" -lt "$firings"
done

# A reader that was slow for a while gets every line again afterwards.
hold "$tmp/out"
exec 3<>"$tmp/err" # it is empty
start --print=udp-send --format json udp
traffic udp sender 9 2000 8
check "a short pause: all frames are observed" wait_for reached probe.udp-send 2000
kill -USR1 "$reader"
stop
wait "$reader"
is "a short pause: no line is lost" "$(wc -l <"$tmp/out.read")" 2000
end_traffic
tap_done
