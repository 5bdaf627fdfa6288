#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# How late observation is: a netobsd that is stopped for a second is a second late, in netobsctl status and in the metrics.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

# seen FRAMES: whether so many have been observed, without the copies of loopback
seen() {
	[ "$(value frames)" -ge "$1" ]
}

# status KEY VALUE: a time of the last minute, in nanoseconds
status() {
	ctl status --json | sed "s/.*\"$1\":{[^}]*\"$2\":\([0-9]*\).*/\1/"
}

begin=$(date +%s)
start --metrics "unix:$tmp/run/metrics"
begin_traffic
is "without frames: no times" "$(ctl status | grep -cE '^(lag|batch time) ')" 0
is "without frames: 0" "$(status lag_ns max) $(status batch_ns p99)" "0 0"

# A datagram to a port where nothing listens is answered with an ICMP message.
traffic udp sender 7000 3
wait_for seen 6
ctl status >"$tmp/status"
times='median [0-9]+[.][0-9]{3} ms, 99th percentile [0-9]+[.][0-9]{3} ms, worst [0-9]+[.][0-9]{3} ms in the last minute'
check "lag" grep -qxE "lag +$times" "$tmp/status"
check "time of a batch" grep -qxE "batch time +$times" "$tmp/status"
for key in lag_ns batch_ns; do
	printf '%s\n' 1 "$(status $key p50)" "$(status $key p99)" "$(status $key max)" >"$tmp/order"
	check "$key: median, 99th percentile and worst in order" sort -c -n "$tmp/order"
done

kill -STOP "$pid"
traffic udp sender 7000
sleep 1 # no event: so late it will be
kill -CONT "$pid"
wait_for seen 8
worst=$(status lag_ns max)
check "stopped for a second: a second late" test "$worst" -ge 1000000000
check "and no more than the test took" test "$((worst / 1000000000))" -le "$(($(date +%s) - begin))"
check "its batch takes no second" test "$(status batch_ns max)" -lt "$worst"

python3 "$top/tests/service/control_client.py" http-unix "$tmp/run/metrics" "GET /metrics HTTP/1.1" | tr -d '\r' >"$tmp/page"
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
end_traffic
stop
tap_done
