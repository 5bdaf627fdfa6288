#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The control socket with netobsctl, and the metrics: replies, requests and replies that are wrong.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

client=$top/tests/service/control_client.py

# listed COUNT EXPRESSION: whether it is true for COUNT connections
listed() {
	listed_count=$1
	shift
	[ "$(ctl connections --json "$@" | wc -l)" -eq "$listed_count" ]
}

# ---------------------------------------------------------------------------------------------------------- replies

start --metrics 127.0.0.1:9812 --print=tcp-state-change --udp-idle=3600 --time-wait=3600
begin_traffic
traffic connect whole 7001
traffic send whole 6
traffic close whole
traffic udp stream 7002
traffic ports stream 10001 10200
wait_for listed 1 'client_state == "time-wait" && server_port == 7001'
wait_for listed 201 'protostr == "UDP"'
ctl status >"$tmp/status"
"$ctl" -s "$socket" statsu >"$tmp/out" 2>&1
check "a misspelt command is answered with the nearest one" \
	grep -q '^netobsctl: unknown command (did you mean status?); commands are' "$tmp/out"
check "and with all, also those of netobsctl itself" grep -q ', connection, top, .*, write$' "$tmp/out"
check "status: version and pid" grep -q "^netobsd [0-9.]*, pid " "$tmp/status"
check "status: how to attach" grep -qE "usdt:/proc/[0-9]+/exe:netobs:tcp__state__change" "$tmp/status"
check "status: enabled probes" grep -qE "^probes +1 of [0-9]+ enabled" "$tmp/status"
is "status: no flight memory" "$(grep -c '^flight' "$tmp/status")" 0
check "status: inode" grep -q "inode $(stat -c %i "$netobsd")," "$tmp/status"
if have readelf; then
	check "status: build id" grep -q "$(readelf -n "$netobsd" | awk '/Build ID:/ { print $3 }')" "$tmp/status"
else
	skip "status: build id" "readelf is not installed"
fi
ctl connections 'server_port == 7001 && protostr == "TCP" && client == 127.0.0.1' >"$tmp/connections"
is "connections: a title and one line" "$(wc -l <"$tmp/connections")" 2
check "connections: the state time-wait is listed" grep -qE "time-wait" "$tmp/connections"
is "connections: by state" "$(ctl connections --json 'client_state == "time-wait" && server_port == 7001' | wc -l)" 1
is "connections: by a state without connections" "$(ctl connections --json 'client_state == "listen" && server_port == 7001' | wc -l)" 0
cid=$(ctl connections -P -o cid server_port == 7001)
check "connection: in detail" sh -c "'$ctl' -s '$socket' connection $cid | grep -q 'connection id  $cid,'"
check "probes: enabled and fired" sh -c "'$ctl' -s '$socket' probes | grep -qE '^tcp-state-change +1 +[1-9]'"
check "interfaces" sh -c "'$ctl' -s '$socket' interfaces | grep -qE '^lo +1 up '"
is "counters: as the summary" "$(ctl counters | awk '{ print $1 }' | head -n 3 | tr '\n' ' ')" "frames bytes packets "
for what in status connections "connection $cid" probes interfaces counters; do
	# shellcheck disable=SC2086
	ctl $what --json >"$tmp/json.${what%% *}"
done
check "JSON of each command" python3 "$client" json "$tmp"/json.*
ctl reload 2>"$tmp/message"
is "reload without a file" "$?:$(cat "$tmp/message")" "1:netobsctl: no configuration file was given (-c)"

# ------------------------------------------------------------------------------------------------------- bad requests

printf '%s\n' "" "nonsense" "status now" "connection 1" "connections --cid=x" "connections --cid=99999999999999999999" \
	"connections port 80" "connections port" "connections state dreaming" "connections client == localhost" \
	"connections --json" "connections --fields=colour" >"$tmp/requests"
python3 "$client" requests "$socket" <"$tmp/requests" >"$tmp/replies"
while IFS= read -r request && IFS= read -r reply <&3; do
	is "refused: \"$request\"" "$reply" "error : 1 line"
done <"$tmp/requests" 3<"$tmp/replies"
ctl connection 4000000000 2>"$tmp/message"
is "a connection that is not there" "$?:$(cat "$tmp/message")" "1:netobsctl: there is no connection 4000000000"
is "oversize" "$(head -c 100000 /dev/zero | tr '\0' a | python3 "$client" raw "$socket")" \
	"error the request is longer than 65536 bytes"
