#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The control socket with netobsctl, and the metrics: the replies, the permissions, and that no client delays capture.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip || skip_all "python3 or ip is not installed"
ctl=$tmp/netobsctl client=$top/tests/service/control_client.py sockets=$top/tests/live/live_sockets.py
space=netobs-control-$$ pid=
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run"
cp -- "$build/netobsctl" "$ctl" && chmod 755 "$ctl" || exit 99 # other users may run it wherever this tree lies
socket=$tmp/run/control

inside() {
	ip netns exec "$space" "$@"
}

ctl() {
	"$ctl" -s "$socket" "$@"
}

# start ARGUMENT...: starts netobsd on lo and waits until it replies
start() {
	ip netns exec "$space" "$netobsd" -i lo --control "$socket" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for ctl status || cat "$tmp/err" >&2
}

stop() {
	kill -INT "$pid"
	wait "$pid"
	stop_status=$?
	pid=
	return $stop_status
}

# refused NAME PATTERN ARGUMENT...: netobsd does not start, with one line that matches
refused() {
	refused_name=$1 refused_pattern=$2
	shift 2
	inside timeout 60 "$netobsd" -i lo "$@" >"$tmp/out" 2>"$tmp/err"
	is "$refused_name: status" $? 1
	is "$refused_name: one line" "$(grep -c . "$tmp/err"):$(grep -cE "^netobsd: $refused_pattern" "$tmp/err")" 1:1
}

converse() {
	rm -f "$tmp/ready"
	inside python3 "$sockets" serve 127.0.0.1 "$1" "$tmp/ready" &
	server=$!
	wait_for test -e "$tmp/ready"
	inside python3 "$sockets" connect 127.0.0.1 "$1"
	wait "$server"
}

value() {
	ctl counters | awk -v name="$1" '$1 == name { print $2 }'
}

# The last frames may wait in the kernel for some milliseconds, and netobsd for a processor: the test waits for their
# effects.

# listed COUNT FILTER...: whether COUNT connections match the filter
listed() {
	listed_count=$1
	shift
	[ "$(ctl connections --json "$@" | wc -l)" -eq "$listed_count" ]
}

# more_than COUNT NAME: whether the counter is higher than COUNT
more_than() {
	[ "$(value "$2")" -gt "$1" ]
}

# recorded: whether the recorder has frames
recorded() {
	ctl status | grep -qE "^recorder +8 MiB, [0-9.]+ s, [1-9][0-9]* frames$"
}

# all_gone: whether netobsd has closed its end of every connection to the control socket, too
all_gone() {
	[ "$(inside grep -c " $socket\$" /proc/net/unix)" -eq 1 ]
}

descriptors() {
	wait_for all_gone
	find "/proc/$pid/fd" | wc -l
}

# ---------------------------------------------------------------------------------------------------------- replies

# With a buffer for all frames of this test, so that none is dropped while netobsd does not get a processor.
start --metrics 127.0.0.1:9812 --print=tcp-state-change -B 65536
converse 7001
wait_for listed 1 state=time-wait port 7001
ctl status >"$tmp/status"
"$ctl" -s "$socket" statsu >"$tmp/out" 2>&1
check "a misspelt command is answered with the nearest one" grep -q '^netobsctl: unknown command (did you mean status?); commands are' "$tmp/out"
check "and with all, also those of netobsctl itself" grep -q ', connection, top, .*, write, record$' "$tmp/out"
check "but no request that another command makes" [ "$(grep -c closed "$tmp/out")" -eq 0 ]
check "status: version and pid" grep -q "^netobsd [0-9.]*, pid " "$tmp/status"
check "status: how to attach" grep -qE "usdt:/proc/[0-9]+/exe:netobs:tcp__state__change" "$tmp/status"
check "status: enabled probes" grep -qE "^probes +1 of [0-9]+ enabled" "$tmp/status"
is "status: no recorder" "$(grep -c '^recorder' "$tmp/status")" 0
check "status: inode" grep -q "inode $(stat -c %i "$netobsd")," "$tmp/status"
if have readelf; then
	check "status: build id" grep -q "$(readelf -n "$netobsd" | awk '/Build ID:/ { print $3 }')" "$tmp/status"
