#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A first proof of each promise about a running netobsd: what netobsctl does with it, a reload, the metrics.  The other
# tests of this folder prove them at length.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

client=$top/tests/service/control_client.py
conf=$tmp/run/netobs.conf metrics=$tmp/run/metrics formulas=$tmp/run/formulas.so

# open FIELD,...: of the connection that stays open, with colons between them
open() {
	ctl connections -P -o "$1" 'client_state == "established"'
}

# get PATH: what netobsd serves at the metrics address
get() {
	python3 "$client" http-unix "$metrics" "GET $1 HTTP/1.1" | tr -d '\r' >"$tmp/http"
	sed '1,/^$/d' "$tmp/http"
}

# matched NAME COUNT: whether the formula has matched so often
matched() {
	ctl formulas "$1" --json | grep -q "\"matched\":$2,"
}

# observed: whether all segments were observed, up to those of the connections that have ended, and the process is known
observed() {
	[ "$(open client_bytes,server_bytes,pid)" = "3000:70:$traffic" ] &&
		[ "$(ctl connections --closed --json | wc -l)" -eq 2 ]
}

# counts_segments: whether the counter has those of all connections; an acknowledgement may be late
counts_segments() {
	{
		ctl connections --closed --json -o client_segments,server_segments | tr -cs '0-9\n' ' '
		open client_segments,server_segments | tr ':' ' '
	} >"$tmp/segments"
	reached tcp-segments "$(awk '{ sum += $1 + $2 } END { printf "%.0f\n", sum }' "$tmp/segments")"
}

# feeds COUNT: whether so many programs receive firings
feeds() {
	reached feed.now "$1"
}

# is_written: whether a capture file is complete
is_written() {
	[ -n "$(find "$tmp/files" -name '[!.]*.pcapng')" ]
}

# ------------------------------------------------------------------------------------------------------------ requests

echo 'formula = {"no-server = tcp-connect-refused where tcps_rport == 7002"}' >"$conf"
start -c "$conf" --all-owners --closed-connections=100 --flight-memory=8M --metrics "unix:$metrics" \
	--formula-file "$formulas"
begin_traffic
traffic connect open 7001
port=$answer
traffic send open 3000
traffic answer open 70
traffic connect closed 7001
traffic close closed
traffic refused 7002
wait_for observed

# field NAME: of the status of netobsd in /proc, with single blanks
field() {
	sed -n "s/^$1:[[:blank:]]*//p" "/proc/$pid/status" | tr -s '\t' ' '
}

user=$(id -u netobs 2>/dev/null || id -u nobody)
is "netobsd, started by root: its user" "$(field Uid)" "$user $user $user $user"
# With --all-owners only the threads that look up processes keep capabilities.
is "it has no capability in force, cannot get one, and has a system-call filter" "$(field CapEff) $(field NoNewPrivs) $(field Seccomp)" \
	"0000000000000000 1 2"

ctl status >"$tmp/status"
is "status: its version and process" "$(sed -n '1s/, up .*//p' "$tmp/status")" \
	"netobsd $("$netobsd" --version | sed -n '1s/^netobsd \([0-9.]*\).*/\1/p'), pid $pid"
check "status: how to attach" grep -q "usdt:/proc/$pid/exe:netobs:tcp__state__change" "$tmp/status"
is "connections: the open one, with its bytes, its states and its process" \
	"$(open client_port,server_port,client_bytes,server_bytes,server_state,pid,comm)" "$port:7001:3000:70:established:$traffic:python3"
cid=$(open cid)
is "connections: it in detail" "$(ctl connection "$cid" | grep -c "^  connection id  $cid, local, client")" 1
is "connections: those that have ended, and why" \
	"$(ctl connections --closed 1h 'reason == "refused"' -o server_port,reason | sed 1d | tr -s ' ')" " 7002 refused"
is "interfaces" "$(ctl interfaces | awk 'NR == 2 { print $1, $3 }')" "lo up"
check "counters: each segment once" wait_for counts_segments

# ------------------------------------------------------------------------------------------------- streams and captures

