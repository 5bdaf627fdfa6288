#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bpftrace on the shipped program: every probe fires as often, and with the same values, as the built-in printer prints,
# however and whenever it attaches.  tests/tracers/first_proof.sh has perf and gdb.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
have ip python3 || skip_all "ip or python3 is not installed"
program=$(private_netobsd) || exit 99
header=$top/probes/netobs.h
captures=$top/tests/captures

python3 "$top/tests/tracers/timers.py" "$tmp/timers.pcap" || exit 99

# Together they make every probe fire; all of one link type, merged by time.  bpftrace parts a command at single blanks.
files="-r $captures/home-network.pcap -r $captures/one-tcp-rst.pcap -r $captures/icmp.pcapng"
files="$files -r $captures/dns-tcp.pcap -r $captures/sctp-restart.pcap -r $tmp/timers.pcap"
files="$files -r $captures/dns.pcap -r $captures/http.pcap -r $captures/smb.pcap -r $captures/tls.pcap --app-timeout=0.1"
files="$files -r $captures/iscsi.pcap -r $captures/tcpdump/dccp_partial_csum_v4_simple.pcap --active-records=10s"

# ------------------------------------------------------------------------------------------------ expected firings

# The firings of the built-in printer for the same replay.
# shellcheck disable=SC2086
"$program" $files --print --format json >"$tmp/firings" || exit 99
"$program" --list-probes --format json >"$tmp/manifest" || exit 99

# A bpftrace script, and its expected output computed from the printed firings.
python3 "$top/tests/tracers/tracers_truth.py" "$program" "$tmp" || exit 99

is "these captures make every probe fire, except" "$(cat "$tmp/silent")" "iscsi__async__send"

# same NAME EXPECTED GOT ERRORS: ok if bpftrace's output, in any order, is what was expected
same() {
	grep -v -e '^Attaching' -e '^attached$' -e '^$' "$3" | sort >"$tmp/sorted"
	if diff -u "$2" "$tmp/sorted" >"$tmp/diff"; then
		ok "$1"
	else
		not_ok "$1" "$tmp/diff" "$4"
	fi
}

# ----------------------------------------------------------------------------------------------- bpftrace, attached ...

# firings PROBE: number of its firings by the summary of the running netobsd, $observer
firings() {
	: >"$tmp/summary"
	summary_of "$observer" "$tmp/summary" || return 1
	awk -v name="probe.$1" '$1 == name { n = $2 } END { print n + 0 }' "$tmp/summary"
}

# more_firings COUNT PROBE
more_firings() {
	[ "$(firings "$2")" -gt "$1" ]
}

with_child() {
	bpftrace "$tmp/values.bt" --include "$header" -c "$program $files" >"$tmp/out" 2>"$tmp/err"
	same "bpftrace -c: values, every transition among them, are as printed" "$tmp/values.expected" "$tmp/out" "$tmp/err"
}

before_start() {
	tracer "$tmp/out" "$(cat "$tmp/count.bt")"
	# shellcheck disable=SC2086
	"$program" $files --wait-tracer=60 2>"$tmp/err"
	tracer_end
	same "bpftrace by path, before the program starts: every probe fires as often as printed" "$tmp/count.expected" "$tmp/out" "$tmp/err"
}

# The program must wait for the last of the probes, whose attachment takes longer than the replay.  A quarter of a second
# without a further probe counts as the end, and a tracer that waits for a processor may exceed that; a program that starts
# at the first probe misses firings each time, so there are three tries.
while_waiting() {
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		"$program" $files --wait-tracer=120 2>"$tmp/err" &
		observer=$!
		wait_for begun "$observer"
		tracer "$tmp/out" "$(cat "$tmp/count.bt")"
		wait "$observer"
		tracer_end
		! grep '^@' "$tmp/out" | sort | cmp -s "$tmp/count.expected" - || break
		note "the program has not waited for the last probe"
	done
	same "bpftrace by path, while the program waits for it" "$tmp/count.expected" "$tmp/out" "$tmp/err"
}

# traced_more COUNT: whether the tracer has shown more than COUNT firings
traced_more() {
	[ "$(grep -c '^[0-9]' "$tmp/out")" -gt "$1" ]
}

