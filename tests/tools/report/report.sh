#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs report: what the data of a page say of made connections and of real captures, compared with what was made, with
# netobs conns and with tshark; options, an interface, bad input; size and time.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ -x "$build/netobs-report" ] || skip_all "netobs-report is not built"
have python3 || skip_all "python3 is not installed"
export NETOBSD="$netobsd"
captures=$top/tests/captures space=netobs-report-$$
trap 'kill $pid 2>/dev/null; ip netns del "$space" 2>/dev/null; rm -rf "$tmp"' EXIT
pid=''

report() {
	"$top/scripts/netobs" report "$@"
}

# data EXPRESSION: of the last page
data() {
	python3 "$top/tests/tools/report/report_data.py" "$tmp/page" "$1"
}

# text TOPIC: a sentence of the verdict
text() {
	data "verdict['$1']['text']"
}

# page NAME ARGUMENT...: makes the page
page() {
	page_name=$1
	shift
	report "$@" >"$tmp/page" 2>"$tmp/err"
	is "$page_name" "$? $(cat "$tmp/err")" "0 "
}

# ------------------------------------------------------------------------------------------------------ made cases

python3 "$top/tests/scripts/conns_cases.py" "$tmp/cases.pcap"
page "a page of made connections" "$tmp/cases.pcap" -o --tcp-idle=7200
is "connections" "$(data "data['connections']")" \
	"$("$top/scripts/netobs" conns "$tmp/cases.pcap" -o --tcp-idle=7200 --json | grep -c .)"
is "how they end" "$(data "[rows[port][17] for port in range(80, 89)]")" \
	"['fin', 'fin', 'refused', 'no-answer', 'reset-by-client', 'reset-by-server', 'idle', 'idle', 'idle']"
is "refused, by whom" "$(text refused)" \
	"1 connection was refused: nothing listens there, or a firewall rejects them; for example by 198.51.100.2 port 82."
is "reset, by which end" "$(text reset)" \
	"2 connections were reset, 1 by the client and 1 by the server; for example with 198.51.100.2 port 85."
is "without answer" "$(text no-answer)" \
	"1 connection attempt had no answer: the host is away, or a firewall drops them; for example to 198.51.100.2 port 83, an address that answers other connections."
is "a slow server" "$(text slow-server)" \
	"On 1 connection nothing came from the server for 500 ms or longer after data of the client; the longest time was 1.300 s, of 198.51.100.2 port 81."
is "a client that thinks is no slow server" "$(text slow-client)" \
	"On 1 connection of 1 s or longer the server needed less than a tenth of the time for its answers: the rest is handshake, waiting for the client, transfer, or idle."
is "a closed window, of which end" "$(text zero-window | sed 's/,* for at most.*//')" \
	"Receive windows were closed 1 time on 1 connection, 0 by clients and 1 by servers"
is "a SYN that is sent again" "$(text retransmissions)" \
	"2 segments were sent again on 1 connection, 2 by clients and 0 by servers: 2 SYN or SYN-ACK."
is "no handshake is slow" "$(text handshake)" "No handshake took 250 ms or longer; the longest took 20.000 ms."
is "no DNS query is without answer" "$(text dns)" "No DNS query timed out without an answer."
is "ten sentences, the heaviest first" \
	"$(data "(lambda w: [len(w), w == sorted(w, reverse=True)])([s['weight'] for s in data['verdict']])")" "[10, True]"
is "the worst connections have their segments" "$(data "len(data['details'])")" 9
cp "$tmp/page" "$tmp/first"
report "$tmp/cases.pcap" -o --tcp-idle=7200 >"$tmp/page"
check "a second page is the same" cmp "$tmp/first" "$tmp/page"

# attempts TIME...: a capture that ends with SYNs of one connection at these times, and its page
attempts() {
	python3 "$top/tests/tools/report/attempts.py" "$tmp/attempts.pcap" "$@"
	report "$tmp/attempts.pcap" >"$tmp/page"
}

attempts 0 1 3 7
is "SYNs that are repeated until the capture ends have no answer" "$(data "verdict['no-answer']['text'].split(':')[0]")" \
	"1 connection attempt had no answer"
is "which is no gap of the capture" "$(data "verdict['capture']['text'].split(':')[0]")" "The capture itself has no gap"
is "the connection is opening all the time" "$(data "[min(data['states']['opening']), max(data['states']['open'])]")" "[1, 0]"
attempts 0
is "a single SYN may have an answer behind the capture" "$(text no-answer)" \
	"No connection attempt timed out or was repeated without an answer."
is "and is no gap either" "$(data "verdict['capture']['weight']")" 0

# verdict_case CASE: a capture of verdict_cases.py, and its page
verdict_case() {
	python3 "$top/tests/tools/report/verdict_cases.py" "$1" "$tmp/$1.pcap"
	report "$tmp/$1.pcap" >"$tmp/page" 2>"$tmp/err"
}

