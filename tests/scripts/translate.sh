#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/translate, on clauses in the manner of the examples in the documentation of the providers: its output, and whether
# that is correct D.  tests/scripts/translate_traced.sh runs it with bpftrace.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

translate=$top/scripts/translate
built "$netobsd"
netobsd=$(readlink -f "$netobsd")
usdt=usdt:$netobsd:netobs
export NETOBSD="$netobsd"

# becomes INPUT WANTED
becomes() {
	is "$1" "$(printf '%s\n' "$1" | "$translate")" "$2"
}

# for_bpftrace INPUT WANTED: a whole clause, or statements of a clause of tcp-send, for bpftrace
for_bpftrace() {
	case $1 in
	*:::*) for_bpftrace_input=$1 ;;
	*) for_bpftrace_input="tcp:::send { $1 }" ;;
	esac
	is "$1, for bpftrace" "$(printf '%s\n' "#pragma D option quiet" "$for_bpftrace_input" | "$translate" -b 2>&1 |
		sed -e 1,2d -e '/^END$/,$d' -e 's/^{ \(.*\) }$/\1/' | grep -v '^$' | paste -s -d ' ' - | sed "s|^$usdt:tcp__send ||")" "$2"
}

# refused SCRIPT MESSAGE [FLAG]: the line is named with the reason, and the exit status is 1
refused() {
	printf '%s\n' "$1" >"$tmp/refused.d"
	# shellcheck disable=SC2086
	(cd "$tmp" && "$translate" ${3--b} refused.d >refused.out) 2>"$tmp/refused" && echo "exit status 0" >>"$tmp/refused"
	is "refused: ${1:-an empty script}" "$(grep -v ': note: ' "$tmp/refused")" "translate: refused.d:$2"
}

becomes 'tcp:::receive' 'netobs*:::tcp-receive'
becomes 'tcp:::accept-established' 'netobs*:::tcp-accept-established'
becomes 'ip:::send, ip:::receive' 'netobs*:::ip-send, netobs*:::ip-receive'
becomes 'udp:::send,udp:::receive' 'netobs*:::udp-send,netobs*:::udp-receive'
becomes 'tcp:::connect-*' 'netobs*:::tcp-connect-*'
becomes 'tcp:::' 'netobs*:::tcp-*'
becomes 'tcp:ip::send' 'netobs*:::tcp-send'
becomes 'tcp:kernel:tcp_input:receive' 'netobs*:::tcp-receive'
becomes 'sctp:::state-change' 'netobs*:::sctp-state-change'
becomes 'dccp:::send' 'netobs*:::dccp-send'
becomes '@[args[4]->dccp_dport] = count();' '@[args[4]->dccp_dport] = count();'
becomes 'iscsi*:::scsi-command' 'netobs*:::iscsi-scsi-command'
becomes 'iscsi*:::' 'netobs*:::iscsi-*'
becomes 'netobs*:::tcp-send' 'netobs*:::tcp-send'
becomes 'mib:::tcpActiveOpens' 'mib:::tcpActiveOpens'
becomes 'dtrace:::BEGIN' 'dtrace:::BEGIN'
becomes '@[args[4]->tcp_dport] = count();' '@[args[4]->tcp_dport] = count();'
becomes 'tcp_state_string[args[5]->tcps_state], tcp_state_string[args[3]->tcps_state]' \
	'args[5]->tcps_statestr, args[3]->tcps_statestr'
becomes '/args[3]->tcps_state == TCP_STATE_SYN_SENT/' '/args[3]->tcps_state == NETOBS_TCP_SYN_SENT/'
becomes '/args[3]->tcps_state == TCPS_FIN_WAIT_1/' '/args[3]->tcps_state == NETOBS_TCP_FIN_WAIT_1/'
becomes '(args[4]->tcp_flags & (TH_SYN|TH_PUSH))' '(args[4]->tcp_flags & (NETOBS_TH_SYN|NETOBS_TH_PSH))'
becomes 'this->length = args[2]->ip_plength - args[4]->tcp_offset;' \
	'this->length = args[2]->ip_plength - args[4]->tcp_offset;'
becomes 'printf("tcp:::send TH_SYN"); /* TH_SYN of tcp:::send */' 'printf("tcp:::send TH_SYN"); /* TH_SYN of tcp:::send */'

