#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every D script, by DTrace's own compiler; DTrace counts what the built-in printer prints.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"

# Against an idle netobsd: args[] have types only if a process has the provider.
why=
if ! have dtrace || ! dtrace -V 2>/dev/null | grep -q ' D [0-9]'; then
	why="there is no DTrace on this machine, the D scripts were not run"
elif [ "$(id -u)" -ne 0 ]; then
	why="DTrace needs root"
elif [ ! -e /dev/dtrace/helper ]; then
	why="dtprobed is not running"
fi
[ -z "$why" ] || skip_all "$why"
program=$(private_netobsd) || exit 99
mkfifo "$tmp/idle"
"$program" -r "$tmp/idle" &
observer=$!
exec 3>"$tmp/idle"
for script in "$top"/scripts/d/*.d; do
	dtrace -e -L "$build/probes/dtrace" -s "$script" >"$tmp/message" 2>&1 || cat "$tmp/message"
done >"$tmp/refused"
check "DTrace compiles every D script" test ! -s "$tmp/refused"
exec 3>&-
wait "$observer"
home=$top/tests/captures/home-network.pcap
"$program" -r "$home" --wait-tracer=120 &
observer=$!
# shellcheck disable=SC2016
dtrace -q -L "$build/probes/dtrace" -p "$observer" -n 'netobs$target:::tcp-receive { @[args[2]->ip_saddr] = count(); }' |
	awk 'NF == 2' | sort >"$tmp/counted"
wait "$observer"
"$program" -r "$home" --print=tcp-receive | awk '{ sub(/:[0-9]+$/, "", $3); n[$3]++ } END { for (a in n) print a, n[a] }' |
	sort >"$tmp/printed"
sed 's/  */ /g; s/^ //' "$tmp/counted" >"$tmp/compared"
check "DTrace counts what the built-in printer prints" diff -u "$tmp/printed" "$tmp/compared"
tap_done