# evidence TOPIC: server port and packets of each connection
evidence() {
	data "[(data['rows'][e[0]][6], e[2]) for e in verdict['$1']['evidence']]"
}

verdict_case probes
is "probes of a closed window with data are no retransmissions" "$(text retransmissions)" "Nothing was sent again."
is "in the ladder neither" "$(data "[s[8] for s in data['details'][0]['segments'] if s[8]]")" "[6, 6, 6, 6]"
verdict_case lost
is "a lost request or answer makes no slow server" "$(text slow-server)" \
	"On 2 connections nothing came from the server for 500 ms or longer after data of the client; the longest time was 900.000 ms, of 198.51.100.2 port 81. On 2 connections an answer took that long only because it or its request was sent again, the longest 1.220 s: that is the time of the network."
is "the packets of requests and answers" "$(evidence slow-server)" \
	"[(81, 'request in packet 15 and again in packet 16, answer in packet 18'), (82, 'request in packet 29, answer in packet 30'), (80, 'request in packet 4 and again in packet 6, answer in packet 7'), (83, 'request in packet 38, answer sent again in packet 40')]"
is "the link goes to the answer" "$(data "[e[1] for e in verdict['slow-server']['evidence']]")" "[18, 30, 7, 40]"
verdict_case replies
is "a short reply to the server's data needs no answer" "$(text slow-server)" \
	"On 2 connections nothing came from the server for 500 ms or longer after data of the client; the longest time was 13.170 s, of 198.51.100.2 port 82. On 2 other connections nothing came from the server for up to 12.999 s after a short reply of the client to its data, which may need no answer (to a heartbeat, for example)."
is "the packets of these" "$(evidence slow-server)" \
	"[(82, 'request in packet 27, answer in packet 29'), (81, 'request in packet 16, answer in packet 18'), (80, 'request in packet 5, answer in packet 7'), (83, 'request in packet 40, answer in packet 41')]"
verdict_case holes
is "an answer that may be in a hole of the capture" "$(text slow-server)" \
	"On 1 connection nothing came from the server for 500 ms or longer after data of the client; the longest time was 1.510 s, of 198.51.100.2 port 81. On 1 other connection the capture lacks data that the server sent in a pause of 500 ms or longer, perhaps the answer."
verdict_case unacknowledged
is "a server that does not acknowledge a request that is sent again" "$(text slow-server) $(evidence slow-server)" \
	"No answer was measured. On 1 connection nothing came from the server for 900.000 ms, not even an ACK, after a request that was sent again: what it sent was lost, or the last copy, too. [(80, 'request in packet 4 and again in packet 6, answer in packet 7')]"
verdict_case first_holes
is "the first answer is in a hole of the capture" "$(text slow-server)" \
	"No answer was measured. On 3 connections the capture lacks data that the server sent in a pause of 500 ms or longer, perhaps the answer."
is "which is a gap of the capture" "$(text capture | cut -d . -f 1)" \
	"The capture itself has gaps, which are no fault of the network: 3 connections lack data (3000 bytes that the receiver acknowledges)"
verdict_case fast_open
is "a request in a SYN that is lost makes no slow server" "$(text slow-server) $(evidence slow-server)" \
	"No server is known to have taken 500 ms or longer for an answer; the longest took 10.000 ms. On 1 connection an answer took that long only because it or its request was sent again, the longest 3.010 s: that is the time of the network. [(80, 'request in packet 1 and again in packet 4, answer in packet 5')]"
verdict_case greeting
is "a server that sends first, and late" "$(text slow-server) $(evidence slow-server)" \
	"On 1 connection nothing came from the server, which sends first, for 500 ms or longer after the handshake; the longest time was 9.980 s, of 198.51.100.2 port 25. [(25, 'packet 4')]"
is "makes no slow client" "$(text slow-client)" "On no connection of 1 s or longer is the client known to be the slow end."
verdict_case preconnection
is "a client that does not wait for the server" "$(text slow-server)" "No answer was measured."
verdict_case one_direction
is "no silence of an end that the capture lacks" "$(text silent)" ""
is "and perhaps answers of DNS" "$(text dns)" \
	"1 DNS query was not answered in time, perhaps because the capture has one direction only, as of TCP; the first by 198.51.100.2 port 53."
verdict_case too_big
is "silence, and an ICMP error" "$(text silent)" \
	"2 connections fell silent: what was sent last had no acknowledgement. The server 198.51.100.2 port 80, for example, was sent 3 retransmissions in 2.800 s and answered none: packet 5, an ICMP error, says that a packet was too big for the path."
