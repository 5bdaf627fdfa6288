#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Answers of the scripts that were wrong or missing: what a server takes and what a client waits for, windows that stay
# closed, open connections, replays of every duration.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
have python3 || skip_all "python3 is not installed"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap

# answer OPTION...: the output of netobs in $tmp/out
answer() {
	"$netobs" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || cat "$tmp/err" >>"$tmp/out"
}

# value MAP: the number after the only key of a map
value() {
	sed -n "s/^@$1\\[.*: //p" "$tmp/out"
}

# ------------------------------------------------------------------------------------------------------- slow, but which end

slow_client=$shared/cases/latency3.pcapng
slow_server=$shared/cases/latency4.pcapng
if [ -r "$slow_client" ] && [ -r "$slow_server" ]; then
	answer outbound "$slow_client"
	is "outbound: a client that waits 1.3 s before its request is not a slow server" "$(value answer_us)" 62303
	answer outbound "$slow_server"
	is "outbound: a server that takes a second" "$(value answer_us)" 1030919
	answer tcp1stbyte "$slow_client"
	check "tcp1stbyte: the client" grep -q '^\[32K, 64K) *1 |' "$tmp/out"
	answer tcp1stbyte "$slow_server"
	check "tcp1stbyte: the server" grep -q '^\[512K, 1M) *1 |' "$tmp/out"
else
	skip "a slow client and a slow server" "no captures in $shared/cases"
fi

# ------------------------------------------------------------------------------------------------------------ closed windows

dead=$shared/cases/tcp_zerowindowdead.pcapng
if [ -r "$dead" ]; then
	answer tcp_rwndclosed "$dead"
	is "a window that is never opened again" "$(grep '^@' "$tmp/out")" \
		"@never_opened[172.31.136.85, 38760, 195.81.202.68, 80]: 23731524"
else
	skip "a window that is never opened again" "no captures in $shared/cases"
fi
# The same window without the segment that opens it.
answer tcp_rwndclosed "$captures/questions.pcap" -f 'not (src port 40001 and tcp[14:2] = 4000 and tcp[tcpflags] = tcp-ack)'
is "a window that a FIN opens is not a closed window" "$(grep -c never_opened "$tmp/out")" 0
answer tcp_rwndclosed "$captures/questions.pcap" -f 'not src port 40001 or tcp[14:2] = 0 or tcp[tcpflags] & tcp-syn != 0'
is "a window that stays closed" "$(grep '^@never' "$tmp/out")" "@never_opened[192.0.2.10, 40001, 192.0.2.80, 80]: 0"

# ------------------------------------------------------------------------------------------------------------ retransmissions

local_host="-o --view=host -o --local=192.168.0.13"
# shellcheck disable=SC2086
answer retransmits "$home" $local_host
is "retransmits, in the view of a host: downloads" "$(grep -c '^@again\[received, 192.168.0.1, 80, 192.168.0.13, ' "$tmp/out")" 19
is "retransmits, in the view of a host: its own" "$(grep '^@again.timeout' "$tmp/out")" \
	"@again[timeout, 192.168.0.13, 59898, 192.168.0.10, 21]: 3"

# ---------------------------------------------------------------------------------------------------------------- connections

answer tcplife "$captures/ipv6-http.pcap"
is "tcplife: the client is L although both ends are local; an IPv6 address and its port are two columns" \
	"$(sed 1d "$tmp/out" | tr -s ' ')" " 1 -1 <unknown> 2001:db8::10 43210 2001:db8:1::5 80 18 0 0 0"
answer tcplife "$captures/questions.pcap" -f 'port 40001 and tcp[tcpflags] & tcp-fin = 0'
is "tcplife: a connection that is still open" "$(sed 1d "$tmp/out")" "@open[1, 192.0.2.10, 40001, 192.0.2.80, 80]: 12"
answer tcplife "$home"
is "tcplife: each connection once" "$(sed 1d "$tmp/out" | wc -l | tr -d ' ')" 80
# shellcheck disable=SC2086
answer tcplife "$home" $local_host
is "tcplife: each connection once, in the view of a host" "$(sed 1d "$tmp/out" | wc -l | tr -d ' ')" 80

