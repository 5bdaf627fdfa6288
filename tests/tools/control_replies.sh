#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Replies of something else than netobsd, or that break off: netobsctl connections prints a reason, and nothing of them.
# What other commands print of a reply cannot colour a terminal, and no reply is endless.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$build/netobsctl"
have python3 || skip_all "python3 is not installed"

# peer SOCKET REPLY [LOG WORD]: starts another program on this socket, see control_peer.py
peer() {
	python3 "$top/tests/tools/control_peer.py" "$@" &
	wait_for test -S "$1"
}

# requests SOCKET: what netobsctl connections -o cid,local prints, on one line
requests() {
	"$build/netobsctl" -s "$1" connections -o cid,local 2>&1 | paste -s -d ';'
}

# answers NAME REPLY OUTPUT: what is printed of a reply
answers() {
	peer "$tmp/control.$tap_count" "$2"
	is "$1" "$(requests "$tmp/control.$tap_count")" "$3"
}

# The longest wait, in parallel with all others.
peer "$tmp/silent" '' "$tmp/log" ''
requests "$tmp/silent" >"$tmp/in.time" &
silent=$!
peer "$tmp/drip" 'ok\n' "$tmp/drip.log" - a 0.1
"$build/netobsctl" -s "$tmp/drip" status 2>&1 | grep -a -o 'netobsctl: .*' >"$tmp/dripped" &
drip=$!
peer "$tmp/lines" 'ok\n' "$tmp/lines.log" - "$(printf 'a\nb')
" 3
"$build/netobsctl" -s "$tmp/lines" status --json >"$tmp/lined" 2>&1 &
lines=$!
# row CID LOCAL [MEMBERS]: a connection
row() {
	printf '{"cr_cid":%s,"cr_local":%s,"cr_end":1,"cr_uid":"00"%s}\\n' "$1" "$2" "${3-}"
}
broken="netobsctl: the reply is incomplete: a line of it"
answers "two connections" "ok\n$(row 1 '"both"')$(row 2 '""')" "cid local;  1 both;  2 -"
answers "none" 'ok\n' "cid local"
answers "a line breaks off" "ok\n$(row 1 '"both"'){\"cr_cid\":2,\"cr_" "netobsctl: the reply is incomplete: it ends within a line"
answers "a value is missing" 'ok\n{"cr_cid":1,"cr_end":1,"cr_uid":"00"}\n' "$broken has no \"cr_local\" of the right type"
answers "a value of another type" "ok\n$(row '"1"' '"both"')" "$broken has no \"cr_cid\" of the right type"
answers "no object" 'ok\n[1]\n' "$broken is not JSON"
answers "a note" "ok\n$(row 1 '"both"'){\"note\":\"a\\\\u001b[31m\"}\\n" 'netobsctl: a\x1b[31m;cid local;  1 both'
answers "control characters" "ok\n$(row 1 '"\\u001b[31m"')" "$broken has no \"cr_local\" of the right type"
answers "a text of netobsd is ASCII" "ok\n$(row 1 '"\\u00fc"')" "$broken has no \"cr_local\" of the right type"
peer "$tmp/unsorted" "ok\n$(row 1 '"both"')"
is "no temporary file: no list" "$(TMPDIR=$tmp/none requests "$tmp/unsorted")" \
	"netobsctl: cannot create a temporary file in $tmp/none: No such file or directory; set TMPDIR to another directory"
answers "no reply" '' "netobsctl: no reply from netobsd"
answers "another program" 'HTTP/1.1 400 Bad Request\r\n' "netobsctl: the process listening there is not netobsd"
answers "an error with control characters" 'error \x1b[31m\n' 'netobsctl: \x1b[31m'
# --------------------------------------------------------------------------------------------------- replies that are printed

# says NAME REPLY OUTPUT COMMAND...: what a command prints of this reply
says() {
	says_name=$1
	says_output=$3
	peer "$tmp/says.$tap_count" "$2"
	shift 3
	is "$says_name" "$("$build/netobsctl" -s "$tmp/says.$tap_count" "$@" 2>&1 | paste -s -d ';')" "$says_output"
}

# value NAME MEMBER FIELD OUTPUT: what is printed of a member, a line that has no end but its beginning
value() {
	says "$1" "ok\\n{\"cr_end\":1,\"cr_uid\":\"00\",$2}\\n" "$4" connections -o "$3"
}
for value in 1-2-3 1e400 '"1"' 0.5 null; do
	value "$value is not a whole number" "\"cr_cid\":$value" cid "$(case $value in
		1-2-3 | 1e400) echo "$broken is not JSON" ;;
		*) echo "$broken has no \"cr_cid\" of the right type" ;;
		esac)"
