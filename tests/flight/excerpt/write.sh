#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --write: a capture has the whole connections of which a probe or formula has fired, and only they, byte for byte, as
# tshark finds them (more captures: write_tshark.sh); comments; the same bytes from a file and from a pipe; the file is
# complete or absent.
# shellcheck source=tests/lib/tap.sh disable=SC2016 # scripts of sh -c have their own arguments
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
chmod 755 "$tmp" # netobsd that is started as root changes its user
captures=$top/tests/captures
home=$captures/home-network.pcap
mkdir "$tmp/dir"
python3 "$top/tests/flight/excerpt/write_captures.py" "$captures" "$tmp" || exit 99
reset='x = tcp-send where tcp_flags & RST'

# refuses NAME STATUS PATTERN ARGUMENT...: ok if netobsd exits with STATUS, logs PATTERN, and leaves no file
refuses() {
	refuses_name=$1 refuses_status=$2 refuses_pattern=$3
	shift 3
	"$netobsd" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	refuses_got=$?
	ls -A "$tmp/dir" >>"$tmp/out"
	if [ "$refuses_got" -eq "$refuses_status" ] && grep -q -- "^netobsd: .*$refuses_pattern" "$tmp/err" &&
		[ ! -s "$tmp/out" ]; then
		ok "$refuses_name"
	else
		echo "status $refuses_got, wanted $refuses_status, no file, and: $refuses_pattern" >"$tmp/why"
		not_ok "$refuses_name" "$tmp/why" "$tmp/err" "$tmp/out"
	fi
}

# ------------------------------------------------------------------------------------------------------------ refusals

refuses "a name of neither a formula nor a probe is refused, with the nearest one" 1 \
	'no formula or probe "tcp-recieve" (did you mean tcp-receive?)' -r "$home" --write tcp-recieve="$tmp/dir/a"
refuses "so is a misspelt formula" 1 'did you mean slow-one?' -r "$home" --formula 'slow-one = tcp-send' \
	--write slow-oen="$tmp/dir/a"
refuses "a value without a file is refused" 1 'expected NAME=FILE' -r "$home" --write tcp-receive
refuses "another format is refused" 1 'expected pcapng, pcap or snoop' -r "$home" --write tcp-receive="$tmp/dir/a" \
	--write-format erf
refuses "--write-format needs --write" 1 'write-format needs --write' -r "$home" --write-format pcap
refuses "an interface is refused, and the message names the command" 1 'netobsctl write --on' -i lo \
	--write tcp-receive="$tmp/dir/a"
refuses "two captures with one file are refused" 1 'another option writes this file' -r "$home" \
	--write tcp-receive="$tmp/dir/a" --write tcp-send="$tmp/dir/../dir/a"
refuses "so is the file of --records" 1 'another option writes this file' -r "$home" \
	--write tcp-receive="$tmp/dir/a" --records="$tmp/dir/a"
refuses "the directory must exist" 1 'cannot write the capture .*: No such file' -r "$home" \
	--write tcp-receive="$tmp/dir/none/a"
cp "$home" "$tmp/input.pcap"
refuses "the input is not replaced" 1 'it is the capture that is read' -r "$tmp/input.pcap" \
	--write tcp-receive="$tmp/input.pcap"
check "it is unchanged" cmp "$home" "$tmp/input.pcap"
refuses "standard output is not written by two options" 1 '/dev/stdout: another option writes this file' -r "$home" \
	--write tcp-receive=- --print
refuses "nor is it by --write and the table of --records" 1 '/dev/stdout: another option writes this file' -r "$home" \
	--write tcp-receive=/dev/stdout --records
"$netobsd" -r "$home" --write tcp-receive="$tmp/named" 2>"$tmp/err"
(cd "$tmp/dir" && "$netobsd" -r "$home" --write tcp-receive=- 2>"$tmp/err" | cat >"$tmp/piped")
check "- is standard output" cmp "$tmp/named" "$tmp/piped"
is "and no file of this name" "$(ls -A "$tmp/dir")" ""
is "a terminal gets no capture" "$(python3 "$top/tests/service/write_client.py" terminal "$netobsd" -r "$home" --write tcp-receive=-)" \
	"1 netobsd: cannot write the capture /dev/stdout: a capture is not written to a terminal"
