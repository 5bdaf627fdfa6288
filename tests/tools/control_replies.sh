#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Replies of something else than netobsd, or that break off: netobsctl connections prints a reason, and nothing of them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$build/netobsctl"
have python3 || skip_all "python3 is not installed"

# peer SOCKET REPLY [LOG WORD]: starts another program on this socket, see control_peer.py
peer() {
	python3 "$top/tests/tools/control_peer.py" "$@" &
	wait_for test -S "$1"
}

# requests SOCKET: what netobsctl connections -o cid,state prints, on one line
requests() {
	"$build/netobsctl" -s "$1" connections -o cid,state 2>&1 | paste -s -d ';'
}

# answers NAME REPLY OUTPUT: what is printed of a reply
answers() {
	peer "$tmp/control.$tap_count" "$2"
	is "$1" "$(requests "$tmp/control.$tap_count")" "$3"
}

# The longest wait, beside all others.
peer "$tmp/silent" '' "$tmp/log" ''
requests "$tmp/silent" >"$tmp/in.time" &
silent=$!
answers "two connections" 'ok\n1\topen\n2\tclosed\n' "CID STATE;  1 open;  2 closed"
answers "none" 'ok\n' "CID STATE"
answers "a line breaks off" 'ok\n1\topen\n2\tclo' "netobsctl: the reply is incomplete: Protocol error"
answers "a value is missing" 'ok\n1\topen\n2\n' "netobsctl: the reply is incomplete: Protocol error"
answers "a value too many" 'ok\n1\topen\t5\n' "netobsctl: the reply is incomplete: Protocol error"
answers "control characters" 'ok\n1\t\x1b[31m\n' "netobsctl: the reply is incomplete: Protocol error"
answers "no reply" '' "netobsctl: no reply from netobsd"
answers "another program" 'HTTP/1.1 400 Bad Request\r\n' "netobsctl: the process listening there is not netobsd"
answers "an error with control characters" 'error \x1b[31m\n' 'netobsctl: \x1b[31m'
wait "$silent"
is "no reply in time" "$(cat "$tmp/in.time")" "netobsctl: no reply from netobsd within 10 seconds"
tap_done
