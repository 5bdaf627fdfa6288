#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/formulas.conf: netobsd reads it, as it is and appended to conf/netobs.conf, and each of its formulas has the
# firings that conf.py computes: on a capture on which it fires, and on one on which only its probe does.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
home=$top/tests/captures/home-network.pcap

# netobsd of root reads no configuration of other users.
cp -- "$top/conf/formulas.conf" "$tmp/formulas.conf" || exit 99
check "--check-config accepts the file" "$netobsd" -c "$tmp/formulas.conf" -r "$home" --check-config
cat "$top/conf/netobs.conf" "$top/conf/formulas.conf" >"$tmp/service.conf"
check "and conf/netobs.conf with it appended" "$netobsd" -c "$tmp/service.conf" --check-config
"$netobsd" -c "$tmp/service.conf" --print-config >"$tmp/printed" 2>"$tmp/err"
is "all of them are settings" "$(sed -n '/^formula = /,/}$/p' "$tmp/printed" | grep -o '[{ ]"[a-z-]* = ' | wc -l)" \
	"$(grep -c '^formula +=' "$top/conf/formulas.conf")"

"$netobsd" -c "$tmp/formulas.conf" -r "$home" >"$tmp/out" 2>"$tmp/err"
is "the file alone prints nothing" "$(cat "$tmp/out")" ""
python3 "$top/tests/formulas/conf.py" "$netobsd" "$top/tests/captures" "$tmp" >"$tmp/points" 2>"$tmp/err"
is "conf.py ends well" "$? $(cat "$tmp/err")" "0 "
relay "$tmp/points"
tap_done