else
	skip "status: build id" "readelf is not installed"
fi
ctl connections port 7001 proto=tcp host 127.0.0.1 >"$tmp/connections"
is "connections: a title and one line" "$(wc -l <"$tmp/connections")" 2
check "connections: the state time-wait is listed" grep -qE "time-wait" "$tmp/connections"
is "connections: by state" "$(ctl connections --json state=time-wait port 7001 | wc -l)" 1
is "connections: by a state without connections" "$(ctl connections --json state listen port 7001 | wc -l)" 0
cid=$(ctl connections --json port 7001 | sed 's/.*"near":{"cid":\([0-9]*\).*/\1/')
check "connection: in detail" sh -c "'$ctl' -s '$socket' connection $cid | grep -q 'connection id  $cid,'"
check "probes: enabled and fired" sh -c "'$ctl' -s '$socket' probes | grep -qE '^tcp-state-change +1 +[1-9]'"
check "interfaces" sh -c "'$ctl' -s '$socket' interfaces | grep -qE '^lo +1 up '"
is "counters: as the summary" "$(ctl counters | awk '{ print $1 }' | head -n 3 | tr '\n' ' ')" "frames bytes packets "
for what in status connections "connection $cid" probes interfaces counters; do
	# shellcheck disable=SC2086
	ctl $what --json >"$tmp/json"
	check "JSON: $what" python3 "$client" json "$tmp/json"
done
ctl reload 2>"$tmp/message"
is "reload without a file" "$?:$(cat "$tmp/message")" "1:netobsctl: no configuration file was given (-c)"

# ------------------------------------------------------------------------------------------------------- bad requests

for request in "" "nonsense" "status now" "connection" "connection x" "connection 99999999999999999999" \
	"connections port 65536" "connections port" "connections state dreaming" "connections host localhost" \
	"connections colour blue" "connections proto 6"; do
	# shellcheck disable=SC2086
	printf '%s\n' "$request" | python3 "$client" raw "$socket" >"$tmp/message"
	is "refused: \"$request\"" "$(head -c 6 "$tmp/message"):$(wc -l <"$tmp/message")" "error :1"
done
ctl connection 4000000000 2>"$tmp/message"
is "a connection that is not there" "$?:$(cat "$tmp/message")" "1:netobsctl: there is no connection 4000000000"
is "oversize" "$(head -c 100000 /dev/zero | tr '\0' a | python3 "$client" raw "$socket")" \
	"error the request is longer than 4096 bytes"
is "garbage" "$(printf '\377\1\2status\n' | python3 "$client" raw "$socket")" "error the request is not plain text"
is "many words" "$(python3 -c 'print("a " * 100)' | python3 "$client" raw "$socket")" "error the request has more than 16 words"
head -c 1000000 /dev/urandom | python3 "$client" raw "$socket" >/dev/null 2>&1
check "after garbage: it answers" ctl status

# --------------------------------------------------------------------------------------------------------- bad clients

before=$(value frames)
descriptors=$(descriptors)
python3 "$client" stall "$socket" 20 >"$tmp/stall" &
stalling=$!
wait_for grep -q ready "$tmp/stall"
check "stalled clients do not keep others out" ctl status
converse 7002
wait "$stalling"
check "stalled clients are disconnected" wait_for ctl status
check "stalled clients: capture continues" wait_for more_than "$((before + 8))" frames
is "stalled clients: no frame is dropped" "$(value capture.dropped)" 0
# A client that does not read a long reply.
inside python3 "$client" streams 20000
wait_for listed 20000 proto udp
ctl connections --json proto udp >"$tmp/streams"
is "many streams: each once" "$(wc -l <"$tmp/streams")" "$(sort -u "$tmp/streams" | wc -l)"
check "many streams: most are listed" test "$(wc -l <"$tmp/streams")" -gt 15000
python3 "$client" slow "$socket" &
slow=$!
converse 7003
check "a client that does not read: others get replies" ctl connections port 7003
wait "$slow"
is "a client that does not read is disconnected" $? 0
is "descriptors: none is left open" "$(descriptors)" "$descriptors"

# --------------------------------------------------------------------------------------------- another program listens

