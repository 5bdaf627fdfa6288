#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Formulas of a running netobsd: requests that define, remove and list them, reloads, metrics, and tracers.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have ip || skip_all "ip is not installed"
space=netobs-formulas-$$ pid='' ctl=$tmp/netobsctl socket=$tmp/run/control tracer=''
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; [ -z "$tracer" ] || kill -9 "$tracer" 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run"
cp -- "$build/netobsctl" "$ctl" && chmod 755 "$ctl" || exit 99 # other users may run it wherever this tree lies

ctl() {
	"$ctl" -s "$socket" "$@"
}

configure() {
	printf 'formula = {%s}\n' "$1" >"$tmp/conf"
}

# launch ...: starts netobsd, and returns when it replies to requests
launch() {
	ip netns exec "$space" "$netobsd" -c "$tmp/conf" -i lo --control "$socket" --control-mode 666 --immediate \
		--metrics "unix:$tmp/run/metrics" --formula-file "$tmp/run/formulas.so" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_while "$pid" ctl status
}

start() {
	launch
	wait_while "$pid" observing "$pid" 1 || cat "$tmp/err" >&2
}

# suspended: whether the only capture socket has left the list of those that receive every frame
suspended() {
	grep -q ' 88b5 ' "/proc/$pid/net/packet" && ! grep -q ' 0003 ' "/proc/$pid/net/packet"
}

stop() {
	kill -INT "$pid"
	wait "$pid"
	pid=
}

# connect: opens a connection to a closed port, which is refused
connect() {
	ip netns exec "$space" python3 -c 'import socket; socket.socket().connect_ex(("127.0.0.1", 9))'
}

# field NAME KEY: a field of the JSON reply about a formula
field() {
	ctl formulas --json | python3 -c '
import json, sys
for line in sys.stdin:
	row = json.loads(line)
	if row["formula"] == sys.argv[1]:
		print(row[sys.argv[2]])' "$1" "$2"
}

# field_is NAME KEY VALUE
field_is() {
	[ "$(field "$1" "$2")" = "$3" ]
}

# metric NAME: netobs_formula_total of a formula
metric() {
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
reply = b"".join(iter(lambda: s.recv(65536), b"")).decode()
print(*[line.split()[1] for line in reply.split("\n") if line.startswith("netobs_formula_total{name=\"%s\"}" % sys.argv[2])])
' "$tmp/run/metrics" "$1"
}

# ------------------------------------------------------------------------------------------------------ the requests

configure '"refused = tcp-connect-refused", "idle = tcp-connect-established"'
start
is "configured formulas are listed" "$(ctl formulas | sed -n '2,$s/ .*//p' | tr '\n' ' ')" "refused idle "
is "the table fits a terminal" "$(ctl formulas | awk 'length($0) > 80')" ""
ctl formulas refused >"$tmp/reply"
is "one formula in detail" "$(sed 's/ .*//' "$tmp/reply" | tr '\n' ' ')" \
	"refused defined evaluated counts enabled site bpftrace perf gdb SystemTap DTrace "
check "its cost" grep -qx 'evaluated    for events, always: it is counted' "$tmp/reply"
# An event such as refused__late, of another formula, is neither deleted nor recorded.
is "perf records the event of this formula only" "$(sed -n 's/^perf *//p' "$tmp/reply" | grep -o 'sdt_netobs:[^ ;]*' | uniq)" \
	sdt_netobs:refused
ctl formulas refusd 2>"$tmp/reply"
is "an unknown formula" "$(cat "$tmp/reply")" 'netobsctl: there is no formula "refusd"; "formulas" lists them all'
if have bash; then
	# shellcheck disable=SC2016 # bash expands them
	is "completion of formulas" "$(bash -c '. "$1"; COMP_WORDS=("$2" -s "$3" undefine i) COMP_CWORD=4; _netobsctl; echo "${COMPREPLY[*]}"' \
		bash "$top/conf/netobsctl.bash-completion" "$ctl" "$socket")" idle
else
	skip "completion of formulas" "no bash"
