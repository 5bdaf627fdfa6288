#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tests of this folder with programs that `make check` does not need: clang, g++, gawk, busybox, SystemTap.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

for name in dof header_parse libraries manifest_awk notes; do
	note "$name.sh"
	sh "$top/tests/probes/$name.sh" others >"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] || not_ok "$name.sh runs" "$tmp/err"
	check "$name.sh ends" grep -q '^1\.\.' "$tmp/points"
	relay "$tmp/points"
done
tap_done
