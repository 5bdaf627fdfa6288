#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The records of --records have in every field what connection-end has, no segment is in two of them, and the time of each
# is divided without rest: with the captures of the source tree, and with ends that are used again.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 jq || skip_all "python3 or jq is not installed"
chmod 755 "$tmp" # netobsd that is started as root changes its user
here=$top/tests/daemon/record

check "connections that go on, and new ones of the same ends" "$here/attempts_capture.py" "$tmp/attempts.pcap"
"$netobsd" -r "$tmp/attempts.pcap" --records=- --format json |
	jq -r '"\(.cr_client_port) \(.cr_client_segments)+\(.cr_server_segments)" +
		" \(.cr_client_bytes)+\(.cr_server_bytes) \(.cr_reason)"' | sort -n >"$tmp/got"
cat >"$tmp/wanted" <<-'END'
	1 1+1 0+0 refused
	1 6+4 100+100 fin
	2 1+1 0+0 refused
	3 1+0 0+0 unreachable
	3 5+3 100+100 fin
	4 3+3 100+100 reset-by-server
	4 5+4 300+300 fin
	5 5+3 100+100 fin
	5 5+3 100+100 fin
	5 5+3 100+100 fin
	6 3+1 0+0 reset-by-client
	6 5+3 100+100 fin
	7 3+2 100+100 idle
	7 5+3 100+100 fin
	8 3+2 100+100 idle
	8 7+3 100+100 fin
END
check "their records" diff "$tmp/wanted" "$tmp/got"

find "$top/tests/captures" -type f -name '*.pcap*' | sort |
	xargs "$here/every_capture.py" "$netobsd" "$tmp/attempts.pcap" >"$tmp/differ"
compared=$(tail -n 1 "$tmp/differ")
sed -i '$d' "$tmp/differ"
note "$compared records"
if [ "$compared" -gt 1000 ] && [ ! -s "$tmp/differ" ]; then
	ok "every field, no segment twice, and all of the time, in all captures"
else
	not_ok "every field, no segment twice, and all of the time, in all captures" "$tmp/differ"
fi
tap_done
