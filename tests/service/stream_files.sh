#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2119 # netobsd needs no further arguments here
#
# netobsctl stream --dir: files that are complete or absent, names that are taken, a full disk.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/streams.sh
. "$(dirname "$0")/streams.sh"

have zstd || skip_all "zstd is not installed"

# names DIRECTORY: of its complete files
names() {
	find "$1" -name '[!.]*' -type f | sort
}

# kept DIRECTORY COUNT: whether its complete files have so many lines together
kept() {
	[ "$(names "$1" | xargs -r zstd -qdc | wc -l)" -eq "$2" ]
}

# all_rotated: whether there is each complete file that the lines of $tmp/all make
all_rotated() {
	[ "$(names "$tmp/by-size" | wc -l)" -eq \
		"$(awk '{ bytes += length($0) + 1 } bytes >= 102400 { files++; bytes = 0 } END { print files }' "$tmp/all")" ]
}

# has_parts COUNT DIRECTORY: whether it has so many temporary files of udp-send
has_parts() {
	[ "$(find "$2" -name '.udp-send*.part' | wc -l)" -eq "$1" ]
}

start
mkdir "$tmp/by-size" "$tmp/by-time" "$tmp/killed"
stream size udp-send --dir "$tmp/by-size" --rotate 100K
stream all --json udp-send
fire 2000
wait_for has_lines "$tmp/all" 2000
check "files by size: a file ends with the line that makes it long enough" wait_for all_rotated
finish
names "$tmp/by-size" | xargs zstd -qdc >"$tmp/sizes"
check "files by size, decompressed one after the other, are the stream" cmp "$tmp/all" "$tmp/sizes"
is "names of files" "$(names "$tmp/by-size" | sed 's|.*/||; s/-[0-9]\{8\}T[0-9]\{6\}Z-/-TIME-/; 2q')" \
	"$(printf 'udp-send-TIME-%06d.jsonl.zst\n' 1 2)"
is "other users may not read a file" "$(find "$tmp/by-size" -name '[!.]*' -type f -printf '%m\n' | sort -u)" 640
is "no temporary file is left" "$(find "$tmp/by-size" -name '.*part')" ""

start
stream time udp-send --dir "$tmp/by-time" --rotate 1s
timed=$reader
stream all --json udp-send
fire 10
wait_for kept "$tmp/by-time" 10
fire 1
wait_for kept "$tmp/by-time" 11
fire 1
wait_for has_parts 1 "$tmp/by-time"
kill -TERM "$timed"
wait "$timed"
is "files: SIGTERM has status 0" $? 0
wait_for has_lines "$tmp/all" 12
finish
names "$tmp/by-time" | xargs zstd -qdc >"$tmp/times"
check "files by time, decompressed one after the other, are the stream" cmp "$tmp/all" "$tmp/times"
is "files by time: no temporary file is left" "$(find "$tmp/by-time" -name '.*part')" ""

# A killed run leaves no file under its final name, and the next one removes what it left.
start
stream was-killed udp-send --dir "$tmp/killed"
fire 100
wait_for has_parts 1 "$tmp/killed"
kill -9 "$reader"
wait "$reader" 2>/dev/null
is "a killed run: no file has its final name" "$(names "$tmp/killed")" ""
touch "$tmp/killed/.other-20200101T000000Z-000001.jsonl.zst.part"
stream next udp-send --dir "$tmp/killed"
stream beside udp-send --dir "$tmp/killed"
beside=$reader
fire 1
wait_for has_parts 2 "$tmp/killed"
stream third udp-send --dir "$tmp/killed"
is "the next run removes what it left" "$(sed 's|/[^ ]*/||; s/-2[0-9TZ]*-/-TIME-/' "$tmp/next.err" | sort)" \
	"netobsctl: .other-TIME-000001.jsonl.zst.part was left behind by another run and is not complete
netobsctl: removed .udp-send-TIME-000001.jsonl.zst.part: a killed run left it behind, and it was not complete"
is "but not what a running one writes" "$(grep -c removed "$tmp/third.err")" 0
kill "$beside"
finish
is "two runs in one directory have files of their own" "$(names "$tmp/killed" | xargs zstd -qdc | wc -l)" 2

# The names that a file could have are taken, for an hour.
start
mkdir "$tmp/taken"
python3 "$client" taken "$tmp/taken"
stream beside-taken udp-send --dir "$tmp/taken"
fire 3
finish
is "a name that is taken is left alone" \
	"$(find "$tmp/taken" -size +0 -type f | sed 's|.*/||; s/-2[0-9TZ]*-/-TIME-/')" udp-send-TIME-000002.jsonl.zst
is "a name that is taken: no temporary file is left" "$(find "$tmp/taken" -name '.*part')" ""

# A directory that is removed.
mkdir "$tmp/gone"
start
stream removed udp-send --dir "$tmp/gone"
rm -r "$tmp/gone"
fire 1
wait "$reader"
is "a removed directory" "$?:$(sed 's/-2[0-9TZ]*-/-TIME-/' "$tmp/removed.err")" \
	"1:netobsctl: cannot create $tmp/gone/.udp-send-TIME-000001.jsonl.zst.part: No such file or directory"

finish

# A full disk: complete frames are kept, the rest is told.
if mount -t tmpfs -o size=400k none "$small" 2>/dev/null; then
	start
	stream beside --json udp-send
	stream full udp-send --dir "$small" --rotate 1G
	for _ in $(seq 60); do
		! kill -0 "$reader" 2>/dev/null || fire 2000
		wait_for has_lines "$tmp/beside" "$fired"
	done
	wait_for grep -q lost "$tmp/full.err"
	is "a full disk: message" "$(sed -n '1s/.*part: //p' "$tmp/full.err")" "No space left on device"
	names "$small" | xargs zstd -qdc >"$tmp/kept"
	head -n "$(wc -l <"$tmp/kept")" "$tmp/beside" >"$tmp/head"
	check "a full disk: what was kept begins the stream" cmp "$tmp/head" "$tmp/kept"
	check "a full disk: a file is kept" has_lines "$tmp/kept" 1001
	check "a full disk: the lost lines are counted" grep -qE 'netobsctl: [0-9]+ lines for .* are lost' "$tmp/full.err"
	is "a full disk: no temporary file is left" "$(find "$small" -name '.*part')" ""
	finish
else
	skip "a full disk" "tmpfs cannot be mounted"
fi
end_traffic
tap_done
