#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A first proof with each tracer that the README names: bpftrace, perf and gdb attach to the shipped program, count every
# firing and read the arguments.  Few probes, because bpftrace waits a tenth of a second for each site from which it detaches;
# tests/tracers/tracers.sh has all probes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
program=$(private_netobsd) || exit 99
# shellcheck source=tests/tracers/perf_event.sh
. "$top/tests/tracers/perf_event.sh"
# Tracers part a command at blanks, which the path of the source tree may have.
cp -- "$top/tests/captures/questions.pcap" "$top/tests/captures/one-tcp-rst.pcap" "$tmp" || exit 99
questions=$tmp/questions.pcap refusal=$tmp/one-tcp-rst.pcap

# ---------------------------------------------------------------------------------------------------------- expectations

"$program" --list-probes | sed -n '/^[a-z-]*$/s/-/__/gp' | sort >"$tmp/names"
"$program" -r "$questions" --print=tcp-state-change,tcp-send,tcp-connect-refused --format json >"$tmp/firings"
python3 "$top/tests/tracers/first_proof.py" <"$tmp/firings" >"$tmp/expected"
sort "$tmp/expected" >"$tmp/wanted"
changes=$(grep -c '"probe":"tcp-state-change"' "$tmp/firings")
check "the printer has firings" test "$changes" -gt 30 -a "$(grep -c '^@refused' "$tmp/wanted")" -gt 5

# script: the same questions for bpftrace, with a line for each state change
script() {
	cat <<-BT
		usdt:$program:netobs:tcp__state__change {
			printf("%lu %s -> %s\n", ((struct csinfo *)arg1)->cs_cid, ((struct tcpsinfo *)arg2)->tcps_statestr,
			    ((struct tcpnsinfo *)arg3)->tcps_statestr);
		}
		usdt:$program:netobs:tcp__send {
			@sent[((struct ipinfo *)arg2)->ip_saddr] = sum(((struct tcpinfo *)arg4)->tcp_payload);
		}
		usdt:$program:netobs:tcp__connect__refused {
			@refused[((struct ipinfo *)arg2)->ip_saddr, ((struct tcpsinfo *)arg3)->tcps_rport] = count();
		}
	BT
}

# all_changes: whether bpftrace has written every state change
all_changes() {
	[ "$(grep -c -e ' -> ' "$tmp/out")" -ge "$changes" ]
}

# same NAME: ok if the output of bpftrace, in any order, is what the printer says
same() {
	grep -e ' -> ' -e '^@' "$tmp/out" | sort >"$tmp/got"
	if diff -u "$tmp/wanted" "$tmp/got" >"$tmp/diff"; then
		ok "$1"
	else
		not_ok "$1" "$tmp/diff" "$tmp/out.err"
	fi
}

# -------------------------------------------------------------------------------------------------------------- bpftrace

with_bpftrace() {
	tracer "$tmp/out" "$(script)"
	"$program" -r "$questions" 2>"$tmp/err"
	wait_for all_changes
	tracer_end
	same "bpftrace by path: every firing of a replay, with its arguments"

	mkfifo "$tmp/fifo"
	# A netobsd that runs: its capture comes when the tracer is attached.
	"$program" -r "$tmp/fifo" 2>"$tmp/err" &
	observer=$!
	wait_for begun "$observer"
	tracer_pid=$observer tracer "$tmp/out" "$(script)"
	"$program" -r "$refusal" 2>"$tmp/other.err"
	cat "$questions" >"$tmp/fifo"
	wait "$observer"
	wait_for all_changes
	tracer_end
	same "bpftrace by process: its firings, and not those of another process of the program"

	# netobs with a script of the user, on a netobsd that runs
	"$program" -r "$tmp/fifo" 2>"$tmp/err" &
	observer=$!
	wait_for begun "$observer"
	{
		printf '#include <netobs.h>\n%s\n' 'BEGIN { printf("attached\n"); }'
		script | sed "s|^usdt:$program:|usdt:/usr/sbin/netobsd:|"
	} >"$tmp/mine.bt"
	: >"$tmp/out"
	NETOBSD=$program "$top/scripts/netobs" "$tmp/mine.bt" -p "$observer" >"$tmp/out" 2>"$tmp/out.err" </dev/null &
	tracer=$!
	wait_while "$tracer" grep -q '^attached$' "$tmp/out"
	cat "$questions" >"$tmp/fifo"
	wait "$observer"
	wait "$tracer"
	is "netobs -p: it ends with the netobsd that it traces" $? 0
	same "netobs -p: a script of the user on a netobsd that runs"

	# A formula is a probe, in a file of its own.
	"$program" --formula 'closed = tcp-connect-refused where tcps_rport < 25' --install-formulas "$tmp/formulas.so" || exit 99
	tracer "$tmp/out" "usdt:$tmp/formulas.so:netobs:closed { @[((struct tcpsinfo *)arg3)->tcps_rport] = count(); }"
	"$program" -r "$questions" --formula 'closed = tcp-connect-refused where tcps_rport < 25' --formula-file "$tmp/formulas.so" 2>"$tmp/err"
	tracer_end
	is "bpftrace: a formula by its name" "$(grep '^@' "$tmp/out" | sort | paste -s -d ' ' -)" "@[21]: 1 @[22]: 1 @[23]: 1"
}