done
value "a number below 0" '"cr_pid":-1' pid "pid; -1"
value "a number below 0 that has no sign" '"cr_cid":-1' cid "$broken has no \"cr_cid\" of the right type"
value "a number of 16 bits that needs more" '"cr_client_port":65536' client_port "$broken has no \"cr_client_port\" of the right type"
value "the largest one" '"cr_client_port":65535' client_port "client_port;      65535"
value "a number of 32 bits that needs more" '"cr_pid":-2147483649' pid "$broken has no \"cr_pid\" of the right type"
value "the smallest one" '"cr_pid":-2147483648' pid "        pid;-2147483648"
says "digits that are not hexadecimal" 'ok\n{"cr_cid":1,"cr_end":1,"cr_uid":"0x1"}\n' \
	"$broken has no \"cr_uid\" of the right type" connections -o cid
value "a process whose name is not ASCII" '"cr_comm":"\\u001b\\u00fc"' comm 'comm;\x1b\xc3\xbc'
value "a process whose name is not UTF-8" '"cr_comm":"\\u00ff\\u00ff\\u00ff\\u00ff\\u00ff\\u00ff\\u00ff\\u00ff"' comm \
	'comm;\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3\xbf\xc3'
value "a process named -" '"cr_comm":"-"' comm 'comm;\x2d'
value "no process" '"cr_comm":""' comm "comm;-"
value "a member that is not asked for" '"cr_comm":"a","cr_pid":"x"' comm "comm;a"
value "a value that is too long" "\"cr_client\":\"$(printf %046d 0)\"" client "$broken has no \"cr_client\" of the right type"
value "no text of a process is longer" "\"cr_comm\":\"$(printf %032d 0)\"" comm "$broken has no \"cr_comm\" of the right type"
value "blanks of a name do not separate columns, except in the last" '"cr_comm":"a 1 tcp","cr_name":"b c"' comm,name 'comm          name;a\x201\x20tcp b c'
value "a number that is too large" '"cr_cid":99999999999999999999999999' cid "$broken is not JSON"

# counts NAME LINE: a capture of 8 bytes, and this line after it, is not a capture
counts() {
	says "$1" "ok\\n\\x00\\x00\\x00\\x08abcdefgh\\x00\\x00\\x00\\x00$2\\n" \
		"netobsctl: the end of the reply does not match the capture" write -w "$tmp/counted"
	check "$1: no file" [ ! -e "$tmp/counted" ]
}
counts "counts that no number holds" '{"frames":99999999999999999999999,"bytes":8,"lost":0,"cut":true}'
counts "a count below 0" '{"frames":0,"bytes":8,"lost":-1,"cut":true}'
counts "another word than true and false" '{"frames":0,"bytes":8,"lost":0,"cut":maybe}'
counts "text after the counts" '{"frames":0,"bytes":8,"lost":0,"cut":true}}'
counts "more frames than the bytes hold" '{"frames":1,"bytes":8,"lost":0,"cut":true}'
says "a capture without a byte" 'ok\n\x00\x00\x00\x00{"frames":0,"bytes":0,"lost":0,"cut":false}\n' \
	"netobsctl: the end of the reply does not match the capture" write -w "$tmp/counted"

# All that a terminal may execute: CR, ESC, DEL, C1 as a byte and as UTF-8, a change of direction, NUL.
hostile='\r\x1b[31m\x7f\x9b\xc2\x9b\xe2\x80\xae\x00'
before_nul='\x0d\x1b[31m\x7f\x9b\xc2\x9b\xe2\x80\xae'
escaped=$before_nul'\x00'
for command in "connections --json" "connections --closed --json" "status --json" "formulas --json"; do
	peer "$tmp/terminal.$tap_count" "ok\\n$hostile\\n"
	# shellcheck disable=SC2086 # words
	is "$command: control characters of a reply" \
		"$("$build/netobsctl" -s "$tmp/terminal.$tap_count" $command 2>&1; echo "status $?")" "$escaped
