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
