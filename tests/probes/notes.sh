#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The stapsdt notes of the program, which tracers read.  Names, number of arguments and the form of every operand are those
# of tests/probes/notes.expected, and each name has one semaphore, at every optimisation.  The table of sites agrees with them.
# On x86-64 a probe of packets has two sites, which must differ in their nops only: see usdt/site.h.  So has each name of
# formulas.so.
#
#	notes.sh		compare: what gcc compiles, and the programs as they are built
#	notes.sh others		compare what clang compiles
#	notes.sh update		write the expectation anew
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

sites=$build/probes/sites.c
expected=$top/tests/probes/notes.expected
fire_sites=${FIRE_SITES:-$build/tests/probes/fire_sites}
compilers=gcc
[ "${1-}" != others ] || compilers=clang
# make check-cross sets these, to check a build for another processor.
processor=${NOTES_PROCESSOR:-$(uname -m)}
compilers=${NOTES_COMPILERS:-$compilers}
flags=${NOTES_SYSROOT:+--sysroot=$NOTES_SYSROOT}
# The registers of the arguments, as patterns in the form that the parsers of libbcc, which bpftrace uses, and of libbpf accept.
# DTrace knows no operands and reads the registers in which the ABI passes arguments; elsewhere it is any 8-byte register:
# %r0 to %r15 for s390x.  Other forms are read differently.
case $processor in
x86_64) flags="$flags -mno-red-zone" sites_per_name=2 registers='%rdi %rsi %rdx %rcx %r8 %r9' ;;
aarch64) sites_per_name=1 registers='x0 x1 x2 x3 x4 x5' ;;
s390x) sites_per_name=1 registers=$(yes '%r([0-9]|1[0-5])' | head -n 6 | paste -s -d ' ' -) ;;
*) sites_per_name=1 registers=$(yes '%?[a-z]+[0-9]+' | head -n 6 | paste -s -d ' ' -) ;;
esac

# The provider whose notes are inspected, and a pattern of the names that have $sites_per_name sites; the others have one.
provider=netobs
packets=$(sed -n '/^ \* Probes of packets/,/\*\//p' "$top/probes/netobs.d" | tr ' ' '\n' | sed -n 's/^\([a-z]*-[a-z-]*\)$/\1/p' |
	sed 's/-/__/g' | grep -v '^x86__' | paste -s -d '|' -)
two_sites="^($packets)\$"

# notes PROGRAM: those of the provider, as readelf prints them
notes() {
	readelf -n "$1" 2>/dev/null | awk -v provider="$provider" '
		/Provider: / { inside = $NF == provider }
		inside { print }'
}

# normalise PROGRAM: one line per name: provider:name, number of arguments, operands.  That of an argument in its register is
# 8@REG, because which register it is differs from processor to processor.
normalise() {
	notes "$1" | awk -v registers="$registers" '
		BEGIN { split(registers, register, " ") }
		/Provider: / { provider = $NF }
		$1 == "Name:" { name = $2 }
		$1 == "Arguments:" {
			line = provider ":" name " " (NF - 1)
			for (i = 2; i <= NF; i++) {
				if ($i ~ "^8@" register[i - 1] "$")
					$i = "8@REG"
				line = line " " $i
			}
			print line
		}' | sort -u
}

# inspect_same PROGRAM: complaints about the notes of one name, of which there are $sites_per_name
inspect_same() {
	notes "$1" | awk -v most="$sites_per_name" -v two="$two_sites" '
		$1 == "Name:" {
			name = $2
			sites[name]++
			if (name ~ /-/)
				print name ": a hyphen, which perf rejects"
		}
		$1 == "Location:" {
			semaphore = $NF
			if (semaphore ~ /^0x0*$/)
				print name ": no semaphore"
			if ((semaphore in owner) && owner[semaphore] != name)
				print name ": shares the semaphore of " owner[semaphore]
			owner[semaphore] = name
			if ((name in has) && has[name] != semaphore)
				print name ": two semaphores, of which some tracers raise one"
			has[name] = semaphore
		}
		$1 == "Arguments:" {
			if ((name in arguments) && arguments[name] != $0)
				print name ": operands differ:" arguments[name] " and" $0
			arguments[name] = $0
		}
		END {
			for (name in sites) {
				n++
				wanted = name ~ two ? most : 1
				if (sites[name] != wanted)
					print name ": " sites[name] " sites, not " wanted
			}
			if (n == 0)
				print "no notes at all"
		}'
}

