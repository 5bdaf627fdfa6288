#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real tracers on the shipped program: every probe fires as often, and with the same values, as the built-in printer prints,
# however and whenever a tracer attaches.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
program=$(private_netobsd) || exit 99
header=$top/probes/netobs.h
captures=$top/tests/captures

# Packets that no small capture has: a loopback connection with a closed window and a keepalive, an unanswered SYN, and a
# packet with a TTL of 0.
python3 - "$tmp/timers.pcap" <<'PYTHON' || exit 99
import socket, struct, sys

SYN, ACK, SYN_ACK, PUSH = 2, 16, 18, 24
now = 1400000000


def ipv4(source, destination, ttl, protocol, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, ttl, protocol, 0,
                         socket.inet_aton(source), socket.inet_aton(destination))
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xffff) + (total >> 16)
    return header[:10] + struct.pack("!H", 0xffff - total) + header[12:] + payload


def tcp(ports, seq, ack, flags, window, payload=b""):
    ends = ("127.0.0.1", "127.0.0.2") if ports[0] > ports[1] else ("127.0.0.2", "127.0.0.1")
    return ipv4(*ends, 64, 6, struct.pack("!HHIIBBHHH", *ports, seq, ack, 0x50, flags, window, 0, 0) + payload)


there, back = (40000, 80), (80, 40000)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for packet in [
            tcp(there, 99, 0, SYN, 1000), tcp(back, 499, 100, SYN_ACK, 5), tcp(there, 100, 500, ACK, 1000),
            tcp(there, 100, 500, PUSH, 1000, b"hello"), tcp(back, 500, 105, ACK, 0),
            tcp(there, 104, 500, ACK, 1000), tcp(back, 500, 105, ACK, 0), tcp(back, 500, 105, ACK, 1000), # persist
            tcp(there, 105, 500, PUSH, 1000, b"?"), tcp(back, 500, 106, ACK, 1000),
            tcp(there, 105, 500, ACK, 1000), tcp(back, 500, 106, ACK, 1000), # a keepalive
            tcp((40001, 81), 7, 0, SYN, 1000),
            ipv4("224.0.0.1", "192.0.2.2", 64, 17, struct.pack("!HHHH", 1, 2, 8, 0))]:
        out.write(struct.pack("<IIII", now, 0, 14 + len(packet), 14 + len(packet)) + bytes(12) + b"\x08\x00" + packet)
        now += 2
PYTHON

# Together they make every probe fire; all of one link type, merged by time.  bpftrace parts a command at single blanks.
files="-r $captures/home-network.pcap -r $captures/one-tcp-rst.pcap -r $captures/icmp.pcapng"
files="$files -r $captures/dns-tcp.pcap -r $captures/sctp-restart.pcap -r $tmp/timers.pcap"
files="$files -r $captures/dns.pcap -r $captures/http.pcap -r $captures/smb.pcap -r $captures/tls.pcap --app-timeout=0.1"
files="$files -r $captures/iscsi.pcap -r $captures/tcpdump/dccp_partial_csum_v4_simple.pcap --active-records=10s"

# ------------------------------------------------------------------------------------------------ expected firings

# The firings of the built-in printer for the same replay.
# shellcheck disable=SC2086
"$program" $files --print --format json >"$tmp/firings" || exit 99
"$program" --list-probes --format json >"$tmp/manifest" || exit 99

# A bpftrace script, and its expected output computed from the printed firings.
python3 - "$program" "$tmp" <<'PYTHON' || exit 99
import collections, json, sys

