#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Clients of the control socket and of the metrics address that send no request or read no reply: they delay neither
# others nor capture, and are disconnected.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

client=$top/tests/service/control_client.py

# streams COUNT: whether so many are listed
streams() {
	[ "$(ctl connections --json 'protostr == "UDP"' | wc -l)" -eq "$1" ]
}

# observes: whether netobsd observes a new connection
observes() {
	traffic connect new 7001
	traffic close new
	wait_for has_closed
}

has_closed() {
	ctl connections server_port == 7001 | grep -q time-wait
}

start --metrics 127.0.0.1:9812 --udp-idle=3600
begin_traffic
traffic ports first 10001 20000
traffic ports second 10001 20000
check "20,000 streams are listed" wait_for streams 20000
ctl connections --json 'protostr == "UDP"' >"$tmp/streams"
is "many streams: each once" "$(sort -u "$tmp/streams" | wc -l)" 20000
descriptors=$(descriptors)

# At the same time, because netobsd disconnects them after seconds.
inside python3 "$client" stall-http 127.0.0.1 9812 40 >"$tmp/stall.http" &
stalling=$!
python3 "$client" slow "$socket" >"$tmp/slow" &
slow=$!
wait_for grep -q ready "$tmp/stall.http"
inside python3 "$client" http 127.0.0.1 9812 "GET /metrics HTTP/1.1" >"$tmp/page"
is "metrics: stalled clients do not keep others out" "$(head -n 1 "$tmp/page" | tr -d '\r')" "HTTP/1.1 200 OK"
wait_for grep -q ready "$tmp/slow"
check "a client that does not read: others get replies" ctl connections port 7003
wait "$stalling"
is "metrics: stalled clients are disconnected" $? 0
wait "$slow"
is "a client that does not read is disconnected" $? 0

# More clients than there are places; alone, because netobsd would disconnect the slow one for them.
python3 "$client" stall "$socket" 20 >"$tmp/stall" &
stalling=$!
wait_for grep -q ready "$tmp/stall"
check "stalled clients do not keep others out" ctl status
check "stalled clients: capture continues" observes
wait "$stalling"
is "stalled clients are disconnected" $? 0
check "then it answers" ctl status
is "no frame is dropped" "$(value capture.dropped)" 0
is "no descriptor is left open" "$(descriptors)" "$descriptors"
end_traffic
stop

tap_done
