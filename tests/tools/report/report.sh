#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs report: what the data of a page say of made connections and of real captures, compared with what was made, with
# netobs conns and with tshark (more captures: report_tshark.sh); options, bad input.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

built "$build/netobs-report"
have python3 || skip_all "python3 is not installed"
export NETOBSD="$netobsd"
captures=$top/tests/captures

report() {
	"$top/scripts/netobs" report "$@"
}

python3 "$top/tests/tools/report/report_cases.py" "$top/scripts/netobs" "$captures" "$tmp" >"$tmp/points" 2>"$tmp/err"
is "report_cases.py ends well" "$? $(cat "$tmp/err")" "0 "
relay "$tmp/points"

# of_tshark WHAT NAME...: compares pages with tshark
of_tshark() {
	python3 "$top/tests/tools/report/report_tshark.py" "$top/scripts/netobs" "$captures" "$@" >"$tmp/points" 2>"$tmp/err"
	is "report_tshark.py ends well: $1" "$? $(cat "$tmp/err")" "0 "
	relay "$tmp/points"
}

if have tshark; then
	of_tshark evidence questions.pcap
	of_tshark segments home-network.pcap
else
	skip "frames of tshark" "tshark is not installed"
fi

# ----------------------------------------------------------------------------------------------------- what is read once

# same NAME: the page is that of the file, but for the name of it
report "$captures/home-network.pcap" >"$tmp/page_of_file"
same() {
	is "$1" "$(sed 's/{"files":\[[^]]*\]//' "$tmp/page" | cksum)" "$(sed 's/{"files":\[[^]]*\]//' "$tmp/page_of_file" | cksum)"
}

report - <"$captures/home-network.pcap" >"$tmp/page"
same "standard input that is a file"
head -c 1000000 "$captures/home-network.pcap" | report - >"$tmp/page"
same "standard input that is a pipe"
gzip -c "$captures/home-network.pcap" | report - >"$tmp/page"
same "a compressed capture through a pipe"
mkfifo "$tmp/pipe"
cat "$captures/home-network.pcap" >"$tmp/pipe" &
report "$tmp/pipe" >"$tmp/page"
same "a named pipe"
head -c 100000 "$captures/home-network.pcap" | report - >"$tmp/page" 2>"$tmp/err"
is "a pipe that ends within a frame: a page, and status 2" "$? $(grep -c '</html>' "$tmp/page")" "2 1"

# -------------------------------------------------------------------------------------------------------- confinement

# The page is larger than a pipe, which nothing reads: the program waits.
mkfifo "$tmp/unread"
exec 3<>"$tmp/unread"
"$build/netobs-report" "$captures/home-network.pcap" >"$tmp/unread" 2>"$tmp/err" &
pid=$!
wait_for grep -q '^Seccomp:.*2$' "/proc/$pid/status"
is "captures are read with a filter of system calls, without privileges" \
	"$(awk '$1 == "Seccomp:" || $1 == "NoNewPrivs:" || $1 == "CapPrm:" { print $2 }' "/proc/$pid/status" | paste -s -d ' ')" \
	"0000000000000000 1 2"
is "and never by root" "$(awk '$1 == "Uid:" { print $2 == 0 }' "/proc/$pid/status")" 0
kill "$pid"
wait "$pid" 2>/dev/null
exec 3>&-

# A stream that never pauses: the copy ends with the signal, and what it has is reported.
mkfifo "$tmp/busy"
{
	cat "$captures/http.pcap"
	while tail -c +25 "$captures/http.pcap"; do
		:
	done
} >"$tmp/busy" 2>"$tmp/err" &
writer=$!
"$build/netobs-report" "$tmp/busy" >"$tmp/page" 2>"$tmp/err" &
pid=$!
wait_for grep -q '^SigBlk:.*[1-9a-f]' "/proc/$pid/status"
kill -TERM "$pid"
wait "$pid"
status=$?
is "a signal ends the copy of a stream that goes on" "$((status == 0 || status == 2)) $(grep -c '<html' "$tmp/page")" "1 1"
wait "$writer"

kinds=$(sed -n '/^} kinds\[\]/,/^};/s/^ *{"\([a-z0-9-]*\)".*/\1/p' "$top/tools/report/report_findings.c")
for kind in $kinds; do
	sed -n '/^The kinds of findings are/,/^\.El/s/^\.It Li//p' "$top/man/netobs.1" | grep -q " $kind\( \|$\)" || printf '%s\n' "$kind"
done >"$tmp/unknown"
is "the manual has each kind of finding" "$(printf '%s\n' "$kinds" | wc -l | awk '{ print ($1 > 30) }') $(cat "$tmp/unknown")" "1 "

# ----------------------------------------------------------------------------------------------------------- mistakes

# refuses NAME MESSAGE ARGUMENT...: fails with a message that contains this, and writes no page
refuses() {
	refuses_name=$1 refuses_message=$2
	shift 2
	report "$@" >"$tmp/page" 2>"$tmp/err" </dev/null
	is "$refuses_name" "$? $(grep -c -e "$refuses_message" "$tmp/err") $(wc -c <"$tmp/page")" "1 1 0"
}

refuses "no capture" "give at least one capture"
refuses "a missing capture" "cannot read $tmp/missing.pcap" "$tmp/missing.pcap"
refuses "an empty standard input" "standard input is empty" -
refuses "a file that is not a capture" "unknown file format" "$top/README.md"
refuses "an option that the report sets" "sets this option of netobsd itself, or cannot be made with it: --view=host" \
	-o --view=host "$captures/http.pcap"
refuses "the records" "cannot be made with it: --records=" -o --records="$tmp/file" "$captures/http.pcap"
refuses "its beginning" "cannot be made with it: --list" -o --list "$captures/http.pcap"
refuses "a short option" "-o takes an option of netobsd with its dashes, .*, not -p" -o -p "$captures/http.pcap"
refuses "an unknown option of netobsd" "unknown or ambiguous option --tcp-idel" -o --tcp-idel=5 "$captures/http.pcap"
refuses "a wrong filter" "filter" -f 'foo bar' "$captures/http.pcap"
refuses "--top beyond its range" "0 to 500, not 501" --top 501 "$captures/http.pcap"
refuses "--for without an interface" "for which -i INTERFACE is captured" --for 5s "$captures/http.pcap"
refuses "a duration" "expected a time from 1s to 1d" -i lo --for 5x
refuses "an interface and a capture" "not of both" -i lo "$captures/http.pcap"
refuses "two interfaces" "not also of lo" -i lo -i lo
refuses "an interface that is not there" "cannot capture netobs-none" -i netobs-none
root=
[ "$(id -u)" -ne 0 ] || root="setpriv --bounding-set -net_raw"
# The command is words.
# shellcheck disable=SC2086
$root "$top/scripts/netobs" report -i lo --for 1 >"$tmp/page" 2>"$tmp/err"
is "an interface without permission" "$? $(grep -c 'cannot capture lo: .*; run netobs report as root$' "$tmp/err")" "1 1"
refuses "an option of conns" "are of netobs conns" --sort client "$captures/http.pcap"

if [ -c /dev/full ]; then
	report "$captures/http.pcap" 2>"$tmp/err" >/dev/full
	is "a full disk" "$? $(cat "$tmp/err")" "1 netobs-report: cannot write the report: No space left on device"
fi
tap_done
