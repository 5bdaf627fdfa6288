#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A tracer of a formula: it resumes the capture of a netobsd on demand, and receives the arguments of the probe.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

reason=$(tracing_refused)
[ -z "$reason" ] || skip_all "$reason"

configure() {
	printf 'formula = {%s}\n' "$1" >"$tmp/conf"
}

# field NAME KEY: a field of the reply about a formula
field() {
	ctl formulas "$1" --json | sed "s/.*\"$2\":\(\"[^\"]*\"\|[^,}]*\).*/\1/; s/\"//g"
}

# field_is NAME KEY VALUE
field_is() {
	[ "$(field "$1" "$2")" = "$3" ]
}

# suspended: whether the only capture socket has left the list of those that receive every frame
suspended() {
	grep -q ' 88b5 ' "/proc/$pid/net/packet" && ! grep -q ' 0003 ' "/proc/$pid/net/packet"
}

configure '"refused = tcp-connect-refused", "segment = tcp-receive where tcp_dport == 9 uncounted"'
start -c "$tmp/conf" --immediate --on-demand --formula-file "$tmp/run/formulas.so"
begin_traffic
check "without a tracer capture is suspended" wait_for suspended
traffic refused 9
let_deliver
is "nothing is counted on demand" "$(field refused seen) $(field segment seen)" "0 0"
tracer "$tmp/traced" "usdt:$tmp/run/formulas.so:netobs:segment {
	\$tcp = (struct tcpinfo *)arg4; \$pkt = (struct pktinfo *)arg0;
	printf(\"%d %s %d\\n\", \$tcp->tcp_dport, \$tcp->tcp_flagstr, \$pkt->pkt_seq); }"
check "an attached tracer is shown" wait_for field_is segment traced true
connected() {
	traffic refused 9
	[ -s "$tmp/traced" ] && grep -q '^9 SYN' "$tmp/traced"
}
check "it receives the firings" wait_while "$tracer" connected
check "with the arguments of the probe" grep -q '^9 SYN 1$' "$tmp/traced"
tracer_end
check "and is gone" wait_for field_is segment traced false
is "the probe itself has not fired" "$(ctl probes --json | grep '"tcp-receive"')" \
	'{"probe":"tcp-receive","enabled":0,"fired":0}'
stop
end_traffic
tap_done
