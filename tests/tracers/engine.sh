#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The private provider netobs_engine with bpftrace: every probe fires, with the arguments that it promises; the scripts lag,
# batchtime, ringdrops and slowpath.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
have python3 ip taskset || skip_all "python3, ip or taskset is not installed"
program=$(private_netobsd) || exit 99
space=netobs-engine-$$ socket=$tmp/control
namespaces "$space" || skip_all "$kernel_refusal"
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
}

# connect [COUNT]: connections to ports where nothing listens; each is two frames
connect() {
	# shellcheck disable=SC2046
	ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" knock 127.0.0.1 $(seq 7000 $((6999 + ${1:-1})))
}

# traced PATTERN: a line of the tracer matches
traced() {
	grep -q "$1" "$tmp/trace"
}

# ------------------------------------------------------------------------------------------------- a capture: counts

# counted NAME: the number of a map
counted() {
	sed -n "s/^@$1: //p" "$tmp/trace"
}

summary() {
	sed -n "s/^$1 //p" "$tmp/summary"
}

# batches_are_complete FRAMES: the tracer has printed batch-done of FRAMES frames, and slow-path of each
batches_are_complete() {
	awk -v frames="$1" '$1 == "done" { done += $3 } $1 == "slow" { slow++ } END { exit done != frames || slow != frames }' \
		"$tmp/trace"
}

