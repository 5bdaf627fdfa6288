# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154
#
# For tests of what netobsd does on a machine with DTrace, sourced after tap.sh: DTrace's device without DTrace, and
# tracers that do as DTrace does: a uprobe at a site, without raising its semaphore.

# device_refused: prints why there can be no device here, or nothing
device_refused() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "tracing needs root"
	elif ! have readelf unshare od; then
		echo "readelf, unshare or od is not installed"
	elif [ ! -e /sys/kernel/tracing/uprobe_events ] && ! mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; then
		echo "no tracefs"
	elif ! permitted with_device test -e /dev/dtrace/helper; then
		echo "$kernel_refusal"
	fi
}

# with_device COMMAND...: runs the command where /dev/dtrace/helper is a file, which refuses every request.  It has a /dev of
# its own; other processes see none of this.  Its process id is in $tmp/device.pid.
with_device() {
	mkdir -p "$tmp/device"
	# shellcheck disable=SC2016 # for the other shell
	unshare --mount --propagation private sh -c '
		dev=$1
		shift
		mount -t tmpfs none "$dev" && mkdir "$dev/dtrace" && : >"$dev/dtrace/helper" || exit 98
		for node in null zero full random urandom; do
			: >"$dev/$node" && mount --bind "/dev/$node" "$dev/$node" || exit 98
		done
		mount --rbind "$dev" /dev || exit 98
		echo $$ >"$dev.pid"
		exec "$@"' sh "$tmp/device" "$@"
}

# site_offset FILE PROVIDER PROBE KIND: where in the file the site of this kind is, plain or fast; the only one if there is one
site_offset() {
	site_text=$(readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print "0x" $3, "0x" $4 }')
	readelf -nW "$1" 2>/dev/null | awk -v provider="$2" -v probe="$3" '
		/Provider: / { from = $NF }
		$1 == "Name:" { name = $2 }
		$1 == "Location:" && from == provider && name == probe { sub(/,/, "", $2); print $2 }' | {
		site_found=''
		while read -r site; do
			site=$((site - ${site_text% *} + ${site_text#* }))
			case $(od -An -tx1 -j "$site" -N 1 "$1") in
			*0f) [ "$4" = plain ] && [ -n "$site_found" ] || site_found=$site ;;
			*) [ "$4" = fast ] && [ -n "$site_found" ] || site_found=$site ;;
			esac
		done
		[ -n "$site_found" ] && printf '0x%x' "$site_found"
	}
}

# uprobe_add NAME FILE PROVIDER PROBE KIND: a uprobe, which is not enabled yet
uprobe_add() {
	uprobe_at=$(site_offset "$2" "$3" "$4" "$5") && [ -n "$uprobe_at" ] || return 1
	at_end "uprobe_remove '$1'"
	echo "p:netobs$$/$1 $2:$uprobe_at" >>/sys/kernel/tracing/uprobe_events
}

# uprobe_enable NAME 0|1
uprobe_enable() {
	echo "$2" >"/sys/kernel/tracing/events/netobs$$/$1/enable"
}

uprobe_remove() {
	if [ -e "/sys/kernel/tracing/events/netobs$$/$1" ]; then
		uprobe_enable "$1" 0
		echo "-:netobs$$/$1" >>/sys/kernel/tracing/uprobe_events
	fi
}

# uprobe_hits NAME: how often it was hit since it was added
uprobe_hits() {
	awk -v file="$tmp/" -v name="$1" 'index($0, file) && $(NF - 1) == name { print $NF }' /sys/kernel/tracing/uprobe_profile
}
