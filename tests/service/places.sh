#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Where the control socket and the metrics may be, who may connect, and when netobsd refuses to start.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

client=$top/tests/service/control_client.py

# refused NAME PATTERN ARGUMENT...: netobsd does not start, with one line that matches
refused() {
	refused_name=$1 refused_pattern=$2
	shift 2
	inside timeout 60 "$netobsd" -i lo "$@" >"$tmp/out" 2>"$tmp/err"
	is "$refused_name: status" $? 1
	is "$refused_name: one line" "$(grep -c . "$tmp/err"):$(grep -cE "^netobsd: $refused_pattern" "$tmp/err")" 1:1
}

# refused_to_user: netobsd as a user that may capture and no more, with the control socket $tmp/run/foreign
refused_to_user() {
	inside timeout 60 setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps -all,+net_raw \
		--ambient-caps -all,+net_raw "$copy" -i lo --control "$tmp/run/foreign" 2>"$tmp/err"
}

start --metrics 127.0.0.1:9812
refused "an occupied socket" "the control socket .* is in use" --control "$socket"
refused "an occupied address" "cannot serve metrics at 127.0.0.1:9812: Address already in use" --metrics 127.0.0.1:9812
is "another user cannot connect" "$(ctl_as 65533 status 2>&1)" \
	"netobsctl: $socket: Permission denied: it belongs to user $(stat -c %U "$socket") and group $(stat -c %G "$socket") \
(mode 0660); run this command as root or as a user who may write to it"
kill -9 "$pid"
wait "$pid" 2>/dev/null
check "a socket left behind" test -S "$socket"
start --control-mode 666
check "a socket left behind is replaced" ctl status
is "its mode" "$(stat -c %a "$socket")" 666
check "mode 666: every user gets replies" ctl_as 65533 status
is "mode 666: another user cannot reload" "$(ctl_as 65533 reload 2>&1)" \
	"netobsctl: only root and the user that netobsd runs as may reload the configuration"
stop

refused "no such group" "there is no group nosuchgroup for the control socket" --control "$socket" \
	--control-group nosuchgroup
refused "no such directory" "cannot create the control socket .*: No such file" --control "$tmp/nowhere/control"
mkdir "$tmp/foreign"
chown 65533 "$tmp/foreign"
refused "a directory of another user" "cannot create the control socket .* belongs to user 65533" --control "$tmp/foreign/control"
mkdir "$tmp/open"
chmod 777 "$tmp/open"
refused "a directory that every user can write" \
	"cannot create the control socket .*: $tmp/open is writable by every user \(mode 0777\); chmod o-w $tmp/open" \
	--control "$tmp/open/control"
mkdir -m 755 "$tmp/open/safe"
refused "a directory below one that every user can write" \
	"cannot create the metrics socket .*: $tmp/open is writable by every user" --metrics "unix:$tmp/open/safe/metrics"
: >"$tmp/run/file"
# A stale socket of another user that may be connected to, and one that may not; a directory without permission.
copy=$(private_netobsd) || exit 99
for mode in 0666 0600; do
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$tmp/run/foreign"
	chmod "$mode" "$tmp/run/foreign"
	refused_to_user
	is "a socket of another user (mode $mode)" "$? $(cat "$tmp/err")" "1 netobsd: cannot create the control socket \
$tmp/run/foreign: the path exists, belongs to user 0 (mode $mode), and user 65533 may not replace it; remove it as root, or use \
another path"
	rm -f "$tmp/run/foreign"
done
refused_to_user
is "a directory without permission" "$? $(cat "$tmp/err")" "1 netobsd: cannot create the control socket $tmp/run/foreign: \
user 65533 has no write permission for its directory; run as root, or use another path"
refused "something else at the path" "cannot create the control socket .* the path exists and is not a socket" --control "$tmp/run/file"
refused "a path that is too long" "the path of the control socket has [0-9]* bytes" \
	--control "$tmp/$(head -c 200 /dev/zero | tr '\0' a)"
refused "a bad mode" "--control-mode 999: expected octal permissions" --control "$socket" --control-mode 999
refused "metrics at an address that other hosts can reach" "--metrics 0.0.0.0:9812: other hosts can reach this address" --metrics 0.0.0.0:9812
refused "metrics nowhere" "--metrics elsewhere: expected unix:PATH, ADDRESS:PORT" --metrics elsewhere
refused "metrics at a bad port" "--metrics 127.0.0.1:0: expected unix:PATH" --metrics 127.0.0.1:0

# fill USER: as a member of the socket's group takes all places for streams, $filling
fill() {
	: >"$tmp/fill"
	python3 "$client" fill "$socket" "$1" "$(stat -c %g "$socket")" >"$tmp/fill" &
	filling=$!
	wait_for grep -q error "$tmp/fill"
}

# empty: ends it
empty() {
	kill "$filling"
	wait "$filling"
	wait_for reached feed.now 0
}

# crowded: a member of the socket's group opens many connections of both kinds, and root is served all the same
crowded() {
	: >"$tmp/crowd"
	python3 "$client" crowd "$socket" 65533 "$(stat -c %g "$socket")" >"$tmp/crowd" &
	crowd=$!
	wait_for grep -q ready "$tmp/crowd"
	for request in 1 2 3 4 5 6 7 8; do
		check "root is served in a crowd: $request" ctl status
	done
	kill "$crowd"
	wait "$crowd"
}

start --control-group nogroup
fill 65533
is "streams of others" "$(cat "$tmp/fill")" \
	"112 error there are at least 112 streams already, and only root and the user that netobsd runs as may have the last 16"
"$ctl" -s "$socket" stream >"$tmp/stream" &
streaming=$!
check "root has a stream besides" wait_for reached feed.now 113
kill "$streaming"
wait "$streaming"
empty
fill 0
is "streams of root" "$(cat "$tmp/fill")" "128 error there are 128 streams already, as many as there can be"
empty
crowded
stop

# No descriptor is left for another client.
busy="netobsd is busy: it has no descriptor left for a client; close other clients, or raise its limit of open files \
(LimitNOFILE= of the unit, ulimit -n)"
program=$netobsd netobsd=$tmp/limited
cat >"$netobsd" <<END
#!/bin/sh
ulimit -n 65
exec "$program" "\$@"
END
chmod 755 "$netobsd"
start --control-group nogroup --metrics 127.0.0.1:9812
netobsd=$program
descriptors >"$tmp/descriptors"
fill 0
is "without a descriptor: streams" "$(cut -d ' ' -f 2- "$tmp/fill")" "error $busy"
is "without a descriptor: requests" "$(ctl status 2>&1)" "netobsctl: $busy"
is "without a descriptor: the metrics" \
	"$(inside python3 "$client" statuses 127.0.0.1 9812 "GET /metrics HTTP/1.1")" "HTTP/1.1 503 Service Unavailable"
empty
check "with descriptors again" ctl status
is "no descriptor is lost" "$(descriptors)" "$(cat "$tmp/descriptors")"
crowded
stop

start --metrics "unix:$tmp/run/metrics" --metrics-anywhere
inside python3 "$client" http-unix "$tmp/run/metrics" "GET /metrics HTTP/1.1" >"$tmp/http"
check "metrics on a Unix socket" grep -q netobs_frames_total "$tmp/http"
stop

tap_done