# The dollar signs are for bpftrace.
# shellcheck disable=SC2016
{
	for_bpftrace 'tcp:::accept-established { exit(0); }' "$usdt:tcp__accept__established exit();"
	for_bpftrace 'netobs*:::tcp-receive { exit(0); }' "$usdt:tcp__receive exit();"
	for_bpftrace 'ip:::send, ip:::receive { @ = count(); }' "$usdt:ip__send, $usdt:ip__receive @ = count();"
	for_bpftrace 'tcp:::connect-* { @ = count(); }' "$usdt:tcp__connect__* @ = count();"
	for_bpftrace 'profile:::tick-10sec { clear(@a); }' 'interval:s:10 clear(@a);'
	for_bpftrace '@[args[4]->tcp_dport] = count();' '@[((struct tcpinfo *)arg4)->tcp_dport] = count();'
	for_bpftrace 'this->length = args[2]->ip_plength - args[4]->tcp_offset; @ = sum(this->length);' \
		'$length = ((struct ipinfo *)arg2)->ip_plength - ((struct tcpinfo *)arg4)->tcp_offset; @ = sum($length);'
	for_bpftrace 'started = timestamp;' '@started = ((struct pktinfo *)arg0)->pkt_ts;'
	for_bpftrace 'a[args[1]->cs_cid] = 1; a[args[1]->cs_cid] = 0;' \
		'@a[((struct csinfo *)arg1)->cs_cid] = 1; delete(@a[((struct csinfo *)arg1)->cs_cid]);'
	for_bpftrace 'printf("\b%d %5s %i %u%%\n", 1, "ab", 2, 3);' 'printf("\x08%lld    ab %lld %llu%%\n", 1, 2, 3);'
	for_bpftrace 'printf("%s\n", args[4]->tcp_flags & TH_SYN ? "syn" : "");' \
		'if (((struct tcpinfo *)arg4)->tcp_flags & NETOBS_TH_SYN) { printf("syn\n"); } else { printf("\n"); }'
	for_bpftrace 'int a; self string b; tcp:::send { @ = count(); }' "@ = count();"
	for_bpftrace '@a[probename] = quantize((uint32_t)5);' '@a["send"] = hist((uint32)5);'
}
refused 'tcp:::send { stack(); }' '1: stack(): it would be the stack of netobsd'
refused 'fbt::tcp_input:entry { @ = count(); }' \
	'1: fbt::tcp_input:entry: no probe of a network provider; netobs observes packets, not the kernel'
refused 'udplite:::send { @ = count(); }' \
	'1: udplite: netobs has no probes of UDP-Lite; ip-send and ip-receive fire for its packets'
refused 'udplite:::send' '1: udplite: netobs has no probes of UDP-Lite; ip-send and ip-receive fire for its packets' ''
refused 'tcp:::receeve { @ = count(); }' '1: netobs has no probe tcp-receeve (did you mean tcp-receive?)'
refused 'tcp:::send { @ = max(args[3]->tcps_srtt); }' \
	"1: tcpsinfo_t of netobs has no tcps_srtt: its unit is the kernel's; use tcps_srtt_us, in us, or tcps_rtt, in ms"
refused 'tcp:::send { @ = max(args[3]->tcps_smax); }' \
	'1: tcpsinfo_t of netobs has no tcps_smax: use tcps_snxt, the next sequence number to send'
refused 'tcp:::send { @ = max(args[3]->tcps_smax); }' \
	'1: tcpsinfo_t of netobs has no tcps_smax: use tcps_snxt, the next sequence number to send' ''
refused 'tcp:::send { @ = max(args[4]->tcp_dprot); }' '1: tcpinfo_t of netobs has no tcp_dprot (did you mean tcp_dport?)'
refused 'tcp:::state-change /args[3]->tcps_state == TCP_STATE_IDLE/ { @ = count(); }' \
	'1: TCP_STATE_IDLE: an endpoint of netobs never has this state'
