#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl connections --closed: which ended connections are kept and which of them are listed, as table, as fields and as
# JSON; owners for other users; mistakes; and that two workers fill one ring.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

closed() {
	ctl connections --closed "$@"
}

# connect NUMBER: connections to port 7001 that carry 1, 2, ... bytes, and then one that is refused by port 7002
connect() {
	for connect_number in $(seq "$1"); do
		traffic connect one 7001
		traffic send one "$connect_number"
		traffic close one
	done
	traffic refused 7002
}

# ended NUMBER: whether so many connections have ended
ended() {
	ctl status | grep -q "^ended  *$1,"
}

# values ARGUMENT...: the port of the server, its bytes and the reason of each connection
values() {
	closed "$@" -o server_port,client_bytes,reason 2>"$tmp/err" | sed 1d | tr -s ' ' | sed 's/^ //' | paste -s -d ';' -
}

start --closed-connections 3
begin_traffic
is "no connection has ended" "$(closed 1h | wc -l)" 1
connect 2
wait_for ended 3
is "the connections that have ended" "$(values 1h)" "7001 1 fin;7001 2 fin;7002 0 refused"
is "the table" "$(closed 1h | awk '{ print $3, $5, $6, $11 }' | sed 's/:[1-9][0-9]*//' | paste -s -d ';' -)" \
	"PROT SERVER SENT REASON;TCP 127.0.0.1 1 fin;TCP 127.0.0.1 2 fin;TCP 127.0.0.1 0 refused"
is "an expression of formulas" "$(values 1h 'reason == "refused" || client_bytes > 1')" "7001 2 fin;7002 0 refused"
is "without a time: all that are kept" "$(closed -o server_port,reason | sed 1d | tr -s ' ' | paste -s -d ';' -)" \
	" 7001 fin; 7001 fin; 7002 refused"
is "all, as a word" "$(closed all -o reason | wc -l) $(closed all 'reason == "refused"' -o reason | wc -l)" "4 2"
is "sorted" "$(closed --sort -client_bytes -o client_bytes | sed 1d | tr -s ' ' | paste -s -d ';' -)" " 0; 1; 2"
is "sorted, the largest ones first" "$(closed 1h --sort client_bytes -o client_bytes --limit 2 | tr -s ' ' | paste -s -d ';' -)" \
	"client_bytes; 2; 1"
is "the first ones of the ring" "$(closed --limit 1 --json -o client_bytes)" '{"cr_client_bytes":1}'
is "and there are more" "$(closed 1h --limit 2 2>&1 >"$tmp/out")" "netobsctl: there are more: --limit"
is "as many as there are" "$(closed --limit 3 -o client_bytes | wc -l)" 4
is "and with an expression" "$(closed 'reason == "refused"' | sed 1d | awk '{ print $11 }')" refused
is "a field of open connections" "$(ctl connections --closed 'rtt_us > 3' 2>&1 | grep known)" \
	"netobsctl: rtt_us is known of open connections only: it is 0 or empty here"
is "the time after =" "$(ctl connections --closed=1h 'server_port == 7002' | sed 1d | wc -l)" 1
is "in several words" "$(values 1h server_port == 7002)" "7002 0 refused"
is "JSON" "$(closed 1h --json | python3 -c 'import json, sys; print([json.loads(line)["cr_reason"] for line in sys.stdin])')" \
	"['fin', 'fin', 'refused']"
connect 2
wait_for ended 6
is "the last ones are kept, and the list says so" "$(values 1h; cat "$tmp/err")" \
	"7001 1 fin;7001 2 fin;7002 0 refused
netobsctl: earlier ones are overwritten: netobsd keeps 3, see --closed-connections"
is "counters" "$(ctl counters | grep '^closed\.' | tr -s ' ' | paste -s -d ';' -)" \
	"closed.now 3;closed.overwritten 3"
