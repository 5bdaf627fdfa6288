#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Pages of netobs report in a headless Chromium: what pages.py finds in them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$build/netobs-report"
have python3 || skip_all "python3 is not installed"
have chromium pdftotext || skip_all "chromium or pdftotext is not installed"
export NETOBSD="$netobsd"

# page NAME CAPTURE...: writes the page NAME.html
page() {
	page_name=$1
	shift
	"$top/scripts/netobs" report "$@" >"$tmp/$page_name.html" 2>/dev/null
}

captures=$top/tests/captures
python3 "$top/tests/scripts/conns_cases.py" "$tmp/cases.pcap"
python3 "$top/tests/page/hostile.py" "$tmp/hostile.pcap" "$tmp/long.pcap"
# Übung, and a character that turns the direction of text after it.
hostile=$(printf '%s/<img src=x onerror=alert(1)> \303\234bung\342\200\256.pcap' "$tmp")
cp "$tmp/hostile.pcap" "$hostile"
page questions "$captures/questions.pcap"
page cases "$tmp/cases.pcap"
page http "$captures/http.pcap"
page ipv6 "$captures/ipv6-http.pcap"
page empty "$captures/empty.pcap"
page mld "$captures/icmpv6-mld.pcap"
page sctp "$captures/sctp-multihomed.pcap"
page none --top=0 "$captures/questions.pcap"
page filtered -f 'udp port 53' "$captures/questions.pcap"
page long "$tmp/long.pcap"
python3 "$top/tests/page/older.py" "$tmp/older.pcap"
page older "$tmp/older.pcap"
python3 "$top/tests/page/sack.py" "$tmp/sack.pcap"
page sack "$tmp/sack.pcap"
python3 "$top/tests/page/many.py" "$tmp/many.pcap"
page many "$tmp/many.pcap"
for name in probes lost stamps queries; do
	python3 "$top/tests/tools/report/verdict_cases.py" "$name" "$tmp/$name.pcap"
	page "$name" "$tmp/$name.pcap"
done
page hostile "$hostile"
python3 "$top/tests/page/altered.py" "$tmp"
timeout 300 python3 "$top/tests/page/pages.py" "$tmp" >"$tmp/tap" 2>"$tmp/err"
status=$?
relay "$tmp/tap"
is "the browser" "$status $(cat "$tmp/err")" "0 "

tap_done
