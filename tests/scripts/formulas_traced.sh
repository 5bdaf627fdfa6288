#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(1) with formulas: in place of the probes of every ready-made script, with the same output if the formula has no
# expression, else with that of a filter of libpcap; and in scripts of the user, on captures, live and on a running netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap
examples=$top/scripts/examples

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

# ------------------------------------------------------------------------------------------- without any tracer at all

fails "a formula of other probes" "netobs: formula f is of udp-send; hosts has no such probe, it has ip-receive, ip-send" \
	hosts -F 'f = udp-send' "$home" --print
fails "a formula of patterns of other probes" "netobs: formula f is of tcp-?end, udp-*; hosts has no such probe" \
	hosts -F 'f = tcp-?end, udp-*' "$home" --print
fails "a mistake in a definition" "netobsd: --formula f = ip-send where ip_sadr == 1: column 19: no field is called ip_sadr" \
	hosts -F 'f = ip-send where ip_sadr == 1' "$home" --print
fails "a name without a definition" "netobs: no formula is called f; define it: -F 'f = PROBE where EXPRESSION'" \
	hosts -F f "$home" --print
fails "a misspelt name" "netobs: no formula is called localhots (did you mean localhost?); define it: -F " \
	hosts -F localhots -o '--formula=localhost = ip-send' "$home" --print
fails "neither a name nor a definition" "netobs: -F takes a definition, 'NAME = PROBE where EXPRESSION', or the name" \
	hosts -F 'ip send' "$home" --print
fails "two formulas of a probe" "netobs: two formulas of ip-send: hosts can have one of them in its place" \
	hosts -F 'f = ip-send' -F 'g = ip-send, ip-receive' "$home" --print
fails "a threshold for several probes" "netobs: formula f counts the firings of several probes together, which hosts cannot tell" \
	hosts -F 'f = ip-send, ip-receive where ip_ver == 4, 3 times in 1s' "$home" --print
fails "a configured formula of several probes" "netobs: formula f is of several probes, which hosts cannot tell apart: give its" \
	hosts -F f -o '--formula=f = ip-send, udp-send' "$home" --print

# prints WANTED OPTION...: netobs --print prints the firings of WANTED (probes with commas), with these numbers of firings
prints() {
	prints_wanted=$1
	shift
	"$netobs" "$@" --print "$home" -o --format=json 2>"$tmp/err" | sed 's/^{"probe":"\([^"]*\)".*/\1/' | sort | uniq -c |
		awk '{ printf "%s%s %d", (NR > 1 ? "," : ""), $2, $1 }' >"$tmp/out"
	is "--print: $*" "$(cat "$tmp/out")" "$prints_wanted"
}

# firings PROBE EXPRESSION: their number
firings() {
	"$NETOBSD" -r "$home" --formula "n = $1 where $2" --print=n | wc -l | tr -d ' '
}

sent=$(firings ip-send 'ip_saddr == 192.168.0.1')
received=$(firings ip-receive 'ip_saddr == 192.168.0.1')
all=$("$NETOBSD" -r "$home" --print=ip-send | wc -l | tr -d ' ')
check "firings are counted: $sent, $received of $all" test "$sent" -gt 0 -a "$received" -gt 0 -a "$sent" -lt "$all"
prints "f $received,ip-send $all" hosts -F 'f = ip-receive where ip_saddr == 192.168.0.1'
prints "f $received,ip-send $all" hosts --formula='f=ip-receive, udp-send where ip_saddr == 192.168.0.1 uncounted'
prints "f-ip-receive $received,f-ip-send $sent" hosts -F '
f = ip-receive, ip-send
	where ip_saddr == 192.168.0.1'
prints "f-ip-receive $received,f-ip-send $sent" hosts -F 'f=ip-send,ip-receive where ip_saddr == 192.168.0.1'
prints "f $received,ip-send $all" hosts --formula f -o '--formula=f = ip-receive where ip_saddr == 192.168.0.1'
prints "f $received,g $sent" hosts -F 'f = ip-receive where ip_saddr == 192.168.0.1' -F 'g = ip-send where ip_saddr == 192.168.0.1'
cat >"$tmp/conf" <<-'END'
	formula = {"other = tcp-send where tcp_flagstr == \"}\"", "f = ip-receive
	where ip_saddr ~ \"192.168.0.1\""}
END
prints "f $received,ip-send $all" hosts -F f -o "--config=$tmp/conf"
long=a-formula-with-a-name-of-forty-characters
prints "$(echo $long | cut -c 1-29)-ip-receive $received,$(echo $long | cut -c 1-32)-ip-send $sent" \
	hosts -F "$(echo $long | cut -c 1-40) = ip-send, ip-receive where ip_saddr == 192.168.0.1"
for awk in mawk 'busybox awk'; do
	# shellcheck disable=SC2086
	if have ${awk%% *}; then
		is "$awk: the parts of a formula" "$(definition='f=tcp-*,udp-send where tcp_flagstr == ", 3 times"' \
			known='tcp-send tcp-receive udp-send' $awk -v mode=replace -v script=s -v given=yes \
			-v probes='tcp-receive udp-send' -f "$top/scripts/formulas.awk")" \
			'tcp-receive f-tcp-receive f-tcp-receive = tcp-receive  where tcp_flagstr == ", 3 times"