refuses "with an unreadable input there is no file" 1 'is not a readable capture' -r "$top/README.md" \
	--write tcp-receive="$tmp/dir/a"

# ------------------------------------------------------------------------------------------------------------ messages

"$netobsd" -r "$home" --formula 'x = tcp-send where tcp_dport == 1' --write x="$tmp/dir/none" 2>"$tmp/err"
is "without a firing the capture is empty, which is said" "$? $(cat "$tmp/err")" \
	"0 netobsd: x has not fired: the capture $tmp/dir/none is empty"
"$netobsd" -r "$home" --write arp-receive="$tmp/dir/arp" 2>"$tmp/err"
check "firings without a connection are counted" grep -q 'firings of arp-receive without a connection, so without frames: [1-9]' "$tmp/err"
"$netobsd" -r "$top/tests/captures/questions.pcap" --formula 'x = tcp-connect-refused where tcps_rport == 110' \
	--write x="$tmp/dir/one" 2>"$tmp/err"
check "the firings, connections and frames are counted" \
	grep -q "^netobsd: firings of x: 1, connections: 1, frames in $tmp/dir/one: 2$" "$tmp/err"
rm "$tmp/dir"/*

# ------------------------------------------------------------------------------------------------- the files of a run

"$netobsd" -r "$home" --formula "$reset" --write x="$tmp/dir/a.pcapng" --write tcp-connect-refused="$tmp/dir/b.pcapng" \
	--records="$tmp/dir/r" --print=x >"$tmp/printed" 2>"$tmp/err"
is "several captures, beside --records and --print" "$? $(cd "$tmp/dir" && echo *)" "0 a.pcapng b.pcapng r"
"$netobsd" -r "$home" --print=x --formula "$reset" >"$tmp/wanted"
check "--print prints what it prints without --write" cmp "$tmp/wanted" "$tmp/printed"
"$netobsd" -r "$home" --formula "$reset" --write x="$tmp/dir/c.pcapng" 2>"$tmp/err"
check "another run gives the same bytes" cmp "$tmp/dir/a.pcapng" "$tmp/dir/c.pcapng"
sh -c 'cat "$1" | "$2" -r - --formula "$3" --write x="$4"' sh "$home" "$netobsd" "$reset" "$tmp/dir/c.pcapng" 2>"$tmp/err"
check "so does a pipe" cmp "$tmp/dir/a.pcapng" "$tmp/dir/c.pcapng"
"$netobsd" -r - --formula "$reset" --write x="$tmp/dir/c.pcapng" <"$home" 2>"$tmp/err"
check "and a file that is standard input" cmp "$tmp/dir/a.pcapng" "$tmp/dir/c.pcapng"
"$netobsd" -r "$home" --write tcp-connect-refused="$tmp/dir/c.pcapng" 2>"$tmp/err"
check "each capture has what it has alone" cmp "$tmp/dir/b.pcapng" "$tmp/dir/c.pcapng"
"$netobsd" -r "$tmp/dir/a.pcapng" --formula "$reset" --write x="$tmp/dir/c.pcapng" 2>"$tmp/err"
"$netobsd" -r "$tmp/dir/a.pcapng" --print=x --formula "$reset" | cut -d ' ' -f 2-4 >"$tmp/printed"
cut -d ' ' -f 2-4 "$tmp/wanted" >"$tmp/wanted.words"
check "the capture fires as its source" cmp "$tmp/wanted.words" "$tmp/printed"
for probe in connection-end tcp-state-change; do
	"$netobsd" -r "$home" --write $probe="$tmp/dir/c.pcapng" 2>"$tmp/err"
	sh -c 'cat "$1" | "$2" -r - --write "$3=$4"' sh "$home" "$netobsd" $probe "$tmp/dir/d.pcapng" 2>"$tmp/err"
	check "firings of timers, too: $probe" cmp "$tmp/dir/c.pcapng" "$tmp/dir/d.pcapng"
done
rm "$tmp/dir"/*

# A file appears when it is complete; a killed run leaves nothing.
mkfifo "$tmp/fifo"
for signal in KILL INT; do
	"$netobsd" -r "$tmp/fifo" --write tcp-send="$tmp/dir/a.pcapng" 2>"$tmp/err" &
	pid=$!
	exec 3>"$tmp/fifo"
	cat "$home" >&3
	wait_for sh -c '[ -n "$(ls -A "$1")" ]' sh "$tmp/dir"
	wait_for begun "$pid"
	is "until the end, there is only a temporary file ($signal)" "$(ls -A "$tmp/dir")" \
		.a.pcapng.netobs-part
	kill -$signal $pid
	wait $pid 2>/dev/null
	status=$?
	exec 3>&-
	wait_for sh -c '[ -z "$(ls -A "$1")" ]' sh "$tmp/dir"
	is "SIG$signal leaves no file" "$(ls -A "$tmp/dir")" ""
done
is "a stopped run has failed, and says which file is missing" "$status $(grep -c 'not all input was read: .*a.pcapng is not written' "$tmp/err")" "1 1"

"$netobsd" -r "$captures/broken-record.pcap" --write ip-receive="$tmp/dir/a.pcapng" 2>"$tmp/err"
is "of a damaged input, the file has what was before" "$? $(ls -A "$tmp/dir") $(grep -c 'ends unexpectedly' "$tmp/err")" "2 a.pcapng 1"
rm "$tmp/dir"/*

# A frame that claims to be longer than any, and one with many comments.
"$netobsd" -r "$tmp/huge.pcap" --write-format snoop --write tcp-send="$tmp/dir/a.snoop" 2>"$tmp/err"
is "a length that snoop files cannot hold is said" "$? $(grep -c '1 frames were longer than 262144 bytes' "$tmp/err")" "0 1"
check "and the file can be read" sh -c '[ "$("$1" -r "$2" --print=tcp-send | wc -l)" -eq 2 ]' sh "$netobsd" "$tmp/dir/a.snoop"
if have tshark; then
	is "by tshark, too" "$(tshark -r "$tmp/dir/a.snoop" -T fields -e frame.len 2>/dev/null | paste -sd ' ' -)" "54 262144"
fi
set --
for i in $(seq 40); do
	set -- "$@" --formula "f$i = tcp-send where tcp_sport == 1000" --write "f$i=$tmp/dir/$i.pcapng"
done
"$netobsd" -r "$tmp/huge.pcap" "$@" 2>"$tmp/err"
cp "$tmp/dir/1.pcapng" "$tmp/comments.pcapng"
rm "$tmp/dir"/*
"$netobsd" -r - "$@" <"$tmp/huge.pcap" 2>/dev/null
check "many comments on a frame: another run gives the same bytes" cmp "$tmp/comments.pcapng" "$tmp/dir/1.pcapng"
rm "$tmp/dir"/*
sh -c 'input=$1 netobsd=$2; shift 2; cat "$input" | "$netobsd" -r - "$@"' sh "$tmp/huge.pcap" "$netobsd" "$@" 2>"$tmp/piped"
check "and a pipe, too" cmp "$tmp/comments.pcapng" "$tmp/dir/1.pcapng"
is "those left out are counted, in both alike" "$(grep 'too many of them' "$tmp/err")" "$(grep 'too many of them' "$tmp/piped")"
rm -f "$tmp/dir"/*

refuses_limit() {
	(
		ulimit -f 8 || exit 99
		exec "$netobsd" -r "$home" --write tcp-send="$tmp/dir/a.pcapng"
	) 2>"$tmp/err"
	echo "$? $(ls -A "$tmp/dir") $(grep -c 'cannot write the capture .*: File too large' "$tmp/err")"
}
is "a file that cannot grow is not left" "$(refuses_limit)" "1  1"

full_disk() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1" && "$2" -r "$3" --write tcp-send="$1/a.pcapng"
		echo "$? $(ls -A "$1")"' sh "$tmp/dir" "$netobsd" "$home" 2>"$tmp/err"
	grep -c 'cannot write the capture .*: No space left on device' "$tmp/err"
}
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs none "$tmp/dir" 2>/dev/null; then
	is "on a full disk there is no file" "$(full_disk | paste -sd ' ' -)" "1  1"
else
	skip "on a full disk there is no file" "no tmpfs can be mounted"
fi
# denied: into a directory that this user may not write to; root may write everywhere
denied() {
	mkdir -m 555 "$tmp/denied"
	if [ "$(id -u)" -eq 0 ]; then
		cp "$home" "$tmp/home.pcap" && chmod 644 "$tmp/home.pcap"
		setpriv --reuid 65534 --regid 65534 --clear-groups "$(private_netobsd)" -r "$tmp/home.pcap" \
			--write tcp-send="$tmp/denied/a.pcapng"
	else
		"$netobsd" -r "$home" --write tcp-send="$tmp/denied/a.pcapng"
	fi 2>"$tmp/err"
	echo "$? $(ls -A "$tmp/denied") $(grep -c 'cannot write the capture .*: Permission denied' "$tmp/err")"
}
is "a directory without write permission is an error" "$(denied)" "1  1"

# The times of the replay change nothing.
"$netobsd" -r "$home" --write tcp-send="$tmp/dir/a.pcapng" 2>"$tmp/err"
for option in --pace=100000 --wait-tracer=1; do
	"$netobsd" -r "$home" "$option" --write tcp-send="$tmp/dir/b.pcapng" 2>"$tmp/err"
	check "the same bytes with $option" cmp "$tmp/dir/a.pcapng" "$tmp/dir/b.pcapng"
	rm -f "$tmp/dir/b.pcapng"
done
rm -f "$tmp/dir"/*

# OpenBSD's number of raw IP: a capture is written with the number that files have.
for format in pcapng pcap; do
	"$netobsd" -r "$tmp/raw.pcap" --write-format $format --write udp-send="$tmp/dir/a" 2>"$tmp/err"
	is "raw IP of OpenBSD in a $format file can be read" "$("$netobsd" -r "$tmp/dir/a" --print=udp-send | wc -l | tr -d ' ')" 1
	rm -f "$tmp/dir/a"
done

# A small ring: earlier frames of a connection are gone, which is said.
long='x = tcp-send where tcp_flags & FIN'
"$netobsd" -r "$tmp/long.pcap" --formula "$long" --write x="$tmp/dir/a.pcapng" 2>"$tmp/err"
is "a file has everything" "$? $(grep -c lacks "$tmp/err")" "0 0"
sh -c 'cat "$1" | "$2" -r - --formula "$3" --write x="$4"' sh "$tmp/long.pcap" "$netobsd" "$long" "$tmp/dir/b.pcapng" 2>"$tmp/err"
check "so has a pipe with enough memory" cmp "$tmp/dir/a.pcapng" "$tmp/dir/b.pcapng"
sh -c 'cat "$1" | "$2" -r - --formula "$3" --flight-memory 1M --write x="$4"' sh "$tmp/long.pcap" "$netobsd" \
	'x = connection-end' "$tmp/dir/c.pcapng" 2>"$tmp/err"
is "with little memory, a message counts the missing frames" "$? $(grep -c 'lacks the first [0-9]* frames' "$tmp/err")" "0 1"
check "and so does the capture" grep -aq "earlier frames of the connections are missing" "$tmp/dir/c.pcapng"

# The packets of a GRE tunnel and of a VXLAN tunnel, each in two fragments.
for port in 1003 1004; do
	"$netobsd" -r "$tmp/tunnels.pcap" --formula "x = tcp-send where tcp_sport == $port" --write x="$tmp/x.pcapng" \
		2>"$tmp/err"
	check "port $port: the fragments of a tunnel belong to the connection inside" grep -q 'connections: 1, frames in .*: 2$' \
		"$tmp/err"
done

# ---------------------------------------------------------------------------------------------- compared with tshark

if have tshark capinfos; then
	python3 "$top/tests/flight/excerpt/write_tshark.py" "$netobsd" "$captures" "$tmp" some >"$tmp/points" 2>"$tmp/err"
	is "write_tshark.py ends well" "$? $(cat "$tmp/err")" "0 "
	relay "$tmp/points"
else
	skip "the frames are those that tshark finds" "tshark or capinfos is not installed"
	tap_done
fi

# ------------------------------------------------------------------------------------------------------------- formats

# microseconds FILE: its frames; not all formats have nanoseconds
microseconds() {
	"$top/tests/lib/capture_frames.py" "$1" | sed 's/^\([0-9]*\)[0-9]\{3\} /\1 /'
}
"$netobsd" -r "$home" --formula "$reset" --write x="$tmp/x.pcapng" 2>"$tmp/err"
microseconds "$tmp/x.pcapng" >"$tmp/wanted"
for format in pcap snoop; do
	"$netobsd" -r "$home" --formula "$reset" --write-format $format --write x="$tmp/x.$format" 2>"$tmp/err"
	microseconds "$tmp/x.$format" >"$tmp/got"
	check "a $format file has the same frames" cmp "$tmp/wanted" "$tmp/got"
done
rm -f "$tmp/dir"/*
for format in pcap snoop; do
	refuses "times that a $format file cannot hold are refused" 1 \
		'later than February 2106.*write-format pcapng' -r "$tmp/late.pcapng" --write-format $format --write tcp-send="$tmp/dir/a"
	refuses "two link types do not fit in a $format file" 1 'link types EN10MB and LINUX_SLL.*write-format pcapng' \
		-r "$home" -r "$tmp/lo.pcap" --write-format $format --write tcp-send="$tmp/dir/a"
done
"$netobsd" -r "$home" -r "$tmp/lo.pcap" --write tcp-send="$tmp/dir/a" 2>"$tmp/err"
is "but in a pcapng file, with an interface each" "$? $(capinfos -I "$tmp/dir/a" 2>/dev/null | sed -n 's/^Number of interfaces in file: //p')" "0 2"
for format in pcapng pcap snoop; do
	"$netobsd" -r "$home" --formula 'x = tcp-send where tcp_dport == 1' --write-format $format --write x="$tmp/dir/empty" 2>"$tmp/err"
	is "capinfos reads an empty $format capture" "$(capinfos -T -r -c "$tmp/dir/empty" 2>&1 | cut -f 2)" 0
	"$netobsd" -r "$tmp/dir/empty" --summary 2>"$tmp/err"
	is "netobsd reads it" "$? $(awk '$1 == "frames" { print $2 }' "$tmp/err")" "0 0"
done

echo 'flight-memory = 64M' >"$tmp/conf"
"$netobsd" -c "$tmp/conf" -r "$home" --write arp-receive="$tmp/dir/a" 2>"$tmp/err"
is "files need no flight memory, and its memory is not said to be reserved" \
	"$(grep -c 'memory reserved' "$tmp/err") $(grep -c 'for the flight memory' "$tmp/err")" "1 0"

# ------------------------------------------------------------------------------------------------------------ comments

"$netobsd" -r "$home" --formula 'slow = tcp-accept-established where tcps_rport > 0' --write slow="$tmp/x.pcapng" 2>"$tmp/err"
tshark -r "$tmp/x.pcapng" -T fields -e frame.comment 2>/dev/null | tr ',' '\n' >"$tmp/comments"
sed -n 's/^tcp-state-change \(.*\)/\1/p' "$tmp/comments" | sort >"$tmp/got"
"$netobsd" -r "$tmp/x.pcapng" --print=tcp-state-change | sed 's/^.*: \(state-[^ ]* -> state-[^,]*\),.*/\1/' |
	sort >"$tmp/wanted"
