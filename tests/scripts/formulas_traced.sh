#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(1) with formulas and bpftrace: in place of probes of ready-made scripts, with the output of a filter of libpcap; in
# scripts of the user, on captures, live and on a running netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap

# fails NAME WANTED OPTION...: netobs fails with one line that begins with WANTED
fails() {
	fails_name=$1
	fails_wanted=$2
	shift 2
	"$netobs" "$@" >"$tmp/out" 2>&1 </dev/null
	is "$fails_name: status" $? 1
	case $(cat "$tmp/out") in
	"$fails_wanted"*) check "$fails_name" test "$(wc -l <"$tmp/out")" -eq 1 ;;
	*) not_ok "$fails_name" "$tmp/out" ;;
	esac
}

name="busybox awk: the parts of a formula"
if have busybox; then
	is "$name" "$(definition='f=tcp-*,udp-send where tcp_flagstr == ", 3 times"' \
		known='tcp-send tcp-receive udp-send' script=s given=yes probes='tcp-receive udp-send' \
		busybox awk -v mode=replace -f "$top/scripts/formulas.awk")" \
		'tcp-receive f-tcp-receive f-tcp-receive = tcp-receive  where tcp_flagstr == ", 3 times"
udp-send f-udp-send f-udp-send = udp-send  where tcp_flagstr == ", 3 times"'
else
	skip "$name" "it is not installed"
fi

# firings PROBE EXPRESSION: their number
firings() {
	"$NETOBSD" -r "$home" --formula "n = $1 where $2" --print=n | wc -l | tr -d ' '
}

# ----------------------------------------------------------------------------------------------- in place of probes

# same NAME DEFINITION FILTER [ARGUMENT]...: the script with the formula prints what it prints of the frames that pass the
# filter of libpcap, and less than of all frames.  The three run at the same time, because bpftrace waits when it detaches.
same() {
	same_name=$1 same_formula=$2 same_filter=$3
	shift 3
	"$netobs" "$same_name" "$home" -F "$same_formula" "$@" >"$tmp/out" 2>>"$tmp/err" </dev/null &
	"$netobs" "$same_name" "$home" -f "$same_filter" "$@" >"$tmp/wanted" 2>>"$tmp/err" </dev/null &
	"$netobs" "$same_name" "$home" "$@" >"$tmp/all" 2>>"$tmp/err" </dev/null &
	wait
	sed -i 's/^ *[0-9][0-9]* //' "$tmp/out" "$tmp/wanted" "$tmp/all" # the id of a connection
	check "$same_name -F '$same_formula' prints the same as with -f '$same_filter'" diff -u "$tmp/wanted" "$tmp/out"
	! cmp -s "$tmp/all" "$tmp/out" && [ "$(wc -l <"$tmp/out")" -gt 1 ]
	is "$same_name: some of its output" $? 0
}

same hosts 'f = ip-send, ip-receive where ip_saddr == 192.168.0.1' 'src host 192.168.0.1'
same ipproto 'f = ip-send where ipv4_protocol == 17 || ipv6_nexthdr == 17' udp
same tcpbytes 'f = tcp-send, tcp-receive where tcp_sport == 2869 || tcp_dport == 2869' 'tcp port 2869'
same tcpio 'f = tcp-send, tcp-receive where pcap("tcp port 2869")' 'tcp port 2869'
same tcpconnlat 'f = tcp-connect-* where tcps_rport == 2869' 'tcp port 2869'
same tcplife 'f = tcp-state-change where tcps_lport == 2869 || tcps_rport == 2869' 'tcp port 2869'
same retransmits 'f = tcp-retransmit, tcp-receive, tcp-state-change where tcps_lport == 21 || tcps_rport == 21' 'tcp port 21'
same webconn 'f = tcp-accept-established where tcps_rport in {2330..2339}' 'tcp portrange 2330-2339' 2869

# -------------------------------------------------------------------------------------------------- scripts of the user