# inspect_code PROGRAM: complaints about the machine code: the nops of the sites, and a red zone in the functions around them
inspect_code() {
	{
		notes "$1" | sed -n 's/^ *Name: /Name: /p; s/^ *Location: 0x0*\([0-9a-f]*\),.*/Site: \1/p'
		objdump -d -w --section=.text "$1"
	} | awk -F '\t' -v most="$sites_per_name" -v two="$two_sites" '
		function complain(what) {
			print name[address] " at " address ": " what
		}
		# The last twelve bits: where in its page.
		function in_page(hex,    i, n) {
			for (i = length(hex) - 2; i <= length(hex); i++)
				n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		/^Name: / { last = substr($0, 7) }
		/^Site: / { name[substr($0, 7)] = last; names[last] = 1 }
		/^[0-9a-f]+ <.*>:$/ { in_site = $0 ~ /<site_[a-z]+__/; functions += in_site; room = 0 }
		NF < 3 { next }
		{
			address = $1
			gsub(/[ :]/, "", address)
			sub(/ +$/, "", $2)
		}
		# Below the stack pointer; or below the frame pointer, and the stack pointer not moved out of the way.
		in_site && ($3 ~ /-0x[0-9a-f]+\(%rsp/ || ($3 ~ /-0x[0-9a-f]+\(%rbp/ && !room)) { print "red zone: " $0 }
		in_site && $3 ~ /^sub +\$0x[0-9a-f]+,%rsp/ { room = 1 }
		plain != "" {
			if ($2 != "66 2e 0f 1f 84 00 00 00 00 00")
				print plain ": no ten-byte nop after the plain site, but " $2
			plain = ""
		}
		address in name {
			if ($2 == "90") {
				plains[name[address]]++
				plain = name[address]
			} else if ($2 == "0f 1f 44 00 00")
				fasts[name[address]]++
			else
				complain("no site, but " $2)
			if (in_page(address) + ($2 == "90" ? 11 : 5) > 4096)
				complain("crosses a page")
		}
		END {
			for (n in names)
				if (plains[n] != 1 || fasts[n] != (n ~ two ? most - 1 : 0))
					print n ": " plains[n] + 0 " plain and " fasts[n] + 0 " fast sites"
			if (functions == 0)
				print "no site functions found"
		}'
}

# inspect_rows PROGRAM: complaints about the table of sites, and about sites that are in another function than DTrace is told
inspect_rows() {
	python3 "$top/tests/probes/site_rows.py" "$1" 2>&1
}

# inspects WHAT: whether it can be inspected here
inspects() {
	case $1 in
	code) [ "$processor" = x86_64 ] && have objdump ;;
	rows) { [ "$processor" = x86_64 ] || [ "$processor" = aarch64 ]; } && have python3 ;;
	esac
}

# inspect NAME PROGRAM
inspect() {
	normalise "$2" >"$tmp/notes"
	if diff -u "$expected" "$tmp/notes" >"$tmp/diff"; then
		ok "$1: names and operands"
	else
		not_ok "$1: names and operands" "$tmp/diff"
	fi
	for inspect_what in same code rows; do
		[ "$inspect_what" = same ] || inspects "$inspect_what" || continue
		"inspect_$inspect_what" "$2" >"$tmp/complaints"
		if [ ! -s "$tmp/complaints" ]; then
			ok "$1: $inspect_what"
		else
			not_ok "$1: $inspect_what" "$tmp/complaints"
		fi
	done
}

# A caller with constant arguments, which an optimiser could fold into the sites.
cat >"$tmp/main.c" <<'END'
#include "probes/site/site_select.h"
#include "probes/sites.h"
#include "usdt/site_table.h"
int main(int argc, char **argv)
{
	static const void *args[6];

	(void)argv;
	site_select(SITE_AUTO);
	for (int id = 0; id < PROBE_COUNT; id++)
		if (*probe_semaphores[id] != 0 || argc > 1)
			site_fire((enum probe_id)id, args);
	site_gld__send(0, 0, 0, 0, 0);
	return site_table_of_program().count == 0;
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
	# Words without blanks, or no words.
	# shellcheck disable=SC2086
	if "$@" $flags -D_GNU_SOURCE -I"$build" -I"$top" "$tmp/main.c" "$sites" "$top/probes/site/site_select.c" \
		"$top/usdt/site_table.c" -o "$tmp/program" 2>"$tmp/error"; then
		inspect "$built_name" "$tmp/program"
	else
		case $built_name in
		*LTO*) skip "$built_name" 'no link-time optimisation here' ;;
		*) not_ok "$built_name" "$tmp/error" ;;
		esac
	fi
}

