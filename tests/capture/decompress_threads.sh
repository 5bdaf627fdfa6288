#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --workers in a replay: other threads decompress the files, and the output is, byte for byte, that of one thread; of one
# file and of several, whole, truncated and damaged.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 gzip || skip_all "python3 or gzip is not installed"
have zstd || skip_all "zstd is not installed"

captures=$top/tests/captures

# replayed WORKERS ARGUMENT...: everything that a replay writes, and its exit status, in $tmp/out
replayed() {
	workers=$1
	shift
	"$netobsd" --workers "$workers" "$@" >"$tmp/out" 2>"$tmp/err"
	echo "status $?" >>"$tmp/err"
	cat "$tmp/err" >>"$tmp/out"
}

# same NAME WORKERS ARGUMENT...: any number of workers, up to WORKERS, writes what one thread writes
same() {
	name=$1 most=$2
	shift 2
	replayed 1 "$@"
	cp "$tmp/out" "$tmp/one"
	differ=
	for number in $(seq 2 "$most"); do
		replayed "$number" "$@"
		cmp "$tmp/one" "$tmp/out" || differ="$differ $number"
	done
	is "$name: the output of one thread" "$differ" ""
}

# capture_time FILE: seconds since 1970 of its first frame
capture_time() {
	od -A n -t u4 -j 24 -N 4 "$1" | tr -d ' '
}

python3 "$top/tests/capture/decompress_captures.py" "$captures/home-network.pcap" \
	"$tmp/large.pcap" "$tmp/later.pcap" "$tmp/damaged.pcap" || exit 99
for file in large later; do
	gzip -c "$tmp/$file.pcap" >"$tmp/$file.gz"
	zstd -qc "$tmp/$file.pcap" >"$tmp/$file.zst"
done
if have editcap; then
	editcap -F pcapng "$tmp/large.pcap" "$tmp/large.pcapng"
	zstd -qc "$tmp/large.pcapng" >"$tmp/large.pcapng.zst"
	same "pcapng" 2 --print -r "$tmp/large.pcapng.zst"
	"$netobsd" --print=ip-receive -r "$tmp/large.pcap" >"$tmp/plain" 2>/dev/null
	"$netobsd" --print=ip-receive --workers 2 -r "$tmp/large.pcapng.zst" >"$tmp/lines" 2>/dev/null
	is "pcapng: as many packets as in the pcap file" "$(wc -l <"$tmp/lines")" "$(wc -l <"$tmp/plain")"
	check "pcapng: there are packets" [ -s "$tmp/lines" ]
else
	skip "pcapng: the output of one thread" "editcap is not installed"
	skip "pcapng: as many packets as in the pcap file" "editcap is not installed"
	skip "pcapng: there are packets" "editcap is not installed"
fi

"$netobsd" --print -r "$tmp/large.pcap" >"$tmp/plain" 2>/dev/null
for file in large.gz large.zst; do
	same "$file" 3 --print --summary -r "$tmp/$file"
	"$netobsd" --print --workers 2 -r "$tmp/$file" >"$tmp/lines" 2>/dev/null
	check "$file: the lines of the plain file" cmp "$tmp/plain" "$tmp/lines"
	same "$file, records" 2 --records -r "$tmp/$file"
	same "$file, with a filter" 2 --print -r "$tmp/$file" udp
	same "$file, paced" 2 --print --pace=1000000 -r "$tmp/$file"
done
# from_input NAME STATUS: what was replayed from standard input
from_input() {
	is "$1: status" "$2" 0
	check "$1: the lines of the plain file" cmp "$tmp/plain" "$tmp/lines"
}
"$netobsd" --print --workers 2 -r - <"$tmp/large.gz" >"$tmp/lines" 2>/dev/null
from_input "a file on standard input" $?
# shellcheck disable=SC2002 # a pipe, not a file
cat "$tmp/large.gz" | "$netobsd" --print --workers 2 -r - >"$tmp/lines" 2>/dev/null
from_input "a pipe" $?

same "several files" 4 --print --summary -r "$tmp/large.gz" -r "$tmp/later.zst" -r "$tmp/later.pcap"
"$netobsd" --print -r "$tmp/large.pcap" -r "$tmp/later.pcap" >"$tmp/plain" 2>/dev/null
"$netobsd" --print --workers 3 -r "$tmp/large.gz" -r "$tmp/later.zst" >"$tmp/lines" 2>/dev/null
check "several files: the lines of the plain files" cmp "$tmp/plain" "$tmp/lines"

