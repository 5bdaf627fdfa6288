#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/vm/image.sh GUEST DIRECTORY: makes the image of a guest of tests/vm/guests there: vmlinuz, initrd.img and disk.img
# (ext4).  As root, with network.  $NETOBS_VM_MIRROR is another Debian mirror.
set -eu

vm=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/vm/guests.sh
. "$vm/guests.sh"
guest=$1
directory=$2
root=$directory/root
rm -rf "$directory"
mkdir -p "$root"

# Hooks of mmdebstrap: scripts with the guest's root as argument.  The kernel is installed after the first, so that the
# initrd contains only what finds the disk; it is unpacked faster than the one for every machine.
cat >"$directory/before" <<'HOOK'
set -eu
mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/netobs-vm"
printf 'MODULES=list\nCOMPRESS=zstd\n' >"$1/etc/initramfs-tools/conf.d/netobs-vm"
printf 'virtio_pci\nvirtio_blk\next4\nvirtio_net\n' >"$1/etc/initramfs-tools/modules"
HOOK
cat >"$directory/after" <<'HOOK'
set -eu
echo netobs-vm >"$1/etc/hostname"
echo '127.0.0.1 localhost netobs-vm' >"$1/etc/hosts"
: >"$1/etc/fstab"
: >"$1/etc/machine-id"
chroot "$1" passwd -q -d root
# Timers and a console login that only take time.
chroot "$1" systemctl -q mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
	dpkg-db-backup.timer systemd-tmpfiles-clean.timer getty.target systemd-logind.service
# The agent comes from the shared source tree, so that a change of it needs no new image.
mkdir "$1/netobs" "$1/vm"
cat >"$1/etc/systemd/system/netobs-vm.service" <<'UNIT'
[Unit]
Description=Agent of make check-vm
BindsTo=dev-virtio\x2dports-netobs.device
After=dev-virtio\x2dports-netobs.device

[Service]
ExecStartPre=mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose netobs /netobs
ExecStartPre=mount -t 9p -o rw,trans=virtio,version=9p2000.L,msize=262144 vm /vm
ExecStart=/usr/bin/python3 -B /netobs/tests/vm/agent.py
OOMScoreAdjust=-900
TasksMax=infinity
LimitNOFILE=65536

[Install]
WantedBy=multi-user.target
UNIT
chroot "$1" systemctl -q enable netobs-vm.service
HOOK

# Without a further suite mmdebstrap adds the suite's updates.
further=$(guest_setting "$guest" further)
set -- ${NETOBS_VM_MIRROR:+"$NETOBS_VM_MIRROR"}
if [ -n "$further" ]; then
	mirror=${NETOBS_VM_MIRROR:-http://deb.debian.org/debian}
	set -- "$mirror" "deb $mirror $further main"
fi
# The essential packages are unpacked when the first hook runs, the others are not.  A mirror may be days late.
# shellcheck disable=SC2016 # $1 is that of the hook's shell
mmdebstrap --quiet --mode=root --variant=minbase --include="initramfs-tools,zstd,$(guest_packages "$guest")" \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--essential-hook="sh '$directory/before' \"\$1\"" --customize-hook="sh '$directory/after' \"\$1\"" \
	"$(guest_setting "$guest" suite)" "$root" "$@"

cp "$root/vmlinuz" "$directory/vmlinuz"
cp "$root/initrd.img" "$directory/initrd.img"
mke2fs -q -t ext4 -O ^has_journal -m 0 -L netobs -d "$root" "$directory/disk.img" "$(guest_setting "$guest" size)"
rm -rf "$root" "$directory/before" "$directory/after"
