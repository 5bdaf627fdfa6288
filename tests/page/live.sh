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

# begin_netobsd ADDRESS [OPTION]...
begin_netobsd() {
	address=$1
	shift
	ip netns exec "$space" "$netobsd" -i lo -f 'port 7001 or port 7002' --metrics="$address" "$@" >"$tmp/log" 2>&1 &
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
is "metrics for any name" "$(request /metrics GET 'Host: prometheus.example')" 200
is "another path" "$(request /connections/)" 404

# Connections that stay open, and at the word "more" on standard input further ones that are refused.
mkfifo "$tmp/talk"
ip netns exec "$space" python3 -c '
import socket, sys
listener = socket.create_server(("127.0.0.1", 7001))
clients = [socket.create_connection(("127.0.0.1", 7001)) for _ in range(3)]
servers = [listener.accept()[0] for _ in clients]
for client in clients:
    client.sendall(b"x" * 500)
for line in open(sys.argv[1]):
    try:
        socket.create_connection(("127.0.0.1", 7002))
    except ConnectionRefusedError:
        pass
' "$tmp/talk" &
talk=$!
exec 4>"$tmp/talk"
three() {
	[ "$(get /connections | grep -c '^{')" -eq 3 ]
}
check "open connections, an object a line" wait_for three
is "without processes" "$(get /connections | grep -c '"comm":"python3"')" 0
if have chromium; then
	timeout 200 ip netns exec "$space" python3 "$top/tests/page/live.py" "$tmp" "http://$address/" >"$tmp/tap" 2>"$tmp/err" 4>&4
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
