#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A host that forwards between two others, through a bridge and as a router, captures each packet on two interfaces: a
# capture on "any" there has the records of one on a single interface.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have ip python3 tcpdump || skip_all "ip, python3 or tcpdump is not installed"

client=netobs-client-$$ server=netobs-server-$$ host=netobs-host-$$
namespaces "$client" "$server" "$host" || skip_all "$kernel_refusal"

# cable NAMESPACE DEVICE ADDRESS ADDRESS6: from the namespace to the host
cable() {
	ip link add "$2" netns "$1" type veth peer name "host-$2" netns "$host" &&
		ip -n "$1" link set "$2" up && ip -n "$host" link set "host-$2" up &&
		ip -n "$1" addr add "$3" dev "$2" && ip -n "$1" addr add "$4" dev "$2" nodad
}

make_bridge() {
	cable "$client" bridged0 10.80.0.1/24 fd80::1/64 && cable "$server" bridged1 10.80.0.2/24 fd80::2/64 &&
		ip -n "$host" link add br0 type bridge && ip -n "$host" link set br0 up &&
		ip -n "$host" link set host-bridged0 master br0 && ip -n "$host" link set host-bridged1 master br0
}

make_router() {
	cable "$client" routed0 10.81.0.1/24 fd81::1/64 && cable "$server" routed1 10.82.0.1/24 fd82::1/64 &&
		ip -n "$host" addr add 10.81.0.9/24 dev host-routed0 &&
		ip -n "$host" addr add fd81::9/64 dev host-routed0 nodad &&
		ip -n "$host" addr add 10.82.0.9/24 dev host-routed1 &&
		ip -n "$host" addr add fd82::9/64 dev host-routed1 nodad &&
		ip netns exec "$host" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
			echo 1 >/proc/sys/net/ipv6/conf/all/forwarding' &&
		ip -n "$client" route add 10.82.0.0/24 via 10.81.0.9 && ip -n "$client" route add fd82::/64 via fd81::9 &&
		ip -n "$server" route add 10.81.0.0/24 via 10.82.0.9 && ip -n "$server" route add fd81::/64 via fd82::9
}

# capture INTERFACE FILE: begins a capture in the host
capture() {
	ip netns exec "$host" tcpdump -i "$1" -s 200 -B 65536 -U --immediate-mode -w "$2" \
		'tcp or udp port 8125 or udp port 8126' 2>"$2.log" &
	captures="$captures $!"
	wait_for grep -q 'listening on' "$2.log"
}

cat >"$tmp/traffic.py" <<'END'
import socket, sys, threading
address = sys.argv[2]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
def serve():
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, 8080))
    listener.listen(16)
    datagrams = socket.socket(family, socket.SOCK_DGRAM)
    datagrams.bind((address, 8125))
    print("ready", flush=True)
    for _ in range(8):
        connection = listener.accept()[0]
        received = 0
        while received < 20000:
            received += len(connection.recv(65536))
        connection.sendall(bytes(300000))
        while connection.recv(65536):
            pass
        connection.close()
def use():
    for number in range(8):
        connection = socket.create_connection((address, 8080))
        datagrams = socket.socket(family, socket.SOCK_DGRAM)
        datagrams.connect((address, 8125))
        connection.sendall(bytes(20000))
        received = 0
        while received < 300000:
            received += len(connection.recv(65536))
            datagrams.send(b"received:%d:%d" % (number, received))
        connection.close()
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"end", (address, 8126))
(serve if sys.argv[1] == "serve" else use)()
END

# records CAPTURE: of each connection and stream what does not depend on the interface
records() {
	"$netobsd" -r "$1" --view both --records="$1.records" >"$1.out" 2>&1
	python3 -c '
import json, sys
fields = "client server client_port server_port protocol reason resent_fast resent_timeout resent_probe".split()
fields += [end + field for end in ("client_", "server_") for field in ("segments", "bytes", "state", "resent")]
records = [record for record in map(json.loads, sys.stdin) if record["cr_server_port"] in (8080, 8125)]
for line in sorted(" ".join(str(record["cr_" + field]) for field in fields) for record in records):
    print(line)' <"$1.records"
}

# The client sends a datagram to another port at the end.
has_end() {
	tcpdump -r "$1" 'udp dst port 8126' 2>/dev/null | grep -q .
}

# compare NAME ADDRESS INTERFACE
compare() {
	captures=
	capture any "$tmp/$1-any.pcap"
	capture "$3" "$tmp/$1-one.pcap"
	ip netns exec "$server" python3 "$tmp/traffic.py" serve "$2" >"$tmp/served" &
	compare_server=$!
	wait_for grep -q ready "$tmp/served"
	ip netns exec "$client" python3 "$tmp/traffic.py" use "$2"
	wait "$compare_server"
	wait_for has_end "$tmp/$1-any.pcap"
	wait_for has_end "$tmp/$1-one.pcap"
	for process in $captures; do
		kill -INT "$process"
		wait "$process"
	done
	if ! grep -qh '^0 packets dropped' "$tmp/$1-any.pcap.log" || ! grep -qh '^0 packets dropped' "$tmp/$1-one.pcap.log"; then
		skip "$1" "the kernel dropped packets of the capture"
		return
	fi
	records "$tmp/$1-one.pcap" >"$tmp/$1-one"
	records "$tmp/$1-any.pcap" >"$tmp/$1-any"
	is "$1: the connections and streams" "$(wc -l <"$tmp/$1-one")" 16
	check "$1: the records of any are those of one interface" diff "$tmp/$1-one" "$tmp/$1-any"
}

make_bridge || skip_all "no bridge here"
compare bridge-ipv4 10.80.0.2 host-bridged0
compare bridge-ipv6 fd80::2 host-bridged0
make_router || skip_all "no routes here"
compare router-ipv4 10.82.0.1 host-routed0
compare router-ipv6 fd82::1 host-routed0
tap_done