udp-send f-udp-send f-udp-send = udp-send  where tcp_flagstr == ", 3 times"'
	else
		skip "$awk: the parts of a formula" "it is not installed"
	fi
done

# ---------------------------------------------------------------------------------------------------------- with DTrace

cat >"$tmp/mine.d" <<-'D'
	netobs*:::slow-2 { @ = count(); }
D
mkdir "$tmp/bin"
cat >"$tmp/bin/dtrace" <<-'SH'
	#!/bin/sh
	case $1 in
	-V) exec echo "dtrace: Oracle D 2.0" ;;
	-vV) exec printf 'dtrace: Oracle D 2.0\nThis is DTrace %s\n' "$RELEASE" ;;
	esac
	while [ "$1" != -p ]; do shift; done
	kill "$2"
	while [ "$1" != -s ]; do shift; done
	cat "$2"
SH
chmod +x "$tmp/bin/dtrace"
path=$PATH
if [ "$(id -u)" -eq 0 ]; then
	PATH=$tmp/bin:$PATH
	for RELEASE in 1.2.2 2.0.2 2.0.3-1; do
		export RELEASE
		fails "a formula with DTrace $RELEASE" "netobs: DTrace $RELEASE does not see formulas, but 2.0.4 and later do; use bpftrace" \
			"$tmp/mine.d" -F 'slow-2 = tcp-send' "$home" -t dtrace
	done
	for RELEASE in 2.0.4 2.0.11 2.1.0; do
		# The shell reports a netobsd that the tracer above ends before it handles signals.
		"$netobs" "$tmp/mine.d" -F 'slow-2 = tcp-send' "$home" -t dtrace 2>&1 | grep -vx Terminated >"$tmp/out"
		# The dollar sign is DTrace's.
		# shellcheck disable=SC2016
		is "a formula with DTrace $RELEASE" "$(cat "$tmp/out")" 'netobs$target:::slow-2 { @ = count(); }'
	done
	fails "a formula in place of a probe, with DTrace" "netobs: DTrace does not know the types of a formula's arguments, which hosts reads" \
		hosts -F 'f = ip-send' "$home" -t dtrace
	PATH=$path
else
	skip "with DTrace" "it needs root"
fi

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "on captures, interfaces and a running netobsd" "$refused"
	tap_done
fi

# --------------------------------------------------------------------------------- in place of a probe of each script

grep -v '^#' "$examples/LIST" >"$tmp/list"
while read -r name capture arguments; do
	probe=$(sed -n 's/^usdt:[^:]*:netobs:\([a-z_]*\).*/\1/p' "$top/scripts/bpftrace/$name.bt" | sed -e 's/__/-/g' -e q)
	# shellcheck disable=SC2086
	"$netobs" "$name" -F "every = $probe" "$captures/$capture" $arguments 2>"$tmp/err" </dev/null | sed 's/ *$//' >"$tmp/out"
	sed 1d "$examples/$name.txt" >"$tmp/wanted"
	check "$name prints its sample with a formula in place of ${probe:?}" diff -u "$tmp/wanted" "$tmp/out" || note "$(cat "$tmp/err")"
done <"$tmp/list"

# same NAME DEFINITION FILTER [ARGUMENT]...: the script with the formula prints what it prints of the frames that pass the
# filter of libpcap, and less than of all frames
same() {
	same_name=$1 same_formula=$2 same_filter=$3
	shift 3
	"$netobs" "$same_name" "$home" -F "$same_formula" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	"$netobs" "$same_name" "$home" -f "$same_filter" "$@" >"$tmp/wanted" 2>>"$tmp/err" </dev/null
	"$netobs" "$same_name" "$home" "$@" >"$tmp/all" 2>>"$tmp/err" </dev/null
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

# ----------------------------------------------------------------------------------------------- scripts of the user

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

# ---------------------------------------------------------------------------------------- live, and a running netobsd

space=netobs-script-formulas-$$ pid='' running=''
if ! have ip nsenter; then
	skip "live" "ip or nsenter is not installed"
	tap_done
elif ! ip netns add "$space" 2>/dev/null; then
	skip "live" "no network namespaces here"
	tap_done
fi
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; [ -z "$running" ] || kill "$running" 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
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
	ip netns exec "$space" python3 -c 'import socket, sys; socket.socket().connect_ex(("127.0.0.1", int(sys.argv[1])))' "$1"
	grep -q "$2" "$tmp/out"
}

gone() {
	! kill -0 "$1"
}

# end: ends netobs; its status.  bpftrace ignores a signal between two waits for firings, and then needs another one.
end() {
	kill -TERM "$running"
	wait_for gone "$running" || kill -TERM "$running"
	wait_for gone "$running" || kill -KILL "$running"
	wait "$running"
	end_status=$?
	running=''
	return "$end_status"
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
	pid=''
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
end || cat "$tmp/err" >&2
is "its formula alone" "$(awk '/ <- / { print $2 }' "$tmp/out" | sort -u)" 9
run tcpio -F later -p "$pid"
check "with a formula that was requested" wait_while "$running" receives 7
end || cat "$tmp/err" >&2
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