verdict_case queued
is "the wait of a request is not known while the client sends others" "$(text slow-server)" \
	"No server is known to have taken 500 ms or longer for an answer; the longest took 100.000 ms."
is "the client is not the slow end" "$(text slow-client)" "On no connection of 1 s or longer is the client known to be the slow end."
verdict_case many_lost
is "more slow answers than are searched for" "$(text slow-server)" \
	"No server is known to have taken 500 ms or longer for an answer; the longest took 10.000 ms. On 300 connections an answer took that long only because it or its request was sent again, the longest 1.010 s: that is the time of the network. On 10 connections an answer took up to 1.010 s, perhaps the time of the network: its packets were not searched for, or not found."
verdict_case repeated
is "a DNS query that is sent again after its time" "$(text dns | cut -d ' ' -f 1-3)" "2 DNS queries"
verdict_case closings
is "closings that are long in all" "$(text zero-window)" \
	"Receive windows were closed 5 times on 1 connection, 5 by clients and 0 by servers, for at most 100.000 ms at a time, and for 500.000 ms in all on one connection: the program of the client 192.0.2.1 port 40000 reads too slowly."
verdict_case readers
is "the longest closing, of one of many ends that close their windows" "$(text zero-window) $(evidence zero-window)" \
	"Receive windows were closed 26 times on 2 connections, 25 by clients and 1 by servers, for at most 300.000 ms at a time, and for 320.000 ms in all on one connection: the program of the server 198.51.100.2 port 81 reads too slowly. [(81, 'packet 55'), (80, 'packet 9')]"
report "$tmp/readers.pcap" --top=0 >"$tmp/page"
is "without details, its connection" "$(text zero-window | sed 's/.*: //')" \
	"a program of the connection with the server 198.51.100.2 port 81 reads too slowly."
verdict_case reopened
is "one that is longer than those that are not opened again" "$(text zero-window) $(evidence zero-window)" \
	"Receive windows were closed 2 times on 2 connections, 1 by clients and 1 by servers, for at most 2.000 s at a time: the program of the server 198.51.100.2 port 81 reads too slowly. One was not opened again: the program of the client 192.0.2.1 port 40000 has stopped reading, 500.000 ms before the end. [(80, 'packet 11'), (81, 'packet 5')]"
verdict_case stuck
is "windows that are not opened again" "$(text zero-window)" \
	"Receive windows were closed 5 times on 4 connections, 2 by clients and 3 by servers, for at most 2.930 s at a time, and for 3.010 s in all on one connection: the program of the client 192.0.2.1 port 40000 reads too slowly. 2 were not opened again, 1 of clients and 1 of servers: the program of the client 192.0.2.1 port 40000 has stopped reading, 2.930 s before the end."
is "the packets that closed them" "$(evidence zero-window)" \
	"[(80, 'packet 19'), (81, 'packet 14'), (82, 'packet 16'), (83, 'packet 31')]"
for version in twice twice6; do
	verdict_case "$version"
	is "$version: packets that were captured twice" "$(data "verdict['capture']['text'].split(':')[0]")" \
		"About half of the packets are duplicates"
	is "$version: which are no retransmissions" "$(text retransmissions)" "Nothing was sent again."
	is "$version: the first sentence" "$(data "data['verdict'][0]['topic']")" capture
done
verdict_case twice_midway
is "duplicates, and then a list of gaps" "$(text capture | sed 's/.*below count them. //')" \
	"The capture itself has gaps, which are no fault of the network: 1 connection began before it."
verdict_case again
is "retransmissions are no duplicates" "$(data "[verdict['capture']['weight'], verdict['retransmissions']['text'][:26]]")" \
	"[0, '1 segment was sent again o']"
verdict_case stamps
is "wrong time stamps are named" "$(text capture)" \
	"The capture itself has no gap: it has all data that is acknowledged, and every connection begins in it. 2 packets, packet 1 the first, have time stamps far from those around them, and are not on the time axes."
is "and are in no axis" "$(data "[data['duration'], data['stray'], data['frames'], sum(sum(p['frames']) for p in data['volume'])]")" \
	"[1110000, 2, 28, 26]"
is "nor in the times of segments" "$(data "max(s[0] for d in data['details'] for s in d['segments'])")" 1110000
verdict_case days
is "a pause of days" "$(text capture)" "There is no TCP connection. It is silent for 3.0 days before packet 9."
verdict_case years
is "a pause of years" "$(text capture)" \
	"There is no TCP connection. It is silent for 10.0 years before packet 9: the clock was set, or captures of different times are merged."
verdict_case lossy
is "data that the capture lacks" "$(text capture)" \
	"The capture itself has gaps, which are no fault of the network: 1 connection lacks data (1000 bytes that the receiver acknowledges)."
