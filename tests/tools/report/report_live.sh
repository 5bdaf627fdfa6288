#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs report of an interface: until a signal, for a time, without room for the capture, and until the interface is gone.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$build/netobs-report"
have python3 ip || skip_all "python3 or ip is not installed"
export NETOBSD="$netobsd"
space=netobs-report-$$
[ "$(id -u)" -eq 0 ] || skip_all "root is needed"
namespaces "$space" || skip_all "$kernel_refusal"
ip -n "$space" link set lo up

# data EXPRESSION: of the page
data() {
	python3 "$top/tests/tools/report/report_data.py" "$tmp/page" "$1"
}

# report ARGUMENT...: makes the page of an interface in the namespace
report() {
	ip netns exec "$space" "$top/scripts/netobs" report "$@" >"$tmp/page" 2>"$tmp/err"
}

traffic() {
	ip netns exec "$space" python3 "$top/tests/tools/report/report_traffic.py" "$1"
}

# captures: whether $pid captures, and ends the capture at an interrupt.  It is the last program that the shell becomes.
captures() {
	grep -q '^netobs-report: captures ' "$tmp/err" && grep -q '^SigCgt:.*[2367abef]$' "/proc/$pid/status"
}

TMPDIR=$tmp ip netns exec "$space" "$top/scripts/netobs" report -i lo --for 10m >"$tmp/page" 2>"$tmp/err" &
pid=$!
wait_for captures
check "the message has the time" grep -q 'captures lo for 600 s' "$tmp/err"
traffic ends
let_deliver
kill -INT "$pid"
wait "$pid"
is "an interface, until SIGINT" "$?" 0
is "its connections" "$(data "[(port, rows[port][7], rows[port][17]) for port in sorted(rows)]")" \
	"[(7001, 1000, 'fin'), (7002, 0, 'refused')]"
is "the capture is gone" "$(find "$tmp" -name 'netobs.*')" ""
report -i lo --for 1
is "--for ends it" "$?" 0
TMPDIR=$tmp/none report -i lo --for 1
is "no place for the capture" "$? $(grep -c "cannot write to $tmp/none" "$tmp/err")" "1 1"

mkdir "$tmp/small" || exit 99
if unshare -m mount -t tmpfs none "$tmp/small" 2>/dev/null; then
	# shellcheck disable=SC2016
	ip netns exec "$space" unshare -m sh -c 'mount -t tmpfs -o size=32k none "$1" && TMPDIR=$1 exec "$2" report -i lo' \
		- "$tmp/small" "$top/scripts/netobs" >"$tmp/page" 2>"$tmp/err" &
	pid=$!
	wait_for captures
	traffic bulk
	wait "$pid"
	is "no room for the capture: a page of what there is" \
		"$?-$(grep -c 'capture of lo breaks off, because it cannot be written: No space left' "$tmp/err")-$(data "rows[7003][17]")" \
		"2-1-capture-end"
else
	skip "no room for the capture" "tmpfs cannot be mounted"
fi
if permitted ip -n "$space" link add first type veth peer name second; then
	ip -n "$space" link set first up
	ip netns exec "$space" "$top/scripts/netobs" report -i first >"$tmp/page" 2>"$tmp/err" &
	pid=$!
	wait_for captures
	ip -n "$space" link delete first
	wait "$pid"
	is "an interface that disappears" "$? $(grep -c 'the capture of first breaks off' "$tmp/err")" "2 1"
	is "and the page says so" "$(data "verdict['capture']['text'][:37]")" "The capture is damaged or incomplete,"
else
	skip "an interface that disappears" "$kernel_refusal"
fi
tap_done
