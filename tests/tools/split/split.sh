#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs split: which frames and connections are in which capture, messages, exit statuses, and that no file is left if anything
# fails.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
split=$build/netobs-split
built "$split"
chmod 755 "$tmp" # netobsd that is started as root changes its user
file=$top/tests/captures/home-network.pcap
directory=$tmp/split

# fresh: an empty directory for the captures
fresh() {
	rm -rf "$directory"
	mkdir "$directory" || exit 99
}

# refuses NAME STATUS PATTERN ARGUMENT...: ok if netobs-split exits with STATUS, logs PATTERN, and leaves no file
refuses() {
	refuses_name=$1 refuses_status=$2 refuses_pattern=$3
	shift 3
	"$split" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	refuses_got=$?
	ls -A "$directory" >>"$tmp/out"
	if [ "$refuses_got" -eq "$refuses_status" ] && grep -q -- "^netobs-split: .*$refuses_pattern" "$tmp/err" &&
		[ ! -s "$tmp/out" ]; then
		ok "$refuses_name"
	else
		echo "status $refuses_got, wanted $refuses_status, no file, and: $refuses_pattern" >"$tmp/why"
		not_ok "$refuses_name" "$tmp/why" "$tmp/err" "$tmp/out"
	fi
}

# records FILE...: the frames of captures that have bytes, one a line
records() {
	"$top/tests/lib/capture_frames.py" "$@" | awk '$2 > 0'
}

# ------------------------------------------------------------------------------------------------------------- frames

fresh
check "one capture" "$split" -n 1 -r "$file" -w "$directory/one"
records "$file" >"$tmp/whole"
records "$directory/one-0001-of-0001.pcapng" >"$tmp/got"
check "it has the frames of the input in their order" cmp "$tmp/whole" "$tmp/got"

fresh
check "seven captures" "$split" -n 7 -r "$file" -w "$directory/seven"
is "their names" "$(cd "$directory" && echo *)" "$(for i in 1 2 3 4 5 6 7; do
	printf 'seven-000%d-of-0007.pcapng ' $i