program, tmp = sys.argv[1:]
firings = [json.loads(line) for line in open(tmp + "/firings")]
probes = [probe["name"].replace("-", "__") for probe in json.load(open(tmp + "/manifest"))["probes"]]
expected = []
count = collections.Counter(firing["probe"].replace("-", "__") for firing in firings)
script, silent = "", []
for probe in probes:
    # If there may be no packet, the connection has the number, or its record.
    sequence = "((struct connrec *)arg0)->cr_seq" if probe.startswith("connection__") \
        else "((struct csinfo *)arg1)->cs_seq" if any(word in probe for word in ("change", "timeout", "stream__end")) \
        else "((struct pktinfo *)arg0)->pkt_seq"
    numbered = not probe.startswith(("iscsi", "dns", "http", "smb", "tls")) # applications have neither struct
    script += "usdt:%s:netobs:%s { @count[\"%s\"] = count(); %s }\n" % (
        program, probe, probe, "@last[\"%s\"] = max(%s);" % (probe, sequence) if numbered else "")
    if count[probe] == 0:
        silent.append(probe)
        continue
    expected += ["@count[%s]: %d" % (probe, count[probe])]
    expected += ["@last[%s]: %d" % (probe, count[probe])] if numbered else []
open(tmp + "/count.bt", "w").write(script)
open(tmp + "/count.expected", "w").write("".join(line + "\n" for line in sorted(expected)))
open(tmp + "/silent", "w").write(" ".join(silent))
open(tmp + "/names", "w").write("".join(probe + "\n" for probe in sorted(probes)))

# Aggregations: (name, probe, aggregation, [(argument, struct, key field)], (argument, struct, summed field) or None)
questions = [
    ("gld", "gld-send", [(4, "etherinfo", "eth_shost"), (4, "etherinfo", "eth_type")], (0, "pktinfo", "pkt_len")),
    ("frame", "gld-receive", [(0, "pktinfo", "pkt_csum"), (0, "pktinfo", "pkt_link")], (0, "pktinfo", "pkt_caplen")),
    ("arp", "arp-send", [(4, "arpinfo", "arp_opstr"), (4, "arpinfo", "arp_tpa")], None),
    ("rarp", "arp-receive", [(4, "arpinfo", "arp_sha"), (4, "arpinfo", "arp_op")], None),
    ("ip", "ip-send", [(2, "ipinfo", "ip_saddr"), (2, "ipinfo", "ip_daddr")], (2, "ipinfo", "ip_plength")),
    ("ttl", "ip-receive", [(2, "ipinfo", "ip_ver"), (2, "ipinfo", "ip_saddr")], (2, "ipinfo", "ip_plength")),
    ("icmp", "icmp-send", [(4, "icmpinfo", "icmp_typestr"), (4, "icmpinfo", "icmp_code")], None),
    ("ping", "icmp-receive", [(4, "icmpinfo", "icmp_echo_id")], (4, "icmpinfo", "icmp_echo_seq")),
    ("udp", "udp-send", [(3, "udpinfo", "udps_raddr"), (4, "udpinfo", "udp_dport")], (4, "udpinfo", "udp_length")),
    ("stream", "udp-receive", [(1, "csinfo", "cs_cid")], (3, "udpinfo", "udps_rcv_bytes")),
    ("payload", "tcp-send", [(2, "ipinfo", "ip_saddr"), (4, "tcpinfo", "tcp_flagstr")], (4, "tcpinfo", "tcp_payload")),
    ("window", "tcp-receive", [(4, "tcpinfo", "tcp_flags"), (4, "tcpinfo", "tcp_offset")], (4, "tcpinfo", "tcp_window")),
    ("drop", "ip-drop-in", [(0, "pktinfo", "pkt_reason"), (4, "ipv4info", "ipv4_ttl")], None),
    ("deliver", "ip-deliver", [(2, "ipinfo", "ip_daddr")], (2, "ipinfo", "ip_plength")),
    ("again", "tcp-retransmit", [(5, "tcprinfo", "tcpr_kindstr"), (5, "tcprinfo", "tcpr_count")], None),
    ("timer", "tcp-timeout-retransmit", [(3, "tcpsinfo", "tcps_rto")], (5, "tcprinfo", "tcpr_elapsed_us")),
    ("sctp", "sctp-send", [(3, "sctpsinfo", "sctps_state"), (4, "sctpinfo", "sctp_chunk_type")],
        (4, "sctpinfo", "sctp_chunk_count")),
    ("dccp", "dccp-receive", [(4, "dccpinfo", "dccp_typestr"), (4, "dccpinfo", "dccp_seq")], (4, "dccpinfo", "dccp_payload")),
    ("scsi", "iscsi-scsi-command", [(0, "conninfo", "ci_local"), (1, "iscsiinfo", "ii_lun")], (2, "iscsicmd", "ic_len")),
    ("fusion", "tcpf-send", [(4, "tcpfinfo", "tcpf_peer_cid")], (4, "tcpfinfo", "tcpf_len")),
    ("written", "socket-send", [(3, "sockinfo", "so_protocol"), (3, "sockinfo", "so_raddr")], (3, "sockinfo", "so_bytes")),
    ("read", "socket-receive", [(3, "sockinfo", "so_lport")], (3, "sockinfo", "so_offset")),
    ("sequence", "tcp-receive", [(4, "tcpinfo", "tcp_dport")], (4, "tcpinfo", "tcp_seq")),
]
lines = [
    ("tcp-state-change", "change %lu %lu %s %d %s %d %s", [(1, "csinfo", "cs_cid"), (1, "csinfo", "cs_ts"),
        (5, "tcplsinfo", "tcps_statestr"), (5, "tcplsinfo", "tcps_state"), (2, "tcpsinfo", "tcps_statestr"),
        (3, "tcpsinfo", "tcps_state"), (3, "tcpnsinfo", "tcps_statestr")]),
]
for event in "accept-established", "connect-request", "connect-established", "connect-refused":
    lines += [("tcp-" + event, event + " %lu %s:%d %s:%d %u %lu", [(1, "csinfo", "cs_cid"), (3, "tcpsinfo", "tcps_laddr"),
        (3, "tcpsinfo", "tcps_lport"), (3, "tcpsinfo", "tcps_raddr"), (3, "tcpsinfo", "tcps_rport"),
        (3, "tcpsinfo", "tcps_iss"), (0, "pktinfo", "pkt_addr")])]
