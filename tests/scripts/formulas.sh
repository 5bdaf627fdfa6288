#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(1) with formulas in place of the probes of a ready-made script, without a tracer: --print, mistakes, a stand-in for
# DTrace.  tests/scripts/formulas_traced.sh has bpftrace.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
home=$top/tests/captures/home-network.pcap

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
	is "--print: $(echo "$*" | paste -s -d ' ' - | sed "s,$tmp/,,")" "$(cat "$tmp/out")" "$prints_wanted"
}

# firings PROBE EXPRESSION: their number
firings() {
	"$NETOBSD" -r "$home" --formula "n = $1 where $2" --print=n | wc -l | tr -d ' '
}

sent=$(firings ip-send 'ip_saddr == 192.168.0.1')
received=$(firings ip-receive 'ip_saddr == 192.168.0.1')
all=$("$NETOBSD" -r "$home" --print=ip-send | wc -l | tr -d ' ')
check "firings are counted" test "$sent" -gt 0 -a "$received" -gt 0 -a "$sent" -lt "$all"
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
is "mawk: the parts of a formula" "$(definition='f=tcp-*,udp-send where tcp_flagstr == ", 3 times"' \
	known='tcp-send tcp-receive udp-send' script=s given=yes probes='tcp-receive udp-send' mawk -v mode=replace \
	-f "$top/scripts/formulas.awk")" \
	'tcp-receive f-tcp-receive f-tcp-receive = tcp-receive  where tcp_flagstr == ", 3 times"
udp-send f-udp-send f-udp-send = udp-send  where tcp_flagstr == ", 3 times"'

# ---------------------------------------------------------------------------------------------------------- with DTrace

cat >"$tmp/mine.d" <<-'D'
	netobs*:::slow-2 { @ = count(); }
D
cat >"$tmp/other.d" <<-'D'
	netobs*:::tcp-send,
	netobs*:::tcp-receive, netobs_engine*:::batch-done { @ = count(); }
D
mkdir "$tmp/bin"
cat >"$tmp/bin/dtrace" <<-'SH'
	#!/bin/sh
	case $1 in
	-V) exec echo "dtrace: Oracle D 2.0" ;;
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
	"$netobs" "$tmp/mine.d" -F 'slow-2 = tcp-send' "$home" -t dtrace >"$tmp/out" 2>&1
	# The dollar signs are DTrace's.
	# shellcheck disable=SC2016
	is "a formula with DTrace" "$(cat "$tmp/out")" 'netobs$target:::slow-2 { @ = count(); }'
	"$netobs" "$tmp/other.d" -F 'slow-2 = tcp-send' "$home" -t dtrace >"$tmp/out" 2>&1
	# shellcheck disable=SC2016
	is "a formula in place of a probe, with DTrace" "$(cat "$tmp/out")" 'netobs$target:::slow-2,
netobs$target:::tcp-receive, netobs_engine$target:::batch-done { @ = count(); }'
	PATH=$path
else
	skip "with DTrace" "it needs root"
fi

tap_done