done)seven.json"
for i in "$directory"/*.pcapng; do
	records "$i" >"$tmp/part"
	# The frames of a capture are those of the input in the same order: a subsequence.
	awk 'NR == FNR { line[NR] = $0; n = NR; next } { while (++at <= n && line[at] != $0) { } if (at > n) exit 1 }' \
		"$tmp/whole" "$tmp/part" || echo "$i"
done >"$tmp/order"
is "each has its frames in the order of the input" "$(cat "$tmp/order")" ""
records "$directory"/*.pcapng | sort >"$tmp/got"
sort "$tmp/whole" >"$tmp/wanted"
check "together they have every frame once" cmp "$tmp/wanted" "$tmp/got"
check "the list of captures counts their frames and bytes" "$top/tests/tools/split/split_list.py" "$directory/seven" 7
# shards.sh compares the records of all captures.
"$netobsd" -r "$file" --records="$tmp/single" 2>/dev/null
for i in "$directory"/*.pcapng; do
	"$netobsd" -r "$i" --records="${i%.pcapng}.jsonl" 2>/dev/null
done
LC_ALL=C sort -m "$directory"/*.jsonl >"$tmp/merged"
check "the merged records of the captures are those of a single run" cmp "$tmp/single" "$tmp/merged"

fresh
gzip -c "$file" >"$tmp/whole.pcap.gz"
"$split" -n 7 -r "$tmp/whole.pcap.gz" -w "$directory/seven" 2>/dev/null
records "$directory"/*.pcapng | sort >"$tmp/got"
check "compressed input" cmp "$tmp/wanted" "$tmp/got"
fresh
"$split" -n 7 -r - -w "$directory/seven" <"$file" 2>/dev/null
records "$directory"/*.pcapng | sort >"$tmp/got"
check "a file as standard input" cmp "$tmp/wanted" "$tmp/got"
fresh
"$split" -n 2 -w "$directory/tcp" -f tcp -r "$file" 2>/dev/null
"$netobsd" -r "$file" --summary tcp 2>&1 | awk '$1 == "frames" { print $2 }' >"$tmp/wanted"
is "a filter" "$(records "$directory"/*.pcapng | wc -l)" "$(cat "$tmp/wanted")"

# -------------------------------------------------------------------------------------------------------- no file left

fresh
refuses "K = 0" 1 "expected a whole number from 1 to 9999" -n 0 -r "$file" -w "$directory/x"
refuses "K is not a number" 1 "expected a whole number from 1 to 9999" -n two -r "$file" -w "$directory/x"
refuses "K is above the most" 1 "expected a whole number from 1 to 9999" -n 10000 -r "$file" -w "$directory/x"
refuses "no prefix" 1 "give the prefix of the names .* -w PREFIX" -n 2 -r "$file"
refuses "a prefix alone" 1 "give the number of captures .* -n NUMBER" -r "$file" -w "$directory/x"
refuses "no capture" 1 "give at least one capture" -n 2 -w "$directory/x"
refuses "standard input twice" 1 "standard input (-r -) can be read only once" -n 2 -w "$directory/x" - -
refuses "an interface" 1 "usage: netobs-split" -n 2 -i lo -w "$directory/x"
refuses "a printer" 1 "usage: netobs-split" -n 2 -r "$file" -w "$directory/x" --print
refuses "an option without its value" 1 "usage: netobs-split" -w "$directory/x" "$file" -n
refuses "a bad filter" 1 "syntax error" -n 2 -r "$file" -w "$directory/x" -f "tcp and"
refuses "a missing directory" 1 "cannot create .*: No such file or directory" -n 2 -r "$file" \
	-w "$directory/none/x"
refuses "a missing input" 1 "cannot read $tmp/none: No such file" -n 2 -r "$tmp/none" -w "$directory/x"
refuses "an input that is not a capture" 1 "is not a readable capture" -n 2 -r "$0" -w "$directory/x"
mkfifo "$tmp/pipe"
refuses "a pipe" 1 "the input is read twice, and $tmp/pipe is not a file" -n 2 -r "$tmp/pipe" -w "$directory/x"
limited=$split
split=$tmp/limited
printf "#!/bin/sh\nexec prlimit \$limit '%s' \"\$@\"\n" "$limited" >"$split"
chmod 755 "$split"
export limit=--nofile=100:100
refuses "more captures than descriptors" 1 "at most 100 are allowed" -n 90 -r "$file" -w "$directory/x"
export limit=--fsize=8192
refuses "a capture that is too large" 1 "cannot write .*: File too large" -n 2 -r "$file" -w "$directory/x"
split=$limited

fresh
: >"$directory/x-0002-of-0002.pcapng"
"$split" -n 2 -r "$file" -w "$directory/x" 2>"$tmp/err"
is "a capture that exists is kept: the exit status" $? 1
check "the message" grep -q "x-0002-of-0002.pcapng exists already" "$tmp/err"
is "it is the only file" "$(ls -A "$directory")" x-0002-of-0002.pcapng

# A full disk: a file system of its own, if this user may mount one.
fresh
if mount -t tmpfs -o size=64k,mode=755 netobs-test "$directory" 2>/dev/null; then
	refuses "a full disk" 1 "cannot write .*: No space left on device" -n 2 -r "$file" -w "$directory/x"
	umount "$directory"
else
	skip "a full disk" "no permission to mount a file system"
fi

# ------------------------------------------------------------------------------------------------------------ signals

# A capture that takes minutes to read: frames of 0 bytes, which are holes of the file.
head -c 24 "$file" >"$tmp/endless.pcap"
truncate -s 100G "$tmp/endless.pcap" || exit 99

# begin CAPTURE: starts netobs-split, and waits until the process that reads the input, $reader, has given up its privileges
begin() {
	fresh
	"$split" -n 2 -r "$1" -w "$directory/x" 2>"$tmp/err" &
	process=$!
	wait_while $process is_confined
}
is_confined() {
	reader=$(cat "/proc/$process/task/$process/children" 2>/dev/null)
	reader=${reader% }
	[ -n "$reader" ] && grep -q '^Seccomp:[[:space:]]*2' "/proc/$reader/status" 2>/dev/null
}
has_ended() {
	! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null
}
for signal in TERM KILL; do
	begin "$tmp/endless.pcap"
	kill -$signal $process
	wait $process 2>/dev/null
	note "status $?: $(cat "$tmp/err")"
	check "SIG$signal: the process that reads the input ends with netobs-split, also as another user" wait_for has_ended "$reader"
	check "SIG$signal: before the end of the input" grep -q "stopped before the end of the input" "$tmp/err"
	is "SIG$signal: there is no file" "$(find "$directory" -name '*.pcapng' -o -name '*.json' | wc -l)" 0
done

# As nohup(1) starts it.  Both processes are stopped when the signal arrives: they have not read the input to the end.
stopped() {
	grep -q '^State:[[:space:]]*T' "/proc/$process/status" && grep -q '^State:[[:space:]]*T' "/proc/$reader/status"
}
head -c 24 "$file" >"$tmp/long.pcap"
trap '' HUP
for millions in 1 4 16 64; do
	truncate -s $((24 + 16 * 1000000 * millions)) "$tmp/long.pcap"
	begin "$tmp/long.pcap"
	kill -STOP "$process" "$reader"
	! wait_while "$process" stopped || break
	kill -CONT "$process" 2>/dev/null
	wait "$process"
done
check "SIGHUP arrives before the end of the input" kill -HUP "$process" "$reader"
kill -CONT "$process" "$reader"
wait "$process"
is "an ignored SIGHUP ends nothing" "$? $(find "$directory" -name '*.pcapng' | wc -l)" "0 2"
trap 'exit 99' HUP

# ------------------------------------------------------------------------------------------- what others have left

fresh
# shellcheck disable=SC2016
check "temporary files of a killed process with the same id" sh -c \
	': >"$2/x.json.$$.0.tmp"; : >"$2/x-0001-of-0002.pcapng.$$.0.tmp"; exec "$1" -n 2 -r "$3" -w "$2/x"' \
	sh "$split" "$directory" "$file"
is "they are left" "$(find "$directory" -name '*.tmp' | wc -l)" 2
is "all captures are there" "$(find "$directory" -name '*.pcapng' -o -name '*.json' | wc -l)" 3
fresh
# shellcheck disable=SC2016
check "SIGCHLD is ignored by the parent" timeout 120 python3 -c \
	'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \
	"$split" -n 2 -r "$file" -w "$directory/x"
tap_done
