#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl connections -o: chosen fields against the sockets' own counts, order, limit, parsable lines, rates, mistakes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip || skip_all "python3 or ip is not installed"
space=netobs-connections-$$ pid='' talk='' socket=$tmp/control
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap 'kill -9 $pid $talk 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up

ctl() {
	"$build/netobsctl" -s "$socket" connections "$@"
}

# mistake NAME PATTERN ARGUMENT...: the command fails with one line that matches
mistake() {
	mistake_name=$1 mistake_pattern=$2
	shift 2
	ctl "$@" >"$tmp/out" 2>"$tmp/err"
	is "$mistake_name: status" $? 1
	check "$mistake_name: message" grep -qE "^netobsctl: $mistake_pattern" "$tmp/err"
}

ip netns exec "$space" "$netobsd" -i lo --all-owners --control "$socket" >"$tmp/log" 2>&1 &
pid=$!
wait_for "$build/netobsctl" -s "$socket" status

# Three connections to port 7001, whose clients send 9000, 200 and 1000 bytes and receive 10; one UDP stream.
ip netns exec "$space" python3 - "$tmp/ready" <<'PYTHON' &
import os, socket, sys, time

listener = socket.create_server(("127.0.0.1", 7001))
held = []
for size in (9000, 200, 1000):
    client = socket.create_connection(("127.0.0.1", 7001))
    server = listener.accept()[0]
    client.sendall(bytes(size))
    while size:
        size -= len(server.recv(size))
    server.sendall(bytes(10))
    client.recv(10)
    held += [client, server]
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.sendto(bytes(77), ("127.0.0.1", 7002))
open(sys.argv[1], "w").close()
end = time.monotonic() + 120
while time.monotonic() < end:
    if os.path.exists(sys.argv[1] + ".send"): # about 100,000 bytes a second on the second connection
        held[2].sendall(bytes(10000))
        held[3].recv(10000)
    time.sleep(0.1) # no event: the pace of the sender
PYTHON
talk=$!
wait_for test -e "$tmp/ready"
mkfifo "$tmp/hold"

# seen: all bytes have been observed
seen() {
	[ "$(ctl -o inbytes,outbytes -P proto tcp | tr ':' '\n' | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" = 10230 ] &&
		[ "$(ctl -o outbytes -P proto udp)" = 77 ]
}
wait_for seen || { ctl -o cid,proto,rport,inbytes,outbytes,state; exit 99; }

# The first request for processes: no tracer and no recorder has asked before, and no other field does.
is "no process is looked up for other fields" "$("$build/netobsctl" -s "$socket" counters | grep -c '^owner.requests .* [1-9]')" 0
is "the processes are looked up on request" "$(ctl -o pid,comm,uid -P)" "$(for _ in 1 2 3 4; do echo "$talk:python3:0"; done)"
is "each once" "$("$build/netobsctl" -s "$socket" counters | awk '$1 == "owner.requests" { print $2 }')" 4
is "they are in the usual table" "$(ctl | sed 1d | awk '{ print $NF }' | sort -u)" "$talk/python3"
is "JSON: of both ends" "$(ctl --json proto tcp | grep -o "\"pid\":$talk,\"comm\":\"python3\"" | wc -l)" 6
is "nor more than once" "$("$build/netobsctl" -s "$socket" counters | awk '$1 == "owner.requests" { print $2 }')" 7

# Both ends are local: the client, which sent the first packet, is the local one.
is "numbers descend" "$(ctl -o rport,outbytes,inbytes,state -P --sort outbytes proto tcp)" \
	"$(printf '7001:%s:10:established\n' 9000 1000 200)"
is "in reverse they ascend, also if the field is not shown" "$(ctl -o rport,inbytes --sort -outbytes -P --limit 2 proto tcp)" \
	"$(printf '7001:%s\n' 10 10)"
is "the smallest comes first" "$(ctl -o outbytes --sort -outbytes -P --limit 1 proto tcp)" 200
is "a contract's name is the same field" "$(ctl -o tcps_snd_bytes --sort tcps_snd_bytes -P proto tcp)" \
	"$(ctl -o outbytes --sort outbytes -P proto tcp)"
is "titles, numbers at the right" "$(ctl -o outbytes,state --sort outbytes proto tcp)" \
	"OUTBYTES STATE
    9000 established
    1000 established
     200 established"
ctl -o mss,rport --sort rport >"$tmp/table"
is "unknown values of a column of numbers" "$(sed -n '1p;2p' "$tmp/table" | cut -c 1-5)" "$(printf '  MSS\n    -')"
is "equal values are in the order of the ids" "$(ctl -o cid --sort proto -P proto tcp)" "$(ctl -o cid --sort -cid -P proto tcp)"
is "UDP has bytes and no round trip" "$(ctl -o proto,rport,outbytes,rtt -P proto udp)" "udp:7002:77:-"
is "opener: the local end has sent the SYN" "$(ctl -o opener -P proto tcp | sort -u)" local
is "opener: UDP has none" "$(ctl -o opener -P proto udp)" -
is "the other end of the same connections" "$(ctl --json proto tcp | grep -c '"client":"near","role":"seen",')" 3
is "in detail" "$("$build/netobsctl" -s "$socket" connection "$(ctl -o cid -P --limit 1 proto tcp)" | grep -o 'local, [a-z ]*$' | paste -s -d ' ')" \
	"local, client local, server"
