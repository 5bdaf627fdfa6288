#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs report: the segments on a page are those that tshark finds; report.sh has the first captures.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$build/netobs-report"
have python3 tshark || skip_all "python3 or tshark is not installed"
export NETOBSD="$netobsd"

# of_tshark WHAT NAME...: compares pages with tshark
of_tshark() {
	python3 "$top/tests/tools/report/report_tshark.py" "$top/scripts/netobs" "$top/tests/captures" "$@" >"$tmp/points" 2>"$tmp/err"
	is "report_tshark.py ends well: $1" "$? $(cat "$tmp/err")" "0 "
	relay "$tmp/points"
}

of_tshark segments http.pcap smb.pcap ipv6-http.pcap questions.pcap tls.pcap iscsi.pcap dns-tcp.pcap reordered-data.pcap \
	tcp-urgent.pcap vlan-refused-reuse.pcap captured-twice.pcap
of_tshark sack suricata-verify/syn_retransmit_with_ts.pcap.gz suricata-verify/input-23.pcap
tap_done
