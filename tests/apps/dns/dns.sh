#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real DNS: dnsmasq and dig on the loopback interface of a network namespace.  Every message is compared with tshark's: also
# from the client's side, truncated by the snapshot length and with missing frames.
#
#	dns.sh			compare
#	dns.sh capture FILE	only write such a capture
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have dnsmasq dig tcpdump tshark editcap python3 ip unshare ||
	skip_all "dnsmasq-base, bind9-dnsutils, tcpdump, tshark, python3, ip or unshare is not installed"
refused=$(unshare -n true 2>&1) || skip_all "$refused"

# 192.0.2.3 has no server: a socket there takes queries and does not answer.
cat >"$tmp/traffic.sh" <<'END'
set -u
cd "$1" || exit 1
export TMPDIR="$1" top_srcdir="$2"
. "$2/tests/lib/tap.sh"
. "$2/tests/lib/loopback.sh"
ip address add 192.0.2.3/32 dev lo
ip route replace local 192.0.2.3 dev lo table local src 192.0.2.2
big=$(printf 'x%.0s' $(seq 200))
dnsmasq --no-daemon --conf-file=/dev/null --no-hosts --no-resolv --no-poll --user=root --pid-file= --listen-address=192.0.2.1 \
	--bind-interfaces --port=53 --local=/example/ --address=/a.example/192.0.2.10 --address=/a.example/2001:db8::10 \
	--cname=alias.example,host.example --host-record=host.example,192.0.2.11,2001:db8::11,300 \
	--mx-host=mail.example,host.example,10 --srv-host=_sip._udp.example,host.example,5060 \
	$(for i in 1 2 3 4 5 6 7 8 9; do printf ' --txt-record=big.example,%s%s' "$i" "$big"; done) >dnsmasq.log 2>&1 &
python3 "$2/tests/apps/dns/dns_clients.py" silent >silent.log &
capture traffic "port 53"
wait_for grep -q bound silent.log
wait_for dig +short +timeout=1 +tries=1 @192.0.2.1 ready.a.example

ask() {
	dig @192.0.2.1 +timeout=5 "$@" >>dig.log 2>&1
}
ask A.a.Example
ask AAAA a.example +noedns
ask A alias.example +dnssec
ask MX mail.example
ask SRV _sip._udp.example
ask A missing.example
ask A www.example.com
ask TXT big.example +bufsize=512
ask TXT big.example +tcp
ask ANY host.example +tcp
ask +tcp +keepopen A host.example AAAA host.example A missing.example TXT big.example
ask CH TXT version.bind
ask A 'odd\.label\032x.a.example'
python3 "$2/tests/apps/dns/dns_clients.py" queries
captured traffic
exit 0
END

timeout 300 unshare -n sh "$tmp/traffic.sh" "$tmp" "$top" 2>"$tmp/error"
capture=$tmp/traffic.pcap
if [ "${1-}" = capture ]; then
	cp "$capture" "$2"
	exit
fi
if ! grep -q "the last frame" "$capture" 2>/dev/null; then
	not_ok "server and clients run" "$tmp/error" "$tmp/dnsmasq.log" "$tmp/dig.log"
	tap_done
fi
check "each message fires its probe, with the fields that tshark finds" \
	python3 "$top/tests/apps/dns/dns_messages.py" "$netobsd" "$capture"
note "$(tail -n 1 "$tmp/check")"

# probes OPTION...: the firings as lines without connection ids, which differ between ends
probes() {
	"$netobsd" -r "$capture" --print='dns-*' "$@" | sed 's/, cid [0-9]*$//'
}
probes >"$tmp/both"
probes --view monitor >"$tmp/monitor"
check "view monitor: the same firings" cmp "$tmp/both" "$tmp/monitor"
probes --local 192.0.2.1/32 --local 192.0.2.3/32 >"$tmp/server"
check "view host, local servers: the same firings" cmp "$tmp/both" "$tmp/server"
probes --local 192.0.2.2/32 | sed -E 's/ (192.0.2.2:[0-9]*) - (192.0.2.[13]:53),/ \2 - \1,/' >"$tmp/client"
check "view host, local client: the same firings, endpoints exchanged" cmp "$tmp/both" "$tmp/client"
is "another --dns-port: no firing" "$(probes --dns-port 54 | wc -l)" 0

probes --app-timeout=1 >"$tmp/timeouts"
is "a query that is not answered fires dns-timeout once, whatever its tries" \
	"$(grep -c 'dns-timeout 192.0.2.3:53 .* A unanswered.example' "$tmp/timeouts")" 1
is "its tries are counted" "$(grep 'dns-query.*unanswered.example' "$tmp/timeouts" | sed -n 's/.*, tries \([0-9]*\),.*/\1/p' | tail -n 1)" 3
"$netobsd" -r "$capture" --print='dns-*' --app-timeout=1 --summary 2>&1 >/dev/null | sed -n 's/^request\.//p' >"$tmp/requests"
is "the counters say so: it is the one that timed out" "$(awk '$1 == "timed-out" { print $2 }' "$tmp/requests")" 1
is "each query that began is answered, timed out, or waits" \
	"$(awk '$1 == "begun" { begun = $2 } $1 != "begun" { sum += $2 } END { many = begun > 20; printf "%.0f %d\n", begun - sum, many }' "$tmp/requests")" "0 1"
is "each answered query has a latency" "$(grep dns-response "$tmp/both" | grep -vc ', latency [0-9]* us')" 0

# Of each message the question is captured, at least; tcpdump's own snapshot length would do the same.
editcap -s 100 "$capture" "$tmp/short.pcap"
"$netobsd" -r "$tmp/short.pcap" --print='dns-*' --summary >"$tmp/short" 2>"$tmp/short.summary"
grep ' udp id ' "$tmp/both" | sed -n 's/.*udp id \([0-9]*\), \([A-Z]* [^,]*\),.*/\1 \2/p' >"$tmp/questions"
grep ' udp id ' "$tmp/short" | sed -n 's/.*udp id \([0-9]*\), \([A-Z]* [^,]*\),.*/\1 \2/p' >"$tmp/short.questions"
check "truncated at 100 bytes: the same questions on UDP" cmp "$tmp/questions" "$tmp/short.questions"
is "truncated is not malformed" "$(grep -c '^anomaly.dns-short' "$tmp/short.summary")" 0

# Missing frames: nothing is invented.
for skipped in 3 5 7; do
	# shellcheck disable=SC2046
	editcap "$capture" "$tmp/missing.pcap" $(seq 1 "$skipped" 200)
	"$netobsd" -r "$tmp/missing.pcap" --print='dns-query,dns-response' | sed -n 's/.* id \([0-9]*, [A-Z]* [^,]*\),.*/\1/p' | sort -u >"$tmp/some"
	sed -n 's/.* id \([0-9]*, [A-Z]* [^,]*\),.*/\1/p' "$tmp/both" | sort -u >"$tmp/all"
	is "with each frame missing whose number is n * $skipped + 1: no invented message" "$(comm -23 "$tmp/some" "$tmp/all")" ''
done
tap_done
