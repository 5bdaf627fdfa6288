#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real TLS: openssl's server and client, and nginx with curl, on the loopback interface of a network namespace.  The hellos are
# compared with tshark's; also from the client's side and with missing frames.
#
#	tls.sh			compare
#	tls.sh capture FILE	only write such a capture
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have openssl tcpdump tshark editcap python3 ip unshare || skip_all "openssl, tcpdump, tshark, python3, ip or unshare is not installed"
refused=$(unshare -n true 2>&1) || skip_all "$refused"

# On port 443 a server that takes every version, on 4443 one that wants a certificate, on 4444 one with another key exchange group
# than clients send first, on 4445 one of TLS 1.3 that wants the certificate cert.pem.
cat >"$tmp/traffic.sh" <<'END'
set -u
cd "$1" || exit 1
export TMPDIR="$1" top_srcdir="$2"
. "$2/tests/lib/tap.sh"
. "$2/tests/lib/loopback.sh"
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=www.example.com -days 30 -keyout key.pem -out cert.pem 2>/dev/null
openssl s_server -accept 192.0.2.1:443 -cert cert.pem -key key.pem -www -alpn h2,http/1.1 >server.log 2>&1 &
openssl s_server -accept 192.0.2.1:4443 -cert cert.pem -key key.pem -www -Verify 1 -tls1_2 >verify.log 2>&1 &
openssl s_server -accept 192.0.2.1:4444 -cert cert.pem -key key.pem -www -groups P-256 >group.log 2>&1 &
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=other.example.com -days 30 -keyout other.key -out other.pem 2>/dev/null
openssl s_server -accept 192.0.2.1:4445 -cert cert.pem -key key.pem -www -Verify 1 -verify_return_error -CAfile cert.pem \
	-num_tickets 0 >verify13.log 2>&1 &

# talk PORT OPTION...: one connection, in which the client sends a request after the handshake and reads the answer
talk() {
	port=$1
	shift
	printf 'GET / HTTP/1.0\r\n\r\n' | timeout 20 openssl s_client -connect "192.0.2.1:$port" -ign_eof "$@" >>client.log 2>&1
}
for log in server verify group verify13; do
	wait_for grep -q ACCEPT $log.log
done
capture traffic "tcp"
talk 443 -tls1_2 -servername one.example.com -sess_out session12
talk 443 -tls1_2 -servername two.example.com -sess_in session12
talk 443 -tls1_3 -servername three.example.com -alpn h2,http/1.1 -sess_out session13
talk 443 -tls1_3 -servername four.example.com -sess_in session13
talk 443 -tls1_2 -cipher DHE-RSA-AES128-GCM-SHA256 -noservername
talk 443 -tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256 -servername five.example.com
talk 4443 -tls1_2 -servername six.example.com
talk 4444 -tls1_3 -servername seven.example.com
talk 4445 -tls1_3 -servername eight.example.com
talk 4445 -tls1_3 -servername nine.example.com -cert other.pem -key other.key
talk 4445 -tls1_3 -servername ten.example.com -cert cert.pem -key key.pem
captured traffic
[ "$3" = compare ] || exit 0
command -v nginx >/dev/null && command -v curl >/dev/null || exit 0

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
	server {
		listen 192.0.2.1:8443 ssl http2;
		ssl_protocols TLSv1.2 TLSv1.3;
		ssl_certificate $1/cert.pem;
		ssl_certificate_key $1/key.pem;
		location / { return 204; }
	}
}
CONF
nginx -c "$1/nginx.conf" -p "$1" >nginx.log 2>&1 &

# get NAME OPTION...: an HTTPS request to nginx, whose certificate is not valid
get() {
	name=$1
	shift
	timeout 20 curl -s -k -o /dev/null --resolve "$name:8443:192.0.2.1" "$@" "https://$name:8443/"
}
wait_for get ready.example.com
capture nginx "tcp port 8443"
get h2.example.com
get http.example.com --http1.1 --tls-max 1.2
timeout 20 curl -s -o /dev/null --resolve strict.example.com:8443:192.0.2.1 https://strict.example.com:8443/
captured nginx
exit 0
END

timeout 300 unshare -n sh "$tmp/traffic.sh" "$tmp" "$top" "${1:-compare}" 2>"$tmp/error"
if ! grep -q "the last frame" "$tmp/traffic.pcap" 2>/dev/null; then
	not_ok "servers and clients run" "$tmp/error" "$tmp/server.log" "$tmp/client.log"
	tap_done
fi
capture=$tmp/traffic.pcap
if [ "${1-}" = capture ]; then
	cp "$capture" "$2"
	exit
