#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Observing an interface, a first proof: two network namespaces with a cable between them and real sockets at both ends.
# netobsd reports the states and the bytes of the connection at each end.  tests/live/live.sh has the rest.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/live_hosts.sh
. "$top/tests/lib/live_hosts.sh"

server_states="listen syn-received established close-wait last-ack closed"
client_states="closed syn-sent established fin-wait-1 fin-wait-2 time-wait"

# fired PROBE: whether the probe has fired
fired() {
	[ "$(count "$1")" -gt 0 ]
}

# bytes_of PROBE: payload bytes of all firings; a retransmission adds no bytes
bytes_of() {
	grep "\"probe\":\"$1\"" "$tmp/out" | grep -o '"so_bytes":[0-9]*' | awk -F : '{ n += $2 } END { printf "%.0f", n }'
}

# Frames are observed in the order of their capture: when the refusal is reported, so is the connection before it.
observe "$far" 1 -i far0 --print --format json --summary
converse "$far" "$near" 10.77.0.2 7001
in_near python3 "$sockets" refused 10.77.0.2 7002
wait_for fired tcp-accept-refused
finish_now
is "the server's side: exit status" $? 0
is "the server's side: states" "$(states_of 7001)" "server 10.77.0.2 $server_states"
is "the server's side: bytes received and sent" "$(bytes_of socket-receive) $(bytes_of socket-send)" "6 6"
is "the server's side: accepted" "$(count tcp-accept-established) $(count tcp-connect-established)" "1 0"
is "the server's side: refused" "$(count tcp-accept-refused) $(count tcp-connect-refused)" "1 0"
is "the server's side: no frame is dropped" "$(counter capture.dropped) $(counter capture.interface-dropped)" "0 0"
check "the server's side: the interface is named" grep -q '"if_name":"far0"' "$tmp/out"
check "the server's side: no message" sh -c "! grep '^netobsd:' '$tmp/err'"

observe "$near" 1 -i near0 --print=tcp-*,socket-* --format json
converse "$far" "$near" 10.77.0.2 7003
in_near python3 "$sockets" refused 10.77.0.2 7002
wait_for fired tcp-connect-refused
finish_now
is "the client's side: states" "$(states_of 7003)" "client 10.77.0.1 $client_states"
is "the client's side: bytes sent and received" "$(bytes_of socket-send) $(bytes_of socket-receive)" "6 6"
is "the client's side: requests" "$(count tcp-connect-request)" 2
is "the client's side: established and refused" "$(count tcp-connect-established) $(count tcp-connect-refused)" "1 1"

observe "$near" 1 -i near0 --view both --print=tcp-state-change,tcp-connect-refused --format json
converse "$far" "$near" 10.77.0.2 7004
in_near python3 "$sockets" refused 10.77.0.2 7002
wait_for fired tcp-connect-refused
finish_now
is "view both: both ends" "$(states_of 7004)" "client 10.77.0.1 $client_states
server 10.77.0.2 $server_states"

tap_done
