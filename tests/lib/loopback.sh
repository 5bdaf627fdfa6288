# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154
#
# For tests with real servers and clients, sourced after tap.sh in a network namespace of their own: two hosts on the
# loopback interface, 192.0.2.1 (the server) and 192.0.2.2 (the client), and captures of their traffic.  The MTU is that
# of Ethernet, so that messages are split over segments.

ip link set lo up mtu 1500
ip address add 192.0.2.1/32 dev lo
ip address add 192.0.2.2/32 dev lo
ip route replace local 192.0.2.1 dev lo table local src 192.0.2.2
tcpdump=

# capture NAME FILTER: begins NAME.pcap
capture() {
	tcpdump -i lo -s 0 -U -w "$1.pcap" "$2 or udp port 9" >"$1.tcpdump" 2>&1 &
	tcpdump=$!
	wait_for grep -q listening "$1.tcpdump"
}

# captured NAME: ends it after a last frame: tcpdump has written all others before that one
captured() {
	python3 "$top/tests/lib/last_frame.py"
	wait_for grep -q "the last frame" "$1.pcap"
	kill "$tcpdump"
	wait "$tcpdump"
	tcpdump=
}
