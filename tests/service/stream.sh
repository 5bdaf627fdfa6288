#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl stream: lines and fields, formulas that come and go, mistakes, lines that are not those of netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/streams.sh
. "$(dirname "$0")/streams.sh"

# ----------------------------------------------------------------------------------------------------- lines and fields

start --print=udp-send --format json --formula 'text = udp-send where udp_length > 4 uncounted'
stream whole --json udp-send
stream chosen --fields probe,udps_raddr,pkt_seq,tcp_sport udp-send text tcp-send
ctl formulas >"$tmp/formulas"
check "a streamed formula is listed as streamed" grep -q '^text .*streamed$' "$tmp/formulas"
fire 1000
wait_for has_lines "$tmp/whole" 1000
wait_for has_lines "$tmp/chosen" 2000
is "nothing is dropped" "$(value feed.lines):$(value feed.dropped)" 3000:0
finish
check "the lines are those of --print --format json" cmp "$tmp/out" "$tmp/whole"
awk 'BEGIN { for (i = 1; i <= 1000; i++) printf "udp-send\t127.0.0.1\t%d\t-\ntext\t127.0.0.1\t%d\t-\n", i, i }' >"$tmp/wanted"
check "fields of a probe and of a formula, in the order of the list" cmp "$tmp/wanted" "$tmp/chosen"
is "netobsctl prints that netobsd has ended the stream" "$(cat "$tmp/whole.err")" "netobsctl: netobsd has ended the stream"

start
stream text udp-send
fire 2
wait_for has_lines "$tmp/text" 2
is "text: as --print" "$(grep -c ' udp-send .*127\.0\.0\.1' "$tmp/text")" 2
kill "$reader"
wait "$reader"
is "a signal ends a stream with status 0" $? 0
check "a stream that has ended does not enable its probe" wait_for disabled

# A reader that closes standard output ends the stream, without a message and without another firing.
"$ctl" -s "$socket" stream udp-send 2>"$tmp/closed.err" | true
is "a closed output is not an error" "$(cat "$tmp/closed.err")" ""
wait_for disabled

# A formula that is defined while it is streamed by a wildcard, removed, and defined again.
ctl define 'late-one = udp-send where udp_length > 4 uncounted' >"$tmp/defined" 2>&1
stream late --json --fields probe 'late-*' udp-send
ctl define 'late-two = udp-send where udp_length > 4 uncounted' >>"$tmp/defined" 2>&1
fire 1
wait_for has_lines "$tmp/late" 3
ctl undefine late-one >/dev/null 2>&1
fire 1
wait_for has_lines "$tmp/late" 5
is "formulas that come and go" "$(sort "$tmp/late" | uniq -c | awk '{ printf "%s%s ", $1, $2 }')" \
	'1{"probe":"late-one"} 2{"probe":"late-two"} 2{"probe":"udp-send"} '
kill "$reader"
wait "$reader"

# Without a name: the connections that end, here with the capture.
stream ends --json --fields cr_reason,cr_protostr,cr_client_segments
stream udp --json udp-send --fields pkt_seq
fire 3 last
finish
is "connection-end by default, up to the end of the capture" "$(grep -c '"cr_reason":"capture-end",.*:3}$' "$tmp/ends")" 1
is "netobsd has ended that stream" "$(cat "$tmp/ends.err")" "netobsctl: netobsd has ended the stream"
start --formula 'late-two = udp-send where udp_length > 4 uncounted'

# ------------------------------------------------------------------------------------------------------------- mistakes

# refused NAME MESSAGE ARGUMENT...: netobsctl fails with this message and nothing else
refused() {
	refused_name=$1 refused_message=$2
	shift 2
	timeout 60 "$ctl" -s "$socket" "$@" >"$tmp/refused" 2>&1
	is "$refused_name: status" $? 1
	is "$refused_name" "$(cat "$tmp/refused")" "netobsctl: $refused_message"
}

refused "a misspelt probe" 'there is no probe or formula "udp-sned" (did you mean udp-send?)' stream udp-sned
refused "a misspelt probe among others" 'there is no probe or formula "x*"' stream udp-send,x*
refused "a misspelt formula" 'there is no probe or formula "late-tow" (did you mean late-two?)' stream late-tow
refused "a misspelt field" 'the probes have no field "udp_sprt" (did you mean udp_sport?)' stream udp-send --fields udp_sprt
refused "a field of other probes" 'the probes have no field "tcp_sport" (did you mean udp_sport?)' \
	stream udp-send --fields tcp_sport
refused "a field twice" 'the field "udp_sport" is given twice' stream udp-send --fields udp_sport,udp_sport
refused "no field" 'stream: a value of an option is empty or contains a blank' stream udp-send --fields ''
refused "a field with an option" 'stream: a value of an option is empty or contains a blank' stream udp-send --fields 'udp_sport --text'
refused "an empty name" 'stream: a name is empty or too long' stream udp-send,,tcp-send
refused "--rotate alone" '--rotate needs --dir' stream udp-send --rotate 1h
for word in 1 1x 0M M -1h 1hh 99999999999G; do
	refused "--rotate $word" '--rotate: expected a size or a time from 1s on, with a unit as in 100M, 1h' \
		stream udp-send --dir "$tmp" --rotate "$word"
done
refused "no directory" "$tmp/none: No such file or directory" stream udp-send --dir "$tmp/none"
refused "a file as directory" "$tmp/refused: Not a directory" stream udp-send --dir "$tmp/refused"
refused "options of other commands" '--fields is an option of the commands connections and stream only' status --fields x
refused "--dir with another command" '--dir is an option of stream and write --on only' status --dir x
check "mistakes leave nothing enabled" disabled

finish

# --------------------------------------------------------------------------------------------------- without netobsd

# served TEXT [OPTION]: the messages of netobsctl for a stream of these lines
served() {
	rm -f "$tmp/run/served"
	served_text=$1
	shift
	timeout 60 python3 "$client" serve "$tmp/run/served" "$served_text" "$ctl" -s "$tmp/run/served" stream "$@" >/dev/null 2>"$tmp/served.err"
	cat "$tmp/served.err"
}

broken='netobsctl: the stream broke off: netobsd has closed the connection or was killed'
is "lines for gaps are counted" "$(served '{"text":"a"}\n{"lost":12}\n{"lost":30}\n')" \
	"$(printf '%s\n' 'netobsctl: 42 lines were lost because they were not read in time' "$broken")"
is "other lines that look like these are not" \
	"$(served '{"text":"lost 5"}\n{"text":"","lost":5}\n')$(served '{"lost":-1}\n{"lost":"6"}\n{"lost":6,"b":7}\n{"a":{"lost":5}}\n' --json)" \
	"$broken$broken"
is "lines without text are not netobsd's" "$(served '{"text":"a"}\n{"probe":"udp-send"}\n')" \
	"netobsctl: the stream broke off: the process listening there is not netobsd: its lines are not firings"
is "the end of the reader of standard output ends a stream without lines, also of a socket" \
	"$(timeout 60 python3 "$client" leave "$tmp/run/left" "$ctl" -s "$tmp/run/left" stream 2>&1)" 0
end_traffic
tap_done