is "and on which connection" "$(data "[verdict['capture']['weight'], [e[0] for e in verdict['capture']['evidence']]]")" "[60, [0]]"
verdict_case shortened
is "packets that are cut without a sign" "$(text capture | cut -d . -f 1)" \
	"16 packets are shorter than the length in the IP header, although the capture says that they were captured whole"
verdict_case snap
is "a snapshot length that cuts headers" "$(data "[data['verdict'][0]['topic'], data['connections']]") $(text capture)" \
	"['capture', 4] The snapshot length is too small: 18 of 26 packets are cut in their headers, so that this page lacks most of the traffic."
verdict_case only_queries
is "a capture without TCP" "$(text capture) $(data "verdict['capture']['weight']")" "There is no TCP connection. 0"
python3 "$top/tests/daemon/capture/formats_captures.py" statistics "$tmp/statistics.pcapng"
report "$tmp/statistics.pcapng" >"$tmp/page" 2>"$tmp/err"
is "frames that the interfaces of a pcapng file dropped" "$(text capture)" \
	"The capture itself has gaps, which are no fault of the network: 2228 frames were dropped."
verdict_case handshake
is "a slow handshake, and its packet" "$(text handshake) $(evidence handshake)" \
	"1 handshake took 250 ms or longer: 1 for want of the SYN-ACK of the server; the longest took 320.000 ms, to 198.51.100.2 port 81. [(81, 'packet 8')]"
verdict_case slow_ack
is "of which the client's ACK is late" "$(text handshake) $(evidence handshake)" \
	"1 handshake took 250 ms or longer: 1 for want of the ACK of the client; the longest took 400.000 ms, to 198.51.100.2 port 80. [(80, 'packet 3')]"
verdict_case crossed
is "a SYN-ACK behind the handshake counts for nothing" "$(text handshake) $(evidence handshake)" \
	"1 handshake took 250 ms or longer: 1 for want of the ACK of the client; the longest took 999.000 ms, to 198.51.100.2 port 80. [(80, 'packet 3')]"
verdict_case syn_again
is "a SYN or SYN-ACK that is sent again" "$(text handshake) $(evidence handshake)" \
	"3 handshakes took 250 ms or longer: 1 for want of the SYN-ACK of the server, 1 because the SYN was sent again, 1 because the SYN-ACK was sent again (it or the answer to it was lost, or the queue of the server was full); the longest took 2.010 s, to 198.51.100.2 port 82. [(82, 'packet 11'), (81, 'packet 8'), (80, 'packet 5')]"
verdict_case hung
is "requests without answer" "$(text open-request) $(evidence open-request)" \
	"6 requests were never answered: the server received them and sent nothing; for example by 198.51.100.2 port 82, where the server closed the connection after 4.000 s. [(82, 'packet 15'), (83, 'packet 22'), (88, 'packet 29'), (81, 'packet 9'), (80, 'packet 4')]"
verdict_case old_port
is "a SYN that is answered for an older connection" "$(text handshake | sed 's/;.*//')" \
	"1 handshake took 250 ms or longer: 1 because the server answered for an older connection of the same ports"
verdict_case twice_slow
is "a SYN-ACK that is captured twice was sent once" "$(text handshake | sed 's/;.*//')" \
	"1 handshake took 250 ms or longer: 1 for want of the ACK of the client"
verdict_case one_way
is "messages of one direction, and one before the client closes, are none" "$(data "'open-request' in verdict")" False
verdict_case hang
is "those that hang until the client closes, or of several segments" "$(evidence open-request)" "[(81, 'packet 31'), (80, 'packet 19')]"
is "only a third client is slow" "$(text slow-client | cut -d ' ' -f 1-3)" "On 1 connection"
verdict_case last_fin
is "a FIN without answer, before a probe" "$(evidence silent)" "[(80, 'packet 10')]"
verdict_case silent
is "connections that fall silent" "$(text silent) $(evidence silent)" \
	"2 connections fell silent: what was sent last had no acknowledgement. The server 198.51.100.2 port 80, for example, was sent 3 retransmissions in 1.200 s and answered none, or the path to it is interrupted. [(80, 'packet 8'), (81, 'packet 13')]"
is "are no servers that do not answer" "$(evidence open-request)" "[(82, 'packet 14')]"
verdict_case spurious
is "nor is an end silent that has acknowledged what is sent again" \
	"$(data "'silent' in verdict") $(text retransmissions | sed 's/.*: //')" \
	"False 4 unneeded, because they were acknowledged already."
verdict_case half_open
is "handshakes that are never completed" "$(text half-open) $(evidence half-open)" \
	"2 connections were never established: the SYN-ACK had no ACK. It does not reach the client, or the SYN is one of a flood with wrong addresses; for example to 198.51.100.2 port 80. [(80, 'packet 6'), (81, 'packet 4')]"
