#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The memory for decompression does not depend on what is in a file: one that asks for a larger window is refused.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"

small=$top/tests/captures/questions.pcap
large="the zstd data need a window of more than 8 MiB (zstd --long, --ultra); decompress them first, with zstd -d --long=31, \
or compress them without these options"

# compressed WINDOW...: the capture with these windows, in $tmp/file.zst
compressed() {
	python3 "$top/tests/capture/decompress_windows.py" "$small" "$tmp/file.zst" "$@" || exit 99
}

# refused NAME WHY: the file is not read
refused() {
	"$netobsd" -r "$tmp/file.zst" >"$tmp/out" 2>"$tmp/err"
	is "$1: status" $? 1
	check "$1: message" grep -qF "netobsd: $tmp/file.zst is not a readable capture: $2" "$tmp/err"
}

# ends NAME WORKERS WHY: the file ends after its first frame
ends() {
	"$netobsd" --workers "$2" --print=udp-send -r "$tmp/file.zst" >"$tmp/out" 2>"$tmp/err"
	is "$1, --workers $2: status" $? 2
	check "$1, --workers $2: message" grep -qF "$3" "$tmp/err"
	check "$1, --workers $2: the frames before" cmp "$tmp/out" "$tmp/plain"
}

"$netobsd" --print=udp-send -r "$small" >"$tmp/plain"
compressed 68
"$netobsd" --print=udp-send -r "$tmp/file.zst" >"$tmp/out"
check "a window of 8 MiB" cmp "$tmp/out" "$tmp/plain"
for window in 69 70 88 a8 ff; do
	compressed "$window"
	refused "window $window" "$large"
done
for workers in 1 3; do
	compressed 68 69
	ends "a second frame" "$workers" "$large"
	compressed 68 old
	ends "an old second frame" "$workers" "the zstd data are damaged"
done

# What libzstd itself compresses without a larger window is read, with its parts of every kind.
if have zstd; then
	for level in -1 -19; do
		zstd -qc "$level" "$small" >"$tmp/level.zst"
		zstd -qc "$level" --content-size </dev/null >>"$tmp/level.zst"
		printf '\124\052\115\030\003\000\000\000abc' >>"$tmp/level.zst" # a skippable frame
		"$netobsd" --print=udp-send -r "$tmp/level.zst" >"$tmp/out"
		check "zstd $level" cmp "$tmp/out" "$tmp/plain"
	done
	zstd -qc --long=24 <"$small" >"$tmp/file.zst"
	refused "zstd --long" "$large"
else
	skip "zstd" "zstd is not installed"
fi

tap_done