fi

check "each hello and alert fires its probe, as tshark finds it" \
	python3 "$top/tests/apps/tls/tls_messages.py" "$netobsd" "$capture"
note "$(tail -n 1 "$tmp/check")"

# probes OPTION...: the firings as lines without connection ids, which differ between ends
probes() {
	"$netobsd" -r "$capture" --print='tls-*' "$@" | sed 's/, cid [0-9]*$//'
}
probes >"$tmp/both"
# fired SERVER-NAME: the probes of its connection in order
fired() {
	grep -F ", sni $1," "$tmp/both" | awk '{ print $2 }' | paste -s -d ' ' -
}
full="tls-client-hello tls-server-hello tls-established"
is "TLS 1.2, a full handshake" "$(fired one.example.com)" "$full"
is "TLS 1.2, resumed" "$(fired two.example.com)" "$full"
is "TLS 1.3, a full handshake" "$(fired three.example.com)" "$full"
is "TLS 1.3, resumed" "$(fired four.example.com)" "$full"
is "no cipher suite in common: an alert" "$(fired five.example.com)" "tls-client-hello tls-alert"
is "no certificate: an alert in place of the end" "$(fired six.example.com)" "tls-client-hello tls-server-hello tls-alert"
is "TLS 1.3, no certificate: an encrypted alert in place of the end" "$(fired eight.example.com)" \
	"tls-client-hello tls-server-hello tls-alert"
is "TLS 1.3, a certificate that is refused: likewise" "$(fired nine.example.com)" \
	"tls-client-hello tls-server-hello tls-alert"
is "TLS 1.3, a certificate that is accepted" "$(fired ten.example.com)" "$full"
is "HelloRetryRequest: a second ClientHello" "$(fired seven.example.com)" "tls-client-hello $full"

"$netobsd" -r "$capture" --print=tls-established --format=json >"$tmp/established"
# established NAME: "VERSION RESUMED ALPN" of the connection with that server name
established() {
	python3 "$top/tests/apps/tls/tls_established.py" "$1" <"$tmp/established"
}
is "fields of one.example.com" "$(established one.example.com)" "TLSv1.2 0  True"
is "fields of two.example.com" "$(established two.example.com)" "TLSv1.2 1  True"
is "fields of three.example.com" "$(established three.example.com)" "TLSv1.3 0 h2 True"
is "fields of four.example.com" "$(established four.example.com)" "TLSv1.3 1  True"

probes --view monitor >"$tmp/monitor"
check "view monitor: the same firings" cmp "$tmp/both" "$tmp/monitor"
probes --local 192.0.2.2/32 | sed -E 's/ (192.0.2.2:[0-9]*) - (192.0.2.1:[0-9]*),/ \2 - \1,/' >"$tmp/client"
check "view host, local client: the same firings, endpoints exchanged" cmp "$tmp/both" "$tmp/client"
is "--ports-only: no firing on other ports" "$(probes --ports-only | grep -c ' 192.0.2.1:444[345] ')" 0
is "without it: those are recognised" "$(grep -c ' 192.0.2.1:444[345] ' "$tmp/both")" 16

if [ -e "$tmp/nginx.pcap" ]; then
	check "likewise nginx and curl" python3 "$top/tests/apps/tls/tls_messages.py" "$netobsd" "$tmp/nginx.pcap"
	"$netobsd" -r "$tmp/nginx.pcap" --print=tls-established --format=json >"$tmp/established"
	is "fields of h2.example.com" "$(established h2.example.com)" "TLSv1.3 0 h2 True"
	is "fields of http.example.com" "$(established http.example.com)" "TLSv1.2 0 http/1.1 True"
else
	skip "nginx and curl" "nginx or curl is not installed"
fi

# Missing frames: nothing is invented.  A ServerHello has no server name if its ClientHello is missing.
hellos() {
	"$netobsd" -r "$1" --print=tls-server-hello | sed -n 's/.*tls-server-hello \([^,]*\), .*version \([^,]*\), cipher \([^,]*\),.*/\1 \2 \3/p' | sort
}
hellos "$capture" >"$tmp/all"
is "there are server hellos" "$(wc -l <"$tmp/all")" 10
for step in 3 5 7; do
	# shellcheck disable=SC2046
	editcap "$capture" "$tmp/missing.pcap" $(seq 1 "$step" 400)
	hellos "$tmp/missing.pcap" >"$tmp/some"
	is "with each frame missing whose number is n * $step + 1: no invented hello" "$(comm -23 "$tmp/some" "$tmp/all")" ''
done
tap_done
