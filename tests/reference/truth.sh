#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares netobs with the Linux kernel's own record of the sockets in tests/truth: the same states and retransmissions,
# both in the TCP tracker and in the firings of the probes.  truth.py defines what counts as the same.  Folders of
# $NETOBS_SHARED/truth with another record are compared as well.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
[ -x "$build/tests/reference/truth_replay" ] || skip_all "truth_replay is not built"

shipped=$top/tests/truth

# shipped_already FOLDER: whether the source tree has the same record
shipped_already() {
	for ours in "$shipped/scripted" "$shipped/crafted" "$shipped"/live/*; do
		! cmp -s "$ours/truth.tsv" "$1/truth.tsv" || return 0
	done
	return 1
}

set -- "$shipped/scripted" "$shipped/crafted" "$shipped"/live/*
further=0
for folder in "$shared/truth/scripted" "$shared"/truth/live/*; do
	if [ -e "$folder/truth.tsv" ] && ! shipped_already "$folder"; then
		set -- "$@" "$folder"
		further=$((further + 1))
	fi
done
note "$(($# - further)) folders are shipped, $further further ones in $shared/truth"

# compare NAME ARGUMENT...: relays the points of truth.py
compare() {
	note "$1"
	shift
	python3 "$top/tests/reference/truth.py" --shipped "$shipped" "$@" >"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] ||
		not_ok "truth.py runs" "$tmp/err"
	relay "$tmp/points"
}

compare "the tracker" "$build/tests/reference/truth_replay" "$@"
[ ! -x "$netobsd" ] || compare "the probes" --netobsd "$netobsd" "$build/tests/reference/truth_replay" "$@"
tap_done
