#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares connection records with tshark's conversations: in tests/captures and tests/truth, and in the further captures of
# $NETOBS_SHARED.  tshark_records.py does the work and defines what counts as the same.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
have python3 tshark || skip_all "python3 or tshark is not installed"
check "tshark differs only where the difference is explained" \
	python3 "$top/tests/reference/tshark_records.py" "$netobsd" "$top/tests/captures" "$top/tests/truth" "$shared"
grep -E '^(shipped|further): ' "$tmp/check" >"$tmp/counts"
while IFS= read -r line; do
	note "$line"
done <"$tmp/counts"
tap_done