lines += [("sctp-state-change", "association %lu %d %d %s", [(1, "csinfo", "cs_cid"), (5, "sctplsinfo", "sctps_state"),
    (3, "sctpsinfo", "sctps_state"), (3, "sctpsinfo", "sctps_laddr")])]
lines += [("tcp-accept-refused", "accept-refused %s %d %s", [(2, "ipinfo", "ip_saddr"), (4, "tcpinfo", "tcp_sport"),
    (4, "tcpinfo", "tcp_flagstr")])]

script, expected = "", []
for name, probe, keys, summed in questions:
    field = lambda f: "((struct %s *)arg%d)->%s" % (f[1], f[0], f[2])
    script += "usdt:%s:netobs:%s { @%s[%s] = %s; }\n" % (program, probe.replace("-", "__"), name,
        ", ".join(map(field, keys)), "sum(%s)" % field(summed) if summed else "count()")
    answer = collections.Counter()
    for args in (firing["args"] for firing in firings if firing["probe"] == probe):
        answer[", ".join(str(args[k[0]][k[2]]) for k in keys)] += args[summed[0]][summed[2]] if summed else 1
    expected += ["@%s[%s]: %d" % (name, key, value) for key, value in answer.items()]
for probe, text, fields in lines:
    script += "usdt:%s:netobs:%s { printf(\"%s\\n\", %s); }\n" % (program, probe.replace("-", "__"), text,
        ", ".join(map(field, fields)))
    expected += [text % tuple(firing["args"][f[0]][f[2]] for f in fields) for firing in firings if firing["probe"] == probe]
# What is NULL for the one must be NULL for the other.
script += "usdt:%s:netobs:tcp__receive /arg1 == 0 && arg3 == 0/ { @no_flow = count(); }\n" % program
script += "usdt:%s:netobs:gld__receive /arg1 == 0 && arg2 == 0/ { @not_ip = count(); }\n" % program
script += "usdt:%s:netobs:tcp__state__change /arg0 == 0 && arg4 == 0/ { @no_packet = count(); }\n" % program
null = lambda probe, position: sum(f["args"][position] is None for f in firings if f["probe"] == probe)
expected += ["@no_flow: %d" % null("tcp-receive", 1), "@not_ip: %d" % null("gld-receive", 2),
    "@no_packet: %d" % null("tcp-state-change", 0)]
