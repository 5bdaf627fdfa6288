#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs-connfs: the tree, texts, links, a capture, many connections, bad use, a netobsd that goes away and comes back.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"
# shellcheck source=tests/service/connfs_mount.sh
. "$(dirname "$0")/connfs_mount.sh"

start --all-owners --udp-idle=3600 --flight-memory=8M
begin_traffic
# Over one connection 1000 bytes are sent and 10 received, the other is half closed by the client.
traffic connect first 7001
traffic connect second 7001
traffic send first 1000
traffic answer first 10
traffic half second

# connections FIELD,...: of the TCP connections, in the order of their ids
connections() {
	ctl connections -o "$1" -P --sort -cid 'protostr == "TCP"'
}
# seen: everything above has been observed
seen() {
	connections server_bytes,client_bytes,client_state | paste -s -d ' ' | grep -qx '10:1000:established 0:[01]:fin-wait-2'
}
wait_for seen
first=$(connections cid | sed -n 1p)
second=$(connections cid | sed -n 2p)

mkdir "$tmp/temporary"
TMPDIR=$tmp/temporary "$connfs" -s "$socket" "$root" >"$tmp/connfs.log" 2>&1
is "it mounts, and stays in the background" $? 0
(cd "$tmp" && "$connfs" -s "$socket" ./connfs/) 2>"$tmp/message"
is "a second mount on the same place: status" $? 1
check "a second mount on the same place: message" grep -q '^netobs-connfs: .* is mounted there already' "$tmp/message"
is "there is one" "$(grep -c " $root fuse.netobs-connfs " /proc/self/mounts)" 1

is "a directory for each connection, and four for what they have in common" \
	"$(find "$root" -mindepth 1 -maxdepth 1 -printf '%f %y\n' | sort)" \
	"$(printf '%s d\n' "$first" "$second" by-host by-pid by-port by-state | sort)"
is "the files of a connection" "$(find "$root/$first" -mindepth 1 -printf '%f %m\n' | sort | paste -s -d ' ')" \
	"bytes 444 capture.pcapng 400 client 444 history 400 owner 400 rtt 444 server 444 state 444 status 400"
is "state: of both ends" "$(cat "$root/$first/state")" "established established"
is "bytes" "$(paste -s -d ' ' "$root/$first/bytes")" "client 1000 server 10"
is "server" "$(cat "$root/$first/server")" "127.0.0.1:7001"
is "client" "$(cat "$root/$first/client")" "127.0.0.1:$(connections client_port | sed -n 1p)"
is "owner" "$(paste -s -d ' ' "$root/$first/owner")" "pid $traffic comm python3 uid 0"
# same_rtt: whether it is that of netobsctl; an acknowledgement may come in between
same_rtt() {
	[ "$(cat "$root/$first/rtt")" = "$(connections rtt_us | sed -n 1p)" ]
}
check "rtt: as netobsctl has it" wait_for same_rtt
is "status has them all" "$(cut -d ' ' -f 1 "$root/$first/status" | paste -s -d ' ')" \
	"cid protostr local client client_port server server_port client_state server_state start client_bytes server_bytes \
client_segments server_segments client_resent server_resent rtt_us client_rto server_rto mss pid comm uid"
# history: the ends and the number of lines differ; the times are those of this run.
events() {
	sed 1d "$root/$1/history" | sed 's/^ *[0-9]*[.][0-9]*  //; s/  */ /g; s/ $//' | paste -s -d ';'
}
is "history: its title" "$(sed -n '1s/  */ /g; 1p' "$root/$first/history" | sed 's/^ //')" \
	"SECONDS $(cat "$root/$first/client") $(cat "$root/$first/server")"