is "oversize, but for a filter" "$({ head -c 5000 /dev/zero | tr '\0' a && echo; } | python3 "$client" raw "$socket")" \
	"error the request is longer than 4096 bytes"
is "garbage" "$(printf '\377\1\2status\n' | python3 "$client" raw "$socket")" "error the request is not plain text"
is "many words" "$({ echo connections; yes a | head -n 100; } | paste -s -d " " | python3 "$client" raw "$socket")" \
	"error column 1: no field is called a"
python3 "$client" garbage "$socket"
check "after garbage: it answers" ctl status

# --------------------------------------------------------------------------------------------- another program listens

# hostile TEXT: what netobsctl prints for this reply
hostile() {
	rm -f "$tmp/run/hostile" "$tmp/ready"
	python3 "$client" reply "$tmp/run/hostile" "$tmp/ready" "$1" &
	hostile=$!
	wait_for test -e "$tmp/ready"
	"$ctl" -s "$tmp/run/hostile" status --json 2>&1
	wait "$hostile"
}

is "control characters of a reply" "$(hostile 'ok\n\x1b[31mred\u202e\ttab\n')" "$(printf '\\x1b[31mred\\xe2\\x80\\xae\ttab')"
is "control characters of an error" "$(hostile 'error \x1b]0;title\x07\u2066\n')" 'netobsctl: \x1b]0;title\x07\xe2\x81\xa6'

# ------------------------------------------------------------------------------------------------------------- metrics

inside python3 "$client" http 127.0.0.1 9812 "GET /metrics HTTP/1.1" >"$tmp/http"
check "metrics: status 200" grep -q "^HTTP/1.1 200 OK" "$tmp/http"
check "metrics: of format 0.0.4" grep -q "^Content-Type: text/plain; version=0.0.4" "$tmp/http"
tr -d '\r' <"$tmp/http" | sed '1,/^$/d' >"$tmp/metrics"
check "metrics: strict format" python3 "$client" metrics "$tmp/metrics"
is "metrics: the limit of connections" "$(awk '$1 == "netobs_connections_limit" { print $2 }' "$tmp/metrics")" 1000000
is "metrics: streams by state" \
	"$(awk '$1 ~ /^netobs_connections_by_state.*proto="udp"/ { print $2 }' "$tmp/metrics")" 201
check "metrics: enabled probes" grep -q '^netobs_probe_enabled{probe="tcp-state-change"} 1$' "$tmp/metrics"
is "metrics: a probe that is not enabled and has not fired" "$(grep -c 'probe="gld-send"' "$tmp/metrics")" 0
is "metrics: no series of SCTP without an association" "$(grep -c 'proto="sctp"' "$tmp/metrics")" 0
is "metrics: no anomaly that was not counted" "$(grep -c '^netobs_anomalies_total.* 0$' "$tmp/metrics")" 0
inside python3 "$client" statuses 127.0.0.1 9812 'GET /nothing HTTP/1.1' 'POST /metrics HTTP/1.1' 'status' \
	"GET /$(head -c 5000 /dev/zero | tr '\0' a) HTTP/1.1" >"$tmp/statuses"
is "metrics: no such page" "$(sed -n 1p "$tmp/statuses")" "HTTP/1.1 404 Not Found"
is "metrics: POST is rejected" "$(sed -n 2p "$tmp/statuses")" "HTTP/1.1 405 Method Not Allowed"
is "metrics: a request that is not HTTP" "$(sed -n 3p "$tmp/statuses")" "HTTP/1.1 400 Bad Request"
check "metrics: oversize" grep -q '^HTTP/1.1 431' "$tmp/statuses"
inside python3 "$client" fuzz 127.0.0.1 9812
inside python3 "$client" http 127.0.0.1 9812 "HEAD /metrics HTTP/1.0" >"$tmp/http"
is "metrics: after garbage; only the head" \
	"$(head -n 1 "$tmp/http" | tr -d '\r'):$(grep -c netobs_ "$tmp/http")" "HTTP/1.1 200 OK:0"

end_traffic
stop
is "netobsd has logged nothing at the end" "$(grep -v 'memory reserved' "$tmp/err")" ""

tap_done
