# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests of output that is not read, sourced after running.sh: netobsd writes to $tmp/out and $tmp/err, which are
# named pipes; $file is a capture whose printed firings they do not hold.

netobsd=$(private_netobsd) || exit 99
rm -f "$tmp/out" "$tmp/err"
mkfifo "$tmp/out" "$tmp/err"
unread=$top/tests/service/unread.py file=$tmp/long.pcap
python3 "$unread" capture "$file" && chmod 644 "$file" || exit 99

# hold FIFO: opens it for reading, $reader, and does not read before it is continued; then copies all to FIFO.read
hold() {
	rm -f "$1.full"
	python3 "$unread" hold "$1" &
	reader=$!
}

# blocked PID: whether the process waits for the reader of $tmp/out
blocked() {
	[ -e "$tmp/out.full" ] || return 1
	case $(cat "/proc/$1/wchan") in
	*poll* | *pipe*) ;;
	*) false ;;
	esac
}

# replay [COMMAND...]: starts a replay, by the command if there is one, and returns when it waits for its reader
replay() {
	hold "$tmp/out"
	"$@" "$netobsd" -r "$file" --print --view both --format json >"$tmp/out" 2>"$tmp/errors" &
	pid=$!
	wait_for blocked "$pid"
}

# observe WORKERS: starts netobsd on the interface, with many firings; nothing that it writes is read
observe() {
	hold "$tmp/out"
	out=$reader
	hold "$tmp/err"
	err=$reader
	start --print --format json --workers "$1" --debug all udp
	traffic udp sender 9 10000 8
	wait_for drops_lines
}

# drops_lines: whether lines of netobsd have been dropped
drops_lines() {
	[ "$(value print.dropped)" -gt 0 ]
}

# continue_reading PID...: the readers continue, and end with netobsd
continue_reading() {
	kill -USR1 "$@"
	wait "$@"
}
