#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The processes of connections in the replies of a running netobsd, and who may see them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

client=$top/tests/service/control_client.py

# listed PORT: whether the connection is listed
listed() {
	[ "$(ctl connections --json "client_state == \"established\" && server_port == $1" | wc -l)" -eq 1 ]
}

# kept: whether the flight memory has frames
kept() {
	ctl status | grep -qE "^flight +8 MiB, [0-9.]+ s, [1-9][0-9]* frames$"
}

# settled CID: whether the reply does not wait for the processes any more; it waits a second at most
settled() {
	ctl connection "$1" >"$tmp/connection" && ! grep -q 'not found in time$' "$tmp/connection"
}

# own PORT: a process of root with both ends of a connection; sets $owner, $cid
own() {
	rm -f "$tmp/ready" "$tmp/hold"
	mkfifo "$tmp/hold"
	ip netns exec "$space" python3 "$client" own "$1" 'a "b' "$tmp/ready" <"$tmp/hold" &
	owning=$!
	exec 5>"$tmp/hold"
	wait_for test -e "$tmp/ready"
	owner=$(cat "$tmp/ready")
	wait_for listed "$1"
	cid=$(ctl connections -P -o cid "server_port == $1")
	wait_for settled "$cid"
}

# let_go: the process ends
let_go() {
	exec 5>&-
	wait "$owning"
}

# owners PORT: the words for both ends
owners() {
	ctl connections -P -o client_owner,server_owner "server_port == $1" | tr ':' ' '
}

# closed CID: whether both ends have closed their sockets
closed() {
	[ "$(ctl connection "$1" | grep -c "^  process  *$owner .*, has closed the socket\$")" -eq 2 ]
}

start --all-owners --control-mode 666
own 7004
is "connections: processes, without a tracer" \
	"$(owners 7004):$(ctl connections server_port == 7004 | awk 'NR == 2 { print $(NF - 1), $NF }')" "process process:$owner/a \"b"
is "connection: the process of both local ends, without a tracer" \
	"$(grep '^  process' "$tmp/connection" | uniq -c | sed 's/^ *//')" "2   process        $owner (a \"b)"
is "connection: the process as JSON" \
	"$(ctl connection "$cid" --json | grep -o '"cr_client_pid":[^,]*\|"cr_server_comm":[^,]*\|"cr_server_owner":[^,]*' | paste -s -d ' ')" \
	"\"cr_client_pid\":$owner \"cr_server_comm\":\"a \\\"b\" \"cr_server_owner\":\"process\""
is "connections: the process" "$(ctl connections server_port == 7004 | sed -n '2s/.* \([0-9]*\/\)/\1/p')" "$owner/a \"b"
is "connection: another user does not see the process" \
	"$(ctl_as 65533 connection "$cid" | grep -c '^  process  *unknown: the socket belongs to another user$')" 2
is "nor whose it is" "$(ctl_as 65533 connections -P -o client_uid,server_uid,client_owner server_port == 7004)" "-1:-1:private"
let_go
check "connection: the process that has closed the socket" wait_for closed "$cid"
stop
start
own 7005
is "connection: the process of another user" \
	"$(ctl connection "$cid" | grep -c '^  process  *unknown: netobsd may not examine .*; --all-owners permits it$')" 2
is "connection: the process of another user, as JSON" "$(ctl connection "$cid" --json | grep -o '"cr_pid":-1,.*"cr_comm":"","cr_client_owner":"hidden","cr_server_owner":"hidden"' | wc -l)" \
	1
is "whose user is known" "$(ctl connections -P -o client_uid,server_uid,client_pid,client_owner "server_port == 7005" 2>"$tmp/out")" \
	"0:0:-1:hidden"
is "connections: processes of other users" "$(ctl connections server_port == 7005 2>&1 >"$tmp/out")" \
	"netobsctl: processes of other users are hidden: netobsd --all-owners permits them"
is "as a table of fields" "$(ctl connections -o comm -P server_port == 7005 2>"$tmp/out" | sort -u)" -
let_go
stop
start --no-owners
own 7006
is "connection: processes are not looked up" "$(ctl connection "$cid" | grep -c '^  process  *unknown: .*--no-owners)$'):$(owners 7006)" \
	"2:off off"
