#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of the source tree with all outputs at once, from a pipe, so that the flight memory holds the frames: each
# output has the bytes that it has alone, from the file.
#
#	every_output.sh		every fourth capture, one of each four neighbours in the list
#	every_output.sh all	every capture (every_output_all.sh)
#	every_output.sh split [all]	does not compare, and divides each capture (every_output_sanitizers.sh)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
chmod 755 "$tmp" # netobsd that is started as root changes its user
mkdir "$tmp/all" "$tmp/one" "$tmp/split"

# run FOLDER PROGRAM OPTION...: adds to FOLDER/status, and makes FOLDER/printed if anything is printed.  Sanitizers write
# lines that do not begin with the name of the program.
run() {
	run_folder=$1
	shift
	"$@" >"$run_folder/out" 2>"$run_folder/err"
	run_status=$?
	echo "$run_status" >>"$run_folder/status"
	[ ! -s "$run_folder/out" ] || mv "$run_folder/out" "$run_folder/printed"
	{ [ "$run_status" -le 2 ] && ! grep -v "^${1##*/}: " "$run_folder/err"; } >>"$tmp/faults" ||
		echo "$file: status $run_status of $*" >>"$tmp/faults"
}

# replay FOLDER OPTION...: with three formulas
replay() {
	replay_folder=$1
	shift
	run "$replay_folder" "$netobsd" --formula 'reset = tcp-send where tcp_flags & RST' --formula 'large = ip-receive where ip_plength > 1000' \
		--formula 'long = connection-end where cr_client_segments > 10' "$@"
}

# at_once: all outputs of standard input
at_once() {
	replay "$tmp/all" -r - --format json --print --records="$tmp/all/records" --write reset="$tmp/all/reset" --write large="$tmp/all/large" \
		--write connection-end="$tmp/all/connection-end"
}

# alone: what is printed of $file, the records, and the captures, each in a run of its own
alone() {
	replay "$tmp/one" -r "$file" --format json --print
	replay "$tmp/one" -r "$file" --records="$tmp/one/records"
	replay "$tmp/one" -r "$file" --write reset="$tmp/one/reset" --write large="$tmp/one/large" \
		--write connection-end="$tmp/one/connection-end"
	sort -u -o "$tmp/one/status" "$tmp/one/status"
}

# same OUTPUT: whether it has the same bytes in both folders, or is in neither
same() {
	if [ -e "$tmp/one/$1" ]; then
		cmp "$tmp/all/$1" "$tmp/one/$1"
	else
		[ ! -e "$tmp/all/$1" ]
	fi
}

outputs="printed records reset large connection-end status"
for output in $outputs faults; do
	: >"$tmp/$output"
done
captures=0 replayed=0 divided=0
divide=
[ "${1-}" != split ] || { divide=yes && shift; }
step=4
[ "${1-}" != all ] || step=1
find "$top/tests/captures" -type f ! -name '*.md' | sort | awk -v step="$step" 'NR % step == 0' >"$tmp/list"
while read -r file; do
	rm -f "$tmp"/all/* "$tmp"/one/* "$tmp"/split/*
	# shellcheck disable=SC2002 # a pipe, which netobsd cannot read again
	cat "$file" | at_once
	captures=$((captures + 1))
	[ ! -e "$tmp/all/records" ] || replayed=$((replayed + 1))
	if [ -n "$divide" ]; then
		run "$tmp/one" "$build/netobs-split" -n 3 -w "$tmp/split/part" "$file"
		[ -z "$(ls "$tmp/split")" ] || divided=$((divided + 1))
		continue
	fi
	alone
	for output in $outputs; do
		same "$output" >>"$tmp/$output" 2>&1 || echo "$file" >>"$tmp/$output"
	done
done <"$tmp/list"

note "$replayed of $captures captures"
check "most captures are replayed" test "$((2 * replayed))" -gt "$captures"
is "no run crashes" "$(head -n 40 "$tmp/faults")" ""
if [ -n "$divide" ]; then
	note "$divided of $captures captures"
	check "most captures are divided" test "$((2 * divided))" -gt "$captures"
	tap_done
fi
for output in $outputs; do
	is "$output: as alone" "$(head -n 40 "$tmp/$output")" ""
done
tap_done
