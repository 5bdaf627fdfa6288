#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# One formula, on a replay and live: bpftrace by path and by process, perf, gdb, --print, the counters and the metric have
# the same firings, with the same values.  perf records that it fired, not the structs that its arguments point to.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
reason=$(tracing_refused)
[ -z "$reason" ] || skip_all "$reason"
have ip nsenter || skip_all "ip or nsenter is not installed"
home=$top/tests/captures/home-network.pcap
space=netobs-same-$$ file=$tmp/state/formulas.so socket=$tmp/run/control ctl=$build/netobsctl
# shellcheck source=tests/tracers/perf_event.sh
. "$top/tests/tracers/perf_event.sh"
namespaces "$space" || skip_all "$kernel_refusal"
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run" "$tmp/state"

# values_of_json FILE: what --print shows of each firing: number, ports, sequence number, flags
values_of_json() {
	sed -n 's/^{"probe":"syn-segment",.*"pkt_seq":\([0-9]*\).*"tcp_sport":\([0-9]*\),"tcp_dport":\([0-9]*\),"tcp_seq":\([0-9]*\),.*"tcp_flagstr":"\([A-Z|]*\)".*/\1 \2 \3 \4 \5/p' "$1"
}
# The same with bpftrace, whose dollar signs these are, and with gdb.
# shellcheck disable=SC2016
action='{ $p = (struct pktinfo *)arg0; $t = (struct tcpinfo *)arg4;
	printf("%lu %d %d %u %s\n", $p->pkt_seq, $t->tcp_sport, $t->tcp_dport, $t->tcp_seq, $t->tcp_flagstr); }'
# shellcheck disable=SC2016
cat >"$tmp/gdb-commands" <<-'GDB'
	set pagination off
	set breakpoint pending on
	handle SIGINT nostop noprint pass
	break -probe-stap netobs:syn__segment
	commands
	silent
	set $p = (struct pktinfo *)$_probe_arg0
	set $t = (struct tcpinfo *)$_probe_arg4
	printf "firing %lu %u %u %u %s\n", $p->pkt_seq, $t->tcp_sport, $t->tcp_dport, $t->tcp_seq, $t->tcp_flagstr
	continue
	end
GDB

# lines FILE COUNT: whether a tracer has written so many firings
lines() {
	[ "$(grep -c '^[0-9]' "$1")" -ge "$2" ]
}

# same NAME FILE: whether the firings of a tracer are those that were printed
same() {
	grep '^[0-9]' "$2" >"$tmp/got"
	check "$1" diff -u "$tmp/printed" "$tmp/got"
}

# -------------------------------------------------------------------------------------------------------- a replay

formula='syn-segment = tcp-receive where tcp_flags & SYN && tcp_dport != 0'
printf 'formula = {"%s"}\n' "$formula" >"$tmp/conf"
"$netobsd" -c "$tmp/conf" --install-formulas "$file" || exit 99

# replay: prints the firings
replay() {
	"$netobsd" -c "$tmp/conf" -r "$home" --formula-file "$file" --print=syn-segment --format json --summary \
		>"$tmp/out" 2>"$tmp/err"
}

replay
values_of_json "$tmp/out" >"$tmp/printed"
count=$(wc -l <"$tmp/printed")
note "$count firings of a replay"
check "a replay has firings" test "$count" -gt 20
is "its counter" "$(sed -n 's/^formula.syn-segment.matched *//p' "$tmp/err")" "$count"

tracer "$tmp/path" "usdt:$file:netobs:syn__segment $action"
replay
wait_for lines "$tmp/path" "$count"
tracer_end
same "bpftrace by path, on a replay" "$tmp/path"

"$netobsd" -c "$tmp/conf" -r "$home" --formula-file "$file" --wait-probes syn-segment --wait-tracer=120 >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_while "$pid" grep -q "$file" "/proc/$pid/maps"
tracer_pid=$pid tracer "$tmp/process" "usdt:$file:netobs:syn__segment $action"
wait "$pid"
wait_for lines "$tmp/process" "$count"
tracer_end
same "bpftrace by process, on a replay" "$tmp/process"

no_perf=$(perf_refused)
if [ -z "$no_perf" ]; then
	check "perf adds an event" perf_event "$file" syn__segment
	perf_record "$tmp/perf.data" "$netobsd" -c "$tmp/conf" -r "$home" --formula-file "$file"
	is "perf, on a replay" "$(perf_count "$tmp/perf.data")" "$count"
else
	skip "perf adds an event" "$no_perf"
	skip "perf, on a replay" "$no_perf"
fi

