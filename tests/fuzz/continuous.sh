#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The build of oss-fuzz/build.sh, in the environment that the image of a continuous-fuzzing service sets, for a copy of
# the source tree: every fuzz target is there and runs over its seeds, with the libraries beside it.  It compiles all
# archives with clang: two minutes of processor time.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have autoreconf clang clang++ git make python3 || skip_all "autoreconf, clang, git, make or python3 is not installed"
git -C "$top" -c safe.directory="$top" ls-files >"$tmp/listed" 2>/dev/null
[ -s "$tmp/listed" ] || skip_all "$top is not a git repository"
! grep -q '^SANITIZE_CFLAGS = .*-fsanitize' "$build/Makefile" || skip_all "it is built with its own flags: the plain build tests it"
# This test runs inside a make whose flags are not meant for the one below.
unset MAKEFLAGS MFLAGS MAKELEVEL

# The packages of the build, except those that the image has and those that no target needs.
sed -n 's/^build  \([^ ]*\) .*/\1/p' "$top/bootstrap" | grep -vx -e gcc -e libc6-dev -e make -e libfuse3-dev | sort >"$tmp/wanted"
sed -n 's/^	\([a-z0-9-]*\)\( \\\)\{0,1\}$/\1/p' "$top/tests/fuzz/oss-fuzz/Dockerfile" | sort >"$tmp/installed"
check "the image has the packages of the build" diff "$tmp/wanted" "$tmp/installed"

mkdir -p "$tmp/src/netobs" "$tmp/work" "$tmp/out"
(cd "$top" && tar -cf - -T "$tmp/listed") | (cd "$tmp/src/netobs" && tar -xf -)
flags='-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION'
flags="$flags -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
check "build.sh builds" env SRC="$tmp/src" WORK="$tmp/work" OUT="$tmp/out" CC=clang CXX=clang++ CFLAGS="$flags" \
	CXXFLAGS="$flags" LIB_FUZZING_ENGINE=-fsanitize=fuzzer bash -eu "$tmp/src/netobs/tests/fuzz/oss-fuzz/build.sh"

# runs TARGET: without the build, over the seeds
runs() {
	python3 -m zipfile -e "$tmp/out/$1_seed_corpus.zip" "$tmp/corpus" && "$tmp/out/$1" -runs=0 "$tmp/corpus"
}

rm -rf "$tmp/src" "$tmp/work"
for source in "$top"/tests/fuzz/fuzz_*.c; do
	target=$(basename "$source" .c)
	case $target in fuzz_main | fuzz_seeds) continue ;; esac
	check "$target runs over its seeds" runs "$target"
	rm -rf "$tmp/corpus"
done
tap_done
