#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs split of every capture of the source tree, and of one that is damaged: the captures together have every frame once.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
split=$build/netobs-split
built "$split"
have python3 || skip_all "python3 is not installed"
chmod 755 "$tmp" # netobsd that is started as root changes its user
mkdir "$tmp/split"

: >"$tmp/split.list"
for file in "$top"/tests/captures/*.pcap; do
	name=$(basename "$file" .pcap)
	"$split" -n 3 -r "$file" -w "$tmp/split/$name" 2>"$tmp/err" && echo "$name" >>"$tmp/split.list"
done
check "most captures are split" test "$(wc -l <"$tmp/split.list")" -gt 60
check "together they have every frame once" python3 "$top/tests/tools/split/split_captures.py" "$top/tests/captures" \
	"$tmp/split" "$tmp/split.list"

file=$top/tests/captures/home-network.pcap
head -c 100000 "$file" >"$tmp/cut.pcap"
"$split" -n 3 -r "$tmp/cut.pcap" -w "$tmp/split/cut" 2>"$tmp/err"
is "damaged input: the exit status" $? 2
is "the message appears once" "$(grep -c "ends unexpectedly or is damaged" "$tmp/err")" 1
"$netobsd" -r "$tmp/cut.pcap" --summary 2>&1 | awk '$1 == "frames" { print $2 }' >"$tmp/wanted"
is "everything before the damage is split" "$("$top/tests/lib/capture_frames.py" "$tmp/split"/cut-*.pcapng | awk '$2 > 0' | wc -l)" \
	"$(cat "$tmp/wanted")"
tap_done
