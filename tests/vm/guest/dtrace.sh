#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Guest: dtrace
# Timeout: 3600
#
# DTrace of Debian unstable and the installed service: what dtrace lists, the lines of netobs(7) against what netobsd counts,
# several netobsd at once, formulas by name, the life of the service, and a machine on which dtprobed does not run.
# shellcheck disable=SC2016,SC2154 # $target is D's, and trace sets the numbers of tracers
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

known=/run/dtrace/probes # where dtprobed has an entry for each process with probes
capture=$top/tests/captures/home-network.pcap

# registered PID: whether dtprobed knows probes of the process
registered() {
	[ -n "$(ls "$known/$1")" ]
}

# forgotten PID
forgotten() {
	[ ! -e "$known/$1" ]
}

# list: what dtrace lists of every netobsd, a line of provider and probe for each: $tmp/list
list() {
	dtrace -l -P 'netobs*' 2>"$tmp/list.err" | awk 'NR > 1 { print $2, $NF }' >"$tmp/list"
}

# listed PROVIDER: its probes, except sites of formulas without a name
listed() {
	sed -n "s/^$1 //p" "$tmp/list" | grep -v '^formula-[0-9][0-9]$' | sort
}

# attached NAME: whether a tracer has attached all of its probes, or has ended
attached() {
	eval "tap_gone \$$1" || grep -q '^attached$' "$tmp/$1"
}

# trace NAME ARGUMENT...: starts dtrace in the background; $NAME is its pid.  A point: it has attached, which takes some ten
# seconds without KVM.  One after the other: of two that attach at once DTrace 2.0.7 lets one fail.
trace() {
	trace_name=$1
	shift
	dtrace -q -x switchrate=10hz "$@" -n 'BEGIN { printf("attached\n"); }' >"$tmp/$trace_name" 2>"$tmp/$trace_name.err" &
	eval "$trace_name=\$!"
	wait_up_to 300 attached "$trace_name"
	if grep -q '^attached$' "$tmp/$trace_name"; then
		ok "dtrace attaches: $*"
	else
		not_ok "dtrace attaches: $*" "$tmp/$trace_name.err"
	fi
}

# finish NAME...: ends tracers, which print their aggregations: $tmp/NAME.
finish() {
	for name; do
		eval "finish_pid=\$$name"
		kill -TERM "$finish_pid" 2>/dev/null # not INT: the shell has its background processes ignore that
		wait "$finish_pid"
		sed -i '/^attached$/d; /^ *$/d; s/^ *//; s/  */ /g' "$tmp/$name"
	done
}

# counts NAME TRACER WANTED: a point: what a tracer has counted, its lines with commas between them
counts() {
	if [ "$(sort "$tmp/$2" | paste -s -d , -)" = "$3" ]; then
		ok "$1"
	else
		printf '%s\n' "$3" >"$tmp/wanted"
		not_ok "$1" "$tmp/wanted" "$tmp/$2" "$tmp/$2.err"
	fi
}

# traffic PROBE: ten connections.  Sets wanted to how often the probe has fired.
traffic() {
	before=$(fired "$1")
	fetch_pages
	wait_for at_rest "$1" || note "the connections do not come to rest"
	wanted=$(($(fired "$1") - before))
}

# print: what the built-in printer counts in the capture: tcp-receive by address, in one line
print() {
	"$netobsd" -r "$capture" --print=tcp-receive --format json | sed -n 's/.*"ip_saddr":"\([^"]*\)".*/\1/p' | sort | uniq -c |
		awk '{ print $2, $1 }' | sort | paste -s -d , -
}

# replay: starts a netobsd that waits for a tracer; $replay is its pid
replay() {
	"$netobsd" -r "$capture" --wait-tracer=900 2>"$tmp/replay" &
	replay=$!
	wait_for registered "$replay"
}

# either_gone PID PID: whether one of two processes has ended
either_gone() {
	tap_gone "$1" || tap_gone "$2"
}

# end_replay PID: waits until the replay has ended, which this tracer began; one that has failed began nothing
end_replay() {
	wait_up_to 120 either_gone "$replay" "$1"
	kill "$replay" 2>/dev/null
	wait "$replay" 2>/dev/null
}