is "history: states and packets of both ends" "$(events "$second" | tr -s ' ')" "closed -> syn-sent;SYN -->; listen -> syn-received; <-- SYN|ACK, ack 1\
;syn-sent -> established;ACK, ack 1 -->; syn-received -> established;established -> fin-wait-1;FIN|ACK 1, ack 1 -->\
; established -> close-wait; <-- ACK, ack 2;fin-wait-1 -> fin-wait-2"
check "history: payload" grep -q '^ *[0-9]*[.][0-9]*  PSH|ACK 1:1001, ack 1  *-->$' "$root/$first/history"
check "history: of the other end" grep -q '^ *[0-9]*[.][0-9]*   *<--  PSH|ACK 1:11, ack 1001$' "$root/$first/history"
is "grep finds a state" "$(cd "$root" && grep -l fin-wait-2 ./*/state)" "./$second/state"
is "the size of a file is that of its text" "$(stat -c %s "$root/$first/state")" "$(wc -c <"$root/$first/state")"
is "the time of a directory is the beginning of the connection" "$(stat -c %Y "$root/$first")" \
	"$(($(ctl connections -o start --json --sort -cid 'protostr == "TCP"' | sed -n '1s/[^0-9]//gp') / 1000000000))"

is "by-port: both ports of both connections" \
	"$(find "$root/by-port" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)" \
	"$( (connections client_port && echo 7001) | sort)"
is "links to the connections with a port" "$(find "$root/by-port/7001" -type l -printf '%f %l\n' | sort)" \
	"$(printf '%s ../../%s\n' "$first" "$first" "$second" "$second" | sort)"
is "a link leads to the connection" "$(cat "$root/by-state/fin-wait-2/$second/server")" "127.0.0.1:7001"
is "by-pid" "$(find "$root/by-pid/$traffic/" -type l | wc -l)" 2
is "by-host" "$(find "$root/by-host" -mindepth 1 -printf '%f\n' | sort | paste -s -d ' ')" \
	"$(printf '%s\n' 127.0.0.1 "$first" "$second" | sort | paste -s -d ' ')"

check "the packets of a connection are copied" cp "$root/$first/capture.pcapng" "$tmp/copy.pcapng"
exec 4<"$root/$first/capture.pcapng"
serving=$(find /proc/[0-9]*/fd -lname "$tmp/temporary/* (deleted)" 2>/dev/null | wc -l)
exec 4<&-
is "an open capture is in TMPDIR, without a name" "$serving:$(ls "$tmp/temporary")" 1:
is "they are those of this connection" \
	"$("$netobsd" -r "$tmp/copy.pcapng" --print=tcp-send --view monitor | grep -c '127[.]0[.]0[.]1:7001')" \
	"$("$netobsd" -r "$tmp/copy.pcapng" --print=tcp-send --view monitor | wc -l)"
is "with all of its bytes" "$("$netobsd" -r "$tmp/copy.pcapng" --view monitor --print=connection-end \
	--print-fields cr_client_bytes,cr_server_bytes | tr '\t' ' ')" "1000 10"

