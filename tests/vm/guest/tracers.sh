#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Tracers on Debian's kernel, all attached to the running service at the same time: bpftrace by path, by process and by the
# line that `netobsctl status` prints, and perf.  On the same traffic each counts as many state changes as netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

export HOME="$tmp" # perf keeps its list of probes there
note_loopback
systemctl start netobs
pid=$(property MainPID)

# trace NAME ARGUMENT...: starts bpftrace in the background; $NAME is its pid
trace() {
	trace_name=$1
	shift
	bpftrace "$@" >"$tmp/$trace_name" 2>"$tmp/$trace_name.err" &
	eval "$trace_name=\$!"
}

# attached NAME COUNT: whether a tracer has attached all of its probes
attached() {
	grep -q 'Attaching [1-9]' "$tmp/$1" && [ "$(enabled tcp-state-change)" -ge 1 ] && grep -q epoll "/proc/$2/wchan"
}

# ended PID: whether a tracer has ended; interrupts it again if it ignored the interrupt
ended() {
	tracer=$1
	tracer_ended
}

# counted NAME: the sum of the counts that bpftrace printed
counted() {
	sed -n 's/^@.*: \([0-9]*\)$/\1/p' "$tmp/$1" | awk '{ total += $1 } END { printf "%.0f", total }'
}

serve_pages

# ------------------------------------------------------------------------------------------------------------- attach

check "perf reads the probes of the program" perf buildid-cache --add "$netobsd"
is "perf and netobsd list the same probes" "$(perf list sdt 2>/dev/null | sed -n 's/^ *sdt_netobs:\([a-z_0-9]*\).*/\1/p' | sort -u | wc -l)" \
	"$(netobsctl probes --json | grep -c '"probe":')"
if perf probe --force -x "$netobsd" --add sdt_netobs:tcp__state__change >"$tmp/perf.probe" 2>&1; then
	events=$(sed -n 's/^ *\(sdt_netobs:tcp__state__change[_0-9]*\) .*/\1/p' "$tmp/perf.probe" | sort -u)
	event=$(echo "$events" | head -n 1)
	perf record -q -o "$tmp/perf.data" -e "$event" -p "$pid" >"$tmp/perf.out" 2>&1 &
	perf=$!
	ok "perf probe"
else
	perf=''
	not_ok "perf probe" "$tmp/perf.probe"
fi

probe='tcp__state__change { @[probe] = count(); }'
trace path -e "usdt:$netobsd:netobs:$probe"
trace process -p "$pid" -e "usdt:$netobsd:netobs:$probe"
line=$(netobsctl status | sed -n "s/^attach *bpftrace -e '\(.*\)'\$/\1/p")
is "netobsctl status prints a line of bpftrace" "$line" "usdt:/proc/$pid/exe:netobs:$probe"
trace status -e "$line"
# shellcheck disable=SC2154 # trace sets them
for name in path process status; do
	eval "number=\$$name"
	# shellcheck disable=SC2154
	check "bpftrace attaches by $name" wait_for attached "$name" "$number"
done
# perf_attached: whether perf waits for records
perf_attached() {
	grep -q poll "/proc/$perf/wchan" && [ -s "$tmp/perf.data" ]
}
[ -z "$perf" ] || check "perf attaches" wait_for perf_attached

# ------------------------------------------------------------------------------------------------------------- traffic

before=$(fired tcp-state-change)
fetch_pages
check "the connections are closed and observed" wait_for at_rest tcp-state-change
wanted=$(($(fired tcp-state-change) - before))
check "ten connections have state changes: $wanted" test "$wanted" -ge 90

for name in path process status; do
	eval "number=\$$name"
	kill -INT "$number"
	wait_for ended "$number"
	wait "$number"
	is "bpftrace by $name counts them" "$(counted $name)" "$wanted"
done
if [ -n "$perf" ]; then
	kill -INT "$perf"
	wait "$perf"
	is "perf records them" "$(perf script -i "$tmp/perf.data" 2>"$tmp/perf.script" | grep -c "$event:")" "$wanted"
	for event in $events; do
		perf probe -q --del "$event"
	done
fi
is "no tracer is attached any more" "$(enabled tcp-state-change)" 0
is "the service is the same process" "$(property MainPID) $(property NRestarts)" "$pid 0"

kill "$server"
wait "$server" 2>/dev/null
systemctl stop netobs

tap_done