fi
is "with the name of their site" "$(field refused site)" refused
connect
check "a firing is counted" wait_while "$pid" field_is refused matched 1
is "in the metrics, too" "$(metric refused)" 1
ctl define 'closed-port = tcp-connect-refused where tcps_rport == 9 && tcp_flags & RST' >"$tmp/reply"
is "define" $? 0
check "the reply shows how to trace it" grep -q "usdt:$tmp/run/formulas.so:netobs:" "$tmp/reply"
check "and that it is evaluated" grep -qx 'evaluated    for events, always: it is counted' "$tmp/reply"
ctl define 'other = tcp-connect-refused where tcps_rport == 10' >"$tmp/reply"
connect
check "a defined formula is counted" wait_while "$pid" field_is closed-port matched 1
is "one whose expression is false is evaluated only" "$(field other seen) $(field other matched)" "1 0"
ctl define 'closed-port = tcp-send' 2>"$tmp/reply"
is "a name twice" "$(cat "$tmp/reply")" "netobsctl: there is a formula closed-port already"
ctl define 'f = tcp-send where tcp_dporr == 1' 2>"$tmp/reply"
check "a mistake" grep -q '^netobsctl: column 20: .*tcp_dport' "$tmp/reply"
ctl define 2>"$tmp/reply"
check "no definition" grep -q 'expected a definition' "$tmp/reply"
ctl undefine closed-port
is "undefine" $? 0
ctl undefine closed-port 2>"$tmp/reply"
check "what is not there cannot be removed" grep -q 'there is no formula "closed-port"' "$tmp/reply"
for i in $(seq 61); do
	ctl define "f$i = tcp-send uncounted" >/dev/null 2>"$tmp/reply" || break
done
is "61 more" "$i $(ctl formulas --json | wc -l)" "61 64"
ctl define "f = tcp-send" 2>"$tmp/reply"
check "no more than 64" grep -q 'there are 64 formulas already' "$tmp/reply"
is "all are in the text" "$(ctl formulas | grep -c '^f[0-9]* *request packet no ')" 61
for i in $(seq 61); do
	ctl undefine "f$i" || break
done
if have setpriv; then
	setpriv --reuid 65533 --regid 65533 --clear-groups "$ctl" -s "$socket" define 'f = tcp-send' 2>"$tmp/reply"
	check "other users may not define formulas" grep -q 'only root and .* may define formulas' "$tmp/reply"
	setpriv --reuid 65533 --regid 65533 --clear-groups "$ctl" -s "$socket" formulas >"$tmp/reply"
	check "they may list them" grep -q '^refused ' "$tmp/reply"
fi

# ------------------------------------------------------------------------------------------------------- the reload

configure '"refused = tcp-connect-refused", "idle = tcp-connect-established where tcps_rport == 1", "later = tcp-send
	where tcp_dport  == 1"'
ctl reload >/dev/null
is "after a reload an unchanged formula has its counts" "$(field refused matched)" 2
is "a changed one has its new definition" "$(field idle definition)" "idle = tcp-connect-established where tcps_rport == 1"
is "a new one is there" "$(field later seen)" 0
is "a definition of several lines is listed in one" "$(ctl formulas later | head -n 1)" "later = tcp-send where tcp_dport  == 1"
is "one that was requested stays" "$(field other seen)" 1
configure '"refused = tcp-connect-refused where"'
ctl reload >/dev/null 2>&1
is "a reload with a mistake changes nothing" "$(field refused matched) $(field later seen)" "2 0"
stop

# ------------------------------------------------------------------------------------------------------- the tracer

reason=$(tracing_refused)
if [ -z "$reason" ]; then
	configure '"refused = tcp-connect-refused", "segment = tcp-receive where tcp_dport == 9 uncounted"'
	launch --on-demand
	check "without a tracer capture is suspended" wait_while "$pid" suspended
	connect
	let_deliver
	is "nothing is counted on demand" "$(field refused seen) $(field segment seen)" "0 0"
	tracer "$tmp/traced" "usdt:$tmp/run/formulas.so:netobs:segment {
		\$tcp = (struct tcpinfo *)arg4; \$pkt = (struct pktinfo *)arg0;
		printf(\"%d %s %d\\n\", \$tcp->tcp_dport, \$tcp->tcp_flagstr, \$pkt->pkt_seq); }"
	check "an attached tracer is shown" wait_while "$pid" field_is segment traced True
	connected() {
		connect
		[ -s "$tmp/traced" ] && grep -q '^9 SYN' "$tmp/traced"
	}
	check "it receives the firings" wait_while "$tracer" connected
	check "with the arguments of the probe" grep -q '^9 SYN 1$' "$tmp/traced"
	tracer_end
	tracer=''
	check "and is gone" wait_while "$pid" field_is segment traced False
	is "the probe itself has not fired" "$(ctl probes --json | grep '"tcp-receive"')" \
		'{"probe":"tcp-receive","enabled":0,"fired":0}'
	stop
else
	skip "formulas and bpftrace" "$reason"
fi
tap_done
