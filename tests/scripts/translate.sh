#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/translate, on clauses in the manner of the examples in the documentation of the providers: its output,
# whether that is correct D, and whether bpftrace gets the results of the built-in printer.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

translate=$top/scripts/translate
usdt=usdt:/usr/sbin/netobsd:netobs

# becomes INPUT WANTED [WANTED-BY-BPFTRACE]
becomes() {
	is "$1" "$(printf '%s\n' "$1" | "$translate")" "$2"
	[ $# -lt 3 ] || is "$1, for bpftrace" "$(printf '%s\n' "$1" | "$translate" -b | sed 1d)" "$3"
}

becomes 'tcp:::receive' 'netobs*:::tcp-receive' "$usdt:tcp__receive"
becomes 'tcp:::accept-established' 'netobs*:::tcp-accept-established' "$usdt:tcp__accept__established"
becomes 'ip:::send, ip:::receive' 'netobs*:::ip-send, netobs*:::ip-receive' "$usdt:ip__send, $usdt:ip__receive"
becomes 'udp:::send,udp:::receive' 'netobs*:::udp-send,netobs*:::udp-receive'
becomes 'tcp:::connect-*' 'netobs*:::tcp-connect-*' "$usdt:tcp__connect__*"
becomes 'tcp:::' 'netobs*:::tcp-*' "$usdt:tcp__*"
becomes 'tcp:ip::send' 'netobs*:::tcp-send'
becomes 'tcp:kernel:tcp_input:receive' 'netobs*:::tcp-receive'
becomes 'sctp:::state-change' 'netobs*:::sctp-state-change'
becomes 'dccp:::send' 'netobs*:::dccp-send' "$usdt:dccp__send"
becomes '@[args[4]->dccp_dport] = count();' '@[args[4]->dccp_dport] = count();' \
	'@[((struct dccpinfo *)arg4)->dccp_dport] = count();'
becomes 'iscsi*:::scsi-command' 'netobs*:::iscsi-scsi-command' "$usdt:iscsi__scsi__command"
becomes 'iscsi*:::' 'netobs*:::iscsi-*'
becomes 'mib:::tcpActiveOpens' 'mib:::tcpActiveOpens'
becomes 'dtrace:::BEGIN' 'dtrace:::BEGIN' 'BEGIN'
becomes '@[args[4]->tcp_dport] = count();' '@[args[4]->tcp_dport] = count();' \
	'@[((struct tcpinfo *)arg4)->tcp_dport] = count();'
becomes 'tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]' \
	'args[5]->tcps_statestr, args[3]->tcps_statestr' \
	'((struct tcplsinfo *)arg5)->tcps_statestr, ((struct tcpsinfo *)arg3)->tcps_statestr'
becomes '/args[3]->tcps_state == TCP_STATE_SYN_SENT/' '/args[3]->tcps_state == NETOBS_TCP_SYN_SENT/'
becomes '(args[4]->tcp_flags & (TH_SYN|TH_PUSH))' '(args[4]->tcp_flags & (NETOBS_TH_SYN|NETOBS_TH_PSH))'
# The dollar sign is for bpftrace.
# shellcheck disable=SC2016
becomes 'this->length = args[2]->ip_plength - args[4]->tcp_offset;' \
	'this->length = args[2]->ip_plength - args[4]->tcp_offset;' \
	'$length = ((struct ipinfo *)arg2)->ip_plength - ((struct tcpinfo *)arg4)->tcp_offset;'

# Whole clauses.  Each selects what one line of the built-in printer's JSON contains.
cat >"$tmp/published.d" <<'D'
tcp:::accept-established
{
	@accepted[args[3]->tcps_raddr, args[3]->tcps_lport] = count();
}

tcp:::send
{
	@sent[args[2]->ip_daddr] = sum(args[2]->ip_plength - args[4]->tcp_offset);
}

tcp:::receive
/args[4]->tcp_flags & TH_SYN/
{
	@syn[args[2]->ip_saddr] = count();
}

tcp:::state-change
{
	@changes[tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]] = count();
}

ip:::send
/arg4 != 0/
{
	@protocols[args[2]->ip_saddr, args[4]->ipv4_protostr] = count();
}

udp:::receive
{
	@ports[args[4]->udp_dport] = sum(args[4]->udp_length);
}

tcp:::connect-refused
{
	@refused[args[2]->ip_saddr, args[4]->tcp_sport] = count();
}
D

[ -x "$netobsd" ] || skip_all "netobsd is not built"
"$translate" "$tmp/published.d" >"$tmp/own.d"
"$netobsd" --list-probes --format json >"$tmp/manifest"
check "published clauses become correct D for netobs" sh -c \
	"python3 '$top/tests/scripts/d_check.py' '$top/probes/netobs.h' '$tmp/own.d' <'$tmp/manifest'"

"$translate" -b "$tmp/published.d" >"$tmp/own.bt"
refused=$(tracing_refused)
name="published clauses by bpftrace count what the built-in printer prints"
if [ -n "$refused" ]; then
	skip "$name" "$refused"
	tap_done
fi
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
questions=$top/tests/captures/questions.pcap
"$top/scripts/netobs" "$tmp/own.bt" -r "$questions" 2>"$tmp/err" | grep . | sort >"$tmp/out"
"$NETOBSD" -r "$questions" --print --format json >"$tmp/firings"
python3 - "$tmp/firings" <<'PYTHON' | sort >"$tmp/wanted"
import collections, json, sys

answers = collections.Counter()
for firing in map(json.loads, open(sys.argv[1])):
    probe, a = firing["probe"], firing["args"]
    if probe == "tcp-accept-established":
        answers["@accepted[%s, %d]" % (a[3]["tcps_raddr"], a[3]["tcps_lport"])] += 1
    if probe == "tcp-send":
        answers["@sent[%s]" % a[2]["ip_daddr"]] += a[2]["ip_plength"] - a[4]["tcp_offset"]
    if probe == "tcp-receive" and a[4]["tcp_flags"] & 2:
        answers["@syn[%s]" % a[2]["ip_saddr"]] += 1
    if probe == "tcp-state-change":
        answers["@changes[%s, %s]" % (a[5]["tcps_statestr"], a[3]["tcps_statestr"])] += 1
    if probe == "ip-send" and a[4]:
        answers["@protocols[%s, %s]" % (a[2]["ip_saddr"], a[4]["ipv4_protostr"])] += 1
    if probe == "udp-receive":
        answers["@ports[%d]" % a[4]["udp_dport"]] += a[4]["udp_length"]
    if probe == "tcp-connect-refused":
        answers["@refused[%s, %d]" % (a[2]["ip_saddr"], a[4]["tcp_sport"])] += 1
for key, value in answers.items():
    print("%s: %d" % (key, value))
PYTHON
check "$name" diff -u "$tmp/wanted" "$tmp/out"

tap_done
