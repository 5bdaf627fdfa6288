#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make check-cross: builds netobs for other processors with Debian's cross compilers and runs tests under qemu-user.
# tests/cross/README.md describes it and its variables:
#   CROSS                 names of machines, arm64 and s390x without it
#   CROSS_SCRIPTS         shell tests to run; make sets it
#   NETOBS_CROSS_CACHE    directory of the target's libraries and of the builds
#   NETOBS_CROSS_MIRROR   Debian mirror
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-$PWD}
cross=$top/tests/cross
cache=${NETOBS_CROSS_CACHE:-$build/tests/cross/cache}
mirror=${NETOBS_CROSS_MIRROR:-http://deb.debian.org/debian}
jobs=$(nproc 2>/dev/null || echo 2)
failed_machines=''
export LC_ALL=C.UTF-8

say() {
	printf '%s\n' "check-cross: $*"
}

die() {
	printf '%s\n' "check-cross: $*" >&2
	exit 1
}

# elapsed FROM: seconds since $(date +%s) printed FROM
elapsed() {
	echo $(($(date +%s) - $1))
}

# choose_machine NAME: sets the variables of this machine; fails if it is unknown
choose_machine() {
	machine=$1
	root=$cache/$machine/root
	out=$cache/$machine/build
	case $machine in
	arm64) triplet=aarch64-linux-gnu processor=aarch64 loader=/lib/ld-linux-aarch64.so.1 ;;
	s390x) triplet=s390x-linux-gnu processor=s390x loader=/lib/ld64.so.1 ;;
	*) return 1 ;;
	esac
	compiler=$triplet-gcc
	libraries=$root/lib/$triplet:$root/usr/lib/$triplet
	emulator=qemu-$processor
	command -v "$emulator" >/dev/null 2>&1 || emulator=qemu-$processor-static
}

# ------------------------------------------------------------------------------------------------- what must be there

# missing_packages: the packages of which a command is missing, for all chosen machines
missing_packages() {
	command -v mmdebstrap >/dev/null 2>&1 || echo mmdebstrap
	for name in $CROSS; do
		choose_machine "$name"
		# Either package alone brings the headers and the C library that the compiler itself uses.
		command -v "$compiler" >/dev/null 2>&1 || echo "gcc-$triplet libc6-dev-$machine-cross"
		command -v "$emulator" >/dev/null 2>&1 || echo qemu-user
	done
}

check_prerequisites() {
	for name in $CROSS; do
		choose_machine "$name" || die "CROSS: there is no machine $name, only arm64 and s390x"
	done
	for test in $(left_out); do
		[ -e "$top/$test.c" ] || die "$cross/left-out: there is no test $test"
	done
	missing=$(missing_packages | sort -u | paste -s -d ' ' -)
	[ -z "$missing" ] || die "packages are missing: apt-get install $missing"
}

# ------------------------------------------------------------------------------------------- libraries of the target

# target_packages: the packages of the target, separated by commas
target_packages() {
	sed -e '/^#/d' -e 's/:.*//' "$cross/packages" | paste -s -d , -
}

# make_root: extracts the target's libraries, without root and without any change to the packages of this host.  An
# absolute link would lead the linker to this host's own files.
make_root() {
	if cmp -s "$cross/packages" "$cache/$machine/packages"; then
		return 0
	fi
	say "$machine: the libraries, from $mirror"
	rm -rf "$root" "$cache/$machine/packages" "$out"
	mkdir -p "$root" || return 1
	mmdebstrap --quiet --mode=chrootless --variant=extract "--architectures=$machine" "--include=$(target_packages)" \
		bookworm "$root.tar" "$mirror" >"$root.log" 2>&1 || {
		cat "$root.log"
		return 1
	}
	tar -x -f "$root.tar" -C "$root" --exclude='./dev/*' || return 1
	rm -f "$root.tar"
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -snf --relative "$root$(readlink "$link")" "$link"
	done
	cp "$cross/packages" "$cache/$machine/packages"
}

# -------------------------------------------------------------------------------------------------------------- build

# configure_target: with the checks for undefined behaviour and misaligned access.  Programs name the loader and libraries
# of the target, because the emulator with -L opens "/" as the root of the target, in which a walk finds no /var/tmp.
configure_target() {
	mkdir -p "$out" && (
		cd "$out" || exit 1
		PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig \
			"$top/configure" -q "--host=$triplet" --enable-werror --enable-sanitizers=undefined \
			CC="$compiler --sysroot=$root" CFLAGS='-O1 -g' \
			LDFLAGS="-Wl,--dynamic-linker=$root$loader,--disable-new-dtags,-rpath,$libraries"
	) >"$cache/$machine/configure.log" 2>&1
}

