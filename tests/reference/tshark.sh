#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares the header fields of every packet with tshark's: those of tests/captures, and of the further captures of
# $NETOBS_SHARED.  tshark_fields.py does the work and defines what counts as the same.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 tshark || skip_all "python3 or tshark is not installed"
check "tshark differs only where the difference is explained" \
	python3 "$top/tests/reference/tshark_fields.py" "$build/tests/reference/dump_fields" "$top/tests/captures" "$shared/captures"
grep -E '^(shipped|further): ' "$tmp/check" >"$tmp/counts"
while IFS= read -r line; do
	note "$line"
done <"$tmp/counts"
tap_done
