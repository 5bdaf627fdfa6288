# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154
#
# For tests of perf, sourced after tap.sh: an event of the kernel for a probe, and what perf records of it.

# perf_refused: prints why perf cannot record here, or nothing
perf_refused() {
	if ! have perf flock; then
		echo "perf or flock is not installed"
	elif [ "$(id -u)" -ne 0 ]; then
		echo "perf needs root"
	elif [ ! -e /sys/kernel/tracing/uprobe_events ] && ! mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; then
		echo "no tracefs"
	fi
}

# perf_event FILE PROBE: adds an event for all sites of the probe, its name in $event; fails if perf does not add it.
# perf keeps its list of probes below the home directory, and the events themselves in the kernel, where another may have this
# name already: perf prints the one that it gives.  One perf at a time, else two choose the same.
perf_event() {
	HOME=$tmp perf buildid-cache --add "$1" >>"$tmp/perf.err" 2>&1
	HOME=$tmp flock /sys/kernel/tracing perf probe --force -x "$1" --add "sdt_netobs:$2" >"$tmp/perf.added" 2>&1
	cat "$tmp/perf.added" >>"$tmp/perf.err"
	event=$(sed -n "s/^ *\(sdt_netobs:$2[_0-9]*\) .*/\1/p" "$tmp/perf.added" | sort -u | paste -s -d , -)
	for perf_added in $(echo "$event" | tr , ' '); do
		at_end "perf probe -q --del $perf_added 2>/dev/null"
	done
	[ -n "$event" ] || ! cat "$tmp/perf.added"
}

# perf_record FILE ARGUMENT...: records the event; FILE is the recording
perf_record() {
	perf_recording=$1
	shift
	HOME=$tmp perf record -q -o "$perf_recording" -e "$event" "$@" >>"$tmp/perf.err" 2>&1
}

# perf_count FILE [PATTERN]: the firings in a recording, those that match
perf_count() {
	HOME=$tmp perf script -i "$1" 2>>"$tmp/perf.err" | grep -c "${event%%,*}[_0-9]*:${2-}"
}
