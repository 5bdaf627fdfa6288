#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pcapng and snoop files: the frames and times of a pcap file with the same packets, read from a file, a pipe and compressed;
# several link types and sections in one file; files that Wireshark's tools write.  damaged_formats.sh has damaged files.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"

# counter NAME
counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$tmp/err"
}

good="snoop plain mixed big sections late packet-block resolutions unknown late-frame unsupported unnamed statistics"
for kind in $good pcap simple only-unsupported snoop-0 snoop-24 snoop-25 snoop-0x80000005 snoop-2 snoop-8; do
	set -- "$@" "$kind" "$tmp/$kind"
done
python3 "$top/tests/capture/formats_captures.py" "$@" || exit 99
"$netobsd" --print=udp-send -r "$tmp/pcap" >"$tmp/wanted"
is "the model has all queries" "$(wc -l <"$tmp/wanted")" 30
from=$(sed -n '11s/ .*//p' "$tmp/wanted") to=$(sed -n '21s/ .*//p' "$tmp/wanted")
"$netobsd" --print=udp-send -r "$tmp/pcap" --from "$from" --to "$to" >"$tmp/window"
is "the model has a window of the queries" "$(wc -l <"$tmp/window")" 10

for kind in $good; do
	for way in file pipe gzip pace merged; do
		case $way in
		file) "$netobsd" --print=udp-send -r "$tmp/$kind" ;;
		pipe) "$netobsd" --print=udp-send -r - <"$tmp/$kind" ;;
		gzip) gzip -c "$tmp/$kind" | "$netobsd" --print=udp-send -r - ;;
		pace) "$netobsd" --print=udp-send --pace=1000000 -r "$tmp/$kind" ;;
		merged) "$netobsd" --print=udp-send -r "$tmp/$kind" -r "$tmp/simple" port 40001 or port 40002 ;;
		esac >"$tmp/out" 2>"$tmp/err"
		if [ "$way" = merged ]; then
			is "$kind: beside another file, with a filter" "$(grep -c 'Z udp-send' "$tmp/out")" 4
		else
			check "$kind, $way: the packets and times of the pcap file" cmp "$tmp/wanted" "$tmp/out"
		fi
	done
	if have zstd; then
		zstd -qc "$tmp/$kind" | "$netobsd" --print=udp-send -r - >"$tmp/out" 2>"$tmp/err"
		check "$kind, zstd: the packets and times of the pcap file" cmp "$tmp/wanted" "$tmp/out"
	else
		skip "$kind, zstd: the packets and times of the pcap file" "zstd is not installed"
	fi
	"$netobsd" --print=udp-send -r "$tmp/$kind" --from "$from" --to "$to" >"$tmp/out" 2>"$tmp/err"
	check "$kind: a window is that of the pcap file" cmp "$tmp/window" "$tmp/out"
	"$netobsd" --print=udp-send -r "$tmp/$kind" port 40007 >"$tmp/out" 2>"$tmp/err"
	is "$kind: a filter" "$(wc -l <"$tmp/out")" 1
done

# Wireshark reads the files, too; statistics has a lie in its last block, and unsupported has other frames as well.
if have capinfos; then
	# shellcheck disable=SC2086 # names are words
	(cd "$tmp" && capinfos -T -r -c $good) >"$tmp/counts" 2>"$tmp/err"
	for kind in $good; do
		case $kind in
		statistics) frames=$(sed -n 's/.* after reading \([0-9]*\) packets from "statistics".*/\1/p' "$tmp/err") ;;
		*) frames=$(awk -v kind="$kind" '$1 == kind { print $2 }' "$tmp/counts") ;;
		esac
		wanted=30
		[ "$kind" != unsupported ] || wanted=60
		is "$kind: capinfos reads it" "$frames" $wanted
	done
else
	skip "capinfos reads the files" "capinfos is not installed"
fi

# All frames but the first have no time.
"$netobsd" --print=udp-send -r "$tmp/simple" >"$tmp/out"
is "simple packet blocks have the time of the frame before" "$(cut -d' ' -f1 "$tmp/out" | sort | uniq -c | awk '{ print $1 }')" 30

# ---------------------------------------------------------------------------------------------------------- interfaces

