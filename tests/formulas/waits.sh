#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Formulas that wait (for DURATION, no PROBE within DURATION) on a capture: what fires, when, and with which arguments,
# on the fast path as on the slow path; nothing fires whose time has not passed at the end.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"

# Heartbeats to port 5000: of .1 each second until 4 s, of .2 until 20 s.  To port 6000, .3 sends long datagrams from 0
# to 5 s and from 6 to 7 s, each time with a short one after them.
python3 - "$tmp/waits.pcap" <<'EOF'
import struct
import sys

def datagram(source, port, size):
    udp = struct.pack("!HHHH", 4000, port, 8 + size, 0) + b"x" * size
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, bytes((192, 0, 2, source)),
                       bytes((192, 0, 2, 9)))
    total = sum(struct.unpack("!10H", head))
    head = head[:10] + struct.pack("!H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + head[12:]
    return b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + head + udp

frames = [(1000 * i, datagram(1, 5000, 10)) for i in range(5)]
frames += [(1000 * i + 1, datagram(2, 5000, 10)) for i in range(21)]
frames += [(500 * i + 2, datagram(3, 6000, 200)) for i in range(11)] + [(5502, datagram(3, 6000, 5))]
frames += [(500 * i + 2, datagram(3, 6000, 200)) for i in (12, 13, 14)] + [(7502, datagram(3, 6000, 5))]
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for at, frame in sorted(frames):
        file.write(struct.pack("<IIII", 1700000000 + at // 1000, at % 1000 * 1000, len(frame), len(frame)) + frame)
EOF

# replay DEFINITION OPTION...: the firings of the formula f as JSON in $tmp/out, the counters in $tmp/err
replay() {
	definition=$1
	shift
	"$netobsd" -r "$tmp/waits.pcap" --formula "$definition" --format json --summary "$@" >"$tmp/out" 2>"$tmp/err"
}

# facts: of each firing of f the source address and the time of the packet, in ms
facts() {
	sed -n 's/^{"probe":"f".*"pkt_ts":17000*\([0-9]*\)[0-9]\{6\},.*"ip_saddr":"\([0-9.]*\)".*/\2 \1/p' "$tmp/out" |
		tr '\n' ' '
}

# matched: the counter of f
matched() {
	sed -n 's/^formula\.f\.matched //p' "$tmp/err"
}

beat='udp-receive where udp_dport == 5000'
silent="f = $beat, no $beat within 3s by ip_saddr"
long='f = udp-receive where udp_dport == 6000 && udp_length > 100 for 2s by ip_saddr'

replay "$silent" --print=f
is "a heartbeat that stops: the last one, once" "$(facts)" "192.0.2.1 4000 "
is "and its count" "$(matched)" 1
replay "$silent" --print=f,udp-receive
is "it fires before the first packet later than its time" \
	"$(sed -n '/^{"probe":"f"/{n;s/.*"pkt_ts":17000*\([0-9]*\)[0-9]\{6\},.*/\1/p;}' "$tmp/out")" 7001
replay "f = $beat, no $beat within 17s by ip_saddr" --print=f
is "nothing fires whose time has not passed at the end" "$(facts)" ""
replay "f = $beat, no $beat within 15999ms by ip_saddr" --print=f
is "it fires if the last packet shows it" "$(facts)" "192.0.2.1 4000 "
replay "f = $beat, no udp-receive where udp_dport == 5000 && udp_sport == 1 within 3s by ip_saddr" --print=f
is "what never comes is missed again and again, from the next heartbeat on" "$(matched)" 7

replay "$long" --print=f
is "a condition that has held for 2 s: its first packet, once" "$(facts)" "192.0.2.3 2 "
replay 'f = udp-receive where udp_dport == 6000 && udp_length > 100 for 900ms by ip_saddr' --print=f
is "again after it was false" "$(facts)" "192.0.2.3 2 192.0.2.3 6002 "
replay 'f = udp-receive where udp_dport == 6000 && udp_length > 100 for 6s by ip_saddr' --print=f
is "not beyond a packet for which it is false" "$(facts)" ""

for definition in "$silent" "$long"; do
	replay "$definition" --print=f
	mv "$tmp/out" "$tmp/fast"
	replay "$definition" --print=f,ip-packet-free
	check "the fast path changes nothing: $definition" sh -c "grep '^{\"probe\":\"f\"' '$tmp/out' | cmp - '$tmp/fast'"
	replay "$definition" --print=f --from 2023-11-14T22:13:20Z --to 2023-11-14T22:14:00Z
	check "nor does a window around the capture" cmp "$tmp/out" "$tmp/fast"
done
replay "$silent" --print=f --to 2023-11-14T22:13:25Z
is "nothing fires after a window" "$(facts)" ""

"$netobsd" -r "$tmp/waits.pcap" --formula "$silent" --write "f=$tmp/written.pcapng" 2>"$tmp/err"
is "--write keeps the connection" \
	"$("$netobsd" -r "$tmp/written.pcapng" --print=udp-receive --format json | grep -c '"ip_saddr":"192.0.2.1"')" 5
"$netobsd" -r "$tmp/waits.pcap" --records=- --records-where 'cr_client_bytes > 5 for 3s by cr_client' >"$tmp/out" 2>"$tmp/err"
check "no record waits" grep -q 'a duration (for, no ... within) selects no records' "$tmp/err"
tap_done
