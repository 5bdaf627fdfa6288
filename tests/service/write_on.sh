#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl write --on: names of files, merged triggers, limits of number, bytes and rate, captures and feeds that are wrong,
# refusals.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/start_write_on.sh
. "$(dirname "$0")/start_write_on.sh"

# ----------------------------------------------------------------------------------------------------------- the files

begin --after 0s
send "fire tcp-connect-refused 41 $ts" "fire slow 7 1700000000000000001"
wait_for has_files 2
is "a file for each connection, named by time, name and connection id" "$(files)" \
	"20231114T221320.000000001Z-slow-7.pcapng
20251122T194000.123456789Z-tcp-connect-refused-41.pcapng"
is "its content is that of its connection" "$(sort -u "$tmp/files/"*-41.pcapng | tr '\n' ' ' | cut -c 1-7)" "cid 41 "
is "it is complete" "$(stat -c %s "$tmp/files/"*-41.pcapng)" 1000
is "the feed has the names and three fields" "$(grep '^stream' "$log")" "stream --fields=probe,cid,ts tcp-connect-refused,slow"
is "the request of a capture" "$(grep '^write.*=7 ' "$log")" "write --cid=7 --format=pcapng"
send 'raw {"probe":"tcp-connect-refused","cid":null,"ts":null}\n' 'raw {"lost":12}\n' 'raw {"probe":"slo' \
	'raw w","cid":9,"ts":5}\n'
wait_for has_files 3
check "a firing without connection, lost lines, and a line in two pieces" wait_for counted "lines of netobsd lost" 12
stop
is "SIGTERM: status" "$status" 0
is "statistics" "$(tail -n 1 "$tmp/err" | sed "s|$tmp/||")" "netobsctl: 4 triggers: 3 files with 3000 bytes, 0 merged, \
0 over a limit of files, 0 over the rate, 0 over the queue, 1 without connection, 0 failed, 0 waiting; 12 lines of netobsd lost"

begin --after 500ms --format snoop
send "fire slow 41 $ts" "fire tcp-connect-refused 42 $ts" "fire slow 43 $ts" "fire slow 41 $ts"
wait_for has_files 2
check "triggers of both ends of a connection are one file" counted merged 2
is "it has the name of the first one" "$(files | cut -d - -f 2-)" "slow-41.snoop
slow-43.snoop"
send "fire slow 41 $((ts + 1))"
check "a trigger after the delay is another file" wait_for has_files 3
send "fire slow 41 $((ts + 1))"
check "a second firing by a frame that has a file is merged" wait_for counted merged 3
is "its file is counted once" "$(count files)" 3
send "fire slow 51 $ts" "fire slow 53 $ts"
stop
is "a signal: triggers that wait have their files at once" "$(files | grep -c '5[13].snoop')" 2
check "a signal: statistics" balanced

# ---------------------------------------------------------------------------------------------------------- the limits

rm -rf "$tmp/files"
mkdir "$tmp/files" "$tmp/files/20251122T194000.123456789Z-slow-3.pcapng"
head -c 500 /dev/zero >"$tmp/files/20251122T194000.123456789Z-slow-1.pcapng"
for other in 20251122T194000.123456789Z-slow.pcapng 20251122T194000Z-slow-1.pcapng other x20251122T194000.123456789Z-slow-1.pcap \
	20251122T194000.123456789Z-slow-1.pcapng.part 20251122T194000.123456789Z--1.pcapng; do
	: >"$tmp/files/$other"
done
find "$tmp/files" -type f >"$tmp/before"
write_on "$tmp/files" --after 0s --max-files 3
send "fire slow 11 $ts" "fire slow 13 $ts" "fire slow 15 $ts" "fire slow 17 $ts"
check "--max-files: existing files with such names count" wait_for counted "over a limit" 2
find "$tmp/files" -type f -name '*-1[0-9].pcapng' | sort >"$tmp/written"
is "--max-files: the first two are written" "$(sed 's/.*-//' "$tmp/written" | tr '\n' ' ')" "11.pcapng 13.pcapng "
is "--max-files: said once" "$(grep -c 'the limit: no more' "$tmp/err")" 1
is "--max-files: message" "$(sed -n "s|$tmp/||; /the limit/p" "$tmp/err")" \
	"netobsctl: files has 3 files with 2500 bytes, the limit: no more are written until some are removed"
is "nothing is deleted" "$(cat "$tmp/before" "$tmp/written" | sort)" "$(find "$tmp/files" -type f | sort)"
rm "$tmp/files/"*-11.pcapng
# again: one more trigger, of a connection of its own; whether one of these has a file
cid=101
again() {
	cid=$((cid + 2))
	send "fire slow $cid $ts"
	[ -n "$(find "$tmp/files" -name "*-1??.pcapng")" ]
}
check "--max-files: after a file was removed others are written" wait_for again
stop
check "--max-files: statistics" balanced