# The printer runs from the start, so the firings of the tracer must be the last printed ones, without a gap.  The capture
# lasts a minute and a half, long enough for any tracer to attach; after enough firings the test ends the replay.
while_replaying() {
	"$program" -r "$captures/home-network.pcap" --pace=1.5 --print=tcp-receive --format json >"$tmp/printed" &
	observer=$!
	wait_for test -s "$tmp/printed"
	tracer "$tmp/out" "usdt:$program:netobs:tcp__receive {
		printf(\"%lu %lu %s %u\\n\", ((struct pktinfo *)arg0)->pkt_seq, ((struct pktinfo *)arg0)->pkt_addr,
		    ((struct ipinfo *)arg2)->ip_saddr, ((struct tcpinfo *)arg4)->tcp_seq); }"
	wait_for traced_more 100
	kill -INT "$observer"
	wait "$observer"
	sed 's/.*"pkt_addr":\([0-9]*\),.*"pkt_seq":\([0-9]*\)}.*"ip_saddr":"\([^"]*\)".*"tcp_seq":\([0-9]*\),.*/\2 \1 \3 \4/' \
		"$tmp/printed" >"$tmp/all"
	wait_for grep -qxF "$(tail -n 1 "$tmp/all")" "$tmp/out"
	tracer_end
	# In the order of the packets: bpftrace reads the buffers of several processors one after the other.
	grep '^[0-9]' "$tmp/out" | sort -n >"$tmp/seen"
	tail -n "$(wc -l <"$tmp/seen")" "$tmp/all" >"$tmp/wanted"
	if [ -s "$tmp/seen" ] && [ "$(wc -l <"$tmp/seen")" -lt "$(wc -l <"$tmp/printed")" ] &&
		diff -u "$tmp/wanted" "$tmp/seen" >"$tmp/diff"; then
		ok "bpftrace by path, in the middle of a replay: every later firing, without a gap"
	else
		not_ok "bpftrace by path, in the middle of a replay: every later firing, without a gap" "$tmp/diff" "$tmp/out.err"
	fi
}

# printed_more LINES: whether there are five more lines, or the replay has ended
printed_more() {
	[ "$(wc -l <"$tmp/printed")" -gt "$(($1 + 4))" ] || ! kill -0 "$observer"
}

# kill_and_attach PACE: a tracer that is killed in a replay, and another one after it.  Fails if the replay was over by then.
kill_and_attach() {
	count="usdt:$program:netobs:udp__receive { @count = count(); @first = min(((struct pktinfo *)arg0)->pkt_seq);
		@last = max(((struct pktinfo *)arg0)->pkt_seq); }"
	"$program" -r "$captures/home-network.pcap" --pace="$1" --print=udp-send 2>>"$tmp/summary" >"$tmp/printed" &
	observer=$!
	wait_for begun "$observer"
	tracer "$tmp/out" "$count"
	wait_for more_firings 0 udp-receive
	kill -KILL "$tracer"
	wait "$tracer" 2>/dev/null
	for _ in $(seq 20); do # the kernel disables the probe some time later
		killed=$(firings udp-receive)
		wait_for printed_more "$(wc -l <"$tmp/printed")" # what was sent is received at once
		[ "$(firings udp-receive)" -ne "$killed" ] || break
	done
	wait_for printed_more "$(wc -l <"$tmp/printed")"
	fired=$(firings udp-receive)
	tracer "$tmp/out" "$count"
	wait_for fired_or_over
	over=0
	kill -INT "$observer" 2>/dev/null || over=1
	wait "$observer"
	tracer_end
	return $over
}

fired_or_over() {
	more_firings "$((killed + 3))" udp-receive || ! kill -0 "$observer"
}

# counted_from_one: whether the second tracer has counted every firing
counted_from_one() {
	grep -q '^@first: 1$' "$tmp/out" &&
		[ "$(sed -n 's/^@count: //p' "$tmp/out")" = "$(sed -n 's/^@last: //p' "$tmp/out")" ]
}

# If a tracer dies, the kernel lowers its semaphores; the next one counts from one again.  On a busy machine slower replays
# are tried, and another one if the probe has fired between the moment at which the kernel enabled it and the one at which
# the program of the tracer was attached: that firing is lost.
killed_and_again() {
	for pace in 2 0.5 0.1 0.1 0.1; do
		! { kill_and_attach $pace && counted_from_one; } || break
	done
	is "a tracer killed by SIGKILL: the probe is disabled" "$fired" "$killed"
	check "a tracer killed by SIGKILL: the probe was enabled" [ "$killed" -gt 0 ]
	if counted_from_one; then
		ok "attached again: counted from one, without a gap"
	else
		not_ok "attached again: counted from one, without a gap" "$tmp/out" "$tmp/out.err"
	fi
}

on_an_interface() {
	space=netobs-tracers-$$
	name="bpftrace on a live interface: 50 datagrams sent and received"
	if ! namespaces "$space"; then
		skip "$name" "$kernel_refusal"
		return
	fi
	ip -n "$space" link set lo up
	ip netns exec "$space" "$program" -i lo --immediate udp dst port 9 2>>"$tmp/summary" &
	observer=$!
	wait_for observing "$observer" 1
	tracer "$tmp/out" "usdt:$program:netobs:udp__send { @send[((struct ipinfo *)arg2)->ip_daddr] = count(); }
		usdt:$program:netobs:udp__receive { @receive[((struct udpinfo *)arg4)->udp_length] = count(); }"
	ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" flood 127.0.0.1 9 50 500
	wait_for more_firings 49 udp-receive
	tracer_end
	kill -INT "$observer"
	wait "$observer"
	if grep -q '^@send\[127.0.0.1\]: 50$' "$tmp/out" && grep -q '^@receive\[408\]: 50$' "$tmp/out"; then
		ok "$name"
	else
		not_ok "$name" "$tmp/out" "$tmp/out.err" "$tmp/summary"
	fi
}

with_child
before_start
while_waiting
while_replaying
killed_and_again
on_an_interface
tap_done
