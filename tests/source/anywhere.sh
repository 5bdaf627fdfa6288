#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `./bootstrap check` passes on anybody's Debian 12, in a system made for this test with nothing but bootstrap's packages:
#
#   odd     as root, in a directory with blanks, with gawk as awk, the Turkish locale (whose i has other cases), umask 077,
#           no IPv6, beside a netobsd that runs
#   user    as a user without privileges, with mawk: tests that need more are skipped and counted
#
# The system stays in the build directory for the next run.  $NETOBS_MIRROR is another Debian mirror.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "a system of its own needs root"
have mmdebstrap git || skip_all "mmdebstrap or git is not installed"
git -C "$top" rev-parse --verify -q HEAD >/dev/null 2>&1 || skip_all "this is no clone"

root=$build/tests/source/anywhere

# make_system: a minimal Debian with the packages that `./bootstrap check` installs, and those of the odd row
make_system() {
	packages=$(sed -nE 's/^(build|run|check)  +([a-z0-9+.-]+) .*/\2,/p' "$top/bootstrap" | tr -d '\n')
	rm -rf --one-file-system "$root"
	mmdebstrap --quiet --mode=root --variant=minbase --include="${packages}git,ca-certificates,gawk,locales" \
		bookworm "$root" ${NETOBS_MIRROR:+"$NETOBS_MIRROR"} &&
		chroot "$root" localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 && chroot "$root" useradd -m walker &&
		gcc -o "$root/usr/local/bin/no_ipv6" "$top/tests/source/no_ipv6.c" -lseccomp && : >"$root/made"
}

# inside DIRECTORY COMMAND: runs it there in the system, which has its own mounts; a clone of HEAD lies in DIRECTORY/netobs
inside() {
	rm -rf --one-file-system "$root$1/netobs"
	mkdir -p "$root$1"
	git clone -q --no-local "$top" "$root$1/netobs" || return 1
	# The variables are those of the shells inside.
	# shellcheck disable=SC2016
	unshare -m --propagation private env -i ROOT="$root" DIRECTORY="$1/netobs" HOME=/root TERM=dumb \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c '
		mount --bind "$ROOT" "$ROOT" # the root must be a mount point for ip-netns(8)
		mount -t tmpfs -o mode=755 tmpfs "$ROOT/run"
		mount -t proc proc "$ROOT/proc"
		mount --rbind /sys "$ROOT/sys"
		mount --rbind /dev "$ROOT/dev"
		exec chroot "$ROOT" sh -c "cd \"\$DIRECTORY\" && $1"' sh "$2"
}

# passes ROW LOG: the closing line of `./bootstrap check`
passes() {
	if tail -n 1 "$2" | grep -qE '^[0-9]{4,} passed, 0 failed, '; then
		ok "$1: $(tail -n 1 "$2")"
	else
		grep -A 40 '^--- failed' "$2" >"$tmp/failed"
		tail -n 20 "$2" >>"$tmp/failed"
		not_ok "$1" "$tmp/failed"
	fi
}

[ -e "$root/made" ] || make_system >"$tmp/make" 2>&1 || {
	tail -n 3 "$tmp/make" | sed 's/^/# /'
	skip_all "no Debian can be made here"
}

# shellcheck disable=SC2016 # likewise
inside "/srv/a b" 'update-alternatives --set awk /usr/bin/gawk && umask 077 && export LC_ALL=tr_TR.UTF-8 && ./bootstrap build &&
	{ build/netobsd -i any & } && no_ipv6 ./bootstrap check; status=$?; kill $!; exit $status' >"$tmp/odd" 2>&1
passes "root, blanks, gawk, Turkish, umask 077, no IPv6, beside a netobsd" "$tmp/odd"

inside /home/walker 'update-alternatives --set awk /usr/bin/mawk && chown -R walker . && exec su walker -c "./bootstrap check"' \
	>"$tmp/user" 2>&1
passes "a user without privileges" "$tmp/user"
tap_done
