#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipes for the other tracers, each on a replay, against the built-in printer.  bpftrace has tests/scripts/scripts_traced.sh,
# perf and gdb tests/tracers/first_proof.sh, DTrace tests/scripts/d_dtrace.sh.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
program=$(private_netobsd) || exit 99
home=$top/tests/captures/home-network.pcap
refused=$(tracing_refused)

# The question for most of them: payload by sender.
"$program" -r "$home" --print=tcp-send --format json | python3 "$top/tests/tracers/first_proof.py" |
	sed -n 's/^@sent\[\(.*\)\]: /\1 /p' | sort >"$tmp/wanted"

# ---------------------------------------------------------------------------------------------------------------- bcc

name="bcc sums what the built-in printer prints"
if [ -n "$refused" ]; then
	skip "$name" "$refused"
elif ! /usr/bin/python3 -c 'import bcc' 2>/dev/null; then
	skip "$name" "bcc for python3 is not installed"
elif ! kernel_headers 2>/dev/null; then
	skip "$name" "bcc needs the headers of a kernel"
else
	/usr/bin/python3 "$top/scripts/bcc/talkers.py" -r "$home" -n "$program" -I "$top/probes" >"$tmp/out" 2>"$tmp/err"
	grep -v '^missed' "$tmp/out" | sort >"$tmp/sums"
	if diff -u "$tmp/wanted" "$tmp/sums" >"$tmp/diff" && grep -q '^missed 0 firings' "$tmp/out"; then
		ok "$name"
	else
		not_ok "$name" "$tmp/diff" "$tmp/err"
	fi
fi

# ---------------------------------------------------------------------------------------------------------- SystemTap

name="SystemTap sums what the built-in printer prints"
if ! have stap; then
	skip "$name" "stap is not installed"
elif [ -n "$refused" ]; then
	skip "$name" "$refused"
elif [ ! -e "/lib/modules/$(uname -r)/build" ]; then
	skip "$name" "no headers of the running kernel; the tapset is checked in tests/probes/libraries.sh and was not run"
else
	mkdir "$tmp/tapset"
	sed "s|process(\"[^\"]*\")|process(\"$program\")|" "$build/probes/tapset/netobs.stp" >"$tmp/tapset/netobs.stp"
	stap -I "$tmp/tapset" -e 'global sent
		probe netobs.tcp_send { sent[ip_saddr] += tcp_payload }
		probe end { foreach (sender in sent) printf("%s %d\n", sender, sent[sender]) }' \
		-c "$program -r $home" >"$tmp/out" 2>"$tmp/err"
	sort "$tmp/out" >"$tmp/sums"
	check "$name" diff -u "$tmp/wanted" "$tmp/sums"
fi

tap_done
