#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The Linux kernel's own record of the sockets in the shared captures: the same states and retransmissions, both as the
# TCP tracker has them and as the probes tell them.  truth.py says what counts as the same.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
[ -d "$shared/truth" ] || skip_all "there is no shared record of the kernel"
[ -x "$build/tests/reference/truth_replay" ] || skip_all "truth_replay is not built"

# compare NAME ARGUMENT...: truth.py on every folder; its points are ours
compare() {
	note "$1"
	shift
	python3 "$top/tests/reference/truth.py" "$@" "$build/tests/reference/truth_replay" "$shared/truth/scripted" "$shared"/truth/live/* \
		>"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] || not_ok "truth.py runs" "$tmp/err"
	relay "$tmp/points"
}

compare "what the tracker says"
[ ! -x "$netobsd" ] || compare "what the probes tell" --netobsd "$netobsd"
tap_done
