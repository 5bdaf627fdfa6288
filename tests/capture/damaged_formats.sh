#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Damaged pcapng and snoop files end with a message and without a crash, after the frames before the damage; files that
# are not captures are refused.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"

make=$top/tests/capture/formats_captures.py

# damaged KIND RECORD WHY: the file ends unexpectedly at this record
damaged() {
	"$netobsd" --print=udp-send -r "$tmp/$1" >"$tmp/out" 2>"$tmp/err"
	is "$1: status" $? 2
	is "$1: the frames before" "$(wc -l <"$tmp/out")" $(($2 - 1))
	check "$1: message" grep -q "$1 ends unexpectedly or is damaged at frame $2, byte [0-9]*: $3.*; everything before was observed" "$tmp/err"
}

# refused KIND WHY: the file is not read
refused() {
	"$netobsd" -r "$tmp/$1" 2>"$tmp/err"
	is "$1: status" $? 1
	check "$1: message" grep -q "$1 is not a readable capture: $2" "$tmp/err"
}

# KIND, record or - for a file that is refused, and the message
cat >"$tmp/cases" <<'CASES'
length-zero 4 a block of type 0x6 with 0 bytes
length-small 4 a packet block of 16 bytes
length-odd 4 a block of type 0x6 with [0-9]* bytes
length-huge 4 a block of type 0xbad with 1073741824 bytes; at most 16777216
length-end 4 a block of type 0x6 with [0-9]* bytes at its start, 96 at its end
caplen 4 a frame of [0-9]* captured bytes; its block has
caplen-huge 4 a frame of 4294967295 captured bytes
interface 4 a frame of interface 1, and the section has 1
simple-length 4 a frame of 5000 captured bytes
option-length 4 option 2 of interface 1 with 60000 bytes, more than its block
option-size 4 option 14 of interface 1 with 2 bytes
interface-short 4 an interface block of 16 bytes
section-short 4 a section header of 16 bytes
decimal 4 time stamps of interface 1 in units of 10^-30 seconds
binary 4 time stamps of interface 1 in units of 2^-127 seconds
interfaces 4 more than 8192 [a-z]
link-types 4 there are more than 64 link types
cut 4 the file ends after [0-9]* of [0-9]* bytes
snoop-included 4 a frame of 4294967280 captured bytes
snoop-short 4 a frame of [0-9]* bytes with [0-9]* captured bytes
snoop-zero 4 a frame of 0 bytes
snoop-huge 4 a frame of 2147483648 bytes
snoop-cut 30 the file ends after [0-9]* of [0-9]* bytes
magic - a section without a known byte order
version - version 2 of pcapng files
no-interface - a frame of interface 0, and the section has 0
snoop-version - version 3 of snoop files
snoop-link-type - link type 9 of snoop files
snoop-26 - link type 26 of snoop files
CASES
# shellcheck disable=SC2046 # a kind, which is also the name of its file, is a word
(cd "$tmp" && python3 "$make" $(sed 's/\([^ ]*\).*/\1 \1/' cases)) || exit 99
while read -r kind record why; do
	case $record in
	-) refused "$kind" "$why" ;;
	*) damaged "$kind" "$record" "$why" ;;
	esac
done <"$tmp/cases"

# The reader gives up an endless file without an interface.
python3 "$make" endless /dev/stdout 2>/dev/null | timeout 60 "$netobsd" -r - 2>"$tmp/err"
is "endless blocks without an interface: status" $? 1
check "endless blocks without an interface: message" grep -q "is not a readable capture: the first 12288 blocks describe no interface" "$tmp/err"
tap_done
