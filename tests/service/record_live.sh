#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl record with netobsd and real traffic: one file for each connection for which a formula fires, with the frames of
# this connection and no other.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip tcpdump || skip_all "python3, ip or tcpdump is not installed"
ctl=$build/netobsctl space=netobs-record-$$ pid='' recorder=''
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap '[ -z "$pid$recorder" ] || kill -9 $pid $recorder 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up
mkdir "$tmp/files"
socket=$tmp/control

ctl() {
	"$ctl" -s "$socket" "$@"
}

# value NAME: of a counter, 0 if it is not listed
value() {
	ctl counters | awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }'
}

feeds() {
	[ "$(value feed.now)" -eq "$1" ]
}

has_files() {
	[ "$(find "$tmp/files" -name '[!.]*' -type f | wc -l)" -ge "$1" ]
}

ip netns exec "$space" "$netobsd" -i lo --control "$socket" --flight-memory 8M \
	--formula 'no-server = tcp-connect-refused where tcps_rport >= 7001 && tcps_rport <= 7003' \
	--formula 'server-closed = tcp-state-change where tcps_lport == 7020 && tcps_state == last-ack' >"$tmp/out" 2>"$tmp/netobsd.err" &
pid=$!
wait_while "$pid" ctl status || cat "$tmp/netobsd.err"
"$ctl" -s "$socket" record --on no-server -d "$tmp/files" --after 200ms >"$tmp/out" 2>"$tmp/err" &
recorder=$!
wait_while "$recorder" feeds 1 || cat "$tmp/err"

# Refused connections of the formula and others, and connections that carry data, all at the same time.
ip netns exec "$space" python3 -c '
import socket
server = socket.create_server(("127.0.0.1", 0))
clients = []
for port in (7001, 7010, 7002, 7011, 7003):
    client = socket.create_connection(server.getsockname())
    clients.append((client, server.accept()[0]))
    try:
        socket.create_connection(("127.0.0.1", port))
    except ConnectionRefusedError:
        pass
    for client, accepted in clients:
        client.sendall(b"x" * 1000)
        accepted.recv(1000)
'
check "files are written" wait_for has_files 3
kill "$recorder"
wait "$recorder"
is "SIGTERM: status" $? 0
recorder=
is "statistics" "$(sed 's/ with.*bytes//; s| of /[^,]*||' "$tmp/err")" "netobsctl: 3 triggers: 3 files, 0 merged, \
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
"$ctl" -s "$socket" record --on server-closed -d "$tmp/files" --after 0s --format pcap >"$tmp/out" 2>"$tmp/err" &
recorder=$!
wait_while "$recorder" feeds 1 || cat "$tmp/err"
ip netns exec "$space" python3 -c '
import socket
server = socket.create_server(("127.0.0.1", 7020))
client = socket.create_connection(server.getsockname())
accepted = server.accept()[0]
for i in range(20):
    client.sendall(b"x" * 100)
    accepted.recv(100)
client.close()
accepted.close()
'
check "the last state of a connection: a file" wait_for has_files 4
kill "$recorder"
wait "$recorder"
recorder=
file=$(find "$tmp/files" -name '*.pcap')
is "it has all data of the connection" \
	"$(tcpdump -nr "$file" 'dst port 7020 and tcp[tcpflags] & tcp-push != 0' 2>/dev/null | wc -l)" 20
is "and no other frame" "$(tcpdump -nr "$file" 'not port 7020' 2>/dev/null | wc -l)" 0

# netobsd ends.
"$ctl" -s "$socket" record --on no-server -d "$tmp/files" >"$tmp/out" 2>"$tmp/err" &
recorder=$!
wait_while "$recorder" feeds 1 || cat "$tmp/err"
kill "$pid"
wait "$pid"
pid=
wait "$recorder"
is "netobsd ends: status and message" "$?:$(tail -n 1 "$tmp/err")" "1:netobsctl: netobsd has ended"
recorder=

tap_done
