# shellcheck shell=sh disable=SC2154 # top and cache are those of the script
# SPDX-License-Identifier: BSD-2-Clause
#
# Machines of check-vm: source it with $top, the source tree, and $cache, the cache directory, set, after guests.sh.  A machine
# has a directory on the host, whose base name is its name: console.log (kernel and systemd), qemu.log, and share/, which is
# /vm in the guest.  Its image is that of a guest of tests/vm/guests; changes are lost when QEMU ends.

# accelerator GUEST: prints kvm or tcg.  KVM is used only if the guest started under it on this kernel; the result is
# remembered beside its image.
accelerator() {
	if [ -n "${NETOBS_VM_ACCEL:-}" ]; then
		echo "$NETOBS_VM_ACCEL"
	elif [ ! -w /dev/kvm ]; then
		echo tcg
	else
		sed -n "s/^$(uname -r) //p" "$cache/image-$1/accelerator" 2>/dev/null | grep . || echo untried
	fi
}

# machine_start ACCELERATOR GUEST DIRECTORY [QEMU-OPTION...]: starts QEMU in the background.  QEMU ends with this shell, unless
# $NETOBS_VM_KEEP is set.  $NETOBS_VM_QEMU is the program in place of QEMU in tests/vm/harness.sh.
machine_start() {
	machine_accelerator=$1
	machine_image=$cache/image-$2
	machine_processors=$(guest_setting "$2" processors)
	machine=$3
	shift 3
	case $machine_accelerator in
	kvm) set -- "$@" -accel kvm -cpu host,-arch-capabilities ;;
	*) set -- "$@" -accel tcg,thread=multi,tb-size=512 -cpu max ;;
	esac
	machine_runner='setpriv --pdeathsig KILL'
	[ -z "${NETOBS_VM_KEEP:-}" ] || machine_runner=setsid
	mkdir -p "$machine/share"
	rm -f "$machine/agent" "$machine/monitor"
	# The temporary file of the changes has no name, so that it disappears with QEMU.  Paths of sockets have at most 107
	# bytes: relative ones.
	(
		cd "$machine" || exit 1
		# shellcheck disable=SC2086 # a command and its options
		TMPDIR=${NETOBS_VM_TMPDIR:-/var/tmp} exec $machine_runner "${NETOBS_VM_QEMU:-qemu-system-x86_64}" -name "netobs-${machine##*/}" \
			-machine q35,sata=off,smbus=off,vmport=off -smp "$machine_processors" -m 1536 -nodefaults -display none -serial file:console.log \
			-kernel "$machine_image/vmlinuz" -initrd "$machine_image/initrd.img" \
			-append "root=/dev/vda rw console=ttyS0 net.ifnames=0 panic=1 systemd.show_status=yes" \
			-drive "file=$machine_image/disk.img,if=virtio,format=raw,snapshot=on,cache=unsafe" \
			-device virtio-serial-pci -chardev socket,path=agent,server=on,wait=off,id=agent \
			-device virtserialport,chardev=agent,name=netobs \
			-chardev socket,path=monitor,server=on,wait=off,id=monitor -mon chardev=monitor \
			-fsdev "local,id=source,path=$top,security_model=none,readonly=on,multidevs=remap" \
			-device virtio-9p-pci,fsdev=source,mount_tag=netobs \
			-fsdev local,id=share,path=share,security_model=none -device virtio-9p-pci,fsdev=share,mount_tag=vm \
			-object rng-random,filename=/dev/urandom,id=random -device virtio-rng-pci,rng=random \
			"$@" </dev/null >qemu.log 2>&1 8>&-
	) &
	echo $! >"$machine/pid"
}

# machine_nics: prints the QEMU options of the usual network cards: eth0 and eth1 are virtio cards on one hub, eth2 and eth3
# e1000e cards on another.  Nothing else is connected to the hubs.
machine_nics() {
	machine_nics=
	for machine_nic in 0:0:virtio-net-pci 1:0:virtio-net-pci 2:1:e1000e 3:1:e1000e; do
		machine_card=${machine_nic#*:*:}
		machine_hub=${machine_nic#*:}
		machine_nics="$machine_nics -netdev hubport,id=n${machine_nic%%:*},hubid=${machine_hub%:*}"
		machine_nics="$machine_nics -device $machine_card,netdev=n${machine_nic%%:*},mac=52:54:00:00:00:0${machine_nic%%:*}"
	done
	echo "$machine_nics"
}

# machine_hello DIRECTORY SECONDS: waits until the agent of a guest that starts answers
machine_hello() {
	"$top/tests/vm/command.py" -b -t "$2" "$1" true 2>/dev/null
}

# machine_boot GUEST DIRECTORY [QEMU-OPTION...]: boots a guest and waits until its services have started.  It has no network
# card but those of the QEMU-OPTIONs: $(machine_nics) unquoted.
machine_boot() {
	machine_use=$(accelerator "$1")
	if [ "$machine_use" = untried ]; then
		# Debian's kernel does not start under every /dev/kvm.
		machine_start kvm "$@"
		if machine_connect "$2" && machine_hello "$2" 60; then
			machine_use=kvm
		else
			machine_stop "$2"
			machine_use=tcg
		fi
		echo "$(uname -r) $machine_use" >"$cache/image-$1/accelerator"
	fi
	if [ ! -e "$2/pid" ]; then
		machine_start "$machine_use" "$@"
		machine_connect "$2" && machine_hello "$2" 300 || return 1
	fi
	machine_ready "$2"
}

# machine_ready DIRECTORY: waits until the services of a guest have started
machine_ready() {
	machine_run "$1" 240 'systemctl is-system-running --wait' >"$1/running" 2>&1 || {
		machine_run "$1" 60 'systemctl --failed --no-legend; systemctl list-jobs' >>"$1/running" 2>&1
		return 1
	}
}

# machine_connect DIRECTORY: waits until QEMU listens
machine_connect() {
	for _ in $(seq 100); do
		[ ! -S "$1/agent" ] || return 0
		machine_lives "$1" || return 1
		sleep 0.1 # no event: the interval between two tries
	done
	return 1
}

# machine_run DIRECTORY SECONDS COMMAND: runs a command of the shell as root in the guest; status 124 after SECONDS, 125 if
# the guest died, restarted or does not answer
machine_run() {
	"$top/tests/vm/command.py" -t "$2" "$1" "$3"
}

# machine_reboot DIRECTORY: restarts a guest; the changes of its disk remain
machine_reboot() {
	# The restart ends the command, early.
	machine_run "$1" 240 'sync; systemctl --no-block start reboot.target; sleep infinity' >"$1/reboot" 2>&1
	[ $? -ne 124 ] && machine_hello "$1" 300 && machine_ready "$1"
}

# machine_lives DIRECTORY: whether QEMU runs.  A process that has ended may still have its id.
machine_lives() {
	grep -q '^State:[[:blank:]]*[^XZ[:blank:]]' "/proc/$(cat "$1/pid")/status"
} 2>/dev/null

# machine_stop DIRECTORY: ends QEMU
machine_stop() {
	[ -e "$1/pid" ] || return 0
	machine_pid=$(cat "$1/pid")
	kill -KILL "$machine_pid" 2>/dev/null
	wait "$machine_pid" 2>/dev/null
	rm -f "$1/pid" "$1/agent" "$1/monitor"
}