# hostile TEXT: what netobsctl prints for this reply
hostile() {
	rm -f "$tmp/run/hostile" "$tmp/ready"
	python3 "$client" reply "$tmp/run/hostile" "$tmp/ready" "$1" &
	hostile=$!
	wait_for test -e "$tmp/ready"
	"$ctl" -s "$tmp/run/hostile" status 2>&1
	wait "$hostile"
}

is "control characters of a reply" "$(hostile 'ok\n\x1b[31mred\u202e\ttab\n')" '\x1b[31mred\xe2\x80\xae\x09tab'
is "control characters of an error" "$(hostile 'error \x1b]0;title\x07\u2066\n')" 'netobsctl: \x1b]0;title\x07\xe2\x81\xa6'

# ------------------------------------------------------------------------------------------------------------- metrics

inside python3 "$client" http 127.0.0.1 9812 "GET /metrics HTTP/1.1" >"$tmp/http"
inside python3 "$client" stall-http 127.0.0.1 9812 40 >"$tmp/stall" &
stalling=$!
wait_for grep -q ready "$tmp/stall"
inside python3 "$client" http 127.0.0.1 9812 "GET /metrics HTTP/1.1" >"$tmp/stalled"
is "metrics: stalled clients do not keep others out" "$(head -n 1 "$tmp/stalled" | tr -d '\r')" "HTTP/1.1 200 OK"
wait "$stalling"
check "metrics: status 200" grep -q "^HTTP/1.1 200 OK" "$tmp/http"
check "metrics: of format 0.0.4" grep -q "^Content-Type: text/plain; version=0.0.4" "$tmp/http"
tr -d '\r' <"$tmp/http" | sed '1,/^$/d' >"$tmp/metrics"
check "metrics: strict format" python3 "$client" metrics "$tmp/metrics"
if have promtool; then
	check "metrics: promtool" sh -c "promtool check metrics <'$tmp/metrics'"
else
	skip "metrics: promtool" "promtool is not installed"
fi
is "metrics: the limit of connections" "$(awk '$1 == "netobs_connections_limit" { print $2 }' "$tmp/metrics")" 1000000
check "metrics: streams by state" test \
	"$(awk '$1 ~ /^netobs_connections_by_state.*proto="udp"/ { print $2 }' "$tmp/metrics")" -gt 15000
check "metrics: enabled probes" grep -q '^netobs_probe_enabled{probe="tcp-state-change"} 1$' "$tmp/metrics"
is "metrics: a probe that is not enabled and has not fired" "$(grep -c 'probe="gld-send"' "$tmp/metrics")" 0
is "metrics: no series of SCTP without an association" "$(grep -c 'proto="sctp"' "$tmp/metrics")" 0
is "metrics: no anomaly that was not counted" "$(grep -c '^netobs_anomalies_total.* 0$' "$tmp/metrics")" 0
is "metrics: no such page" "$(inside python3 "$client" http 127.0.0.1 9812 'GET /nothing HTTP/1.1' | head -n 1 | tr -d '\r')" \
	"HTTP/1.1 404 Not Found"
is "metrics: POST is rejected" "$(inside python3 "$client" http 127.0.0.1 9812 'POST /metrics HTTP/1.1' | head -n 1 | tr -d '\r')" \
	"HTTP/1.1 405 Method Not Allowed"
is "metrics: a request that is not HTTP" "$(inside python3 "$client" http 127.0.0.1 9812 'status' | head -n 1 | tr -d '\r')" \
	"HTTP/1.1 400 Bad Request"
inside python3 "$client" http 127.0.0.1 9812 "GET /$(head -c 5000 /dev/zero | tr '\0' a) HTTP/1.1" | head -n 1 >"$tmp/http"
check "metrics: oversize" grep -q "^HTTP/1.1 431" "$tmp/http"
inside python3 "$client" fuzz 127.0.0.1 9812
inside python3 "$client" http 127.0.0.1 9812 "HEAD /metrics HTTP/1.0" >"$tmp/http"
is "metrics: after garbage; only the head" "$(head -n 1 "$tmp/http" | tr -d '\r'):$(grep -c netobs_ "$tmp/http")" "HTTP/1.1 200 OK:0"

# ------------------------------------------------------------------------------------------- permissions and places

