#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The watchdog notifications of netobsd come as often as the service manager requires.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"

# fed COUNT: whether COUNT watchdog notifications were received
fed() {
	[ "$(grep -c WATCHDOG "$tmp/notified")" -ge "$1" ]
}

python3 "$top/tests/service/listen_notify.py" "$tmp/socket" "$tmp/notified" &
manager=$!
wait_for grep -q listening "$tmp/notified"
mkfifo "$tmp/pipe"
NOTIFY_SOCKET=$tmp/socket WATCHDOG_USEC=400000 "$netobsd" -r "$tmp/pipe" --summary 2>"$tmp/err" &
exec 3>"$tmp/pipe"
cat "$top/tests/captures/cooked-refused.pcap" >&3 # then it waits for more
wait_for fed 1

# feeds: one every 0.4 s is required
feeds() {
	begin=$(date +%s%N)
	wait_for fed "$(($(grep -c WATCHDOG "$tmp/notified") + 4))"
	took=$((($(date +%s%N) - begin) / 1000000))
	note "four in $took ms"
	[ "$took" -le 1500 ]
}

measured "notification: the watchdog, at least as often as required" feeds
exec 3>&-
wait "$manager"

tap_done