# ------------------------------------------------------------------------------------------------------------- the list

note "$(dpkg-query -W -f '${Package} ${Version}, ' dtrace libdtrace2 libc6)Linux $(uname -r)"
is "dtprobed runs" "$(systemctl is-active dtprobed)" active
is "the D library is where DTrace finds it" "$(dpkg -L netobs | grep '/dtrace/netobs\.d$')" /usr/lib/x86_64-linux-gnu/dtrace/netobs.d
# dtrace stops the process while it attaches with -p, without KVM longer than the service's watchdog waits.
mkdir -p /run/systemd/system/netobs.service.d
printf '[Service]\nWatchdogSec=10min\n' >/run/systemd/system/netobs.service.d/watchdog.conf
systemctl daemon-reload
cursor=$(journal_cursor)
note_loopback
systemctl start netobs
pid=$(property MainPID)
check "dtprobed knows the probes of the service" wait_for registered "$pid"
journal_since "$cursor" "$tmp/journal"
check "netobsd has logged a line about DTrace" grep -q '^netobsd: .*DTrace' "$tmp/journal"

list
"$netobsd" --list-probes --format json | tr '{' '\n' | sed -n 's/^"name":"\([a-z-]*\)","c_name".*/\1/p' | sort >"$tmp/probes"
listed "netobs$pid" >"$tmp/listed"
check "dtrace -l: there are fifty probes and more" test "$(wc -l <"$tmp/probes")" -ge 50
check "dtrace -l lists each of the $(wc -l <"$tmp/probes") probes once" diff -u "$tmp/probes" "$tmp/listed"
is "dtrace -l lists nothing twice" "$(sort "$tmp/list" | uniq -d)" ""
check "dtrace -l lists the probes of netobs_engine" test "$(listed "netobs_engine$pid" | wc -l)" -ge 10

# ------------------------------------------------------------------------------------------------- the running service

serve_pages
trace engine -n 'netobs_engine*:::request-start, netobs_engine*:::request-done { @[probename] = count(); }'
let_deliver # netobsd looks for tracers
for _ in 1 2 3 4 5; do
	netobsctl status >"$tmp/status"
done
let_deliver
finish engine
counts "netobs_engine*: five requests" engine "request-done 5,request-start 5"

trace star -n 'netobs*:::tcp-receive { @[args[2]->ip_saddr] = count(); }'
trace target -p "$pid" -n 'netobs$target:::tcp-receive { @ = count(); }'
trace number -n "netobs$pid:::tcp-receive { @ = count(); }"
# is_enabled PROBE
is_enabled() {
	[ "$(enabled "$1")" -ge 1 ]
}
check "netobsd knows that tcp-receive is enabled" wait_for is_enabled tcp-receive
traffic tcp-receive
check "ten connections have segments: $wanted" test "$wanted" -ge 50
finish star target number
counts "netobs*: as netobsd counts, by args[2]->ip_saddr" star "127.0.0.1 $wanted"
counts "netobs\$target: as netobsd counts" target "$wanted"
counts "netobsPID: as netobsd counts" number "$wanted"
# is_disabled PROBE
is_disabled() {
	[ "$(enabled "$1")" -eq 0 ]
}
check "netobsd knows that tcp-receive is not enabled any more" wait_for is_disabled tcp-receive

# ----------------------------------------------------------------------------------------------------- several netobsd

printed=$(print)
check "the capture has segments of several hosts: $printed" expr "$printed" : '.*,.*'
check "a netobsd beside the service" replay
trace target -p "$replay" -n 'netobs$target:::tcp-receive { @[args[2]->ip_saddr] = count(); }'
end_replay "$target"
finish target
counts "beside the service netobs\$target counts one process" target "$printed"
check "another netobsd beside the service" replay
trace number -n "netobs$replay:::tcp-receive { @[args[2]->ip_saddr] = count(); }"
end_replay "$number"
finish number
counts "beside the service netobsPID counts one process" number "$printed"
check "a third netobsd beside the service" replay
trace star -n 'netobs*:::tcp-receive { @[pid] = count(); }'
end_replay "$star"
check "netobsd knows that tcp-receive is enabled again" wait_for is_enabled tcp-receive
traffic tcp-receive
finish star
total=$(printf '%s\n' "$printed" | tr ',' '\n' | awk '{ total += $2 } END { printf "%.0f", total }')
counts "netobs* counts both processes" star "$(printf '%s\n' "$pid $wanted" "$replay $total" | sort | paste -s -d , -)"

