#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --write: a capture has the whole connections of which a formula has fired, byte for byte, as tshark finds them; write.sh
# has the most common captures.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 tshark || skip_all "python3 or tshark is not installed"
chmod 755 "$tmp" # netobsd that is started as root changes its user

python3 "$top/tests/flight/excerpt/write_tshark.py" "$netobsd" "$top/tests/captures" "$tmp" more >"$tmp/points" 2>"$tmp/err"
is "write_tshark.py ends well" "$? $(cat "$tmp/err")" "0 "
relay "$tmp/points"
tap_done