"$ctl" -s "$socket" stream --json --fields probe,ip_saddr,tcp_sport tcp-connect-refused,no-server >"$tmp/stream" &
reader=$!
mkdir "$tmp/files"
"$ctl" -s "$socket" write --on no-server --dir "$tmp/files" --after 0s 2>"$tmp/write.err" &
write_on=$!
mkdir "$tmp/lines"
"$ctl" -s "$socket" stream --dir "$tmp/lines" --rotate 1h tcp-connect-refused &
writer=$!
wait_for feeds 3
traffic refused 7002
check "stream: the firings of a probe and of a formula" wait_for has_lines "$tmp/stream" 2
is "stream: the chosen fields" "$(sort "$tmp/stream")" '{"probe":"no-server","ip_saddr":"127.0.0.1","tcp_sport":7002}
{"probe":"tcp-connect-refused","ip_saddr":"127.0.0.1","tcp_sport":7002}'
is "probes: one that is streamed is enabled, by each stream, and has fired" "$(ctl probes --json | grep '"tcp-connect-refused"')" \
	'{"probe":"tcp-connect-refused","enabled":2,"fired":1}'
check "write --on: a capture of the connection that was refused" wait_for is_written
kill "$reader" "$write_on" "$writer"
wait "$reader"
is "stream: SIGTERM has status 0" $? 0
wait "$writer"
is "stream --dir: SIGTERM has status 0" $? 0
is "stream --dir: a zstd file with the line" "$(zstd -qdc "$tmp/lines"/*.jsonl.zst | grep -c '^{"probe":"tcp-connect-refused",.*}$')" 1
wait "$write_on"
is "write --on: SIGTERM has status 0" $? 0
file=$(find "$tmp/files" -name '*-no-server-*.pcapng')
is "write --on: with its SYN and its RST, and nothing else" "$("$netobsd" -r "$file" --view monitor --print=tcp-receive \
	--print-fields tcp_flagstr | paste -s -d ' ')" "SYN RST|ACK"
ctl write -w "$tmp/open.pcapng" --cid "$cid" 2>"$tmp/write.err"
"$netobsd" -r "$tmp/open.pcapng" --view monitor --print=connection-end \
	--print-fields cr_client_port,cr_client_bytes,cr_server_bytes >"$tmp/written"
is "write: the frames of a connection, with its data" "$(tr '\t' ' ' <"$tmp/written")" "$port 3000 70"
name="write: tshark finds as many frames as netobsctl has counted"
if have tshark; then
	is "$name" "$(tshark -r "$tmp/open.pcapng" 2>/dev/null | wc -l)" \
		"$(sed -n '$s/^netobsctl: \([0-9]*\) frames, .*/\1/p' "$tmp/write.err")"
else
	skip "$name" "tshark is not installed"
fi

