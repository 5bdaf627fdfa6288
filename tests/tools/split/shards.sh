#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The merged records of shards are those of a single run, byte for byte: captures that netobs split writes, and windows of
# time.  With the captures of the source tree, and with an artificial one of 200,000 frames under GNU parallel, of which
# NETOBS_SHARD_FRAMES is another number (5000000 takes ten minutes).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
built "$build/netobs-split"
chmod 755 "$tmp" # netobsd that is started as root changes its user
shards="2 7 16"
frames=${NETOBS_SHARD_FRAMES:-200000}

# merged: the records of all shards
merged() {
	LC_ALL=C sort -m "$tmp"/shards/*.jsonl
}

# fresh: an empty directory for the shards
fresh() {
	rm -rf "$tmp/shards"
	mkdir "$tmp/shards" || exit 99
}

# of_records WHAT RECORDS [K]
of_records() {
	"$top/tests/tools/split/shards_records.py" "$@"
}

# jobs_split FILE K: a command for each capture that netobs-split has written
jobs_split() {
	"$build/netobs-split" -n "$2" -w "$tmp/shards/x" "$1" >/dev/null 2>"$tmp/split.err"
	for jobs_capture in "$tmp"/shards/x-*.pcapng; do
		printf '"%s" -r "%s" --records="%s"\n' "$netobsd" "$jobs_capture" "${jobs_capture%.pcapng}.jsonl"
	done
}

# jobs_window FILE K: a command for each window
jobs_window() {
	jobs_from=0
	for jobs_to in $(of_records edges "$tmp/single" "$2"); do
		[ "$jobs_from" = "$jobs_to" ] ||
			printf '"%s" -r "%s" --from %s --to %s --lead-in 31536000 --records="%s"\n' "$netobsd" "$1" \
				"$jobs_from" "$jobs_to" "$tmp/shards/x-$jobs_to.jsonl"
		jobs_from=$jobs_to
	done
}

# same CAPTURE KIND: whether the merged records are those of the single run.  netobs split does not keep their times if the clock
# is stepped in the capture.
same() {
	merged >"$tmp/merged"
	if [ "$2" = split ] && [ "$(awk '$1 == "clock.steps" { print $2 }' "$tmp/summary")" -gt 0 ]; then
		stepped="$stepped $1"
		of_records reduced "$tmp/single" >"$tmp/reduced.single"
		of_records reduced "$tmp/merged" >"$tmp/reduced"
		cmp "$tmp/reduced.single" "$tmp/reduced"
	else
		cmp "$tmp/single" "$tmp/merged"
	fi
}

# ----------------------------------------------------------------------------------------------------------- captures

: >"$tmp/differ"
compared=0 stepped=''
for file in $(find "$top/tests/captures" -type f -name '*.pcap*' | sort); do
	rm -f "$tmp/single"
	"$netobsd" -r "$file" --records="$tmp/single" --summary >/dev/null 2>"$tmp/summary"
	[ -e "$tmp/single" ] || continue                # no capture
	[ "$(wc -l <"$tmp/single")" -gt 1 ] || continue # nothing to divide
	for count in $shards; do
		for kind in split window; do
			fresh
			"jobs_$kind" "$file" "$count" >"$tmp/jobs"
			sh "$tmp/jobs" >/dev/null 2>&1
			compared=$((compared + 1))
			same "${file##*/}" $kind >>"$tmp/differ" 2>&1 || echo "$file, $kind $count" >>"$tmp/differ"
		done
	done
done
note "$compared comparisons; the clock is stepped in:$stepped"
if [ "$compared" -gt 100 ] && [ ! -s "$tmp/differ" ]; then
	ok "the captures of the source tree"
else
	not_ok "the captures of the source tree" "$tmp/differ"
fi

# --------------------------------------------------------------------------------------------------- GNU parallel

parallel --version 2>/dev/null | grep -q '^GNU parallel' || {
	skip "an artificial capture" "GNU parallel is not installed"
	tap_done
	exit
}
check "an artificial capture of $frames frames" "$top/tests/tools/split/traffic.py" "$frames" 1 "$tmp/traffic.pcap"
check "a single run" "$netobsd" -r "$tmp/traffic.pcap" --records="$tmp/single" --summary
cp "$tmp/check" "$tmp/summary"
is "records of both kinds of ends and of all protocols" "$(of_records kinds "$tmp/single")" \
	"SCTP TCP UDP capture-end fin idle no-answer refused reset-by-client"
for count in $shards; do
	for kind in split window; do
		fresh
		"jobs_$kind" "$tmp/traffic.pcap" "$count" >"$tmp/jobs"
		is "$kind $count: jobs" "$(wc -l <"$tmp/jobs")" "$count"
		check "$kind $count: GNU parallel" parallel --will-cite -j 4 --halt now,fail=1 -a "$tmp/jobs"
		check "$kind $count: the records" same traffic $kind
	done
done

# ------------------------------------------------------------------------------------------ the recipes of netobsd(8)

# recipe WORDS: the commands of the recipe after the line that contains WORDS
recipe() {
	sed -n "/^\\.Ss Recipes/,/^\\.Sh/p" "$top/man/netobsd.8" | sed -n "/$1/,/^\\.Ed/p" |
		sed -e '1,/^\.Bd/d' -e '/^\.Ed/d' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g'
}

cd "$tmp" || exit 99
fresh
mkdir bin work
ln -s "$netobsd" bin/netobsd
ln -s "$top/scripts/netobs" bin/netobs
PATH=$tmp/bin:$PATH
zstd -q -o big.pcap.zst traffic.pcap
recipe "GNU parallel, one job" >commands
is "the recipe for GNU parallel has three commands" "$(wc -l <commands)" 3
check "it runs" sh -e commands
check "its result is that of a single run" cmp single big.jsonl
is "no record is there twice" "$(uniq -d big.jsonl)" ""
recipe "tells the captures of one" >commands
is "the captures are of one split" "$(sh -e commands 2>&1)" ""
cp work/big-0001-of-0016.pcapng work/big-0002-of-0016.pcapng
is "a capture of another split" "$(sh -e commands 2>&1)" work/big-0002-of-0016.pcapng

recipe "A Slurm array" >commands
cp work/big-0003-of-0016.jsonl wanted
rm work/big-0003-of-0016.jsonl
check "a job of the Slurm array" env SLURM_ARRAY_TASK_ID=3 sh -e commands
check "its records" cmp wanted work/big-0003-of-0016.jsonl

# The traffic begins on 2023-11-14 at 22:13:20 and is of at most an hour if it has 200,000 frames.
for day in monday tuesday; do ln -s "$tmp/traffic.pcap" $day.pcap; done
recipe "The hours of a day" | sed -e 's/2026-11-22/2023-11-14/' -e 's/-r tuesday.pcap//' -e 's/seq 0 24/seq 21 24/' >commands
check "the recipe for windows runs" sh -e commands
LC_ALL=C sort -m hour-*.jsonl >merged
[ "$frames" -gt 200000 ] || check "its result is that of a single run" cmp single merged
tap_done
