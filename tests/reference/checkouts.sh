#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares netobs with the expectations of the tests of Zeek (zeek.py) and Suricata (suricata.py), and connection records
# with both (records/records.py), in the checkouts of zeek/zeek and OISF/suricata-verify whose folders are in the environment:
#
#     NETOBS_ZEEK=/path/to/zeek make check TESTS=tests/reference/checkouts.sh
#     NETOBS_SURICATA=/path/to/suricata-verify make check TESTS=tests/reference/checkouts.sh
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -n "${NETOBS_ZEEK:-}${NETOBS_SURICATA:-}" ] || skip_all "no checkout in NETOBS_ZEEK or NETOBS_SURICATA"
have python3 || skip_all "python3 is not installed"
built "$netobsd"

# compare SCRIPT ARGUMENT...: relays the points of a comparison
compare() {
	compare_script=$1
	shift
	note "$compare_script"
	python3 "$top/tests/reference/$compare_script" "$netobsd" "$@" >"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] ||
		not_ok "$compare_script runs" "$tmp/err"
	relay "$tmp/points"
}

if [ -n "${NETOBS_ZEEK:-}" ]; then
	compare zeek.py "$NETOBS_ZEEK/testing/btest"
	compare records/records.py zeek "$NETOBS_ZEEK/testing/btest"
fi
if [ -n "${NETOBS_SURICATA:-}" ]; then
	compare suricata.py "$NETOBS_SURICATA/tests"
	compare records/records.py suricata "$NETOBS_SURICATA/tests"
fi
tap_done
