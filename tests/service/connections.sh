#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl connections -o: chosen fields against the sockets' own counts, order, limit, parsable lines, mistakes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

tcp='protostr == "TCP"' udp='protostr == "UDP"'

# list ARGUMENT...: of connections
list() {
	ctl connections "$@"
}

# mistake NAME PATTERN ARGUMENT...: the command fails with one line that matches
mistake() {
	mistake_name=$1 mistake_pattern=$2
	shift 2
	list "$@" >"$tmp/out" 2>"$tmp/err"
	is "$mistake_name: status" $? 1
	check "$mistake_name: message" grep -qE "^netobsctl: $mistake_pattern" "$tmp/err"
}

# Three connections to port 7001, whose clients send 9000, 200 and 1000 bytes and receive 10; one UDP stream.
start --all-owners --udp-idle=3600
begin_traffic
for bytes in 9000 200 1000; do
	traffic connect "$bytes" 7001
	traffic send "$bytes" "$bytes"
	traffic answer "$bytes" 10
done
traffic udp stream 7002 1 77

# seen: all bytes have been observed
seen() {
	[ "$(list -o server_bytes,client_bytes -P 'protostr == "TCP"' | tr ':' '\n' | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" = 10230 ] &&
		[ "$(list -o client_bytes -P 'protostr == "UDP"')" = 77 ]
}
wait_for seen || { list; exit 99; }

is "numbers descend" "$(list -o server_port,client_bytes,server_bytes,client_state -P --sort client_bytes "$tcp")" \
	"$(printf '7001:%s:10:established\n' 9000 1000 200)"
is "in reverse they ascend, also if the field is not shown" \
	"$(list -o server_port,server_bytes --sort -client_bytes -P --limit 2 "$tcp")" "$(printf '7001:%s\n' 10 10)"
is "the smallest comes first" "$(list -o client_bytes --sort -client_bytes -P --limit 1 "$tcp")" 200
is "a contract's name is the same field" "$(list --fields cr_client_bytes --sort cr_client_bytes -P "$tcp")" \
	"$(list -o client_bytes --sort client_bytes -P "$tcp")"
is "of the local end: both are" "$(list -o out_bytes,in_bytes,local --sort -out_bytes -P --limit 1 "$tcp")" 200:10:both
is "titles, numbers at the right" "$(list -o client_bytes,client_state --sort client_bytes "$tcp")" \
	"client_bytes client_state
        9000 established
        1000 established
         200 established"
is "an unknown text" "$(list -o client_state,server_port "$udp" | sed 1d | tr -s ' ')" "- 7002"
is "equal values are in the order of the end, as all are without --sort" "$(list -o cid --sort protostr -P "$tcp")" \
	"$(list -o cid -P "$tcp")"
is "UDP has bytes and no round trip" "$(list -o protostr,server_port,client_bytes,rtt_us,client_rto -P "$udp")" "UDP:7002:77:0:0"
is "role: the client has sent the SYN" "$(list -o role -P "$tcp" | sort -u)" seen
is "role: UDP has no SYN" "$(list -o role -P "$udp")" port
is "live values of both ends" "$(list -o client_snxt,client_suna,server_rack,client_iss,server_rto,server_cwnd -P "$tcp" |
	awk -F : '$1 == $2 && $1 == $3 && $1 != $4 && $5 >= 200 && $6 > 0' | wc -l)" 3
is "and an expression about them" "$(list -o cid -P "$tcp && client_snxt == server_rack && client_srtt_us < 1s && age_us > 0" | wc -l)" 3
is "in detail" "$(ctl connection "$(list -o cid -P --limit 1 "$tcp")" | grep -o 'local, [a-z ]*$' | paste -s -d ' ')" \
	"local, client local, server"
is "in detail, by the ports" "$(ctl connection "$(list -o cid -P "$udp")" | grep -c 'by the ports$')" 2
before=$(date +%s)
list -o start,end,age_us --json | tr -c '0-9\n' ' ' >"$tmp/times"
# shellcheck disable=SC2016
check "start, end and age" awk -v before="$before" -v after="$(date +%s)" '
	{ now = $1 / 1e9 + $3 / 1e6 }
	$2 < $1 || now < before - 1 || now > after + 1 { exit 1 }' "$tmp/times"
is "each connection has its own id" "$(list -o cid -P | sort -u | wc -l)" 4
cid=$(list -o cid -P "$udp")
check "it is that of connection CID" ctl connection "$cid"

is "without -o: the usual fields" \
	"$(list --sort client_bytes --limit 1 2>"$tmp/out" | sed -n '1s/  */ /gp') $(list --sort client_bytes --limit 1 2>"$tmp/out" | wc -l)" \
	"CID PROT CLIENT SERVER STATE AGE SENT RECVD RESENT RTT PROCESS 2"