begin --after 0s --max-size 4K
send "fire slow 11 $ts"
wait_for has_files 1
send "size 3000" "fire slow 13 $ts"
wait_for has_files 2
send "fire slow 15 $ts"
wait_for counted "over a limit" 1
send "size 10" "fire slow 17 $ts"
check "--max-size: a file that would exceed it is not written, nor later ones" wait_for counted "over a limit" 2
is "--max-size: files" "$(files | sed 's/.*-//' | tr '\n' ' ')" "11.pcapng 13.pcapng "
is "--max-size: message" "$(sed -n "s|$tmp/||; /the limit/p" "$tmp/err")" \
	"netobsctl: files has 2 files with 4000 bytes, the limit: no more are written until some are removed"
stop
check "--max-size: statistics" balanced
is "--max-size: not a failure" "$(count failed)" 0

begin --after 0s --max-size 4K
send "size 5000" "fire slow 11 $ts" "fire slow 13 $ts"
wait_for counted "over a limit" 2
is "--max-size: a file that alone exceeds it: said once" "$(grep 'cannot write' "$tmp/err" | sed "s|$tmp/||")" \
	"netobsctl: cannot write files/20251122T194000.123456789Z-slow-11.pcapng: the capture is larger than 4096 bytes; \
further files are tried and failures counted"
send "size 1000" "fire slow 15 $ts"
check "--max-size: then a smaller one is written" wait_for has_files 1
stop
check "--max-size: statistics then" balanced

begin --after 0s --max-rate 3/h
for i in 1 3 5 7 9; do
	send "fire slow $i $ts"
done
check "--max-rate: further triggers are counted" wait_for counted "over the rate" 2
wait_for has_files 3
stop
is "--max-rate: files" "$(files | sed 's/.*-//' | tr '\n' ' ')" "1.pcapng 3.pcapng 5.pcapng "

# --------------------------------------------------------------------------------------------------------------- errors

begin --after 0s
send "size 200000" "reply error" "fire slow 1 $ts"
wait_for counted failed 1
send "reply broken" "fire slow 3 $ts" "reply cut"
wait_for counted failed 2
send "fire slow 5 $ts"
wait_for counted failed 3
is "error replies and captures that break off leave no file" "$(files)" ""
send "reply good" "fire slow 7 $ts"
wait_for has_files 1
stop
check "errors: statistics" balanced

begin --after 0s
rm -r "$tmp/files"
send "fire slow 1 $ts"
check "a directory that is removed: failures are counted" wait_for counted failed 1
is "a directory that is removed: message" "$(sed -n '/cannot write/s/.*: //p' "$tmp/err")" \
	"No such file or directory; further files are tried and failures counted"
stop

# ----------------------------------------------------------------------------------------------- the end of the feed

# last COMMAND: the exit status and the last message of a write --on after this command
last() {
	begin --after 1h
	send "fire slow 1 $ts" "$1"
	wait_for ended "$write_on" || kill -9 "$write_on"
	wait "$write_on"
	last_status=$?
	last_message=$(tail -n 1 "$tmp/err")
}

last end
is "netobsd ends" "$last_status:$last_message" "1:netobsctl: netobsd has ended"
is "netobsd ends: what waits is counted" "$(count waiting)" 1
last die
is "netobsd is killed" "$last_status:$last_message" "1:netobsctl: netobsd has closed the connection or was killed"
wrong='the process listening there is not netobsd: its lines are wrong'
for line in '{"probe":"../../x","cid":1,"ts":2}' '{"probe":"slow","cid":0,"ts":2}' '{"probe":"slow","cid":1}' \
	'{"probe":"slow","cid":1,"ts":2}}' '{"probe":"slow","cid":-1,"ts":2}' '{"probe":"slow","cid":1,"ts":null}' \
	'{"lost":"x"}' '{"lost":-1}' '{"probe":"slow\0","cid":1,"ts":2}' '{"probe":"Slow","cid":1,"ts":2}' \
	'{"probe":"","cid":1,"ts":2}' '{"probe":"-x","cid":1,"ts":2}' '{"probe":7,"cid":1,"ts":2}' '{"cid":1,"ts":2}' \
	'{"probe":"slow","cid":99999999999999999999999,"ts":2}' 'x' 'lost 1' '[]' '{"probe":"slow","cid":1,"cid":1,"ts":2}'; do
	last "raw $line\n"
	is "a line that is wrong: $line" "$last_status:$last_message:$(files)" "1:netobsctl: $wrong:"
done
last "raw $(printf '%70000s' '' | tr ' ' a)"
is "a line without end" "$last_status:$last_message" \
	"1:netobsctl: the process listening there is not netobsd: its lines are too long"

# refused NAME MESSAGE ARGUMENT...: netobsctl fails with this message and nothing else, and with status $refused_status
refused_status=3
refused() {
	refused_name=$1 refused_message=$2
	shift 2
	timeout 60 "$@" >"$tmp/refused" 2>&1
	is "$refused_name" "$?:$(sed "s|$tmp/||" "$tmp/refused")" "$refused_status:netobsctl: $refused_message"
}

