#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl stream: lines and fields, formulas, readers that stop, end in the middle of a line or are many, files that are
# complete or absent, full disks, mistakes and permissions.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip zstd || skip_all "python3, ip or zstd is not installed"
ctl=$tmp/netobsctl client=$top/tests/service/stream_client.py
space=netobs-stream-$$ pid='' small=$tmp/small
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; umount "$small" 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run" "$small"
cp -- "$build/netobsctl" "$ctl" && chmod 755 "$ctl" || exit 99
socket=$tmp/run/control

ctl() {
	"$ctl" -s "$socket" "$@"
}

# start ARGUMENT...: starts netobsd on lo and waits until it replies
start() {
	ip netns exec "$space" "$netobsd" -i lo --control "$socket" "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for ctl status || cat "$tmp/err" >&2
}

# stop: ends netobsd, and with it all streams
stop() {
	kill -INT "$pid"
	wait "$pid"
	pid=
}

# value NAME: of a counter, 0 if it is not listed
value() {
	ctl counters | awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }'
}

# reached NAME COUNT: whether the counter is exactly COUNT
reached() {
	[ "$(value "$1")" -eq "$2" ]
}

# fire COUNT: makes exactly COUNT further firings of udp-send, if the kernel drops no frame
fired=0
fire() {
	ip netns exec "$space" python3 "$client" send "$1"
	fired=$((fired + $1))
	wait_for reached probe.udp-send "$fired" || note "udp-send fired $(value probe.udp-send) times, not $fired"
}

# has_lines FILE COUNT: whether the file has at least COUNT lines
has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# stream NAME ARGUMENT...: starts a stream to $tmp/NAME, its pid in $reader; returns when it receives lines
stream() {
	stream_name=$1 stream_count=$(value feed.now)
	shift
	"$ctl" -s "$socket" stream "$@" >"$tmp/$stream_name" 2>"$tmp/$stream_name.err" &
	reader=$!
	wait_while "$reader" reached feed.now $((stream_count + 1)) || cat "$tmp/$stream_name.err"
}

# descriptors: of netobsd
descriptors() {
	find "/proc/$pid/fd" -type l | wc -l
}

has_descriptors() {
	[ "$(descriptors)" -eq "$1" ]
}

# disabled: whether udp-send is not enabled
disabled() {
	ctl probes --json | grep -q '"udp-send","enabled":0,'
}

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
stop
wait
check "the lines are those of --print --format json" cmp "$tmp/out" "$tmp/whole"
awk 'BEGIN { for (i = 1; i <= 1000; i++) printf "udp-send\t127.0.0.1\t%d\t-\ntext\t127.0.0.1\t%d\t-\n", i, i }' >"$tmp/wanted"
check "fields of a probe and of a formula, in the order of the list" cmp "$tmp/wanted" "$tmp/chosen"
is "netobsctl prints that netobsd has ended the stream" "$(cat "$tmp/whole.err")" "netobsctl: netobsd has ended the stream"

start
stream text udp-send
fired=0
fire 2
wait_for has_lines "$tmp/text" 2
is "text: as --print" "$(grep -c ' udp-send .*127\.0\.0\.1' "$tmp/text")" 2
kill "$reader"
wait "$reader"
is "a signal ends a stream with status 0" $? 0
check "a stream that has ended does not enable its probe" wait_for disabled

# A reader that closes standard output ends the stream, without a message and without another firing.
"$ctl" -s "$socket" stream udp-send 2>"$tmp/closed.err" | true
is "a closed output is no error" "$(cat "$tmp/closed.err")" ""
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
fired=$(value probe.udp-send)
stream udp --json udp-send --fields pkt_seq
fire 3
stop
wait
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
refused "no field" 'the list of fields has an empty word' stream udp-send --fields ''
refused "an empty name" 'stream: a name is empty or too long' stream udp-send,,tcp-send
refused "--rotate alone" '--rotate needs --dir' stream udp-send --rotate 1h
for word in 1 1x 0M M -1h 1hh 99999999999G; do
	refused "--rotate $word" '--rotate: expected a size such as 100M (K, M, G) or a time such as 1h (s, m, h, d)' \
		stream udp-send --dir "$tmp" --rotate "$word"
