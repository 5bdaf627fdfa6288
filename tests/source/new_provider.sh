#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/new-provider: in a copy of the source tree, the provider that it lays down is in the tables of rooms, builds
# without warnings, passes its test, fires and is printed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have autoreconf gcc make git || skip_all "autoreconf, gcc, make or git is not installed"
git -C "$top" -c safe.directory="$top" ls-files >"$tmp/listed" 2>/dev/null
[ -s "$tmp/listed" ] || skip_all "$top is not a git repository"
! grep -q '^SANITIZE_CFLAGS = .*-fsanitize' "$build/Makefile" || skip_all "it is built with its own flags: the plain build tests it"
# This test runs inside a make whose flags and TESTS are not meant for those below.
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS

copy=$tmp/copy
mkdir "$copy"
(cd "$top" && tar -cf - -T "$tmp/listed") | (cd "$copy" && tar -xf -)

refuses() {
	! "$copy/scripts/new-provider" "$@"
}
check "scripts/new-provider finger 79" "$copy/scripts/new-provider" finger 79
check "a second time it refuses" refuses finger 79
check "it refuses a name with capitals" refuses Finger 79
check "it refuses a port that is none" refuses other seventy
check "it refuses a port that C reads as octal" refuses other 079

check "the tables of rooms agree with it" env top_srcdir="$copy" "$copy/tests/source/rooms.sh"

build_copy() {
	cd "$copy" && autoreconf -i && mkdir build && cd build && ../configure -q --enable-werror CFLAGS=-O0 &&
		make -s -j2 all && make -s tests/apps/finger/test_finger
}
check "it builds without warnings" build_copy
check "its test passes" "$copy/build/tests/apps/finger/test_finger"

# Requests of HTTP are lines of text, too.
"$copy/build/netobsd" -r "$top/tests/captures/home-network.pcap" --print='finger-*' --ports-only --http-port=9 --finger-port=80 \
	>"$tmp/printed" 2>"$tmp/errors"
check "it fires, and its lines are printed" \
	grep -q 'finger-message 192.168.0.1:80 - 192.168.0.13:59885, text POST /WANIPConnection HTTP/1.1, length 30' "$tmp/printed"
tap_done
