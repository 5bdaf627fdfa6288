#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real iSCSI: Debian's target (tgt) and initiators (libiscsi's tools, and tests/apps/iscsi/iscsi_initiator.py for what they lack)
# on the loopback interface of a network namespace.  Every probe is compared with tshark's iSCSI dissector, PDU by PDU: also
# from the initiator's side, truncated by the snapshot length and in mid-stream.
#
#	iscsi.sh		compare
#	iscsi.sh capture FILE	only write such a capture
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have tgtd tgtadm iscsi-ls iscsi-inq iscsi-readcapacity16 iscsi-test-cu tcpdump tshark python3 ip unshare ||
	skip_all "tgt, libiscsi-bin, tcpdump, tshark, python3, ip or unshare is not installed"
refused=$(unshare -n true 2>&1) || skip_all "$refused"

iqn=iqn.2026-11.net.netobs

# Target and initiators, in a namespace whose loopback interface has the MTU of Ethernet, so that PDUs are split over
# segments, and an address for each side.  tgtd ignores SIGTERM.
cat >"$tmp/traffic.sh" <<'END'
set -u
cd "$1" || exit 1
export TMPDIR="$1" top_srcdir="$3"
. "$3/tests/lib/tap.sh"
. "$3/tests/lib/loopback.sh"
export TGT_IPC_SOCKET="$1/tgtd"
tgtd -f -C 7 --iscsi portal=192.0.2.1:3260 >tgtd.log 2>&1 &
tgtd=$!

try_admin() {
	tgtadm -C 7 --lld iscsi "$@" >>tgtadm.log 2>&1
}

# admin WORD...: runs tgtadm until it succeeds, which is when the target is up
admin() {
	wait_for try_admin "$@"
}

truncate -s 8M disk
for n in 1 2; do
	admin --op new --mode target --tid $n -T "$2:disk$n" &&
		admin --op new --mode logicalunit --tid $n --lun 1 -b "$1/disk" &&
		admin --op update --mode target --tid $n -n HeaderDigest -v CRC32C,None &&
		admin --op update --mode target --tid $n -n DataDigest -v CRC32C,None &&
		admin --op update --mode target --tid $n -n MaxConnections -v 2 &&
		admin --op bind --mode target --tid $n -I ALL || exit 1
done
admin --op new --mode account --user netobs --password netobs-secret
admin --op bind --mode account --tid 2 --user netobs

capture traffic "tcp port 3260"

url=iscsi://192.0.2.1
{
	timeout 60 iscsi-ls -s $url/
	timeout 60 iscsi-inq "$url/$2:disk1/1?header_digest=crc32c"
	timeout 60 iscsi-readcapacity16 "$url/$2:disk1/1"
	timeout 60 iscsi-inq "iscsi://netobs%netobs-secret@192.0.2.1/$2:disk2/1"
	timeout 60 iscsi-inq "iscsi://netobs%wrong-secret@192.0.2.1/$2:disk2/1"
	timeout 60 iscsi-test-cu -d -t iSCSI.iSCSITMF "$url/$2:disk1/1"
} >tools.log 2>&1
timeout 120 python3 "$3/tests/apps/iscsi/iscsi_initiator.py" 192.0.2.1 "$2:disk1" discovery,logout \
	inquiry,read,write,immediate,extended,nop,reset,abort,logout header,inquiry,read,write,logout \
	data,inquiry,read,write,logout header,data,read,write,immediate,extended,nop,logout split,inquiry,logout \
	long,inquiry,logout inquiry,second,inquiry,logout wrong >traffic.log 2>&1
timeout 120 python3 "$3/tests/apps/iscsi/iscsi_initiator.py" 192.0.2.1 "$2:disk2" chap,inquiry,logout inquiry >>traffic.log 2>&1
captured traffic
kill -KILL "$tgtd"
exit 0
END

timeout 900 unshare -n sh "$tmp/traffic.sh" "$tmp" "$iqn" "$top" 2>"$tmp/error"
capture=$tmp/traffic.pcap
if [ "${1-}" = capture ]; then
	cat "$tmp/traffic.log"
	cp "$capture" "$2"
	exit
fi
if [ ! -s "$tmp/traffic.log" ]; then
	not_ok "target and initiators run" "$tmp/error" "$tmp/tgtd.log" "$tmp/tgtadm.log"
	tap_done