refused "an occupied socket" "the control socket .* is in use" --control "$socket"
refused "an occupied address" "cannot serve metrics at 127.0.0.1:9812: Address already in use" --metrics 127.0.0.1:9812
if have setpriv; then
	is "another user cannot connect" \
		"$(setpriv --reuid 65533 --regid 65533 --clear-groups "$ctl" -s "$socket" status 2>&1)" \
		"netobsctl: $socket: Permission denied: it belongs to user $(stat -c %U "$socket") and group $(stat -c %G "$socket") \
(mode 0660); run this command as root or as a user who may write to it"
else
	skip "another user cannot connect" "setpriv is not installed"
fi
kill -9 "$pid"
wait "$pid" 2>/dev/null
pid=
check "a socket left behind" test -S "$socket"
start --control-mode 666
check "a socket left behind is replaced" ctl status
is "its mode" "$(stat -c %a "$socket")" 666
if have setpriv; then
	other_user="setpriv --reuid 65533 --regid 65533 --clear-groups"
	# shellcheck disable=SC2086
	check "mode 666: every user gets replies" $other_user "$ctl" -s "$socket" status
	is "mode 666: another user cannot reload" \
		"$($other_user "$ctl" -s "$socket" reload 2>&1)" \
		"netobsctl: only root and the user that netobsd runs as may reload the configuration"
fi
stop
is "status at the end" $? 0

refused "no such group" "there is no group nosuchgroup for the control socket" --control "$socket" \
	--control-group nosuchgroup
refused "no such directory" "cannot create the control socket .*: No such file" --control "$tmp/nowhere/control"
mkdir "$tmp/foreign"
chown 65533 "$tmp/foreign"
refused "a directory of another user" "cannot create the control socket .* belongs to user 65533" --control "$tmp/foreign/control"
mkdir "$tmp/open"
chmod 777 "$tmp/open"
refused "a directory that every user can write" \
	"cannot create the control socket .*: $tmp/open is writable by every user \(mode 0777\); chmod o-w $tmp/open" \
	--control "$tmp/open/control"
mkdir -m 755 "$tmp/open/safe"
refused "a directory below one that every user can write" \
	"cannot create the metrics socket .*: $tmp/open is writable by every user" --metrics "unix:$tmp/open/safe/metrics"
: >"$tmp/run/file"
if have setpriv; then
	# A stale socket of another user that may be connected to, and one that may not; a directory without permission.
	copy=$(private_netobsd) || exit 99
	unprivileged="inside timeout 60 setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps -all,+net_raw
		--ambient-caps -all,+net_raw $copy -i lo"
	for mode in 0666 0600; do
		python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/run/foreign"
		chmod "$mode" "$tmp/run/foreign"
		$unprivileged --control "$tmp/run/foreign" 2>"$tmp/err"
		is "a socket of another user (mode $mode)" "$? $(cat "$tmp/err")" "1 netobsd: cannot create the control socket \
$tmp/run/foreign: the path exists, belongs to user 0 (mode $mode), and user 65533 may not replace it; remove it as root, or use \
another path"
		rm -f "$tmp/run/foreign"
	done
	$unprivileged --control "$tmp/run/foreign" 2>"$tmp/err"
	is "a directory without permission" "$? $(cat "$tmp/err")" "1 netobsd: cannot create the control socket $tmp/run/foreign: \
user 65533 has no write permission for its directory; run as root, or use another path"
else
	skip "a socket of another user" "setpriv is not installed"
fi
refused "something else at the path" "cannot create the control socket .* the path exists and is not a socket" --control "$tmp/run/file"
refused "a path that is too long" "the path of the control socket has [0-9]* bytes" \
	--control "$tmp/$(head -c 200 /dev/zero | tr '\0' a)"
refused "a bad mode" "--control-mode 999: expected octal permissions" --control "$socket" --control-mode 999
refused "metrics at an address that other hosts can reach" "--metrics 0.0.0.0:9812: other hosts can reach this address" --metrics 0.0.0.0:9812
refused "metrics nowhere" "--metrics elsewhere: expected unix:PATH, ADDRESS:PORT" --metrics elsewhere
refused "metrics at a bad port" "--metrics 127.0.0.1:0: expected unix:PATH" --metrics 127.0.0.1:0

