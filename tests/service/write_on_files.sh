#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl write --on: files that are complete or absent, also after SIGKILL; storms of triggers, full disks.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/start_write_on.sh
. "$(dirname "$0")/start_write_on.sh"

# The first file cannot be completed: the feed is read meanwhile.
begin --after 0s --max-rate 1000000/s --max-files 500
send "reply hold" "fire slow 1 $ts"
wait_for grep -q '^holds$' "$log"
send "storm 5000"
check "5,000 triggers beside a capture that waits: all are read" wait_for counted triggers 5001
is "the queue is bounded" "$(count waiting):$(count "over the queue")" "4097:904"
is "no file has its final name before it is complete" "$(files | grep -v '^\.')" ""
send "reply good"
check "those that waited have files, as many as there may be" wait_for has_files 500
check "the others are counted" wait_for counted "over a limit" 3597
stop
check "a storm: statistics" balanced
is "a storm: no failure" "$(count failed)" 0
is "a storm: files are complete" "$(find "$tmp/files" -type f -not -size 1000c)" ""

begin_ms=$(date +%s%3N)
begin --after 0s
send "storm 3000"
check "a storm at the default rate is read" wait_for counted triggers 3000
most=$((11 + ($(date +%s%3N) - begin_ms) / 100)) # ten at once, and ten a second
stop
note "$(files | wc -l) files, at most $most"
check "a storm at the default rate is bounded" test "$(files | wc -l)" -ge 10 -a "$(files | wc -l)" -le "$most"
check "a storm at the default rate: statistics" balanced

# children: the process that writes a file, if there is one
children() {
	tr -d ' ' <"/proc/$write_on/task/$write_on/children"
}

# incomplete: files with a final name that are not complete
incomplete() {
	find "$tmp/files" -name '[!.]*' -type f -not -size 200000c
}

begin --after 0s
send "size 200000" "reply hold" "fire slow 1 $ts"
wait_for grep -q '^holds$' "$log"
kill -9 "$(children)"
check "the process that writes is killed: counted" wait_for counted failed 1
is "the process that writes is killed: message" "$(sed -n '/cannot write/s/.*pcapng: //p' "$tmp/err")" \
	"the process that writes it was killed; further files are tried and failures counted"
is "the process that writes is killed: no file has its final name" "$(files | grep -v '^\.')" ""
send "reply good" "fire slow 3 $ts"
# has_named COUNT: whether so many files have their final names
has_named() {
	[ "$(files | grep -c '^[^.]')" -eq "$1" ]
}
check "the next file is written" wait_for has_named 1
stop

# stopped PID: whether the process is stopped
stopped() {
	grep -q '^State:[[:space:]]*T' "/proc/$1/status"
}

# The write --on and its child are killed while they write the first file, the second and so on.  A stopped write --on
# starts no other child.
wrong=''
for i in $(seq 20); do
	begin --after 0s --max-rate 1000000/s
	send "size 200000" "storm 500"
	for _ in $(seq 2000); do
		[ "$(find "$tmp/files" -type f | wc -l)" -lt "$i" ] || break
	done
	kill -STOP "$write_on"
	wait_for stopped "$write_on"
	writer=$(children)
	# shellcheck disable=SC2086 # none or one
	kill -9 $write_on $writer 2>/dev/null
	wait "$write_on" 2>/dev/null
	[ -z "$writer" ] || wait_for ended "$writer"
	wrong=$wrong$(incomplete)
done
is "kill -9 at 20 moments: every file with a final name is complete" "$wrong" ""

begin --after 0s
send "size 200000" "reply hold" "fire slow 1 $ts"
wait_for grep -q '^holds$' "$log"
writer=$(children)
kill -9 "$write_on"
wait "$write_on" 2>/dev/null
is "kill -9 of the parent alone: no file has its final name" "$(files | grep -v '^\.')" ""
send "reply good"
wait_for ended "$writer"
is "the process that writes completes its file" "$(files):$(incomplete)" "20251122T194000.123456789Z-slow-1.pcapng:"

if mount -t tmpfs -o size=400k none "$small" 2>/dev/null; then
	send "reply good"
	write_on "$small" --after 0s --max-rate 1000/s
	send "size 300000" "fire slow 1 $ts"
	wait_for counted files 1
	for i in 3 5 7; do
		send "fire slow $i $ts"
	done
	check "a full disk: failures are counted" wait_for counted failed 3
	is "a full disk: said once" "$(grep -c 'No space left on device' "$tmp/err")" 1
	is "a full disk: the message names the file once" "$(sed -n '/No space/s|/[^ ]*-3.pcapng|FILE|gp' "$tmp/err")" \
		"netobsctl: cannot write FILE: No space left on device; further files are tried and failures counted"
	is "a full disk: files" "$(find "$small" -type f | sed 's/.*-//')" 1.pcapng
	rm "$small"/*.pcapng
	send "fire slow 9 $ts"
	check "a full disk: when there is space again, files are written" wait_for counted files 2
	stop
	is "a full disk: files then" "$(find "$small" -type f | sed 's/.*-//')" 9.pcapng
	check "a full disk: statistics" balanced
	umount "$small"
else
	skip "a full disk" "tmpfs cannot be mounted"
fi


end_server
tap_done
