#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --from and --to: which firings and records a window has, where reading ends, and messages.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
chmod 755 "$tmp" # netobsd that is started as root changes its user

# 100 datagrams, one a second from 1000 s on, each from a port of its own; the last byte of the file is missing.
# NAME = out of order: number 50 has the time of number 40.
datagrams() {
	python3 - "$@" <<'PYTHON' || exit 99
import struct, sys
with open(sys.argv[1], "wb") as out:
    data = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for i in range(100):
        udp = struct.pack("!HHHH", 1000 + i, 53, 26, 0) + bytes(18)
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 46, i, 0, 64, 17, 0, bytes([192, 0, 2, 1]), bytes([192, 0, 2, 2]))
        total = sum(struct.unpack("!10H", ip))
        total = (total & 0xffff) + (total >> 16)
        ip = ip[:10] + struct.pack("!H", 0xffff - total) + ip[12:]
        frame = bytes(12) + b"\x08\x00" + ip + udp
        time = 1040 if i == 50 and len(sys.argv) > 2 else 1000 + i
        data += struct.pack("<IIII", time, 0, len(frame), len(frame)) + frame
    out.write(data[:-1])
PYTHON
}
datagrams "$tmp/udp.pcap"
datagrams "$tmp/unordered.pcap" unordered
file=$tmp/udp.pcap

# ports ARGUMENT...: first and last source port of the firings of udp-send, and their number
ports() {
	"$netobsd" --print=udp-send --format json "$@" 2>"$tmp/err" |
		sed -n 's/.*"udp_sport":\([0-9]*\).*/\1/p' | awk 'NR == 1 { first = $1 } END { print first, $1, NR }'
}

is "a window" "$(ports -r "$file" --from 1010 --to 1020)" "1010 1019 10"
is "the end of the file is not read" "$(cat "$tmp/err")" ""
is "no end" "$(ports -r "$file" --from 1090)" "1090 1098 9"
check "the file is read to its end" grep -q "ends unexpectedly" "$tmp/err"
is "no beginning" "$(ports -r "$file" --to 1003)" "1000 1002 3"
is "fractions of a second" "$(ports -r "$file" --from 1010.000000001 --to 1011.000000001)" "1011 1011 1"
is "a date" "$(ports -r "$file" --from 1970-01-01T00:16:50Z --to 1970-01-01T01:17:00+01:00)" "1010 1019 10"
is "two files" "$(ports -r "$file" -r "$file" --from 1010 --to 1020)" "1010 1019 20"
is "the pace begins in the window" "$(ports -r "$file" --from 1090 --to 1092 --pace=100)" "1090 1091 2"
is "a filter" "$(ports -r "$file" --from 1010 --to 1020 src port 1015)" "1015 1015 1"
is "a datagram that is late by ten seconds counts where it is" \
	"$(for from in 1000 1045 1055; do ports -r "$tmp/unordered.pcap" --from $from --to $((from + 10)); done | tr '\n' ' ')" \
	"1000 1009 10 1045 1054 10 1055 1064 10 "

"$netobsd" -r "$file" --from 5000 2>"$tmp/err"
is "a window behind the capture: the exit status" $? 2
check "the message has the times of the capture" grep -q \
	"no packet is between --from and --to: the first one is of 1970-01-01T00:16:40.000.*Z, .* 1970-01-01T00:18:18.000.*Z" \
	"$tmp/err"
"$netobsd" -r "$file" --to 999 2>"$tmp/err"
is "a window before the capture: the exit status" $? 0
check "the message" grep -q "no packet is between --from and --to" "$tmp/err"

# --- the lead-in: a connection whose handshake is before the window

file=$top/tests/captures/home-network.pcap
"$netobsd" -r "$file" --print=tcp-receive --format json >"$tmp/all" 2>/dev/null
middle=$(python3 - "$tmp/all" <<'PYTHON'
import json, sys
times = [json.loads(line)["args"][0]["pkt_ts"] for line in open(sys.argv[1])]
print("%d.%09d" % divmod(times[len(times) // 2], 10**9))
PYTHON
)
# states ARGUMENT...: the firings of tcp-receive with packet, state and bytes
states() {
	"$netobsd" -r "$file" --print=tcp-receive --format json "$@" 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    args = json.loads(line)["args"]
    if args[3] is not None:
        print(args[0]["pkt_ts"], args[3]["tcps_laddr"], args[3]["tcps_lport"], args[3]["tcps_statestr"],
              args[3]["tcps_rcv_bytes"], args[3]["tcps_start"])'
}
states >"$tmp/single"
{ states --to "$middle"; states --from "$middle"; } >"$tmp/halves"
check "firings with a lead-in are those of a single run" cmp "$tmp/single" "$tmp/halves"
{ states --to "$middle"; states --from "$middle" --lead-in 0; } >"$tmp/halves"
check "without a lead-in connections are in mid-stream" sh -c "! cmp -s '$tmp/single' '$tmp/halves'"
"$netobsd" -r "$file" --from "$middle" --lead-in 0 --formula 'f = tcp-receive where tcp_sport >= 0' --print=f \
	--format json 2>/dev/null | wc -l >"$tmp/formula"
"$netobsd" -r "$file" --from "$middle" --formula 'f = tcp-receive where tcp_sport >= 0' --print=f \
	--format json 2>/dev/null | wc -l >"$tmp/formula.lead"
check "formulas see the window only" cmp "$tmp/formula" "$tmp/formula.lead"
tap_done