start --metrics "unix:$tmp/run/metrics" --metrics-anywhere
inside python3 "$client" http-unix "$tmp/run/metrics" "GET /metrics HTTP/1.1" >"$tmp/http"
check "metrics on a Unix socket" grep -q netobs_frames_total "$tmp/http"
stop

# --------------------------------------------------------------------------------------------- processes of connections

# own PORT: a process of root with both ends of a connection; sets $owner, $cid
own() {
	rm -f "$tmp/ready" "$tmp/hold"
	mkfifo "$tmp/hold"
	inside python3 "$client" own "$1" 'a "b' "$tmp/ready" <"$tmp/hold" &
	owning=$!
	exec 5>"$tmp/hold"
	wait_for test -e "$tmp/ready"
	owner=$(cat "$tmp/ready")
	wait_for listed 1 state=established port "$1"
	cid=$(ctl connections --json port "$1" | sed 's/.*"near":{"cid":\([0-9]*\).*/\1/')
}

# let_go: the process ends
let_go() {
	exec 5>&-
	wait "$owning"
}

# owners PORT: the words for both ends
owners() {
	ctl connections --json port "$1" | grep -o '"owner":"[a-z-]*"' | sed 's/.*:"\(.*\)"/\1/' | tr '\n' ' '
}

# closed CID: whether both ends have closed their sockets
closed() {
	[ "$(ctl connection "$1" | grep -c "^  process  *$owner .*, has closed the socket\$")" -eq 2 ]
}

start --all-owners --control-mode 666
own 7004
is "connections: processes, without a tracer" \
	"$(owners 7004):$(ctl connections port 7004 | awk 'NR == 2 { print $(NF - 1), $NF }')" "process process :$owner/a \"b"
ctl connection "$cid" >"$tmp/connection"
is "connection: the process of both local ends, without a tracer" \
	"$(grep '^  process' "$tmp/connection" | uniq -c | sed 's/^ *//')" "2   process        $owner (a \"b)"
is "connection: the process as JSON" \
	"$(ctl connection "$cid" --json | grep -o '"pid":[^}]*' | uniq -c | sed 's/^ *//')" \
	"2 \"pid\":$owner,\"comm\":\"a \\u0022b\",\"owner\":\"process\""
is "connections: the process" "$(ctl connections port 7004 | sed -n '2s/.* \([0-9]*\/\)/\1/p')" "$owner/a \"b"
if have setpriv; then
	# shellcheck disable=SC2086
	is "connection: another user does not see the process" \
		"$($other_user "$ctl" -s "$socket" connection "$cid" | grep -c '^  process  *unknown: the socket belongs to another user$')" 2
fi
let_go
check "connection: the process that has closed the socket" wait_for closed "$cid"
stop
start
own 7005
is "connection: the process of another user" \
	"$(ctl connection "$cid" | grep -c '^  process  *unknown: netobsd may not examine .*; --all-owners permits it$')" 2
is "connection: the process of another user, as JSON" "$(ctl connection "$cid" --json | grep -o '"pid":[^}]*' | uniq)" \
	'"pid":-1,"comm":"","owner":"hidden"'
is "connections: processes of other users" "$(ctl connections port 7005 | tail -n 1)" \
	"processes of other users are hidden: netobsd --all-owners permits them"
is "as a table of fields" "$(ctl connections -o comm -P port 7005 | sort -u)" -
let_go
stop
start --no-owners
own 7006
is "connection: processes are not looked up" "$(ctl connection "$cid" | grep -c '^  process  *unknown: .*--no-owners)$'):$(owners 7006)" \
	"2:off off "
let_go
stop
start --all-owners --workers 2 --flight-memory 8M
own 7007
is "connection: the process, with two workers" "$(ctl connection "$cid" | grep -c "^  process  *$owner (")" 2
check "status: the recorder" wait_for recorded
check "status: the recorder, as JSON" eval 'ctl status --json | grep -q "\"recorder_memory\":8388608,\"recorder_span_us\":"'
check "the memory of the recorder is logged" grep -qE "process lookups, [0-9]+ MiB for the flight recorder$" "$tmp/err"
let_go
stop

tap_done
