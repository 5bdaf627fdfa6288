#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs-connfs reads many files from one list of connections.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/connfs_mount.sh
. "$(dirname "$0")/connfs_mount.sh"

start --udp-idle=3600
begin_traffic
"$connfs" -s "$socket" "$root"
make_streams

# read_soon: a request for each file takes 5 seconds and more
read_soon() {
	begin=$(date +%s%N)
	cat "$root"/*/state >"$tmp/states"
	took=$((($(date +%s%N) - begin) / 1000000))
	note "read in $took ms"
	[ "$took" -lt 4000 ]
}

measured "10,000 files are read in 4 seconds" read_soon
cat "$root"/*/state >"$tmp/states"
is "each has a line" "$(wc -l <"$tmp/states")" 10000
end_traffic
stop
tap_done