is "JSON has lines of connections only" "$(closed 1h --json 2>"$tmp/err" | grep -c -v '^{.*"cr_reason":.*}$')" 0
is "and the message is on standard error" "$(cat "$tmp/err")" \
	"netobsctl: earlier ones are overwritten: netobsd keeps 3, see --closed-connections"
# Nothing is older than a millisecond after it: a connection is in the list of 1 ms only at once.
older() {
	[ "$(closed 1ms | wc -l)" -eq 1 ]
}
check "older ones are not in the list" wait_for older

# refuses NAME MESSAGE ARGUMENT...
refuses() {
	refuses_name=$1 refuses_message=$2
	shift 2
	ctl "$@" >"$tmp/out" 2>"$tmp/err"
	is "$refuses_name" "$? $(cat "$tmp/out" "$tmp/err")" "1 netobsctl: $refuses_message"
}

refuses "a time" '--closed: expected a time from 1ns to 36500d with a unit as in 500ms, 90s, 5m, 1h, not: 10x' connections --closed 10x
refuses "a time with an option" '--closed: expected a time from 1ns to 36500d with a unit as in 500ms, 90s, 5m, 1h, not: 10m --limit=1' connections '--closed=10m --limit=1'
refuses "an empty time" '--closed: expected a time from 1ns to 36500d with a unit as in 500ms, 90s, 5m, 1h, not: ' connections --closed=
refuses "an expression" "column 1: no field is called nothing" connections --closed 1m nothing
refuses "a field" "connections have no field nothing; netobsctl(8) and netobsd --list-probes list them" connections --closed 1m -o nothing
refuses "intervals" "-i and -c are for open connections, not for --closed" connections --closed 1m -i 1
refuses "a wrong order" "connections have no field nothing; netobsctl(8) and netobsd --list-probes list them" connections --closed --sort nothing
refuses "a wrong limit" "--limit: expected a number of connections from 1, not: x" connections --closed --limit x
refuses "a limit of 0" "--limit: expected a number of connections from 1, not: 0" connections --closed --limit 0
refuses "blanks" "connections have no field end x (did you mean end?); netobsctl(8) and netobsd --list-probes list them" \
	connections --closed --sort 'end x'
refuses "a condition" '"where" is not an expression: write reason == "fin"' connections --closed 'where reason == "fin"'
refuses "another command" "--closed, --limit, -c and -P are options of the command connections only" status --closed 1m
refuses "a line break" "the expression is too long or contains a line break" connections --closed 1m 'a
b'
stop

start
refuses "a netobsd that keeps no records" \
	"netobsd keeps no connections that have ended: start it with --closed-connections=NUMBER" connections --closed 1h
stop

start --closed-connections=1000 --workers=2 --records="$tmp/records"
connect 40
wait_for ended 41
is "the least of many, sorted" "$(closed --sort -start --limit 3 --json -o start)" \
	"$(closed --json -o start | sort -r | head -n 3)"
is "all of many, sorted" "$(closed --sort start --json -o start)" "$(closed --json -o start | sort)"
is "those of two workers" "$(closed 1h --json | grep -c '"cr_reason":"fin"')" 40
stop
is "and the output of records is complete" "$(grep -c . "$tmp/records")" 41

# Owners: of the user who asks only, if every user may connect to the socket.
start --closed-connections=10 --all-owners --control-mode=0666
# owned: whether the processes of both ends of the open connection are known; the request looks them up
owned() {
	[ "$(ctl connections --json server_port == 7001 | grep -o '"cr_\(client\|server\)_comm":"python3"' | wc -l)" -eq 2 ]
}
traffic connect open 7001
wait_for owned
traffic close open
wait_for ended 1
is "root sees processes" "$(closed 1h -o client_comm,reason | sed 1d | tr -s ' ')" "python3 fin"
is "another user does not" \
	"$(ctl_as 65533 connections --closed 1h -o client_pid,client_comm,reason | sed 1d | tr -s ' ')" " -1 - fin"
stop
end_traffic

tap_done