refused=$(tracing_refused)
if [ -z "$refused" ]; then
	with_bpftrace
else
	skip "bpftrace by path: every firing of a replay, with its arguments" "$refused"
	skip "bpftrace by process: its firings, and not those of another process of the program" "$refused"
	skip "netobs -p: it ends with the netobsd that it traces" "$refused"
	skip "netobs -p: a script of the user on a netobsd that runs" "$refused"
	skip "bpftrace: a formula by its name" "$refused"
fi

# ------------------------------------------------------------------------------------------------------------------ perf

with_perf() {
	check "perf adds an event" perf_event "$program" tcp__state__change
	HOME=$tmp perf list sdt 2>>"$tmp/perf.err" | sed -n 's/^ *sdt_netobs:\([a-z_]*\).*/\1/p' | sort >"$tmp/listed"
	check "perf lists every probe of the program" diff -u "$tmp/names" "$tmp/listed"
	perf_record "$tmp/perf.data" "$program" -r "$questions"
	is "perf records every state change" "$(perf_count "$tmp/perf.data")" "$changes"
}

refused=$(perf_refused)
if [ -z "$refused" ]; then
	with_perf
else
	skip "perf adds an event" "$refused"
	skip "perf lists every probe of the program" "$refused"
	skip "perf records every state change" "$refused"
fi

# ------------------------------------------------------------------------------------------------------------------- gdb

if ! have gdb; then
	skip "gdb lists every probe of the program" "gdb is not installed"
	skip "gdb reads arguments" "gdb is not installed"
	skip "gdb prints every state change that the built-in printer prints" "gdb is not installed"
	tap_done
fi
gdb -nx -batch -ex 'info probes stap netobs' "$program" 2>"$tmp/err" | awk '$2 == "netobs" { print $3 }' | sort -u >"$tmp/listed"
check "gdb lists every probe of the program" diff -u "$tmp/names" "$tmp/listed"
# The dollar signs are for gdb.
# shellcheck disable=SC2016
gdb -nx -batch -ex 'break -probe-stap netobs:tcp__connect__refused' \
	-ex "run -r $refusal" -ex 'print ((struct tcpsinfo *)$_probe_arg3)->tcps_rport' \
	-ex 'print ((struct ipinfo *)$_probe_arg2)->ip_saddr' "$program" >"$tmp/out" 2>&1
if grep -q '^[$]1 = 20000$' "$tmp/out" && grep -q '^[$]2 = "10.1.1.6"' "$tmp/out"; then
	ok "gdb reads arguments"
else
	not_ok "gdb reads arguments" "$tmp/out"
fi
gdb -nx -batch -x "$top/scripts/gdb/changes.gdb" --args "$program" -r "$questions" >"$tmp/out" 2>"$tmp/err"
grep -e ' -> ' "$tmp/out" >"$tmp/printed"
grep -e ' -> ' "$tmp/expected" >"$tmp/changes"
check "gdb prints every state change that the built-in printer prints" diff -u "$tmp/changes" "$tmp/printed"

tap_done
