#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares the header fields of every packet with tshark's: those of tests/captures, and of the further captures of
# $NETOBS_SHARED.  tshark_fields.py does the work and defines what counts as the same.
#
#	tshark.sh update	accepts the counts of this run: accuracy.expected, and the tables of the two READMEs.  Each new
#				difference needs a row with its reason in tshark_differences.tsv first.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 tshark || skip_all "python3 or tshark is not installed"
if [ "${1-}" = update ]; then
	python3 "$top/tests/reference/tshark_fields.py" "$build/tests/reference/dump_fields" "$top/tests/captures" \
		"$shared/captures" --accept 2>/dev/null
	exit
fi
check "tshark differs only where the difference is explained" \
	python3 "$top/tests/reference/tshark_fields.py" "$build/tests/reference/dump_fields" "$top/tests/captures" "$shared/captures"
grep -E '^(shipped|further): ' "$tmp/check" >"$tmp/counts"
while IFS= read -r line; do
	note "$line"
done <"$tmp/counts"
tap_done
