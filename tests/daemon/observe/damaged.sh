#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Packets with wrong checksums: their receiver drops them, so no connection, stream or request sees them; but where the
# interface of the sender computes the checksums behind the capture, or the capture was altered, they count.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 jq || skip_all "python3 or jq is not installed"
python3 "$top/tests/daemon/observe/damaged_captures.py" "$tmp"

# records CASE PROBES: reason, bytes and packets of the connections, while these probes are enabled, too
records() {
	"$netobsd" -r "$tmp/$1.pcap" --print="connection-end$2" --format json | jq -r 'select(.probe == "connection-end").args[0] |
		"\(.cr_reason) \(.cr_client_bytes) \(.cr_server_bytes) \(.cr_client_segments) \(.cr_server_segments)"'
}

# marked CASE: the packets that fire a receive probe with the reason
marked() {
	"$netobsd" -r "$tmp/$1.pcap" --print=tcp-receive,udp-receive,sctp-receive --format json | grep -c '"pkt_reason":"checksum-wrong"'
}

for case in rst rst-ack rst-client rst-6 rst-header fin fin-6 data data-6 data-ahead syn syn-ack; do
	is "$case: the connection does not see it" "$(records "$case" '')" "fin 38 40 6 3"
	is "$case: also while each packet is reported" "$(records "$case" ',tcp-*,socket-*')" "fin 38 40 6 3"
	is "$case: its receive probe says why" "$(marked "$case")" 1
	is "$case: one request, that of the right segment" \
		"$("$netobsd" -r "$tmp/$case.pcap" --print=http-request-done --format json | jq -r '.args[1] | "\(.rq_uri) \(.rq_status)"')" "/a 200"
done
for case in rst rst-ack rst-client rst-6 rst-header fin fin-6 data-ahead syn syn-ack; do
	"$netobsd" -r "$tmp/$case.pcap" --summary >"$tmp/summary" 2>&1
	is "$case: it is counted while nothing is printed" "$(sed -n 's/^anomaly.checksum-wrong //p' "$tmp/summary")" 1
done
for case in offload zero wrong; do
	is "$case: the sender's interface computes them, and all count" "$(records "$case" '')" "fin 38 40 6 3"
	is "$case: also a RST" "$(records "$case-reset" ',tcp-*')" "reset-by-server 38 40 4 3"
	is "$case: nothing is marked" "$(marked "$case-reset")" 0
done
is "altered payload counts from the third segment on, because its receiver has acknowledged it" "$(records altered '')" "fin 200 0 6 6"
is "DNS: the right response is the answer" \
	"$("$netobsd" -r "$tmp/dns.pcap" --print=dns-response --format json | jq -r '.args[1] | "\(.dns_qname) \(.dns_rcode)"' | tr '\n' ' ')" "a 0 b 0 "
is "DNS: the wrong one is marked" "$(marked dns)" 1
is "SCTP: an ABORT ends the association" "$(records abort-right '')" "reset-by-server 0 0 2 3"
is "SCTP: unless it is damaged" "$(records abort '')" "capture-end 4 0 3 2"
tap_done
