#!/bin/bash -eu
# SPDX-License-Identifier: BSD-2-Clause
#
# Builds the fuzz targets for a continuous-fuzzing service: the source tree in $SRC/netobs, a build in $WORK, and in $OUT
# the programs with the libraries that they load, the seeds and the options.  The environment gives the compilers with
# their flags, which have the sanitizer and the coverage, and what links the engine.

cd "$SRC/netobs"
autoreconf -fi
mkdir -p "$WORK/netobs" "$OUT/lib"
cd "$WORK/netobs"
"$SRC/netobs/configure" -q --enable-fuzzing CFLAGS=-O1

# The flags of the environment are not for formulas.so, which is linked without libraries, and do not go with
# _FORTIFY_SOURCE.  The targets are linked by the C++ compiler, and find their libraries in their own directory.
programs=$(cd "$SRC/netobs" && grep -l '^LLVMFuzzerTestOneInput' tests/fuzz/fuzz_*.c | sed 's/\.c$//')
make_with_flags() {
	make -s -j"$(nproc)" SANITIZE_CFLAGS="$CFLAGS" FUZZ_CFLAGS= HARDEN_CPPFLAGS= FUZZ_LDFLAGS="$LIB_FUZZING_ENGINE" "$@"
}
make_with_flags formulas/slots/formulas.so tests/fuzz/fuzz_seeds
# shellcheck disable=SC2086 # several programs
make_with_flags CCLD="$CXX $CXXFLAGS" LDFLAGS="-Wl,--disable-new-dtags '-Wl,-rpath,\$\$ORIGIN/lib'" $programs

for program in $programs; do
	target=${program##*/}
	cp "$program" "$OUT/"
	ldd "$program" | sed -n 's/^.* => \(\/.*\) (.*$/\1/p' |
		grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+)\.so' | xargs -r cp -n -t "$OUT/lib"
	"$SRC/netobs/tests/fuzz/make_seeds.sh" tests/fuzz/fuzz_seeds "${target#fuzz_}" "$WORK/$target"
	(cd "$WORK/$target" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" ./*)
done
cp "$SRC/netobs/tests/fuzz/oss-fuzz"/*.options "$OUT/"