# A process chooses its name.
mkfifo "$tmp/hold"
ip netns exec "$space" python3 "$top/tests/service/hostile_name.py" 7009 <"$tmp/hold" &
hostile=$!
exec 5>"$tmp/hold"
hostile_name() {
	sed -n 's/^comm //p' "$root"/by-port/7009/*/owner
}
# The owner is looked up after the connection is listed.
hostile_named() {
	[ -d "$root/by-port/7009" ] && [ "$(hostile_name)" != - ]
}
wait_for hostile_named
is "control characters and markup of a name are text" "$(hostile_name)" '\x1b[31m<b>\x07\x09:'
exec 5>&-
wait "$hostile"

# missing PATH: there is no such file
missing() {
	[ ! -e "$root/$1" ] && ! cat "$root/$1" >/dev/null 2>&1
}
check "there is no unknown connection" missing 999999
check "nor one with another spelling" missing "0$first"
check "nor another file of a connection" missing "$first/nothing"
check "nor a port without connections" missing by-port/9
check "nor another list" missing by-nothing
check "nor a connection with a port that it does not have" missing "by-port/$(connections client_port | sed -n 1p)/$second"
check "nor one with a state that it does not have" missing "by-state/fin-wait-2/$first"
refused() {
	! "$@" 2>/dev/null
}
# read_only COMMAND...: the command fails because the file system is read-only
read_only() {
	! "$@" >"$tmp/out" 2>&1 && grep -q 'Read-only file system$' "$tmp/out"
}
check "nothing can be written" refused sh -c "echo x >'$root/$first/state'"
check "nor made" read_only mkdir "$root/new"
check "nor removed" read_only rm -f "$root/by-port/7001/$first"
check "nor changed" read_only chmod 666 "$root/$first/state"

# Ten thousand streams of UDP.
make_streams
is "10,000 connections are listed" "$(find "$root" -mindepth 1 -maxdepth 1 -name '[0-9]*' | wc -l)" 10003
is "and their ports" "$(find "$root/by-port" -mindepth 1 -maxdepth 1 | wc -l)" 5007
is "10,000 files are read" "$(cat "$root"/*/state | wc -l)" 10003
# Files that are opened in a row show the values of one list, which must not stay for ever.
for sizes in 1:1 2:3 3:6 5:11; do
	traffic udp row 7010 1 "${sizes%:*}"
	wait_for [ -d "$root/by-port/7010" ]
	python3 "$top/tests/service/read_until.py" "$root/by-port/7010"/*/bytes "client ${sizes#*:}"
done >"$tmp/row"
is "files opened in a row: the bytes of a stream that goes on" "$(paste -s -d ' ' "$tmp/row")" "client 1 client 3 client 6 client 11"

# fails NAME ERROR COMMAND...: the command fails with this error
fails() {
	fails_name=$1 fails_error=$2
	shift 2
	check "$fails_name" refused "$@"
	"$@" >"$tmp/list" 2>"$tmp/error"
	check "with \"$fails_error\"" grep -q "$fails_error\$" "$tmp/error"
}
ls "$root" >/dev/null
stop
fails "netobsd has gone away: closed, which may be there" "Input/output error" ls "$root/closed"
fails "the directory" "Input/output error" ls "$root"
for file in state history capture.pcapng; do
	fails "$file" "Input/output error" cat "$root/$first/$file"
done
start --all-owners --udp-idle=3600
ls "$root" >"$tmp/list" 2>"$tmp/error"
is "netobsd is back: the directories" "$(paste -s -d ' ' "$tmp/list")" "by-host by-pid by-port by-state"
fails "closed is not there unless netobsd keeps connections that have ended" "No such file or directory" ls "$root/closed"
traffic udp stream 7002
without_frames() {
	[ -d "$root/by-port/7002" ]
}
wait_for without_frames
for file in history capture.pcapng; do
	fails "without a flight memory $file has no data" "No data available" cat "$root"/by-port/7002/*/$file
done

# A small flight memory overwrites the packet of a stream.
stop
start --all-owners --udp-idle=3600 --flight-memory=1M
traffic udp overwritten 7006 1 10
overwritten_listed() {
	[ -d "$root/by-port/7006" ]
}
wait_for overwritten_listed
stream=$root/$(ls "$root/by-port/7006")
check "the packet of a stream" cp "$stream/capture.pcapng" "$tmp/stream.pcapng"
overwritten() {
	traffic udp more 7007 100 30000
	! cat "$stream/capture.pcapng" >"$tmp/list" 2>&1
}
wait_for overwritten
for file in history capture.pcapng; do
	fails "when its packet is overwritten $file has no data" "No data available" cat "$stream/$file"
done