status 0"
done
for command in "define f=tcp-send" connections "connections --closed" "connections --json --sort cid" status probes interfaces counters reload debug "debug all" formulas "formulas f" "undefine f" sites; do
	peer "$tmp/terminal.$tap_count" "ok\\n$hostile\\n"
	# shellcheck disable=SC2086 # words
	is "$command: a reply that is not JSON" \
		"$("$build/netobsctl" -s "$tmp/terminal.$tap_count" $command 2>&1; echo "status $?")" \
		"netobsctl: the reply is incomplete: a line of it is not JSON
status 1"
done
json_hostile='\\r\\u001b[31m\\u007f\xc2\x9b\xe2\x80\xae'
plain='\x0d\x1b[31m\x7f\xc2\x9b\xe2\x80\xae'
says "control characters in a table" "ok\\n{\"topic\":\"$json_hostile\",\"on\":true,\"messages\":\"$json_hostile\"}\\n" \
	"TOPIC      STATE MESSAGES;$plain on    $plain" debug
says "control characters in the name of a counter" "ok\\n{\"a$json_hostile\":1,\"$(head -c 300 /dev/zero | tr '\0' b)\":2}\\n" \
	"a$plain                       1;$(head -c 300 /dev/zero | tr '\0' b)                    2" counters
says "a member is missing" 'ok\n{"topic":"live","on":true}\n' \
	'netobsctl: the reply is incomplete: a line of it has no "messages" of the right type' debug
says "a member of another type" 'ok\n{"probe":"tcp-send","enabled":[1],"fired":2}\n' \
	'netobsctl: the reply is incomplete: a line of it has no "enabled" of the right type' probes
says "a counter of another type" 'ok\n{"a":1,"bad":"s"}\n' \
	'netobsctl: the reply is incomplete: a line of it has no "bad" of the right type' counters
says "a second line with a member of another type" \
	'ok\n{"probe":"tcp-send","enabled":1,"fired":2}\n{"probe":"tcp-send","enabled":1,"fired":-2}\n' \
	"PROBE                       ENABLED                FIRED;tcp-send                          1                    2;$broken has no \"fired\" of the right type" probes
for started in -9223372036854775808 -1 '"now"' 1.5 null; do
	says "started: $started" "ok\n{\"version\":\"1\",\"pid\":2,\"build_id\":\"\",\"started\":$started}\n" \
		'netobsctl: the reply is incomplete: a line of it has no "started" of the right type' status
done
says "JSON remains JSON" "ok\\n{\"a\":\"\\xc3\\xbc$hostile\"}\\n" \
	"{\"a\":\"$(printf '\303\274')\\r\\u001b[31m\\u007f\\u009b\\u00c2\\u009b\\u202e\\u0000\"}" connections --json
says "a note" 'ok\n{"note":"a\\r\\u001b[31m\\u007f\\u009b"}\n' 'netobsctl: a\x0d\x1b[31m\x7f\xc2\x9b' connections --closed --json
says "a note that is not JSON" "ok\\n{\"note\":\"a$hostile\"}\\n" \
	"{\"note\":\"a\\r\\u001b[31m\\u007f\\u009b\\u00c2\\u009b\\u202e\\u0000\"}" connections --closed --json
says "lines of a stream" "ok\\n$hostile\\n{\"$hostile\"}\\n\\n" \
	"$escaped;{\"\\r\\u001b[31m\\u007f\\u009b\\u00c2\\u009b\\u202e\\u0000\"};netobsctl: netobsd has ended the stream" stream --json
says "text of a stream" "ok\\n{\"text\":\"$json_hostile\"}\\n\\n" "$plain;netobsctl: netobsd has ended the stream" stream
says "an error of a capture" 'ok\n\xff\xff\xff\xff\x1b[31m\n' "netobsctl: ?[31m" write -w "$tmp/file"
says "lost lines that no number holds" 'ok\n{"lost":99999999999999999999}\n{"lost":9223372036854775807}\n{"lost":9223372036854775807}\n{"lost":7}\n\n' \
	'{"lost":99999999999999999999};{"lost":9223372036854775807};{"lost":9223372036854775807};{"lost":7};netobsctl: 18446744073709551615 lines were lost because they were not read in time;netobsctl: netobsd has ended the stream' stream --json
says "a reply ends within a line" 'ok\none\ntwo' "one;two;netobsctl: the reply is incomplete: it ends within a line" status --json
says "a reply of objects ends within a line" 'ok\n{"reloaded":true}\n{"reloaded":' "configuration reloaded;netobsctl: the reply is incomplete: it ends within a line" reload
says "a first line without end" "$(head -c 5000 /dev/zero | tr '\0' a)" "netobsctl: the process listening there is not netobsd" status