"$netobsd" --print=ip-send --format json -r "$tmp/mixed" >"$tmp/out"
is "names of interfaces" "$(grep -o '"if_name":"[^"]*"' "$tmp/out" | cut -d: -f2 | sort | uniq -c | awk '{ print $1 $2 }' | paste -sd' ')" \
	'10"any" 10"eth0" 10"tun-with-a-long"'
"$netobsd" --print=ip-send --format json -r "$tmp/unnamed" >"$tmp/out"
is "an interface whose name says that it has no name has no name" "$(grep -c '"if_name":"<unknown>"' "$tmp/out")" 30
"$netobsd" --summary -r "$tmp/statistics" 2>"$tmp/err"
is "dropped frames by the statistics" "$(counter capture.interface-dropped) $(counter capture.dropped)" "226 2002"
"$netobsd" --summary -r "$tmp/unsupported" 2>"$tmp/err"
is "frames of a link type that is not supported are counted" "$(counter capture.unsupported) $(counter frames)" "30 30"
is "and logged once" "$(grep -c 'unsupported: frames of interfaces with link type USB_LINUX (189) are skipped' "$tmp/err")" 1
"$netobsd" -r "$tmp/only-unsupported" 2>"$tmp/err"
is "no supported link type: status" $? 1
check "no supported link type: message" grep -q "link type USB_LINUX (189) is not supported; these are: " "$tmp/err"
for kind in mixed late unsupported; do
	"$build/netobs-split" -n 2 -w "$tmp/split-$kind" "$tmp/$kind" >"$tmp/out" 2>"$tmp/err"
	is "$kind: netobs split: status" $? 0
	for part in "$tmp/split-$kind"-*.pcapng; do
		"$netobsd" -r "$part" --records="${part%.pcapng}.jsonl" 2>/dev/null
	done
	LC_ALL=C sort -m "$tmp/split-$kind"-*.jsonl >"$tmp/merged"
	"$netobsd" -r "$tmp/$kind" --records="$tmp/single" 2>/dev/null
	check "$kind: netobs split: the merged records are those of a single run" cmp "$tmp/single" "$tmp/merged"
done
"$netobsd" -r "$tmp/mixed" inbound 2>"$tmp/err"
is "a filter of what a file does not have" $? 1
"$netobsd" -r "$tmp/mixed" ether host 02:00:00:00:00:01 2>"$tmp/err"
is "a filter that is invalid for a link type" $? 1
is "a message for each such link type" "$(sed -n "s|^netobsd: bad filter \"ether host 02:00:00:00:00:01\" for $tmp/mixed, link type \\([A-Z0-9_]*\\): .*|\\1|p" "$tmp/err" | paste -sd' ')" "RAW LINUX_SLL2"

# ------------------------------------------------------------------------------------------------ link types of snoop

for link in 0 24 25; do
	"$netobsd" --print=udp-send -r "$tmp/snoop-$link" >"$tmp/out" 2>"$tmp/err"
	check "snoop: link type $link is Ethernet" cmp "$tmp/wanted" "$tmp/out"
done
# The header of IPNET has the direction, so that half of the connections are not there.
"$netobsd" --print=udp-send -r "$tmp/snoop-0x80000005" 2>"$tmp/err" | sed 's/, cid .*//' >"$tmp/out"
sed 's/, cid .*//' "$tmp/wanted" >"$tmp/wanted.ipnet"
check "snoop: link type 0x80000005 is IPNET" cmp "$tmp/wanted.ipnet" "$tmp/out"
for link in "2 IEEE802 (6)" "8 FDDI (10)"; do
	"$netobsd" -r "$tmp/snoop-${link%% *}" 2>"$tmp/err"
	is "snoop: link type ${link%% *}: status" $? 1
	check "snoop: link type ${link%% *}: message" grep -qF "link type ${link#* } is not supported; these are: " "$tmp/err"
done

# --------------------------------------------------------------------------------------------------- Wireshark's tools

capture=$top/tests/captures/dns-tcp.pcap
if have editcap && have mergecap; then
	"$netobsd" -r "$capture" --print >"$tmp/wanted"
	for format in snoop pcapng nsecpcap; do
		editcap -F "$format" "$capture" "$tmp/converted" 2>"$tmp/err"
		"$netobsd" -r "$tmp/converted" --print >"$tmp/out" 2>"$tmp/err"
		check "editcap -F $format: all firings are those of the pcap file" cmp "$tmp/wanted" "$tmp/out"
	done
	other=$top/tests/captures/sll2-llc.pcap
	[ -e "$other" ] || other=$(grep -m 1 '^link-sll2 ' "$top/tests/golden/LIST" | awk -v top="$top" '{ print top "/tests/captures/" $2 }')
	mergecap -F pcapng -w "$tmp/merged" "$capture" "$other" 2>"$tmp/err"
	"$netobsd" -r "$tmp/merged" --print >"$tmp/out" 2>"$tmp/err"
	"$netobsd" -r "$capture" -r "$other" --print >"$tmp/wanted" 2>"$tmp/err"
	check "mergecap: all firings are those of the two files" cmp "$tmp/wanted" "$tmp/out"
else
	skip "conversions by editcap and mergecap" "they are not installed"
fi
tap_done