# Each RST that ends an established connection is one line, with the ends of the segment.
answer resets "$captures/pppoe-qinq-reset.pcap"
is "resets: the end that sends the RST, its state and its bytes" "$(sed 1d "$tmp/out" | tr -s ' ')" \
	" 0 1 -1 <unknown> 10.3.65.35 5068 185.8.212.46 80 local state-close-wait 1036 600"
answer resets "$captures/pppoe-qinq-reset.pcap" -o --view=host -o --local=185.8.212.46
check "resets: the end that receives the RST" grep -q ' 185.8.212.46 *80 *10.3.65.35 *5068 remote state-' "$tmp/out"
answer resets "$captures/one-tcp-rst.pcap"
is "resets: a refused connection was not reset" "$(sed 1d "$tmp/out")" ""

# Time stamps that decrease: a time before the first event is 0.
python3 "$top/tests/scripts/backwards.py" "$home" "$tmp/backwards.pcap"
answer resets "$tmp/backwards.pcap"
is "resets: a time before the first reset is 0" \
	"$(sed 1d "$tmp/out" | awk '$1 > 1000000 { late = 1 } END { print (NR > 4), late + 0 }')" "1 0"
answer tcplife "$tmp/backwards.pcap" -f 'tcp[tcpflags] & (tcp-fin | tcp-rst) = 0'
is "tcplife: a time before the first event is 0" \
	"$(grep '^@open' "$tmp/out" | awk '$NF > 1000000 { late = 1 } END { print (NR > 4), late + 0 }')" "1 0"
for script in outbound tcp1stbyte tcpconnlat tcpstate; do
	answer "$script" "$tmp/backwards.pcap"
	check "$script: it has an answer" grep -q '[0-9][0-9]' "$tmp/out"
	is "$script: a time between events that decrease is 0" "$(grep -cE '[0-9]{12}|[0-9]M,|[GTPE],' "$tmp/out")" 0
done

# -------------------------------------------------------------------------------------------------------------------- timeline

answer timeline 40002 "$captures/questions.pcap"
is "timeline: each segment once" "$(grep -c -e '->.*[A-Z]$' "$tmp/out")" \
	"$("$NETOBSD" -r "$captures/questions.pcap" --view=monitor --print=tcp-receive 'port 40002' | wc -l | tr -d ' ')"
scaled=$captures/mptcp-fclose.pcap
answer timeline 2002 "$scaled"
"$NETOBSD" -r "$scaled" --print=tcp-send --format json 'port 2002' | python3 "$top/tests/scripts/scripts_truth.py" windows >"$tmp/wanted"
awk '/->.*[A-Z]$/ { print $10 }' "$tmp/out" >"$tmp/windows"
check "timeline: windows are scaled" diff -u "$tmp/wanted" "$tmp/windows"
for end in 192.0.2.10 192.0.2.80; do
	answer timeline 40002 "$captures/questions.pcap" -o --view=host -o --local=$end
	is "timeline: SYN and SYN,ACK have the number 0 in the view of $end" "$(awk '/ SYN/ { print $NF, $8 }' "$tmp/out")" "SYN 0
SYN|ACK 0"
done
answer timeline 2002 "$scaled"
is "timeline: the first segment is at 0, with number 0" "$(awk '/ SYN$/ { print $1, $8; exit }' "$tmp/out")" "0 0"

answer timeline 4 "$captures/questions.pcap"
is "timeline: a port that no segment has" "$(sed 1d "$tmp/out")" "no segment has port 4"
answer timeline 40002 "$captures/questions.pcap"
is "timeline: a port that segments have" "$(grep -c '^no segment' "$tmp/out")" 0

# ----------------------------------------------------------------------------------------------------- a replay of any duration

answer tcptop "$home"
cp "$tmp/out" "$tmp/fast"
answer tcptop "$home" -o --pace=14
check "tcptop: a replay that takes longer than an interval gives the same answer" diff -u "$tmp/fast" "$tmp/out"
is "tcptop: one table" "$(grep -c '^missed' "$tmp/out")" 1

tap_done