debug=
if ! have gdb; then
	skip "gdb, on a replay" "gdb is not installed"
elif ! gdb -nx -batch -ex 'ptype struct tcpinfo' "$netobsd" 2>/dev/null | grep -q tcp_sport; then
	skip "gdb, on a replay" "netobsd has no debugging information"
else
	debug=1
	ASAN_OPTIONS=detect_leaks=0 gdb -nx -batch -x "$tmp/gdb-commands" -ex run --args "$netobsd" -c "$tmp/conf" -r "$home" \
		--formula-file "$file" >"$tmp/gdb" 2>&1 </dev/null
	sed -n 's/^firing //p' "$tmp/gdb" >"$tmp/gdb.firings"
	same "gdb, on a replay" "$tmp/gdb.firings"
fi

# ------------------------------------------------------------------------------------------------------------ live

ctl() {
	"$ctl" -s "$socket" "$@"
}

# start: a netobsd in the network namespace, but in the mount namespace of the tracers: those that attach by process open
# its files in its namespace, where the root of a container is another one
start() {
	nsenter --net="/run/netns/$space" "$netobsd" -i lo --immediate --view both --control "$socket" \
		--metrics "unix:$tmp/run/metrics" --formula-file "$file" --print=syn-segment --formula "$formula" --format json >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_while "$pid" ctl status
	wait_while "$pid" observing "$pid" 1 || cat "$tmp/err" >&2
}

# connect COUNT: opens connections to a closed port, which are refused
connect() {
	# shellcheck disable=SC2046
	ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" knock 127.0.0.1 $(yes 9 | head -n "$1")
}

# matched COUNT: whether the formula has fired so often
matched() {
	ctl formulas syn-segment --json | grep -q "\"matched\":$1,"
}

start
# All at once.
tracer "$tmp/path" "usdt:$file:netobs:syn__segment $action"
by_path=$tracer
tracer_pid=$pid tracer "$tmp/process" "usdt:$file:netobs:syn__segment $action"
by_process=$tracer
if [ -z "$no_perf" ]; then
	mkfifo "$tmp/perf-control" "$tmp/perf-ack"
	HOME=$tmp perf record -q -e "$event" -p "$pid" -o "$tmp/perf.live" --control "fifo:$tmp/perf-control,$tmp/perf-ack" \
		>>"$tmp/perf.err" 2>&1 &
	perf=$!
	# For reading and writing, so that neither end waits for a perf that has failed.
	exec 4<>"$tmp/perf-control" 5<>"$tmp/perf-ack"
	echo enable >&4
	timeout 60 head -n 1 <&5 >"$tmp/enabled" || note "perf does not begin: $(cat "$tmp/perf.err")"
fi
connect 10
check "live firings" wait_while "$pid" matched 10
python3 "$top/tests/service/control_client.py" http-unix "$tmp/run/metrics" "GET /metrics HTTP/1.0" >"$tmp/metrics"
is "the metric" "$(sed -n 's/^netobs_formula_total{name="syn-segment"} //p' "$tmp/metrics")" 10
wait_for lines "$tmp/path" 10
wait_for lines "$tmp/process" 10
if [ -z "$no_perf" ]; then
	kill -INT "$perf"
	exec 4>&- 5<&-
	wait "$perf"
	is "perf, live" "$(perf_count "$tmp/perf.live")" 10
else
	skip "perf, live" "$no_perf"
fi
for tracer in $by_path $by_process; do
	tracer_end
done
kill -INT "$pid"
wait "$pid"
values_of_json "$tmp/out" >"$tmp/printed"
is "live firings are printed" "$(wc -l <"$tmp/printed")" 10
same "bpftrace by path, live" "$tmp/path"
same "bpftrace by process, live" "$tmp/process"

if [ -n "$debug" ]; then
	start
	gdb -nx -batch -p "$pid" -x "$tmp/gdb-commands" -ex 'printf "attached\n"' -ex continue >"$tmp/gdb" 2>&1 </dev/null &
	gdb=$!
	wait_while "$gdb" grep -q '^attached' "$tmp/gdb"
	connect 10
	check "live firings with gdb" wait_while "$pid" matched 10
	kill -INT "$pid"
	wait "$pid"
	wait "$gdb"
	values_of_json "$tmp/out" >"$tmp/printed"
	sed -n 's/^firing //p' "$tmp/gdb" >"$tmp/gdb.firings"
	is "live firings are printed with gdb, too" "$(wc -l <"$tmp/printed")" 10
	same "gdb, live" "$tmp/gdb.firings"
else
	skip "gdb, live" "no gdb, or netobsd has no debugging information"
fi
tap_done
