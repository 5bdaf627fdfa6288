#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of public collections, in $NETOBS_SHARED/cases, in which netobs was wrong: impossible acknowledgements, a
# half-open scan, records that were cut without a note, a time to live of 0.  tests/golden has cases of the same kinds.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
cases=$shared/cases

# replay CASE PROBES POINT: the firings are in $tmp/firings; skips the point if the capture is absent
replay() {
	if [ ! -e "$cases/$1" ]; then
		skip "$1: $3" "no $cases/$1"
		return 1
	fi
	if ! "$netobsd" -r "$cases/$1" --print="$2" >"$tmp/firings" 2>"$tmp/err"; then
		check "$1: $3: netobsd replays it" false
		return 1
	fi
}

if replay packet-c.cap 'socket-receive' "no acknowledgement delivers more than a window"; then
	is "packet-c.cap: no acknowledgement delivers more than a window" \
		"$(awk '$6 > 1000000 { n++ } END { print n + 0 }' "$tmp/firings")" 0
fi
if replay fast_reuse.dmp 'ip-drop-*' "no frame is dropped"; then
	is "fast_reuse.dmp: no frame is dropped" "$(cat "$tmp/firings")" ""
fi
if replay fast_reuse.dmp 'socket-send' "the connections are followed"; then
	is "fast_reuse.dmp: the connections are followed" \
		"$(awk '{ n += $6 } END { print (n > 50000) }' "$tmp/firings")" 1
fi
if replay retransmit-fast009.pcap 'ip-drop-*' "a time to live of 0 is no drop"; then
	is "retransmit-fast009.pcap: a time to live of 0 is no drop" "$(cat "$tmp/firings")" ""
fi
if replay retransmit-fast009.pcap 'tcp-accept-established,tcp-connect-established' "both ends are established"; then
	is "retransmit-fast009.pcap: both ends are established" "$(awk 'END { print NR }' "$tmp/firings")" 2
fi
if replay malicious-ssh-bruteforce.pcap 'tcp-state-change' "frames 1 to 3 are a half-open scan"; then
	is "malicious-ssh-bruteforce.pcap: frames 1 to 3 are a half-open scan" \
		"$(awk 'NR <= 4 { print $(NF - 4), $(NF - 2) }' "$tmp/firings")" "state-closed state-syn-sent,
state-listen state-syn-received,
state-syn-sent state-closed,
state-syn-received state-closed,"
fi
tap_done
