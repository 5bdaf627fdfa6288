#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs-write@NAME.service under systemd with its sandbox: no restart without flight-memory, files, counts on SIGUSR1, a full
# disk, a write --on that is killed, the end of netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

unit=netobs-write@tcp-connect-refused.service
files=/var/lib/netobs/write/tcp-connect-refused
cp /etc/netobs/netobs.conf /etc/netobs/netobs.conf.shipped
ip link set lo up

# refuse COUNT: refused connections, which are triggers
refuse() {
	python3 -c '
import socket, sys
for i in range(int(sys.argv[1])):
    try:
        socket.create_connection(("127.0.0.1", 7100 + i))
    except ConnectionRefusedError:
        pass' "$1"
}

# reads: whether netobsd has a feed for write --on
reads() {
	[ "$(netobsctl counters | awk '$1 == "feed.now" { print $2 }')" = 1 ]
}

# has_files COUNT
has_files() {
	[ "$(find "$files" -name '[!.]*.pcapng' | wc -l)" -ge "$1" ]
}

# logged TEXT: whether the journal of write --on has a line with the text
logged() {
	journalctl --sync
	journalctl -q -o cat -u "$unit" --after-cursor "$cursor" | grep -q -e "$1"
}

# counts TEXT: sends SIGUSR1; whether the line of counts has the text
counts() {
	systemctl kill --kill-who=main --signal=USR1 "$unit"
	wait_for logged "$1"
}

# unit_is STATE
unit_is() {
	[ "$(property ActiveState "$unit")" = "$1" ]
}

configure 'interface = {"lo"}'
systemctl start netobs
cursor=$(journal_cursor)
systemctl start "$unit"
check "without flight-memory write --on ends" wait_for unit_is failed
is "its status, restarts" "$(property ExecMainStatus "$unit") $(property NRestarts "$unit")" "3 0"
check "its message" wait_for logged 'no frames are kept: start netobsd with --flight-memory'

configure 'interface = {"lo"}' 'flight-memory = "8M"'
systemctl enable -q "$unit"
cursor=$(journal_cursor)
systemctl restart netobs
check "with flight-memory it starts with netobsd" wait_for unit_is active
check "it reads a feed" wait_for reads
refuse 3
check "a file for each connection" wait_for has_files 3
first=$(find "$files" -name '*.pcapng' | sort | head -n 1)
is "owner and mode of a file" "$(stat -c '%U:%G %a' "$first")" "netobs:netobs 640"
is "it is a pcapng file" "$(od -An -tx1 -N4 "$first" | tr -d ' ')" 0a0d0d0a
check "SIGUSR1: counts" counts '3 triggers: 3 files with [0-9]* bytes, .* 0 failed, 0 waiting'
is "no restart, and nothing else is logged" \
	"$(property NRestarts "$unit") $(journalctl -q -o cat -u "$unit" --after-cursor "$cursor" | grep -c '^netobsctl:')" "0 1"

before=$(property MainPID "$unit")
systemctl kill --kill-who=main --signal=KILL "$unit"
# again: whether another process of the unit reads the feed
again() {
	unit_is active && [ "$(property MainPID "$unit")" != "$before" ] && reads
}
check "a write --on that is killed is restarted" wait_for again
refuse 1
check "it writes files again" wait_for has_files 4

systemctl stop "$unit"
rm -f "$files"/*
mount -t tmpfs -o size=8k,mode=0750,uid=netobs,gid=netobs none "$files"
cursor=$(journal_cursor)
systemctl start "$unit"
check "full disk: write --on starts" wait_for reads
refuse 6
check "full disk: the reason is logged" wait_for logged 'No space left on device; further files are tried'
check "full disk: failures are counted" counts '6 triggers: .* [1-9] failed, 0 waiting'
is "full disk: no hidden file is left" "$(find "$files" -name '.*' -type f)" ""
is "full disk: write --on runs on" "$(property ActiveState "$unit") $(property NRestarts "$unit")" "active 0"
systemctl stop netobs
check "it ends with netobsd" wait_for unit_is inactive

umount "$files"
systemctl disable -q "$unit"
systemctl reset-failed "$unit" 2>"$tmp/reset.err"
rm -rf /var/lib/netobs/write
mv /etc/netobs/netobs.conf.shipped /etc/netobs/netobs.conf
tap_done
