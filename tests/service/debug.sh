#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Debug messages: topics at the start, in the file and at run time, and which users may switch them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

# topics: the enabled topics, separated by blanks
topics() {
	ctl debug | awk '$2 == "on" { printf "%s ", $1 }'
}

# logged TOPIC PATTERN: whether a debug message of that topic was logged
logged() {
	grep -qE "^netobsd: debug $1: .*$2" "$tmp/err"
}

# messages: number of debug messages so far
messages() {
	grep -c '^netobsd: debug ' "$tmp/err"
}

# reload: returns when netobsd has replied; a bad file is an error reply
reload() {
	ctl reload >/dev/null
}

# -------------------------------------------------------------------------------------------------------------- off

start --control-mode 666
is "off by default" "$(topics)" ""
ip -n "$space" address add 192.0.2.1/32 dev lo
ctl status >/dev/null
is "off: no message" "$(messages)" 0

# --------------------------------------------------------------------------------------------------- at run time

ctl debug host,query >"$tmp/reply"
is "switched on: exactly these" "$(topics)" "host query "
is "the reply is the list" "$(awk '$2 == "on" { print $1 }' "$tmp/reply" | tr '\n' ' ')" "host query "
ip -n "$space" address add 192.0.2.2/32 dev lo
check "host: a new address" wait_for logged host "address 192.0.2.2 of interface 1 is local now"
check "query: the request and its user" wait_for logged query "request of user 0: debug"
ip -n "$space" address del 192.0.2.2/32 dev lo
check "host: a removed address" wait_for logged host "address 192.0.2.2 of interface 1 was removed"
is "no message on another topic" "$(grep -cE '^netobsd: debug (config|confine|capture|live|owner):' "$tmp/err")" 0
for _ in 1 2 3 4 5 6 7 8; do
	ctl probes >/dev/null
done
is "debug messages are not limited" "$(grep -c "debug query: request of user 0: probes" "$tmp/err")" 8
is "JSON" "$(ctl debug --json | grep -o '"topic":"[a-z]*","on":true' | tr '\n' ' ')" '"topic":"host","on":true "topic":"query","on":true '

ctl debug nonsense 2>"$tmp/message"
is "unknown topic: status" $? 1
check "unknown topic: the list" grep -q "expected topics of config,confine,host,capture,live,owner,query" "$tmp/message"
is "unknown topic: topics are unchanged" "$(topics)" "host query "

check "another user can read the list" ctl_as 65533 debug
for operand in off all live; do
	is "another user cannot switch: $operand" "$(ctl_as 65533 debug $operand 2>&1)" \
		"netobsctl: only root and the user that netobsd runs as may switch debug messages"
done
is "another user: topics are unchanged" "$(topics)" "host query "

ctl debug off >/dev/null
before=$(messages)
ip -n "$space" address add 192.0.2.3/32 dev lo
ctl status >/dev/null
is "switched off" "$(topics):$(messages)" ":$before"
stop

# ---------------------------------------------------------------------------------------------------- at the start

ip netns exec "$space" "$netobsd" -i lo --debug nonsense >"$tmp/out" 2>"$tmp/err"
is "--debug nonsense: status" $? 1
check "--debug nonsense: the list" grep -q "^netobsd: --debug nonsense: expected topics of config,.*query" "$tmp/err"

start --debug config,live --debug confine --debug owner,capture tcp
is "--debug" "$(topics)" "config confine capture live owner "
check "config: settings other than the default" logged config "filter is tcp"
check "capture: the compiled filter" logged capture 'filter "tcp" compiled for lo, link type 1: [0-9]+ instructions'
check "capture: the start" logged capture "capture starts; workers: 1"
check "confine: user and capabilities" logged confine "runs as user [1-9][0-9]* .*capabilities left: none"
check "confine: the filter of system calls" logged confine "system-call filter is active"
check "owner: the namespace" logged owner "network namespace $(ip netns exec "$space" stat -L -c %i /proc/self/ns/net),"
check "live: the interface" logged live "interface lo opened: link type 1"
stop

JOURNAL_STREAM=1:1 start --debug live
check "priority for the journal" grep -q '^<7>netobsd: debug live: ' "$tmp/err"
stop

start --debug capture --workers 2 --on-demand
check "capture: fanout" logged capture "interface 1: socket 2 of fanout group [0-9]+, by hash"
check "capture: on demand" wait_for logged capture "worker 1: capture on demand is suspended: no probe is enabled"
stop

# ------------------------------------------------------------------------------------------------------ in the file

conf=$tmp/run/netobs.conf
echo 'debug = {config}' >"$conf"
start -c "$conf"
is "the file" "$(topics)" "config "
echo 'debug = {config, "live,host"} udp-idle = 7' >"$conf"
reload
is "reload: the new topics" "$(topics)" "config host live "
check "config: settings changed by a reload" logged config "reload: udp-idle has changed"
check "config: the topics have changed" logged config "reload: debug has changed"
ctl debug query,config >/dev/null
echo 'debug = {config, "live,host"} udp-idle = 8' >"$conf"
reload
is "reload: an unchanged setting leaves the choice of netobsctl" "$(topics)" "config query "
echo 'debug = {nonsense}' >"$conf"
reload 2>/dev/null
is "reload of a bad file: status, topics" "$?:$(topics)" "1:config query "
check "reload of a bad file: the line" grep -q "netobs.conf:1: debug = nonsense: expected topics of" "$tmp/err"
: >"$conf"
reload
is "reload: without the setting it is off" "$(topics)" ""
stop

# ---------------------------------------------------------------------------- an interface that is removed and returns

if permitted ip -n "$space" link add netobs0 type veth peer name netobs9; then
	ip -n "$space" link set netobs0 up
	ip -n "$space" link set netobs9 up
	start -i netobs0 --debug live
	ip -n "$space" link del netobs0
	check "live: the interface is removed" wait_for logged live "interface netobs0 was removed: it no longer exists"
	check "live: the reason why it is not opened again yet" wait_for logged live "interface netobs0 is not opened again yet: it does not exist"
	check "live: the next attempt" wait_for logged live "interface netobs0: next attempt in [0-9]+ s"
	ip -n "$space" link add netobs0 type veth peer name netobs9
	ip -n "$space" link set netobs0 up
	ip -n "$space" link set netobs9 up
	check "live: the reason why it cannot be opened" wait_for logged live "interface netobs0 cannot be opened: the permission was dropped"
	stop
else
	skip "an interface that is removed" "$kernel_refusal"
fi

if ip -n "$space" link add netobs1 type bridge 2>/dev/null && ip -n "$space" link set netobs0 master netobs1; then
	interface=any
	start --debug host
	ip -n "$space" link set netobs1 up # sends frames of neighbour discovery
	check "host: a lower device" wait_for logged host 'interface netobs0 is a lower device \(a port\)'
	stop
else
	skip "host: a lower device" "no bridges here"
fi

tap_done
