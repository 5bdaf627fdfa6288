#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares netobs with the expectations of the tests of Zeek (zeek.py) and Suricata (suricata.py), in the checkouts of
# zeek/zeek and OISF/suricata-verify whose folders are in the environment:
#
#     NETOBS_ZEEK=/path/to/zeek make check TESTS=tests/reference/checkouts.sh
#     NETOBS_SURICATA=/path/to/suricata-verify make check TESTS=tests/reference/checkouts.sh
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -n "${NETOBS_ZEEK:-}${NETOBS_SURICATA:-}" ] || skip_all "no checkout in NETOBS_ZEEK or NETOBS_SURICATA"
have python3 || skip_all "python3 is not installed"
[ -x "$netobsd" ] || skip_all "netobsd is not built"

# compare SCRIPT FOLDER: relays the points of a comparison
compare() {
	note "$1"
	python3 "$top/tests/reference/$1" "$netobsd" "$2" >"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] ||
		not_ok "$1 runs" "$tmp/err"
	relay "$tmp/points"
}

[ -z "${NETOBS_ZEEK:-}" ] || compare zeek.py "$NETOBS_ZEEK/testing/btest"
[ -z "${NETOBS_SURICATA:-}" ] || compare suricata.py "$NETOBS_SURICATA/tests"
tap_done