open(tmp + "/values.bt", "w").write(script)
open(tmp + "/values.expected", "w").write("".join(line + "\n" for line in sorted(expected)))
PYTHON

is "these captures make every probe fire, except" "$(cat "$tmp/silent")" "iscsi__async__send"

# same NAME EXPECTED GOT ERRORS: ok if bpftrace's output, in any order, is what was expected
same() {
	grep -v -e '^Attaching' -e '^attached$' -e '^$' "$3" | sort >"$tmp/sorted"
	if diff -u "$2" "$tmp/sorted" >"$tmp/diff"; then
		ok "$1"
	else
		not_ok "$1" "$tmp/diff" "$4"
	fi
}

# ----------------------------------------------------------------------------------------------- bpftrace, attached ...

# firings PROBE: number of its firings by the summary of the running netobsd, $observer
firings() {
	: >"$tmp/summary"
	summary_of "$observer" "$tmp/summary" || return 1
	awk -v name="probe.$1" '$1 == name { n = $2 } END { print n + 0 }' "$tmp/summary"
}

# more_firings COUNT PROBE
more_firings() {
	[ "$(firings "$2")" -gt "$1" ]
}

with_child() {
	bpftrace "$tmp/values.bt" --include "$header" -c "$program $files" >"$tmp/out" 2>"$tmp/err"
	same "bpftrace -c: $(wc -l <"$tmp/values.expected") lines of values, every transition among them, are as printed" \
		"$tmp/values.expected" "$tmp/out" "$tmp/err"
}

before_start() {
	tracer "$tmp/out" "$(cat "$tmp/count.bt")"
	# shellcheck disable=SC2086
	"$program" $files --wait-tracer=60 2>"$tmp/err"
	tracer_end
	same "bpftrace by path, before the program starts: $(wc -l <"$tmp/names") probes fire as often as printed" \
		"$tmp/count.expected" "$tmp/out" "$tmp/err"
}

# The program must wait for the last of the probes, whose attachment takes longer than the replay.  A quarter of a second
# without a further probe counts as the end, and a tracer that waits for a processor may exceed that; a program that starts
# at the first probe misses firings each time, so there are three tries.
while_waiting() {
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		"$program" $files --wait-tracer=120 2>"$tmp/err" &
		observer=$!
		wait_for begun "$observer"
		tracer "$tmp/out" "$(cat "$tmp/count.bt")"
		wait "$observer"
		tracer_end
		! grep '^@' "$tmp/out" | sort | cmp -s "$tmp/count.expected" - || break
		note "the program has not waited for the last probe"
	done
	same "bpftrace by path, while the program waits for it" "$tmp/count.expected" "$tmp/out" "$tmp/err"
}

# traced_more COUNT: whether the tracer has shown more than COUNT firings
traced_more() {
	[ "$(grep -c '^[0-9]' "$tmp/out")" -gt "$1" ]
}

# The printer runs from the start, so the firings of the tracer must be the last printed ones, without a gap.  The capture
# lasts a minute and a half, long enough for any tracer to attach; after enough firings the test ends the replay.
while_replaying() {
	"$program" -r "$captures/home-network.pcap" --pace=1.5 --print=tcp-receive --format json >"$tmp/printed" &
	observer=$!
	wait_for test -s "$tmp/printed"
	tracer "$tmp/out" "usdt:$program:netobs:tcp__receive {
		printf(\"%lu %lu %s %u\\n\", ((struct pktinfo *)arg0)->pkt_seq, ((struct pktinfo *)arg0)->pkt_addr,
		    ((struct ipinfo *)arg2)->ip_saddr, ((struct tcpinfo *)arg4)->tcp_seq); }"
	wait_for traced_more 100
	kill -INT "$observer"
	wait "$observer"
	sed 's/.*"pkt_addr":\([0-9]*\),.*"pkt_seq":\([0-9]*\)}.*"ip_saddr":"\([^"]*\)".*"tcp_seq":\([0-9]*\),.*/\2 \1 \3 \4/' \
		"$tmp/printed" >"$tmp/all"
	wait_for grep -qxF "$(tail -n 1 "$tmp/all")" "$tmp/out"
	tracer_end
	# In the order of the packets: bpftrace reads the buffers of several processors one after the other.
	grep '^[0-9]' "$tmp/out" | sort -n >"$tmp/seen"
	tail -n "$(wc -l <"$tmp/seen")" "$tmp/all" >"$tmp/wanted"
	if [ -s "$tmp/seen" ] && [ "$(wc -l <"$tmp/seen")" -lt "$(wc -l <"$tmp/printed")" ] &&
		diff -u "$tmp/wanted" "$tmp/seen" >"$tmp/diff"; then
		ok "bpftrace by path, in the middle of a replay: every later firing, without a gap"
	else
		not_ok "bpftrace by path, in the middle of a replay" "$tmp/diff" "$tmp/out.err"
	fi
}