done
refused "no directory" "$tmp/none: No such file or directory" stream udp-send --dir "$tmp/none"
refused "a file as directory" "$tmp/refused: Not a directory" stream udp-send --dir "$tmp/refused"
refused "options of other commands" '--fields and --rotate are options of the command stream only' status --fields x
refused "--dir with another command" '--dir is an option of the commands stream and record only' status --dir x
check "mistakes leave nothing enabled" disabled

# ------------------------------------------------------------------------------------------- readers that end or stop

before=$(descriptors)
timeout 60 ip netns exec "$space" python3 "$client" torn "$socket" 50
check "50 readers that end in the middle of a line: nothing is left enabled" wait_for disabled
check "and no descriptor is left" wait_for has_descriptors "$before"
stop

start
fired=0
stream stopped --json udp-send
slow=$reader
stream read --json udp-send --fields pkt_seq
kill -STOP "$slow"
fire 10000
wait_for has_lines "$tmp/read" 10000
dropped=$(value feed.dropped)
check "a stopped reader loses lines" test "$dropped" -gt 0
kill -CONT "$slow"
fire 10
wait_for has_lines "$tmp/read" 10010
wait_for grep -q '"pkt_seq":10010}' "$tmp/stopped"
is "what was lost is exact" "$(value feed.dropped)" "$dropped"
stop
wait
is "the stream has the number of lost lines in their place" "$(python3 "$client" check "$tmp/stopped" 2>&1)" \
	"$((10010 - dropped)) $dropped"
is "netobsctl prints the number of lost lines" "$(head -n 1 "$tmp/stopped.err")" \
	"netobsctl: $dropped lines were lost because they were not read in time"
awk 'BEGIN { for (i = 1; i <= 10010; i++) printf "{\"pkt_seq\":%d}\n", i }' >"$tmp/wanted"
check "the other reader has every line" cmp "$tmp/wanted" "$tmp/read"

start
fired=0
mkdir "$tmp/most"
timeout 300 python3 "$client" most "$socket" 100 "$tmp/most" >"$tmp/most.err" 2>&1 &
many=$!
wait_while "$many" test -e "$tmp/most/ready"
ip netns exec "$space" python3 "$client" send 5
fired=5
for _ in $(seq 12); do
	fire 500
done
is "100 streams: no frame is dropped" "$(value capture.dropped)" 0
is "100 streams" "$(value feed.now)" 100
is "100 streams: every line is counted" "$(value feed.lines)" $((100 * fired))
dropped=$(value feed.dropped)
check "100 streams: the stopped one has lost lines" test "$dropped" -gt 0
stop
wait "$many"
awk -v fired="$fired" 'BEGIN { for (i = 1; i <= fired; i++) printf "{\"pkt_seq\":%d}\n", i; print "" }' >"$tmp/wanted"
complete=0
for i in $(seq 99); do
	! cmp -s "$tmp/wanted" "$tmp/most/$i" || complete=$((complete + 1))
done
is "100 streams: 99 have every line, and an empty line at the end" "$complete" 99
check "the end of the stopped one is logged" grep -q 'the last [0-9]* bytes of a stream were not sent' "$tmp/err"

# --------------------------------------------------------------------------------------------------------- permissions

start --control-mode 666
mkfifo "$tmp/hold"
timeout 300 python3 -c '
import socket, sys, pathlib
clients = []
for i in range(int(sys.argv[2])):
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    client.sendall(b"stream udp-send\n")
    assert client.recv(3) == b"ok\n"
    clients.append(client)
pathlib.Path(sys.argv[3]).touch()
open(sys.argv[4]).read()' "$socket" 128 "$tmp/held" "$tmp/hold" &
holder=$!
wait_while "$holder" test -e "$tmp/held"
refused "the 129th stream" 'there are 128 streams already, as many as there can be' stream udp-send
check "other commands are served beside 128 streams" ctl status
: >"$tmp/hold"
wait "$holder"
check "streams that have ended make room" wait_for disabled
if have setpriv; then
	timeout 60 setpriv --reuid 65533 --regid 65533 --clear-groups "$ctl" -s "$socket" stream udp-send >"$tmp/other" 2>&1
	is "every user may connect: a stream is for root only" "$?:$(cut -c 1-62 "$tmp/other")" \
		"1:netobsctl: every user may connect to this control socket: only"
