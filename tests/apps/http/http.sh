#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real HTTP: nginx with curl and ab, and a server and clients that do what those do not (tests/apps/http/http_clients.py), on
# the loopback interface of a network namespace.  The probes are compared with tshark's HTTP dissector, message by message:
# also from the client's side, truncated by the snapshot length and in mid-stream.
#
#	http.sh			compare
#	http.sh capture FILE	only write such a capture, of http_clients.py
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have tcpdump tshark python3 ip unshare || skip_all "tcpdump, tshark, python3, ip or unshare is not installed"
refused=$(unshare -n true 2>&1) || skip_all "$refused"

# Servers and clients, in a namespace whose loopback interface has the MTU of Ethernet, so that messages are split over
# segments, and an address for each side.  Port 9999 is known by the first bytes only.
cat >"$tmp/traffic.sh" <<'END'
set -u
cd "$1" || exit 1
export TMPDIR="$1" top_srcdir="$2"
. "$2/tests/lib/tap.sh"
. "$2/tests/lib/loopback.sh"
clients=$2/tests/apps/http/http_clients.py
python3 "$clients" serve 192.0.2.1 8080 >serve.log 2>&1 &
python3 "$clients" serve 192.0.2.1 9999 >elsewhere.log 2>&1 &
wait_for grep -q ready serve.log
wait_for grep -q ready elsewhere.log

capture traffic "tcp port 8080"
timeout 120 python3 "$clients" run 192.0.2.1 8080 $([ "$3" = capture ] && echo small) >traffic.out 2>&1
captured traffic
[ "$3" = compare ] || exit 0
capture elsewhere "tcp port 9999"
timeout 120 python3 "$clients" run 192.0.2.1 9999 >elsewhere.out 2>&1
captured elsewhere
command -v nginx >/dev/null && command -v curl >/dev/null && command -v ab >/dev/null || exit 0

