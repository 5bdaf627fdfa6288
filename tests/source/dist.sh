#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tarball of `make dist`: every file of the repository with its content, the files of autoreconf, and nothing of a build.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -e "$build/Makefile" ] || skip_all "there is no Makefile in $build"
have git || skip_all "git is not installed"
have xz || skip_all "xz is not installed"
# Without a repository the list is empty.
git -C "$top" -c safe.directory="$top" ls-files >"$tmp/listed" 2>/dev/null
[ -s "$tmp/listed" ] || skip_all "$top is not a git repository"
# This test runs inside a make whose flags and TESTS are not meant for those below.
unset MAKEFLAGS MFLAGS MAKELEVEL TESTS

# A build directory as configure leaves it, with files as tests leave them.
fresh=$tmp/fresh
mkdir -p "$fresh/tests/source/.deps"
cp "$build/config.status" "$fresh"
sed -e "s|^\(top_\)\{0,1\}srcdir = .*|\1srcdir = $top|" -e "s|^VPATH = .*|VPATH = $top|" \
	-e "s|^abs_\(top_\)\{0,1\}builddir = .*|abs_\1builddir = $fresh|" "$build/Makefile" >"$fresh/Makefile"
touch "$fresh/tests/source/test_program" "$fresh/tests/source/test.log" "$fresh/tests/source/.deps/test.Po"

if XZ_OPT=-0 timeout 300 make -s -C "$fresh" dist >"$tmp/printed" 2>&1; then
	ok "make dist"
else
	not_ok "make dist" "$tmp/printed"
fi
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
tap_done
