#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A signal ends netobsd within a second, also while nothing that it writes is read.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/unread.sh
. "$(dirname "$0")/unread.sh"

# ends_soon NAME: sends the signal
ends_soon() {
	begin=$(date +%s%N)
	kill -TERM "$pid"
	wait "$pid"
	took=$((($(date +%s%N) - begin) / 1000000))
	note "ended after $took ms"
	check "$1: a signal ends it within a second" test "$took" -lt 1000
}

chmod 600 "$tmp/out"
quiet
replay
ends_soon "replay, same user"
continue_reading "$reader"
replay setpriv --reuid 65533 --regid 65533 --clear-groups
ends_soon "replay, other user"
continue_reading "$reader"
begin_traffic
for workers in 1 2; do
	observe $workers
	ends_soon "interface, $workers workers"
	continue_reading "$out" "$err"
done
end_traffic
tap_done
