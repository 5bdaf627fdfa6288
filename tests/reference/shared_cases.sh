#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of public collections that are too large for the source tree, or whose licence is not known, in which netobs was
# wrong: in $NETOBS_SHARED/cases, each with what is right.  tests/golden has cases of the same kinds.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cases=$shared/cases
[ -d "$cases" ] || skip_all "there is no $cases"

# replay CAPTURE PROBES POINT: the firings are in $tmp/firings
replay() {
	"$netobsd" -r "$cases/$1" --view both --print="$2" >"$tmp/firings" 2>"$tmp/err" && return
	not_ok "$1: $3: netobsd replays it" "$tmp/err"
	return 1
}

# kinds CAPTURE KINDS POINT: how many of each kind, such as "fast 2", less than 150 ms after the range was last sent
kinds() {
	replay "$1" tcp-retransmit "$3" || return
	is "$1: $3" "$(sed -n 's/.* length [0-9]*, \([a-z-]*\), sent [0-9]* times, after \([0-9]*\) us,.*/\1 \2/p' "$tmp/firings" |
		awk '$2 < 150000 { n[$1]++ } END { for (kind in n) print kind, n[kind] }' | sort | paste -s -d ' ' -)" "$2"
}

kinds hardware_dups.dmp "" "a connection captured in front of and behind a router has no retransmission"
kinds anyconnect-vpn.pcap "fast 2" "no timeout 41 ms after the segment was sent"
kinds tcp_dupack.pcapng "fast 1" "mid-stream: the first copy was sent before the capture"
is "hardware_dups.dmp: duplicates are counted, that of an ACK, too" \
	"$("$netobsd" -r "$cases/hardware_dups.dmp" --view both --summary 2>&1 | sed -n 's/^flow\.duplicate-segments //p')" 486

point="no acknowledgement delivers more than a window"
replay packet-c.cap socket-receive "$point" &&
	is "packet-c.cap: $point" "$(awk '$6 > 1000000 { n++ } END { print n + 0 }' "$tmp/firings")" 0
point="no frame is dropped"
replay fast_reuse.dmp 'ip-drop-*' "$point" && is "fast_reuse.dmp: $point" "$(cat "$tmp/firings")" ""
point="the connections are followed"
replay fast_reuse.dmp socket-send "$point" &&
	is "fast_reuse.dmp: $point" "$(awk '{ n += $6 } END { print (n > 50000) }' "$tmp/firings")" 1
point="a time to live of 0 is not a drop"
replay retransmit-fast009.pcap 'ip-drop-*' "$point" && is "retransmit-fast009.pcap: $point" "$(cat "$tmp/firings")" ""
point="both ends are established"
replay retransmit-fast009.pcap 'tcp-accept-established,tcp-connect-established' "$point" &&
	is "retransmit-fast009.pcap: $point" "$(awk 'END { print NR }' "$tmp/firings")" 2
point="frames 1 to 3 are a half-open scan"
replay malicious-ssh-bruteforce.pcap tcp-state-change "$point" &&
	is "malicious-ssh-bruteforce.pcap: $point" "$(awk 'NR <= 4 { print $(NF - 4), $(NF - 2) }' "$tmp/firings")" \
		"state-closed state-syn-sent,
state-listen state-syn-received,
state-syn-sent state-closed,
state-syn-received state-closed,"
tap_done
