#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page of the metrics address: which requests are answered, and with what.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/../service/running.sh"
# shellcheck source=tests/page/live_page.sh
. "$(dirname "$0")/live_page.sh"

begin_netobsd 127.0.0.1:9800
is "the page" "$(request /) $(grep -c '^<!DOCTYPE html>' "$tmp/reply") $(grep -c '{"live":true}' "$tmp/reply")" "200 1 1"
is "it asks its own server only" "$(grep -c "default-src 'none'; script-src 'sha256-[^']*'; style-src 'sha256-[^']*'; connect-src 'self'" "$tmp/reply")" 1
is "its end is there" "$(tail -n 1 "$tmp/reply")" "</html>"
is "HEAD" "$(request / HEAD)" 200
is "only GET and HEAD" "$(request / POST)" 405
is "localhost" "$(request / GET 'Host: LOCALHOST:9800')" 200
is "::1" "$(request / GET 'Host: [::1]:9800')" 200
is "a name that leads here" "$(request / GET 'Host: evil.example')" 403
check "the reply says why" grep -q '^The field Host of the request must name this host' "$tmp/reply"
is "in front of another one" "$(request /connections GET 'Host: 127.0.0.1.evil.example')" 403
is "two names" "$(printf 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n' |
	inside python3 "$client" raw-http 127.0.0.1 9800 | cut -d ' ' -f 2 | head -n 1)" 400
is "no name" "$(printf 'GET / HTTP/1.0\r\n\r\n' |
	inside python3 "$client" raw-http 127.0.0.1 9800 | cut -d ' ' -f 2 | head -n 1)" 403
check "the name of an interface is quoted once in the metrics" [ "$(get /metrics | grep -c '^netobs_interface_up{interface="\\"}<b>x\\\\1"} 1$')" -eq 1 ]
is "a name with a NUL" "$(printf 'GET / HTTP/1.1\r\nHost: localhost\0.evil.example\r\n\r\n' |
	inside python3 "$client" raw-http 127.0.0.1 9800 | cut -d ' ' -f 2 | head -n 1)" 400
for host in 127.0.0.1:9800 localhost:9800 '[::1]:9800'; do
	is "metrics for $host" "$(request /metrics GET "Host: $host")" 200
done
is "metrics for a name that leads here" "$(request /metrics GET 'Host: evil.example')" 403
is "metrics without a name, which no browser asks for" "$(printf 'GET /metrics HTTP/1.0\r\n\r\n' |
	inside python3 "$client" raw-http 127.0.0.1 9800 | cut -d ' ' -f 2 | head -n 1)" 200
for path in / /metrics /connections /services /elsewhere; do
	printf 'GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' "$path" |
		inside python3 "$client" raw-http 127.0.0.1 9800 | tr -d '\r' | sed '/^$/q' >"$tmp/header"
	is "$path: no other site may embed or read it, and it is not kept" "$(grep -cxE "Cache-Control: no-store|\
Content-Security-Policy: frame-ancestors 'none'|Cross-Origin-Resource-Policy: same-origin|Referrer-Policy: no-referrer|\
X-Content-Type-Options: nosniff|X-Frame-Options: DENY" "$tmp/header")" 6
done
is "another path" "$(request /connections/)" 404

make_traffic
before=$(date +%s)
get /connections >"$tmp/lines"
is "the time, and the connections that have not ended, an object a line" "$(grep -c '^{"cr_start":' "$tmp/lines") $(wc -l <"$tmp/lines")" "4 5"
time=$(sed -n '1s/^{"time":\([0-9]*\)[0-9]\{9\}}$/\1/p' "$tmp/lines")
check "the time is now" [ "$time" -ge "$((before - 1))" -a "$time" -le "$(($(date +%s) + 1))" ]
is "the client is the end that sent the SYN" "$(grep -c '"cr_role":"seen","cr_client":"127.0.0.1","cr_client_port":[0-9]*,.*"cr_server_port":7001,' "$tmp/lines")" 4
is "without processes" "$(get /connections | grep -c 'python3')" 0
# Two have ended.
get /services >"$tmp/lines"
is "services, with open connections" "$(sed -n 's/.*"address":"\([^"]*\)","port":\([0-9]*\),.*"connections":\([0-9]*\),"open":\([0-9]*\),.*/\1 \2 \3 \4/p' "$tmp/lines")" \
	"127.0.0.1 7001 6 4"
is "and how many there are" "$(sed -n 1p "$tmp/lines")" '{"services":1}'
is "the metrics of a service count what has ended" \
	"$(get /metrics | sed -n 's/^netobs_service_connections_total{server="127.0.0.1",port="7001",proto="tcp"} //p')" 2
end_traffic
stop

begin_netobsd 192.0.2.1:9800 --metrics-anywhere
is "there metrics are for any name" "$(request /metrics GET 'Host: prometheus.example')" 200
is "an address that others reach has metrics only" "$(request /metrics) $(request / GET 'Host: localhost') $(request /connections GET 'Host: localhost') $(request /services GET 'Host: localhost')" \
	"200 404 404 404"
stop

tap_done