is "in detail, by the ports" "$("$build/netobsctl" -s "$socket" connection "$(ctl -o cid -P proto udp)" | grep -c 'by the ports$')" 2
ctl -o start,last,age,tcps_start -P >"$tmp/times"
# shellcheck disable=SC2016
check "start, last and age" awk -F : -v now="$(date +%s)" '$1 != $4 || $2 < $1 || now - $1 / 1e9 - $3 > 5 || now - $1 / 1e9 - $3 < -5 || $3 !~ /^[0-9]+[.][0-9]$/ { exit 1 }' "$tmp/times"
is "each connection has its own id" "$(ctl -o cid -P | sort -u | wc -l)" 4
cid=$(ctl -o cid -P proto udp)
check "it is that of connection CID" "$build/netobsctl" -s "$socket" connection "$cid"

is "without -o: the usual fields" "$(ctl --sort outbytes --limit 1 | sed -n '1s/  */ /gp') $(ctl --sort outbytes --limit 1 | wc -l)" \
	"CID PROTO STATE LADDR LPORT RADDR RPORT INBYTES OUTBYTES RTT RETRANSSEGS COMM 2"
is "-P, too" "$(ctl -P proto udp | tr : '\n' | wc -l)" 12
is "and rates" "$(ctl -i 0.1 -c 1 proto udp | wc -l)" 2
is "JSON of fields: numbers, texts, null" "$(ctl --json -o rport,state,outbytes,rtt --sort outbytes --limit 1) $(ctl --json -o rtt,comm proto udp)" \
	'{"rport":7001,"state":"established","outbytes":9000,"rtt":'"$(ctl -o rtt -P --sort outbytes --limit 1)"'} {"rtt":null,"comm":"python3"}'
is "and as rates" "$(ctl --json -o rport,outbytes -i 0.1 -c 2 proto udp | paste -s -d ' ')" \
	'{"rport":7002,"outbytes":0} {"rport":7002,"outbytes":0}'

# Records are not kept here: their counts are unknown, and the fields of the flow are not.
is "where: an expression" "$(ctl -o outbytes -P --sort outbytes where 'client_bytes > 500 && server_port == 7001')" \
	"$(printf '%s\n' 9000 1000)"
is "behind a condition, in several words" "$(ctl -o outbytes -P proto tcp where client_bytes '<' 500)" 200
is "the word in a text" "$(ctl -o outbytes -P where 'client_comm == "where is it"')" ""
is "a process" "$(ctl -o cid -P where client_pid == "$talk")" "$(ctl -o cid -P)"
is "what records count is unknown" "$(ctl -o cid -P where 'rtt_min_us >= 0 || answer_max_us >= 0')" ""
is "as JSON" "$(ctl --json where 'client_bytes == 9000' | grep -c '"bytes":9000,')" 1
is "as the usual table" "$(ctl where 'protostr == "UDP" && reason == "open"' | sed 1d | wc -l)" 1
mistake "no expression" "where: the expression is empty" where
mistake "a wrong expression" "where: column [1-9]: no field is called size" where size == 3

touch "$tmp/ready.send"
ctl -o rport,outbytes,inbytes,outsegs,cid --sort outbytes -P -i 1 -c 2 proto tcp >"$tmp/rates"
is "rates: so many tables" "$(wc -l <"$tmp/rates")" 6
# The sender waits a tenth of a second between two segments, or more on a busy machine.
# shellcheck disable=SC2016
check "the bytes of an interval, per second" awk -F : 'NR == 4 { exit !($2 > 0 && $2 <= 130000) }' "$tmp/rates"
# shellcheck disable=SC2016
check "its segments, with a decimal place" awk -F : 'NR == 4 { exit !($4 ~ /^[0-9]+[.][0-9]$/ && $4 > 0) }' "$tmp/rates"
is "a connection that is idle" "$(awk -F : 'NR == 6 { print $1, $2, $3, $4 }' "$tmp/rates")" "7001 0 0 0.0"
is "connection ids are no rates" "$(awk -F : 'NR > 3 { print $5 }' "$tmp/rates" | sort)" "$(ctl -o cid -P proto tcp | sort)"
mistake "a wrong field" "connections have no field \"outbyte\".*outbytes" -o outbyte
mistake "a name with a unit" 'connections have no field "rtt_us" .did you mean rtt[?].; netobsctl' -o rtt_us
mistake "a field to sort by" 'connections have no field "rtt_us" .did you mean rtt[?].; netobsctl' -o cid --sort -rtt_us
mistake "a title" 'connections have no field "RTT" .did you mean rtt[?].; netobsctl' -o RTT
mistake "an expression without where" 'an expression needs the word "where" in front: where client_bytes > 500$' 'client_bytes > 500'
mistake "no fields" "connections have no field \"\"" -o ''
mistake "a wrong limit" "--limit: expected a number" -o cid --limit 0
mistake "JSON without fields" "--json with --sort, --limit and -i needs -o FIELD" --sort cid --json
mistake "JSON with colons" "-P makes lines with colons: give either -P or --json" -o cid -P --json
mistake "a wrong interval" "-i: expected seconds" -o cid -i 0
mistake "an interval in hexadecimal" "-i: expected seconds" -o cid -i 0x1
mistake "-c alone" "-c needs -i" -o cid -c 1
mistake "a wrong condition" "unknown condition" -o cid "size 3"

