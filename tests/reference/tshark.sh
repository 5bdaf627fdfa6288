#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The header fields of every packet of the shared captures, compared with tshark's.  The work is done in
# tshark_fields.py, which says what counts as the same.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 tshark || skip_all "python3 or tshark is not installed"
[ -d "$shared/captures" ] || skip_all "there are no shared captures"
check "nothing but the explained differences to tshark" \
	python3 "$top/tests/reference/tshark_fields.py" "$build/tests/reference/dump_fields" "$shared/captures"
[ ! -s "$tmp/check" ] || note "$(tail -n 1 "$tmp/check")"
tap_done
