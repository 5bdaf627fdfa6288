#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests and hellos at the beginning of a connection: in a SYN, in small segments, out of order; and of those that never
# show a protocol only a bounded number is kept.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
server=198.51.100.2
python3 "$top/tests/observe/first_bytes.py" "$tmp/first.pcap" "$tmp/expected"
grep -E '^[0-9]+ (http|tls-client|dns-query)' "$tmp/expected" >"$tmp/both"

# fired CAPTURE OPTION...: the firings as lines of EXPECTED; of a request its method and the first five letters of its path
fired() {
	capture=$1
	shift
	"$netobsd" -r "$capture" --print=http-*,tls-client-hello,dns-query "$@" |
		sed -nE -e 's/^[^ ]* (http-[a-z-]*) .*192\.0\.2\.1:([0-9]*)[ ,].* (GET \/[a-z]{5}).*/\2 \1 \3/p' \
			-e 's/^[^ ]* (tls-client-hello|dns-query) .*192\.0\.2\.1:([0-9]*)[ ,].*/\2 \1/p' | LC_ALL=C sort
}

LC_ALL=C sort "$tmp/both" >"$tmp/sorted"
for options in "" "--view monitor" "--local $server/32" "--local 192.0.2.1/32"; do
	# shellcheck disable=SC2086
	fired "$tmp/first.pcap" $options >"$tmp/fired"
	check "each request, hello and query once${options:+ ($options)}" diff "$tmp/sorted" "$tmp/fired"
done
"$netobsd" -r "$tmp/first.pcap" --print=http-request-start --ports-only >"$tmp/ports"
# The clients up to port 10024 send them in a SYN to port 80.
is "ports only: those in a SYN to a port of HTTP, too" "$(grep -c "$server:80 - 192.0.2.1:100[012][0-9]," "$tmp/ports")" \
	"$(grep -c '^100[012][0-9] http-request-start' "$tmp/expected")"
is "and no connection on another port" "$(grep -vc "$server:80 " "$tmp/ports")" 0

# Some are established by the end of the capture: no packet shows it.
"$netobsd" -r "$tmp/first.pcap" --print=tcp-connect-established,tcp-accept-established --format json >"$tmp/established"
is "an established connection has the packet of its handshake" \
	"$(grep -vc '"args":\[{"pkt_addr":[0-9]*,"pkt_ts":1.*"ip_saddr":"[12]' "$tmp/established")" 0

python3 "$top/tests/observe/first_bytes.py" "$tmp/flood.pcap" "$tmp/flood.expected" 3000
fired "$tmp/flood.pcap" >"$tmp/fired"
check "a connection after a flood of beginnings is recognised" diff "$tmp/flood.expected" "$tmp/fired"
"$netobsd" -r "$tmp/flood.pcap" --print=http-request-start --summary 2>&1 >/dev/null |
	sed -n 's/^stream.unkept *\([0-9]*\)/\1/p' >"$tmp/unkept"
is "what 512 connections exceed is counted" "$(cat "$tmp/unkept")" 2489
tap_done
