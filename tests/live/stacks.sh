#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks of devices: a transfer through each, observed on the upper device, on the lower device and on "any", at both
# ends.  Each packet of a connection is observed once: states, bytes and retransmissions are those of the kernel.
# Devices that this kernel lacks are skipped.  In the environment: STACKS_REQUIRED=1: they fail; STACKS_NICS="ONE OTHER":
# two interfaces of this host on one wire, used for a VLAN.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip python3 || skip_all "ip or python3 is not installed"

near=netobs-near-$$ far=netobs-far-$$ pids=
port=4780 request=10050
probes=gld-send,gld-receive,ip-send,ip-receive,tcp-state-change,tcp-send,tcp-receive,tcp-retransmit
probes=$probes,udp-send,udp-receive,socket-send,socket-receive

# The interfaces of $STACKS_NICS return to this host's namespace when theirs is removed.
end_stacks() {
	for end_nic in ${STACKS_NICS:-}; do
		wait_for ip link show "$end_nic"
	done
}

at_end end_stacks
namespaces "$near" "$far" || skip_all "$kernel_refusal"
ip -n "$near" link set lo up
ip -n "$far" link set lo up

near() {
	ip -n "$near" "$@"
}

far() {
	ip -n "$far" "$@"
}

in_near() {
	ip netns exec "$near" "$@"
}

# mac NAMESPACE DEVICE
mac() {
	ip -n "$1" link show "$2" | awk '$1 ~ /^link/ { print $2 }'
}

# cable NEAR FAR: a cable between the namespaces, up at both ends
cable() {
	ip link add "$1" netns "$near" type veth peer name "$2" netns "$far" && near link set "$1" up && far link set "$2" up
}

# addresses NEAR FAR NET: the devices are up, with 10.NET.0.1 and fd00:NET::1 here, .2 and ::2 at the far end
addresses() {
	printf '%s\n' "link set $1 up" "addr add 10.$3.0.1/24 dev $1" "addr add fd00:$3::1/64 dev $1 nodad" |
		near -batch - &&
		printf '%s\n' "link set $2 up" "addr add 10.$3.0.2/24 dev $2" "addr add fd00:$3::2/64 dev $2 nodad" |
		far -batch -
}

# tunnel DEVICE NET KIND ARGUMENT...: the device at both ends; HERE and THERE in the arguments are the addresses of the
# cable base0 - base1, HERE6 and THERE6 those of IPv6.  The MTU leaves room for every outer header, so that no packet is
# sent again because of its length, which the kernel does not count as a retransmission.
tunnel() {
	tunnel_device=$1 tunnel_net=$2 tunnel_kind=$3
	shift 3
	tunnel_near=$(echo "$*" | sed 's/HERE6/fd00:10::1/; s/THERE6/fd00:10::2/; s/THERE/10.10.0.2/; s/HERE/10.10.0.1/')
	tunnel_far=$(echo "$*" | sed 's/HERE6/fd00:10::2/; s/THERE6/fd00:10::1/; s/THERE/10.10.0.1/; s/HERE/10.10.0.2/')
	# The arguments are words.
	# shellcheck disable=SC2086
	near link add "$tunnel_device" mtu 1400 type "$tunnel_kind" $tunnel_near &&
		far link add "$tunnel_device" mtu 1400 type "$tunnel_kind" $tunnel_far &&
		addresses "$tunnel_device" "$tunnel_device" "$tunnel_net"
}

: >"$tmp/rows"
: >"$tmp/lacking"

# stack NAME FUNCTION: makes a stack of devices, if this kernel can
stack() {
	if "$2" >"$tmp/why" 2>&1; then
		return 0
	fi
	echo "$1" >>"$tmp/lacking"
	if [ -n "${STACKS_REQUIRED:-}" ]; then
		not_ok "$1: made" "$tmp/why"
	else
		skip "$1" "this kernel or host lacks it: $(tail -n 1 "$tmp/why")"
	fi
	return 1
}

