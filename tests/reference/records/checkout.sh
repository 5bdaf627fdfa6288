#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# records.py itself, with checkouts of Zeek and suricata-verify made by hand of one connection of tests/captures: it finds
# what agrees, names each figure that does not, and fails if there is nothing to compare.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
built "$netobsd"

zeek=$tmp/zeek
suricata=$tmp/suricata
log=$zeek/Baseline/scripts.one/conn.log
mkdir -p "$zeek/scripts" "$zeek/Baseline/scripts.one" "$zeek/Traces" "$suricata/one"
cp "$(capture dns-tcp.pcap)" "$zeek/Traces/one.pcap"
cp "$(capture dns-tcp.pcap)" "$suricata/one/input.pcap"

# make_zeek PACKETS PAYLOAD STATE: the test with what it expects of the originator
make_zeek() {
	cat >"$zeek/scripts/one.zeek" <<-'ZEEK'
		# @TEST-EXEC: zeek -b -r $TRACES/one.pcap
		# @TEST-EXEC: btest-diff conn.log
	ZEEK
	{
		printf '#fields\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tduration\torig_bytes\tresp_bytes\t'
		printf 'conn_state\thistory\torig_pkts\torig_ip_bytes\tresp_pkts\tresp_ip_bytes\tcommunity_id\n'
		printf '192.168.1.11\t33779\t209.87.249.18\t53\ttcp\t0.380895\t%s\t226\t' "$2"
		printf '%s\tShADadFf\t%s\t318\t5\t430\t1:Y9CU9ov/Nil5pVQ5T76exw3p0Oc=\n' "$3" "$1"
	} >"$log"
}

# make_suricata FRAMES FLAGS
make_suricata() {
	cat >"$suricata/one/test.yaml" <<-YAML
		checks:
		- filter:
		    count: 1
		    match:
		      event_type: flow
		      proto: TCP
		      src_ip: 192.168.1.11
		      src_port: 33779
		      dest_ip: 209.87.249.18
		      dest_port: 53
		      flow.pkts_toserver: 6
		      flow.pkts_toclient: 5
		      flow.bytes_toserver: $1
		      flow.bytes_toclient: 520
		      flow.state: closed
		      tcp.tcp_flags_ts: $2
		      tcp.tcp_flags_tc: 1b
		      tcp.state: closed
	YAML
}

# compare SOURCE FOLDER: $tmp/out has the result
compare() {
	python3 "$top/tests/reference/records/records.py" "$netobsd" "$1" "$2" >"$tmp/out" 2>"$tmp/err"
}

# fails NAME POINT SOURCE FOLDER: the comparison fails at this point and at no other
fails() {
	if compare "$3" "$4"; then
		not_ok "$1" "$tmp/out" "$tmp/err"
	else
		is "$1" "$(sed -n 's/^not ok [0-9]* - //p' "$tmp/out")" "$2"
	fi
}

make_zeek 6 58 SF
make_suricata 402 1b
check "a connection of Zeek agrees" compare zeek "$zeek"
check "so does every figure but the duration, which Zeek ends before the last ACK" \
	test "$(grep -c '^# .*: 1 of 1 equal' "$tmp/out")" = 7
check "the difference of the duration has a reason" grep -q '^# 1 explained: .* are only ACKs' "$tmp/out"
check "a connection of Suricata agrees" compare suricata "$suricata"
check "so does every figure" test "$(grep -c '^# .*: 1 of 1 equal' "$tmp/out")" = 6

make_zeek 7 58 SF
fails "another number of packets is found" packets zeek "$zeek"
make_zeek 6 59 SF
fails "another number of bytes is found" payload zeek "$zeek"
make_zeek 6 58 RSTO
fails "another state is found" state zeek "$zeek"
make_suricata 403 1b
fails "another number of bytes of frames is found" frames suricata "$suricata"
make_suricata 402 1f
fails "another flag is found" flags suricata "$suricata"

make_zeek 6 58 SF
sed 's/33779/33778/' "$log" >"$tmp/log" && cp "$tmp/log" "$log"
fails "a connection without a record is found" "zeek
connections" zeek "$zeek"
rm "$log" "$suricata/one/test.yaml"
fails "a checkout of Zeek without a connection is a failure" zeek zeek "$zeek"
fails "a checkout of Suricata without a flow is a failure" suricata suricata "$suricata"
make_suricata 402 1b
netobsd=$(command -v false)
if compare suricata "$suricata"; then
	not_ok "a program without records is a failure" "$tmp/out" "$tmp/err"
else
	ok "a program without records is a failure"
fi
tap_done
