#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every capture, replayed twice as JSON: each line is an object with the documented members, both runs give the same bytes,
# and the exit status is right for the capture.  The work is done in json_lines.py.
#
#	json.sh [FOLDER]	of the captures of the folder, tests/captures by default
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
rm -rf "$tmp"
exec python3 "$top/tests/probes/json_lines.py" "$netobsd" "${1:-$top/tests/captures}"
