#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Scripts in the manner of published ones, translated by scripts/translate for bpftrace: they print what follows from the
# firings of the built-in printer.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
questions=$top/tests/captures/questions.pcap
"$NETOBSD" -r "$questions" --print --format json >"$tmp/firings"

# Three at a time: bpftrace waits a tenth of a second for each site from which it detaches.
running=0
for script in "$top"/tests/scripts/published/*.d; do
	name=$(basename "$script" .d)
	"$top/scripts/translate" -b "$script" >"$tmp/$name.bt" 2>"$tmp/$name.err" || continue
	"$top/scripts/netobs" "$tmp/$name.bt" -r "$questions" >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
	running=$((running + 1))
	[ $((running % 3)) -ne 0 ] || wait
done
wait
for script in "$top"/tests/scripts/published/*.d; do
	name=$(basename "$script" .d)
	sed -e 's/ *|@* *|$//' -e '/^\[.* 0$/d' -e 's/^\(\[.*[])]\)  */\1 /' -e 's/: $/:/' "$tmp/$name.out" | grep . | sort >"$tmp/out"
	"$top/tests/scripts/translate_truth.py" "$name" <"$tmp/firings" | sort >"$tmp/wanted"
	if diff -u "$tmp/wanted" "$tmp/out" >"$tmp/diff"; then
		ok "$name after translation prints what the firings say"
	else
		not_ok "$name after translation prints what the firings say" "$tmp/diff" "$tmp/$name.err"
	fi
done

tap_done