let_go
stop
start --all-owners --workers 2 --flight-memory 8M
own 7007
is "connection: the process, with two workers" "$(ctl connection "$cid" | grep -c "^  process  *$owner (")" 2
check "status: the flight memory" wait_for kept
check "status: the flight memory, as JSON" eval 'ctl status --json | grep -q "\"flight_memory\":8388608,\"flight_span_us\":"'
check "the flight memory is logged" grep -qE "process lookups, [0-9]+ MiB for the flight memory$" "$tmp/err"
let_go
stop

# ------------------------------------------------------------------------------------------------ fields and expressions

# list ARGUMENT...: of connections
list() {
	ctl connections "$@"
}

# observed: whether all connections are listed; the request looks no process up
observed() {
	[ "$(list -o server_port,client_port -P | wc -l)" -eq 4 ]
}

# looked_up: whether the process of each is known; counts the requests, each of which waits for a second at most
looked_up() {
	requests=$((requests + 1))
	[ "$(list -o pid,comm,client_uid -P)" = "$(for _ in 1 2 3 4; do echo "$traffic:python3:0"; done)" ]
}

# looked_up_times ENDS: whether no request has looked an end up more than once
looked_up_times() {
	[ "$(value owner.requests)" -ge "$1" ] && [ "$(value owner.requests)" -le "$(($1 * requests))" ]
}

start --all-owners --udp-idle=3600
begin_traffic
for connection in first second third; do
	traffic connect "$connection" 7001
	traffic send "$connection" 100
done
traffic udp stream 7002
wait_for observed
is "no process is looked up for other fields" "$(value owner.requests)" 0
requests=0
check "the processes are looked up on request" wait_for looked_up
check "each once" looked_up_times 8
is "they are in the usual table" "$(list | sed 1d | awk '{ print $NF }' | sort -u)" "$traffic/python3"
# both_ends: whether JSON has the processes of both ends
both_ends() {
	[ "$(list --json 'protostr == "TCP"' | grep -o "\"cr_\(client\|server\)_pid\":$traffic," | wc -l)" -eq 6 ]
}
check "JSON: of both ends" wait_for both_ends
check "nor more than once" looked_up_times 8
is "JSON of fields: the process" "$(list --json -o rtt_us,comm 'protostr == "UDP"')" '{"cr_rtt_us":0,"cr_comm":"python3"}'
is "an expression about a process" "$(list -o cid -P client_pid == "$traffic")" "$(list -o cid -P)"

# A process chooses its name: control characters and markup reach no terminal.
mkfifo "$tmp/name"
ip netns exec "$space" python3 "$top/tests/service/hostile_name.py" 7009 <"$tmp/name" &
hostile=$!
exec 5>"$tmp/name"
hostile_seen() {
	[ "$(list -o comm -P "server_port == 7009")" = '\\x1b[31m<b>\\x07\\x09\:' ]
}
check "control characters of a name are escaped" wait_for hostile_seen
is "in the usual table, too" "$(list server_port == 7009 | sed -n '2s|.*/||p')" '\x1b[31m<b>\x07\x09:'
exec 5>&-
wait "$hostile"

# The name is one and the same text in every output: a byte that is not UTF-8, a quote, a backslash, ESC, UTF-8, and a change of
# direction.
ctl stream udp-send --fields=cs_comm >"$tmp/stream" 2>/dev/null &
ctl stream udp-send --fields=cs_comm --json >"$tmp/stream.json" 2>/dev/null & # they end with netobsd
ip netns exec "$space" python3 "$top/tests/service/hostile_name.py" 7010 '\xff"\\\x1b\xc3\xbc\xe2\x80\xae' <"$tmp/name" &
hostile=$!
exec 5>"$tmp/name"
json_name='"\u00ff\"\\\u001b'$(printf '\303\274')'\u202e"'
text_name='\xff"\\\x1b\xc3\xbc\xe2\x80\xae'
named() {
	[ "$(list -o comm --json server_port == 7010)" = "{\"cr_comm\":$json_name}" ]
}
check "a name in JSON of fields" wait_for named
is "in JSON" "$(list --json server_port == 7010 | grep -o '"cr_client_comm":"\([^"\]\|\\.\)*"')" "\"cr_client_comm\":$json_name"
# JSON has U+00FF for the byte that is not UTF-8, and the tables are made of JSON.
is "in the usual table of names" "$(list server_port == 7010 | sed -n '2s|^[^/]*/||p')" "\\xc3\\xbf${text_name#????}"
is "in a table of fields" "$(list -o comm server_port == 7010 | sed 1d)" "\\xc3\\xbf${text_name#????}"
# streamed FILE: whether a datagram of this process is in the stream; sends another one
streamed() {
	echo >&5
	grep -a -q ff "$1"
}
check "a name in a stream" wait_for streamed "$tmp/stream"
check "a name in a stream of JSON" wait_for streamed "$tmp/stream.json"
is "in lines of a stream" "$(grep -a ff "$tmp/stream" | sort -u)" "$text_name"
is "in JSON of a stream" "$(grep -a ff "$tmp/stream.json" | sort -u)" "{\"cs_comm\":$json_name}"
exec 5>&-
wait "$hostile"
stop

# Another netobsd, which knows no process: an expression about one looks it up, too.
start --all-owners --udp-idle=3600
for connection in first second third; do
	traffic send "$connection" 100
done
sending() {
	[ "$(list -o server_port -P 'protostr == "TCP" && client_comm == "python3"' | sort -u)" = 7001 ]
}
check "an expression about a process that is not known yet" wait_for sending
is "rates have the process from the first table on" "$(list -o comm -P -i 0.1 -c 1 'protostr == "TCP"' | sort -u)" python3
traffic brief 7012
brief_listed() {
	[ "$(list -o server_port -P server_port == 7012)" = 7012 ]
}
wait_for brief_listed
is "a socket that is closed has no process" "$(list -o pid -P server_port == 7012)" -1
end_traffic
both_closed() {
	[ "$(list -o client_state -P 'protostr == "TCP"' | grep -c established)" -eq 0 ]
}
wait_for both_closed
# A reply waits for lookups only, which are counted when they begin.
requests=$(value owner.requests)
list >"$tmp/list"
is "no reply waits for processes of connections that have ended" "$(grep -c closed "$tmp/list"):$(value owner.requests)" "3:$requests"
stop
tap_done
