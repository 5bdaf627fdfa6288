#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of the capture writer, as tshark, capinfos and editcap read them: frames byte for byte, times, comments, packet
# ids, directions, interfaces, link types; what a format cannot hold is an error.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

have tshark capinfos editcap || skip_all "tshark, capinfos or editcap is not installed"
write_capture=${WRITE_CAPTURE:-$build/tests/flight/format/write_capture}
formats="pcapng pcap snoop"

# fields FILE FIELD...: the fields of each frame, between vertical bars
fields() {
	fields_file=$1
	shift
	for field; do
		set -- "$@" -e "$field"
		shift
	done
	tshark -r "$fields_file" -T fields -E separator='|' -E aggregator='~' "$@" 2>>"$tmp/err"
}

# lines TEXT...: each on a line
lines() {
	printf '%s\n' "$@"
}

# ------------------------------------------------------------------------------------------------------------- frames

python3 -c 'for frame, size in enumerate((0, 1, 3, 4, 60, 262144)): print(size, bytes((frame + 31 * at) & 255 for at in range(size)).hex())' \
	>"$tmp/bytes"

# data_of FILE: captured length and bytes of each frame.  editcap makes a pcap file of every format.
data_of() {
	editcap -F pcap "$1" "$tmp/plain.pcap" 2>>"$tmp/err" && "$top/tests/lib/capture_frames.py" "$tmp/plain.pcap" | cut -d ' ' -f 2,4
}

for format in $formats; do
	file=$tmp/frames.$format
	"$write_capture" "$format" frames >"$file" 2>"$tmp/reason"
	is "$format: frames of 0 to 262144 bytes are written" "$? $(cat "$tmp/reason")" "0 "
	data_of "$file" >"$tmp/got"
	check "$format: their bytes" cmp "$tmp/bytes" "$tmp/got"
	nanoseconds=123456789
	[ "$format" != snoop ] || nanoseconds=123456000
	fields "$file" frame.time_epoch frame.len frame.cap_len frame.packet_id frame.packet_flags_direction frame.comment \
		>"$tmp/fields.$format"
	is "$format: their times and lengths" "$(cut -d '|' -f 1-3 "$tmp/fields.$format")" "$(lines \
		"1700000000.$nanoseconds|0|0" "1700000001.$nanoseconds|2|1" "1700000002.$nanoseconds|5|3" \
		"1700000003.$nanoseconds|7|4" "1700000004.$nanoseconds|64|60" "1700000005.$nanoseconds|262144|262144")"
done
is "packet ids" "$(cut -d '|' -f 4 "$tmp/fields.pcapng")" \
	"$(lines '' 1099511627777 1099511627778 1099511627779 1099511627780 1099511627781)"
# Inbound is 1, outbound 2.
is "directions" "$(cut -d '|' -f 5 "$tmp/fields.pcapng")" "$(lines '' 0x00000001 0x00000002 '' 0x00000001 0x00000002)"
is "comments" "$(cut -d '|' -f 6 "$tmp/fields.pcapng")" \
	"$(lines '' 'first comment' 'first comment~second, café' '' 'first comment' 'first comment~second, café')"
is "the drops of each record of a snoop file" \
	"$(od -An -tx1 -j 28 -N 4 "$tmp/frames.snoop" | tr -d ' ') $(od -An -tx1 -j 52 -N 4 "$tmp/frames.snoop" | tr -d ' ')" \
	"00000000 00000000"

# --------------------------------------------------------------------------------------------------------- interfaces

"$write_capture" pcapng interfaces >"$tmp/interfaces"
is "1000 interfaces" "$(capinfos -I "$tmp/interfaces" 2>>"$tmp/err" | sed -n 's/^Number of interfaces in file: //p')" 1000
is "a frame on each" "$(fields "$tmp/interfaces" frame.interface_name)" "$(seq -f if%g 0 999)"

# --------------------------------------------------------------------------------------------------------------- times

# capinfos reads all of them at one start.
mkdir "$tmp/times"
for seconds in 0 4294967295 4294967296 18446744073; do # 1970, 2106, 2106, 2554
	for format in $formats; do
		"$write_capture" "$format" time $seconds >"$tmp/times/$seconds.$format" 2>"$tmp/reason.$seconds.$format"
		echo "$? $(cat "$tmp/reason.$seconds.$format")" >"$tmp/reason.$seconds.$format"
	done
