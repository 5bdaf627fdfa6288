#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A flood of connections that send the beginning of a request, spoofed, of one network and byte by byte, does not push out the
# connections of real clients.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
python3 "$top/tests/apps/http/http_flood.py" "$tmp/flood.pcap"
"$netobsd" -r "$tmp/flood.pcap" --print=http-request-done --summary >"$tmp/done" 2>"$tmp/summary"

is "each real client gets both responses" "$(grep -c ' 198.51.100.[0-9]*:40000, .*status 200' "$tmp/done")" 40
is "the attackers' requests are not done" "$(grep -vc ' 198.51.100.[0-9]*:40000, ' "$tmp/done")" 0
is "no confirmed connection was evicted" "$(sed -n 's/^conversation.evicted //p' "$tmp/summary")" 0
# Half of 131,072 may be unconfirmed, and an eighth of one network.
is "unconfirmed ones are limited" \
	"$(awk '$1 == "conversation.now" && $2 <= 65536 + 20 { print "limited" }' "$tmp/summary")" limited
check "they are evicted, which is counted" grep -q '^conversation.evicted-unconfirmed [1-9]' "$tmp/summary"
tap_done