cat >"$tmp/mine.bt" <<-'BT'
	#include <netobs.h>
	usdt:NETOBSD:netobs:opened__2, usdt:NETOBSD:netobs:closed
	{
		@[probe, ((struct tcpsinfo *)arg3)->tcps_lport] = count();
	}
	usdt:NETOBSD:netobs:tcp__connect__established { @all = count(); }
	usdt:NETOBSD:netobs:tcp__connect__refused { @all = count(); printf("refused\n"); }
BT
opened='opened-2 = tcp-connect-established where tcps_lport in {59885..59887}'
closed='closed = tcp-state-change where tcps_lport == 80 && tcps_rport == 59885'
cat >"$tmp/conf" <<-END
	formula = {"$opened",
	"$closed"}
END
cat >"$tmp/wanted" <<-END
	@[usdt:formulas.so:netobs:closed, 80]: $(firings tcp-state-change 'tcps_lport == 80 && tcps_rport == 59885')
	@[usdt:formulas.so:netobs:opened__2, 59885]: 1
	@[usdt:formulas.so:netobs:opened__2, 59886]: 1
	@[usdt:formulas.so:netobs:opened__2, 59887]: 1
END
echo "@all: $("$NETOBSD" -r "$home" --print=tcp-connect-established,tcp-connect-refused | wc -l | tr -d ' ')" >>"$tmp/wanted"

# mine OPTION...: the script of the user prints what is wanted
mine() {
	"$netobs" "$tmp/mine.bt" "$home" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	sed -n '/^@/s|:[^:]*/formulas.so|:formulas.so|p' "$tmp/out" | sort >"$tmp/got"
	grep '^@all' "$tmp/out" >>"$tmp/got"
	check "a script of the user, with $1" diff -u "$tmp/wanted" "$tmp/got"
}

mine -F "$opened" -F "$closed"
mine -o "--formula=$opened" -o "--formula=$closed"
mine -o "--config=$tmp/conf"
mine -F closed -o "--config=$tmp/conf"
mine "--formula=$opened" -o "--formula-file=$tmp/formulas.so" -o "--formula=$closed"
sed 's/opened__2/opened*/' "$tmp/mine.bt" >"$tmp/any.bt" && mv "$tmp/any.bt" "$tmp/mine.bt"
mine -F "$opened" -F "$closed"
fails "a formula that is not defined" 'netobsd: --wait-probes: there is no probe "closed"' "$tmp/mine.bt" -F "$opened" "$home"

# ------------------------------------------------------------------------------------------ live, and a running netobsd

space=netobs-script-formulas-$$
if ! have ip nsenter; then
	skip "live" "ip or nsenter is not installed"
	tap_done
elif ! namespaces "$space"; then
	skip "live" "$kernel_refusal"
	tap_done
fi
ip -n "$space" link set lo up
cp -- "$build/netobsctl" "$tmp/netobsctl" || exit 99
cat >"$tmp/live.bt" <<-'BT'
	#include <netobs.h>
	usdt:NETOBSD:netobs:discard
	{
		printf("discard %s\n", ((struct tcpinfo *)arg4)->tcp_flagstr);
	}
	usdt:NETOBSD:netobs:tcp__connect__refused { printf("refused\n"); }
	END { printf("the end\n"); }
BT

# run OPTION...: netobs in the background, which signals end
run() {
	env --default-signal=HUP,INT,QUIT nsenter --net="/run/netns/$space" "$netobs" "$@" >"$tmp/out" 2>"$tmp/err" &
	running=$!
}

# refused PORT LINE: a connection is refused, and netobs prints a line
refused() {
	ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" knock 127.0.0.1 "$1"
	grep -q "$2" "$tmp/out"
}

# end: one signal ends netobs; its status
end() {
	kill -TERM "$running"
	if wait_up_to 120 tap_gone "$running"; then
		wait "$running"
	else
		not_ok "one signal ends netobs" "$tmp/err"
		false
	fi
}

# ends NAME LINES: netobs ends, and its output, sorted and without repetitions, is that
ends() {
	end
	is "$1: status" $? 0
	is "$1: output" "$(awk 'NF && !seen[$0]++' "$tmp/out" | sort | paste -s -d , -)" "$2"
	is "$1: no complaint" "$(cat "$tmp/err")" ""
}

