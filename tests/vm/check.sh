#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make check-vm: builds the Debian package, boots guests without network in QEMU, installs the package there and runs the
# scripts of tests/vm/guest/.  tests/vm/README.md describes the variables:
#   VM_CHECKS            names of the scripts to run; all without it
#   VM_ALL               names of all scripts, in the order of the room.mk files; make sets it
#   VM_KEEP              not empty: the guest continues to run at the end
#   NETOBS_VM_CACHE      directory of the images and the packages
#   NETOBS_VM_PACKAGE    package to install instead of that of the last commit
#   NETOBS_VM_MIRROR     Debian mirror
#   NETOBS_VM_ACCEL      kvm or tcg
#   NETOBS_VM_TMPDIR     directory of the changes to the guest's disk
set -u

top=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-$PWD}
vm=$top/tests/vm
cache=${NETOBS_VM_CACHE:-$build/tests/vm/cache}
logs=$build/tests/vm/log
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C.UTF-8
# shellcheck source=tests/vm/guests.sh
. "$vm/guests.sh"
# shellcheck source=tests/vm/machine.sh
. "$vm/machine.sh"

passed=0 failed=0 skipped=0 times='' booted='' unbootable=''

say() {
	printf '%s\n' "check-vm: $*"
}

die() {
	printf '%s\n' "check-vm: $*" >&2
	exit 1
}

# elapsed FROM: seconds since $(date +%s) printed FROM
elapsed() {
	echo $(($(date +%s) - $1))
}

# took NAME FROM: notes the seconds of one part for the closing lines
took() {
	times="$times $1 $(elapsed "$2") s,"
}

# -------------------------------------------------------------------------------------------------- what must be there

# missing_packages: the packages of host-packages of which a command is missing
missing_packages() {
	sed -n 's/^\([a-z0-9][a-z0-9.+-]*\): \([^#]*\).*/\1 \2/p' "$vm/host-packages" | while read -r package commands; do
		for command in $commands; do
			command -v "$command" >/dev/null 2>&1 || echo "$package"
		done
	done | sort -u | paste -s -d ' ' -
}

check_prerequisites() {
	[ "$(id -u)" -eq 0 ] || die "root is needed, to make images and to share files with the guest: sudo make check-vm"
	[ "$(uname -m)" = x86_64 ] || die "the guest is an x86-64 machine and gets the package built here: this is $(uname -m)"
	grep -qx 'VERSION_CODENAME=bookworm' /etc/os-release ||
		die "the guest is Debian 12 and gets the package built here: build on Debian 12"
	case ${NETOBS_VM_ACCEL:-kvm} in
	kvm | tcg) ;;
	*) die "NETOBS_VM_ACCEL: kvm or tcg, not $NETOBS_VM_ACCEL" ;;
	esac
	missing=$(missing_packages)
	[ -z "$missing" ] || die "packages are missing: apt-get install $missing"
	if [ -n "${NETOBS_VM_PACKAGE:-}" ]; then
		[ -f "$NETOBS_VM_PACKAGE" ] || die "NETOBS_VM_PACKAGE: there is no file $NETOBS_VM_PACKAGE"
	else
		check_build_packages
	fi
}

# check_build_packages: what the build of the package needs
check_build_packages() {
	git -C "$top" rev-parse -q --verify HEAD >/dev/null ||
		die "the package is built of the last commit of $top, which git cannot read"
	missing=$(cd "$top" && dpkg-checkbuilddeps -Pnocheck 2>&1) ||
		die "$(printf '%s\n%s' "${missing#*: error: }" "cure: cd $top && apt-get build-dep -P nocheck ./")"
}

# choose_checks: sets $checks, the scripts to run, and $guests, those that they need.  An empty or blank VM_CHECKS means all.
choose_checks() {
	: "${VM_ALL:?make check-vm sets it}"
	checks=''
	for name in ${VM_CHECKS:-}; do
		case " $VM_ALL " in
		*" $name "*) checks="$checks $name" ;;
		*) die "VM_CHECKS: there is no script $name, only $VM_ALL" ;;
		esac
	done
	checks=${checks:-$VM_ALL} guests=''
	for name in $checks; do
		guest=$(guest_of "$vm/guest/$name.sh")
		guest_exists "$guest" || die "$name.sh: tests/vm/guests has no guest $guest"
		case " $guests " in
		*" $guest "*) ;;
		*) guests="$guests $guest" ;;
		esac
	done
}

# --------------------------------------------------------------------------------------------------- package and images

