#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Retransmissions in captures of others that are too large for the source tree, or whose licence is not known: in
# $NETOBS_SHARED/cases, each with what is right.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# kinds CAPTURE: how many retransmissions of each kind, such as "fast 2", less than 150 ms after the range was last sent
kinds() {
	"$netobsd" -r "$shared/cases/$1" --view both --print=tcp-retransmit | sed -n \
		's/.* length [0-9]*, \([a-z-]*\), sent [0-9]* times, after \([0-9]*\) us,.*/\1 \2/p' |
		awk '$2 < 150000 { n[$1]++ } END { for (kind in n) print kind, n[kind] }' | sort | paste -s -d ' ' -
}

# counter CAPTURE NAME
counter() {
	"$netobsd" -r "$shared/cases/$1" --view both --summary 2>&1 >"$tmp/out" | sed -n "s/^$2 //p"
}

# case_of CAPTURE KINDS TEXT
case_of() {
	if [ -e "$shared/cases/$1" ]; then
		is "$1: $3" "$(kinds "$1")" "$2"
	else
		skip "$1: $3" "no further captures"
	fi
}

case_of hardware_dups.dmp "" "a connection captured before and behind a router has no retransmission"
case_of anyconnect-vpn.pcap "fast 2" "no timeout 41 ms after the segment was sent"
case_of tcp_dupack.pcapng "fast 1" "mid-stream: the first copy was sent before the capture"
if [ -e "$shared/cases/hardware_dups.dmp" ]; then
	is "hardware_dups.dmp: duplicates with data are counted" "$(counter hardware_dups.dmp flow.duplicate-segments)" 485
else
	skip "hardware_dups.dmp: duplicates with data are counted" "no further captures"
fi
tap_done