is "-P, too: their fields" "$(list -P "$udp" | tr : '\n' | wc -l)" 16
is "and rates" "$(list -i 0.1 -c 1 "$udp" | wc -l)" 2
is "JSON of fields" "$(list --json -o rtt_us,protostr "$udp")" '{"cr_rtt_us":0,"cr_protostr":"UDP"}'
# same_rtt: whether JSON has the round-trip time of the table, unless an acknowledgement comes in between
same_rtt() {
	list --json -o server_port,server_state,client_bytes,client_srtt_us --sort client_bytes --limit 1 | tee "$tmp/json" |
		grep -qxF '{"cr_server_port":7001,"cr_server_state":"established","cr_client_bytes":9000,"cr_client_srtt_us":'"$(
			list -o client_srtt_us -P --sort client_bytes --limit 1)}"
}
check "JSON of fields: numbers and texts" wait_for same_rtt
is "and as rates" "$(list --json -o server_port,client_bytes -i 0.1 -c 2 "$udp" | paste -s -d ' ')" \
	'{"cr_server_port":7002,"cr_client_bytes":0} {"cr_server_port":7002,"cr_client_bytes":0}'

# Records are not kept here: their counts are unknown, and the fields of the flow are not.
is "an expression" "$(list -o client_bytes -P --sort client_bytes 'client_bytes > 500 && server_port == 7001')" \
	"$(printf '%s\n' 9000 1000)"
is "in several words" "$(list -o client_bytes -P "$tcp" '&&' client_bytes '<' 500)" 200
is "what records count is unknown" "$(list -o cid -P 'rtt_min_us >= 0 || answer_max_us >= 0')" ""
is "as JSON" "$(list --json 'client_bytes == 9000' | grep -c '^{"end":.*"cr_client_bytes":9000,.*"cr_server_sack_snxt":0}$')" 1
is "as the usual table" "$(list 'protostr == "UDP" && reason == "open"' | sed 1d | wc -l)" 1
mistake "a wrong expression" "column [1-9]: no field is called size" size == 3
mistake "a condition" '"state" is not an expression: write client_state == "established" [|]+ server_state == "established"$' state=established
mistake "another" '"port" is not an expression: write server_port == 80 [|]+ client_port == 80$' port 80

mistake "a wrong field" "connections have no field client_byte .did you mean client_bytes" -o client_byte
mistake "a name without its unit" 'connections have no field rtt .did you mean rtt_us[?].; netobsctl' -o rtt
mistake "a field to sort by" 'connections have no field rtt .did you mean rtt_us[?].; netobsctl' -o cid --sort -rtt
mistake "a title" 'connections have no field RTT .did you mean rtt_us[?].; netobsctl' -o RTT
mistake "no fields" "the name of a field is missing" -o ''
mistake "a wrong limit" "--limit: expected a number" -o cid --limit 0
mistake "JSON with colons" "-P makes lines with colons: give either -P or --json" -o cid -P --json
mistake "a wrong interval" "-i: expected a time from 100ms to 1d: seconds, or with a unit" -o cid -i 0
mistake "an interval in hexadecimal" "-i: expected a time from 100ms to 1d: seconds, or with a unit" -o cid -i 0x1
mistake "-c alone" "-c needs -i" -o cid -c 1
mistake "no operator" "column 1: no field is called size" -o cid "size 3"

list -o cid -P -i 0.1 >/dev/full 2>"$tmp/err"
is "an output that takes no bytes ends it" "$? $(cat "$tmp/err")" \
	"1 netobsctl: cannot write to standard output: No space left on device"
is "no connections: the titles" "$(list -o cid,client_state server_port == 9)" "cid client_state"
is "no connections: parsable" "$(list -o cid,client_state -P server_port == 9)" ""
is "no connections: rates" "$(list -o cid,in_bytes -i 0.1 -c 2 server_port == 9)" "$(printf 'cid in_bytes\n\ncid in_bytes')"

# The SYN of a connection to a listener whose queue is full has no answer.
traffic unanswered 7003
unanswered() {
	[ "$(list -o client_srtt_us -P 'client_state == "syn-sent"')" = 0 ]
}
check "no round trip was measured yet" wait_for unanswered
is "nor in its details" "$(ctl connection "$(list -o cid -P 'client_state == "syn-sent"')" |
	sed -n 's/^  round trip *\([^,]*\),.*/\1/p' | paste -s -d ' ')" "- -"
is "columns of a mistake count from the expression" "$(list 'xx > 1' 2>&1)" \
	"netobsctl: column 1: no field is called xx"
end_traffic
stop
tap_done
