#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# On a machine with DTrace, a tracer that places uprobes without raising semaphores, as DTrace does, is served like any other:
# every firing hits it, at either kind of site, of netobs, netobs_engine and formulas; a probe is disabled when it leaves; and a
# tracer that raises semaphores sees each firing once.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/tracers/dtrace_device.sh
. "$top/tests/tracers/dtrace_device.sh"

built "$netobsd"
refused=$(device_refused)
[ -z "$refused" ] || skip_all "$refused"
program=$(private_netobsd) || exit 99
capture=$(capture http.pcap) || exit 99
definition='from-server = tcp-receive where tcp_sport == 8080'

kinds='plain fast'
"$program" -r "$capture" --probe-site=fast 2>/dev/null || kinds=plain

# lines PROBE: the firings that --print shows without any tracer
lines() {
	"$program" -r "$capture" --formula "$definition" "--print=$1" 2>/dev/null | wc -l
}

wanted="$(lines tcp-receive) $(lines tcp-state-change) $(lines from-server) $("$program" -r "$capture" --summary 2>&1 |
	sed -n 's/^flow.created //p')"
note "tcp-receive, tcp-state-change, a formula, netobs_engine's flow-born: $wanted"

# hits KIND: of the four
hits() {
	echo "$(uprobe_hits "receive_$1") $(uprobe_hits "state_$1") $(uprobe_hits "formula_$1") $(uprobe_hits "born_$1")"
}

# ------------------------------------------------------------------------------------------------------------ replays

# every_firing KIND: a replay with four uprobes
every_firing() {
	formulas=$tmp/formulas-$1.so
	"$program" --formula "$definition" --install-formulas "$formulas"
	uprobe_add "receive_$1" "$program" netobs tcp__receive "$1" && uprobe_add "state_$1" "$program" netobs tcp__state__change "$1" &&
		uprobe_add "born_$1" "$program" netobs_engine flow__born "$1" &&
		uprobe_add "formula_$1" "$formulas" netobs from__server "$1" || return 1
	for event in receive state born formula; do
		uprobe_enable "${event}_$1" 1 || return 1
	done
	with_device "$program" -r "$capture" --wait-tracer=60 --probe-site="$1" --formula "$definition" --formula-file "$formulas" \
		--summary 2>"$tmp/log"
	status=$?
	for event in receive state born formula; do
		uprobe_enable "${event}_$1" 0
	done
	cat "$tmp/log"
	return "$status"
}

for kind in $kinds; do
	check "$kind site: a replay waits for uprobes, and runs" every_firing "$kind"
	is "$kind site: hits" "$(hits "$kind")" "$wanted"
	is "$kind site: the site" "$(sed -n 's/^probe-site //p' "$tmp/log")" "$kind"
	is "$kind site: what dtprobed refuses is logged, and it is not asked again" \
		"$(grep -c 'DTrace does not list' "$tmp/log")" 1
done

# A tracer that raises semaphores, at other sites than the uprobe: the kernel has one kind of both at a site only.
refused=$(tracing_refused)
for kind in $kinds; do
	name="$kind site: bpftrace counts every firing once, a uprobe of another probe too"
	if [ -n "$refused" ]; then
		skip "$name" "$refused"
		continue
	fi
	before=$(uprobe_hits "state_$kind")
	uprobe_enable "state_$kind" 1
	tracer "$tmp/trace" "usdt:$program:netobs:tcp__receive { @ = count(); }"
	with_device "$program" -r "$capture" --wait-tracer=60 --wait-probes=tcp-receive,tcp-state-change --probe-site="$kind" 2>"$tmp/log"
	tracer_end
	uprobe_enable "state_$kind" 0
	is "$name" "$(sed -n 's/^@: //p' "$tmp/trace") $(($(uprobe_hits "state_$kind") - before))" "$(echo "$wanted" | cut -d' ' -f1,2)"
done

# ----------------------------------------------------------------------------------------------- it comes and it goes

ctl() {
	"$build/netobsctl" -s "$tmp/control" "$@"
}

# enabled PROBE: whether a tracer is attached to the probe
enabled() {
	ctl probes | grep -q "^$1 "
}

disabled() {
	ctl probes >"$tmp/probes" && ! grep -q "^$1 " "$tmp/probes"
}

space=netobs-watch-$$
if ! have ip; then
	skip "live: probes are enabled while there is a uprobe" "ip is not installed"
elif ! namespaces "$space"; then
	skip "live: probes are enabled while there is a uprobe" "$kernel_refusal"
else
	ip -n "$space" link set lo up
	for kind in $kinds; do
		# Waits suspended, without any frame.
		rm -f "$tmp/control"
		with_device ip netns exec "$space" "$program" -i lo --on-demand --probe-site="$kind" --control "$tmp/control" 2>"$tmp/log" &
		job=$!
		wait_for ctl status
		check "$kind site, live: not enabled at first" disabled tcp-receive
		uprobe_enable "receive_$kind" 1
		check "$kind site, live: enabled by a uprobe" wait_for enabled tcp-receive
		uprobe_enable "state_$kind" 1
		check "$kind site, live: a second one" wait_for enabled tcp-state-change
		uprobe_enable "receive_$kind" 0
		check "$kind site, live: disabled again" wait_for disabled tcp-receive
		check "$kind site, live: the other remains" enabled tcp-state-change
		uprobe_enable "state_$kind" 0
		check "$kind site, live: no probe is enabled at the end" wait_for disabled tcp-state-change
		kill -INT "$(cat "$tmp/device.pid")"
		wait $job
		is "$kind site, live: exit status" $? 0
	done
fi
tap_done
