#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The limits of the unit are enough for the most workers.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

unit=$build/conf/netobs.service
[ -e "$unit" ] || skip_all "the unit is not made"
built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "capture needs root"
have ip || skip_all "ip is not installed"
space=netobs-limits-$$
namespaces "$space" || skip_all "$kernel_refusal"
ip -n "$space" link set lo up
chmod 755 "$tmp"

# setting NAME: a number of the unit; a G at its end counts MiB
setting() {
	sed -n -e "s/^$1=\([0-9]*\)\$/\1/p" -e "s/^$1=\([0-9]*\)G\$/\1 * 1024/p" "$unit"
}

# started: whether netobsd has logged the memory that it reserves
started() {
	grep -q 'memory reserved' "$tmp/err"
}

# all_tasks: whether both threads of each worker run
all_tasks() {
	[ "$(find "/proc/$main/task" -mindepth 1 -maxdepth 1 | wc -l)" -ge 128 ]
}

# Metrics need the records of connections.
printf 'interface = {"lo"}\nmetrics = "unix:%s"\n' "$tmp/metrics" >"$tmp/netobs.conf"
ip netns exec "$space" "$netobsd" -c "$tmp/netobs.conf" --workers 64 2>"$tmp/err" &
main=$!
wait_for started
check "64 workers have two threads each" wait_for all_tasks
tasks=$(find "/proc/$main/task" -mindepth 1 -maxdepth 1 | wc -l)
note "$tasks tasks, and 2 for a reload"
check "TasksMax is enough for 64 workers and a reload" test "$((tasks + 2))" -le "$(setting TasksMax)"
reserved=$(awk '/memory reserved/ { for (i = 2; i <= NF; i++) if ($i == "MiB") total += $(i - 1); printf "%.0f", total }' "$tmp/err")
# The capture buffers are resident, too, but they belong to the kernel, and MemoryMax does not count them.
resident=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$main/status")
streams=300 # 128 of them, with 64 workers: netobsctl(8)
need=$((reserved + resident / 1024 + streams))
limit=$(setting MemoryMax)
note "$need MiB of $limit"
check "MemoryMax is enough for 64 workers" test "$need" -le "$((${limit:-0}))"
kill "$main"
wait "$main"

tap_done
