#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The rest of the provider table on live interfaces: fragments, loopback, fusion, streams, sockets, retransmissions.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$(dirname "$0")/../lib/live_hosts.sh"

# sum_of PROBE FIELD: over all firings
sum_of() {
	grep "\"probe\":\"$1\"" "$tmp/out" | grep -o "\"$2\":[0-9]*" | awk -F: '{ n += $2 } END { printf "%.0f\n", n }'
}

# fired PROBE: whether the probe has fired
fired() {
	[ "$(count "$1")" -gt 0 ]
}

# ------------------------------------------------------------------------------------------- fragments and datagrams

# 11,000 bytes over an MTU of 1500 are 8 fragments: 7 of 1480 and one of 648 payload bytes.
observe "$far" 1 -i far0 --print=ip-*,udp-*,socket-* --format json udp
in_near python3 "$sockets" flood 10.77.0.2 9 1 0 11000
wait_for fired udp-receive # address resolution comes first
finish
is "8 fragments: ip-receive fires for each" "$(count ip-receive)" 8
is "8 fragments: one datagram is delivered" "$(count ip-deliver) $(sum_of ip-deliver ip_plength)" "1 11008"
is "8 fragments: UDP receives it once" "$(count udp-receive) $(sum_of udp-receive ip_plength)" "1 11008"
is "8 fragments: the socket receives it once" "$(count socket-receive) $(sum_of socket-receive so_bytes)" "1 11000"
is "8 fragments: a UDP stream starts" "$(count udp-stream-start)" 1
is "8 fragments: ip-packet-free fires for each" "$(count ip-packet-free)" 8

observe "$near" 1 -i near0 --print=ip-*,udp-*,socket-* --format json ip6
in_near python3 "$sockets" flood fd77::2 9 1 0 3000
wait_for fired udp-send # address resolution comes first
finish
is "IPv6: the sender's side" "$(count socket-send) $(count udp-send) $(sum_of socket-send so_bytes)" "1 1 3000"
is "IPv6: requested once, sent in 3 fragments" \
	"$(grep '"probe":"ip-request"' "$tmp/out" | grep -c '"ip_daddr":"fd77::2"')/$(
		grep '"probe":"ip-send"' "$tmp/out" | grep -c '"ipv6_nexthdr":44')" "1/3"

# ------------------------------------------------------------------------------------------------------------ loopback

for device in lo any; do
	observe "$near" 1 -i $device --print --format json tcp
	converse "$near" "$near" 127.0.0.1 7010
	finish
	is "$device: both ends, once each" "$(states_of 7010)" "client 127.0.0.1 closed syn-sent established fin-wait-1 fin-wait-2 time-wait
server 127.0.0.1 listen syn-received established close-wait last-ack closed"
	is "$device: sent as often as received" "$(count tcp-send)" "$(count tcp-receive)"
	is "$device: 6 bytes there and back" \
		"$(sum_of socket-send so_bytes) $(sum_of socket-receive so_bytes) $(count socket-send)" "12 12 2"
	is "$device: fused data segments" "$(count tcpf-send) $(count tcpf-receive)" "2 2"
	is "$device: no retransmission" "$(count tcp-retransmit)" 0
done

# ----------------------------------------------------------------------------------------------------------- a dead host

