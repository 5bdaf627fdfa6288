#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The private provider netobs_engine with bpftrace: every probe fires, with the arguments that it promises; the scripts lag,
# batchtime, ringdrops and slowpath.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
have python3 ip curl || skip_all "python3, ip or curl is not installed"
program=$(private_netobsd) || exit 99
space=netobs-engine-$$ pid='' socket=$tmp/control
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap 'kill -9 $pid 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up

ctl() {
	"$build/netobsctl" -s "$socket" "$@"
}

# start ARGUMENT...: netobsd on lo of the namespace, until it answers
start() {
	rm -f "$socket"
	ip netns exec "$space" "$program" -i lo --control "$socket" "$@" >"$tmp/log" 2>&1 &
	pid=$!
	wait_for ctl status >/dev/null
}

stop() {
	kill -INT "$pid"
	wait "$pid"
	pid=
}

# connect [COUNT]: connections to a port where nothing listens; each is two frames
connect() {
	ip netns exec "$space" python3 -c "
import socket
for port in range(${1:-1}):
    socket.socket().connect_ex(('127.0.0.1', 7000 + port))"
}

# traced PATTERN: a line of the tracer matches
traced() {
	grep -q "$1" "$tmp/trace"
}

# ------------------------------------------------------------------------------------------------- a capture: counts

http=$top/tests/captures/http.pcap
engine=usdt:$program:netobs_engine
tracer "$tmp/trace" "$engine:batch__start { @batches = count(); }
	$engine:batch__done { @frames = sum(arg1); @bytes = sum(arg2); @slow = sum(arg3); @lag = sum(arg4); @ended = count(); }
	$engine:slow__path { @reason[arg0] = count(); }
	$engine:layer__enter { @entered[arg1] = count(); }
	$engine:layer__leave { @left[arg1] = count(); }
	$engine:flow__born { @born[arg1] = count(); }
	$engine:flow__found { @found = count(); }"
"$program" -r "$http" --wait-tracer=60 --summary >/dev/null 2>"$tmp/summary"
tracer_end

# counted NAME: the number of a map
counted() {
	sed -n "s/^@$1: //p" "$tmp/trace"
}

summary() {
	sed -n "s/^$1 //p" "$tmp/summary"
}

is "batch-done: the frames of all batches" "$(counted frames)" "$(summary frames)"
is "batch-done: their bytes" "$(counted bytes)" "$(summary bytes)"
is "batch-done: no lag in a capture" "$(counted lag)" 0
is "batch-start as often as batch-done" "$(counted batches)" "$(counted ended)"
is "single packets are followed: all frames take the slow path, because a probe reads packets" \
	"$(counted slow) $(counted 'reason\[1\]')" "$(summary frames) $(summary frames)"
is "a packet leaves each layer that it enters" "$(sed -n "s/^@entered//p" "$tmp/trace" | sort)" \
	"$(sed -n "s/^@left//p" "$tmp/trace" | sort)"
check "three layers" [ "$(grep -c '^@entered' "$tmp/trace")" -eq 3 ]
born=$(grep -c '^@born' "$tmp/trace")
is "flow-born: once for each connection" "$born $(grep -c '^@born.*: 1$' "$tmp/trace")" "$(summary flow.created) $born"
is "each packet of a connection has flow-born or flow-found" "$((born + $(counted found)))" "$(summary packets)"
printf '%s\n' batch__start batch__done slow__path layer__enter layer__leave flow__born flow__found >"$tmp/fired"

# ----------------------------------------------------------------------------------- a capture: what is given up, limits

