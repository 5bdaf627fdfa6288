#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Observing interfaces: two network namespaces with a cable between them and real sockets at both ends; netobsd
# must report what the kernel's own TCP does.  tests/live/connection.sh has the first connections.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# shellcheck source=tests/lib/live_hosts.sh
. "$(dirname "$0")/../lib/live_hosts.sh"

server_states="listen syn-received established close-wait last-ack closed"
client_states="closed syn-sent established fin-wait-1 fin-wait-2 time-wait"

observe "$near" 1 -i near0 --print=tcp-* --format json
converse "$far" "$near" fd77::2 7003
finish
is "the client's side: states over IPv6" "$(states_of 7003)" "client fd77::1 $client_states"

# --------------------------------------------------------------------------------------------------- other interfaces

observe "$far" 1 -i any --print --format json
converse "$far" "$near" 10.77.0.2 7005
converse "$far" "$far" 127.0.0.1 7006
finish
is "any: states" "$(states_of 7005)" "server 10.77.0.2 $server_states"
is "any: a connection of the host with itself has two ends, once" "$(states_of 7006)" "client 127.0.0.1 $client_states
server 127.0.0.1 $server_states"
is "any: frames have their real interfaces" \
	"$(grep -o '"if_name":"[^"]*"' "$tmp/out" | sort -u | tr '\n' ' ')" '"if_name":"far0" "if_name":"lo" '

observe "$far" 2 -i far0 -i lo --print=tcp-state-change --format json
converse "$far" "$near" 10.77.0.2 7007
converse "$far" "$far" 127.0.0.1 7008
finish
is "two interfaces: states" "$(states_of 7007)" "server 10.77.0.2 $server_states"
is "two interfaces: loopback" "$(states_of 7008)" "client 127.0.0.1 $client_states
server 127.0.0.1 $server_states"

in_far "$netobsd" -i any -i lo 2>"$tmp/err"
is "any and another: status" $? 1
check "any and another: message" grep -q 'netobsd: "any" already includes all interfaces' "$tmp/err"

# ---------------------------------------------------------------------------------------------- changes at run time

observe "$far" 1 -i far0 --print=tcp-state-change --format json
ip -n "$far" addr add 10.77.0.9/24 dev far0
summary_of "$pid" "$tmp/err"
converse "$far" "$near" 10.77.0.9 7009
is "an address that is added later is local" "$(states_of 7009 | cut -d ' ' -f 1,2)" "server 10.77.0.9"
ip -n "$far" link set far0 down
wait_for grep -q "far0 is down" "$tmp/err"
ip -n "$far" link set far0 up
wait_for grep -q "far0 is up again" "$tmp/err"
wait_for in_near python3 "$sockets" refused 10.77.0.2 7002
converse "$far" "$near" 10.77.0.2 7010
finish
is "an interface may go down and up: status" $? 0
is "an interface may go down and up: states" "$(states_of 7010)" "server 10.77.0.2 $server_states"
is "an interface may go down and up: one line each" "$(grep '^netobsd' "$tmp/err")" "netobsd: interface far0 is down
netobsd: interface far0 is up again"

# Frames that arrive before a tracer attaches are not observed.  The wait does not end while netobsd is stopped.
observe "$far" 1 -i far0 --wait-tracer=10 --print=tcp-state-change --format json --summary tcp
kill -STOP "$pid"
converse "$far" "$near" 10.77.0.2 7012
let_deliver
kill -CONT "$pid"
wait_for grep -q "no tracer attached" "$tmp/err"
converse "$far" "$near" 10.77.0.2 7013
finish
is "frames captured before the tracer attached are not observed" "$(states_of 7012)$(states_of 7013)" "server 10.77.0.2 $server_states"
is "frames before the tracer are not counted" "$(counter capture.received)" "$(counter frames)"

# It ends while frames arrive, which the kernel delivers in blocks.
observe "$far" 1 -i far0 --summary udp port 9
ip netns exec "$near" python3 "$sockets" flood 10.77.0.2 9 60000 20000 &
flood=$!
arrived() {
	[ "$(in_far cat /sys/class/net/far0/statistics/rx_packets)" -ge $((arrived_before + 1000)) ]
}
arrived_before=$(in_far cat /sys/class/net/far0/statistics/rx_packets)
wait_for arrived
finish
is "it ends while frames arrive: received is observed" "$(counter capture.received)" "$(counter frames)"
check "it ends while frames arrive: some have arrived" test "$(counter frames)" -gt 0
kill $flood
wait $flood 2>/dev/null

# Stopped, netobsd cannot empty its buffer, so frames are dropped and counted.
observe "$far" 1 -i far0 -B 128 --strict --summary udp port 9
kill -STOP "$pid"
in_near python3 "$sockets" flood 10.77.0.2 9 20000
kill -CONT "$pid"
finish
is "dropped frames: status with --strict" $? 3
check "dropped frames: counted" test "$(counter capture.dropped)" -gt 0
is "dropped frames: received = observed + dropped" "$(counter capture.received)" \
	"$(($(counter frames) + $(counter capture.dropped)))"

# With --immediate each frame takes as much of the buffer as the longest possible frame, and as much again on the loopback
# interface, where it is captured on its way out, too; the buffer must hold a burst of them.
observe "$far" 1 -i lo --immediate --summary udp
kill -STOP "$pid"
in_far python3 "$sockets" flood 127.0.0.1 9 200
kill -CONT "$pid"
finish
is "a burst delivered frame by frame" "$(counter frames) observed, $(counter capture.dropped) dropped" "200 observed, 0 dropped"

# If netobsd gets a processor late, frames keep their time of arrival.  There are more frames than it reads at a time, so
# that its clock advances between two reads.  The hosts share one processor meanwhile: the times of frames that two
# processors capture at once may cross.
observe "$far" 1 -i far0 -B 65536 --print=tcp-state-change --format json --summary
kill -STOP "$pid"
processors=$(taskset -cp $$ | sed 's/.*: //')
taskset -cp "${processors%%[,-]*}" $$ >/dev/null
in_near python3 "$sockets" flood 10.77.0.2 9 6000
converse "$far" "$near" 10.77.0.2 7014 0.4
taskset -cp "$processors" $$ >/dev/null
kill -CONT "$pid"
finish
is "frames that are read late: states" "$(states_of 7014)" "server 10.77.0.2 $server_states"
is "frames that are read late: time does not go back" "$(counter backwards)" 0
is "frames that are read late: the server took 0.4 s to close" "$(grep -o '"cs_ts":[0-9]*' "$tmp/out" | awk -F: '
	NR == 1 { first = $2 } END { print (($2 - first) / 1e9 >= 0.39) }')" 1

ip -n "$far" link add spare0 type veth peer name spare1
ip -n "$far" link set spare0 up
ip -n "$far" link set spare1 up
observe "$far" 2 -i spare0 -i far0 --print=tcp-state-change --format json
ip -n "$far" link del spare0
wait_for grep -q "spare0 was removed" "$tmp/err"
converse "$far" "$near" 10.77.0.2 7011
finish
is "one interface of two is removed: the other goes on" "$(states_of 7011)" "server 10.77.0.2 $server_states"
is "one interface of two is removed: one message" "$(grep -c '^netobsd: interface spare0 was removed' "$tmp/err")" 1

ip -n "$far" link add late0 type veth peer name late1
in_far "$netobsd" -i late0 2>"$tmp/err"
is "an interface that is down at the start: status" $? 1
check "an interface that is down at the start: message" grep -q "late0 is down; bring it up with: ip link set late0 up" "$tmp/err"

tap_done