build_target() {
	# The flags may have changed: everything is built anew.
	[ -n "$(find "$out/Makefile" -newer "$cross/check.sh" 2>/dev/null)" ] || rm -rf "$out"
	[ -n "$(find "$out/Makefile" -newer "$top/configure" 2>/dev/null)" ] || configure_target || {
		tail -n 20 "$cache/$machine/configure.log"
		return 1
	}
	say "$machine: the build"
	make -C "$out" -s -j "$jobs" check-programs >"$cache/$machine/build.log" 2>&1 || {
		tail -n 20 "$cache/$machine/build.log"
		return 1
	}
}

# -------------------------------------------------------------------------------------------------------------- tests

# write_runner PROGRAM OPTION...: the program under the emulator, as a command below $out/run.  Tests that run programs
# themselves get these.
write_runner() {
	program=$1
	shift
	mkdir -p "$out/run/$(dirname "$program")"
	cat >"$out/run/$program" <<-END
		#!/bin/sh
		exec $emulator -L / "$out/$program" $* "\$@"
	END
	chmod 755 "$out/run/$program"
}

# left_out: the tests that cannot run under the emulator
left_out() {
	sed -e '/^#/d' -e 's/:.*//' "$cross/left-out" | paste -s -d ' ' -
}

# make_check LOG ENVIRONMENT TEST...: runs these tests with further variables of the environment.  The shell
# becomes make, so that a signal to a subshell ends the tests; LOG_COMPILER is that of Makefile.am and the emulator
make_check() {
	log=$1
	environment=$2
	shift 2
	# make expands the variables.
	# shellcheck disable=SC2016
	exec make -C "$out" -k -j "$jobs" check TESTS="$*" TEST_SUITE_LOG="$log.log" \
		LOG_COMPILER='$(SHELL) $(top_srcdir)/tests/lib/cmocka '"$emulator -L /" \
		TESTS_ENVIRONMENT="$environment" >"$cache/$machine/$log" 2>&1
}

# run_tests: sets $counts, "PASSED FAILED SKIPPED"; prints the failures.  The emulator has no seccomp, so netobsd is run
# without.  The unit tests run beside the scripts.
run_tests() {
	find "$out" -name '*.trs' -delete
	write_runner netobsd --no-seccomp
	for program in "$out"/tests/fuzz/fuzz_*; do
		[ ! -x "$program" ] || write_runner "tests/fuzz/$(basename "$program")"
	done
	notes="NOTES_PROCESSOR=$processor NOTES_COMPILERS=$compiler NOTES_SYSROOT=$root"
	# make expands the list.
	# shellcheck disable=SC2016
	make_check units "$notes" \
		'$(filter-out' "$(left_out)",'$(unit_tests)) tests/probes/notes.sh' &
	units=$!
	status=0
	(make_check scripts "NETOBSD=$out/run/netobsd top_builddir=$out/run HOST_NETOBSD=$build/netobsd" \
		"$CROSS_SCRIPTS") || status=1
	wait "$units" || status=1
	units=''
	# Paths of this program's own, without blanks.
	# shellcheck disable=SC2046
	counts=$("$top/tests/lib/results" count $(find "$out" -name '*.trs'))
	# shellcheck disable=SC2046
	[ "$status" -eq 0 ] || "$top/tests/lib/results" failures $(find "$out" -name '*.trs')
}

# check_machine: prints one line with the result; fails if a test failed
check_machine() {
	begin=$(date +%s)
	if ! make_root || ! build_target; then
		say "$machine: no build"
		return 1
	fi
	built=$(elapsed "$begin")
	say "$machine: built; the tests run"
	run_tests
	# Three numbers.
	# shellcheck disable=SC2086
	set -- $counts
	sed -e '/^#/d' -e "s/^/check-cross: $machine: left out: /" "$cross/left-out"
	say "$machine: $1 passed, $2 failed, $(($3 + $(sed '/^#/d' "$cross/left-out" | wc -l))) skipped;" \
		"build $built s, tests $(($(elapsed "$begin") - built)) s"
	[ "$status" -eq 0 ] && [ "$2" -eq 0 ] && [ "$1" -gt 0 ]
}

units=''
trap '[ -z "$units" ] || kill "$units"; exit 130' HUP INT TERM
: "${CROSS_SCRIPTS:?make check-cross sets it}"
# Without a word, both; a blank CROSS must not check nothing.
case ${CROSS:-} in
*[![:blank:]]*) ;;
*) CROSS='arm64 s390x' ;;
esac
check_prerequisites
mkdir -p "$cache" || die "NETOBS_CROSS_CACHE: no directory $cache"
cache=$(cd "$cache" && pwd) # absolute, because configure and make run in other directories
for name in $CROSS; do
	choose_machine "$name"
	mkdir -p "$cache/$machine"
	check_machine || failed_machines="$failed_machines $machine"
done
[ -z "$failed_machines" ] || die "failed:$failed_machines; logs are in $cache"
