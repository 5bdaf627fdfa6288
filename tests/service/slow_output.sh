#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Standard output and standard error that are not read: on an interface netobsd drops lines, counts them and goes on; a
# replay waits for its reader; a signal ends both within a second.  A limit on the size of files is an error.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
have python3 mkfifo || skip_all "python3 or mkfifo is not installed"
chmod 755 "$tmp"
netobsd=$(private_netobsd) || exit 99
ctl=$build/netobsctl
mkfifo "$tmp/out" "$tmp/err"
pid=

# A capture whose printed firings are more than all buffers on the way hold.
file=$tmp/long.pcap
python3 - "$file" <<'PYTHON' || exit 99
import struct, sys
frame = bytes.fromhex("020000000002020000000001080045000020000000004011f6cac0000201c000020204d20035000c0000") + b"text"
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for i in range(20000):
        out.write(struct.pack("<IIII", 1700000000 + i // 1000, i % 1000 * 1000, len(frame), len(frame)) + frame)
PYTHON
chmod 644 "$file"

# stop_reading FIFO: opens it for reading, $reader, and does not read until it is continued with SIGUSR1; then copies all to
# FIFO.read
stop_reading() {
	python3 -c '
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
fifo = open(sys.argv[1], "rb")
signal.sigwait({signal.SIGUSR1})
open(sys.argv[1] + ".read", "wb").write(fifo.read())' "$1" &
	reader=$!
}

# end_within_a_second: SIGTERM; $status, $took (ms)
end_within_a_second() {
	begin=$(date +%s%N)
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	took=$((($(date +%s%N) - begin) / 1000000))
	note "ended after $took ms"
}

# blocked PID: whether the process waits for the reader of its output
blocked() {
	case $(cat "/proc/$1/wchan") in
	*poll* | *pipe*) ;;
	*) false ;;
	esac
}

# ------------------------------------------------------------------------------------------------------------ a replay

"$netobsd" -r "$file" --print --view both --format json >"$tmp/wanted" 2>/dev/null
for user in same other; do
	command=$netobsd
	if [ $user = other ]; then
		# The pipe belongs to root: it cannot be opened a second time.
		if [ "$(id -u)" -ne 0 ] || ! have setpriv; then
			skip "replay: a pipe of another user" "needs root and setpriv"
			continue
		fi
		chmod 600 "$tmp/out"
		command="setpriv --reuid 65533 --regid 65533 --clear-groups $netobsd"
	fi
	stop_reading "$tmp/out"
	# shellcheck disable=SC2086
	$command -r "$file" --print --view both --format json >"$tmp/out" 2>"$tmp/errors" &
	pid=$!
	wait_for blocked "$pid"
	check "replay, $user user: waits for its reader" kill -0 "$pid"
	kill -USR1 "$reader"
	wait "$pid"
	is "replay, $user user: status" $? 0
	wait "$reader"
	check "replay, $user user: the reader gets everything" cmp "$tmp/wanted" "$tmp/out.read"

	stop_reading "$tmp/out"
	# shellcheck disable=SC2086
	$command -r "$file" --print --view both --format json >"$tmp/out" 2>"$tmp/errors" &
	pid=$!
	wait_for blocked "$pid"
	end_within_a_second
	is "replay, $user user: a signal ends it: status" "$status" 0
	check_speed "replay, $user user: a signal ends it within a second" test "$took" -lt 1000
	check "replay, $user user: message" grep -q "standard output was not read: [0-9]* lines were dropped" "$tmp/errors"
	kill -USR1 "$reader"
	wait "$reader"
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

[ "$(id -u)" -eq 0 ] || { skip "an interface" "needs root"; tap_done; }
space=netobs-slow-$$
ip netns add "$space" 2>/dev/null || { skip "an interface" "no network namespaces here"; tap_done; }
trap 'ip netns del "$space" 2>/dev/null; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up

# flood COUNT: datagrams over the loopback interface, a few at a time so that no other buffer is full
flood() {
	ip netns exec "$space" python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(int(sys.argv[1])):
    s.sendto(b"x" * 8, ("127.0.0.1", 9))
    if i % 200 == 199:
        time.sleep(0.005)  # no event: a pace that netobsd can follow' "$1"
}

control() {
	"$ctl" -s "$tmp/control" "$@"
}

number() {
	control counters | awk -v name="$1" '$1 == name { print $2 }'
}

for workers in 1 2; do
	stop_reading "$tmp/out"
	out=$reader
	stop_reading "$tmp/err"
	err=$reader
	ip netns exec "$space" "$netobsd" -i lo --print --format json --workers "$workers" --control "$tmp/control" \
		--debug all --buffer-size 65536 udp >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for observing "$pid" "$workers"
	wait_for control status
	flood 10000
	check "interface, $workers workers: the control socket replies" control status
	# Standard error: every summary is 4 KiB or more.
	for _ in $(seq 30); do
		kill -USR1 "$pid"
		control status >/dev/null
	done
	check "interface, $workers workers: lines are dropped, and counted" test "$(number print.dropped)" -gt 0
	dropped=$(number print.dropped)
	firings=$(control counters | awk '/^probe\./ { sum += $2 } END { printf "%.0f\n", sum }')
	frames=$(number frames)
	flood 1000
	more_frames() {
		[ "$(number capture.received)" -ge $((frames + 1000)) ]
	}
	check "interface, $workers workers: capture goes on" wait_for more_frames
	is "interface, $workers workers: no frame is dropped" "$(number capture.dropped)" 0
	end_within_a_second
	is "interface, $workers workers: a signal ends it: status" "$status" 0
	check_speed "interface, $workers workers: a signal ends it within a second" test "$took" -lt 1000
	kill -USR1 "$out" "$err"
	wait "$out" "$err"
	check "interface, $workers workers: what is written are whole lines, but for the last" python3 -c '
import json, sys
for line in open(sys.argv[1]).read().split("\n")[:-1]:
    json.loads(line)' "$tmp/out.read"
	check "interface, $workers workers: logged" grep -q "standard output is not read: [0-9]* lines were dropped" "$tmp/err.read"
	check "interface, $workers workers: written or dropped" test "$(wc -l <"$tmp/out.read")" -lt "$firings"
	note "firings $firings, dropped $dropped"
done

# A reader that was slow for a while gets every line again afterwards.
stop_reading "$tmp/out"
ip netns exec "$space" "$netobsd" -i lo --print=udp-send --format json --control "$tmp/control" \
	--buffer-size 65536 udp >"$tmp/out" 2>"$tmp/errors" &
pid=$!
wait_for observing "$pid" 1
wait_for control status
flood 2000
check "a short pause: all frames are observed" wait_for sh -c "'$ctl' -s '$tmp/control' counters | grep -q '^probe.udp-send *2000$'"
kill -USR1 "$reader"
kill -TERM "$pid"
wait "$pid"
wait "$reader"
is "a short pause: no line is lost" "$(wc -l <"$tmp/out.read")" 2000
tap_done
