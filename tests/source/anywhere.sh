#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `./bootstrap check` passes on anybody's Debian 12, in a system made for this test with nothing but bootstrap's packages,
# in directories with blanks:
#
#   root    with gawk as awk, the Turkish locale (whose i has other cases), umask 077, no IPv6, beside a netobsd that runs;
#           the tests that need root are not skipped
#   user    as a user without privileges, with mawk: tests that need more are skipped and counted
#
# The system stays in the build directory for the next run, until bootstrap needs other packages.  $NETOBS_MIRROR is
# another Debian mirror.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "a system of its own needs root"

# In a directory that only root enters: other users must not find its programs, or plant files in it.
root=$build/tests/source/anywhere/debian
mirror=${NETOBS_MIRROR:-http://deb.debian.org/debian}
packages=$(sed -nE 's/^(build|run|check)  +([a-z0-9+.-]+) .*/\2,/p' "$top/bootstrap" | tr -d '\n')gawk,locales

# make_system: a minimal Debian with the packages that `./bootstrap check` installs, and those of the row root
make_system() {
	rm -rf --one-file-system "$build/tests/source/anywhere"
	mkdir -p "$build/tests/source" && mkdir -m 700 "$build/tests/source/anywhere" || return 1
	mmdebstrap --quiet --mode=root --variant=minbase --include="$packages" bookworm "$root" "$mirror" &&
		chroot "$root" localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 && chroot "$root" useradd -m walker &&
		echo "$packages" >"$root.packages"
}

# copy_sources DIRECTORY: the files of the repository as they are now, or those of an extracted tarball
copy_sources() {
	mkdir -p "$1"
	cd "$top" && {
		git -c safe.directory="$top" ls-files 2>/dev/null || find . -path './build*' -prune -o ! -type d -print
	} | tar -cf - -T - | tar -xf - -C "$1"
}

# inside DIRECTORY COMMANDS: runs them in DIRECTORY/netobs of the system, which has the sources.  The processes and mounts
# of the system end with the first process.
inside() {
	rm -rf --one-file-system "${root:?}/$1"
	(copy_sources "$root/$1/netobs") || return 1
	# The variables are those of the shell inside; the root must be a mount point for ip-netns(8).
	# shellcheck disable=SC2016
	unshare --mount --propagation private --pid --fork --kill-child env -i ROOT="$root" HOME=/root TERM=dumb \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -ec '
		mount --bind "$ROOT" "$ROOT"
		mount -t tmpfs -o mode=755 tmpfs "$ROOT/run"
		mount -t proc proc "$ROOT/proc"
		mount --rbind /sys "$ROOT/sys"
		mount --rbind /dev "$ROOT/dev"
		exec chroot "$ROOT" env -u ROOT -C "$1" sh -ec "$2"' sh "/$1/netobs" "$2"
}

# passes NAME STATUS LOG: the status and the closing line of `./bootstrap check`
passes() {
	note "$1: $(tail -n 1 "$3")"
	if [ "$2" -eq 0 ] && tail -n 1 "$3" | grep -qE '^[0-9]{4,} passed, 0 failed, '; then
		ok "$1"
	else
		grep -A 40 '^--- failed' "$3" >"$tmp/failed"
		tail -n 20 "$3" >>"$tmp/failed"
		not_ok "$1" "$tmp/failed"
	fi
}

# count TEST DIRECTORY: its points that passed, failed and were skipped
count() {
	cd "$root/$2/netobs/build" && "$top/tests/lib/results" count "$1.trs"
}

# ran TEST DIRECTORY: whether it passed with points, without a skipped one
ran() {
	(count "$@") | tee "$tmp/count"
	grep -qxE '[1-9][0-9]* 0 0' "$tmp/count"
}

if [ "$(cat "$root.packages" 2>/dev/null)" != "$packages" ]; then
	/usr/lib/apt/apt-helper download-file "$mirror/dists/bookworm/InRelease" "$tmp/release" >"$tmp/make" 2>&1 ||
		skip_all "no network: $mirror cannot be reached"
	make_system >"$tmp/make" 2>&1 || {
		not_ok "a Debian with bootstrap's packages is made" "$tmp/make"
		tap_done
	}
fi
ok "a Debian with bootstrap's packages is made"

place='srv/a b'
# shellcheck disable=SC2016 # likewise
inside "$place" '
	gcc -o /usr/local/bin/no_ipv6 tests/source/no_ipv6.c -lseccomp
	update-alternatives --set awk /usr/bin/gawk
	umask 077
	export LC_ALL=tr_TR.UTF-8
	[ "$(awk "BEGIN { printf \"%s\", toupper(\"i\") }" | wc -c)" -eq 2 ] # two bytes, unlike I
	if no_ipv6 python3 -c "import socket; socket.socket(socket.AF_INET6)" 2>/dev/null; then exit 1; fi
	./bootstrap build
	build/netobsd -i any &
	netobsd=$!
	status=0
	no_ipv6 ./bootstrap check || status=$?
	kill "$netobsd" # it has not ended before
	exit $status' >"$tmp/root" 2>&1
passes "root, blanks, gawk, Turkish, umask 077, no IPv6, beside a netobsd" $? "$tmp/root"
check "root: the live test ran" ran tests/live/connection "$place"
refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "root: the first proof with each tracer ran" "$refused"
else
	check "root: the first proof with each tracer ran" ran tests/tracers/first_proof "$place"
fi

inside 'home/walker/a b' '
	update-alternatives --set awk /usr/bin/mawk
	chown -R walker .
	su walker -c "./bootstrap check"' >"$tmp/user" 2>&1
passes "a user without privileges, blanks, mawk" $? "$tmp/user"
tap_done