done
(cd "$tmp/times" && capinfos -T -r -a -S -- *) >"$tmp/first" 2>>"$tmp/err"
# first_time FILE: its first time stamp
first_time() {
	awk -v file="$1" '$1 == file { print $2 }' "$tmp/first"
}
for seconds in 0 4294967295; do
	for format in $formats; do
		nanoseconds=123456789
		[ "$format" != snoop ] || nanoseconds=123456
		is "$format: a time of $seconds seconds" "$(first_time "$seconds.$format")" "$seconds.$nanoseconds"
	done
done
for seconds in 4294967296 18446744073; do
	is "pcapng: a time of $seconds seconds" "$(first_time "$seconds.pcapng")" "$seconds.123456789"
	for format in pcap snoop; do
		is "$format: a time of $seconds seconds is an error" "$(cat "$tmp/reason.$seconds.$format")" \
			"1 a time stamp is later than February 2106, where the time of pcap and snoop files ends"
		is "$format: and there is no such frame" "$(first_time "$seconds.$format")" "n/a"
	done
done

# ---------------------------------------------------------------------------------------------------------- link types

# DLT_ value, LINKTYPE_ value, name of capinfos; "-": Wireshark 4.0 has no name
cat >"$tmp/types" <<'TYPES'
0|0|NULL/Loopback
1|1|Ethernet
9|9|PPP
12|101|Raw IP
14|101|Raw IP
101|101|Raw IP
50|50|PPP
51|51|PPP-over-Ethernet session
104|104|Cisco HDLC
105|105|IEEE 802.11 Wireless LAN
107|107|Frame Relay
108|108|OpenBSD loopback
109|109|OpenBSD enc(4) encapsulating interface
113|113|Linux cooked-mode capture v1
119|119|IEEE 802.11 plus Prism II monitor mode radio header
122|122|RFC 2625 IP-over-Fibre Channel
127|127|IEEE 802.11 plus radiotap radio header
163|163|IEEE 802.11 plus AVS radio header
166|166|-
204|204|PPP with Directional Info
205|205|-
206|206|-
226|226|Solaris IPNET
228|228|Raw IPv4
229|229|Raw IPv6
239|239|NFLOG
242|242|IP over IB
276|276|Linux cooked-mode capture v2
TYPES
mkdir "$tmp/links"
while IFS='|' read -r dlt linktype name; do
	for format in pcapng pcap; do
		"$write_capture" $format link "$dlt" >"$tmp/links/$dlt.$format"
	done
done <"$tmp/types"
for dlt in 1 226; do
	"$write_capture" snoop link $dlt >"$tmp/links/$dlt.snoop"
done
capinfos -E "$tmp/links"/* 2>>"$tmp/err" | sed -n -e '/^File name: */{s///;h;}' -e '/^File encapsulation: */{s///;H;x;s/\n/|/p;}' >"$tmp/names"
# name_of FILE: the name of its link type
name_of() {
	sed -n "s:^$tmp/links/$1|::p" "$tmp/names"
}
while IFS='|' read -r dlt linktype name; do
	for format in pcapng pcap; do
		file=$tmp/links/$dlt.$format offset=20
		[ $format = pcap ] || offset=$(($(od -An -tu4 -j 4 -N 4 "$file") + 8))
		is "$format: DLT $dlt is LINKTYPE $linktype" "$(od -An -tu2 -j "$offset" -N 2 --endian=little "$file" | tr -d ' ')" \
			"$linktype"
		[ "$name" = - ] || is "$format: and is read as $name" "$(name_of "$dlt.$format")" "$name"
	done
done <"$tmp/types"
for type in '1|Ethernet' '226|Solaris IPNET'; do
	is "snoop: DLT ${type%|*}" "$(name_of "${type%|*}.snoop")" "${type#*|}"
done
"$write_capture" snoop link 113 >"$tmp/link" 2>"$tmp/reason"
is "snoop holds no other link type" "$? $(cat "$tmp/reason")" "1 the format does not hold this link type"

# ------------------------------------------------------------------------------------------------------------ comments

# The option of a comment of 65535 bytes has 65540: 63 of them fit in 4 MiB.
for count in 62 63 64 1000; do
	"$write_capture" pcapng comments $count >"$tmp/comments.$count"
done
for count in 62 63; do
	is "of $count comments of 65535 bytes a frame has $count" "$(tshark -r "$tmp/comments.$count" -T fields -E aggregator='~' \
		-e frame.comment 2>>"$tmp/err" | awk -F "~" '{ print NF, length }')" "$count $((count * 65536 - 1))"
done
for count in 64 1000; do
	check "of $count comments of 65535 bytes a frame has 63" cmp "$tmp/comments.63" "$tmp/comments.$count"
done

tap_done