# make_package: sets $package.  A commit that differs only in its tests needs no other package.
make_package() {
	package=${NETOBS_VM_PACKAGE:-}
	[ -z "$package" ] || return 0
	key=$(git -C "$top" ls-tree HEAD | grep -v '	tests$' | sha256sum | cut -c 1-16)
	directory=$cache/package-$key
	package=$(echo "$directory"/netobs_*.deb)
	[ ! -e "$package" ] || return 0
	say "building the Debian package of the last commit"
	begin=$(date +%s)
	rm -rf "$cache"/package-*
	mkdir -p "$directory.new"
	DEB_BUILD_OPTIONS=nocheck "$top/debian/make-package" "$directory.new" -b >"$cache/package.log" 2>&1 || {
		tail -n 20 "$cache/package.log"
		die "the package build failed: $cache/package.log"
	}
	rm -rf "$directory.new"/netobs-[0-9]*/
	mv "$directory.new" "$directory"
	package=$(echo "$directory"/netobs_*.deb)
	took "package build" "$begin"
}

# missing_image: the first of $guests without the image that it needs now; fails if no image is missing
missing_image() {
	for guest in $guests; do
		[ "$(cat "$cache/image-$guest/key" 2>/dev/null)" = "$(guest_key "$guest")" ] || {
			echo "$guest"
			return
		}
	done
	return 1
}

make_images() {
	while guest=$(missing_image); do
		say "making the image of $guest: some minutes, once"
		begin=$(date +%s)
		"$vm/image.sh" "$guest" "$cache/image-$guest" >"$cache/image-$guest.log" 2>&1 || {
			tail -n 20 "$cache/image-$guest.log"
			die "the image was not made: $cache/image-$guest.log"
		}
		guest_key "$guest" >"$cache/image-$guest/key"
		took "image of $guest" "$begin"
	done
}

# lock_cache DESCRIPTOR OPTION: a shared (-s) or exclusive (-x) lock
lock_cache() {
	flock -n "$2" "$1" || {
		say "waiting for another run that uses $cache"
		flock "$2" "$1" || die "$cache cannot be locked"
	}
}

# use_package: makes the package, and copies it, because a run of another commit may replace it later
use_package() {
	exec 9>"$cache/package.lock"
	lock_cache 9 -x
	make_package
	cp "$package" "$run/guest/share/netobs.deb" || die "the package cannot be copied"
	exec 9>&-
}

# use_images: makes the images.  A shared lock keeps them until this run ends.
use_images() {
	exec 8>"$cache/image.lock"
	lock_cache 8 -s
	while missing_image >/dev/null; do
		lock_cache 8 -x
		make_images
		lock_cache 8 -s # another run may be first
	done
}

# -------------------------------------------------------------------------------------------------------------- points

# relay NAME: passes on the TAP points of a script, and counts them.  Its last line may request a restart of the guest.
relay() {
	count=0 bad=0 plan='' restart=''
	while IFS= read -r line; do
		printf '%s\n' "$line" >>"$run/$1.out"
		case $line in
		"not ok "*) bad=$((bad + 1)) ;;
		"ok "*"# SKIP"*) skipped=$((skipped + 1)) ;;
		"ok "*) passed=$((passed + 1)) ;;
		"1..0 # SKIP"*) skipped=$((skipped + 1)) plan=0 line="ok 0 - ${line#1..0 }" ;;
		1..[0-9]*) plan=${line#1..} ;;
		"# reboot") restart=1 ;;
		esac
		case $line in
		"ok "*" - "* | "not ok "*" - "*)
			count=$((count + 1))
			printf '%s\n' "${line%% [0-9]* - *} $1: ${line#* - }"
			;;
		1..* | "# reboot") ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
	failed=$((failed + bad))
}

# fault NAME TEXT: a point of check-vm itself that failed
fault() {
	failed=$((failed + 1)) broken=1
	printf '%s\n' "not ok $1: $2"
}

# points_of NAME COMMAND...: runs a script and relays its points.  Sets broken if it did not end as it must.
points_of() {
	points_name=$1
	shift
	broken='' status=99
	rm -f "$run/pipe"
	mkfifo "$run/pipe"
	"$@" >"$run/pipe" 2>&1 &
	points_pid=$!
	relay "$points_name" <"$run/pipe"
	wait "$points_pid" && status=0 || status=$?
	case $status in
	124) fault "$points_name" "the script did not end in time" ;;
	125) fault "$points_name" "the guest died, restarted or does not answer" ;;
	*)
		if [ "$plan" = 0 ]; then
			fault "$points_name" "the script skipped all of its points"
		elif [ -z "$plan" ]; then
			fault "$points_name" "no plan: the script ended early, with status $status"
		elif [ "$plan" -ne "$count" ]; then
			fault "$points_name" "$count points instead of $plan"
		elif [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
			fault "$points_name" "status $status without a failed point"
		fi
		;;
	esac
	[ -z "$broken" ]
}

