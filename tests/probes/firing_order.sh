#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The order of firing for each frame of every capture, against the contract.  The work is done in firing_order.py.
#
#	firing_order.sh [FOLDER]	of the captures of the folder, tests/captures by default
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
rm -rf "$tmp"
exec python3 "$top/tests/probes/firing_order.py" "$netobsd" "${1:-$top/tests/captures}"