# row NAME ADDRESS UPPER LOWER TAG FAR [ANY [REPLY]]: a transfer to ADDRESS passes UPPER and LOWER (-: none), on LOWER
# with the VLAN id TAG (- without); at the other end it is observed on FAR; on "any" on ANY, by default UPPER.  The
# reply has REPLY bytes.
row() {
	echo "$1 $2 $3 $4 $5 $6 ${7:-$3} ${8:-200000}" >>"$tmp/rows"
}

# ---------------------------------------------------------------------------------------------------- the stacks

make_base() {
	cable base0 base1 && addresses base0 base1 10
}

make_segments() {
	have ethtool && cable seg0 seg1 && addresses seg0 seg1 11 &&
		in_near ethtool -K seg0 tso off gso off gro off >/dev/null &&
		ip netns exec "$far" ethtool -K seg1 tso off gso off gro off >/dev/null
}

make_jumbo() {
	cable jumbo0 jumbo1 && near link set jumbo0 mtu 9000 && far link set jumbo1 mtu 9000 && addresses jumbo0 jumbo1 12
}

make_big() {
	cable big0 big1 && addresses big0 big1 13 &&
		near link set big0 gso_max_size 131072 gro_max_size 131072 &&
		far link set big1 gso_max_size 131072 gro_max_size 131072
}

make_vlan() {
	cable trunk0 trunk1 &&
		near link add link trunk0 name vlan0 type vlan id 100 &&
		far link add link trunk1 name vlan1 type vlan id 100 && addresses vlan0 vlan1 14
}

make_qinq() {
	near link add link trunk0 name outer0 type vlan proto 802.1ad id 200 && near link set outer0 up &&
		far link add link trunk1 name outer1 type vlan proto 802.1ad id 200 && far link set outer1 up &&
		near link add link outer0 name qinq0 type vlan id 201 &&
		far link add link outer1 name qinq1 type vlan id 201 && addresses qinq0 qinq1 15
}