is "the comments list changes of state" "$(comm -23 "$tmp/got" "$tmp/wanted")" ""
for change in 'state-syn-sent -> state-established' 'state-established -> state-fin-wait-1'; do
	is "every $change" "$(grep -c "$change" "$tmp/got")" "$(grep -c "$change" "$tmp/wanted")"
done
check "and the formula with the values that made it true" grep -q "slow: tcps_rport = [0-9]" "$tmp/comments"
# The reader of standard output goes away; another file of the run is written.
closed() {
	rm -f "$tmp/status"
	{
		"$netobsd" "$@" 2>"$tmp/err"
		echo $? >"$tmp/status"
	} | true
	wait_for test -s "$tmp/status"
}
for name in - /dev/stdout; do
	closed -r "$home" --write tcp-send="$name"
	is "a closed pipe ends it quietly: $name" "$(cat "$tmp/status" "$tmp/err")" 0
done
closed -r - --write tcp-send=- <"$home"
is "a closed pipe ends it quietly: with input from a pipe" "$(cat "$tmp/status" "$tmp/err")" 0
closed -r "$home" --write tcp-send=- --write udp-send="$tmp/dir/rest.pcapng"
is "another file is written" "$(cat "$tmp/status") $(grep -c "frames in $tmp/dir/rest.pcapng" "$tmp/err")" "0 1"
check "and is not empty" [ -s "$tmp/dir/rest.pcapng" ]

tap_done
