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

# ends_soon READERS COMMAND...: sends the signal after the command, and lets the readers continue
ends_soon() {
	readers=$1
	shift
	"$@"
	begin=$(date +%s%N)
	kill -TERM "$pid"
	wait "$pid"
	took=$((($(date +%s%N) - begin) / 1000000))
	note "ended after $took ms"
	eval "continue_reading $readers"
	[ "$took" -lt 1000 ]
}

chmod 600 "$tmp/out"
# shellcheck disable=SC2016 # the readers that the command starts
{
	measured "replay, same user: a signal ends it within a second" ends_soon '$reader' replay
	measured "replay, other user: a signal ends it within a second" \
		ends_soon '$reader' replay setpriv --reuid 65533 --regid 65533 --clear-groups
	begin_traffic
	for workers in 1 2; do
		measured "interface, $workers workers: a signal ends it within a second" ends_soon '$out $err' observe $workers
	done
}
end_traffic
tap_done
