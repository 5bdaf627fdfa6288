#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A cold boot with `any` and one with a named interface that the network manager configures: the service is active right after
# the boot, without a restart, and observes frames.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

network=/etc/systemd/network/netobs-vm.network

# cards: the drivers of eth0 to eth3
cards() {
	for card in eth0 eth1 eth2 eth3; do
		basename "$(readlink /sys/class/net/$card/device/driver)"
	done | paste -s -d ' ' -
}

# booted NAME: points about the service after a boot
booted() {
	is "$1: the guest runs" "$(systemctl is-system-running)" running
	is "$1: the service is active, without a restart" "$(property ActiveState) $(property NRestarts)" "active 0"
	journalctl -q -b -o cat -p warning -u netobs >"$tmp/warnings"
	is "$1: no warning" "$(cat "$tmp/warnings")" ""
}

case $VM_STAGE in
1)
	check "the kernel is Debian's 6.1" expr "$(uname -r)" : '6\.1\..*-amd64$'
	is "the cards" "$(cards)" "virtio_net virtio_net e1000e e1000e"
	reboot_guest
	;;
2)
	booted "any"
	observes "any: frames are observed"
	cp /etc/netobs/netobs.conf /etc/netobs/netobs.conf.shipped
	configure 'interface = {"eth0"}'
	printf '%s\n' '[Match]' 'Name=eth0' '[Network]' 'Address=192.0.2.1/24' >$network
	systemctl -q enable systemd-networkd
	reboot_guest
	;;
3)
	booted "eth0"
	check "eth0: it is up" wait_for grep -qx up /sys/class/net/eth0/operstate
	observes "eth0: frames are observed" eth0 192.0.2.2
	netobsctl interfaces >"$tmp/interfaces"
	check "eth0: no other interface is observed" test "$(grep -cE '^(eth|lo|any)' "$tmp/interfaces")" -eq 1
	systemctl -q disable --now systemd-networkd systemd-networkd.socket
	rm $network
	ip address flush dev eth0
	ip link set eth0 down
	systemctl stop netobs
	mv /etc/netobs/netobs.conf.shipped /etc/netobs/netobs.conf
	;;
esac

tap_done
