#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files with traffic are for the user and the group; root writes nowhere where another user leads it, in a directory that
# every user can write; and a reader of standard output that goes away is not a failure.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
file=$top/tests/captures/questions.pcap

# written DIRECTORY: lets a replay write all of its files
written() {
	mkdir "$1"
	"$netobsd" -r "$file" --records="$1/records" --write "dns-query=$1/excerpt.pcapng" >/dev/null &&
		"$build/netobs-split" -n 2 -w "$1/split" "$file" >/dev/null
}

# modes DIRECTORY: each mode of a file there, and how many have it
modes() {
	find "$1" -type f -printf '%m\n' | sort | uniq -c | awk '{ print $2 " " $1 }'
}

written "$tmp/files"
is "records, excerpt, captures of netobs split and their list: for the user and the group" "$(modes "$tmp/files")" "640 5"
(umask 077 && written "$tmp/private")
is "a stricter umask stays" "$(modes "$tmp/private")" "600 5"

kind="symbolic link"
# refused NAME PROGRAM ARGUMENT...: the message names the link, or another $kind
refused() {
	refused_name=$1
	shift
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err"
	is "$refused_name: status" $? 1
	check "$refused_name: message" grep -q "is a $kind of user 65534 in a directory that every user can write; \
remove it, or use another directory" "$tmp/err"
	is "$refused_name: nothing is written" "$(find "$tmp/victim" -type f)" ""
}

if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 1777 "$tmp/shared"
	chmod 1777 "$tmp/shared"
	mkdir "$tmp/victim"
	ln -s ../victim/file "$tmp/shared/file"
	ln -s ../victim "$tmp/shared/directory"
	chown -h 65534 "$tmp/shared/file" "$tmp/shared/directory"
	refused "records of an interface" "$netobsd" -i lo --records="$tmp/shared/file"
	refused "records" "$netobsd" -r "$file" --records="$tmp/shared/directory/file"
	refused "an excerpt" "$netobsd" -r "$file" --write "dns-query=$tmp/shared/directory/file"
	refused "netobs split" "$build/netobs-split" -n 2 -w "$tmp/shared/directory/file" "$file"
	refused "netobsctl stream" "$build/netobsctl" stream --dir "$tmp/shared/directory"
	refused "a temporary file" env TMPDIR="$tmp/shared/directory" "$netobsd" -r "$file" --records
	refused "a temporary file of a report" env TMPDIR="$tmp/shared/directory" "$build/netobs-report" \
		-i lo --for 1s
	# A directory of another user, and in it a link to where root shall write.
	kind=directory
	mkdir "$tmp/shared/theirs"
	ln -s ../../victim/file "$tmp/shared/theirs/rec.json"
	chown -h 65534 "$tmp/shared/theirs" "$tmp/shared/theirs/rec.json"
	refused "records of an interface, below a directory" "$netobsd" -i lo --all-owners --records="$tmp/shared/theirs/rec.json"
	refused "records, below a directory" "$netobsd" -r "$file" --records="$tmp/shared/theirs/new"
	refused "an excerpt, below a directory" "$netobsd" -r "$file" --write "dns-query=$tmp/shared/theirs/new"
	refused "netobs split, below a directory" "$build/netobs-split" -n 2 -w "$tmp/shared/theirs/new" "$file"
	refused "netobsctl stream, below a directory" "$build/netobsctl" stream --dir "$tmp/shared/theirs"
	kind="symbolic link"
	refused "--install-formulas" "$netobsd" --install-formulas "$tmp/shared/directory/formulas.so"
	chown -h 0 "$tmp/shared/directory"
	"$netobsd" -r "$file" --records="$tmp/shared/directory/file"
	check "a link of root leads on" [ -s "$tmp/victim/file" ]
	# What a replay writes takes the place of a link, whose ever it is.
	"$netobsd" -r "$file" --records="$tmp/shared/file"
	check "a link under the name itself is replaced" [ -f "$tmp/shared/file" -a ! -L "$tmp/shared/file" ]
else
	skip "links of other users" "they need root"
fi

# A path that is too long leads nowhere else: its first 4096 bytes are another directory.
mkdir "$tmp/cut"
long=$tmp/cut$(head -c 4200 /dev/zero | tr '\0' /)none/file
# too_long COMMAND...
too_long() {
	"$@" -r "$file" >"$tmp/out" 2>"$tmp/err"
	is "a path that is too long: status: ${1##*/}" $? 1
	check "a path that is too long: message: ${1##*/}" grep -q "^${1##*/}: cannot [cw]r" "$tmp/err"
	is "a path that is too long: nothing is written: ${1##*/}" "$(find "$tmp/cut" -type f)" ""
}
too_long "$netobsd" --records="$long"
too_long "$build/netobs-split" -n 2 -w "$long"

# closed COMMAND...: the reader of its standard output goes away
closed() {
	rm -f "$tmp/status"
	{
		"$@" 2>"$tmp/err"
		echo $? >"$tmp/status"
	} | true
	wait_for test -s "$tmp/status"
	is "a closed pipe ends it quietly: ${1##*/} $2" "$(cat "$tmp/status" "$tmp/err")" 0
}
closed "$netobsd" --help
closed "$netobsd" --list-probes
closed "$build/netobs-report" "$file"
closed "$build/netobsctl" --help
closed "$build/netobsctl" --version
[ ! -x "$build/netobs-connfs" ] || closed "$build/netobs-connfs" --help
closed "$top/scripts/netobs" --help
closed "$top/scripts/netobs" --list
if have python3; then
	for command in connections formulas status; do
		# More than a pipe holds.
		python3 "$top/tests/tools/control_peer.py" "$tmp/peer.$command" 'ok\n' "$tmp/log" - "$(seq -f '{"line":%.0f}' 7000)
" &
		wait_for test -S "$tmp/peer.$command"
		closed "$build/netobsctl" -s "$tmp/peer.$command" "$command" --json
	done
else
	skip "replies whose reader goes away" "python3 is not installed"
fi

tap_done
