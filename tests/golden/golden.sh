#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Golden replays: every line of tests/golden/LIST is replayed, and the output of netobsd must be tests/golden/NAME.out, byte
# for byte: standard output, then standard error, then the exit status.
#
#   golden.sh                  compare all cases, in TAP
#   golden.sh update NAME...   writes the expectation of these cases; of all without NAME (tests/golden/update runs this)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

list=$top/tests/golden/LIST

# replay FILE OPTION...: prints the transcript of one case, without the paths of the capture and of the program and without
# the line that depends on the kernel.
replay() {
	replay_file=$1
	shift
	"$netobsd" -r "$replay_file" "$@" >"$tmp/out" 2>"$tmp/err"
	replay_status=$?
	cat "$tmp/out"
	sed -e '/^probe-site /d' -e "s|$replay_file|CAPTURE|g" -e "s|^[^ ]*/netobsd: |netobsd: |" -e 's/^/stderr: /' "$tmp/err"
	echo "exit $replay_status"
}

# one_case NAME CAPTURE OPTIONS
one_case() {
	if ! file=$(capture "$2"); then
		if [ "$mode" = update ]; then
			echo "golden case $1 is left as it is: no $2 in tests/captures" >&2
		else
			echo "no $2 in tests/captures" >"$tmp/why"
			not_ok "$1" "$tmp/why"
		fi
		return
	fi
	# The options of a case are words of one line.
	# shellcheck disable=SC2086
	replay "$file" $3 >"$tmp/got"
	if [ "$mode" = update ]; then
		accept "$tmp/got" "$top/tests/golden/$1.out"
	elif [ ! -e "$top/tests/golden/$1.out" ]; then
		echo "no expectation yet: tests/golden/update $1" >"$tmp/why"
		not_ok "$1" "$tmp/why"
	elif diff -u "$top/tests/golden/$1.out" "$tmp/got" >"$tmp/diff"; then
		ok "$1"
	else
		not_ok "$1" "$tmp/diff"
	fi
}

mode=check
if [ "${1-}" = update ]; then
	mode=update
	shift
fi

known=' '
while read -r name file options; do
	case $name in
	'' | '#'*) continue ;;
	esac
	known="$known$name "
	if [ $# -eq 0 ]; then
		one_case "$name" "$file" "$options"
	else
		for wanted in "$@"; do
			[ "$wanted" != "$name" ] || one_case "$name" "$file" "$options"
		done
	fi
done <"$list"

if [ "$mode" = update ]; then
	for wanted in "$@"; do
		case $known in
		*" $wanted "*) ;;
		*)
			echo "no case $wanted in tests/golden/LIST" >&2
			exit 1
			;;
		esac
	done
	exit 0
fi

for out in "$top"/tests/golden/*.out; do
	name=$(basename "$out" .out)
	case $known in
	*" $name "*) ;;
	*) not_ok "$name.out belongs to no case of LIST" ;;
	esac
done
tap_done
