# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests of the page of the metrics address, sourced after running.sh: netobsd on two interfaces, one of whose names
# has markup, and requests to $address.

address=127.0.0.1:9800 client=$top/tests/service/control_client.py
ip -n "$space" address add 192.0.2.1/24 dev lo
ip -n "$space" link add '"}<b>x\1' type veth peer name peer 2>/dev/null || skip_all "no veth interfaces here"
ip -n "$space" link set peer up
ip -n "$space" link set '"}<b>x\1' up

# begin_netobsd ADDRESS [OPTION]...
begin_netobsd() {
	address=$1
	shift
	start -i '"}<b>x\1' -f 'port 7001 or port 7002' --metrics="$address" "$@"
}

# request PATH [METHOD [HEADER]...]: the status, and the body in $tmp/reply
request() {
	inside python3 "$top/tests/page/request.py" "$address" "$tmp/reply" "$@"
}

# get PATH: the body
get() {
	[ "$(request "$1")" = 200 ] && cat "$tmp/reply"
}

# make_traffic: four connections that stay open, the first half closed and the second from a port below that of the
# server, and two that end; returns when netobsd has observed them
make_traffic() {
	begin_traffic
	traffic connect first 7001
	traffic connect second 7001 6001
	traffic connect third 7001
	traffic connect fourth 7001
	for name in first second third fourth; do
		traffic send "$name" 500
	done
	traffic half first
	for name in fifth sixth; do
		traffic connect "$name" 7001
		traffic close "$name"
	done
	wait_for observed
}

observed() {
	get /metrics | grep -q 'connections_by_state{proto="tcp",state="time-wait"} 2' &&
		get /connections | grep -q '_state":"close-wait"'
}