# without_proc COMMAND...: with an empty file system in place of /proc
without_proc() {
	# The arguments are those of sh -c.
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
if without_proc true 2>/dev/null; then
	without_proc "$ctl" -s "$socket" write -w "$tmp/no-proc.pcapng" --cid "$cid" 2>"$tmp/write.err"
	is "write: without /proc" "$? $(find "$tmp" -maxdepth 1 -name '.*part')" "0 "
	check "write: the same file" cmp "$tmp/open.pcapng" "$tmp/no-proc.pcapng"
else
	skip "write: without /proc" "no file system can be mounted"
fi

# ------------------------------------------------------------------------------------------------- connections as files

connfs=$build/netobs-connfs files=$tmp/connfs
if [ ! -x "$connfs" ]; then
	skip "netobs-connfs" "it is not built: no libfuse3"
elif [ ! -c /dev/fuse ]; then
	skip "netobs-connfs" "there is no /dev/fuse"
else
	mkdir "$files"
	at_end "umount '$files' 2>/dev/null"
	check "netobs-connfs mounts the connections" "$connfs" -s "$socket" "$files"
	is "netobs-connfs: the states of both ends" "$(cat "$files/$cid/state")" "established established"
	is "netobs-connfs: its server, by its port" "$(cat "$files/by-port/7001/$cid/server")" 127.0.0.1:7001
	cp "$files/$cid/capture.pcapng" "$tmp/copy.pcapng"
	check "netobs-connfs: its packets" cmp "$tmp/open.pcapng" "$tmp/copy.pcapng"
	check "netobs-connfs: umount ends it" umount "$files"
fi

# ------------------------------------------------------------------------------------------------- formulas, the reload

ctl define 'to-a-port = tcp-connect-refused where tcps_rport == 7003' >"$tmp/defined"
is "define: status" $? 0
check "define: how to trace it" grep -q "usdt:$formulas:netobs:to__a__port" "$tmp/defined"
traffic refused 7003 2
check "define: it counts" wait_for matched to-a-port 2
is "formulas: the configured one has counted only what it selects" \
	"$(ctl formulas no-server --json | grep -o '"seen":[0-9]*,"matched":[0-9]*')" '"seen":4,"matched":2'
check "undefine: status" ctl undefine to-a-port
is "undefine: it is gone" "$(ctl formulas --json | wc -l)" 1
echo 'formula = {"no-server = tcp-connect-refused where"}' >"$conf"
ctl reload >"$tmp/message" 2>&1
is "reload of a file with a mistake: status" $? 1
check "reload of a file with a mistake: its line is logged" \
	grep -q "^netobsd: $conf:1: formula = .*column 38: expected" "$tmp/err"
echo 'formula = {"other = tcp-connect-refused where tcps_rport == 7004"}' >"$conf"
ctl reload >"$tmp/message"
reload_status=$?
is "reload: the formulas of the file" \
	"$reload_status $(ctl formulas --json | sed 's/^{"formula":"\([a-z]*\)".*/\1/' | paste -s -d ' ')" "0 other"
traffic refused 7004 3
check "reload: a new formula counts" wait_for matched other 3
is "reload: connections are kept" "$(open cid)" "$cid"

# -------------------------------------------------------------------------------------------------- metrics, the screen

get /metrics >"$tmp/page"
check "metrics: strict format" python3 "$client" metrics "$tmp/page"
is "metrics: connections that were refused" \
	"$(sed -n 's/^netobs_connections_ended_total{proto="tcp",reason="refused"} //p' "$tmp/page")" 7
is "metrics: a formula" "$(sed -n 's/^netobs_formula_total{name="other"} //p' "$tmp/page")" 3
is "the page for a browser" "$(get / | grep -cE '^<!DOCTYPE html>|^</html>$')" 2
is "and its connections" "$(get /connections | grep -c "\"cr_client_port\":$port,")" 1
TERM=xterm RAW=$tmp/raw "$top/tests/service/terminal.py" -q 127.0.0.1:7001 "$ctl" -s "$socket" top >"$tmp/screen"
is "top: q ends it" $? 0
check "top: it shows the connection" grep -q '127.0.0.1:7001' "$tmp/raw"
end_traffic
stop
is "netobsd has logged nothing else" "$(grep -v -e 'memory reserved' -e 'reload failed' -e "$conf" "$tmp/err")" ""

# -------------------------------------------------------------------------------------------------------------- on demand

# suspended: whether the capture socket has left the list of those that receive frames of every protocol (0003)
suspended() {
	inside grep -q ' 88b5 ' /proc/net/packet && ! resumed
}
resumed() {
	inside grep -q ' 0003 ' /proc/net/packet
}

# seen: whether the tracer has written a line; a connection is refused before each look
seen() {
	traffic refused 7005
	grep -q '^7005$' "$tmp/traced"
}

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "--on-demand" "$refused"
else
	netobsd=$(private_netobsd) || exit 99
	start --on-demand
	begin_traffic
	check "--on-demand: without a tracer it does not capture" wait_for suspended
	traffic refused 7005
	is "--on-demand: nor observe" "$(value frames)" 0
	tracer "$tmp/traced" "usdt:$netobsd:netobs:tcp__connect__refused { printf(\"%d\\n\", ((struct tcpsinfo *)arg3)->tcps_rport); }"
	check "--on-demand: with a tracer it captures" wait_for resumed
	check "--on-demand: the tracer has firings" wait_for seen
	tracer_end
	check "--on-demand: then it does not capture again" wait_for suspended
	end_traffic
	stop
fi
tap_done
