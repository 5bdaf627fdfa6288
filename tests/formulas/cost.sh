#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The evaluation of a typical formula costs at most 15 ns beyond its arguments, and that of the most expensive one,
# whose definition is as long as it can be, at most 10 us.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

limit=15 longest=10000

# within LIMIT LONGEST: runs the measurement with its output as notes
within() {
	within_status=0
	"$build/tests/formulas/cost_formula" "$@" >"$tmp/within" || within_status=$?
	sed 's/^/# /' "$tmp/within"
	return "$within_status"
}
check "every expression is measured" within
measured "an evaluation costs at most $limit ns, the most expensive $longest ns" within "$limit" "$longest"
tap_done