# printed_more LINES: whether there are five more lines, or the replay has ended
printed_more() {
	[ "$(wc -l <"$tmp/printed")" -gt "$(($1 + 4))" ] || ! kill -0 "$observer"
}

# kill_and_attach PACE: a tracer that is killed in a replay, and another one after it.  Fails if the replay was over by then.
kill_and_attach() {
	count="usdt:$program:netobs:udp__receive { @count = count(); @first = min(((struct pktinfo *)arg0)->pkt_seq);
		@last = max(((struct pktinfo *)arg0)->pkt_seq); }"
	"$program" -r "$captures/home-network.pcap" --pace="$1" --print=udp-send 2>>"$tmp/summary" >"$tmp/printed" &
	observer=$!
	wait_for begun "$observer"
	tracer "$tmp/out" "$count"
	wait_for more_firings 0 udp-receive
	kill -KILL "$tracer"
	wait "$tracer" 2>/dev/null
	for _ in $(seq 20); do # the kernel disables the probe some time later
		killed=$(firings udp-receive)
		wait_for printed_more "$(wc -l <"$tmp/printed")" # what was sent is received at once
		[ "$(firings udp-receive)" -ne "$killed" ] || break
	done
	wait_for printed_more "$(wc -l <"$tmp/printed")"
	fired=$(firings udp-receive)
	tracer "$tmp/out" "$count"
	wait_for fired_or_over
	over=0
	kill -INT "$observer" 2>/dev/null || over=1
	wait "$observer"
	tracer_end
	return $over
}

fired_or_over() {
	more_firings "$((killed + 3))" udp-receive || ! kill -0 "$observer"
}

# counted_from_one: whether the second tracer has counted every firing
counted_from_one() {
	grep -q '^@first: 1$' "$tmp/out" &&
		[ "$(sed -n 's/^@count: //p' "$tmp/out")" = "$(sed -n 's/^@last: //p' "$tmp/out")" ]
}

# If a tracer dies, the kernel lowers its semaphores; the next one counts from one again.  On a busy machine slower replays
# are tried, and another one if the probe has fired between the moment at which the kernel enabled it and the one at which
# the program of the tracer was attached: that firing is lost.
killed_and_again() {
	for pace in 2 0.5 0.1 0.1 0.1; do
		! { kill_and_attach $pace && counted_from_one; } || break
	done
	is "a tracer killed by SIGKILL: the probe is disabled" "$fired" "$killed"
	check "a tracer killed by SIGKILL: the probe was enabled" [ "$killed" -gt 0 ]
	if counted_from_one; then
		ok "attached again: counted from one, without a gap"
	else
		not_ok "attached again: counted from one, without a gap" "$tmp/out" "$tmp/out.err"
	fi
}