for file in large.gz large.zst; do
	size=$(wc -c <"$tmp/$file")
	for part in 3 10 $((size / 3)) $((size / 2)) $((size - 5)); do
		head -c "$part" "$tmp/$file" >"$tmp/cut"
		same "the first $part bytes of $file" 2 --print --summary -r "$tmp/cut"
	done
	is "the last one is reported as damaged" "$(grep -c 'ends unexpectedly or is damaged' "$tmp/out")" 1
	cp "$tmp/$file" "$tmp/changed"
	printf '\377\000\377\000\377\000\377\000' |
		dd of="$tmp/changed" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
	same "$file with changed bytes" 2 --print --summary -r "$tmp/changed"
	same "$file with changed bytes, and another file" 3 --print --summary -r "$tmp/changed" -r "$tmp/later.zst"
done

# The pcap file is damaged, and the compressed data end early after that: the first of both is reported, also if a
# thread has found the end before.  Paced, the thread is ahead.
gzip -c "$tmp/damaged.pcap" | head -c -100000 >"$tmp/damaged.gz"
for pace in "" 100; do
	same "damage before the end${pace:+, paced}" 2 ${pace:+--pace=$pace} -r "$tmp/damaged.gz"
	is "damage before the end${pace:+, paced}: the message" "$(grep -c ': invalid packet capture length ' "$tmp/out")" 1
done

# threads ARGUMENT...: how many threads decompress how many files
threads() {
	"$netobsd" --debug capture "$@" 2>&1 | sed -n 's/^netobsd: debug capture: reader threads: //p'
}
is "threads: no more than workers less one" \
	"$(threads --workers 2 -r "$tmp/large.gz" -r "$tmp/later.zst")" "1; files read ahead: 2"
is "threads: no more than compressed files" \
	"$(threads --workers 9 -r "$tmp/large.gz" -r "$tmp/later.zst" -r "$tmp/later.pcap")" "2; files read ahead: 2"
"$netobsd" --print --workers 2 -r "$tmp/large.pcap" 2>"$tmp/err" >"$tmp/lines"
"$netobsd" --print -r "$tmp/large.pcap" 2>/dev/null >"$tmp/plain"
check "a plain file: the lines of one thread" cmp "$tmp/plain" "$tmp/lines"
is "threads: a plain file: a notice" "$(grep -c '^netobsd: --workers has no effect: ' "$tmp/err")" 1
is "threads: none for a plain file" "$(threads --workers 2 -r "$tmp/large.pcap")" "0; files read ahead: 0"
is "threads: none with one worker" "$(threads -r "$tmp/large.gz")" ""
is "a thread has a system-call filter of its own" \
	"$("$netobsd" --debug confine --workers 2 -r "$tmp/large.gz" 2>&1 | grep -c 'filter of reader threads is active')" 1

# A signal ends the run while the threads wait for space.
"$netobsd" --workers 3 --pace -r "$tmp/large.gz" -r "$tmp/later.zst" >"$tmp/out" 2>"$tmp/err" &
pid=$!
check "the threads of a paced replay have started" \
	wait_for sh -c "[ \$(cat /proc/$pid/task/*/comm | grep -c '^netobs-reader') = 2 ]"
wait_for begun "$pid"
kill -INT "$pid"
wait_for sh -c "! kill -0 $pid" || kill -KILL "$pid"
wait "$pid"
is "a signal ends the run" $? 0

# Two passes over standard input: the threads of the first have ended when the second begins.
begin=$(capture_time "$tmp/large.pcap")
for seconds in 1 5 20 60 90 100 300 700 1100 1400; do
	for workers in 1 2; do
		"$netobsd" --workers "$workers" --to $((begin + seconds)) --write "udp-send=$tmp/passes.$workers" \
			-r - <"$tmp/large.gz" 2>"$tmp/err"
		echo "$?" >>"$tmp/statuses"
	done
	cmp "$tmp/passes.1" "$tmp/passes.2" >>"$tmp/statuses" 2>&1
done
is "two passes over standard input: status" "$(sort -u "$tmp/statuses")" 0

mkdir "$tmp/split"
for workers in 1 2; do
	"$build/netobs-split" -n 3 --workers="$workers" -w "$tmp/split/$workers" "$tmp/large.gz" 2>/dev/null
	is "netobs split with --workers $workers: status" $? 0
	cat "$tmp/split/$workers"-*.pcapng >"$tmp/split/all.$workers"
done
is "netobs split: a thread has a system-call filter of its own" \
	"$("$build/netobs-split" -n 3 --workers=2 --debug=confine -w "$tmp/split/3" "$tmp/large.gz" 2>&1 |
		grep -c 'filter of reader threads is active')" 1
check "netobs split writes the captures of one thread" cmp "$tmp/split/all.1" "$tmp/split/all.2"
tap_done
