#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares every SMB message with tshark's: those of tests/captures, and of the further captures of
# $NETOBS_SHARED.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 tshark || skip_all "python3 or tshark is not installed"

# compare NAME CAPTURE...
compare() {
	compare_name=$1
	shift
	check "$compare_name" python3 "$top/tests/apps/smb/smb_messages.py" "$netobsd" \
		--explained "$top/tests/reference/tshark_smb.tsv" "$@"
	note "$(tail -n 1 "$tmp/check")"
}
compare "shipped captures: tshark differs only where the difference is explained" "$top/tests/captures/smb.pcap"
if [ -d "$shared/captures" ]; then
	# No blanks in these names.
	# shellcheck disable=SC2046
	compare "further captures: likewise" $(find "$shared/captures" -name '*.pcap' -o -name '*.pcapng' | sort)
else
	skip "further captures: likewise" "\$NETOBS_SHARED has no captures"
fi
tap_done