python3 "$top/tests/tracers/engine.py" "$tmp/given-up.pcap"
tracer "$tmp/trace" "$engine:stream__gap { printf(\"gap %d %d\\n\", arg0, arg1); }
	$engine:reassembly__expire { printf(\"expire %d %d %d\\n\", arg0, arg1, arg2); }
	$engine:table__evict { @evicted[arg0] = count(); }
	$engine:table__grow { @grown[arg0, arg1] = count(); }
	$engine:timer__expire { @timers = sum(arg1); }"
"$program" -r "$tmp/given-up.pcap" --wait-tracer=60 --print=http-request-start >/dev/null 2>"$tmp/log"
"$program" -r "$http" --wait-tracer=60 --max-flows=16 --summary >/dev/null 2>"$tmp/summary"
"$build/bench/gentrace" -n 20000 -c 2000 "$tmp/many.pcap"
"$program" -r "$tmp/many.pcap" --wait-tracer=60 >/dev/null 2>"$tmp/log"
tracer_end
check "stream-gap: 50 bytes that were acknowledged" traced '^gap 50 0$'
check "reassembly-expire: one fragment of IPv4" traced '^expire 4 1 24$'
is "table-evict: as often as the summary counts" "$(sed -n 's/^@evicted.*: //p' "$tmp/trace" | awk '{ n += $1 } END { printf "%.0f\n", n }')" \
	"$(sed -n 's/^flow.evicted-[a-z-]* //p' "$tmp/summary" | awk '{ n += $1 } END { printf "%.0f\n", n }')"
check "table-evict: some" traced '^@evicted'
awk '/^@grown/ { gsub(/[^0-9 ]/, " "); if ($2 <= $1) print }' "$tmp/trace" >"$tmp/shrunk"
check "table-grow: to more places" [ -s "$tmp/trace" ] && traced '^@grown'
is "table-grow: never to fewer" "$(wc -l <"$tmp/shrunk" | tr -d ' ')" 0
check "timer-expire" traced '^@timers: [1-9]'
printf '%s\n' stream__gap reassembly__expire table__evict table__grow timer__expire >>"$tmp/fired"

# --------------------------------------------------------------------------------------------------------- an interface

printf 'formula = "some = tcp-send where tcp_dport == 7000"\n' >"$tmp/netobs.conf"
chmod 755 "$tmp"; chmod 644 "$tmp/netobs.conf"
start --config "$tmp/netobs.conf" --metrics 127.0.0.1:9813 --records="$tmp/records" --connect-timeout=1
tracer "$tmp/trace" "$engine:request__start { printf(\"request %d %d\\n\", arg0, arg1); }
	$engine:request__done { printf(\"reply %d %d\\n\", arg0, arg1 > 0); }
	$engine:reload__start { printf(\"reload %d\\n\", arg0); }
	$engine:reload__done { printf(\"reloaded %d %d\\n\", arg0, arg1 > 0); }
	$engine:formula__error { printf(\"mistake %d %d\\n\", arg0, arg1); }
	$engine:record__write { printf(\"records %d\\n\", arg0); }
	$engine:owner__ask { printf(\"ask %d\\n\", arg0 > 0); }
	$engine:owner__answer { printf(\"answer\\n\"); }
	$engine:tracer__come { printf(\"come %d %d\\n\", arg0, arg1 > 0); }
	$engine:tracer__gone { printf(\"gone %d\\n\", arg0); }"
ip netns exec "$space" curl -s http://127.0.0.1:9813/metrics >"$tmp/metrics"
wait_for traced '^reply'
is "a scrape: request-start and request-done with one number" \
	"$(sed -n 's/^request \([0-9]*\) .*/\1/p' "$tmp/trace" | sed q)" "$(sed -n 's/^reply \([0-9]*\) 1$/\1/p' "$tmp/trace" | sed q)"
kill -HUP "$pid"
check "reload-done: in effect" wait_for traced '^reloaded 1 1$'
printf 'formula = "some = tcp-send where tcp_dprt == 7000"\n' >"$tmp/netobs.conf"
kill -HUP "$pid"
check "reload-done: refused" wait_for traced '^reloaded 0 1$'
check "formula-error: line and column" traced '^mistake 1 23$'
number=$("$program" --list-probes | grep '^[a-z]' | grep -n '^tcp-connect-refused$' | cut -d : -f 1)
engine_tracer=$tracer
tracer "$tmp/second" "usdt:$program:netobs:tcp__connect__refused { @ = count(); }"
check "tracer-come: the probe's number" wait_for traced "^come $((number - 1)) 1\$"
connect 3
wait_for traced '^answer'
check "owner-ask" traced '^ask 1$'
check "record-write" wait_for traced '^records [1-9]'
tracer_end
tracer=$engine_tracer
check "tracer-gone" wait_for traced "^gone $((number - 1))\$"
tracer_end
stop
printf '%s\n' request__start request__done reload__start reload__done formula__error record__write owner__ask owner__answer \
	tracer__come tracer__gone >>"$tmp/fired"

start --on-demand
tracer "$tmp/trace" "$engine:sleep { printf(\"suspended %d\\n\", arg0); }
	$engine:wake { printf(\"wake %d\\n\", arg0); }"
engine_tracer=$tracer
tracer "$tmp/second" "usdt:$program:netobs:tcp__send { @ = count(); }"
wait_for traced '^wake 0$'
tracer_end
tracer=$engine_tracer
check "--on-demand: wake, then the other one" wait_for traced '^suspended 0$'
tracer_end
stop
printf '%s\n' sleep wake >>"$tmp/fired"

# ---------------------------------------------------------------------------------------------------------- the scripts

# script NAME [ARGUMENT]...: runs a script, its output is $tmp/trace
script() {
	NETOBSD=$program "$top/scripts/netobs" "$@" >"$tmp/trace" 2>"$tmp/script.err" </dev/null
}

script slowpath "$http"
is "slowpath: status" $? 0
is "slowpath: all frames" "$(counted frames)" "$("$program" -r "$http" --summary 2>&1 >/dev/null | sed -n 's/^frames //p')"
is "slowpath: segments with SYN, FIN or RST" "$(counted 'slow\[SYN, .*\]')" \
	"$("$program" -r "$http" 'tcp[13] & 7 != 0' --summary 2>&1 >/dev/null | sed -n 's/^frames //p')"
slow=$(sed -n 's/^@slow.*: //p' "$tmp/trace" | awk '{ n += $1 } END { printf "%.0f\n", n }')
check "slowpath: the other frames take the fast path" [ "$slow" -gt 0 ] && [ "$slow" -lt "$(counted frames)" ]
script batchtime "$http"
is "batchtime: status" $? 0
is "batchtime: three histograms" "$(grep -c '^@[a-z_]*\[0\]:' "$tmp/trace")" 3
script lag "$http"
is "lag of a capture: nothing to tell" "$? $(grep -c . "$tmp/trace")" "0 0"
script lag --print "$http"
is "--print: status" $? 1
check "--print: the reason" grep -q '^netobs: --print does not print netobs_engine, ' "$tmp/script.err"
script --help lag
check "--help" grep -q '^Needs bpftrace 0.17, root, and a capture (FILE), ' "$tmp/trace"

# sent_until_traced PATTERN: sends frames until the tracer prints a line that matches
sent_until_traced() {
	connect
	traced "$1"
}

# netobs ends its script when it is interrupted; a shell starts background processes that ignore interrupts.
# script_on NAME: runs a script on the netobsd that runs, its pid in $tracer
script_on() {
	: >"$tmp/trace"
	python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$top/scripts/netobs" "$1" -p "$pid" >"$tmp/trace" 2>"$tmp/script.err" &
	tracer=$!
}

script_off() {
	kill -INT "$tracer"
	wait "$tracer"
}

start --buffer-size=64
script_on lag
wait_for sent_until_traced '^worst of a second: '
kill -STOP "$pid"
connect
sleep 1 # no event: so late it will be
kill -CONT "$pid"
check "lag: a second" wait_for sent_until_traced '^worst of a second: [0-9]\{7,\} us$'
script_off
check "lag: the histogram" traced '^@us\[0\]: *$'

script_on ringdrops
wait_for traced '^SECOND '
kill -STOP "$pid"
connect 3000
kill -CONT "$pid"
dropped() {
	ctl status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["dropped"])'
}
lines() {
	awk '/^[0-9]/ { n += $3 } END { printf "%.0f\n", n }' "$tmp/trace"
}
lines_are_complete() {
	[ "$(lines)" -gt 0 ] && [ "$(lines)" = "$(dropped)" ]
}
check "ringdrops: all that the kernel dropped" wait_for lines_are_complete
script_off
is "ringdrops: the sum" "$(sed -n 's/^@dropped\[[0-9]*\]: //p' "$tmp/trace")" "$(lines)"
printf '%s\n' ring__drop >>"$tmp/fired"
stop

# Every probe of the list was seen above.
"$program" --list-probes --engine | sed -n 's/^\([a-z].*\)/\1/p' | sed 's/-/__/g' | sort >"$tmp/listed"
sort -u "$tmp/fired" >"$tmp/seen"
check "every probe has fired" diff -u "$tmp/listed" "$tmp/seen"
tap_done