if have nft && in_far nft list ruleset >/dev/null 2>&1; then
	observe "$near" 1 -i near0 --print=tcp-send,tcp-retransmit,tcp-timeout-*,tcp-connect-* --format json tcp port 7011
	in_far nft 'add table inet t; add chain inet t in { type filter hook input priority 0; };
		add rule inet t in tcp dport 7011 drop'
	in_near python3 "$sockets" unanswered 10.77.0.2 7011 3.5
	finish
	in_far nft delete table inet t
	again=$(($(count tcp-send) - 1)) # how often depends on the kernel: after 1, 2, 3 s or after 1 and 3 s
	check "an unanswered SYN is retransmitted" [ "$again" -ge 1 ]
	is "an unanswered SYN: each retransmission is reported" "$(count tcp-connect-request) $(count tcp-retransmit) $(count tcp-connect-established)" \
		"1 $again 0"
	is "an unanswered SYN: the timer is reported" "$(count tcp-timeout-retransmit)" "$again"
	is "an unanswered SYN: the cause is syn" "$(grep -c '"tcpr_kindstr":"syn"' "$tmp/out")" $((2 * again))
	is "an unanswered SYN: the last retransmission has the number of attempts" "$(grep '"probe":"tcp-retransmit"' "$tmp/out" |
		grep -o '"tcpr_count":[0-9]*' | tail -n 1)" "\"tcpr_count\":$((again + 1))"
else
	skip "an unanswered SYN" "nftables does not work here"
fi

# -------------------------------------------------------------------------------------------- a server that has ended

observe "$near" 1 -i near0 --print=tcp-connect-*,tcp-state-change --format json tcp port 7012
rm -f "$tmp/ready"
ip netns exec "$far" python3 "$sockets" serve 10.77.0.2 7012 "$tmp/ready" &
server=$!
wait_for test -e "$tmp/ready"
kill -KILL $server 2>/dev/null
wait $server 2>/dev/null
in_near python3 "$sockets" refused 10.77.0.2 7012
finish
is "a killed server refuses" "$(count tcp-connect-request) $(count tcp-connect-refused) $(states_of 7012)" \
	"1 1 client 10.77.0.1 closed syn-sent closed"

# ----------------------------------------------------------------------------------------------- errors that quote packets

observe "$near" 1 -i near0 --print=icmp-receive,udp-send --format json udp or icmp
in_near python3 "$sockets" unreachable 10.77.0.2 40999 40123
finish
is "an ICMP error: the stream that it quotes" \
	"$(grep '"probe":"icmp-receive"' "$tmp/out" | grep -o '"cs_cid":[0-9]*' | head -n 1)" \
	"$(grep '"probe":"udp-send"' "$tmp/out" | grep '"udp_dport":40999' | grep -o '"cs_cid":[0-9]*' | head -n 1)"
check "an ICMP error: the port that it quotes" grep -q '"icmp_error_dport":40999' "$tmp/out"

# --------------------------------------------------------------------------------------------------- owner of a socket

# owner_found: whether the last firing has a process
owner_found() {
	tail -n 1 "$tmp/out" | grep -q '"so_pid":[1-9]'
}
observe "$near" 1 -i near0 --all-owners --print=socket-send --format json tcp port 7013
ip netns exec "$near" python3 "$top/tests/live/owned.py" serve 10.77.0.1 7013 "$tmp/pid" "$tmp/enough" &
server=$!
wait_for test -s "$tmp/pid"
in_far python3 "$top/tests/live/owned.py" connect 10.77.0.1 7013 "$tmp/other" "$tmp/enough" &
client=$!
wait_for owner_found
: >"$tmp/enough"
wait "$server" "$client"
finish
grep '"probe":"socket-send"' "$tmp/out" | tail -n 1 >"$tmp/last"
is "socket owner: process" "$(grep -o '"so_pid":[0-9-]*' "$tmp/last") $(grep -o '"cs_pid":[0-9-]*' "$tmp/last")" \
	"\"so_pid\":$(cat "$tmp/pid") \"cs_pid\":$(cat "$tmp/pid")"
is "socket owner: name and user" "$(grep -o '"so_execname":"[a-z]*' "$tmp/last") $(grep -o '"so_uid":[0-9-]*' "$tmp/last")" \
	'"so_execname":"python '"\"so_uid\":0"
is "socket owner: network namespace" "$(grep -o '"cs_zoneid":[0-9]*' "$tmp/last")" \
	"\"cs_zoneid\":$(ip netns exec "$near" stat -Lc %i /proc/self/ns/net)"

tap_done