verdict_case rejected
is "attempts that ICMP rejects" "$(text no-answer) $(evidence no-answer)" \
	"2 connection attempts had no answer: the host is away, or a firewall drops them; for example to 2 ports of 198.51.100.2, an address that answers other connections. 1 of them was rejected with ICMP unreachable (communication-prohibited) by 198.51.100.2. [(80, 'packet 2'), (81, '')]"
is "and DNS queries" "$(text dns)" \
	"1 DNS query was not answered in time; the first by 198.51.100.2 port 53, rejected with ICMP unreachable (port) by 198.51.100.2."
verdict_case scan
is "a scan, and a SYN at the end of the capture" "$(text no-answer)" \
	"20 connection attempts had no answer: the host is away, or a firewall drops them; for example to 20 ports of 198.51.100.2, an address that answers other connections."
verdict_case queries
is "DNS queries without answer, and their packets" "$(text dns) $(evidence dns)" \
	"2 DNS queries were not answered in time; the first by 198.51.100.2 port 53. [(53, 'packet 3'), (53, 'packet 4')]"
report "$tmp/queries.pcap" --top=0 >"$tmp/page"
is "packets are found without details" "$(evidence dns)" "[(53, 'packet 3'), (53, 'packet 4')]"

# --------------------------------------------------------------------------------------------------- real captures

# numbering NAME REASONS ARGUMENT...: why the numbers of packets are not those of Wireshark
numbering() {
	numbering_name=$1 numbering_reasons=$2
	shift 2
	report "$@" >"$tmp/page" 2>/dev/null
	is "numbers of packets: $numbering_name" "$(data "','.join(data['numbering'])")" "$numbering_reasons"
}

python3 "$top/tests/tools/report/link_types.py" "$tmp/links.pcapng"
numbering "of one capture" "" "$captures/questions.pcap"
numbering "of several, with a filter" files,filter -f tcp "$captures/questions.pcap" "$captures/http.pcap"
numbering "of a part of its time" window -o --from=2023-11-14T22:13:30Z "$captures/questions.pcap"
numbering "of frames with another link type" links "$tmp/links.pcapng"

# Numbers of packets as in Wireshark: frames of evidence are those that tshark finds.
page "a page of a capture with losses" "$captures/questions.pcap"
is "the evidence of refusals" "$(data "[e[1] for e in verdict['refused']['evidence']]")" "[37, 39, 41, 43, 48]"
if have tshark; then
	is "as tshark finds them" "$(tshark -r "$captures/questions.pcap" -Y 'tcp.flags.reset == 1 && tcp.flags.ack == 1' -T fields -e frame.number |
		sed 5q | paste -s -d ' ' - | sed 's/ /, /g')" "37, 39, 41, 43, 48"
	is "frames and bytes" "$(data "[data['frames'], data['bytes'], sum(sum(p['frames']) for p in data['volume'])]")" \
		"$(tshark -r "$captures/questions.pcap" -T fields -e frame.len | awk '{ sum += $1 } END { printf "[%d, %.0f, %d]", NR, sum, NR }')"
	for capture in home-network http smb ipv6-http questions tls iscsi dns-tcp reordered-data tcp-urgent \
		vlan-refused-reuse captured-twice; do
		capture=$capture.pcap
		report "$captures/$capture" >"$tmp/page"
		data "'\n'.join(str(s[1]) for d in data['details'] for s in d['segments'])" | sort -n >"$tmp/ours"
		data "'\n'.join('tcp.port == %d && tcp.port == %d || ' % (r[4], r[6]) for r in data['rows'] if r[19] >= 0)" |
			tr -d '\n' | sed 's/ || $//' >"$tmp/filter"
		tshark -r "$captures/$capture" -Y "tcp && !icmp && !icmpv6 && ($(cat "$tmp/filter"))" -T fields -e frame.number 2>"$tmp/err" |
			sort -n >"$tmp/theirs"
		check "$capture: the segments of the connections in detail are those of tshark" diff "$tmp/theirs" "$tmp/ours"
	done
	for capture in suricata-verify/syn_retransmit_with_ts.pcap.gz suricata-verify/input-23.pcap; do
		report "$captures/$capture" >"$tmp/page"
		data "'\n'.join('%d %d' % (s[1], s[9]) for d in data['details'] for s in d['segments'] if s[9])" >"$tmp/ours"
		tshark -r "$captures/$capture" -o tcp.relative_sequence_numbers:false -Y tcp.options.sack_re -T fields \
			-e frame.number -e tcp.options.sack_re |
			awk '{ n = split($2, edge, ","); for (i = high = 1; i <= n; i++) if (edge[i] > edge[high]) high = i; print $1, edge[high] }' \
				>"$tmp/theirs"
		check "$capture: the highest SACKed bytes are those of tshark" diff "$tmp/theirs" "$tmp/ours"
	done
