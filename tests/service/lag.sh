#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How late observation is: a netobsd that is stopped for a second is a second late, in netobsctl status and in the metrics.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip || skip_all "python3 or ip is not installed"
space=netobs-lag-$$ pid='' socket=$tmp/control client=$top/tests/service/control_client.py
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap 'kill -9 $pid 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up

ctl() {
	"$build/netobsctl" -s "$socket" "$@"
}

# send COUNT: datagrams to a port where nothing listens, each with the ICMP message that answers it
send() {
	ip netns exec "$space" python3 -c "
import socket
for port in range($1):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 7000 + port))"
}

# seen FRAMES: so many have been observed, without the copies of loopback
seen() {
	[ "$(ctl status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["frames"])')" -ge "$1" ]
}

# status KEY VALUE: a time of the last minute, in milliseconds
status() {
	ctl status --json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1']['$2'] // 1000000)"
}

ip netns exec "$space" "$netobsd" -i lo --control "$socket" --metrics 127.0.0.1:9812 >"$tmp/log" 2>&1 &
pid=$!
wait_for ctl status
is "without frames: no times" "$(ctl status | grep -cE '^(lag|batch time) ')" 0
is "without frames: 0" "$(status lag_ns max) $(status batch_ns p99)" "0 0"

send 3
wait_for seen 6
ctl status >"$tmp/status"
times='median [0-9]+[.][0-9]{3} ms, 99th percentile [0-9]+[.][0-9]{3} ms, worst [0-9]+[.][0-9]{3} ms in the last minute'
check "lag" grep -qxE "lag +$times" "$tmp/status"
check "time of a batch" grep -qxE "batch time +$times" "$tmp/status"
ctl status --json | python3 -c '
import json, sys
status = json.load(sys.stdin)
for key in ("lag_ns", "batch_ns"):
    times = status[key]
    print(key, 0 < times["p50"] <= times["p99"] <= times["max"] < 60e9)' >"$tmp/order"
is "median, 99th percentile and worst in order" "$(paste -s -d ' ' "$tmp/order")" "lag_ns True batch_ns True"

kill -STOP "$pid"
send 1
sleep 1 # no event: so late it will be
kill -CONT "$pid"
wait_for seen 8
worst=$(status lag_ns max)
check "stopped for a second: a second late" test "$worst" -ge 1000
check "and no more than the test took" test "$worst" -lt 60000
check "its batch takes no second" test "$(status batch_ns max)" -lt "$worst"

ip netns exec "$space" python3 "$client" http 127.0.0.1 9812 "GET /metrics HTTP/1.1" | tr -d '\r' >"$tmp/page"
# bucket METRIC BOUND: samples up to the bound
bucket() {
	sed -n "s/^netobs_$1_bucket{le=\"$2\"} //p" "$tmp/page"
}
is "metrics: all batches have both times" "$(bucket batch_lag_seconds +Inf)" "$(bucket batch_duration_seconds +Inf)"
is "the count is that of the last bucket" "$(sed -n 's/^netobs_batch_lag_seconds_count //p' "$tmp/page")" \
	"$(bucket batch_lag_seconds +Inf)"
check "a lag above a second, and others below" test "$(bucket batch_lag_seconds 0.268435456)" -lt "$(bucket batch_lag_seconds +Inf)"
# shellcheck disable=SC2016
check "the sum is above a second" awk '/^netobs_batch_lag_seconds_sum / { exit !($2 >= 1) }' "$tmp/page"
tap_done
