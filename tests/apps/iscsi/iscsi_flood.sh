#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real iSCSI sessions beside a flood of the iSCSI port: their firings are those without the flood.  Each burst of the
# flood has more connections than iSCSI connections are parsed at once, 1,024.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"

flood=$top/tests/apps/iscsi/iscsi_flood.py
capture=$top/tests/captures/iscsi.pcap
bursts=20
connections=$((bursts * 1100))

# probes FILE NAME: the firings of the real sessions in $tmp/NAME, without connection ids, which the flood has too;
# those of the flood in $tmp/NAME.flood
probes() {
	"$netobsd" -r "$1" --print='iscsi-*' --summary 2>"$tmp/$2.err" | sed 's/, cid [0-9]*$//' >"$tmp/$2.all"
	grep -F ' 198.' "$tmp/$2.all" >"$tmp/$2.flood"
	grep -vF ' 198.' "$tmp/$2.all" >"$tmp/$2"
}

# counter NAME COUNTER
counter() {
	awk -v name="$2" '$1 == name { print $2 }' "$tmp/$1.err"
}

# is_undisturbed KIND: whether the sessions fire as without the flood.  A hash with a random key selects the quota of a
# client's network; one key of 1,024 selects one quota for the networks of the sessions and of the flood: three keys are
# tried.
is_undisturbed() {
	for attempt in 1 2 3; do
		cmp "$tmp/alone" "$tmp/$1" && return 0
		echo "attempt $attempt"
		probes "$tmp/$1.pcap" "$1"
	done
	return 1
}

probes "$capture" alone
is "there are firings" "$([ "$(wc -l <"$tmp/alone")" -gt 150 ] && echo many)" many

for kind in logins answered opened; do
	"$flood" "$kind" "$connections" "$tmp/$kind.pcap" "$capture" "$bursts" || exit 99
	probes "$tmp/$kind.pcap" "$kind"
	is "$kind: every connection of the flood is captured" "$(counter "$kind" flow.created)" \
		$((connections + $(counter alone flow.created)))
	check "$kind: the firings of the sessions are those without the flood" is_undisturbed "$kind"
	if [ "$kind" = opened ]; then
		is "$kind: each login fires" "$(grep -c iscsi-login-command "$tmp/$kind.flood")" "$connections"
	else
		is "$kind: no segment of the flood fires" "$(wc -l <"$tmp/$kind.flood")" 0
	fi
	rm "$tmp/$kind.pcap"
done
tap_done
