#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page of a million packets is there soon.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ -x "$build/netobs-report" ] || skip_all "netobs-report is not built"
[ -x "$build/bench/gentrace" ] || skip_all "bench/gentrace is not built"
export NETOBSD="$netobsd"

"$build/bench/gentrace" -n 1000000 -c 1000 -l 400 "$tmp/million.pcap" || exit 99
quiet
begin=$(date +%s)
check "a million packets" "$top/scripts/netobs" report "$tmp/million.pcap"
spent=$(($(date +%s) - begin))
note "$spent s"
check "within 20 s" test "$spent" -le 20
tap_done
