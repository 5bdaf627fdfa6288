#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The fuzz targets of frames over the first frames of all captures of $NETOBS_SHARED, and runs with every output over these
# captures and those of the source tree, with each limit of flows from 16 to 40.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
[ -d "$shared/captures" ] || skip_all "there is no $shared/captures"
mkdir "$tmp/frames"
find "$shared/captures" -type f ! -name '*.md' ! -name '*.tsv' -exec "$build/tests/fuzz/fuzz_seeds" "$tmp/frames" 300 {} +
note "$(find "$tmp/frames" -type f | wc -l) frames"
for target in fuzz_frame fuzz_reassembly fuzz_sctp fuzz_flow; do
	check "$target over frames of captures" "$build/tests/fuzz/$target" -runs=0 "$tmp/frames"
done

# captures COMMAND...: runs the command with all captures
captures() {
	find "$top/tests/captures" "$shared/captures" "$shared/cases" -type f ! -name '*.md' ! -name '*.tsv' -exec "$@" {} +
}

for limit in $(seq 16 40); do
	rm -rf "$tmp/runs"
	captures python3 "$top/tests/fuzz/run_seeds.py" "$tmp/runs" "$limit"
	[ "$limit" -ne 16 ] || note "$(find "$tmp/runs" -type f | wc -l) captures"
	check "fuzz_run with every output, at most $limit flows" "$build/tests/fuzz/fuzz_run" -runs=0 "$tmp/runs"
done
tap_done