# -------------------------------------------------------------------------------------------------------------- guest

# boot_guest GUEST: starts a guest, which its scripts share
boot_guest() {
	say "booting $1"
	begin=$(date +%s) booted=$1
	# shellcheck disable=SC2046 # options
	machine_boot "$1" "$run/guest" $(machine_nics) || unbootable=1
	took "boot ($machine_use)" "$begin"
	begin_check=$(date +%s)
	[ -n "$unbootable" ] || return 0
	tail -n 20 "$run/guest/console.log" "$run/guest/qemu.log" "$run/guest/running" 2>&1
	fault boot "the guest did not start, or not all of its services"
	keep_logs boot
	return 1
}

# install_package: installs the package unless it is installed, and stops the service
install_package() {
	machine_run "$run/guest" 240 'dpkg -s netobs 2>/dev/null | grep -qx "Status: install ok installed" ||
		dpkg -i /vm/netobs.deb && systemctl stop netobs' >"$run/install.out" 2>&1
}

# keep_logs NAME: keeps what explains a failure
keep_logs() {
	mkdir -p "$logs/$1"
	for log in "$run/$1.out" "$run/install.out" "$run"/guest/*.log; do
		[ ! -e "$log" ] || cp "$log" "$logs/$1/"
	done
	! machine_lives "$run/guest" || machine_run "$run/guest" 30 'journalctl --no-pager -b' >"$logs/$1/journal" 2>&1
	say "console, journal and output: $logs/$1"
}

# timeout_of FILE: the seconds of its line "# Timeout: SECONDS"
timeout_of() {
	sed -n 's/^# Timeout: \([0-9]*\).*/\1/p' "$1" | grep . || echo 300
}

# run_in_guest NAME: runs a script of tests/vm/guest/, again after each restart that it requests
run_in_guest() {
	file=$vm/guest/$1.sh stage=1
	guest=$(guest_of "$file")
	# The script package begins without the package.
	if [ "$1" = package ] || [ "$guest" != "$booted" ] || ! machine_lives "$run/guest"; then
		machine_stop "$run/guest"
	fi
	[ -e "$run/guest/pid" ] || boot_guest "$guest" || return 1
	if [ "$1" != package ] && ! install_package; then
		cat "$run/install.out"
		fault "$1" "the package cannot be installed"
		return 1
	fi
	while points_of "$1" machine_run "$run/guest" "$(timeout_of "$file")" "VM_STAGE=$stage exec sh /netobs/tests/vm/guest/$1.sh"; do
		[ -n "$restart" ] || return 0
		stage=$((stage + 1))
		machine_reboot "$run/guest" || {
			fault "$1" "the guest did not restart"
			return 1
		}
	done
	return 1
}

# run_check NAME: runs one script.  The time that it takes is without the boot.
run_check() {
	begin_check=$(date +%s) failed_before=$failed
	say "$1"
	run_in_guest "$1"
	[ -z "$unbootable" ] || return 0
	took "$1" "$begin_check"
	[ "$failed" -ne "$failed_before" ] || return 0
	keep_logs "$1"
	# A script that failed may leave the guest in any state: the next one begins with a fresh guest.
	[ -n "${VM_KEEP:-}" ] || machine_stop "$run/guest"
}

clean_up() {
	if [ -n "${VM_KEEP:-}" ] && machine_lives "$run/guest"; then
		say "the guest continues to run: $vm/command.py $run/guest 'COMMAND'; end it with kill $(cat "$run/guest/pid")"
		return
	fi
	machine_stop "$run/guest"
	rm -rf "$run"
}

# --------------------------------------------------------------------------------------------------------------- main

choose_checks
[ -n "${NETOBS_VM_QEMU:-}" ] || check_prerequisites
begin_all=$(date +%s)
# Absolute, because QEMU runs in the directory of its guest.
mkdir -p "$cache" || die "NETOBS_VM_CACHE: no directory $cache"
cache=$(cd "$cache" && pwd)
rm -rf "$logs"
run=$(mktemp -d "${TMPDIR:-/tmp}/netobs-vm.XXXXXX") || die "no directory for the run"
mkdir -p "$run/guest/share"
trap clean_up EXIT
trap 'exit 130' HUP INT TERM
use_package
use_images

[ -z "${VM_KEEP:-}" ] || NETOBS_VM_KEEP=1
for name in $checks; do
	if [ -n "$unbootable" ]; then
		say "$name: not run, because the guest does not start"
	else
		run_check "$name"
	fi
done
say "seconds:${times%,}; $(elapsed "$begin_all") s together"
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
