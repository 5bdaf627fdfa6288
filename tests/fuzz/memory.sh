#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The memory sanitizer: fuzz targets, and all that they link, compiled with clang -fsanitize=memory, over seeds and
# mutations.  A read of memory that was never written ends the program.  The targets that call libpcap, libevent,
# libmnl, zlib or zstd are left out: these libraries are not instrumented, and what they write would count
# as unwritten.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

flags='-fsanitize=memory -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -gline-tables-only -fPIE -D_GNU_SOURCE'
targets="fuzz_dns fuzz_frame fuzz_sctp fuzz_flow fuzz_http fuzz_iscsi fuzz_pipeline fuzz_print fuzz_slots fuzz_smb"

[ -e "$build/probes/sites.c" ] || skip_all "netobs is not built"
! grep -q '^SANITIZE_CFLAGS = .*-fsanitize' "$build/Makefile" || skip_all "the build without sanitizers runs it"
have clang || skip_all "clang is not installed"
have python3 || skip_all "python3 is not installed"
echo 'int main(void) { return 0; }' >"$tmp/main.c"
# shellcheck disable=SC2086
if ! clang $flags -o "$tmp/main" "$tmp/main.c" 2>"$tmp/errors" || ! "$tmp/main"; then
	skip_all "clang has no memory sanitizer for this machine"
fi

# An uninitialised value decides a branch: the sanitizer must find it.
cat >"$tmp/main.c" <<'EOF'
#include <stdlib.h>
int main(void) { volatile int *p = malloc(sizeof *p); if (p == NULL) return 1; if (*p == 42) return 2; return 0; }
EOF
# shellcheck disable=SC2086
clang $flags -o "$tmp/main" "$tmp/main.c"
"$tmp/main" >"$tmp/errors" 2>&1
check "the sanitizer finds a read of unwritten memory" grep -q use-of-uninitialized-value "$tmp/errors"

# ----------------------------------------------------------------------------------------------------------- compile

mkdir "$tmp/objects"
{
	find "$top/engine" "$top/dissect" "$top/flow" "$top/probes" "$top/formulas" "$top/apps" "$build/probes" "$build/formulas" \
		"$top/base" "$top/host" "$top/observe" "$top/owner" -name '*.c' ! -name abi_layout.c ! -name slots_object.c
	printf '%s\n' "$top/tests/lib/json_check.c" "$top/tests/dissect/frame_buffer.c" "$top/tests/fuzz/fuzz_main.c"
} | sort -u >"$tmp/sources"
# shellcheck disable=SC2086
check "the sources compile" \
	sh -c "cd '$tmp/objects' && xargs -P $(nproc) -n 10 clang $flags '-I$top' '-I$build' -c <'$tmp/sources'"
ar rc "$tmp/all.a" "$tmp/objects"/*.o
is "each source has an object of its own" "$(find "$tmp/objects" -name '*.o' | wc -l)" "$(wc -l <"$tmp/sources")"

# --------------------------------------------------------------------------------------------------------------- run

for target in $targets; do
	seeds=$tmp/seeds/$target
	mkdir -p "$tmp/seeds"
	FRAMES=100 "$top/tests/fuzz/make_seeds.sh" "$build/tests/fuzz/fuzz_seeds" "${target#fuzz_}" "$seeds"
	[ "$target" != fuzz_pipeline ] || find "$seeds" -type f -name '*[1-9]' -delete # each makes two large tables
	# shellcheck disable=SC2086
	check "$target is linked" clang $flags "-I$top" "-I$build" -pie -o "$tmp/$target" "$top/tests/fuzz/$target.c" \
		"$tmp/objects/fuzz_main.o" "$tmp/all.a" -levent_core -levent_pthreads -lmnl -lnettle -lpthread -lm
	check "$target over its seeds and their mutations" "$tmp/$target" -mutations=1 "$seeds"
done
tap_done