on_an_interface() {
	# No ephemeral port: any other socket could have it.
	"$program" -i lo --immediate udp dst port 17317 2>>"$tmp/summary" &
	observer=$!
	wait_for begun "$observer"
	firings udp-send >/dev/null # its loop runs
	tracer "$tmp/out" "usdt:$program:netobs:udp__send { @send[((struct ipinfo *)arg2)->ip_daddr] = count(); }
		usdt:$program:netobs:udp__receive { @receive[((struct udpinfo *)arg4)->udp_length] = count(); }"
	python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(50):
    s.sendto(bytes(100), ("127.0.0.1", 17317))
    time.sleep(0.002)  # no event: the pace of the traffic'
	wait_for more_firings 49 udp-receive
	tracer_end
	kill -INT "$observer"
	wait "$observer"
	if grep -q '^@send\[127.0.0.1\]: 50$' "$tmp/out" && grep -q '^@receive\[108\]: 50$' "$tmp/out"; then
		ok "bpftrace on a live interface: 50 datagrams sent and received"
	else
		not_ok "bpftrace on a live interface" "$tmp/out" "$tmp/out.err" "$tmp/summary"
	fi
}

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	for point in "-c: values" "before the program starts" "while the program waits" "in mid-replay" \
		"killed by SIGKILL: disabled" "killed by SIGKILL: enabled before" "attached again" "on a live interface"; do
		skip "bpftrace, $point" "$refused"
	done
else
	with_child
	before_start
	while_waiting
	while_replaying
	killed_and_again
	on_an_interface
fi

# ----------------------------------------------------------------------------------------------------------- perf, gdb

changes=$(grep -c '"tcp-state-change"' "$tmp/firings")

# perf keeps its list of probes below the home directory, and the probes themselves in the kernel, where another test may
# have the same one: perf prints the name that it gives to this one.
perf_records() {
	HOME=$tmp perf probe --force -x "$program" --add sdt_netobs:tcp__state__change >"$tmp/err" 2>&1 || return 1
	event=$(sed -n 's/^ *\(sdt_netobs:tcp__state__change[_0-9]*\) .*/\1/p' "$tmp/err" | sort -u | head -n 1)
	trap 'perf probe -q --del "$event" 2>/dev/null; rm -rf "$tmp"' EXIT
	# shellcheck disable=SC2086
	HOME=$tmp perf record -q -o "$tmp/perf.data" -e "$event" "$program" $files >>"$tmp/err" 2>&1
	HOME=$tmp perf script -i "$tmp/perf.data" 2>>"$tmp/err" | grep -c "$event:" >"$tmp/recorded"
}

if ! have perf; then
	skip "perf lists every probe of the program" "perf is not installed"
	skip "perf probe -x and perf record" "perf is not installed"
else
	HOME=$tmp perf buildid-cache --add "$program" >"$tmp/err" 2>&1
	HOME=$tmp perf list sdt 2>>"$tmp/err" | sed -n 's/^ *sdt_netobs:\([a-z_]*\).*/\1/p' | sort >"$tmp/listed"
	check "perf lists every probe of the program" diff -u "$tmp/names" "$tmp/listed"
	if [ -n "$refused" ]; then
		skip "perf probe -x and perf record" "$refused"
	elif perf_records && [ "$(cat "$tmp/recorded")" -eq "$changes" ]; then
		ok "perf probe -x and perf record: $changes state changes"
	else
		not_ok "perf probe -x and perf record: $changes state changes" "$tmp/err"
	fi
fi

if ! have gdb; then
	skip "gdb lists every probe of the program" "gdb is not installed"
	skip "gdb reads arguments" "gdb is not installed"
else
	gdb -nx -batch -ex 'info probes stap netobs' "$program" 2>"$tmp/err" | awk '$2 == "netobs" { print $3 }' |
		sort -u >"$tmp/listed"
	check "gdb lists every probe of the program" diff -u "$tmp/names" "$tmp/listed"
	# The dollar signs are for gdb.
	# shellcheck disable=SC2016
	ASAN_OPTIONS=detect_leaks=0 gdb -nx -batch -ex 'break -probe-stap netobs:tcp__connect__refused' \
		-ex "run -r $captures/one-tcp-rst.pcap" -ex 'print ((struct tcpsinfo *)$_probe_arg3)->tcps_rport' \
		-ex 'print ((struct ipinfo *)$_probe_arg2)->ip_saddr' "$program" >"$tmp/out" 2>&1
	if grep -q '^[$]1 = 20000$' "$tmp/out" && grep -q '^[$]2 = "10.1.1.6"' "$tmp/out"; then
		ok "gdb reads arguments"
	else
		not_ok "gdb reads arguments" "$tmp/out"
	fi
fi

tap_done
