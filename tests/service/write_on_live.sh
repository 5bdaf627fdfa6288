#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl write --on with netobsd and real traffic: one file for each connection for which a formula fires, with the frames of
# this connection and no other.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

have tcpdump || skip_all "tcpdump is not installed"
mkdir "$tmp/files"

# write_on NAME ARGUMENT...: starts netobsctl write --on for the firings of this name, $write_on
write_on() {
	write_on_name=$1
	shift
	wait_for reached feed.now 0 # netobsd may not have noticed the end of the last one
	"$ctl" -s "$socket" write --on "$write_on_name" --dir "$tmp/files" "$@" 2>"$tmp/write.err" &
	write_on=$!
	wait_while "$write_on" reached feed.now 1 || cat "$tmp/write.err"
}

has_files() {
	[ "$(find "$tmp/files" -name '[!.]*' -type f | wc -l)" -ge "$1" ]
}

start --flight-memory 8M --formula 'no-server = tcp-connect-refused where tcps_rport >= 7001 && tcps_rport <= 7003' \
	--formula 'server-closed = tcp-state-change where tcps_lport == 7020 && tcps_state == last-ack'
begin_traffic
write_on no-server --after 200ms

# Refused connections of the formula and others, and connections that carry data, all at the same time.
clients=''
for port in 7001 7010 7002 7011 7003; do
	traffic connect "$port" 7020
	clients="$clients $port"
	traffic refused "$port"
	for client in $clients; do
		traffic send "$client" 1000
	done
done
check "files are written" wait_for has_files 3
kill "$write_on"
wait "$write_on"
is "SIGTERM: status" $? 0
is "statistics" "$(sed 's/ with.*bytes//; s| of /[^,]*||' "$tmp/write.err")" "netobsctl: 3 triggers: 3 files, 0 merged, \
0 over a limit, 0 over the rate, 0 over the queue, 0 without connection, 0 failed, 0 waiting; 0 lines of netobsd lost"
for port in 7001 7002 7003; do
	frames=''
	for file in "$tmp/files/"*-no-server-*.pcapng; do
		tcpdump -nr "$file" 2>/dev/null | sed 's/.*Flags \(\[[^]]*\]\).*/\1/' >"$tmp/flags"
		! tcpdump -nr "$file" "port $port" 2>/dev/null | grep -q . ||
			frames="$frames$(tr '\n' ' ' <"$tmp/flags")$(tcpdump -nr "$file" "not port $port" 2>/dev/null | wc -l)"
	done
	is "port $port: one file with the SYN and the RST of this connection, and nothing else" "$frames" "[S] [R.] 0"
done

# The whole connection, also what came long before the firing.
write_on server-closed --after 0s --format pcap
traffic connect whole 7020
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	traffic send whole 100
done
traffic close whole
check "the last state of a connection: a file" wait_for has_files 4
kill "$write_on"
wait "$write_on"
file=$(find "$tmp/files" -name '*.pcap')
is "it has all data of the connection" \
	"$(tcpdump -nr "$file" 'dst port 7020 and tcp[tcpflags] & tcp-push != 0' 2>/dev/null | wc -l)" 20
is "and no other frame" "$(tcpdump -nr "$file" 'not port 7020' 2>/dev/null | wc -l)" 0

# Under the system-call filter of the unit.
unit=$build/conf/netobs-write@.service filtered=$tmp/filtered
if ! have systemd-analyze || ! python3 -c 'import ctypes; ctypes.CDLL("libseccomp.so.2")' 2>/dev/null; then
	skip "under the unit's filter" "systemd or libseccomp is not installed"
elif "$netobsd" --version | grep -q '^instrumented'; then
	skip "under the unit's filter" "sanitizers and gcov make other calls"
else
	mkdir "$filtered"
	wait_for reached feed.now 0
	python3 "$top/tests/service/unit_filter.py" "$unit" "$ctl" -s "$socket" write --on no-server --dir "$filtered" --after 0s \
		2>"$tmp/write.err" &
	write_on=$!
	wait_while "$write_on" reached feed.now 1 || cat "$tmp/write.err"
	traffic refused 7001
	# written: whether there is a file
	written() {
		[ -n "$(find "$filtered" -name '[!.]*' -type f)" ]
	}
	check "under the unit's filter: a file is written" wait_for written
	kill "$write_on"
	wait "$write_on"
	is "under the unit's filter: status and statistics" \
		"$?:$(wc -l <"$tmp/write.err"):$(grep -c ' 0 failed' "$tmp/write.err")" 0:1:1
fi

# netobsd ends.
write_on no-server
stop
wait "$write_on"
is "netobsd ends: status and message" "$?:$(tail -n 1 "$tmp/write.err")" "1:netobsctl: netobsd has ended"

end_traffic
tap_done
