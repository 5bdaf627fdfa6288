#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tarball of `make dist`: every file of the repository with its content, the files of autoreconf, and nothing of a build;
# the same bytes for every user at any time.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/another_locale.sh
. "$top/tests/source/another_locale.sh"

[ -e "$build/Makefile" ] || skip_all "there is no Makefile in $build"
have git || skip_all "git is not installed"
have xz || skip_all "xz is not installed"
# Without a repository the list is empty.
git -C "$top" -c safe.directory="$top" ls-files >"$tmp/listed" 2>/dev/null
[ -s "$tmp/listed" ] || skip_all "$top is not a git repository"
# This test runs inside a make whose flags and TESTS are not meant for those below.
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS

# make_dist DIRECTORY: in a build directory as configure leaves it, with files as tests leave them
make_dist() {
	mkdir -p "$1/tests/source/.deps"
	cp "$build/config.status" "$1"
	sed -e "s|^\(top_\)\{0,1\}srcdir = .*|\1srcdir = $top|" -e "s|^VPATH = .*|VPATH = $top|" \
		-e "s|^abs_\(top_\)\{0,1\}builddir = .*|abs_\1builddir = $1|" "$build/Makefile" >"$1/Makefile"
	touch "$1/tests/source/test_program" "$1/tests/source/test.log" "$1/tests/source/.deps/test.Po"
	XZ_OPT=-0 make -s -C "$1" dist
}

fresh=$tmp/fresh
check "make dist" make_dist "$fresh"
mkdir "$tmp/extracted"
tar -xf "$fresh"/netobs-*.tar.xz -C "$tmp/extracted" --strip-components=1

# Left out: what concerns the repository only.
grep -vx .gitignore "$tmp/listed" | sort >"$tmp/wanted"
(cd "$tmp/extracted" && find . ! -type d | sed 's|^\./||' | sort) >"$tmp/got"
comm -23 "$tmp/wanted" "$tmp/got" >"$tmp/missing"
check "the repository has files with long names" grep -qE '.{90}' "$tmp/wanted"
check "every file of the repository is in the tarball" diff "$tmp/missing" /dev/null
# In the source tree of a developer, new files are not yet listed.
git -C "$top" -c safe.directory="$top" ls-files --others | sort >"$tmp/unlisted"
comm -13 "$tmp/wanted" "$tmp/got" | grep -vxE 'Makefile\.in|aclocal\.m4|configure|build-aux/[^/]*' | comm -23 - "$tmp/unlisted" >"$tmp/further"
check "the tarball has no further files" diff "$tmp/further" /dev/null
while read -r file; do
	! [ -f "$top/$file" ] || cmp -s "$top/$file" "$tmp/extracted/$file" || echo "$file"
done <"$tmp/wanted" >"$tmp/changed"
check "the files have their content" diff "$tmp/changed" /dev/null
check "configure is there" test -x "$tmp/extracted/configure"

# Two directories on one file system may have the same order by chance.  A slash sorts before all that a name can have.
check "the files are sorted" sh -c "tar -tf '$fresh'/netobs-*.tar.xz | tr / '\001' | sort -c"
is "the files have one time" "$(find "$tmp/extracted" -mindepth 1 -printf '%T@\n' | sort -u | wc -l)" 1
(
	umask 077
	another_locale || note "the package locales is not installed"
	export TZ=XYZ-5:45
	make_dist "$tmp/another directory"
) >"$tmp/printed" 2>&1 || note "$(tail -n 1 "$tmp/printed")"
check "another user's tarball is the same" cmp "$fresh"/netobs-*.tar.xz "$tmp/another directory"/netobs-*.tar.xz
tap_done
