#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The build as CONTRIBUTING.md describes it: `make check TESTS=x` builds the programs of x only, any file can be built first in a fresh
# tree, `make quick` runs all unit tests except the slow ones, `make accept` writes only what has changed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/test_lists.sh
. "$top/tests/source/test_lists.sh"

[ -e "$build/Makefile" ] || skip_all "there is no Makefile in $build"
# This test runs inside a make whose flags and TESTS are not meant for those below.
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS

# A build directory as configure leaves it: nothing is built.  make(1) allows no blanks in the path to the sources.
fresh=$tmp/fresh
mkdir "$fresh"
ln -s "$top" "$tmp/source"
cp "$build/config.status" "$fresh"
sed -e "s|^\(top_\)\{0,1\}srcdir = .*|\1srcdir = $tmp/source|" -e "s|^VPATH = .*|VPATH = $tmp/source|" \
	-e "s|^abs_\(top_\)\{0,1\}builddir = .*|abs_\1builddir = $fresh|" "$build/Makefile" >"$fresh/Makefile"

# dry_run DIRECTORY TARGET...: the commands in $tmp/commands, continuation lines joined
dry_run() {
	dry_run_directory=$1
	shift
	make -n -C "$dry_run_directory" "$@" 2>"$tmp/errors" | sed -e ':a' -e '/\\$/{ N; s/\\\n//; ba' -e '}' >"$tmp/commands"
	! grep -q 'No rule to make target' "$tmp/errors"
}

# linked: the programs of tests/ and bench/ that the commands link
linked() {
	grep -oE ' -o (tests|bench)/[^ ]+' "$tmp/commands" | sed 's/^ -o //' | grep -v '\.o$' | sort -u | paste -s -d ' ' -
}

# ------------------------------------------------------------------------------------------------------ fresh trees

# headers_first TARGET: all generated sources are made before the first file is compiled
headers_first() {
	dry_run "$fresh" "$1" && awk '
		/manifest\.awk/ && match($0, /output=(ids|sites\.h|sites\.c|manifest) /) && !(substr($0, RSTART, RLENGTH) in made) {
			made[substr($0, RSTART, RLENGTH)] = 1
			count++
		}
		/ -c -o / { compiled = 1; exit }
		END { exit !(compiled && count == 4) }' "$tmp/commands"
}

for target in netobsd capture/live.o tests/probes/test_site.o tests/fuzz/fuzz_frame.o; do
	if headers_first $target; then
		ok "make $target in a fresh tree generates the headers first"
	else
		head -n 20 "$tmp/commands" >>"$tmp/errors"
		not_ok "make $target in a fresh tree generates the headers first" "$tmp/errors"
	fi
done

# ---------------------------------------------------------------------------------------------------- make check TESTS

dry_run "$fresh" check TESTS=tests/dissect/test_cursor
is "make check TESTS=tests/dissect/test_cursor links one test program" "$(linked)" tests/dissect/test_cursor
dry_run "$fresh" check TESTS=tests/probes/contract.sh
is "make check TESTS=tests/probes/contract.sh links the program that it runs" "$(linked)" tests/probes/fire_sites
dry_run "$fresh" check TESTS=tests/golden/golden.sh
is "make check TESTS=tests/golden/golden.sh links no test program" "$(linked)" ''

