#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ICMP errors that answer an attempt to connect: netobs ends the attempts that the kernel ends, by the table of types and
# codes in icmp_errors.tsv, and the table is what this kernel does.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 jq || skip_all "python3 or jq is not installed"
errors=$top/tests/flow/tcp/icmp_errors.py
table=$top/tests/flow/tcp/icmp_errors.tsv

python3 "$errors" capture "$table" "$tmp/errors.pcap"
"$netobsd" -r "$tmp/errors.pcap" --print=connection-end,tcp-connect-refused,tcp-state-change --format json >"$tmp/fired"
# In a simultaneous open the other end goes on.
grep -v '^#' "$table" |
	awk '{ print NR, $7 == "closed" && $6 == "actively" ? "unreachable" : "capture-end" }' >"$tmp/wanted"
jq -r 'select(.probe == "connection-end").args[0] | "\(.cr_client_port) \(.cr_reason)"' "$tmp/fired" | sort -n >"$tmp/got"
check "the reason of each attempt" diff "$tmp/got" "$tmp/wanted"
grep -v '^#' "$table" | awk '$7 == "closed" { print NR }' >"$tmp/ended"
grep -v '^#' "$table" | awk '$7 == "closed" { print NR, $2, $3, $1 == 4 ? "192.0.2.254" : "2001:db8::fe" }' >"$tmp/wanted"
jq -r 'select(.probe == "connection-end").args[0] | select(.cr_icmp_str != "") |
	"\(.cr_client_port) \(.cr_icmp_type) \(.cr_icmp_code) \(.cr_icmp_sender)"' "$tmp/fired" | sort -n >"$tmp/got"
check "with the error and its sender" diff "$tmp/got" "$tmp/wanted"
jq -r 'select(.probe == "tcp-connect-refused").args[4] | "\(.tcp_dport)"' "$tmp/fired" >"$tmp/got"
check "each that ends is refused, once" diff "$tmp/got" "$tmp/ended"
jq -r 'select(.probe == "tcp-state-change" and .args[3].tcps_statestr == "state-closed").args[3].tcps_lport' "$tmp/fired" \
	>"$tmp/got"
check "and closed" diff "$tmp/got" "$tmp/ended"
"$netobsd" -r "$tmp/errors.pcap" --print=tcp-timeout-connect --format json >"$tmp/fired"
is "no timer of them runs" "$(wc -c <"$tmp/fired")" 0

measure() {
	ip netns exec "$space" python3 "$errors" measure "$table" >"$tmp/measured" 2>"$tmp/err"
}

space=netobs-icmp-$$
if [ "$(id -u)" -ne 0 ] || ! have ip || [ ! -c /dev/net/tun ]; then
	skip "the kernel does the same" "needs root, ip and /dev/net/tun"
elif ! namespaces "$space" || ! permitted ip -n "$space" tuntap add tun0 mode tun; then
	skip "the kernel does the same" "$kernel_refusal"
else
	check "the kernel is asked" measure
	grep -v '^#' "$table" >"$tmp/wanted"
	check "the kernel does the same" diff "$tmp/measured" "$tmp/wanted"
fi
tap_done
