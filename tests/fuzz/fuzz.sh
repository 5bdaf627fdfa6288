#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The fuzz targets as plain tests, with libFuzzer or with the driver of fuzz_main.c, which mutates the inputs as well.
# The seeds are of the source tree.  Sanitizers make it a test: without them most faults go unnoticed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"

# over TARGET MUTATIONS WHAT [SEEDS]: runs a target over its seeds, or over others, and over so many mutations of each
over() {
	over_seeds=$tmp/${4:-$1}
	if [ ! -d "$over_seeds" ] && ! "$top/tests/fuzz/make_seeds.sh" "$build/tests/fuzz/fuzz_seeds" "${4:-$1}" "$over_seeds"; then
		not_ok "fuzz_$1: seeds of $3"
		return
	fi
	note "$(find "$over_seeds" -type f | wc -l) inputs"
	check "fuzz_$1 over $3" \
		"$build/tests/fuzz/fuzz_$1" -runs=0 "-mutations=$2" "$over_seeds"
}

for target in frame reassembly sctp flow; do
	over "$target" 1 "frames of captures" frame
done
over pipeline 1 "batches of frames"
over iscsi 1 "connections, whole and damaged"
over dns 20 "connections, whole and damaged"
over http 1 "connections, whole and damaged"
over smb 20 "connections, whole and damaged"
over tls 20 "connections, whole and damaged"
over config 50 "configurations"
for target in capture decompress formula netlink print query slots; do
	over "$target" 10 "inputs and their mutations"
done
over run 0 "runs with every output and few flows" run-flows
over run 1 "runs with options at random, and their mutations"
tap_done
