#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tcp-retransmit compared with tshark's analysis of the shared captures, frame by frame.  The work is done in
# tshark_retransmissions.py, which says what counts as the same.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
have python3 tshark || skip_all "python3 or tshark is not installed"
[ -d "$shared/captures" ] || skip_all "there are no shared captures"
[ -d "$shared/truth" ] || skip_all "there is no shared record of the kernel"
check "nothing but the explained differences to tshark" \
	python3 "$top/tests/reference/tshark_retransmissions.py" "$netobsd" "$shared"
[ ! -s "$tmp/check" ] || note "$(tail -n 1 "$tmp/check")"
tap_done
