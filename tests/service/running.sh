# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034
#
# For tests of a running netobsd, sourced after tap.sh: netobsd, $pid, observes the loopback interface of a network
# namespace, netobsctl sends its requests to $socket, and traffic.py makes the traffic.  At the end what the test
# has mounted at $small is unmounted.  $ctl is a copy of
# netobsctl that every user may run, wherever this tree lies; $interface may be changed.

# shellcheck disable=SC2154 # variables of tap.sh
built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip setpriv || skip_all "python3, ip or setpriv is not installed"
space=netobs-run-$$ interface=lo
# shellcheck disable=SC2154
small=$tmp/small socket=$tmp/run/control ctl=$tmp/netobsctl
namespaces "$space" || skip_all "$kernel_refusal"
at_end "umount '$small' 2>/dev/null"
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run" "$small"
# shellcheck disable=SC2154
cp -- "$build/netobsctl" "$ctl" && chmod 755 "$ctl" || exit 99

# inside COMMAND...: in the namespace
inside() {
	ip netns exec "$space" "$@"
}

ctl() {
	"$ctl" -s "$socket" "$@"
}

# ctl_as USER ARGUMENT...: as a user without privileges
ctl_as() {
	ctl_user=$1
	shift
	timeout 60 setpriv --reuid "$ctl_user" --regid "$ctl_user" --clear-groups "$ctl" -s "$socket" "$@"
}

# start ARGUMENT...: starts netobsd, and returns when it replies: it then observes every frame.  Its buffer has room for
# all frames of a test, so that no frame is dropped while netobsd gets no processor.
start() {
	ip netns exec "$space" "$netobsd" -i "$interface" --control "$socket" -B 65536 "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_while "$pid" ctl status || cat "$tmp/err" >&2
}

# stop: ends netobsd; a status that is not 0 is a failed point
stop() {
	kill -INT "$pid"
	wait "$pid" || not_ok "netobsd ends with status $?" "$tmp/err"
}

# value NAME: of a counter, 0 if it is not listed
value() {
	ctl counters | awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }'
}

# reached NAME COUNT: whether the counter is exactly COUNT
reached() {
	[ "$(value "$1")" -eq "$2" ]
}

# descriptors: of netobsd, when it has closed its end of every connection to the control socket
descriptors() {
	wait_for only_listens
	find "/proc/$pid/fd" -type l | wc -l
}

only_listens() {
	[ "$(inside grep -c " $socket\$" /proc/net/unix)" -eq 1 ]
}

# has_lines FILE COUNT: whether the file has at least COUNT lines
has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# begin_traffic: starts traffic.py, its pid in $traffic
begin_traffic() {
	mkfifo "$tmp/say" "$tmp/said"
	# shellcheck disable=SC2154
	ip netns exec "$space" python3 "$top/tests/service/traffic.py" <"$tmp/say" >"$tmp/said" &
	traffic=$!
	exec 8>"$tmp/say" 9<"$tmp/said"
}

# traffic WORD...: a command of traffic.py; returns when it is done, its answer in $answer
traffic() {
	printf '%s\n' "$*" >&8
	read -r answer <&9 || not_ok "traffic: $*"
}

# end_traffic: ends traffic.py, and with it its connections
end_traffic() {
	echo end >&8
	exec 8>&- 9<&-
	wait "$traffic"
	rm "$tmp/say" "$tmp/said"
}
