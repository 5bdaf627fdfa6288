#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Connections whose beginning, or one direction, is not captured, or captured late: each request, query and hello that is in the capture is
# told, and no other one; those of which nothing is read are counted and said.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
python3 "$top/tests/observe/beginnings.py" "$tmp/cut.pcap" "$tmp/all"
grep -v '^unread' "$tmp/all" >"$tmp/expected"

# The firings as lines of EXPECTED.
fired() {
	"$netobsd" -r "$tmp/cut.pcap" --print=http-*,tls-client-hello,tls-server-hello,dns-query,dns-response,smb-*,iscsi-* "$@" 2>"$tmp/said" |
		sed -nE -e 's/^[^ ]* (http-request-start) .*:(1[0-9]{4})[ ,].*GET (\/r[0-9]).*/\2 \1 \3/p' \
			-e 's/^[^ ]* (http-request-done) .*:(1[0-9]{4})[ ,].*(\/r[0-9]), .*status ([0-9]*).*/\2 \1 \3 \4/p' \
			-e 's/^[^ ]* (dns-[a-z]*) .*:(1[0-9]{4})[ ,].* A (r[0-9]).*/\2 \1 \3/p' \
			-e 's/^[^ ]* (tls-[a-z-]*) .*:(1[0-9]{4})[ ,].*/\2 \1 -/p' \
			-e 's/^[^ ]* (smb-op-[a-z]*) .*:(1[0-9]{4})[ ,].*mid ([0-9]*).*/\2 \1 \3/p' \
			-e 's/^[^ ]* (iscsi-[a-z-]*) .*:(1[0-9]{4})[ ,].*itt (0x)?0*([0-9]).*/\2 \1 \4/p' | LC_ALL=C sort
}

LC_ALL=C sort "$tmp/expected" >"$tmp/sorted"
for options in "" "--view monitor" "--local 192.0.2.1/32 --local 2001:db8::1/128" "--summary"; do
	# shellcheck disable=SC2086
	fired $options >"$tmp/fired"
	check "what is captured is told${options:+ ($options)}" diff "$tmp/sorted" "$tmp/fired"
done
sed -n 's/.*connections on \([a-z]*\) ports not read.*: /unread \1 /p' "$tmp/said" | LC_ALL=C sort >"$tmp/unread"
grep '^unread' "$tmp/all" | LC_ALL=C sort >"$tmp/expected-unread"
check "what is not read is said, once for each protocol" diff "$tmp/expected-unread" "$tmp/unread"
is "and counted" "$(sed -n 's/^conversation.unread *//p' "$tmp/said")" \
	"$(awk '{ n += $3 } END { printf "%.0f", n }' "$tmp/expected-unread")"
tap_done
