#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Formulas of a running netobsd: requests that define, remove and list them, reloads, metrics.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

client=$top/tests/service/control_client.py

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

# ------------------------------------------------------------------------------------------------------ the requests

configure '"refused = tcp-connect-refused", "idle = tcp-connect-established"'
start -c "$tmp/conf" --control-mode 666 --metrics "unix:$tmp/run/metrics" --formula-file "$tmp/run/formulas.so"
begin_traffic
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
traffic refused 9
check "a firing is counted" wait_for field_is refused matched 1
is "in the metrics, too" "$(python3 "$client" http-unix "$tmp/run/metrics" "GET /metrics HTTP/1.0" |
	sed -n 's/^netobs_formula_total{name="refused"} //p')" 1
ctl define 'closed-port = tcp-connect-refused where tcps_rport == 9 && tcp_flags & RST' >"$tmp/reply"
is "define" $? 0
check "the reply shows how to trace it" grep -q "usdt:$tmp/run/formulas.so:netobs:" "$tmp/reply"
check "and that it is evaluated" grep -qx 'evaluated    for events, always: it is counted' "$tmp/reply"
ctl define 'other = tcp-connect-refused where tcps_rport == 10' >"$tmp/reply"
traffic refused 9
check "a defined formula is counted" wait_for field_is closed-port matched 1
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
ctl_as 65533 define 'f = tcp-send' 2>"$tmp/reply"
check "other users may not define formulas" grep -q 'only root and .* may define formulas' "$tmp/reply"
ctl_as 65533 formulas >"$tmp/reply"
check "they may list them" grep -q '^refused ' "$tmp/reply"

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
end_traffic
tap_done