fi
is "sessions that must succeed" "$(grep -c ': done$' "$tmp/traffic.log")" 9
is "logins that must be refused" "$(grep -c 'login refused: 0x20[13]$' "$tmp/traffic.log")" 2

# pdus NAME CAPTURE PROBE...: against tshark
pdus() {
	pdus_name=$1
	shift
	check "$pdus_name" python3 "$top/tests/apps/iscsi/iscsi_pdus.py" "$netobsd" "$@"
	note "$(tail -n 1 "$tmp/check")"
}

pdus "each PDU fires its probe, with the fields that tshark finds" "$capture" login-command login-response text-command text-response \
	logout-command logout-response scsi-command scsi-response data-send data-receive data-request nop-receive \
	nop-send task-command task-response

# probes OPTION...: the firings as lines without connection ids, which differ between ends
probes() {
	"$netobsd" -r "$capture" --print='iscsi-*' "$@" | sed 's/, cid [0-9]*$//'
}

probes >"$tmp/both"
is "there are PDUs" "$([ "$(wc -l <"$tmp/both")" -gt 150 ] && echo many)" many
probes --view monitor >"$tmp/monitor"
check "view monitor: the same firings" cmp "$tmp/both" "$tmp/monitor"
probes --local 192.0.2.1/32 >"$tmp/target"
check "view host, local target: the same firings" cmp "$tmp/both" "$tmp/target"
probes --local 192.0.2.2/32 | sed -E 's/ (192.0.2.2:[0-9]*) - (192.0.2.1:3260),/ \2 - \1,/' >"$tmp/initiator"
check "view host, local initiator: the same firings, endpoints exchanged" cmp "$tmp/both" "$tmp/initiator"
probes --local 198.51.100.1/32 >"$tmp/foreign"
is "view host, neither end local: no firing" "$(wc -l <"$tmp/foreign")" 0
probes --iscsi-port 3261 >"$tmp/elsewhere"
is "another --iscsi-port: no firing" "$(wc -l <"$tmp/elsewhere")" 0
probes --iscsi-port 3261,3260 >"$tmp/ports"
check "--iscsi-port takes a list" cmp "$tmp/both" "$tmp/ports"

"$netobsd" -r "$capture" --print='iscsi-*' --summary 2>&1 >/dev/null |
	grep -e '^anomaly\.\(stream\|iscsi\|retrans\)' -e '^conversation.now [1-9]' -e 'gaps [1-9]' >"$tmp/anomalies"
is "no anomaly, no gap, and no connection is left" "$(cat "$tmp/anomalies")" ''

# unnamed FILE: without the names, which truncated or missing text does not contain, and without the time, which is later
# if a gap had to be declared first
unnamed() {
	sed -e 's/^[^ ]* //' -e 's/, target [^,]*//' -e 's/, initiator [^,]*//' "$1"
}

# part NAME FILE LEAST: at least LEAST firings, each of which occurs with the whole capture, too
part() {
	unnamed "$tmp/both" >"$tmp/all"
	unnamed "$2" | grep -Fxvf "$tmp/all" >"$tmp/invented"
	[ "$(wc -l <"$2")" -ge "$3" ] || echo "only $(wc -l <"$2") firings" >>"$tmp/invented"
	if [ ! -s "$tmp/invented" ]; then
		ok "$1"
	else
		not_ok "$1" "$tmp/invented"
	fi
}

if have editcap; then
	whole=$capture
	editcap -F pcap -s 130 "$whole" "$tmp/cut.pcap"
	capture=$tmp/cut.pcap
	probes >"$tmp/cut"
	part "truncated by the snapshot length: no invented firing" "$tmp/cut" 150
	for frame in 30 100 200 300; do
		editcap -F pcap -r "$whole" "$tmp/middle.pcap" $frame-100000
		capture=$tmp/middle.pcap
		probes >"$tmp/middle"
		part "in mid-stream, from frame $frame on: no invented firing" "$tmp/middle" 50
	done
	# One frame in ten is missing.
	# shellcheck disable=SC2046
	editcap -F pcap "$whole" "$tmp/missing.pcap" $(seq 5 10 400)
	capture=$tmp/missing.pcap
	probes >"$tmp/missing"
	part "with missing frames: no invented firing" "$tmp/missing" 100
else
	skip "truncated, in mid-stream and with missing frames" "editcap is not installed"
fi
tap_done