else
	skip "frames of tshark" "tshark is not installed"
fi

report "$captures/http.pcap" --top 3 >"$tmp/page"
is "--top" "$(data "[len(data['details']), sum(r[19] >= 0 for r in data['rows']), data['connections']]")" "[3, 3, 36]"
report "$captures/http.pcap" --top=0 >"$tmp/page"
is "--top=0" "$(data "[data['details'], data['connections']]")" "[[], 36]"
report -f 'tcp port 80' "$captures/questions.pcap" "$captures/http.pcap" >"$tmp/page"
is "-f and two captures" "$(data "[data['filter'], len(data['files']), data['frames'], data['connections']]")" \
	"['tcp port 80', 2, 32, 3]"
frames=$("$netobsd" -r "$captures/questions.pcap" --summary 'tcp port 80 or port 53' 2>&1 |
	awk '$1 == "frames" { print $2 }')
report -f 'tcp port 80' -f 'or port 53' "$captures/questions.pcap" >"$tmp/page"
is "several -f are one filter" "$(data "[data['filter'], data['frames']]")" \
	"['tcp port 80 or port 53', $frames]"
report "$captures/empty.pcap" >"$tmp/page"
is "a capture without frames" "$? $(data "[data['frames'], data['rows'], data['volume']]")" "0 [0, [], []]"
is "of which nothing can be said" "$(data "data['verdict'][0]['text']")" \
	"There is no packet: nothing was captured, or nothing passes the filter."
report "$captures/icmpv6-mld.pcap" >"$tmp/page"
is "a capture without connections" "$? $(data "[data['connections'], data['details'], data['frames']]")" "0 [0, [], 1]"
is "ICMPv6 behind an option of a router" "$(data "[p['name'] for p in data['volume']]")" "['ICMP']"
python3 "$top/tests/tools/report/extended.py" "$tmp/extended.pcap"
report "$tmp/extended.pcap" >"$tmp/page"
is "TCP and UDP behind options, and a fragment" "$(data "[[p['name'], sum(p['frames'])] for p in data['volume']]")" \
	"[['TCP', 1], ['UDP', 1], ['other IP', 1]]"
report "$captures/null-tcp.pcap" >"$tmp/page"
is "a connection of an address with itself counts once" \
	"$(data "[[t[0], t[3]] for t in data['talkers']]")" "[['127.0.0.1', 1], ['::1', 1]]"
python3 "$top/tests/tools/report/many_resets.py" "$tmp/resets.pcap"
report "$tmp/resets.pcap" >"$tmp/page"
is "a flood of RST is cut behind the segments of its end, and shows its beginning" \
	"$(data "(lambda s: [sum(1 for x in s if x[2] == 0), sum(1 for x in s if x[2] == 1)])(data['details'][0]['segments'])")" "[3, 2100]"
python3 "$top/tests/tools/report/reset_cases.py" "$tmp/resets.pcap"
report "$tmp/resets.pcap" >"$tmp/page"
is "which end has reset, and when" "$(text reset)" "4 connections were reset, 2 by the client and 2 by the server: 1 before it was established, 1 after its own FIN, because the program had closed already, which is usually harmless, 1 after the FIN of the other end, as some programs close; for example with 198.51.100.2 port 80."
is "the packets are the RST that had an effect" "$(data "[e[1] for e in verdict['reset']['evidence']]")" "[7, 17, 22, 14]"
# Frames at 1970 and in 2106.
python3 - "$tmp/far.pcap" <<'PYTHON'
import struct, sys
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for second in (0, 0xFFFFFFFF, 1):
        file.write(struct.pack("<IIII", second, 0, 60, 60) + bytes(60))
PYTHON
report "$tmp/far.pcap" >"$tmp/page" 2>"$tmp/err"
is "the farthest time stamps" "$? $(data "[data['frames'], data['duration'], data['stray'], data['bins'] <= 240]")" "0 [3, 1000000, 1, True]"
report "$captures/broken-record.pcap" >"$tmp/page" 2>"$tmp/err"
is "a damaged capture is reported" "$? $(grep -c 'broken-record.pcap ends unexpectedly' "$tmp/err")" "2 1"
is "and the page says so first" "$(data "data['verdict'][0]['text'][:77]")" \
	"The capture is damaged or incomplete, and this page ends where it breaks off."

# ------------------------------------------------------------------------------------------------- what is in a page

