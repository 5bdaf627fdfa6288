#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real tracers on every probe site: they read through the public header the values that were passed, and they count every
# firing, whichever of its two sites a probe of packets executes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/tracers/perf_event.sh
. "$top/tests/tracers/perf_event.sh"

fire_sites=${FIRE_SITES:-$build/tests/probes/fire_sites}
probes=$("$fire_sites" names | wc -l)

# A copy with its own inode: firings of other processes are not counted.
cp -- "$fire_sites" "$tmp/fire" || exit 99
program=$tmp/fire

kinds='plain fast'
"$program" fast 0 || kinds=plain

# Each bpftrace is attached to both sites of every probe, and detaches from all of them once.
# printed COUNT: whether it has printed so many values
printed() {
	[ "$(grep -c '^[a-z]' "$tmp/out")" -gt "$1" ]
}

# values KIND: bpftrace reads the arguments of probes that execute their site of that kind
values() {
	values_before=$(grep -c '^[a-z]' "$tmp/out")
	"$program" "$1" 1
	wait_for printed "$((values_before + $(wc -l <"$tmp/expected") - 1))"
	grep '^[a-z]' "$tmp/out" | sed "1,${values_before}d" | sort >"$tmp/got"
	if diff -u "$tmp/expected" "$tmp/got" >"$tmp/diff"; then
		ok "bpftrace reads every argument of every probe, $1 site"
		note "$(wc -l <"$tmp/expected") values"
	else
		not_ok "bpftrace reads every argument of every probe, $1 site" "$tmp/diff" "$tmp/out.err"
	fi
}

# counts KIND PID: each firing of the process is counted once, although two sites of some probes are attached
counts() {
	counted=$(grep -c "^@\[[a-z0-9_]*, $2\]: 1000\$" "$tmp/out")
	if [ "$counted" -eq "$probes" ]; then
		ok "bpftrace counts every firing of $probes probes, $1 site"
	else
		not_ok "bpftrace counts every firing, $1 site" "$tmp/out" "$tmp/out.err"
	fi
}

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip 'bpftrace reads every argument of every probe' "$refused"
	skip 'bpftrace counts every firing' "$refused"
else
	"$program" expect | sort >"$tmp/expected"
	tracer "$tmp/out" "$("$program" script "$program")"
	for kind in $kinds; do
		values "$kind"
	done
	tracer_end
	tracer "$tmp/out" "$("$program" names | while read -r name rest; do
		echo "usdt:$program:netobs:$name { @[\"$name\", pid] = count(); }"
	done)"
	for kind in $kinds; do
		"$program" "$kind" 1000 &
		echo "$kind $!"
		wait "$!"
	done >"$tmp/processes"
	tracer_end
	while read -r kind process; do
		counts "$kind" "$process"
	done <"$tmp/processes"
fi

# gdb_probes: the probes that gdb lists, one per line
gdb_probes() {
	gdb -nx -batch -ex 'info probes stap netobs' "$program" 2>"$tmp/err" | awk '$2 == "netobs" { print $3 }' | sort -u
}

if have gdb; then
	gdb_probes >"$tmp/got"
	"$program" names | cut -d' ' -f1 | sort >"$tmp/expected"
	if diff -u "$tmp/expected" "$tmp/got" >"$tmp/diff"; then
		ok 'gdb lists every probe'
	else
		not_ok 'gdb lists every probe' "$tmp/diff" "$tmp/err"
	fi
	for kind in $kinds; do
		# The dollar signs are for gdb.
		# shellcheck disable=SC2016
		ASAN_OPTIONS=detect_leaks=0 gdb -nx -batch -ex 'break -probe-stap netobs:tcp__receive' \
			-ex "run $kind 1 >/dev/null" \
			-ex 'print ((struct tcpinfo *)$_probe_arg4)->tcp_dport' -ex continue "$program" >"$tmp/out" 2>&1
		if grep -q '^[$]1 = 443$' "$tmp/out" && grep -q 'exited normally' "$tmp/out"; then
			ok "gdb stops once at a probe and reads an argument, $kind site"
		else
			not_ok "gdb stops once at a probe and reads an argument, $kind site" "$tmp/out"
		fi
	done
else
	skip 'gdb lists every probe' 'no gdb'
	skip 'gdb stops at a probe and reads an argument' 'no gdb'
fi

if have perf; then
	# perf keeps its list of probes below the home directory.
	HOME=$tmp perf buildid-cache --add "$program" >"$tmp/err" 2>&1
	listed=$(HOME=$tmp perf list sdt 2>>"$tmp/err" | grep -c 'sdt_netobs:')
	is "perf lists every probe" "$listed" "$probes"
else
	skip 'perf lists every probe' 'no perf'
fi

no_perf=$(perf_refused)
[ -n "$no_perf" ] || no_perf=$refused
if [ -z "$no_perf" ]; then
	check "perf adds an event" perf_event "$program" tcp__send
	for kind in $kinds; do
		perf_record "$tmp/perf.data" "$program" "$kind" 7
		is "perf records every firing, $kind site" "$(perf_count "$tmp/perf.data" '.* arg1=[1-9]')" 7
	done
else
	skip 'perf records every firing' "$no_perf"
fi

# tests/tracers/site_live.sh attaches bcc to a process.
if have tplist-bpfcc; then
	tplist-bpfcc -l "$program" 2>"$tmp/err" | sed -n 's/.*netobs:\([a-z_0-9]*\).*/\1/p' | sort >"$tmp/got"
	"$program" names | cut -d' ' -f1 | sort >"$tmp/expected"
	if diff -u "$tmp/expected" "$tmp/got" >"$tmp/diff"; then
		ok 'tplist of bcc lists every probe once'
	else
		not_ok 'tplist of bcc lists every probe once' "$tmp/diff" "$tmp/err"
	fi
else
	skip 'tplist of bcc lists every probe once' 'no bcc'
fi
tap_done