if [ "${1-}" = update ]; then
	normalise "$fire_sites" >"$tmp/notes" && [ -s "$tmp/notes" ] || exit 99
	accept "$tmp/notes" "$expected"
	exit 0
fi

have readelf || skip_all 'no readelf'
for compiler in $compilers; do
	for level in -O0 -O1 -O2 -O3 -Os; do
		built "$compiler $level" "$compiler" "$level"
	done
	built "$compiler -O3 with LTO" "$compiler" -O3 -flto
	built "$compiler with sanitizers" "$compiler" -O1 -fsanitize=address,undefined
	built "$compiler -O2 -fPIE, full relro, gc-sections" "$compiler" -O2 -fPIE -pie -ffunction-sections \
		-Wl,-z,relro,-z,now,--gc-sections
done
inspect_built() {
	inspect 'fire_sites as built' "$fire_sites"
	if [ "$sites_per_name" -eq 2 ] && have gcc objdump; then
		gcc -O0 -mred-zone -D_GNU_SOURCE -I"$build" -I"$top" "$tmp/main.c" "$sites" "$top/probes/site/site_select.c" \
			"$top/usdt/site_table.c" -o "$tmp/program"
		inspect_code "$tmp/program" >"$tmp/complaints"
		check 'a red zone is found' grep -q '^red zone: ' "$tmp/complaints"
	fi
	if [ ! -x "$netobsd" ]; then
		skip 'netobsd as built' 'not built'
		return
	fi
	inspect 'netobsd as built' "$netobsd"
	# The private provider: one site for each name, as the program lists them.
	public=$expected public_sites=$two_sites
	provider=netobs_engine two_sites='^$' expected=$tmp/engine
	"$netobsd" --list-probes --engine --format json | python3 "$top/tests/probes/engine_notes.py" | sort >"$expected"
	check 'netobsd lists probes of its own' test -s "$expected"
	inspect 'netobs_engine' "$netobsd"
	provider=netobs two_sites=$public_sites expected=$public
}
[ "${1-}" = others ] || inspect_built

# The slots of formulas.
two_sites='^formula__'
expected=$tmp/slots
for number in $(seq -w 1 64); do
	echo "netobs:formula__$number 6 8@REG 8@REG 8@REG 8@REG 8@REG 8@REG"
done >"$expected"
for compiler in $compilers; do
	for level in -O0 -O2 -O3 -Os; do
		# Words without blanks, or no words.
		# shellcheck disable=SC2086
		if ! have "$compiler"; then
			skip "formulas.so, $compiler $level" "no $compiler"
		elif "$compiler" $level $flags -D_GNU_SOURCE -I"$top" -fPIC -shared -nostdlib -Wl,-z,defs \
			"$top/formulas/slots/slots_object.c" -o "$tmp/formulas.so" 2>"$tmp/error"; then
			inspect "formulas.so, $compiler $level" "$tmp/formulas.so"
		else
			not_ok "formulas.so, $compiler $level" "$tmp/error"
		fi
	done
done
if [ "${1-}" != others ]; then
	inspect 'formulas.so as built' "$build/formulas/slots/formulas.so"
	readelf -dlW "$build/formulas/slots/formulas.so" >"$tmp/headers"
	is 'formulas.so needs no library, runs nothing when loaded, and its code is not written to' \
		"$(grep -cE 'NEEDED|INIT|TEXTREL|LOAD .* (RWE|WE)|GNU_STACK .*E +0x' "$tmp/headers")" 0
fi

# What Debian's cross compiler makes for arm64, whose registers and table are its own.
cross=aarch64-linux-gnu-gcc
if [ "${1-}" != others ] && [ "$processor" = x86_64 ]; then
	if have "$cross" && echo '#include <stdio.h>' | "$cross" -E - >"$tmp/out" 2>"$tmp/error"; then
		NOTES_PROCESSOR=aarch64 NOTES_COMPILERS=$cross "$0" others >"$tmp/points"
		relay "$tmp/points"
	else
		skip "arm64" "$cross or its C library is not installed"
	fi
fi
tap_done