# named_programs: "TEST PROGRAM" for each program of the build directory that a test names, or a script that it sources
named_programs() {
	test_scripts | while read -r test; do
		# The dollar sign is the test's, and paths in the source tree have no blanks.
		# shellcheck disable=SC2016,SC2046
		grep -ohE '\$build/(tests|bench)/[a-z_/]+[a-z]' "$test" $(sed -n 's/^# shellcheck source=\([^ ]*\).*/\1/p' "$test") |
			sort -u | while read -r program; do
			program=${program#*/}
			[ ! -e "$program.c" ] || echo "$test $program"
		done
	done | sort
}

# prerequisites: "TEST PREREQUISITE" for each prerequisite of the log of a shell test, as make(1) reads the Makefile
prerequisites() {
	make -s -p -q -C "$fresh" netobsd 2>/dev/null | awk '
		/^tests\/[^ ]*\.log:/ {
			sub(/\.log:.*/, ".sh", $1)
			for (i = 2; i <= NF; i++)
				print $1, $i
		}' | sort
}

(cd "$top" && named_programs) >"$tmp/named"
prerequisites | comm -23 "$tmp/named" - >"$tmp/unbuilt"
check "the log of a shell test has the programs of the test as prerequisites" diff "$tmp/unbuilt" /dev/null
check "shell tests have programs" [ "$(wc -l <"$tmp/named")" -ge 20 ]

# ----------------------------------------------------------------------------------------------------------- make quick

if grep -q '^S\["HAVE_CMOCKA_TRUE"\]="#"' "$build/config.status"; then
	skip "make quick runs the quick tests, and the unit tests except slow ones" "built without cmocka"
else
	dry_run "$fresh" quick
	sed -n 's/.* check TESTS="\([^"]*\)".*/\1/p' "$tmp/commands" | tr -s ' ' '\n' | sed '/^$/d' | sort -u >"$tmp/quick"
	(cd "$top" && {
		listed unit_tests >"$tmp/unit"
		listed slow_unit_tests | comm -23 "$tmp/unit" -
		listed quick_tests
	}) | sort >"$tmp/wanted.quick"
	check "make quick runs the quick tests, and the unit tests except slow ones" diff -u "$tmp/wanted.quick" "$tmp/quick"
fi

results=$top/tests/lib/results
begun=$(date +%s)
printf ':test-result: PASS a\n:test-result: SKIP b\n:seconds: 1.5\n' >"$tmp/good.trs"
printf ':test-result: PASS a\n:test-result: FAIL b\n:test-result: ERROR - exited\n:seconds: 12.0\n' >"$tmp/bad.trs"
printf ':test-result: ERROR - no plan\n' >"$tmp/ugly.trs"
printf 'ok 1 a\nok 2 b # SKIP no luck\n' >"$tmp/good.log"
printf 'ok 1 a\nnot ok 2 b\n# the reason\n' | tee "$tmp/bad.log" >"$tmp/ugly.log"
"$results" close "$begun" "$tmp/good.trs" >"$tmp/closed"
is "results: points that pass and are skipped" "$? $(sed 's/ in [0-9]* min .*//' "$tmp/closed")" \
	"0 --- skipped, and why
      1 no luck
--- the slowest tests in seconds
    1.5  $tmp/good
1 passed, 0 failed, 1 skipped"
is "results: failed points, a broken test and one that was not built" \
	"$("$results" close "$begun" "$tmp/good.trs" "$tmp/bad.trs" "$tmp/ugly.trs" "$tmp/none.trs" | tail -n 1 | sed 's/ in .*//')" \
	"2 passed, 3 failed, 1 skipped"
is "results: the slowest test is first" "$("$results" slowest "$tmp/good.trs" "$tmp/bad.trs" | sed -n 2p)" "   12.0  $tmp/bad"
is "results: the time of the run" "$("$results" close $(($(date +%s) - 3600)) "$tmp/good.trs" | sed -n 's/.* in \(.*\) [0-9]* s$/\1/p')" "60 min"
is "results: tests that were not built take one line" "$("$results" failures "$tmp/none.trs" "$tmp/nowhere.trs")" \
	"--- not built, so not run: $tmp/none and 1 more tests"
is "results: the failed tests are named at the end" "$("$results" close "$begun" "$tmp/bad.trs" | tail -n 2 | head -n 1)" \
	"--- failed: $tmp/bad"
check "results: a failure has its reason and a status" sh -c "
	! '$results' close $begun '$tmp/bad.trs' >'$tmp/closed' && grep -qx '# the reason' '$tmp/closed'"

# driver, around automake's: the wall time, failed points and one line
printf '#!/bin/sh\nprintf "ok 1 - a\\nnot ok 2 - b\\n1..2\\n"\n' >"$tmp/two-points"
chmod +x "$tmp/two-points"
sh "$top/tests/lib/driver" "$top/build-aux/tap-driver.sh" --test-name two --log-file "$tmp/two.log" --trs-file "$tmp/two.trs" -- \
	"$tmp/two-points" >"$tmp/two.out"
is "driver: a failed point, and one line for the test" "$(sed 's/^ *[0-9.]* s/N s/' "$tmp/two.out")" "--- failed: $tmp/two
not ok 2 - b
N s  two: 1 passed, 1 FAILED"
is "driver: the wall time" "$(grep -cxE ':seconds: [0-9]+\.[0-9]' "$tmp/two.trs")" 1

# -------------------------------------------------------------------------------------------------------- make install

# The installed manuals name the files of the installation.
make -s -C "$build" install-man install-data-hook DESTDIR="$tmp/root" prefix=/opt/netobs >"$tmp/installed" 2>&1
status=$?
is "make install-man: status" "$status" 0
check "installed manuals: the program" grep -q 'usdt:/opt/netobs/sbin/netobsd:netobs:' "$tmp/root/opt/netobs/share/man/man8/netobsd.8"
check "installed manuals: the header" grep -q 'bpftrace --include /opt/netobs/include/netobs.h ' "$tmp/root/opt/netobs/share/man/man7/netobs.7"
check "installed manuals: the configuration" grep -q '^\.Pa /opt/netobs/etc/netobs/netobs.conf' \
	"$tmp/root/opt/netobs/share/man/man5/netobs.conf.5"
is "installed manuals: no other path" "$(grep -rn -e /usr/local -e '[^c]/etc/netobs/' "$tmp/root" | grep -v '/opt/netobs/etc')" ""

# ---------------------------------------------------------------------------------------------------------- make accept

# A copy outside of git, in which one expectation and two lines of the ABI are outdated.
copy=$tmp/copy
mkdir "$copy"
(cd "$top" && tar cf - configure.ac probes tests/lib tests/golden tests/probes tests/captures) | (cd "$copy" && tar xf -)
sed -i 's|tcp-receive|tcp-deceive|' "$copy/tests/golden/tcp-refused.out"
sed -i '/^struct pktinfo /d; s/^struct csinfo .*/&0/' "$copy/tests/probes/abi.expected"
find "$copy" -type f -exec touch -d '2001-01-01' {} +
top_srcdir=$copy top_builddir=$build NETOBSD=$netobsd GIT_CEILING_DIRECTORIES=$tmp "$top/tests/lib/accept" golden abi >"$tmp/accepted" 2>&1
check "make accept shows what it changed" sh -c "
	grep -q '^-.*tcp-deceive' '$tmp/accepted' && grep -q '^+.*tcp-receive' '$tmp/accepted' && grep -q '^+struct pktinfo ' '$tmp/accepted'"
is "make accept writes only what has changed" \
	"$(cd "$copy" && find . -type f -newermt 2002-01-01 | sort | paste -s -d ' ' -)" "./tests/golden/tcp-refused.out ./tests/probes/abi.expected"
check "make accept writes the present output" diff -r "$top/tests/golden" "$copy/tests/golden"
sed -i 's/^pktinfo.pkt_len .*/&1/' "$copy/tests/probes/abi.expected"
top_srcdir=$copy top_builddir=$build "$copy/tests/probes/libraries.sh" update >"$tmp/accepted" 2>&1
check "a removed line of the ABI is reported" grep -q '^< pktinfo.pkt_len ' "$tmp/accepted"

tap_done
