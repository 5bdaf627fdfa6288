#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every script passes shellcheck(1).  A script that has passed is checked again only if it changes, or shellcheck, its
# options, this test, or a variable of a file that scripts source: each success leaves a stamp in the build directory.  To
# read such a file for each script takes two thirds of the time, so shellcheck reads a stub instead, which has the variables
# of the file; with the argument `whole` it reads the file, and there are no stamps.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/test_lists.sh
. "$top/tests/source/test_lists.sh"

have shellcheck || skip_all "shellcheck is not installed"
cd "$top" || exit 99
tree=$PWD # absolute: shellcheck runs in $sources

# SC2317 is left out, because functions that only wait_for calls seem unreachable.
options='--norc -x -e SC2317'

# make_stubs: for each file that scripts source one of its name in $sources, with what it sources, assigns and uses
make_stubs() {
	find tests -name '*.sh' -exec sed -n 's/^# shellcheck source=\([^ ]*\).*/\1/p' {} + | sort -u | while read -r stub_file; do
		mkdir -p "$sources/$(dirname "$stub_file")"
		{
			echo '# shellcheck shell=sh'
			grep -hA 1 '^# shellcheck source=' "$stub_file"
			grep -oE '(^|[[:space:]])[A-Za-z_0-9]+=' "$stub_file" | sed 's/[[:space:]]*\(.*\)/\1x/'
			grep -oE '[$][{]?[A-Za-z_][A-Za-z_0-9]*' "$stub_file" | sed 's/[${]*\(.*\)/: "$\1"/'
		} >"$sources/$stub_file"
	done
}

# without_stamp: "STAMP SCRIPT" for each script that has not passed
without_stamp() {
	without_common=$({
		shellcheck --version
		echo "$options"
		cat tests/source/shellcheck.sh
		[ "$sources" = "$tree" ] || find "$sources" -type f | sort | tr '\n' '\0' | xargs -0 cat
	} | sha1sum)
	shell_scripts | while read -r script; do
		stamp=$( (echo "$without_common" && cat "$script") | sha1sum | cut -d ' ' -f 1)
		[ -e "$stamps/$stamp" ] || echo "$stamp $script"
	done
}

# check_all LIST: lines as without_stamp prints them
check_all() {
	export options sources stamps tree
	# The arguments are those of sh -c.
	# shellcheck disable=SC2016
	xargs -d '\n' -r -P "$(nproc)" -n 1 sh -c '
		script=${1#* }
		case $script in
		/*) ;;
		*.bash-completion) options="$options -s bash" script=$tree/$script ;;
		*) script=$tree/$script ;;
		esac
		cd "$sources" && shellcheck $options "$script" && : >"$stamps/${1%% *}"' sh <"$1"
}

what=${1-}
case $what in
whole)
	sources=$tree
	stamps=$tmp/stamps
	;;
*)
	sources=$tmp/sources
	stamps=$build/tests/source/shellcheck
	make_stubs
	;;
esac
mkdir -p "$stamps"
# shellcheck disable=SC2016 # the variables are those of the script
printf '%s\n' '#!/bin/sh' '# shellcheck source=tests/lib/tap.sh' '. "$(dirname "$0")/../lib/tap.sh"' 'echo "$top $nosuchvariable"' \
	>"$tmp/bad script.sh"
echo "bad $tmp/bad script.sh" >"$tmp/bad"
! check_all "$tmp/bad" >"$tmp/found"
is "a fault is found, and no other" "$? $(grep -o 'SC[0-9]* .*: [a-z]*' "$tmp/found")" "0 SC2154 (warning): nosuchvariable"
check "it leaves no stamp" [ ! -e "$stamps/bad" ]
without_stamp >"$tmp/list"
check "every script passes" check_all "$tmp/list"
check "each leaves a stamp" [ -z "$(without_stamp)" ]
tap_done