# ------------------------------------------------------------------------------------------------------------ formulas

# matched NAME: how often the formula was true
matched() {
	netobsctl formulas --json | sed -n "s/.*\"formula\":\"$1\".*\"matched\":\([0-9]*\).*/\1/p"
}

check "a formula is defined" netobsctl define 'to-web = tcp-receive where tcp_dport == 8080'
trace formula -n 'netobs*:::to-web { @[args[2]->ip_saddr] = count(); }'
traffic tcp-receive
finish formula
check "the formula was true" test "$(matched to-web)" -ge 10
counts "netobs*:::NAME counts a formula, by args[2]->ip_saddr" formula "127.0.0.1 $(matched to-web)"
check "it is undefined" netobsctl undefine to-web
check "another is defined" netobsctl define 'from-web = tcp-receive where tcp_sport == 8080'
trace formula -n 'netobs*:::from-web { @ = count(); }'
list
traffic tcp-receive
finish formula
check "the other formula was true" test "$(matched from-web)" -ge 10
counts "netobs*:::NAME counts the other formula" formula "$(matched from-web)"
listed "netobs$pid" | comm -13 "$tmp/probes" - >"$tmp/formulas"
is "dtrace -l lists its name and not the former" "$(cat "$tmp/formulas")" from-web
is "the service is the same process" "$(property MainPID) $(property NRestarts)" "$pid 0"
kill "$server"
wait "$server" 2>/dev/null

# ------------------------------------------------------------------------------------------------------------ the life

journalctl -q -o cat -p warning -u netobs --after-cursor "$cursor" >"$tmp/warnings"
is "the journal has no warning" "$(cat "$tmp/warnings")" ""
systemctl stop netobs
check "stop: dtprobed forgets the probes" wait_for forgotten "$pid"
systemctl start netobs
pid=$(property MainPID)
check "start: dtprobed knows those of the new process" wait_for registered "$pid"
check "the package is installed again" dpkg -i /vm/netobs.deb
check "it restarts the service" wait_for other_process "$pid"
check "dtprobed forgets the former process" wait_for forgotten "$pid"
pid=$(property MainPID)
check "dtprobed knows the probes of the new one" wait_for registered "$pid"
kill -KILL "$pid"
check "after kill -9 the service starts again" wait_for other_process "$pid"
pid=$(property MainPID)
check "after kill -9 dtprobed knows the probes of the new process" wait_for registered "$pid"
replay
kill -KILL "$replay"
wait "$replay" 2>/dev/null
list
is "dtrace -l lists nothing of processes that were killed" "$(cut -d ' ' -f 1 "$tmp/list" | sort -u | paste -s -d , -)" \
	"netobs$pid,netobs_engine$pid"
listed "netobs$pid" >"$tmp/listed"
check "dtrace -l lists each probe of the new process once" diff -u "$tmp/probes" "$tmp/listed"
replay
kill -TERM "$replay"
wait "$replay" 2>/dev/null
check "dtprobed forgets a netobsd that was terminated" wait_for forgotten "$replay"

# ----------------------------------------------------------------------------------------------------- without dtprobed

systemctl stop dtprobed
observes "when dtprobed ends the service goes on"
check "when dtprobed has ended the service stops" systemctl stop netobs
is "with success" "$(property Result)" success
check "without dtprobed it starts" systemctl start netobs
observes "without dtprobed it observes frames"
is "without dtprobed a replay is the same" "$(print)" "$printed"
systemctl stop netobs
systemctl start dtprobed
systemctl start netobs
check "when dtprobed has started again, it knows the service" wait_for registered "$(property MainPID)"
systemctl stop netobs
rm -r /run/systemd/system/netobs.service.d
systemctl daemon-reload

tap_done
