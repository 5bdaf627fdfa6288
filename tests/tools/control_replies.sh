#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Replies of something else than netobsd, or that break off: netobsctl connections prints a reason, and nothing of them;
# netobs-connfs has names for what can have one.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$build/netobsctl" ] || skip_all "netobsctl is not built"
have python3 || skip_all "python3 is not installed"
pid=''
trap 'kill $pid 2>/dev/null; rm -rf "$tmp"' EXIT

# answers NAME REPLY OUTPUT [LOG WORD]: what netobsctl connections -o cid,state prints of a reply; LOG and WORD as for
# control_peer.py
answers() {
	rm -f "$tmp/control"
	python3 "$top/tests/tools/control_peer.py" "$tmp/control" "$2" ${4:+"$4" "$5"} &
	pid=$!
	wait_for test -S "$tmp/control"
	printed=$("$build/netobsctl" -s "$tmp/control" connections -o cid,state 2>&1 | paste -s -d ';')
	is "$1" "$printed" "$3"
	kill "$pid"
	wait "$pid" 2>/dev/null
	pid=''
}

answers "two connections" 'ok\n1\topen\n2\tclosed\n' "CID STATE;  1 open;  2 closed"
answers "none" 'ok\n' "CID STATE"
answers "a line breaks off" 'ok\n1\topen\n2\tclo' "netobsctl: the reply is incomplete: Protocol error"
answers "a value is missing" 'ok\n1\topen\n2\n' "netobsctl: the reply is incomplete: Protocol error"
answers "a value too many" 'ok\n1\topen\t5\n' "netobsctl: the reply is incomplete: Protocol error"
answers "control characters" 'ok\n1\t\x1b[31m\n' "netobsctl: the reply is incomplete: Protocol error"
answers "no reply" '' "netobsctl: no reply from netobsd"
answers "no reply in time" '' "netobsctl: no reply from netobsd within 10 seconds" "$tmp/requests" ''
answers "another program" 'HTTP/1.1 400 Bad Request\r\n' "netobsctl: the process listening there is not netobsd"
answers "an error with control characters" 'error \x1b[31m\n' 'netobsctl: \x1b[31m'

# row CID STATE ADDRESS: a line of the reply that netobs-connfs requests
row() {
	printf '%s\\ttcp\\t%s\\t-\\t%s\\t1\\t192.0.2.1\\t2\\t0\\t0\\t0\\t0\\t0\\t0\\t0\\t0\\t5\\tsh\\t0\\t1000\\n' "$1" "$2" "$3"
}

# names DIRECTORY: those of netobs-connfs
names() {
	ls "$tmp/connfs/$1" >"$tmp/names" 2>&1
	paste -s -d ' ' "$tmp/names"
}

if [ "$(id -u)" -eq 0 ] && [ -c /dev/fuse ] && [ -x "$build/netobs-connfs" ] && have fusermount3; then
	rm -f "$tmp/control"
	python3 "$top/tests/tools/control_peer.py" "$tmp/control" \
		"ok\\n$(row 7 .. 192.0.2.7)$(row 0 zero 0)$(row 7 .. 192.0.2.7)$(row 9x open ../..)$(row ../8 '' 192.0.2.9)" "$tmp/requests" &
	pid=$!
	wait_for test -S "$tmp/control"
	mkdir "$tmp/connfs"
	trap 'fusermount3 -u -z "$tmp/connfs"; kill $pid 2>/dev/null; rm -rf "$tmp"' EXIT
	"$build/netobs-connfs" -s "$tmp/control" "$tmp/connfs"
	is "connections: only numbers, each once" "$(names .)" "7 9 by-host by-pid by-port by-state"
	is "states: only names of files" "$(names by-state)" open
	is "addresses, too" "$(names by-host)" "192.0.2.1 192.0.2.7"
	check "a number that is no connection" [ ! -e "$tmp/connfs/12345" ]
	is "is requested alone" "$(sed -n '$s/.* //p' "$tmp/requests")" cid=12345
	is "no history of another program" "$(cat "$tmp/connfs/9/history" 2>&1)" "cat: $tmp/connfs/9/history: Input/output error"
	# A request for packets has no reply: other files are read meanwhile.
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm -f "$tmp/control" "$tmp/requests"
	python3 "$top/tests/tools/control_peer.py" "$tmp/control" "ok\\n$(row 9 open 192.0.2.9)" "$tmp/requests" write &
	pid=$!
	wait_for test -S "$tmp/control"
	cat "$tmp/connfs/9/history" >"$tmp/history.1" 2>&1 &
	reading=$!
	check "a slow file" wait_for grep -q '^write' "$tmp/requests"
	is "a file beside a slow one" "$(timeout 30 cat "$tmp/connfs/9/state")" "open -"
	is "and a directory" "$(timeout 30 ls "$tmp/connfs/by-state")" open
	# Four may be slow.
	for number in 2 3 4; do
		cat "$tmp/connfs/9/history" >"$tmp/history.$number" 2>&1 &
		reading="$reading $!"
	done
	requested() {
		[ "$(grep -c '^write' "$tmp/requests")" -ge 4 ]
	}
	check "four slow files" wait_for requested
	is "more than four" "$(timeout 30 cat "$tmp/connfs/9/capture.pcapng" 2>&1)" \
		"cat: $tmp/connfs/9/capture.pcapng: Device or resource busy"
	kill "$pid"
	# shellcheck disable=SC2086 # one word for each
	wait $reading
	is "the slow ones fail with their peer" "$(cat "$tmp/history."? | grep -c 'Input/output error$')" 4
	# A request for the list has no reply.
	wait "$pid" 2>/dev/null
	rm -f "$tmp/control" "$tmp/requests"
	python3 "$top/tests/tools/control_peer.py" "$tmp/control" "ok\\n" "$tmp/requests" connections &
	pid=$!
	wait_for test -S "$tmp/control"
	reading=''
	for number in 1 2 3 4 5 6; do
		ls "$tmp/connfs" >"$tmp/list$number" 2>&1 &
		reading="$reading $!"
	done
	# shellcheck disable=SC2086 # one word for each
	wait $reading
	is "each that waited for it fails" "$(cat "$tmp"/list? | grep -c 'Input/output error$')" 6
	check "without a request of its own" [ "$(grep -c '^connections' "$tmp/requests")" -lt 6 ]
else
	skip "netobs-connfs" "it is not built, this user is not root, or there is no /dev/fuse"
fi

tap_done
