#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl connections -o: chosen fields against the sockets' own counts, order, limit, parsable lines, mistakes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

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
	[ "$(list -o inbytes,outbytes -P proto tcp | tr ':' '\n' | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" = 10230 ] &&
		[ "$(list -o outbytes -P proto udp)" = 77 ]
}
wait_for seen || { list -o cid,proto,rport,inbytes,outbytes,state; exit 99; }

# Both ends are local: the client, which sent the first packet, is the local one.
is "numbers descend" "$(list -o rport,outbytes,inbytes,state -P --sort outbytes proto tcp)" \
	"$(printf '7001:%s:10:established\n' 9000 1000 200)"
is "in reverse they ascend, also if the field is not shown" \
	"$(list -o rport,inbytes --sort -outbytes -P --limit 2 proto tcp)" "$(printf '7001:%s\n' 10 10)"
is "the smallest comes first" "$(list -o outbytes --sort -outbytes -P --limit 1 proto tcp)" 200
is "a contract's name is the same field" "$(list -o tcps_snd_bytes --sort tcps_snd_bytes -P proto tcp)" \
	"$(list -o outbytes --sort outbytes -P proto tcp)"
is "titles, numbers at the right" "$(list -o outbytes,state --sort outbytes proto tcp)" \
	"OUTBYTES STATE
    9000 established
    1000 established
     200 established"
list -o mss,rport --sort rport >"$tmp/table"
is "unknown values of a column of numbers" "$(sed -n '1p;2p' "$tmp/table" | cut -c 1-5)" "$(printf '  MSS\n    -')"
is "equal values are in the order of the ids" "$(list -o cid --sort proto -P proto tcp)" \
	"$(list -o cid --sort -cid -P proto tcp)"
is "UDP has bytes and no round trip" "$(list -o proto,rport,outbytes,rtt -P proto udp)" "udp:7002:77:-"
is "opener: the local end has sent the SYN" "$(list -o opener -P proto tcp | sort -u)" local
is "UDP has no opener" "$(list -o opener -P proto udp)" -
is "the other end of the same connections" "$(list --json proto tcp | grep -c '"client":"near","role":"seen",')" 3
is "in detail" "$(ctl connection "$(list -o cid -P --limit 1 proto tcp)" | grep -o 'local, [a-z ]*$' | paste -s -d ' ')" \
	"local, client local, server"
is "in detail, by the ports" "$(ctl connection "$(list -o cid -P proto udp)" | grep -c 'by the ports$')" 2
before=$(date +%s)
list -o start,last,age,tcps_start -P >"$tmp/times"
# shellcheck disable=SC2016
check "start, last and age" awk -F : -v before="$before" -v after="$(date +%s)" '
	{ now = $1 / 1e9 + $3 }
	$1 != $4 || $2 < $1 || now < before - 1 || now > after + 1 || $3 !~ /^[0-9]+[.][0-9]$/ { exit 1 }' "$tmp/times"
is "each connection has its own id" "$(list -o cid -P | sort -u | wc -l)" 4
cid=$(list -o cid -P proto udp)
check "it is that of connection CID" ctl connection "$cid"

is "without -o: the usual fields" \
	"$(list --sort outbytes --limit 1 | sed -n '1s/  */ /gp') $(list --sort outbytes --limit 1 | wc -l)" \
	"CID PROTO STATE LADDR LPORT RADDR RPORT INBYTES OUTBYTES RTT RETRANSSEGS COMM 2"
is "-P, too" "$(list -P proto udp | tr : '\n' | wc -l)" 12
is "and rates" "$(list -i 0.1 -c 1 proto udp | wc -l)" 2
is "JSON of fields: null" "$(list --json -o rtt,proto proto udp)" '{"rtt":null,"proto":"udp"}'
# same_rtt: whether JSON has the round-trip time of the table, unless an acknowledgement comes in between
same_rtt() {
	list --json -o rport,state,outbytes,rtt --sort outbytes --limit 1 | tee "$tmp/json" |
		grep -qxF '{"rport":7001,"state":"established","outbytes":9000,"rtt":'"$(list -o rtt -P --sort outbytes --limit 1)}"
}
check "JSON of fields: numbers and texts" wait_for same_rtt
is "and as rates" "$(list --json -o rport,outbytes -i 0.1 -c 2 proto udp | paste -s -d ' ')" \
	'{"rport":7002,"outbytes":0} {"rport":7002,"outbytes":0}'

