#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The numbers of firings that conf.sh expects of the formulas of conf/formulas.conf, against the frames that tshark's display
# filters select.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 tshark || skip_all "python3 or tshark is not installed"
python3 "$top/tests/formulas/conf.py" tshark "$top/tests/captures" "$tmp" >"$tmp/points" 2>"$tmp/err"
is "conf.py ends well" "$? $(cat "$tmp/err")" "0 "
relay "$tmp/points"
tap_done
