#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# No frame that a host can send costs more than 10 us: the frames that are known to be expensive, and a search for
# others.
#
#	NETOBS_COST_SECONDS	processor time of the search, in seconds (5)
#	NETOBS_COST_SEED	another search (1)
#
# The limit is that of a build with -O2 and without sanitizers; on a slower machine, or without
# optimization, it is higher in proportion, up to 4 times (cost_meter_slowness()).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

limit=10000
seconds=${NETOBS_COST_SECONDS:-5}
seed=${NETOBS_COST_SEED:-1}

for program in cost_known cost_search cost_search_walk; do
	built "$build/tests/cost/$program"
done
! grep -aqE '__(asan|ubsan|tsan|msan)_|__gcov_' "$build/tests/cost/cost_known" ||
	skip_all "a build with sanitizers or gcov is slow"

# The search finds a slow path: the index of iSCSI sessions as a walk.  One of the most expensive recipes that it finds
# costs less without the walk.  A search of 10 s finds it in about two of three cases on a slow machine.
walk_is_found() {
	for walk_seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$build/tests/cost/cost_search_walk" 10 0 "$walk_seed" >"$tmp/walk" 2>/dev/null || return 1
		awk '/^[0-9]+ ns a frame:/ { print $5 }' "$tmp/walk" >"$tmp/recipes"
		while read -r recipe; do
			with=$("$build/tests/cost/cost_search_walk" "$recipe") || return 1
			without=$("$build/tests/cost/cost_search" "$recipe") || return 1
			note "seed $walk_seed: $with with the walk, $without without"
			[ "${with%% *}" -lt $((2 * ${without%% *})) ] || return 0
		done <"$tmp/recipes"
	done
	return 1
}
check "the search finds a walk through all connections" walk_is_found

# within PROGRAM ARGUMENT ...: runs it with its output as notes; fails if it does, and if it measured nothing
within() {
	within_status=0
	within_program=$build/tests/cost/$1
	shift
	"$within_program" "$@" >"$tmp/within" 2>/dev/null || within_status=1
	grep -q '[1-9]' "$tmp/within" || within_status=1
	sed 's/^/# /' "$tmp/within"
	return "$within_status"
}
measured "no frame that is known to be expensive costs more than $limit ns" within cost_known "$limit"
measured "a search finds no frame that costs more than $limit ns" within cost_search "$seconds" "$limit" "$seed"
tap_done
