#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every script of scripts/bpftrace, run by netobs(1) with bpftrace on a capture: it prints its sample, whose values
# tests/scripts/scripts.sh compares with the built-in printer, and misses no firing; the same with a formula without an
# expression in place of one of its probes; and it is not silent on an empty capture.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
examples=$top/scripts/examples
captures=$top/tests/captures
home=$captures/home-network.pcap
grep -v '^#' "$examples/LIST" >"$tmp/list"

# run RESULT NAME ARGUMENT...: a script in the background, with its output in RESULT.out, its errors and its status in
# RESULT.err.  Three at a time: bpftrace waits a tenth of a second for each site from which it detaches.  `wait` must follow
# the last.
running=0
run() {
	run_result=$tmp/$1
	shift
	{
		"$netobs" "$@" >"$run_result.out" 2>"$run_result.err" </dev/null || echo "status $?" >>"$run_result.err"
	} &
	running=$((running + 1))
	[ $((running % 3)) -ne 0 ] || wait
}

# probe_of NAME: the first probe of a script
probe_of() {
	sed -n 's/^usdt:[^:]*:netobs:\([a-z_]*\).*/\1/p' "$top/scripts/bpftrace/$1.bt" | sed -e 's/__/-/g' -e q
}

# A capture without anything that a script reports also gets a line of output.
while read -r name capture arguments; do
	# shellcheck disable=SC2086
	run "$name" "$name" -r "$captures/$capture" $arguments
	# shellcheck disable=SC2086
	run "$name-formula" "$name" -F "every = $(probe_of "$name")" "$captures/$capture" $arguments
	# shellcheck disable=SC2086
	run "$name-empty" "$name" "$captures/empty.pcap" $arguments
done <"$tmp/list"
wait

: >"$tmp/silent"
while read -r name _; do
	sed 's/ *$//' "$tmp/$name.out" >"$tmp/out"
	sed 1d "$examples/$name.txt" >"$tmp/wanted"
	if ! diff -u "$tmp/wanted" "$tmp/out" >"$tmp/diff"; then
		not_ok "$name prints its sample" "$tmp/diff" "$tmp/$name.err"
	elif grep -v '^netobs: a capture contains no processes' "$tmp/$name.err" | grep -q .; then
		not_ok "$name prints its sample" "$tmp/$name.err"
	else
		ok "$name prints its sample"
	fi
	sed 's/ *$//' "$tmp/$name-formula.out" >"$tmp/out"
	if diff -u "$tmp/wanted" "$tmp/out" >"$tmp/diff"; then
		ok "$name prints its sample with a formula in place of $(probe_of "$name")"
	else
		not_ok "$name prints its sample with a formula in place of $(probe_of "$name")" "$tmp/diff" "$tmp/$name-formula.err"
	fi
	! grep -q '^status' "$tmp/$name-empty.err" || echo "$name fails" >>"$tmp/silent"
	grep -q . "$tmp/$name-empty.out" || echo "$name is silent" >>"$tmp/silent"
done <"$tmp/list"
check "no script is silent on an empty capture" test ! -s "$tmp/silent"

# The probe fires for the client if only that is local.
"$netobs" tlslatency "$captures/tls.pcap" -o --view=host -o --local=192.0.2.2 2>"$tmp/err" | sed 's/ *$//' >"$tmp/out"
sed 1d "$examples/tlslatency.txt" >"$tmp/wanted"
check "tlslatency has the server's address where the client is" diff -u "$tmp/wanted" "$tmp/out"

# A script that gets only every second firing must print that it missed the others.
mkdir -p "$tmp/tree/scripts/bpftrace"
ln -s "$top/probes" "$tmp/tree/probes"
cp "$netobs" "$top"/scripts/*.awk "$tmp/tree/scripts"
sed 's|^\(usdt:.*tcp__accept__established\)|\1 /((struct pktinfo *)arg0)->pkt_seq % 2/|' "$top/scripts/bpftrace/webconn.bt" \
	>"$tmp/tree/scripts/bpftrace/webconn.bt"
"$tmp/tree/scripts/netobs" webconn -r "$home" 2>"$tmp/err" | grep . >"$tmp/out"
accepted=$("$NETOBSD" -r "$home" --print=tcp-accept-established | wc -l)
is "a script that misses firings prints their number" "$(sed -n 's/^missed \(.*\) firings/\1/p' "$tmp/out")" "$(((accepted - 1) / 2))"

tap_done
