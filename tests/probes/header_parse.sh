#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Each program that includes the installed header accepts it: C and C++ compilers, bcc, and bpftrace, in whichever way it
# includes the header.  In bpftrace every struct must have its name and the size that it has in C.
#
#	header_parse.sh		gcc and bpftrace
#	header_parse.sh others	the other compilers
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

header=$top/probes/netobs.h
structs=$(sed -n 's/^struct \([a-z0-9]*\) {$/\1/p' "$header")

# compiles NAME COMMAND...: the command reads a program that includes the header twice
compiles() {
	compiles_name=$1
	shift
	if ! have "$1"; then
		skip "$compiles_name" "no $1"
		return
	fi
	printf '#include "%s"\n#include "%s"\nstruct pktinfo pkt;\npktinfo_t *same = &pkt;\n' \
		"$header" "$header" >"$tmp/twice"
	check "$compiles_name" "$@" "$tmp/twice"
}

strict='-pedantic -Wall -Wextra -Wpadded -Werror -fsyntax-only'
# Words of one option list each.
# shellcheck disable=SC2086
if [ "${1-}" = others ]; then
	compiles 'C11, pedantic, no hidden padding (clang)' clang -std=c11 $strict -xc
	compiles 'C++17 (g++)' g++ -std=c++17 $strict -xc++
	compiles 'C++17 (clang++)' clang++ -std=c++17 $strict -xc++
	compiles 'C99, 32 bits (clang)' clang -std=c99 -m32 $strict -xc
	# Like bcc: a BPF target, no system headers, and the kernel's own uint64_t first.
	name='beside the types of the kernel, without system headers (bcc)'
	if have clang; then
		printf 'typedef unsigned long long uint64_t; typedef unsigned int uint32_t;\n#include "%s"\n' "$header" \
			>"$tmp/bcc.c"
		check "$name" clang -target bpf -nostdinc -D__KERNEL__ -Wall -Werror -fsyntax-only "$tmp/bcc.c"
	else
		skip "$name" 'no clang'
	fi
	tap_done
fi
# shellcheck disable=SC2086
compiles 'C11, pedantic, no hidden padding (gcc)' gcc -std=c11 $strict -xc

# The sizes in C.
{
	printf '#include <stdio.h>\n#include "%s"\nint main(void) {\n' "$header"
	for name in $structs; do
		printf 'printf("%s %%zu\\n", sizeof(struct %s));\n' "$name" "$name"
	done
	echo 'return 0; }'
} >"$tmp/sizes.c"
${CC:-cc} -o "$tmp/sizes" "$tmp/sizes.c" && "$tmp/sizes" >"$tmp/sizes.c.out"

# The same program for bpftrace, with a cast of every struct.
{
	echo 'BEGIN {'
	for name in $structs; do
		printf '\t$%s = (struct %s *)0; printf("%s %%d\\n", sizeof(*$%s));\n' "$name" "$name" "$name" "$name"
	done
	printf '\tprintf("constants %%d %%d\\n", NETOBS_TCP_CLOSING, NETOBS_ABI_VERSION); exit(); }\n'
} >"$tmp/sizes.bt"
echo "constants 11 $(sed -n 's/^#define NETOBS_ABI_VERSION //p' "$header")" >>"$tmp/sizes.c.out"

# in_bpftrace NAME PROLOGUE OPTION...
in_bpftrace() {
	bpftrace_name="bpftrace: $1"
	if [ -n "$refused" ]; then
		skip "$bpftrace_name" "$refused"
		return
	fi
	{
		printf '%s\n' "$2"
		cat "$tmp/sizes.bt"
	} >"$tmp/script.bt"
	shift 2
	bpftrace "$@" "$tmp/script.bt" >"$tmp/bpftrace.out" 2>"$tmp/bpftrace.err"
	if grep -v -e '^Attaching' -e '^$' "$tmp/bpftrace.out" | diff "$tmp/sizes.c.out" - >"$tmp/bpftrace.diff"; then
		ok "$bpftrace_name"
	else
		not_ok "$bpftrace_name" "$tmp/bpftrace.diff" "$tmp/bpftrace.err"
	fi
}

refused=$(tracing_refused)
in_bpftrace 'with --include' '' --include "$header"
in_bpftrace 'with --include and kernel types' '' --btf --include "$header"
in_bpftrace 'with -I and #include' '#include "netobs.h"' -I "$top/probes"
in_bpftrace 'after <stdint.h>' "#include <stdint.h>
#include \"$header\""
in_bpftrace 'after <linux/types.h> and <netinet/in.h>' "#include <linux/types.h>
#include <netinet/in.h>
#include \"$header\""
tap_done
