#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Replies of another program than netobsd, or no reply: netobs-connfs has names for what can have one, and other files
# are read meanwhile.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$build/netobs-connfs"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -c /dev/fuse ] || skip_all "there is no /dev/fuse"
have python3 fusermount3 || skip_all "python3 or fusermount3 is not installed"
at_end "fusermount3 -u -z '$tmp/connfs' 2>/dev/null"

# peer REPLY [WORD]: another program listens from now on; requests that begin with WORD have no reply
peer() {
	rm -f "$tmp/control" "$tmp/requests"
	python3 "$top/tests/tools/control_peer.py" "$tmp/control" "$1" "$tmp/requests" ${2:+"$2"} &
	pid=$!
	wait_for test -S "$tmp/control"
}

end_peer() {
	kill "$pid"
	wait "$pid" 2>/dev/null
}

# row CID STATE ADDRESS: a line of the reply that netobs-connfs requests
row() {
	printf '{"cr_cid":%s,"cr_protostr":"TCP","cr_local":"client","cr_client":"%s","cr_client_port":1' "$1" "$3"
	printf ',"cr_server":"192.0.2.1","cr_server_port":2,"cr_client_state":"%s","cr_server_state":"","cr_start":1000' "$2"
	for number in client_bytes server_bytes client_segments server_segments client_resent server_resent rtt_us client_rto \
		server_rto mss client_uid server_uid client_pid; do
		printf ',"cr_%s":0' "$number"
	done
	printf ',"cr_pid":5,"cr_comm":"sh"}\\n'
}

# names DIRECTORY: those of netobs-connfs
names() {
	ls "$tmp/connfs/$1" >"$tmp/names" 2>&1
	paste -s -d ' ' "$tmp/names"
}

peer "ok\\n$(row 7 .. 192.0.2.7)$(row 0 zero 0)$(row 7 .. 192.0.2.7)$(row 9 open ../..)$(row 18014398509481984 '' 192.0.2.9)"
mkdir "$tmp/connfs"
"$build/netobs-connfs" -s "$tmp/control" "$tmp/connfs"
is "connections: only numbers, each once" "$(names .)" "7 9 by-host by-pid by-port by-state"
is "states: only names of files" "$(names by-state)" open
is "addresses, too" "$(names by-host)" "192.0.2.1 192.0.2.7"
check "a number that is not that of a connection" [ ! -e "$tmp/connfs/12345" ]
is "is requested alone" "$(sed -n '$s/.*\(--cid=[0-9]*\) .*/\1/p' "$tmp/requests")" --cid=12345
is "no history of another program" "$(cat "$tmp/connfs/9/history" 2>&1)" "cat: $tmp/connfs/9/history: Input/output error"

# A request for packets has no reply: other files are read meanwhile.
end_peer
peer "ok\\n$(row 9 open 192.0.2.9)" write
cat "$tmp/connfs/9/history" >"$tmp/history.1" 2>&1 &
reading=$!
check "a slow file" wait_for grep -q '^write' "$tmp/requests"
is "a file beside a slow one" "$(timeout 60 cat "$tmp/connfs/9/state")" "open -"
is "and a directory" "$(timeout 60 ls "$tmp/connfs/by-state")" open
# Four may be slow.
for number in 2 3 4; do
	cat "$tmp/connfs/9/history" >"$tmp/history.$number" 2>&1 &
	reading="$reading $!"
done
requested() {
	[ "$(grep -c '^write' "$tmp/requests")" -ge 4 ]
}
check "four slow files" wait_for requested
is "more than four" "$(timeout 60 cat "$tmp/connfs/9/capture.pcapng" 2>&1)" \
	"cat: $tmp/connfs/9/capture.pcapng: Device or resource busy"
end_peer
# shellcheck disable=SC2086 # one word for each
wait $reading
is "the slow ones fail with their peer" "$(cat "$tmp/history."? | grep -c 'Input/output error$')" 4

# A request for the list has no reply.
peer "ok\\n" connections
reading=''
for number in 1 2 3 4 5 6; do
	ls "$tmp/connfs" >"$tmp/list$number" 2>&1 &
	reading="$reading $!"
done
# shellcheck disable=SC2086 # one word for each
wait $reading
is "each that waited for it fails" "$(cat "$tmp"/list? | grep -c 'Input/output error$')" 6
check "without a request of its own" [ "$(grep -c '^connections' "$tmp/requests")" -lt 6 ]
tap_done
