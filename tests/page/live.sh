#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page of the metrics address: which requests are answered, and what a browser shows of connections that come and go.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip || skip_all "python3 or ip is not installed"
space=netobs-live-$$ pid='' talk=''
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap 'kill $pid $talk 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up
ip -n "$space" address add 192.0.2.1/24 dev lo
ip -n "$space" link add '"}<b>x' type veth peer name peer # markup as the name of an interface
ip -n "$space" link set peer up
ip -n "$space" link set '"}<b>x' up

# begin_netobsd ADDRESS [OPTION]...
begin_netobsd() {
	address=$1
	shift
	ip netns exec "$space" "$netobsd" -i lo -i '"}<b>x' -f 'port 7001 or port 7002' --metrics="$address" "$@" >"$tmp/log" 2>&1 &
	pid=$!
	wait_for get /metrics
}

end_netobsd() {
	kill "$pid"
	wait "$pid"
	pid=''
}

# request PATH [METHOD [HEADER]...]: the status, and the body in $tmp/reply
request() {
	ip netns exec "$space" python3 "$top/tests/page/request.py" "$address" "$tmp/reply" "$@"
}

# get PATH: the body
get() {
	[ "$(request "$1")" = 200 ] && cat "$tmp/reply"
}

begin_netobsd 127.0.0.1:9800
is "the page" "$(request /) $(grep -c '^<!DOCTYPE html>' "$tmp/reply") $(grep -c '{"live":true}' "$tmp/reply")" "200 1 1"
is "it asks its own server only" "$(grep -c "default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'; connect-src 'self'" "$tmp/reply")" 1
is "its end is there" "$(tail -n 1 "$tmp/reply")" "</html>"
is "HEAD" "$(request / HEAD)" 200
is "only GET and HEAD" "$(request / POST)" 405
is "localhost" "$(request / GET 'Host: LOCALHOST:9800')" 200
is "::1" "$(request / GET 'Host: [::1]:9800')" 200
is "a name that leads here" "$(request / GET 'Host: evil.example')" 403
is "in front of another one" "$(request /connections GET 'Host: 127.0.0.1.evil.example')" 403
is "two names" "$(printf 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n' |
	ip netns exec "$space" python3 -c 'import socket, sys; s = socket.create_connection(("127.0.0.1", 9800)); s.sendall(sys.stdin.buffer.read()); print(s.recv(100).decode()[9:12])')" 403
is "no name" "$(printf 'GET / HTTP/1.0\r\n\r\n' |
	ip netns exec "$space" python3 -c 'import socket, sys; s = socket.create_connection(("127.0.0.1", 9800)); s.sendall(sys.stdin.buffer.read()); print(s.recv(100).decode()[9:12])')" 403
check "the name of an interface is quoted in the metrics" [ "$(get /metrics | grep -c '^netobs_interface_up{interface="\\"}<b>x"} 1$')" -eq 1 ]
is "metrics for any name" "$(request /metrics GET 'Host: prometheus.example')" 200
is "another path" "$(request /connections/)" 404

# Connections that stay open, the first half closed and the second from a port below that of the server, and two that
# end.  At the line "refused" of the pipe another one that is refused, at the line "data" bytes on the open ones.
mkfifo "$tmp/talk"
ip netns exec "$space" python3 -c '
import socket, sys
listener = socket.create_server(("127.0.0.1", 7001))
def connect(port=0):
    client = socket.create_connection(("127.0.0.1", 7001), source_address=("127.0.0.1", port))
    return client, listener.accept()[0]
held = [connect(), connect(6001), connect(), connect()]
for client, server in held:
    client.sendall(b"x" * 500)
held[0][0].shutdown(socket.SHUT_WR)
for client, server in connect(), connect():
    client.close()
    server.recv(1)
    server.close()
for line in open(sys.argv[1]):
    if line == "data\n":
        for client, server in held[1:]:
            client.sendall(b"x" * 500)
        continue
    try:
        socket.create_connection(("127.0.0.1", 7002))
    except ConnectionRefusedError:
        pass
' "$tmp/talk" &
talk=$!
exec 4>"$tmp/talk"
# seen: everything above has been observed
seen() {
	get /metrics | grep -q 'connections_by_state{proto="tcp",state="time-wait"} 2' &&
		get /connections | grep -q '"state":"close-wait"'
}
wait_for seen
get /connections >"$tmp/lines"
is "the time, and the connections that have not ended, an object a line" "$(grep -c '^{"proto":' "$tmp/lines") $(wc -l <"$tmp/lines")" "4 5"
check "the time is now" [ "$(($(sed -n '1s/^{"time":\([0-9]*\)[0-9]\{9\}}$/\1/p' "$tmp/lines") - $(date +%s)))" -ge -5 ]
is "the client is the end that sent the SYN" "$(grep -c '"client":"near","role":"seen","near":{"cid":[0-9]*,"address":"127.0.0.1","port":[0-9]*,.*"port":7001,' "$tmp/lines")" 4
is "without processes" "$(get /connections | grep -c '"comm":"python3"')" 0
if have chromium; then
	timeout 200 ip netns exec "$space" python3 "$top/tests/page/live.py" "$tmp" "http://$address/" "$pid" \
		"$netobsd" -i lo -i '"}<b>x' -f 'port 7001 or port 7002' --metrics="$address" >"$tmp/tap" 2>"$tmp/err" 4>&4
	relay "$tmp/tap"
	is "the browser" "$(cat "$tmp/err")" ""
else
	skip "the page in a browser" "chromium is not installed"
fi
exec 4>&-
end_netobsd

begin_netobsd 192.0.2.1:9800 --metrics-anywhere
is "an address that others reach has metrics only" "$(request /metrics) $(request / GET 'Host: localhost') $(request /connections GET 'Host: localhost')" "200 404 404"
end_netobsd

tap_done
