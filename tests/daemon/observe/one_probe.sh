#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A probe fires alone as it fires among all others: a regular packet takes the fast path unless an enabled probe fires for
# every packet (manifest_per_packet), and then causes no event.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"

# differ NAME: prints the probes of tests/captures/NAME that fire otherwise when they are alone
differ() {
	"$netobsd" -r "$top/tests/captures/$1" --print --format json >"$tmp/all" 2>"$tmp/err"
	sed 's/^{"probe":"\([a-z0-9-]*\)".*/\1/' "$tmp/all" | sort -u >"$tmp/probes"
	while read -r probe; do
		"$netobsd" -r "$top/tests/captures/$1" --print="$probe" --format json >"$tmp/alone" 2>"$tmp/err"
		grep "^{\"probe\":\"$probe\"," "$tmp/all" | cmp -s - "$tmp/alone" || echo "$1: $probe"
	done <"$tmp/probes"
}

probes=0
: >"$tmp/differ"
for capture in home-network.pcap dns-tcp.pcap iscsi.pcap midstream.pcap reordered-data.pcap reordered-fin.pcap \
	ipv6-http.pcap sctp-multihomed.pcap sctp-restart.pcap tcp-ignored.pcap tfo.pcap vxlan-arp.pcap icmp.pcapng \
	vlan-refused-reuse.pcap one-way-client.pcap ipv4-fragments.pcap; do
	differ "$capture" >>"$tmp/differ"
	probes=$((probes + $(wc -l <"$tmp/probes")))
done
check "each probe that fires in sixteen captures fires alone as among all others" [ ! -s "$tmp/differ" ]
sed 's/^/# /' "$tmp/differ"
check "$probes comparisons, of which more than 200 count" [ "$probes" -gt 200 ]
tap_done