# Records are not kept here: their counts are unknown, and the fields of the flow are not.
is "where: an expression" "$(list -o outbytes -P --sort outbytes where 'client_bytes > 500 && server_port == 7001')" \
	"$(printf '%s\n' 9000 1000)"
is "after a condition, in several words" "$(list -o outbytes -P proto tcp where client_bytes '<' 500)" 200
is "the word in a text" "$(list -o outbytes -P where 'client_comm == "where is it"')" ""
is "what records count is unknown" "$(list -o cid -P where 'rtt_min_us >= 0 || answer_max_us >= 0')" ""
is "as JSON" "$(list --json where 'client_bytes == 9000' | grep -c '"bytes":9000,')" 1
is "as the usual table" "$(list where 'protostr == "UDP" && reason == "open"' | sed 1d | wc -l)" 1
mistake "no expression" "where: the expression is empty" where
mistake "a wrong expression" "where: column [1-9]: no field is called size" where size == 3

mistake "a wrong field" "connections have no field \"outbyte\".*outbytes" -o outbyte
mistake "a name with a unit" 'connections have no field "rtt_us" .did you mean rtt[?].; netobsctl' -o rtt_us
mistake "a field to sort by" 'connections have no field "rtt_us" .did you mean rtt[?].; netobsctl' -o cid --sort -rtt_us
mistake "a title" 'connections have no field "RTT" .did you mean rtt[?].; netobsctl' -o RTT
mistake "an expression without where" \
	'an expression needs the word "where" in front: where client_bytes > 500$' 'client_bytes > 500'
mistake "no fields" "connections have no field \"\"" -o ''
mistake "a wrong limit" "--limit: expected a number" -o cid --limit 0
mistake "JSON without fields" "--json with --sort, --limit and -i needs -o FIELD" --sort cid --json
mistake "JSON with colons" "-P makes lines with colons: give either -P or --json" -o cid -P --json
mistake "a wrong interval" "-i: expected a time from 100ms to 1d: seconds, or with a unit" -o cid -i 0
mistake "an interval in hexadecimal" "-i: expected a time from 100ms to 1d: seconds, or with a unit" -o cid -i 0x1
mistake "-c alone" "-c needs -i" -o cid -c 1
mistake "a wrong condition" "unknown condition" -o cid "size 3"

list -o cid -P -i 0.1 >/dev/full 2>"$tmp/err"
is "an output that takes no bytes ends it" "$? $(cat "$tmp/err")" \
	"1 netobsctl: cannot write to standard output: No space left on device"
is "no connections: the titles" "$(list -o cid,state port 9)" "CID STATE"
is "no connections: parsable" "$(list -o cid,state -P port 9)" ""
is "no connections: rates" "$(list -o cid,inbytes -i 0.1 -c 2 port 9)" "$(printf 'CID INBYTES\n\nCID INBYTES')"

# The SYN of a connection to a listener whose queue is full has no answer.
traffic unanswered 7003
unanswered() {
	[ "$(list -o rtt -P state syn-sent)" = - ]
}
check "no round trip was measured yet" wait_for unanswered
is "nor in its details" "$(ctl connection "$(list -o cid -P state syn-sent)" |
	sed -n 's/^  round trip *\([^,]*\),.*/\1/p' | paste -s -d ' ')" "- -"
is "columns of a mistake count from the expression" "$(list where 'xx > 1' 2>&1)" \
	"netobsctl: where: column 1: no field is called xx"
end_traffic
stop
tap_done