mkdir -p "$tmp/files"
send "memory 0"
refused "no flight memory" \
	"no frames are kept: start netobsd with --flight-memory=SIZE, or set flight-memory in netobs.conf" \
	"$ctl" -s "$socket" write --on slow --dir "$tmp/files"
send "memory 1048576"
refused "a directory that does not exist" "none: No such file or directory" \
	"$ctl" -s "$socket" write --on slow --dir "$tmp/none"
refused "a file as directory" "log: Not a directory" "$ctl" -s "$socket" write --on slow --dir "$log"
if [ "$(id -u)" -eq 0 ] && have setpriv; then
	chmod 755 "$tmp"
	cp -- "$ctl" "$tmp/netobsctl" && chmod 755 "$tmp/netobsctl"
	refused "a directory without write permission" "files: Permission denied" \
		setpriv --reuid 65533 --regid 65533 --clear-groups "$tmp/netobsctl" -s "$socket" write --on slow --dir "$tmp/files"
else
	skip "a directory without write permission" "needs root and setpriv"
fi
if [ "$(id -u)" -eq 0 ] && have setpriv; then
	chmod 666 "$socket"
	chown 65533 "$tmp/files"
	chmod 600 "$tmp/files"
	refused "a directory without search permission" "files: Permission denied" \
		setpriv --reuid 65533 --regid 65533 --clear-groups "$tmp/netobsctl" -s "$socket" write --on slow --dir "$tmp/files"
	chmod 755 "$tmp/files"
else
	skip "a directory without search permission" "needs root and setpriv"
fi
send "reply forbid"
refused "a user that may not write captures" \
	"only root and the user that netobsd runs as may write captures, which contain the traffic of all users" \
	"$ctl" -s "$socket" write --on slow --dir "$tmp/files"
send "reply good"
write_on "$tmp/files"
refused_status=1
refused "two write --on in one directory" "files: another netobsctl write --on writes there" \
	"$ctl" -s "$socket" write --on slow --dir "$tmp/files"
stop
end_server
refused "no netobsd" "control: no netobsd is listening there; start it with --control PATH, or give its socket with -s" \
	"$ctl" -s "$socket" write --on slow --dir "$tmp/files"

write_on_wrong() {
	write_on_wrong_message=$1
	shift
	refused "write $*" "$write_on_wrong_message" "$ctl" -s "$socket" write "$@"
}

refused_status=3
write_on_wrong "write --on needs --dir DIRECTORY" --on slow
write_on_wrong "--on: expected names of probes and formulas, commas between them" --on 'a b' -d "$tmp/files"
write_on_wrong "--on: expected names of probes and formulas, commas between them" --on '' -d "$tmp/files"
write_on_wrong "--format: expected pcapng, pcap or snoop" --on slow -d "$tmp/files" --format text
refused_status=1
write_on_wrong "write: name the file with -w FILE; -w - is standard output"
write_on_wrong "slow: write --on takes no operand: --on has the names of probes and formulas" --on fast slow -d "$tmp/files"
write_on_wrong "write --on takes no -w, --cid and --last: it writes a file of each connection to --dir" \
	--on slow -d "$tmp/files" -w "$tmp/file"
write_on_wrong "--dir is an option of stream and write --on only" -w "$tmp/file" -d "$tmp/files"
write_on_wrong "--after, --max-files and --max-rate are options of write --on only" -w "$tmp/file" --max-files 3
refused_status=3
for word in '' 1 -1s 1x 2h 3601s 99999999999s; do
	write_on_wrong "--after: expected a time from 0s to 1h with a unit as in 500ms, 90s, 5m, 1h" --on slow -d "$tmp/files" --after "$word"
done
for word in 0 -1 1K '' 1000000001; do
	write_on_wrong "--max-files: expected a number from 1 to 1000000000" --on slow -d "$tmp/files" --max-files "$word"
done
for word in 0M 5 M 99999999999G; do
	write_on_wrong "--max-size: expected a size from 1 to 1048576T with a unit as in 512K, 64M, 1G" --on slow -d "$tmp/files" --max-size "$word"
done
for word in 0/s 10 10/K 10/1s /s; do
	write_on_wrong "--max-rate: expected files in a time, such as 10/s, 5/m or 100/h" \
		--on slow -d "$tmp/files" --max-rate "$word"
done
refused_status=1
refused "options of write elsewhere" "-w, --cid, --last, --format, --on and --max-size are options of the command write only" \
	"$ctl" -s "$socket" status --on slow
refused "the word of before" "unknown command record: use write --on" "$ctl" -s "$socket" record --on slow -d "$tmp/files"
refused "options of stream here" "--fields is an option of the commands connections and stream only" \
	"$ctl" -s "$socket" write --on slow --dir "$tmp/files" --fields cid

tap_done
