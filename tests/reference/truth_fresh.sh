#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Fresh captures with the kernel's record, compared like those of tests/truth: two hosts and a lossy router in network
# namespaces, short connections and some of every unusual kind, captured by tcpdump on both hosts.  As root in a build
# directory:
#
#     NETOBS_LIVE_KEEP=/tmp/fresh NETOBS_LIVE_CONNECTIONS=500 NETOBS_LIVE_LOSS=60 ../tests/reference/truth_fresh.sh
#
# live_truth_hosts.sh lists the variables; NETOBS_LIVE_KEEP is a folder in which a.pcap, b.pcap and truth.tsv are left,
# for `truth.py TRUTH_REPLAY FOLDER`.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip nft python3 tcpdump || skip_all "ip, nft, python3 or tcpdump is not installed"
[ "${NETOBS_LIVE_DISORDER:-0}" = 0 ] || have ethtool || skip_all "ethtool is not installed"
built "$build/tests/reference/truth_replay"
[ -d /sys/kernel/tracing/instances ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null ||
	skip_all "no tracefs"

: "${NETOBS_LIVE_CONNECTIONS:=200}" "${NETOBS_LIVE_PATIENCE:=60}"
# shellcheck source=tests/reference/live_truth_hosts.sh
. "$top/tests/reference/live_truth_hosts.sh"

traffic=$top/tests/live/live_traffic.py
started=

stop_all() {
	for stop_pid in $started; do
		kill "$stop_pid" 2>/dev/null
	done
	# shellcheck disable=SC2086 # a list
	wait $started 2>/dev/null
	started=
}

dropped() {
	awk '/dropped by kernel/ { n += $1 } END { printf "%.0f\n", n }' "$tmp/a.err" "$tmp/b.err"
}

if ! { set_up_network && set_up_record; } >"$tmp/set-up.out" 2>&1; then
	sed 's/^/# /' "$tmp/set-up.out"
	echo "Bail out! the set-up failed"
	exit 99
fi
ip netns exec "$far" python3 "$traffic" serve "$far4" "$far6" "$tmp/ready" &
started=$!
wait_for test -e "$tmp/ready"
record_frames "$near" near0 a
started="$started $!"
record_frames "$far" far0 b
started="$started $!"

ip netns exec "$near" python3 "$traffic" connect "$far4" "$far6" "$seed" "$connections"
wait_for_close
stop_record
wait_for recorded a b
stop_all

mkdir "$tmp/fresh"
note "$connections short connections, $loss per mille dropped, seed $seed, offloads $offloads"
is "the kernel's record is whole" "$lost" 0
is "no frame is dropped" "$(grep -hc 'dropped by kernel' "$tmp/a.err" "$tmp/b.err" | tr '\n' ' ')$(dropped)" "1 1 0"
check "truth.tsv has both endpoints of all connections" \
	python3 "$top/tests/reference/truth_fresh.py" "$tmp" "$tmp/fresh" "$connections" "$offloads" \
	"$near4" "$near6" "$far4" "$far6"
note "$(cat "$tmp/check")"
for truth_of in tracker probes; do
	[ "$truth_of" = tracker ] || [ -x "$netobsd" ] || continue
	note "the $truth_of"
	set -- "$build/tests/reference/truth_replay" "$tmp/fresh"
	[ "$truth_of" = tracker ] || set -- --netobsd "$netobsd" "$@"
	python3 "$top/tests/reference/truth.py" "$@" >"$tmp/points" 2>"$tmp/err" || [ ! -s "$tmp/err" ] ||
		not_ok "truth.py runs" "$tmp/err"
	relay "$tmp/points"
done
[ -z "${NETOBS_LIVE_KEEP:-}" ] || { mkdir -p "$NETOBS_LIVE_KEEP" && cp "$tmp/fresh"/* "$NETOBS_LIVE_KEEP/"; }
tap_done
