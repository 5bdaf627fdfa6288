#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The commands that README.md shows print what it says that they print.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"

# The README's paths, with a program of our own that no other test runs.
mkdir "$tmp/build"
cp -- "$netobsd" "$tmp/build/netobsd" && ln -s "$top/tests" "$top/probes" "$top/scripts" "$tmp" || exit 99
export NETOBSD="$tmp/build/netobsd"
cd "$tmp" || exit 99
refused=$(tracing_refused)
one_processor=
! have taskset || one_processor="taskset -c $(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')"

# N.command and N.expected for each block of lines "    $ COMMAND", "    > MORE OF IT", "    OUTPUT"
awk '/^    [$] / { n++; file = n ".command"; print substr($0, 7) >file; next }
	/^    > / && file { print substr($0, 7) >file; next }
	/^    / && file { file = n ".expected"; print substr($0, 5) >file; next }
	{ file = "" }' "$top/README.md"

n=1
while [ -e "$n.command" ]; do
	name="question $n"
	if grep -qE '^(bpftrace|scripts/netobs)' "$n.command" && [ -n "$refused" ]; then
		skip "$name" "$refused"
	else
		# On one processor: bpftrace reads the buffers of several one after the other.
		$one_processor sh "$n.command" 2>"$n.errors" | sed 's/ *$//' | grep . >"$n.got"
		if diff -u "$n.expected" "$n.got" >"$n.diff"; then
			ok "$name"
		else
			not_ok "$name" "$n.diff" "$n.errors"
		fi
	fi
	n=$((n + 1))
done
check "there are ten questions" [ "$n" -ge 11 ]

tap_done