# A process chooses its name: control characters and markup reach no terminal.
ip netns exec "$space" python3 "$top/tests/service/hostile_name.py" 7009 <"$tmp/hold" &
hostile=$!
exec 5>"$tmp/hold"
hostile_seen() {
	[ "$(ctl -o comm -P port 7009)" = '\\x1b[31m<b>\\x07\\x09\:' ]
}
check "control characters of a name are escaped" wait_for hostile_seen
is "in the usual table, too" "$(ctl port 7009 | sed -n '2s|.*/||p')" '\x1b[31m<b>\x07\x09:'
exec 5>&-
wait "$hostile"

# Another netobsd, which knows no process: an expression about one looks it up, too.
kill "$pid"
wait "$pid"
ip netns exec "$space" "$netobsd" -i lo --all-owners --control "$socket" >"$tmp/log" 2>&1 &
pid=$!
wait_for "$build/netobsctl" -s "$socket" status
ip netns exec "$space" python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 7002))'
sending() {
	[ "$(ctl -o rport -P proto tcp | wc -l)" -gt 0 ]
}
wait_for sending
is "an expression about a process that is not known yet" "$(ctl -o rport -P proto tcp where client_comm == '"python3"' | sort -u)" 7001
is "rates have the process from the first table on" "$(ctl -o comm -P -i 0.1 -c 1 proto tcp | sort -u)" python3
is "a socket that is closed has no process" "$(ctl -o pid -P proto udp)" -

# A netobsd that goes away and comes back during intervals.
ctl -o rport,outbytes -P -i 0.2 -c 2 proto tcp >"$tmp/rates" 2>"$tmp/err" &
printing=$!
wait_for test -s "$tmp/rates"
kill "$pid"
wait "$pid"
check "netobsd has gone away: a message" wait_for grep -q '^netobsctl: .*: no netobsd is listening there' "$tmp/err"
ip netns exec "$space" "$netobsd" -i lo --all-owners --control "$socket" >"$tmp/log" 2>&1 &
pid=$!
wait "$printing"
is "it is back: the tables that were asked for" "$? $(wc -l <"$tmp/rates")" "0 2"
is "one message" "$(wc -l <"$tmp/err")" 1
ctl -o cid -P -i 0.1 >/dev/full 2>"$tmp/err"
is "an output that takes no bytes ends it" "$? $(cat "$tmp/err")" "1 netobsctl: cannot write to standard output: No space left on device"
is "no connections: the titles" "$(ctl -o cid,state port 9)" "CID STATE"
is "no connections: parsable" "$(ctl -o cid,state -P port 9)" ""
is "no connections: rates" "$(ctl -o cid,inbytes -i 0.1 -c 2 port 9)" "$(printf 'CID INBYTES\n\nCID INBYTES')"
# The queue of a listener is full: the SYN of the second connection has no answer.
ip netns exec "$space" python3 -c '
import socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 7003))
listener.listen(0)
clients = [socket.socket() for _ in range(2)]
for client in clients:
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", 7003))
sys.stdin.read()' <"$tmp/hold" &
waiting=$!
exec 5>"$tmp/hold"
unanswered() {
	[ "$(ctl -o rtt -P state syn-sent)" = - ]
}
check "no round trip was measured yet" wait_for unanswered
is "nor in its details" "$("$build/netobsctl" -s "$socket" connection "$(ctl -o cid -P state syn-sent)" |
	sed -n 's/^  round trip *\([^,]*\),.*/\1/p' | paste -s -d ' ')" "- -"
is "columns of a mistake count from the expression" "$(ctl where 'xx > 1' 2>&1)" "netobsctl: where: column 1: no field is called xx"
exec 5>&-
wait "$waiting"
kill "$talk"
wait "$talk"
both_closed() {
	[ "$(ctl -o state -P proto tcp | grep -c established)" -eq 0 ]
}
wait_for both_closed
# A reply that waits takes a second.
check "no reply waits for processes of connections that have ended" \
	wait_for timeout 0.9 "$build/netobsctl" -s "$socket" connections
tap_done
