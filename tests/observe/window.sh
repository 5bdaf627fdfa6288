#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --from and --to: which firings and records a window has, where reading ends, and messages.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
chmod 755 "$tmp" # netobsd that is started as root changes its user

# 100 datagrams, one a second from 1000 s on, from the ports 1000 to 1099; number 50 of unordered.pcap is late.
"$top/tests/observe/window_captures.py" "$tmp/udp.pcap" "$tmp/unordered.pcap" || exit 99
file=$tmp/udp.pcap

# ports ARGUMENT...: first and last source port of the firings of udp-send, and their number
ports() {
	"$netobsd" --print=udp-send --format json "$@" 2>"$tmp/err" |
		sed -n 's/.*"udp_sport":\([0-9]*\).*/\1/p' | awk 'NR == 1 { first = $1 } END { print first, $1, NR }'
}

is "a window" "$(ports -r "$file" --from 1010 --to 1020)" "1010 1019 10"
is "the end of the file is not read" "$(cat "$tmp/err")" ""
is "no end" "$(ports -r "$file" --from 1090)" "1090 1098 9"
check "the file is read to its end" grep -q "ends unexpectedly" "$tmp/err"
is "no beginning" "$(ports -r "$file" --to 1003)" "1000 1002 3"
is "fractions of a second" "$(ports -r "$file" --from 1010.000000001 --to 1011.000000001)" "1011 1011 1"
is "a date" "$(ports -r "$file" --from 1970-01-01T00:16:50Z --to 1970-01-01T01:17:00+01:00)" "1010 1019 10"
is "two files" "$(ports -r "$file" -r "$file" --from 1010 --to 1020)" "1010 1019 20"
is "the pace begins in the window" "$(ports -r "$file" --from 1090 --to 1092 --pace=100)" "1090 1091 2"
is "a filter" "$(ports -r "$file" --from 1010 --to 1020 src port 1015)" "1015 1015 1"
is "a datagram that is late by ten seconds counts where it is" \
	"$(for from in 1000 1045 1055; do ports -r "$tmp/unordered.pcap" --from $from --to $((from + 10)); done | tr '\n' ' ')" \
	"1000 1009 10 1045 1054 10 1055 1064 10 "

"$netobsd" -r "$file" --from 5000 2>"$tmp/err"
is "a window after the capture: the exit status" $? 2
check "the message has the times of the capture" grep -q \
	"no packet is between --from and --to: the first one is of 1970-01-01T00:16:40.000.*Z, .* 1970-01-01T00:18:18.000.*Z" \
	"$tmp/err"
"$netobsd" -r "$file" --to 999 2>"$tmp/err"
is "a window before the capture: the exit status" $? 0
check "the message" grep -q "no packet is between --from and --to" "$tmp/err"

# --- the lead-in: a connection whose handshake is before the window

file=$top/tests/captures/home-network.pcap
# firings WHAT ARGUMENT...: those of tcp-receive, see window_firings.py
firings() {
	firings_what=$1
	shift
	"$netobsd" -r "$file" --print=tcp-receive --format json "$@" 2>/dev/null |
		"$top/tests/observe/window_firings.py" "$firings_what"
}
states() {
	firings states "$@"
}
middle=$(firings middle)
states >"$tmp/single"
check "there are some" test -s "$tmp/single"
{ states --to "$middle"; states --from "$middle"; } >"$tmp/halves"
check "firings with a lead-in are those of a single run" cmp "$tmp/single" "$tmp/halves"
{ states --to "$middle"; states --from "$middle" --lead-in 0; } >"$tmp/halves"
check "without a lead-in connections are in mid-stream" sh -c "! cmp -s '$tmp/single' '$tmp/halves'"
"$netobsd" -r "$file" --from "$middle" --lead-in 0 --formula 'f = tcp-receive where tcp_sport >= 0' --print=f \
	--format json 2>/dev/null | wc -l >"$tmp/formula"
"$netobsd" -r "$file" --from "$middle" --formula 'f = tcp-receive where tcp_sport >= 0' --print=f \
	--format json 2>/dev/null | wc -l >"$tmp/formula.lead"
check "formulas see the window only" cmp "$tmp/formula" "$tmp/formula.lead"
tap_done