# A VLAN whose tags the interfaces insert and remove.
make_offload() {
	offload_near=${STACKS_NICS% *} offload_far=${STACKS_NICS#* }
	ip link set "$offload_near" netns "$near" && ip link set "$offload_far" netns "$far" &&
		near link set "$offload_near" up && far link set "$offload_far" up &&
		near link add link "$offload_near" name hard0 type vlan id 7 &&
		far link add link "$offload_far" name hard1 type vlan id 7 && addresses hard0 hard1 16
}

# The bridge has a MAC address of its own: on its ports, frames for this host are marked as for another host.
make_bond() {
	cable bport0 brport0 && cable bport1 brport1 && near link set bport0 down && near link set bport1 down &&
		near link add bond0 type bond mode active-backup miimon 100 &&
		near link set bport0 master bond0 && near link set bport1 master bond0 &&
		far link add br1 type bridge && far link set br1 address 02:00:00:00:00:77 &&
		far link set brport0 master br1 && far link set brport1 master br1 && addresses bond0 br1 17
}

make_team() {
	have teamnl && cable tport0 tfar && near link set tport0 down && near link add team0 type team &&
		in_near teamnl team0 setoption mode roundrobin && near link set tport0 master team0 &&
		near link set tport0 up && addresses team0 tfar 18
}

# The host side of a container: the far end is a container on a bridge of this host.
make_bridge() {
	near link add br0 type bridge && near link set br0 address 02:00:00:00:00:78 && cable cont0 cont1 &&
		near link set cont0 master br0 && addresses br0 cont1 19
}

make_macvlan() {
	cable mlow0 mfar && near link add mac0 link mlow0 type macvlan mode bridge && addresses mac0 mfar 20
}

make_ipvlan_l2() {
	cable ilow0 ifar0 && near link add ipl2 link ilow0 type ipvlan mode l2 && addresses ipl2 ifar0 21
}

# In mode l3 the device answers no ARP.
make_ipvlan_l3() {
	cable ilow1 ifar1 && near link add ipl3 link ilow1 type ipvlan mode l3 && addresses ipl3 ifar1 22 &&
		far neigh replace 10.22.0.1 lladdr "$(mac "$near" ilow1)" dev ifar1 &&
		near neigh replace 10.22.0.2 lladdr "$(mac "$far" ifar1)" dev ilow1
}

make_ipvlan_l3s() {
	cable ilow2 ifar2 && near link add ipl3s link ilow2 type ipvlan mode l3s && addresses ipl3s ifar2 23 &&
		far neigh replace 10.23.0.1 lladdr "$(mac "$near" ilow2)" dev ifar2 &&
		near neigh replace 10.23.0.2 lladdr "$(mac "$far" ifar2)" dev ilow2
}

# What arrives is redirected to an ifb device, as for shaping.
make_ifb() {
	cable shape0 shape1 && addresses shape0 shape1 24 && near link add ifb0 type ifb && near link set ifb0 up &&
		in_near tc qdisc add dev shape0 handle ffff: ingress &&
		in_near tc filter add dev shape0 parent ffff: matchall action mirred egress redirect dev ifb0
}

make_gre() {
	tunnel gre1 30 gre local HERE remote THERE
}

make_gretap() {
	tunnel gretap1 31 gretap local HERE remote THERE key 9
}

make_ipip() {
	tunnel ipip1 32 ipip local HERE remote THERE
}

make_sit() {
	tunnel sit1 33 sit local HERE remote THERE
}

make_ip6gre() {
	tunnel gre6 34 ip6gre local HERE6 remote THERE6
}

make_ip6tnl() {
	tunnel tnl6 35 ip6tnl mode any local HERE6 remote THERE6
}

make_vxlan() {
	tunnel vxlan1 36 vxlan id 42 local HERE remote THERE dstport 4789
}

make_vxlan6() {
	tunnel vxlan6 37 vxlan id 43 local HERE6 remote THERE6 dstport 4789 udp6zerocsumrx udp6zerocsumtx
}

make_geneve() {
	tunnel geneve1 38 geneve id 44 remote THERE
}

make_wireguard() {
	have wg || return 1
	wg genkey >"$tmp/near.key" && wg genkey >"$tmp/far.key" || return 1
	near link add wg0 type wireguard && far link add wg0 type wireguard &&
		in_near wg set wg0 private-key "$tmp/near.key" listen-port 51820 peer "$(wg pubkey <"$tmp/far.key")" \
			allowed-ips 0.0.0.0/0,::/0 endpoint 10.10.0.2:51820 &&
		ip netns exec "$far" wg set wg0 private-key "$tmp/far.key" listen-port 51820 \
			peer "$(wg pubkey <"$tmp/near.key")" allowed-ips 0.0.0.0/0,::/0 endpoint 10.10.0.1:51820 &&
		addresses wg0 wg0 39
}

stack "veth" make_base || skip_all "no veth interfaces here"
row veth 10.10.0.2 - base0 - base1 base0
stack "no offloads" make_segments && row segments 10.11.0.2 seg0 - - seg1
stack "MTU 9000" make_jumbo && row jumbo 10.12.0.2 jumbo0 - - jumbo1
stack "BIG TCP" make_big && row big fd00:13::2 big0 - - big1 big0 12000000
if stack "VLAN" make_vlan; then
	row vlan 10.14.0.2 vlan0 trunk0 100 vlan1
	stack "QinQ" make_qinq && row qinq 10.15.0.2 qinq0 trunk0 200 qinq1
fi
if [ -n "${STACKS_NICS:-}" ]; then
	stack "VLAN with offload" make_offload && row offload 10.16.0.2 hard0 "${STACKS_NICS% *}" 7 hard1
fi
stack "bond, bridge" make_bond && row bond 10.17.0.2 bond0 bport0 - br1
stack "team" make_team && row team 10.18.0.2 team0 tport0 - tfar
stack "bridge of a container" make_bridge && row bridge 10.19.0.2 br0 cont0 - cont1
stack "macvlan" make_macvlan && row macvlan 10.20.0.2 mac0 mlow0 - mfar
stack "ipvlan l2" make_ipvlan_l2 && row ipvlan-l2 10.21.0.2 ipl2 ilow0 - ifar0
stack "ipvlan l3" make_ipvlan_l3 && row ipvlan-l3 10.22.0.2 ipl3 ilow1 - ifar1
stack "ipvlan l3s" make_ipvlan_l3s && row ipvlan-l3s 10.23.0.2 - ilow2 - ifar2 ilow2,ipl3s
stack "ifb" make_ifb && row ifb 10.24.0.2 - shape0 - shape1 shape0
if stack "GRE" make_gre; then
	row gre 10.30.0.2 gre1 base0 - gre1
	row gre-ipv6 fd00:30::2 gre1 base0 - gre1
fi
stack "GRE with Ethernet" make_gretap && row gretap 10.31.0.2 gretap1 base0 - gretap1
stack "IPIP" make_ipip && row ipip 10.32.0.2 ipip1 base0 - ipip1
stack "SIT" make_sit && row sit fd00:33::2 sit1 base0 - sit1
if stack "GRE over IPv6" make_ip6gre; then
	row ip6gre 10.34.0.2 gre6 base0 - gre6
	row ip6gre-ipv6 fd00:34::2 gre6 base0 - gre6
fi
if stack "IP in IPv6" make_ip6tnl; then
	row ip6tnl 10.35.0.2 tnl6 base0 - tnl6
	row ip6tnl-ipv6 fd00:35::2 tnl6 base0 - tnl6
fi
if stack "VXLAN" make_vxlan; then
	row vxlan 10.36.0.2 vxlan1 base0 - vxlan1
	row vxlan-ipv6 fd00:36::2 vxlan1 base0 - vxlan1
fi
stack "VXLAN over IPv6" make_vxlan6 && row vxlan6 10.37.0.2 vxlan6 base0 - vxlan6
stack "Geneve" make_geneve && row geneve 10.38.0.2 geneve1 base0 - geneve1
stack "WireGuard" make_wireguard && row wireguard 10.39.0.2 wg0 - - wg0

# --------------------------------------------------------------------------------------------------- the transfers

# observe NAME NAMESPACE INTERFACE...: starts netobsd there
observe() {
	observe_name=$1 observe_where=$2
	shift 2
	# With a buffer for all frames of this test, a slow machine drops no frame.  The options are words.
	# shellcheck disable=SC2046
	ip netns exec "$observe_where" "$netobsd" --buffer-size 16384 $(printf -- '-i %s ' "$@") "--print=$probes" \
		--format json --summary >"$tmp/$observe_name" 2>"$tmp/$observe_name.err" &
	pids="$pids $!"
}

# sockets NAMESPACE COUNT: whether so many capture sockets are open there
sockets() {
	[ "$(ip netns exec "$1" grep -c ' 0003 ' /proc/net/packet)" -ge "$2" ]
}

# column NUMBER: that column of the rows, each value once, without -
column() {
	awk -v n="$1" '$n != "-" && !had[$n]++ { print $n }' "$tmp/rows"
}

# shellcheck disable=SC2046
check "every path is open" in_near python3 "$top/tests/live/transfer.py" reach $(column 2)
ip netns exec "$far" python3 "$top/tests/live/transfer.py" serve "$port" "$tmp/ready" &
pids="$pids $!"
server=$!
wait_for test -e "$tmp/ready"

# Every transfer passes one of the upper and one of the lower devices.
observe any "$near" any
observe far "$far" any
# Names of interfaces are words.
# shellcheck disable=SC2046
observe upper "$near" $(column 3)
# shellcheck disable=SC2046
observe lower "$near" $(column 4)
wait_for sockets "$near" "$((1 + $(column 3 | wc -l) + $(column 4 | wc -l)))"
wait_for sockets "$far" 1
for pid in $pids; do
	[ "$pid" = "$server" ] || wait_for begun "$pid"
done
# shellcheck disable=SC2046
in_near python3 "$top/tests/live/transfer.py" fetch "$port" "$request" \
	$(awk '{ print $1 "=" $2 "=" $8 }' "$tmp/rows") >"$tmp/transfers" 2>"$tmp/failed"
check "every transfer is complete" test ! -s "$tmp/failed"
[ ! -s "$tmp/failed" ] || note "$(cat "$tmp/failed")"
let_deliver
for pid in $pids; do
	[ "$pid" = "$server" ] || kill -INT "$pid"
done
for pid in $pids; do
	[ "$pid" = "$server" ] || wait "$pid"
done
kill "$server"
wait "$server" 2>/dev/null

# -------------------------------------------------------------------------------------------------- what was observed

for observer in any upper lower far; do
	end=client
	[ "$observer" != far ] || end=server
	is "$observer: no frame is lost" "$(awk '$1 == "capture.dropped" { print $2 }' "$tmp/$observer.err")" 0
	python3 "$top/tests/live/transfer_firings.py" "$end" "$port" "$request" "$tmp/transfers" \
		<"$tmp/$observer" >"$tmp/$observer.result" || not_ok "$observer: the firings are JSON" "$tmp/$observer.err"
done

# A point for each transfer and observer: interfaces, tags and faults.
awk -v results="$tmp" '
function compare(observer, title, wanted, got) {
	got = result[observer, $1]
	if (got == wanted) {
		printf "ok - %s: once\n", title
	} else {
		printf "not ok - %s: once\n# got    %s\n# wanted %s\n", title, got, wanted
	}
}
BEGIN {
	split("any far upper lower", observers)
	for (i in observers) {
		file = results "/" observers[i] ".result"
		while ((getline line <file) > 0) {
			count = split(line, words)
			text = words[2] " " words[3]
			for (word = 5; word <= count; word++) {
				text = text " " words[word]
			}
			result[observers[i], words[1]] = text
		}
	}
}
{
	compare("any", $1 " on \"any\"", $7 " - none")
	compare("far", $1 " on \"any\" of the other end", $6 " - none")
	if ($3 != "-") {
		compare("upper", $1 " on " $3, $3 " - none")
	}
	if ($4 != "-") {
		compare("lower", $1 " on " $4, $4 " " $5 " none")
	}
}' "$tmp/rows" >"$tmp/points"
relay "$tmp/points"

# largest NAME: most payload bytes of one packet on "any"
largest() {
	awk -v name="$1" '$1 == name { print $4 }' "$tmp/any.result"
}

is "veth: packets longer than the link allows are one packet" "$(($(largest veth) > 1460))" 1
! grep -q '^segments ' "$tmp/rows" || is "no offloads: no longer packet" "$(($(largest segments) <= 1460))" 1
! grep -q '^jumbo ' "$tmp/rows" || is "MTU 9000: longer packets" "$(($(largest jumbo) > 1460))" 1
! grep -q '^big ' "$tmp/rows" || is "BIG TCP: packets of more than 64 KiB" "$(($(largest big) > 65535))" 1
is "frames captured on two interfaces are counted" \
	"$(($(awk '$1 == "interface-copies" { print $2 }' "$tmp/any.err") > 0))" 1
# A virtual e1000e interface may send a super-packet as fragments.
is "no frame is malformed" "$(sed -n 's/^anomaly\.//p' "$tmp/any.err" | grep -v -e '^super-packet ' -e '^ipv4-df-fragment ')" ""

tap_done