refused 'tcp:::send { @ = stddev(1); }' '1: stddev(): no equivalent in bpftrace'
refused 'tcp:::send { @ = sum(unset); }' '1: unset: neither a variable of the script nor known'
refused 'tcp:::send { @ = max(ntohs(args[4]->tcp_dport)); }' '1: ntohs(): the fields of netobs are in host order'
refused 'tcp:::send { this->a = this->b = 1; }' '1: an assignment inside an expression: write it as a statement of its own'
refused 'tcp:::send { trunc(@a, 5); }' '1: trunc() without printa(): bpftrace cannot remove the smallest elements of a map'
refused 'tcp:::send { printf("%*d\n", 5, 5); }' '1: printf(): no conversion %*d in bpftrace'
refused 'tcp:::send
{
	this->header = args[4]->tcp_hdr->th_seq;
}' '3: tcp_hdr->: a header in the memory of netobsd; use the fields of netobs.h'
four_parts="neither a declaration nor a clause with a probe in four parts, such as tcp:::send"
refused 'send { @ = count(); }' "1: send: $four_parts"
refused 'tcp::send { @ = count(); } tcp:::send { exit(0); }' "1: tcp::send: $four_parts"
refused 'tcp:::send { exit(0); } }
tcp:::receive { exit(0); }' "1: }: $four_parts"
refused 'any text' "1: any text: $four_parts"
# A bracket without its other half: its clause is left out.
left_out() {
	refused "$@"
	is "left out: $1" "$(sed -e 1,2d -e '/^$/d' -e "s|^$usdt:||" "$tmp/refused.out" | paste -s -d ' ' -)" \
		"/* not translated: tcp:::send, line 1: ${2#*: } */ tcp__receive { @c = count(); }"
}
receive='
tcp:::receive { @c = count(); }'
left_out "tcp:::send { @ = count();$receive" '1: { is not closed'
left_out "tcp:::send
{
	@[args[2]->ip_daddr = count();
	@b = count();
}$receive" '3: [ is not closed'
left_out "tcp:::send { @a = sum((args[4]->tcp_offset); }$receive" '1: ( is not closed'
left_out "tcp:::send { @a = sum(args[4->tcp_offset); }$receive" '1: [ is not closed'
left_out "tcp:::send /(args[4]->tcp_dport == 3/ { @a = count(); }$receive" '1: ( is not closed'
left_out "tcp:::send { @a = count()); }$receive" '1: ) closes no bracket'
left_out "tcp:::send { @a[\"text] = count(); }$receive" '1: the text is not closed'
left_out "tcp:::send /args[4]->tcp_dport == 3 { @a = count(); }$receive" '1: the predicate is not closed'
left_out "tcp:::send /args[4]->tcp_dport == 3/ @a = count(); }$receive" '1: the predicate is not closed'
left_out "tcp:::send /args[4]->tcp_dport == 3/ @a = count();$receive" '1: the predicate is not closed'
left_out 'tcp:::send { printf("%s\n", args[4]->tcp_flags ? "a"); }'"$receive" '1: ? has no colon'
refused 'int a[3;
tcp:::send { @ = count(); }' '1: [ is not closed'
refused 'inline int A = (3;
tcp:::send { @ = sum(A); }' '1: ( is not closed
translate: refused.d:2: A: its value is not translated: ( is not closed'
refused 'inline int A = A; tcp:::send { @[A] = count(); }' '1: A: its value depends on itself'
nothing="the script has no clause with a probe in four parts, such as tcp:::send"
refused '' "1: $nothing"
refused 'any text' "1: $nothing" ''
is "refused: a directory" "$("$translate" / 2>&1)" "translate: / is a directory"

# The rest of a script with a clause that is left out is translated.
printf '%s\n' 'tcp:::send { stack(); }' 'tcp:::receive { @ = count(); }' '' 'tcp:::send { @a = stddev(1); @b = count(); }' >"$tmp/partly.d"
"$translate" -b "$tmp/partly.d" >"$tmp/partly" 2>/dev/null
check "a script keeps what can be translated" grep -q '^usdt:.*:tcp__receive$' "$tmp/partly"
check "the script says what is missing" grep -q '^/\* not translated: tcp:::send, line 1: stack()' "$tmp/partly"
check "an aggregation is left out alone" grep -q '/\* not translated: stddev(): .*\*/ @b = count();' "$tmp/partly"

# The path of netobsd
mkdir "$tmp/bin" && cp "$netobsd" "$tmp/bin/netobsd"
cp -r "$top/scripts" "$tmp/installed"
rm "$tmp/installed/room.mk"
is "netobsd is found in the PATH" "$(cd / && echo 'tcp:::send { @ = count(); }' |
	env -u NETOBSD PATH="$tmp/bin:/usr/bin:/bin" "$tmp/installed/translate" -b | grep -o 'usdt:.*')" "usdt:$tmp/bin/netobsd:netobs:tcp__send"
is "a missing netobsd is reported" "$(cd / && echo 'tcp:::send { @ = count(); }' |
	env -u NETOBSD PATH=/usr/bin:/bin "$tmp/installed/translate" -b 2>&1)" \
	"translate: netobsd is not found: build it, or set NETOBSD to its path"
is "a missing netobsd is reported for D, too" "$(cd / && echo 'tcp:::send { @ = count(); }' |
	env -u NETOBSD PATH=/usr/bin:/bin "$tmp/installed/translate" 2>&1 >/dev/null)" \
	"translate: note: netobsd is not found: build it, or set NETOBSD to its path; until then, names of probes and fields are not checked"

# Whole scripts and clauses in the manner of published ones
"$translate" "$top/tests/scripts/published/clauses.d" >"$tmp/own.d"
"$netobsd" --list-probes --format json >"$tmp/manifest"
check "published clauses become correct D for netobs" sh -c \
	"python3 '$top/tests/scripts/d_check.py' '$top/probes/netobs.h' --unlabelled '$tmp/own.d' <'$tmp/manifest'"
for script in "$top"/tests/scripts/published/*.d; do
	check "$(basename "$script" .d) is translated for bpftrace" "$translate" -b "$script"
done

tap_done