# full NAME OUTPUT...: a command whose output takes no bytes, after a reply without a line
full() {
	full_name=$1
	shift
	peer "$tmp/full.$tap_count" 'ok\n'
	is "$full_name: no space for the output" \
		"$({ "$build/netobsctl" -s "$tmp/full.$tap_count" "$@" 2>&1 >/dev/full || echo "status $?"; } | paste -s -d ';')" \
		"netobsctl: cannot write to standard output: No space left on device;status 1"
}
if [ -c /dev/full ]; then
	full "a title" formulas
	full "titles of a list" connections
	full "help" --help
	full "a version" --version
fi

# endless NAME OUTPUT COMMAND...: what a command prints of a line that does not end
endless() {
	endless_name=$1
	endless_output=$2
	peer "$tmp/endless.$tap_count" 'ok\n' "$tmp/log.$tap_count" - "$(head -c 60000 /dev/zero | tr '\0' a)"
	shift 2
	is "$endless_name" "$("$build/netobsctl" -s "$tmp/endless.$tap_count" "$@" 2>&1 | cut -c 1-200)" "$endless_output"
}
endless "an endless line" "netobsctl: the reply is incomplete: a line of it is too long for netobsd" status
endless "an endless line of a stream" \
	"netobsctl: the stream broke off: the process listening there is not netobsd: its lines are too long" stream

peer "$tmp/short" 'ok\n' "$tmp/short.log" - "$(yes 1 | head -c 60000)
"
is "short lines without end" "$("$build/netobsctl" -s "$tmp/short" status --json 2>&1 >/dev/null)" \
	"netobsctl: the reply is incomplete: it is too long for netobsd"
case $("$netobsd" --version) in
*instrumented*) limit=unlimited ;; # sanitizers reserve terabytes
*) limit=1500000 ;;
esac
# shellcheck disable=SC3045 # dash has it
is "rows without end" \
	"$(ulimit -v "$limit" && "$build/netobsctl" -s "$tmp/short" connections -o cid -i 1 2>&1 | cut -c 1-57)" \
	"netobsctl: the reply is too long: 1 GiB of memory does no"
endless "a capture without end" "netobsctl: the capture is larger than 1048576 bytes" write --max-size 1M -w "$tmp/without-end"
check "a capture without end: no file" [ ! -e "$tmp/without-end" ]
# A listener that ends, or gives up a reader that is slow, closes the connection with input that it has not read.
python3 - "$tmp/ends" <<-'PYTHON' &
	import select, socket, sys
	server = socket.socket(socket.AF_UNIX)
	server.bind(sys.argv[1])
	server.listen()
	for _ in range(2):
	    client = server.accept()[0]
	    client.recv(4096)
	    client.sendall(b"ok\n1\n2\n")
	    select.select([client], [], [], 10)
	    client.close()
PYTHON
wait_for test -S "$tmp/ends"
for request in 'status --json' 'connections -o cid'; do
	# shellcheck disable=SC2086 # words
	"$build/netobsctl" -s "$tmp/ends" $request >"$tmp/out" 2>"$tmp/err"
	is "$request: a reply that is given up" "$? $(grep -c 'reply is incomplete' "$tmp/err")" "1 1"
done
# The name of a file that another user has left behind.
mkdir "$tmp/files"
: >"$tmp/files/$(printf '.\033[31m.jsonl.zst.part')"
says "the name of a file" 'ok\n\n' \
	"netobsctl: $tmp/files/.\\x1b[31m.jsonl.zst.part was left behind by another run and is not complete;netobsctl: netobsd has ended the stream" \
	stream --dir "$tmp/files"
is "the name of a file in an option" "$("$build/netobsctl" -s "$(printf '/\033[31m')" status 2>&1 | cut -c 1-23)" 'netobsctl: /\x1b[31m: n'

wait "$drip"
is "a line that drips" "$(cat "$tmp/dripped")" "netobsctl: the reply is incomplete: no line of it is complete in time"
wait "$lines"
is "complete lines that drip" "$(tail -n 1 "$tmp/lined")" "netobsctl: the reply is incomplete: it takes too long"
wait "$silent"
is "no reply in time" "$(cat "$tmp/in.time")" "netobsctl: no reply from netobsd within 10 seconds"
tap_done