else
	skip "every user may connect: a stream is for root only" "setpriv is not installed"
fi
stop

# --------------------------------------------------------------------------------------------------------------- files

# names DIRECTORY: of its complete files
names() {
	find "$1" -name '[!.]*' -type f | sort
}

# more_files COUNT DIRECTORY: whether it has more than COUNT complete files
more_files() {
	[ "$(names "$2" | wc -l)" -gt "$1" ]
}

# has_parts COUNT: whether $tmp/killed has so many temporary files of udp-send
has_parts() {
	[ "$(find "$tmp/killed" -name '.udp-send*.part' | wc -l)" -eq "$1" ]
}

start
fired=0
mkdir "$tmp/by-size" "$tmp/by-time" "$tmp/killed"
stream size udp-send --dir "$tmp/by-size" --rotate 100K
stream time udp-send --dir "$tmp/by-time" --rotate 1s
timed=$reader
stream all --json udp-send
fire 2000
wait_for more_files 15 "$tmp/by-size"
wait_for more_files 0 "$tmp/by-time"
fire 1
wait_for more_files 1 "$tmp/by-time"
kill -TERM "$timed"
wait "$timed"
is "files: SIGTERM has status 0" $? 0
stop
wait
names "$tmp/by-size" | xargs zstd -qdc >"$tmp/sizes"
check "files by size, decompressed one after the other, are the stream" cmp "$tmp/all" "$tmp/sizes"
names "$tmp/by-time" | xargs zstd -qdc >"$tmp/times"
check "files by time, decompressed one after the other, are the stream" cmp "$tmp/all" "$tmp/times"
is "names of files" "$(names "$tmp/by-size" | sed 's|.*/||; s/-[0-9]\{8\}T[0-9]\{6\}Z-/-TIME-/; 2q')" \
	"$(printf 'udp-send-TIME-%06d.jsonl.zst\n' 1 2)"
largest=$(for file in $(names "$tmp/by-size"); do zstd -qdc "$file" | wc -c; done | sort -n | tail -n 1)
check "files by size: a file ends with the line that makes it long enough" test "$largest" -ge 102400 -a "$largest" -lt 104448
is "other users may not read a file" "$(find "$tmp/by-size" -name '[!.]*' -type f -printf '%m\n' | sort -u)" 640
is "no temporary file is left" "$(find "$tmp/by-size" "$tmp/by-time" -name '.*part')" ""

# A killed run leaves no file under its final name, and the next one removes what it left.
start
fired=0
stream was-killed udp-send --dir "$tmp/killed"
fire 100
wait_for has_parts 1
kill -9 "$reader"
wait "$reader" 2>/dev/null
is "a killed run: no file has its final name" "$(names "$tmp/killed")" ""
touch "$tmp/killed/.other-20200101T000000Z-000001.jsonl.zst.part"
stream next udp-send --dir "$tmp/killed"
stream beside udp-send --dir "$tmp/killed"
beside=$reader
fire 10
wait_for has_parts 2
stream third udp-send --dir "$tmp/killed"
is "the next run removes what it left" "$(sed 's|/[^ ]*/||; s/-2[0-9TZ]*-/-TIME-/' "$tmp/next.err" | sort)" \
	"netobsctl: .other-TIME-000001.jsonl.zst.part was left behind by another run and is not complete
netobsctl: removed .udp-send-TIME-000001.jsonl.zst.part: a killed run left it behind, and it was not complete"
is "but not what a running one writes" "$(grep -c removed "$tmp/third.err")" 0
kill "$beside"
stop
wait
is "two runs in one directory have files of their own" "$(names "$tmp/killed" | xargs zstd -qdc | wc -l)" 20

# The names that a file could have are taken, for an hour.
start
fired=0
mkdir "$tmp/taken"
python3 -c '
import pathlib, sys, time
now = int(time.time())
for second in range(now, now + 3600):
    pathlib.Path(sys.argv[1], time.strftime("udp-send-%Y%m%dT%H%M%SZ-000001.jsonl.zst", time.gmtime(second))).touch()' "$tmp/taken"
