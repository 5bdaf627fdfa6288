#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Packets that are captured twice change no connection, request or record: with duplicates of each packet the records
# and the DNS messages are those of the capture without.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
python3 "$top/tests/observe/duplicates.py" "$tmp"

# seen CAPTURE OUTPUT PROBES: the records, DNS messages and retransmissions
seen() {
	"$netobsd" -r "$1" --view both --records="$2.records" --print="$3" >"$2.all"
	grep -E ' (dns-|tcp-retransmit|udp-stream)' "$2.all" | sed 's/, cid.*//; s/ pkt [0-9]*//' >"$2.fired"
	cat "$2.records" >>"$2.fired"
}

events="dns-*,tcp-retransmit,udp-stream-start"
for base in ipv4 ipv4-timestamps ipv4-atomic ipv4-atomic-timestamps ipv6 ipv6-timestamps; do
	seen "$tmp/$base.pcap" "$tmp/$base" "$events"
	is "$base: no packet of the sender is a duplicate" \
		"$("$netobsd" -r "$tmp/$base.pcap" --view both --summary 2>&1 | grep -c '^anomaly.duplicate')" 0
	# A segment that its receiver drops because of its checksum is not the original of the right one.
	for capture in "$tmp/$base"-mirrored*.pcap "$tmp/$base"-one-direction.pcap "$tmp/$base"-routed*.pcap \
		"$tmp/$base-damaged.pcap"; do
		kind=$(basename "$capture" .pcap)
		seen "$capture" "$tmp/$kind" "$events"
		check "$kind: nothing changes" diff "$tmp/$base.fired" "$tmp/$kind.fired"
		seen "$capture" "$tmp/$kind-traced" "$events,ip-send"
		check "$kind, traced: nothing changes" diff "$tmp/$base.fired" "$tmp/$kind-traced.fired"
	done
done

seen "$tmp/ipv4-constant.pcap" "$tmp/ipv4-constant" "$events"
check "one identification for all packets: nothing changes" diff "$tmp/ipv4.fired" "$tmp/ipv4-constant.fired"
is "one identification for all packets: no packet is a duplicate" \
	"$("$netobsd" -r "$tmp/ipv4-constant.pcap" --view both --summary 2>&1 | grep -c '^anomaly.duplicate')" 0
is "different queries at once: each is told" \
	"$("$netobsd" -r "$tmp/queries.pcap" --view both --print=dns-query | grep -c 'my-laptop-0')" 8
"$netobsd" -r "$tmp/ipv4-mirrored.pcap" --view both --print=tcp-send,icmp-send --format json >"$tmp/marked"
check "packets are marked" [ -s "$tmp/marked" ]
is "half of the packets are marked" "$(grep -c '"pkt_reason":"duplicate"' "$tmp/marked")" \
	"$(grep -c '"pkt_reason":""' "$tmp/marked")"
tap_done