# One connection ends, and one is refused.
stop
start --all-owners --udp-idle=3600 --closed-connections=100
traffic connect ending 7003
traffic close ending
traffic refused 7004
# closed FIELD,...: of the connections that have ended
closed() {
	ctl connections --closed -o "$1" | sed 1d | tr -s ' ' | sed 's/^ //; s/ $//'
}
both_ended() {
	[ "$(closed reason | sort | paste -s -d ' ')" = "fin refused" ]
}
wait_for both_ended
listed() {
	ls "$root/closed" >/dev/null 2>&1
}
wait_for listed
is "closed: a record for each, by the id of the client" \
	"$(find "$root/closed" -type f -printf '%f\n' | sort)" "$(closed client_cid | sed 's/$/.json/' | sort)"
is "grep finds a reason" "$(cd "$root/closed" && grep -l '"cr_reason":"refused"' ./*)" \
	"./$(closed client_cid,reason | awk '$2 == "refused" { print $1 }').json"
is "the record is that of netobsctl" "$(sort "$root"/closed/*)" \
	"$(ctl connections --closed --json | sort)"
traffic udp last 7005
server=$(closed server_cid,reason | awk '$2 == "fin" { print $1 }')
is "by the id of the server" "$(cat "$root/closed/$server.json")" \
	"$(grep -h '"cr_reason":"fin"' "$root"/closed/*)"
is "the time of a file is the end of the connection" "$(stat -c %Y "$root/closed/$server.json")" \
	"$(sed 's/.*"cr_end":\([0-9]*\)[0-9]\{9\},.*/\1/' "$root/closed/$server.json")"
check "no such connection" refused ls "$root/closed/99999999.json"
check "no such name" refused ls "$root/closed/$server"
check "it is unmounted" fusermount3 -u "$root"
is "and its directory is empty" "$(ls -A "$root")" ''
# as_other COMMAND...
as_other() {
	setpriv --reuid 65533 --regid 65533 --clear-groups "$@"
}
"$connfs" -s "$socket" -o allow_other "$root"
check "a stream of UDP" wait_for [ -d "$root/by-port/7005" ]
udp=$(ls "$root/by-port/7005")
for path in "$udp/state" "$udp/bytes" "by-port/7005/$udp/server"; do
	check "allow_other: another user reads $path" as_other cat "$root/$path"
done
for path in "$udp/status" "$udp/owner" "$udp/history" "$udp/capture.pcapng" "closed/$server.json"; do
	fails "but not $path" "Permission denied" as_other cat "$root/$path"
done
fails "nor processes" "Permission denied" as_other ls "$root/by-pid"
fusermount3 -u "$root"
(cd "$tmp" && "$connfs" -s run/control connfs)
check "a socket and a mount point named from the current directory" ls "$root/by-port"
fusermount3 -u "$root"

# mistake NAME PATTERN ARGUMENT...
mistake() {
	mistake_name=$1 mistake_pattern=$2
	shift 2
	"$connfs" "$@" >"$tmp/out" 2>"$tmp/message"
	is "$mistake_name: status" $? 1
	check "$mistake_name: message" grep -qE -e "$mistake_pattern" "$tmp/message"
}
mistake "no mount point" "name the directory to mount on"
mistake "a mount point that is not there" "No such file or directory" "$tmp/nothing"
mistake "a mount point that is a file" "$tmp/err: Not a directory" -s "$socket" "$tmp/err"
mkdir -m 1777 "$tmp/shared"
chmod 1777 "$tmp/shared"
ln -s ../connfs "$tmp/shared/link"
chown -h 65534 "$tmp/shared/link"
mistake "a link of another user" "link is a symbolic link of user 65534" -s "$socket" "$tmp/shared/link"
mistake "an unknown option" "unknown option" -s "$socket" --nonsense "$root"
mistake "an unknown option of FUSE, without netobsd" "unknown option.*nonsense" -s "$tmp/nothing" -o nonsense "$root"
mistake "no netobsd" "no netobsd is listening there" -s "$tmp/nothing" "$root"
is "--version" "$("$connfs" --version | cut -d ' ' -f 1)" netobs-connfs
is "--help fits in 80 columns" "$("$connfs" --help | awk 'length > 80')" ""
end_traffic
stop
tap_done
