#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# README.md agrees with the program: the commands that it shows print the output that it shows, and its table of
# scripts has every script of `netobs --list`.  The files that README.md and its neighbours name exist.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"

# The README's paths, with a copy of the program that no other test runs.
mkdir "$tmp/build"
cp -- "$netobsd" "$tmp/build/netobsd" && ln -s "$top/tests" "$top/probes" "$top/scripts" "$tmp" || exit 99
cp -R -- "$top/conf" "$tmp" || exit 99 # netobsd of root reads no configuration of other users
export NETOBSD="$tmp/build/netobsd"
cd "$tmp" || exit 99
refused=$(tracing_refused)
one_processor=
! have taskset || one_processor="taskset -c $(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')"

# --------------------------------------------------------------------------------------------------- commands

# N.command and N.expected for each block of lines "    $ COMMAND", "    > MORE OF IT", "    OUTPUT"
awk '/^    [$] / { n++; file = n ".command"; print substr($0, 7) >file; next }
	/^    > / && file { print substr($0, 7) >file; next }
	/^    / && file { file = n ".expected"; print substr($0, 5) >file; next }
	{ file = "" }' "$top/README.md"

# The output of `./bootstrap run` by the built-in printer: the functions of bootstrap, without the part that installs
# and builds.  README shows consecutive lines of it.
{
	sed '/^# -* main$/,$d' "$top/bootstrap"
	echo "show printer"
} >bootstrap-show.sh

# excerpt EXPECTED GOT: prints EXPECTED if its lines are consecutive lines of GOT, else GOT
excerpt() {
	if awk 'NR == FNR { want[n++] = $0; next }
		{ lines[m++] = $0 }
		END {
			for (i = 0; n > 0 && i + n <= m; i++) {
				for (j = 0; j < n && lines[i + j] == want[j]; j++)
					;
				if (j == n)
					exit 0
			}
			exit 1
		}' "$1" "$2"; then
		cat "$1"
	else
		cat "$2"
	fi
}

n=1
while [ -e "$n.command" ]; do
	name="$(head -n 1 "$n.command" | cut -c 1-60)"
	if grep -qE '^(bpftrace|scripts/netobs [^c]|scripts/netobs c[^o])' "$n.command" && [ -n "$refused" ]; then
		skip "$name" "$refused"
	else
		# On one processor: bpftrace reads the buffers of several one after the other.
		if grep -qx './bootstrap run' "$n.command"; then
			sh bootstrap-show.sh >"$n.all" 2>"$n.errors"
			excerpt "$n.expected" "$n.all" >"$n.got"
		else
			$one_processor sh "$n.command" 2>"$n.errors" | sed 's/ *$//' | grep . >"$n.got"
		fi
		if diff -u "$n.expected" "$n.got" >"$n.diff"; then
			ok "$name"
		else
			not_ok "$name" "$n.diff" "$n.errors"
		fi
	fi
	n=$((n + 1))
done
is "commands with output" "$((n - 1))" 8

# ------------------------------------------------------------------------------------------ ready-made scripts

"$top/scripts/netobs" --list | awk '{ print $1 }' | sort >listed
# shellcheck disable=SC2016
sed -n '/^## Ready-made scripts/,/^## /p' "$top/README.md" | grep '^|' | grep -o '`[^`]*`' | tr -d '`' | sort >shown
check "the table has each script of netobs --list once" diff -u listed shown
check "there are scripts" [ -s listed ]

# ------------------------------------------------------------------------------------------------ named files

# named PAGE...: the paths of the source tree in these pages, except those with a placeholder such as PROTOCOL
named() {
	sed -E 's/[^A-Za-z0-9_.\/-]+/\n/g' "$@" | sed -e 's/[.]*$//' -e 's/\/$//' |
		grep -E '^(dissect|flow|probes|apps|base|config|host|owner|confine|observe|capture|daemon|tools|conf|man|scripts|tests|bench|debian)/.' |
		grep -vE '(PROTOCOL|NAME|MODULE|ROOM)' | sort -u
}

cd "$top" || exit 99
set -- README.md CONTRIBUTING.md GLOSSARY.md SECURITY.md bench/NOTES.md tests/reference/README.md
named "$@" >"$tmp/named"
while read -r path; do
	[ -e "$path" ] || [ -e "$path.c" ] || grep -nF -- "$path" "$@" | head -n 1
done <"$tmp/named" >"$tmp/missing"
check "every file named exists" [ ! -s "$tmp/missing" ]
[ ! -s "$tmp/missing" ] || note "$(cat "$tmp/missing")"
check "files are named" [ "$(wc -l <"$tmp/named")" -gt 50 ]

tap_done
