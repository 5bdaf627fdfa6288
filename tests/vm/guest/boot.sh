#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The guest itself: Debian 12 with all its services, the installed program, and the network cards that other scripts use.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

is "the guest runs" "$(systemctl is-system-running)" running
check "the kernel is Debian's 6.1" expr "$(uname -r)" : '6\.1\..*-amd64$'
check "the program is installed" "$netobsd" --version
is "the cards" "$(for card in eth0 eth1 eth2 eth3; do basename "$(readlink /sys/class/net/$card/device/driver)"; done |
	paste -s -d ' ' -)" "virtio_net virtio_net e1000e e1000e"

tap_done