definition='discard = tcp-receive where tcp_dport == 9 && tcp_flags & SYN uncounted'
run "$tmp/live.bt" -i lo -F "$definition" -o --immediate
check "live: a firing of the formula" wait_while "$running" refused 9 discard
check "live: a firing of a probe" wait_while "$running" refused 7 refused
ends "live" "discard SYN,refused,the end"

# start OPTION...: a netobsd, in $pid
start() {
	ip netns exec "$space" "$NETOBSD" -i lo --immediate "$@" 2>"$tmp/netobsd.err" &
	pid=$!
	wait_while "$pid" observing "$pid" 1 || cat "$tmp/netobsd.err" >&2
}

stop() {
	kill -TERM "$pid"
	wait "$pid"
}

start --formula "$definition"
run "$tmp/live.bt" -p "$pid"
check "a running netobsd without requests: a firing" wait_while "$running" refused 9 discard
ends "a running netobsd without requests" "discard SYN,refused,the end"
fails "the name of a formula, without requests" "netobs: netobsd $pid answers no requests, so the probes of its formulas are unknown" \
	tcpio -F discard -p "$pid"
fails "a definition for a running netobsd" "netobs: a running netobsd takes definitions from netobsctl: netobsctl define 'f = tcp-send'," \
	tcpio -F 'f = tcp-send' -p "$pid"
sed 's/discard$/discart/' "$tmp/live.bt" >"$tmp/misspelt.bt"
fails "a formula that netobsd does not have" "netobs: netobsd has no probe and no formula discart (did you mean discard?)" \
	"$tmp/misspelt.bt" -p "$pid"
stop

start --formula "$definition" --control "$tmp/control" --formula-file "$tmp/running.so"
"$tmp/netobsctl" -s "$tmp/control" define 'later = tcp-receive where tcp_dport == 7 && tcp_flags & SYN uncounted' >/dev/null

# receives PORT: connections to two ports are refused, and the script prints a segment that the end with this port receives
receives() {
	refused 7 " $1 <- " || refused 9 " $1 <- "
}

run tcpio -F discard -p "$pid"
check "a ready-made script with a formula of a running netobsd" wait_while "$running" receives 9
end
is "a ready-made script with a formula of a running netobsd: status" $? 0
is "its formula alone" "$(awk '/ <- / { print $2 }' "$tmp/out" | sort -u)" 9
run tcpio -F later -p "$pid"
check "with a formula that was requested" wait_while "$running" receives 7
end
is "with a formula that was requested: status" $? 0
is "that formula alone" "$(awk '/ <- / { print $2 }' "$tmp/out" | sort -u)" 7
mkdir "$tmp/foreign" && cp -- "$NETOBSD" "$tmp/foreign/netobsd" || exit 99
printf '#!/bin/sh\n: >"%s"\n' "$tmp/executed" >"$tmp/foreign/netobsctl"
chmod +x "$tmp/foreign/netobsctl"
own_pid=$pid own_netobsd=$NETOBSD
NETOBSD=$tmp/foreign/netobsd
start --control "$tmp/foreign.control"
NETOBSD=$own_netobsd
fails "a name, with another netobsctl beside the running netobsd" "netobs: no formula is called absent" tcpio -F absent -p "$pid"
[ ! -e "$tmp/executed" ]
is "that netobsctl is not executed" $? 0
stop
pid=$own_pid
rm "$tmp/running.so" # as a new version replaces it
sed 's/discard$/later/' "$tmp/live.bt" >"$tmp/later.bt"
run "$tmp/later.bt" -p "$pid"
check "a script of the user with a formula that was requested, whose file was replaced" wait_while "$running" refused 7 discard
ends "a script of the user with a formula that was requested" "discard SYN,refused,the end"
fails "a formula that the running netobsd does not define" \
	"netobs: no formula is called latest (did you mean later?); define it: netobsctl define 'latest = PROBE where EXPRESSION'" \
	tcpio -F latest -p "$pid"
stop

tap_done
