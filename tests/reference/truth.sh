#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares netobs with the Linux kernel's own record of the sockets in tests/truth: the same states and retransmissions,
# both in the TCP tracker and in the firings of the probes.  truth.py defines what counts as the same.
#
#	truth.sh [FOLDER...]	compares these folders instead
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
program=$build/tests/reference/truth_replay
built "$program"
built "$netobsd"

# compare NAME ARGUMENT...: relays the points of truth.py
compare() {
	note "$1"
	shift
	python3 "$top/tests/reference/truth.py" "$@" >"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] ||
		not_ok "truth.py runs" "$tmp/err"
	relay "$tmp/points"
}

if [ $# -gt 0 ]; then
	compare "the tracker" "$program" "$@"
	compare "the probes" --netobsd "$netobsd" "$program" "$@"
else
	shipped=$top/tests/truth
	set -- "$shipped/scripted" "$shipped/crafted" "$shipped/overflow" "$shipped"/live/*
	compare "the tracker" --shipped "$shipped" "$program" "$@"
	compare "the probes" --shipped "$shipped" --netobsd "$netobsd" "$program" "$@"
fi
tap_done
