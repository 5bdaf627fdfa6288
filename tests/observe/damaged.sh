#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# SYN, FIN and RST with wrong checksums: their receiver drops them, so no connection sees them; but where the interface of
# the sender computes the checksums after the capture, they count.  The same whatever is enabled.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
python3 "$top/tests/observe/damaged_captures.py" "$tmp"

# records CASE PROBES: reason, bytes and segments of the connection, while these probes are enabled, too
records() {
	"$netobsd" -r "$tmp/$1.pcap" --print="connection-end$2" \
		--print-fields cr_reason,cr_client_bytes,cr_server_bytes,cr_client_segments,cr_server_segments |
		awk '$2 != "-" { $1 = $1; print }'
}

# written CASE: the same of --records, while no probe is enabled
written() {
	"$netobsd" -r "$tmp/$1.pcap" --records="$tmp/records" && python3 -c '
import json, sys
record = json.loads(sys.stdin.readline())
print(*(record["cr_" + name] for name in
        ("reason", "client_bytes", "server_bytes", "client_segments", "server_segments")))' <"$tmp/records"
}

# marked CASE: the segments that fire a receive probe with the reason
marked() {
	"$netobsd" -r "$tmp/$1.pcap" --print=tcp-receive --format json | grep -c '"pkt_reason":"checksum-wrong"'
}

for case in rst rst-ack rst-client rst-6 fin fin-6 syn syn-ack; do
	is "$case: the connection does not see it" "$(records "$case" '')" "fin 38 40 6 3"
	is "$case: nor while every segment is reported" "$(records "$case" ',tcp-*,socket-*')" "fin 38 40 6 3"
	is "$case: its receive probe says why" "$(marked "$case")" 1
	is "$case: nor does its record" "$(written "$case")" "fin 38 40 6 3"
	"$netobsd" -r "$tmp/$case.pcap" --summary >"$tmp/summary" 2>&1
	is "$case: it is counted while nothing is printed" "$(sed -n 's/^anomaly.checksum-wrong //p' "$tmp/summary")" 1
done
for case in offload zero wrong; do
	is "$case: the sender's interface computes them, and all count" "$(records "$case" '')" "fin 38 40 6 3"
	is "$case: also a RST" "$(records "$case-reset" '')" "reset-by-server 38 40 4 3"
	is "$case: nothing is marked" "$(marked "$case-reset")" 0
done
tap_done
