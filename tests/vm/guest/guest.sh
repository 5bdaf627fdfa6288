# shellcheck shell=sh disable=SC2154 # tap.sh sets the variables
# SPDX-License-Identifier: BSD-2-Clause
#
# What guest scripts share, in addition to tests/lib/tap.sh, which they source first.  $top is the source tree,
# read-only; $netobsd the installed program; /vm a directory that guest and host share; $VM_STAGE counts the restarts of
# the guest.

# reboot_guest: ends the script as tap_done does.  If no point failed, the guest restarts and the script runs again, with
# $VM_STAGE one higher.
reboot_guest() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ] || exit 1
	echo '# reboot'
	exit 0
}

# property NAME [UNIT]: a property of the unit
property() {
	systemctl show --property "$1" --value "${2:-netobs}"
}

# journal_since CURSOR FILE: the messages of the unit since journal_cursor printed CURSOR
journal_since() {
	journalctl --sync
	journalctl -q -o cat -u netobs --after-cursor "$1" >"$2"
}

# journal_cursor: the present end of the journal
journal_cursor() {
	journalctl -q -n 0 --show-cursor | sed -n 's/^-- cursor: //p'
}

# frames: the number of frames that the service has observed
frames() {
	netobsctl counters | awk '$1 == "frames" { print $2 }'
}

# note_loopback: notes the frames of the loopback interface for settled; call it before the service starts
note_loopback() {
	loopback_before=$(cat /sys/class/net/lo/statistics/tx_packets)
}

# settled: whether every frame has been observed or dropped.  The kernel counts the outgoing copies of frames on the loopback
# interface, which libpcap skips.
settled() {
	netobsctl counters | awk -v skipped="$(($(cat /sys/class/net/lo/statistics/tx_packets) - loopback_before))" '
		{ value[$1] = $2 }
		END { exit !(value["frames"] + value["capture.dropped"] + skipped == value["capture.received"]) }'
}

# fired PROBE: how often the probe of the service has fired
fired() {
	netobsctl probes --json | sed -n "s/.*\"$1\".*\"fired\":\([0-9]*\).*/\1/p"
}

# enabled PROBE: its ENABLED: all tracers count as one
enabled() {
	netobsctl probes --json | sed -n "s/.*\"$1\",\"enabled\":\([0-9]*\).*/\1/p"
}

# serve_pages: starts a web server at 127.0.0.1:8080 in the background, which serves $tmp; $server is its pid
serve_pages() {
	python3 -m http.server --bind 127.0.0.1 --directory "$tmp" 8080 >"$tmp/server" 2>&1 &
	# shellcheck disable=SC2034 # the script ends it
	server=$!
	wait_for serves
}

serves() {
	ss -Hltn 'sport = :8080' | grep -q .
}

# fetch_pages: ten connections to the web server
fetch_pages() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		curl -s -o "$tmp/page" http://127.0.0.1:8080/
	done
}

# closed: whether the kernel has closed each connection to the web server, at both ends
closed() {
	! ss -Htan '( sport = :8080 or dport = :8080 )' | grep -qvE '^(LISTEN|TIME-WAIT) '
}

# at_rest PROBE: whether the probe does not fire any more: all connections are closed, and netobsd has observed their
# frames.  TIME_WAIT ends a minute later.
at_rest() {
	at_rest_before=$(fired "$1")
	closed && settled && let_deliver && settled && [ "$(fired "$1")" -eq "$at_rest_before" ]
}

# more_frames COUNT [INTERFACE]: whether the service has observed more than COUNT frames after one more was sent to
# $more_frames_to
more_frames() {
	ping -q -c 1 -W 1 ${2:+-I "$2"} "${more_frames_to:-127.0.0.1}" || :
	[ "$(frames)" -gt "$1" ]
}

# observes NAME [INTERFACE ADDRESS]: a point: the service observes frames that are sent to ADDRESS through INTERFACE, by
# default to 127.0.0.1
observes() {
	more_frames_to=${3:-}
	if wait_for netobsctl status && observed=$(frames) && wait_for more_frames "$observed" "${2:-}"; then
		ok "$1"
	else
		{ netobsctl interfaces; journalctl -q --no-pager -o cat -u netobs -n 20; } >"$tmp/observes" 2>&1
		not_ok "$1" "$tmp/observes"
	fi
}

# configure LINE...: writes the service's configuration
configure() {
	printf '%s\n' "$@" 'control = "/run/netobs/control"' >/etc/netobs/netobs.conf
}

# other_process PID: whether the service is ready with another main process than PID
other_process() {
	[ "$(property ActiveState)" = active ] && [ "$(property MainPID)" != "$1" ]
}