mkdir root
echo hello >root/index.html
head -c 300000 /dev/zero >root/large
cat >nginx.conf <<CONF
daemon off;
pid $1/nginx.pid;
error_log $1/nginx.error;
worker_processes 1;
user root;
events {}
http {
	access_log $1/nginx.access;
	client_body_temp_path $1/body;
	proxy_temp_path $1/proxy;
	fastcgi_temp_path $1/fastcgi;
	uwsgi_temp_path $1/uwsgi;
	scgi_temp_path $1/scgi;
	keepalive_requests 10000;
	server {
		listen 192.0.2.1:80;
		root $1/root;
		location /moved { return 302 /; }
		location /gone { return 410; }
		location /proxy/ { proxy_pass http://192.0.2.1:8080/; }
	}
}
CONF
nginx -c "$1/nginx.conf" -p "$1" >nginx.log 2>&1 &
url=http://192.0.2.1
wait_for curl -s -o /dev/null $url/

capture nginx "tcp port 80"
{
	curl -s $url/ $url/large $url/missing $url/moved $url/gone $url/proxy/chunked
	curl -s -I $url/ $url/large
	curl -s -r 10-19 $url/large
	curl -s -r 999999- $url/large
	curl -s -0 $url/
	curl -s -L $url/moved
	curl -s -H 'Expect: 100-continue' -d @root/large $url/proxy/plain
	curl -s -T root/large -H 'Transfer-Encoding: chunked' $url/
	curl -s -X DELETE $url/index.html
	curl -s --http2 $url/
	curl -s -x $url http://netobs.example/
	ab -q -n 300 -c 10 -k $url/
	ab -q -n 300 -c 10 $url/
} >curl.out 2>&1
captured nginx
exit 0
END

timeout 600 unshare -n sh "$tmp/traffic.sh" "$tmp" "$top" "${1:-compare}" 2>"$tmp/error"
capture=$tmp/traffic.pcap
if [ "${1-}" = capture ]; then
	cat "$tmp/traffic.out"
	cp "$capture" "$2"
	exit
fi
if ! grep -q '^absolute done$' "$tmp/traffic.out"; then
	not_ok "server and clients run" "$tmp/error" "$tmp/serve.log" "$tmp/traffic.out"
	tap_done
fi

# messages NAME CAPTURE: against tshark
messages() {
	check "$1" python3 "$top/tests/apps/http/http_messages.py" "$netobsd" "$top/tests/apps/http/http_differences.tsv" "$2"
	note "$(tail -n 1 "$tmp/check")"
}

messages "each request and each response fires its probe, with the fields that tshark finds" "$capture"
messages "likewise on a port that is not one of HTTP" "$tmp/elsewhere.pcap"
if [ -e "$tmp/nginx.pcap" ]; then
	messages "likewise nginx, with curl and ab" "$tmp/nginx.pcap"
	"$netobsd" -r "$tmp/nginx.pcap" --print='http-request-done' --format json >"$tmp/done"
	is "each request of nginx's log is done" "$(wc -l <"$tmp/done")" "$(($(wc -l <"$tmp/nginx.access") - 1))"
	# Status and bytes: of each request by nginx's log, which counts the body only.
	sed 's/.*"rq_status":\([0-9]*\),.*/\1/' "$tmp/done" | sort >"$tmp/ours"
	sed 1d "$tmp/nginx.access" | sed 's/.*" \([0-9]*\) [0-9]* ".*/\1/' | sort >"$tmp/theirs"
	check "and its status is the log's" diff "$tmp/theirs" "$tmp/ours"
else
	skip "nginx, with curl and ab" "nginx, curl or ab is not installed"
fi

# probes OPTION...: the firings as lines without connection ids, which differ between ends
probes() {
	"$netobsd" -r "$capture" --print='http-*' "$@" | sed 's/, cid [0-9]*$//'
}

probes >"$tmp/both"
is "there are messages" "$([ "$(wc -l <"$tmp/both")" -gt 100 ] && echo many)" many
probes --view monitor >"$tmp/monitor"
check "view monitor: the same firings" cmp "$tmp/both" "$tmp/monitor"
probes --local 192.0.2.1/32 >"$tmp/server"
check "view host, local server: the same firings" cmp "$tmp/both" "$tmp/server"
probes --local 192.0.2.2/32 | sed -E 's/ (192.0.2.2:[0-9]*) - (192.0.2.1:[0-9]*),/ \2 - \1,/' >"$tmp/client"
check "view host, local client: the same firings, endpoints exchanged" cmp "$tmp/both" "$tmp/client"
probes --http-port 3 >"$tmp/recognised"
check "another --http-port: the first bytes tell" cmp "$tmp/both" "$tmp/recognised"
probes --http-port 3 --ports-only >"$tmp/ports"
is "another --http-port and --ports-only: no firing" "$(wc -l <"$tmp/ports")" 0
"$netobsd" -r "$capture" --print='http-*' --format json >"$tmp/json"
is "each request has a number of its own" "$(grep -c http-request-start "$tmp/json")" \
	"$(sed -n 's/.*http-request-start.*"rq_id":\([0-9]*\),.*/\1/p' "$tmp/json" | sort -u | wc -l)"
is "and each is done" "$(grep -c http-request-done "$tmp/json")" "$(grep -c http-request-start "$tmp/json")"

"$netobsd" -r "$capture" --print='http-*' --summary 2>&1 >/dev/null | sed -n 's/^anomaly\.\(http[a-z-]*\) *\([0-9]*\).*/\1 \2/p' >"$tmp/anomalies"
is "the anomalies are those that the server and the clients provoke" "$(tr '\n' ',' <"$tmp/anomalies")" \
	"http-fold 4,http-encoding 1,http-header-limit 2,http-cut 1,"

# untimed FILE: without the time of the firing, and the times and bytes of the request, which differ if bytes are missing
untimed() {
	sed -e 's/^[^ ]* //' -e 's/, request .*status/, status/' -e 's/, request [0-9]*$//' -e 's/, response .*//' "$1"
}

# part NAME FILE LEAST: at least LEAST firings, each of which occurs with the whole capture, too
part() {
	untimed "$tmp/both" >"$tmp/all"
	untimed "$2" | grep -Fxvf "$tmp/all" >"$tmp/invented"
	[ "$(wc -l <"$2")" -ge "$3" ] || echo "only $(wc -l <"$2") firings" >>"$tmp/invented"
	if [ ! -s "$tmp/invented" ]; then
		ok "$1"
	else
		not_ok "$1" "$tmp/invented"
	fi
}

if have editcap; then
	whole=$capture
	editcap -F pcap -s 160 "$whole" "$tmp/cut.pcap"
	capture=$tmp/cut.pcap
	probes >"$tmp/cut"
	part "truncated by the snapshot length: no invented firing" "$tmp/cut" 80
	for frame in 30 100 200 300; do
		editcap -F pcap -r "$whole" "$tmp/middle.pcap" $frame-100000
		capture=$tmp/middle.pcap
		probes >"$tmp/middle"
		part "in mid-stream, from frame $frame on: no invented firing" "$tmp/middle" 30
	done
	# One frame in ten is missing.
	# shellcheck disable=SC2046
	editcap -F pcap "$whole" "$tmp/missing.pcap" $(seq 5 10 1200)
	capture=$tmp/missing.pcap
	probes >"$tmp/missing"
	part "with missing frames: no invented firing" "$tmp/missing" 30
else
	skip "truncated, in mid-stream and with missing frames" "editcap is not installed"
fi
tap_done
