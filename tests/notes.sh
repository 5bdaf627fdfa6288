#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What tracers find in the program: the stapsdt notes.  Names, number of arguments, the grammar of every operand and the
# semaphores are as tests/notes.expected has them, at every optimisation and with every compiler that is here.
#
#	notes.sh		compare
#	notes.sh update		write the expectation anew
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

sites=$build/probes/sites.c
expected=$top/tests/notes.expected
fire_sites=${FIRE_SITES:-$build/tests/fire_sites}
case $(uname -m) in
x86_64) flags=-mno-red-zone ;;
*) flags= ;;
esac

# normalise PROGRAM: one line per note: provider:name, number of arguments, operands.  Which register it is differs from
# compiler to compiler and does not matter; that it is a plain register of 8 bytes does.
normalise() {
	readelf -n "$1" 2>/dev/null | awk '
		/Provider: / { provider = $NF }
		$1 == "Name:" { name = $2 }
		$1 == "Arguments:" {
			line = provider ":" name " " (NF - 1)
			for (i = 2; i <= NF; i++) {
				if ($i ~ /^8@%r([a-d]x|[sd]i|[0-9]+)$/ || $i ~ /^8@x[0-9]+$/)
					$i = "8@REG"
				line = line " " $i
			}
			print line
		}' | sort
}

# semaphores PROGRAM: complaints about its semaphores and names
semaphores() {
	readelf -n "$1" 2>/dev/null | awk '
		$1 == "Name:" {
			name = $2
			if (seen[name]++)
				print name ": more than one site"
			if (name ~ /-/)
				print name ": a hyphen, which perf rejects"
		}
		$1 == "Location:" {
			semaphore = $NF
			if (semaphore ~ /^0x0*$/)
				print name ": no semaphore"
			if (semaphore in owner)
				print name ": shares the semaphore of " owner[semaphore]
			owner[semaphore] = name
		}
		END {
			for (name in seen)
				n++
			if (n == 0)
				print "no notes at all"
		}'
}

# inspect NAME PROGRAM
inspect() {
	normalise "$2" >"$tmp/notes"
	if diff -u "$expected" "$tmp/notes" >"$tmp/diff"; then
		ok "$1: names and operands"
	else
		not_ok "$1: names and operands" "$tmp/diff"
	fi
	semaphores "$2" >"$tmp/semaphores"
	if [ ! -s "$tmp/semaphores" ]; then
		ok "$1: one site and one semaphore per name"
	else
		not_ok "$1: one site and one semaphore per name" "$tmp/semaphores"
	fi
}

# A caller whose arguments an optimiser would love to fold into the sites.
cat >"$tmp/main.c" <<'END'
#include "probes/sites.h"
int main(int argc, char **argv)
{
	static const void *args[6];

	(void)argv;
	for (int id = 0; id < PROBE_COUNT; id++)
		if (*probe_semaphores[id] != 0 || argc > 1)
			site_fire((enum probe_id)id, args);
	site_gld__send(0, 0, 0, 0, 0);
	return 0;
}
END

# built NAME COMPILER OPTION...
built() {
	built_name=$1
	shift
	if ! have "$1"; then
		skip "$built_name" "no $1"
		return
	fi
	# No flag at all on other machines than x86-64.
	# shellcheck disable=SC2086
	if "$@" $flags -I"$build" -I"$top" "$tmp/main.c" "$sites" -o "$tmp/program" 2>"$tmp/error"; then
		inspect "$built_name" "$tmp/program"
	else
		case $built_name in
		*LTO*) skip "$built_name" 'no link-time optimisation here' ;;
		*) not_ok "$built_name" "$tmp/error" ;;
		esac
	fi
}

if [ "${1-}" = update ]; then
	normalise "$fire_sites" >"$expected"
	wc -l "$expected"
	exit 0
fi

have readelf || skip_all 'no readelf'
for compiler in gcc clang; do
	for level in -O0 -O1 -O2 -O3 -Os; do
		built "$compiler $level" "$compiler" "$level"
	done
	built "$compiler -O3 with LTO" "$compiler" -O3 -flto
	built "$compiler with sanitizers" "$compiler" -O1 -fsanitize=address,undefined
	built "$compiler -O2 -fPIE, full relro, gc-sections" "$compiler" -O2 -fPIE -pie -ffunction-sections \
		-Wl,-z,relro,-z,now,--gc-sections
done
inspect 'fire_sites as built' "$fire_sites"
if [ -x "$netobsd" ]; then
	inspect 'netobsd as built' "$netobsd"
else
	skip 'netobsd as built' 'not built'
fi
tap_done
