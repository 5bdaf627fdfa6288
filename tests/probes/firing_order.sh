#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The order of firing for each frame of every capture, against the contract.  The work is done in firing_order.py.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
rm -rf "$tmp"
set -- "$top"/tests/captures/*.pcap* "$top"/tests/captures/*/*.pcap*
for folder in "$shared"/captures/*/; do
	[ -d "$folder" ] && set -- "$@" "$folder"*.pcap*
done
exec python3 "$top/tests/probes/firing_order.py" "$netobsd" "$@"
