#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every script passes shellcheck(1).  A script that has passed is checked again only if it changes, or a file that scripts
# source, or shellcheck: each success leaves a stamp in the build directory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have shellcheck || skip_all "shellcheck is not installed"
cd "$top" || exit 99

# scripts: "SCRIPT OPTION..." for each
scripts() {
	printf '%s\n' bootstrap .ci/run debian/make-package tests/golden/update tests/lib/accept tests/lib/cmocka tests/lib/driver tests/lib/repeat \
		tests/lib/results scripts/netobs scripts/translate scripts/examples/update pictures/update conf/engines/record-lines
	find tests -name '*.sh'
	find conf -name '*.bash-completion' | sed 's/$/ -s bash/'
}

# sourced: the files that scripts source
sourced() {
	find tests -name '*.sh' -exec sed -n 's/^# shellcheck source=\([^ ]*\).*/\1/p' {} + | sort -u
}

# without_stamp: "STAMP SCRIPT OPTION..." for each script that has not passed
without_stamp() {
	common=$( (shellcheck --version && sourced | xargs cat) | sha1sum)
	scripts | while read -r script options; do
		stamp=$( (echo "$common" && cat "$script") | sha1sum | cut -d ' ' -f 1)
		[ -e "$STAMPS/$stamp" ] || echo "$stamp $script${options:+ $options}" # a blank at the end joins lines for xargs
	done
}

# check_all LIST: SC2317 is left out, because functions that only wait_for calls seem unreachable.
check_all() {
	# The arguments are those of sh -c.
	# shellcheck disable=SC2016
	xargs -P "$(nproc)" -L 1 sh -c 'shellcheck --norc -x -e SC2317 "$@" && : >"$STAMPS/$0"' <"$1"
}

export STAMPS="$build/tests/source/shellcheck"
mkdir -p "$STAMPS"
printf '%s\n' '#!/bin/sh' 'exit $?x' 'if' >"$tmp/bad.sh"
echo "bad $tmp/bad.sh" >"$tmp/bad"
if check_all "$tmp/bad" >"$tmp/found" || [ -e "$STAMPS/bad" ]; then
	not_ok "a fault is found" "$tmp/found"
else
	ok "a fault is found"
fi
without_stamp >"$tmp/list"
check "$(wc -l <"$tmp/list") of $(scripts | wc -l) scripts" check_all "$tmp/list"
tap_done
