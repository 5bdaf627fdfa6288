#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The fuzz targets of frames over the first frames of all captures of $NETOBS_SHARED.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -d "$shared/captures" ] || skip_all "there is no $shared/captures"
mkdir "$tmp/frames"
find "$shared/captures" -type f ! -name '*.md' ! -name '*.tsv' -exec "$build/tests/fuzz/fuzz_seeds" "$tmp/frames" 300 {} +
note "$(find "$tmp/frames" -type f | wc -l) frames"
for target in fuzz_frame fuzz_reassembly fuzz_sctp fuzz_flow; do
	check "$target over frames of captures" "$build/tests/fuzz/$target" -runs=0 "$tmp/frames"
done
tap_done
