#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Reproducible builds: the packages and the installed files of a commit are the same to the byte, in whatever directory, at
# whatever time, with whatever umask, locale, time zone and number of jobs they are made.  The Debian package, a release
# build, is made twice; `make install` of both trees shows the programs before they are stripped, and the modes of all files.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/another_locale.sh
. "$top/tests/source/another_locale.sh"

have autoreconf gcc make git xz readelf || skip_all "autoreconf, gcc, make, git, xz or readelf is not installed"
have dpkg-buildpackage dpkg-checkbuilddeps dpkg-deb dh || skip_all "dpkg-dev or debhelper is not installed"
have faketime || skip_all "faketime is not installed"
dpkg-checkbuilddeps "$top/debian/control" 2>"$tmp/unmet" || skip_all "$(head -n 1 "$tmp/unmet")"
git -C "$top" -c safe.directory="$top" ls-files >"$tmp/listed" 2>/dev/null
[ -s "$tmp/listed" ] || skip_all "$top is not a git repository"
# This test runs inside a make whose flags and TESTS are not meant for those below.
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS SOURCE_DATE_EPOCH

# ------------------------------------------------------------------------------------------------- the present build

# With -ffile-prefix-map the debug information of a build beside the source tree has no name of this machine's directories.
if grep -q '^MAP_CFLAGS = .' "$build/Makefile"; then
	for program in netobsd netobsctl netobs-report netobs-split netobs-connfs; do
		[ -e "$build/$program" ] || continue
		readelf -S "$build/$program" | grep -q '\.debug_info' || echo "$program has no debug information"
		readelf -p .debug_line -p .debug_line_str -p .debug_str "$build/$program" 2>/dev/null |
			grep -F -e "$top/" -e "$build" -e ' ../' | sed "s|^|$program: |"
	done >"$tmp/named"
	check "the debug information of this build has no directory of this machine" diff "$tmp/named" /dev/null
else
	skip "the debug information of this build has no directory of this machine" "it is configured without -ffile-prefix-map"
fi

# -------------------------------------------------------------------------------------------------------- two builds

# The commit that both builds are made of: the files as they are, in a repository of its own.
first=$tmp/a
second="$tmp/another place, deeper/than the first/b"
mkdir -p "$first/netobs" "$second"
(cd "$top" && tar -cf - -T "$tmp/listed") | tar -C "$first/netobs" -xf -
commit() {
	cd "$first/netobs" && git init -q && git add -A -f &&
		git -c user.name=netobs -c user.email=netobs@netobs.invalid -c commit.gpgSign=false commit -q -m "what is tested" && git clone -q . "$second/netobs"
}
check "commit" commit

# make_all DIRECTORY JOBS COMMAND...: the packages, and what `make install` installs, both run by COMMAND.  Debian's own mapping
# of file names is switched off: that of configure.ac must suffice.
make_all() {
	cd "$1" || return 1
	made=$1 DEB_BUILD_OPTIONS="nocheck parallel=$2 reproducible=-fixfilepath,-fixdebugpath"
	export DEB_BUILD_OPTIONS
	shift 2
	{
		"$@" date +%F
		date +%Z
		umask
		first_in_order
		echo "$DEB_BUILD_OPTIONS"
		pwd
	} >circumstances
	"$@" netobs/debian/make-package packages && cd packages/netobs-*/ && "$@" make -s install DESTDIR="$made/installed"
}

# More than a year later, with all that differs between two users.  NO_FAKE_STAT: the times of files are real.
make_all_later() {
	umask 077
	another_locale
	export TZ=XYZ-5:45 NO_FAKE_STAT=1
	make_all "$@" faketime -f +400d
}

jobs=$(nproc 2>/dev/null || echo 2)
(make_all "$first" "$jobs" env) >"$tmp/first" 2>&1 || {
	tail -n 30 "$tmp/first" >"$tmp/end"
	not_ok "the package is built" "$tmp/end"
	tap_done
}
(make_all_later "$second" $((jobs + 1))) >"$tmp/second" 2>&1 || {
	tail -n 30 "$tmp/second" >"$tmp/end"
	not_ok "the package is built later, in another directory, by another user" "$tmp/end"
	tap_done
}

# -------------------------------------------------------------------------------------------------------- comparison

# same_tree ONE OTHER: whether two directories have the same files, links and modes; prints what differs
same_tree() {
	(cd "$1" && find . -printf '%P, %y %m %l\n' | sort) >"$tmp/one"
	(cd "$2" && find . -printf '%P, %y %m %l\n' | sort) >"$tmp/other"
	{
		(cd "$1" && find . -type f -printf '%P\n' | sort) | while read -r same_file; do
			cmp -s "$1/$same_file" "$2/$same_file" || echo "$same_file: content"
		done
		diff "$tmp/one" "$tmp/other"
	} >"$tmp/differences"
	cat "$tmp/differences"
	[ ! -s "$tmp/differences" ]
}

# same_archive FILE: whether both builds have made the same; if not, prints which files in it differ
same_archive() {
	! cmp -s "$first/packages/$1" "$second/packages/$1" || return 0
	rm -rf "$tmp/unpacked"
	for same_build in "$first" "$second"; do
		same_into=$tmp/unpacked/${same_build##*/}
		mkdir -p "$same_into"
		case $1 in
		*.deb) dpkg-deb -R "$same_build/packages/$1" "$same_into" ;;
		*.tar.xz) tar -C "$same_into" -xpf "$same_build/packages/$1" ;;
		*) cp "$same_build/packages/$1" "$same_into" ;;
		esac
	done
	same_tree "$tmp/unpacked/a" "$tmp/unpacked/b"
	return 1
}

# These must not be equal by mistake.
if [ -e /usr/share/i18n/locales/tr_TR ] || (another_locale); then
	check "time, time zone, umask, locale, jobs and directory of the two builds differ" sh -c \
		"! paste '$first/circumstances' '$second/circumstances' | awk -F '\t' '\$1 == \$2' | grep ."
else
	skip "time, time zone, umask, locale, jobs and directory of the two builds differ" "locales is not installed"
fi
mkdir "$tmp/same" "$tmp/changed"
touch "$tmp/same/mode" "$tmp/changed/mode"
chmod 640 "$tmp/changed/mode"
echo 1 >"$tmp/same/content"
echo 2 >"$tmp/changed/content"
: >"$tmp/changed/new"
same_tree "$tmp/same" "$tmp/changed" | sed -n 's/^> \([a-z]*\), f.*/\1/p; /: content/p' >"$tmp/found"
is "another content, mode and file are found" "$(paste -s -d ' ' "$tmp/found")" "content: content mode new"
check "the programs have debug information" sh -c "readelf -S '$first'/installed/usr/sbin/netobsd | grep -q '\.debug_info'"
check "make install: every file, its mode and that of its directory" same_tree "$first/installed" "$second/installed"
# Not compared: what describes one build (buildinfo), and the digest of that (changes).
for file in "$first/packages"/*.deb "$first/packages"/*.tar.xz "$first/packages"/*.dsc; do
	check "${file##*/}" same_archive "${file##*/}"
done
is "both builds make the same files" "$(cd "$first/packages" && ls)" "$(cd "$second/packages" && ls)"
check "a package with debug information is among them" sh -c "ls '$first'/packages/netobs-dbgsym_*.deb"
tap_done
