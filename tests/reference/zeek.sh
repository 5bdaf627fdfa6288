#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares netobs with the expectations of Zeek's own tests (zeek.py), in the checkout whose folder is $NETOBS_ZEEK:
#
#     NETOBS_ZEEK=/path/to/zeek make check TESTS=tests/reference/zeek.sh
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -n "${NETOBS_ZEEK:-}" ] || skip_all "no checkout of Zeek in NETOBS_ZEEK"
have python3 || skip_all "python3 is not installed"
[ -x "$netobsd" ] || skip_all "netobsd is not built"

python3 "$top/tests/reference/zeek.py" "$netobsd" "$NETOBS_ZEEK/testing/btest" >"$tmp/points" 2>"$tmp/err" ||
	[ ! -s "$tmp/err" ] || not_ok "zeek.py runs" "$tmp/err"
relay "$tmp/points"
tap_done