stream beside-taken udp-send --dir "$tmp/taken"
fire 3
stop
wait
is "a name that is taken is left alone" \
	"$(find "$tmp/taken" -size +0 -type f | sed 's|.*/||; s/-2[0-9TZ]*-/-TIME-/')" udp-send-TIME-000002.jsonl.zst
is "a name that is taken: no temporary file is left" "$(find "$tmp/taken" -name '.*part')" ""

# A directory that is removed.
start
fired=0
mkdir "$tmp/gone"
stream removed udp-send --dir "$tmp/gone"
rm -r "$tmp/gone"
fire 1
wait "$reader"
is "a removed directory" "$?:$(sed 's/-2[0-9TZ]*-/-TIME-/' "$tmp/removed.err")" \
	"1:netobsctl: cannot create $tmp/gone/.udp-send-TIME-000001.jsonl.zst.part: No such file or directory"

# A full disk: complete frames are kept, the rest is told.
if mount -t tmpfs -o size=400k none "$small" 2>/dev/null; then
	stream beside --json udp-send
	stream full udp-send --dir "$small" --rotate 1G
	for _ in $(seq 60); do
		! kill -0 "$reader" 2>/dev/null || fire 2000
	done
	wait_for grep -q lost "$tmp/full.err"
	is "a full disk: message" "$(sed -n '1s/.*part: //p' "$tmp/full.err")" "No space left on device"
	kept=$(names "$small" | xargs zstd -qdc | wc -l)
	names "$small" | xargs zstd -qdc >"$tmp/kept"
	head -n "$kept" "$tmp/beside" >"$tmp/head"
	check "a full disk: what was kept begins the stream" cmp "$tmp/head" "$tmp/kept"
	check "a full disk: a file is kept" test "$kept" -gt 1000
	check "a full disk: the lost lines are counted" grep -qE 'netobsctl: [0-9]+ lines for .* are lost' "$tmp/full.err"
	is "a full disk: no temporary file is left" "$(find "$small" -name '.*part')" ""
else
	skip "a full disk" "tmpfs cannot be mounted"
fi
stop
wait

# A stream is a tracer for --on-demand: it resumes capture.
# demanded: sends a datagram; whether the stream has a line
demanded() {
	ip netns exec "$space" python3 "$client" send 1
	has_lines "$tmp/demanded" 1
}

start --on-demand
ip netns exec "$space" python3 "$client" send 3
is "--on-demand: nothing is captured without a stream" "$(value frames)" 0
stream demanded udp-send
check "--on-demand: a stream resumes capture" wait_for demanded
kill "$reader"
wait "$reader"
stop

# netobsd is killed: the stream breaks off.
start
fired=0
stream broken --json udp-send
fire 3
wait_for has_lines "$tmp/broken" 3
kill -9 "$pid"
wait "$pid" 2>/dev/null
pid=
wait "$reader"
is "netobsd is killed: status" $? 2
is "netobsd is killed: message" "$(cat "$tmp/broken.err")" \
	"netobsctl: the stream broke off: netobsd has closed the connection or was killed"

# --------------------------------------------------------------------------------------------------- without netobsd

# served TEXT: the messages of netobsctl for a stream of these lines
served() {
	rm -f "$tmp/run/served"
	timeout 60 python3 "$client" serve "$tmp/run/served" "$1" "$ctl" -s "$tmp/run/served" stream >/dev/null 2>"$tmp/served.err"
	cat "$tmp/served.err"
}

broken='netobsctl: the stream broke off: netobsd has closed the connection or was killed'
is "lines for gaps are counted" "$(served 'a\nlost 12\n{"lost":30}\n')" \
	"$(printf '%s\n' 'netobsctl: 42 lines were lost because they were not read in time' "$broken")"
is "other lines that begin like these are not" \
	"$(served 'lost 5\tb\nlost 5 b\nlost  \n7\nlost -1\n{"lost":"6"}\n{"lost":6,"b":7}\n')" "$broken"
is "the end of the reader of standard output ends a stream without lines, also of a socket" \
	"$(timeout 60 python3 "$client" leave "$tmp/run/left" "$ctl" -s "$tmp/run/left" stream 2>&1)" 0

tap_done