http=$top/tests/captures/http.pcap
engine=usdt:$program:netobs_engine
# So that all lines of a replay fit in bpftrace's buffer.
BPFTRACE_PERF_RB_PAGES=1024
export BPFTRACE_PERF_RB_PAGES
tracer "$tmp/trace" "$engine:batch__start { printf(\"start %lu %lu %lu\n\", arg0, arg1, arg2); }
	$engine:batch__done { printf(\"done %lu %lu %lu %lu %lu %lu\n\", arg0, arg1, arg2, arg3, arg4, arg5); }
	$engine:slow__path { printf(\"slow %lu %lu %lu\n\", arg0, arg1, arg2); }
	$engine:layer__enter { printf(\"enter %lu %lu\n\", arg0, arg1); }
	$engine:layer__leave { printf(\"leave %lu %lu\n\", arg0, arg1); }
	$engine:flow__born { printf(\"born %lu %lu\n\", arg0, arg1); }
	$engine:flow__found { printf(\"found %lu %lu\n\", arg0, arg1); }"
# bpftrace reads the buffers of several processors in any order: netobsd stays on one.
on_one_processor="taskset -c $(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')"
# shellcheck disable=SC2086
$on_one_processor "$program" -r "$http" --wait-tracer=60 --print=gld-receive,tcp-send,udp-send,http-request-start \
	--format json --summary >"$tmp/events" 2>"$tmp/summary"
wait_for batches_are_complete "$(summary frames)"
tracer_end
python3 "$top/tests/tracers/engine_values.py" "$tmp/trace" "$tmp/events" "$(summary frames)" >"$tmp/points"
is "all claims about these probes" "$? $(grep -c 'ok [0-9]' "$tmp/points")" "0 15"
relay "$tmp/points"
printf '%s\n' batch__start batch__done slow__path layer__enter layer__leave flow__born flow__found >"$tmp/fired"

# ------------------------------------------------------------------------------------------------ a capture: limits

given_up_is_complete() {
	[ "$(grep -c '^gap \|^expire ' "$tmp/trace")" -ge 4 ]
}

python3 "$top/tests/tracers/engine.py" "$tmp/given-up.pcap" "$tmp/slow.pcap"
tracer "$tmp/trace" "$engine:stream__gap { printf(\"gap %lu %lu\n\", arg0, arg1); }
	$engine:reassembly__expire { printf(\"expire %lu %lu %lu\n\", arg0, arg1, arg2); }
	$engine:table__evict { @evicted[arg0] = count(); @crowd = max(arg1); }
	$engine:table__grow { @grown[arg0, arg1] = count(); }
	$engine:timer__expire { @timers[arg0] = sum(arg1); }"
"$program" -r "$tmp/given-up.pcap" --wait-tracer=60 --print=http-request-start >/dev/null 2>"$tmp/log"
"$program" -r "$http" --wait-tracer=60 --max-flows=16 --summary >/dev/null 2>"$tmp/summary"
"$build/bench/gentrace" -n 20000 -c 2000 "$tmp/many.pcap"
"$program" -r "$tmp/many.pcap" --wait-tracer=60 >/dev/null 2>"$tmp/log"
wait_for given_up_is_complete
tracer_end
check "stream-gap: 50 bytes that were acknowledged" traced '^gap 50 0$'
check "stream-gap: 50 bytes before a full queue" traced '^gap 50 1$'
is "stream-gap: no others" "$(grep -c '^gap ' "$tmp/trace")" 2
check "reassembly-expire: one fragment of IPv4" traced '^expire 4 1 24$'
check "reassembly-expire: one fragment of IPv6" traced '^expire 6 1 24$'
is "table-evict: as often as the summary counts" "$(sed -n 's/^@evicted.*: //p' "$tmp/trace" | awk '{ n += $1 } END { printf "%.0f\n", n }')" \
	"$(sed -n 's/^flow.evicted-[a-z-]* //p' "$tmp/summary" | awk '{ n += $1 } END { printf "%.0f\n", n }')"
is "table-evict: the kinds half open, closing and UDP as often as the summary counts" \
	"$(for kind in 0 1 2; do counted "evicted\\[$kind\\]" | grep . || echo 0; done | paste -s -d ' ' -)" \
	"$(summary flow.evicted-half-open) $(summary flow.evicted-closing) $(summary flow.evicted-udp)"
check "table-evict: some" traced '^@evicted'
is "table-evict: the connections of the full table" "$(counted crowd)" 16
awk '/^@grown/ { gsub(/[^0-9 ]/, " "); if ($2 != 2 * $1) print }' "$tmp/trace" >"$tmp/odd"
check "table-grow: some" traced '^@grown'
is "table-grow: twice the slots" "$(wc -l <"$tmp/odd" | tr -d ' ')" 0
check "timer-expire: of closing connections" traced '^@timers.1.: [1-9]'
printf '%s\n' stream__gap reassembly__expire table__evict table__grow timer__expire >>"$tmp/fired"

# ------------------------------------------------------------------------------------ a capture: reasons of slow-path

# reasons_are "REASON FRAMES ..." WHAT ARGUMENT...: so many frames of the capture take the slow path for these reasons
reasons_are() {
	wanted=$1 what=$2
	shift 2
	tracer "$tmp/trace" "$engine:slow__path { @reasons[arg0] = count(); }"
	"$program" -r "$tmp/slow.pcap" --wait-tracer=60 "$@" >/dev/null 2>"$tmp/log"
	tracer_end
	is "slow-path: $what" "$(sed -n 's/^@reasons\[\([0-9]*\)\]: /\1 /p' "$tmp/trace" | sort -n | paste -s -d ' ' -)" "$wanted"
}

# 2 GRE without a packet, 3 SYN and SYN-ACK, 4 the datagrams before their stream is known and the one after it was removed,
# 8 a retransmission
reasons_are "2 1 3 4 4 32 8 1" "nothing is reported"
reasons_are "2 1 3 4 4 32 8 1 9 5" "with records, two handshakes' third segment, and three that close a connection" \
	--records="$tmp/slow-records"
reasons_are "2 1 3 4 4 32 5 9 9 1" "an application provider reads connections until the last ACK of the one that closes" \
	--print=http-request-start

# --------------------------------------------------------------------------------------------------------- an interface

# scrape: a request of 42 bytes
scrape() {
	ip netns exec "$space" python3 "$top/tests/service/control_client.py" http 127.0.0.1 9813 "GET /metrics HTTP/1.1"
}

printf 'formula = "some = tcp-send where tcp_dport == 7000"\n' >"$tmp/netobs.conf"
chmod 755 "$tmp"; chmod 644 "$tmp/netobs.conf"
start --config "$tmp/netobs.conf" --metrics 127.0.0.1:9813 --records="$tmp/records" --connect-timeout=1
tracer "$tmp/trace" "$engine:request__start { printf(\"request %lu %lu\n\", arg0, arg1); }
	$engine:request__done { printf(\"reply %lu %d\n\", arg0, arg1 > 0); }
	$engine:reload__start { printf(\"reload %lu\n\", arg0); }
	$engine:reload__done { printf(\"reloaded %lu %d\n\", arg0, arg1 > 0); }
	$engine:formula__error { printf(\"error %lu %lu\n\", arg0, arg1); }
	$engine:record__write { printf(\"records %lu\n\", arg0); @written = sum(arg0); }
	$engine:owner__ask { printf(\"ask %lu\n\", arg0); }
	$engine:owner__answer { printf(\"answer %lu %lu\n\", arg0, arg1); }
	$engine:batch__done { if (arg4 > 0) { @late[arg0] = count(); } }
	$engine:slow__path { @interfaces[arg1] = count(); }
	$engine:tracer__come { printf(\"come %lu %lu\n\", arg0, arg1); }
	$engine:tracer__gone { printf(\"gone %lu\n\", arg0); }"
scrape >"$tmp/metrics"
check "a scrape: request-start with its length" wait_for traced '^request [0-9]* 42$'
number=$(sed -n 's/^request \([0-9]*\) 42$/\1/p' "$tmp/trace")
check "request-done with the same number" wait_for traced "^reply $number 1\$"
: >"$tmp/trace"
ctl status >/dev/null
check "netobsctl: request-start" wait_for traced '^request [0-9]* [1-9]'
check "netobsctl: request-done" wait_for traced '^reply [0-9]* 1$'
kill -HUP "$pid"
check "reload-done: in effect" wait_for traced '^reloaded 1 1$'
check "reload-start: one worker" traced '^reload 1$'
printf 'formula = "some = tcp-send where tcp_dprt == 7000"\n' >"$tmp/netobs.conf"
kill -HUP "$pid"
check "reload-done: invalid" wait_for traced '^reloaded 0 1$'
check "formula-error: line and column" traced '^error 1 23$'
number=$("$program" --list-probes | grep '^[a-z]' | grep -n '^tcp-connect-refused$' | cut -d : -f 1)
engine_tracer=$tracer
tracer "$tmp/second" "usdt:$program:netobs:tcp__connect__refused { @ = count(); }"
# Two tracers would raise it twice, as a probe with two sites does.
check "tracer-come: the probe's number, and its semaphore" wait_for traced "^come $((number - 1)) 1\$"
connect 3
check "owner-answer" wait_for traced '^answer [0-9]'
check "owner-ask: a request waits" traced '^ask [1-6]$'
is "owner-answer: less than 10 s, fewer requests wait than were made" \
	"$(awk '$1 == "answer" && ($2 >= 1e7 || $3 >= 6)' "$tmp/trace")" ''
# The attempts end after a second.
records_are_complete() {
	connect
	[ "$(awk '$1 == "records" { n += $2 } END { printf "%.0f", n }' "$tmp/trace")" -ge 3 ]
}
check "record-write" wait_for records_are_complete
tracer_end
tracer=$engine_tracer
check "tracer-gone: the probe's number" wait_for traced "^gone $((number - 1))\$"
stop
tracer_end
is "record-write: the sum is the number of records" "$(counted written)" \
	"$(grep -c '^[0-9{]' "$tmp/records")"
check "batch-done: late, worker 0" traced '^@late.0.: [1-9]'
is "slow-path: on the loopback interface" "$(grep -c '^@interfaces' "$tmp/trace") $(counted 'interfaces\[1\]' | grep -c '[1-9]')" "1 1"
printf '%s\n' request__start request__done reload__start reload__done formula__error record__write owner__ask owner__answer \
	tracer__come tracer__gone >>"$tmp/fired"

start --on-demand --workers=2
tracer "$tmp/trace" "$engine:sleep { printf(\"suspended %lu\n\", arg0); }
	$engine:wake { printf(\"wake %lu\n\", arg0); }
	$engine:tracer__come { printf(\"come %lu %lu\n\", arg0, arg1); }"
engine_tracer=$tracer
tracer "$tmp/second" "usdt:$program:netobs:tcp__send { @ = count(); }"
for worker in 0 1; do
	check "--on-demand: worker $worker resumes" wait_for traced "^wake $worker\$"
done
check "--on-demand: tracer-come of the tracer that resumes capture" wait_for traced '^come [0-9]* [12]$'
tracer_end
tracer=$engine_tracer
for worker in 0 1; do
	check "--on-demand: worker $worker is suspended again" wait_for traced "^suspended $worker\$"
done
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
# frames_of FILTER: number of frames of the capture that match
frames_of() {
	"$program" -r "$http" "$1" --summary 2>&1 >/dev/null | sed -n 's/^frames //p'
}
changing=$(counted 'slow\[SYN, .*\]')
is "slowpath: segments with SYN or RST" "$changing" "$(frames_of 'tcp[13] & 6 != 0')"
slow=$(sed -n 's/^@slow.*: //p' "$tmp/trace" | awk '{ n += $1 } END { printf "%.0f\n", n }')
check "slowpath: some frames take the slow path" [ "$slow" -gt 0 ]
check "slowpath: the other frames take the fast path" [ "$slow" -lt "$(counted frames)" ]
script batchtime "$http"
is "batchtime: status" $? 0
is "batchtime: three histograms" "$(grep -c '^@[a-z_]*\[0\]:' "$tmp/trace")" 3
script lag "$http"
is "lag of a capture: nothing to tell" "$? $(grep -c . "$tmp/trace")" "0 0"

# sent_until_traced PATTERN: sends frames until the tracer prints a line that matches
sent_until_traced() {
	connect
	traced "$1"
}

# script_on NAME: runs a script on the netobsd that runs, its pid in $tracer.  A shell starts background processes that ignore
# interrupts.
script_on() {
	: >"$tmp/trace"
	env --default-signal=INT "$top/scripts/netobs" "$1" -p "$pid" >"$tmp/trace" 2>"$tmp/script.err" &
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

dropped() {
	ctl status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["dropped"])'
}
script_on ringdrops
wait_for traced '^SECOND '
dropped_before=$(dropped) # by the stop of the lag test above
kill -STOP "$pid"
connect 3000
kill -CONT "$pid"
lines() {
	awk '/^[0-9]/ { n += $3 } END { printf "%.0f\n", n }' "$tmp/trace"
}
lines_are_complete() {
	[ "$(lines)" -gt 0 ] && [ "$(lines)" = "$(($(dropped) - dropped_before))" ]
}
check "ringdrops: all that the kernel dropped" wait_for lines_are_complete
script_off
is "ringdrops: of the loopback interface, no more than were received" "$(awk '/^[0-9]/ && ($2 != 1 || $3 > $4)' "$tmp/trace")" ''
is "ringdrops: the sum" "$(sed -n 's/^@dropped\[[0-9]*\]: //p' "$tmp/trace")" "$(lines)"
printf '%s\n' ring__drop >>"$tmp/fired"
stop

# Every probe of the list was seen above.
"$program" --list-probes --engine | sed -n 's/^\([a-z].*\)/\1/p' | sed 's/-/__/g' | sort >"$tmp/listed"
sort -u "$tmp/fired" >"$tmp/seen"
check "every probe has fired" diff -u "$tmp/listed" "$tmp/seen"
tap_done
