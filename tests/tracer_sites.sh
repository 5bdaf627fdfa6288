#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real tracers on every probe site: what they read through the public header is what was passed, and they see as many
# firings as there were.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

header=$top/probes/netobs.h
fire_sites=${FIRE_SITES:-$build/tests/fire_sites}
probes=$("$fire_sites" names | wc -l)

# A copy with an inode of its own: nobody else's firings are counted.
cp -- "$fire_sites" "$tmp/fire" || exit 99
program=$tmp/fire

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip 'bpftrace reads every argument of every probe' "$refused"
	skip 'bpftrace counts every firing' "$refused"
else
	"$program" script "$program" >"$tmp/script.bt"
	"$program" expect | sort >"$tmp/expected"
	bpftrace --include "$header" "$tmp/script.bt" -c "$program 1" >"$tmp/out" 2>"$tmp/err"
	grep -v -e '^Attaching' -e '^$' "$tmp/out" | sort >"$tmp/got"
	if diff -u "$tmp/expected" "$tmp/got" >"$tmp/diff"; then
		ok "bpftrace reads every argument of every probe ($(wc -l <"$tmp/expected") values)"
	else
		not_ok 'bpftrace reads every argument of every probe' "$tmp/diff" "$tmp/err"
	fi

	"$program" names | while read -r name rest; do
		echo "usdt:$program:netobs:$name { @[\"$name\"] = count(); }"
	done >"$tmp/count.bt"
	bpftrace "$tmp/count.bt" -c "$program 1000" >"$tmp/out" 2>"$tmp/err"
	counted=$(grep -c '^@\[[a-z0-9_]*\]: 1000$' "$tmp/out")
	if [ "$counted" -eq "$probes" ]; then
		ok "bpftrace counts every firing of $probes probes"
	else
		not_ok 'bpftrace counts every firing' "$tmp/out" "$tmp/err"
	fi
fi

# gdb_probes: the probes that gdb knows, one per line
gdb_probes() {
	gdb -nx -batch -ex 'info probes stap netobs' "$program" 2>"$tmp/err" | awk '$2 == "netobs" { print $3 }' | sort
}

if have gdb; then
	gdb_probes >"$tmp/got"
	"$program" names | cut -d' ' -f1 | sort >"$tmp/expected"
	if diff -u "$tmp/expected" "$tmp/got" >"$tmp/diff"; then
		ok 'gdb knows every probe'
	else
		not_ok 'gdb knows every probe' "$tmp/diff" "$tmp/err"
	fi
	# The dollar signs are for gdb.
	# shellcheck disable=SC2016
	gdb -nx -batch -ex 'break -probe-stap netobs:tcp__receive' -ex 'run 1 >/dev/null' \
		-ex 'print ((struct tcpinfo *)$_probe_arg4)->tcp_dport' "$program" >"$tmp/out" 2>&1
	if grep -q '^[$]1 = 443$' "$tmp/out"; then
		ok 'gdb stops at a probe and reads an argument'
	else
		not_ok 'gdb stops at a probe and reads an argument' "$tmp/out"
	fi
else
	skip 'gdb knows every probe' 'no gdb'
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
tap_done