page "a page" "$captures/http.pcap"
is "nothing is loaded from elsewhere" "$(grep -oE "(https?:)?//[a-z][^\"' ]*" "$tmp/page" | sort -u)" "http://www.w3.org/2000/svg"
is "and the policy forbids it" "$(grep -c "Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-[^ ]*'; style-src 'sha256-[^ ]*'; base-uri" "$tmp/page")" 1
name=$(printf "%s/<\\\\/script>\"'&\351.pcap" "$tmp" | tr / _)
cp "$captures/http.pcap" "$tmp/$name"
(cd "$tmp" && report "$name" >"$tmp/page")
is "no name ends an element" "$(grep -c '</script>' "$tmp/page") $(data "'</script>' in data['files'][0].replace('_', '/').replace(chr(92), '')")" "2 True"

# ----------------------------------------------------------------------------------------------------------- mistakes

# refuses NAME MESSAGE ARGUMENT...: fails with a message that contains this, and writes no page
refuses() {
	refuses_name=$1 refuses_message=$2
	shift 2
	report "$@" >"$tmp/page" 2>"$tmp/err" </dev/null
	is "$refuses_name" "$? $(grep -c -e "$refuses_message" "$tmp/err") $(wc -c <"$tmp/page")" "1 1 0"
}

refuses "no capture" "give at least one capture"
refuses "a missing capture" "cannot read $tmp/missing.pcap" "$tmp/missing.pcap"
refuses "standard input" "reads a capture twice" -
mkfifo "$tmp/pipe"
refuses "a pipe" "must be a regular file" "$tmp/pipe"
refuses "a file that is no capture" "unknown file format" "$top/README.md"
refuses "an option that the report sets" "sets this option of netobsd itself, or cannot be made with it: --view=host" \
	-o --view=host "$captures/http.pcap"
refuses "its beginning" "cannot be made with it: --list" -o --list "$captures/http.pcap"
refuses "a short option" "-o takes an option of netobsd with its dashes, .*, not -p" -o -p "$captures/http.pcap"
refuses "an unknown option of netobsd" "unknown or ambiguous option --tcp-idel" -o --tcp-idel=5 "$captures/http.pcap"
refuses "a wrong filter" "filter" -f 'foo bar' "$captures/http.pcap"
refuses "--top beyond its range" "0 to 500, not 501" --top 501 "$captures/http.pcap"
refuses "--for without an interface" "for which -i INTERFACE is captured" --for 5s "$captures/http.pcap"
refuses "a duration" "such as 60s, 5m or 1h" -i lo --for 5x
refuses "an interface and a capture" "not of both" -i lo "$captures/http.pcap"
refuses "two interfaces" "not also of lo" -i lo -i lo
refuses "an interface that is not there" "cannot capture netobs-none" -i netobs-none
setpriv --bounding-set -net_raw "$top/scripts/netobs" report -i lo --for 1 >"$tmp/page" 2>"$tmp/err"
is "an interface without permission" "$? $(grep -c 'cannot capture lo: .*; run netobs report as root$' "$tmp/err")" "1 1"
refuses "an option of conns" "are of netobs conns" --sort client "$captures/http.pcap"

# fails NAME MESSAGE LINE: with a netobsd that is a script of this line
fails() {
	printf '#!/bin/sh\n%s\n' "$3" >"$tmp/netobsd"
	chmod +x "$tmp/netobsd"
	"$build/netobs-report" --netobsd="$tmp/netobsd" "$captures/http.pcap" >"$tmp/page" 2>"$tmp/err"
	is "$1" "$? $(cat "$tmp/err") $(wc -c <"$tmp/page")" "1 netobs-report: $2 0"
}

fails "a netobsd that a signal ends" "the replay was ended by signal 9, Killed" 'kill -9 $$'
fails "one that fails in the second pass" "netobsd failed when it read the captures again" \
	"case \"\$*\" in *report-segment*) exit 1;; esac; exec '$netobsd' \"\$@\""
"$build/netobs-report" --netobsd="$tmp/none" "$captures/http.pcap" >"$tmp/page" 2>"$tmp/err"
is "no netobsd" "$? $(cat "$tmp/err")" "1 netobs-report: cannot run $tmp/none: No such file or directory"
if [ -c /dev/full ]; then
	report "$captures/http.pcap" 2>"$tmp/err" >/dev/full
	is "a full disk" "$? $(cat "$tmp/err")" "1 netobs-report: cannot write the page: No space left on device"
fi

# -------------------------------------------------------------------------------------------------------- an interface

mkdir "$tmp/small" || exit 99

