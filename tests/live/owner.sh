#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Owners of sockets, the tests that need root: network namespaces, and a user that may not read every process in /proc.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

program=$build/tests/owner/test_owner_lookup

built "$program"

# part NAME MODE
part() {
	if [ "$(id -u)" -ne 0 ]; then
		skip "$1" "needs root"
	elif [ "$2" = netns ] && ! unshare --net true 2>"$tmp/why"; then
		skip "$1" "no network namespaces here: $(head -n 1 "$tmp/why")"
	else
		check "$1" "$program" "$2"
	fi
}

part "sockets of another network namespace" netns
part "without privileges: the users of all sockets, the processes of own sockets" unprivileged

tap_done
