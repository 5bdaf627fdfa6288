# shellcheck shell=sh disable=SC2154 # tap.sh sets the variables
# SPDX-License-Identifier: BSD-2-Clause
#
# What guest scripts share, beside tests/lib/tap.sh, which they source first.  $top is the source tree, read-only; $netobsd
# the installed program; /vm a directory that guest and host share; $VM_STAGE counts the restarts of the guest.

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