if [ "$(id -u)" -eq 0 ] && have ip && ip netns add "$space" 2>/dev/null; then
	ip -n "$space" link set lo up
	TMPDIR=$tmp ip netns exec "$space" "$top/scripts/netobs" report -i lo --for 10m >"$tmp/page" 2>"$tmp/err" &
	pid=$!
	# The program is the last that the shell becomes; its socket is there when it captures.
	capturing() {
		ip netns exec "$space" awk 'NR > 1 { n++ } END { exit !n }' /proc/net/packet
	}
	wait_for capturing
	wait_for grep -q 'captures lo for 600 s' "$tmp/err"
	ip netns exec "$space" python3 - <<-'PYTHON'
		import socket
		listener = socket.create_server(("127.0.0.1", 7001))
		client = socket.create_connection(("127.0.0.1", 7001))
		server = listener.accept()[0]
		client.sendall(b"x" * 1000)
		server.recv(1000, socket.MSG_WAITALL)
		for end in client, server, listener:
		    end.close()
		try:
		    socket.create_connection(("127.0.0.1", 7002))
		except ConnectionRefusedError:
		    pass
	PYTHON
	let_deliver
	kill -INT "$pid"
	wait "$pid"
	is "an interface, until SIGINT" "$?" 0
	is "its connections" "$(data "[(port, rows[port][7], rows[port][17]) for port in sorted(rows)]")" \
		"[(7001, 1000, 'fin'), (7002, 0, 'refused')]"
	is "the capture is gone" "$(find "$tmp" -name 'netobs-report.*')" ""
	ip netns exec "$space" "$top/scripts/netobs" report -i lo --for 1 >"$tmp/page" 2>"$tmp/err"
	is "--for ends it" "$?" 0
	TMPDIR=$tmp/none ip netns exec "$space" "$top/scripts/netobs" report -i lo --for 1 >"$tmp/page" 2>"$tmp/err"
	is "no place for the capture" "$? $(grep -c "cannot write to $tmp/none" "$tmp/err")" "1 1"
	if unshare -m mount -t tmpfs none "$tmp/small" 2>/dev/null; then
		# shellcheck disable=SC2016
		ip netns exec "$space" unshare -m sh -c 'mount -t tmpfs -o size=32k none "$1" && TMPDIR=$1 exec "$2" report -i lo' \
			- "$tmp/small" "$top/scripts/netobs" >"$tmp/page" 2>"$tmp/err" &
		pid=$!
		wait_for capturing
		ip netns exec "$space" python3 - <<-'PYTHON'
			import socket
			listener = socket.create_server(("127.0.0.1", 7003))
			client = socket.create_connection(("127.0.0.1", 7003))
			server = listener.accept()[0]
			for piece in range(100):
			    client.sendall(b"x" * 1000)
			    server.recv(1000, socket.MSG_WAITALL)
		PYTHON
		wait "$pid"
		is "no room for the capture: a page of what there is" \
			"$?-$(grep -c 'capture of lo breaks off, because it cannot be written: No space left' "$tmp/err")-$(data "rows[7003][17]")" \
			"2-1-capture-end"
	else
		skip "no room for the capture" "tmpfs cannot be mounted"
	fi
	pid=''
	if ip -n "$space" link add first type veth peer name second 2>/dev/null; then
		ip -n "$space" link set first up
		ip netns exec "$space" "$top/scripts/netobs" report -i first >"$tmp/page" 2>"$tmp/err" &
		pid=$!
		wait_for capturing
		ip -n "$space" link delete first
		wait "$pid"
		is "an interface that disappears" "$? $(grep -c 'the capture of first breaks off' "$tmp/err")" "2 1"
		is "and the page says so" "$(data "verdict['capture']['text'][:37]")" "The capture is damaged or incomplete,"
		pid=''
	else
		skip "an interface that disappears" "no veth here"
	fi
else
	skip "an interface" "root and network namespaces are needed"
fi

# ------------------------------------------------------------------------------------------------------ size and time

if [ -x "$build/bench/gentrace" ] && ! grep -aqE '__(asan|ubsan|tsan|msan)_|__gcov_' "$build/netobs-report"; then
	"$build/bench/gentrace" -n 1000000 -c 1000 -l 400 "$tmp/million.pcap" || exit 99
	begin=$(date +%s)
	page "a million packets" "$tmp/million.pcap"
	spent=$(($(date +%s) - begin))
	is "all of them" "$(data "data['frames']")" 1000000
	check "fewer than 20 MB" test "$(wc -c <"$tmp/page")" -lt 20000000
	note "$(wc -c <"$tmp/page") bytes, $spent s, $(data "data['connections']") connections"
	check_speed "within 20 s, also on a busy machine" test "$spent" -le 20
	"$build/bench/gentrace" -n 1000000 -c 1000000 -k 3 "$tmp/million.pcap" || exit 99
	page "hundreds of thousands of connections" "$tmp/million.pcap"
	check "the page has the worst of them, and says how many there are" \
		test "$(data "len(data['rows']) == 20000 and data['connections'] > 250000 and len(data['rows']) < data['connections']")" = True
	check "fewer than 20 MB" test "$(wc -c <"$tmp/page")" -lt 20000000
else
	skip "size and time" "bench/gentrace is not built, or this is a build with sanitizers"
fi

tap_done
