# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests of netobsctl write --on, sourced after tap.sh: a write --on, $write_on, that writes to a directory, and
# write_on_server.py in place of netobsd.

ctl=$build/netobsctl socket=$tmp/control log=$tmp/log small=$tmp/small
built "$ctl"
have python3 || skip_all "python3 is not installed"
mkdir "$small"

at_end "umount '$small' 2>/dev/null"

# begin_server: its log has the requests that it receives
begin_server() {
	mkfifo "$tmp/commands" "$tmp/answers"
	python3 "$top/tests/service/write_on_server.py" "$socket" "$log" <"$tmp/commands" >"$tmp/answers" &
	server=$!
	exec 8>"$tmp/commands" 9<"$tmp/answers"
	wait_while "$server" test -S "$socket" || note "the server does not listen"
}

end_server() {
	kill "$server"
	exec 8>&- 9<&-
	wait "$server" 2>/dev/null
	rm -f "$tmp/commands" "$tmp/answers" "$socket"
}

# send COMMAND...: of the server; returns when it has carried them out
send() {
	for send_command; do
		printf '%s\n' "$send_command" >&8
		read -r send_answer <&9
		[ "$send_answer" = "done" ] || note "$send_command: $send_answer" # such as a write --on that does not read on
	done
}

# write_on DIRECTORY ARGUMENT...: starts a write --on, which reads the feed when this returns
write_on() {
	write_on_directory=$1
	shift
	"$ctl" -s "$socket" write --on tcp-connect-refused,slow --dir "$write_on_directory" "$@" >"$tmp/out" 2>"$tmp/err" &
	write_on=$!
	send wait
}

# begin ARGUMENT...: an empty log, an empty directory $tmp/files, and a write --on; captures are good and have 1000 bytes
begin() {
	rm -rf "$tmp/files"
	mkdir "$tmp/files"
	: >"$log"
	send "reply good" "size 1000"
	write_on "$tmp/files" "$@"
}

# stop: ends write --on, its exit status in $status
stop() {
	kill "$write_on"
	wait "$write_on"
	status=$?
}

# files: names of all files in $tmp/files, also of hidden ones
files() {
	find "$tmp/files" -type f -printf '%P\n' | sort
}

has_files() {
	[ "$(files | wc -l)" -eq "$1" ]
}

# count WORDS: the number before these words in the last statistics
count() {
	sed -n "s/.*[ :]\([0-9]*\) $1.*/\1/p" "$tmp/err" | tail -n 1
}

# counted WORDS NUMBER: makes write --on print its statistics; whether the number is so large
counted() {
	counted_lines=$(grep -c 'triggers:' "$tmp/err")
	kill -USR1 "$write_on" && wait_for more_printed "$counted_lines" && [ "$(count "$1")" -ge "$2" ]
}

more_printed() {
	[ "$(grep -c 'triggers:' "$tmp/err")" -gt "$1" ]
}

# balanced: whether each trigger of the last statistics is in one of the other counts
balanced() {
	grep 'triggers:' "$tmp/err" | tail -n 1 | sed 's|/[^ ]*||g' >"$tmp/statistics"
	awk '{ gsub(/[^0-9 ]/, " "); if ($1 != $2 + $4 + $5 + $6 + $7 + $8 + $9 + $10) exit 1 }' "$tmp/statistics"
}

# ended PID: whether the process is gone or a zombie
ended() {
	! grep -q '^State:[^Z]*$' "/proc/$1/status" 2>/dev/null
}

ts=1763840400123456789
begin_server
