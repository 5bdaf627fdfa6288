#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A first proof with each tracer that the README names: bpftrace, perf and gdb attach to the shipped program, count every
# firing and read the arguments.  Few probes, because bpftrace waits a tenth of a second for each site from which it detaches;
# tests/tracers/tracers.sh has all probes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
have perf gdb python3 flock || skip_all "perf, gdb, python3 or flock is not installed"
program=$(private_netobsd) || exit 99
event='' observer=''
# clean_up: also the event of perf, which is in the kernel
clean_up() {
	[ -z "$observer" ] || kill -9 "$observer" 2>/dev/null
	[ -z "$event" ] || perf probe -q --del "$event" 2>/dev/null
	rm -rf "$tmp"
}
trap clean_up EXIT
# Tracers part a command at blanks, which the path of the source tree may have.
cp -- "$top/tests/captures/questions.pcap" "$top/tests/captures/one-tcp-rst.pcap" "$tmp" || exit 99
questions=$tmp/questions.pcap refusal=$tmp/one-tcp-rst.pcap

# ---------------------------------------------------------------------------------------------------------- expectations

"$program" --list-probes | sed -n '/^[a-z-]*$/s/-/__/gp' | sort >"$tmp/names"
"$program" -r "$questions" --print=tcp-state-change,tcp-send,tcp-connect-refused --format json >"$tmp/firings"
python3 "$top/tests/tracers/first_proof.py" <"$tmp/firings" >"$tmp/expected"
sort "$tmp/expected" >"$tmp/wanted"
changes=$(grep -c '"probe":"tcp-state-change"' "$tmp/firings")
check "the printer has firings: $changes state changes" test "$changes" -gt 30 -a "$(grep -c '^@refused' "$tmp/wanted")" -gt 5

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
observer=''
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
observer=''
wait "$tracer"
is "netobs -p: it ends with the netobsd that it traces" $? 0
same "netobs -p: a script of the user on a netobsd that runs"

# A formula is a probe, in a file of its own.
"$program" --formula 'closed = tcp-connect-refused where tcps_rport < 25' --install-formulas "$tmp/formulas.so" || exit 99
tracer "$tmp/out" "usdt:$tmp/formulas.so:netobs:closed { @[((struct tcpsinfo *)arg3)->tcps_rport] = count(); }"
"$program" -r "$questions" --formula 'closed = tcp-connect-refused where tcps_rport < 25' --formula-file "$tmp/formulas.so" 2>"$tmp/err"
tracer_end
is "bpftrace: a formula by its name" "$(grep '^@' "$tmp/out" | sort | paste -s -d ' ' -)" "@[21]: 1 @[22]: 1 @[23]: 1"

# ------------------------------------------------------------------------------------------------------------- perf, gdb

# perf keeps its list of probes below the home directory, and the probes themselves in the kernel, where another may have
# this name already: perf prints the one that it gives.  One perf at a time, else two choose the same.
# perf_records: the number of state changes that perf records
perf_records() {
	HOME=$tmp flock /sys/kernel/tracing perf probe --force -x "$program" --add sdt_netobs:tcp__state__change >"$tmp/err" 2>&1
	event=$(sed -n 's/^ *\(sdt_netobs:tcp__state__change[_0-9]*\) .*/\1/p' "$tmp/err" | sort -u | head -n 1)
	HOME=$tmp perf record -q -o "$tmp/perf.data" -e "$event" "$program" -r "$questions" >>"$tmp/err" 2>&1
	HOME=$tmp perf script -i "$tmp/perf.data" 2>>"$tmp/err" | grep -c "$event:" >"$tmp/recorded"
	[ "$(cat "$tmp/recorded")" -eq "$changes" ] || cat "$tmp/recorded" "$tmp/err"
}

HOME=$tmp perf buildid-cache --add "$program" >"$tmp/err" 2>&1
HOME=$tmp perf list sdt 2>>"$tmp/err" | sed -n 's/^ *sdt_netobs:\([a-z_]*\).*/\1/p' | sort >"$tmp/listed"
check "perf lists every probe of the program" diff -u "$tmp/names" "$tmp/listed"
is "perf probe -x and perf record: $changes state changes" "$(perf_records)" ""

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
