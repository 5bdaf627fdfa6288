#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs-connfs: the tree, texts, links, a capture, many connections, bad use, a netobsd that goes away and comes back.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$build/netobs-connfs" ] || skip_all "netobs-connfs is not built: no libfuse3"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have python3 ip fusermount3 || skip_all "python3, ip or fusermount3 is not installed"
[ -c /dev/fuse ] || skip_all "no /dev/fuse here"
space=netobs-connfs-$$ pid='' talk='' socket=$tmp/control root=$tmp/connfs
ip netns add "$space" 2>/dev/null || skip_all "no network namespaces here"
NETOBSD=$netobsd # for histories
export NETOBSD
trap 'fusermount3 -u -z "$root" 2>/dev/null; kill -9 $pid $talk 2>/dev/null; ip netns del "$space"; rm -rf "$tmp"' EXIT
ip -n "$space" link set lo up

begin_netobsd() {
	ip netns exec "$space" "$netobsd" -i lo --all-owners --udp-idle=3600 --control "$socket" "$@" >"$tmp/log" 2>&1 &
	pid=$!
	wait_for "$build/netobsctl" -s "$socket" status
}

begin_netobsd --flight-memory=8M
# Two connections to port 7001: over one 1000 bytes are sent and 10 received, the other is half closed by the client.
ip netns exec "$space" python3 - "$tmp/ready" <<'PYTHON' &
import socket, sys, time

listener = socket.create_server(("127.0.0.1", 7001))
held = []
for number in range(2):
    client = socket.create_connection(("127.0.0.1", 7001))
    held.append((client, listener.accept()[0]))
held[0][0].sendall(bytes(1000))
held[0][1].recv(1000)
held[0][1].sendall(bytes(10))
held[0][0].recv(10)
held[1][0].shutdown(socket.SHUT_WR)
held[1][1].recv(10)
open(sys.argv[1], "w").close()
time.sleep(1800) # no event: it waits for its end
PYTHON
talk=$!
wait_for test -e "$tmp/ready"

# connections FIELD,...: of the TCP connections, in the order of their ids
connections() {
	"$build/netobsctl" -s "$socket" connections -o "$1" -P --sort -cid proto tcp
}
# seen: everything above has been observed
seen() {
	connections outbytes,state | paste -s -d ' ' | grep -qx '1000:established [01]:fin-wait-2'
}
wait_for seen
first=$(connections cid | sed -n 1p)
second=$(connections cid | sed -n 2p)

mkdir "$root"
mkdir "$tmp/temporary"
TMPDIR=$tmp/temporary "$build/netobs-connfs" -s "$socket" "$root" >"$tmp/connfs.log" 2>&1
is "it mounts, and stays in the background" $? 0
(cd "$tmp" && "$build/netobs-connfs" -s "$socket" ./connfs/) >"$tmp/out" 2>"$tmp/err"
is "a second mount on the same place: status" $? 1
check "a second mount on the same place: message" grep -q '^netobs-connfs: .* is mounted there already' "$tmp/err"
is "there is one" "$(grep -c " $root fuse.netobs-connfs " /proc/self/mounts)" 1

is "a directory for each connection, and four for what they have in common" \
	"$(find "$root" -mindepth 1 -maxdepth 1 -printf '%f %y\n' | sort)" \
	"$(printf '%s d\n' "$first" "$second" by-host by-pid by-port by-state | sort)"
is "the files of a connection" "$(find "$root/$first" -mindepth 1 -printf '%f %m\n' | sort | paste -s -d ' ')" \
	"bytes 444 capture.pcapng 400 history 400 local 444 owner 400 remote 444 rtt 444 state 444 status 400"
is "state: of both ends" "$(cat "$root/$first/state")" "established established"
is "bytes" "$(paste -s -d ' ' "$root/$first/bytes")" "in 10 out 1000"
is "remote" "$(cat "$root/$first/remote")" "127.0.0.1:7001"
is "local" "$(cat "$root/$first/local")" "127.0.0.1:$(connections lport | sed -n 1p)"
is "owner" "$(paste -s -d ' ' "$root/$first/owner")" "pid $talk comm python3 uid 0"
is "rtt: as netobsctl has it" "$(cat "$root/$first/rtt")" "$(connections rtt | sed -n 1p)"
is "status has them all" "$(cut -d ' ' -f 1 "$root/$first/status" | paste -s -d ' ')" \
	"cid proto state peerstate laddr lport raddr rport start inbytes outbytes insegs outsegs retranssegs rtt rto mss pid comm uid"
# history: the ends and the number of lines differ; the times are those of this run.
events() {
	sed 1d "$root/$1/history" | sed 's/^ *[0-9]*[.][0-9]*  //; s/  */ /g; s/ $//' | paste -s -d ';'
}
is "history: its title" "$(sed -n '1s/  */ /g; 1p' "$root/$first/history" | sed 's/^ //')" \
	"SECONDS $(cat "$root/$first/local") $(cat "$root/$first/remote")"
is "history: states and packets of both ends" "$(events "$second" | tr -s ' ')" "closed -> syn-sent;SYN -->; listen -> syn-received; <-- SYN|ACK, ack 1\
;syn-sent -> established;ACK, ack 1 -->; syn-received -> established;established -> fin-wait-1;FIN|ACK 1, ack 1 -->\
; established -> close-wait; <-- ACK, ack 2;fin-wait-1 -> fin-wait-2"
check "history: payload" grep -q '^ *[0-9]*[.][0-9]*  PSH|ACK 1:1001, ack 1  *-->$' "$root/$first/history"
check "history: of the other end" grep -q '^ *[0-9]*[.][0-9]*   *<--  PSH|ACK 1:11, ack 1001$' "$root/$first/history"
is "grep finds a state" "$(cd "$root" && grep -l fin-wait-2 ./*/state)" "./$second/state"
is "the size of a file is that of its text" "$(stat -c %s "$root/$first/state")" "$(wc -c <"$root/$first/state")"
is "the time of a directory is the beginning of the connection" "$(stat -c %Y "$root/$first")" \
	"$(($(connections tcps_start | sed -n 1p) / 1000000000))"

is "by-port: both ports of both connections" \
	"$(find "$root/by-port" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)" \
	"$( (connections lport && echo 7001) | sort)"
is "links to the connections with a port" "$(find "$root/by-port/7001" -type l -printf '%f %l\n' | sort)" \
	"$(printf '%s ../../%s\n' "$first" "$first" "$second" "$second" | sort)"
is "a link leads to the connection" "$(cat "$root/by-state/fin-wait-2/$second/remote")" "127.0.0.1:7001"
is "by-pid" "$(find "$root/by-pid/$talk/" -type l | wc -l)" 2
is "by-host" "$(find "$root/by-host" -mindepth 1 -printf '%f\n' | sort | paste -s -d ' ')" \
	"$(printf '%s\n' 127.0.0.1 "$first" "$second" | sort | paste -s -d ' ')"

check "the packets of a connection are copied" cp "$root/$first/capture.pcapng" "$tmp/copy.pcapng"
exec 9<"$root/$first/capture.pcapng"
serving=$(find /proc/[0-9]*/fd -lname "$tmp/temporary/netobs.* (deleted)" 2>/dev/null | wc -l)
exec 9<&-
is "an open capture is in TMPDIR, without a name" "$serving:$(ls "$tmp/temporary")" 1:
is "they are those of this connection" \
	"$("$netobsd" -r "$tmp/copy.pcapng" --print=tcp-send --view monitor | grep -c '127[.]0[.]0[.]1:7001')" \
	"$("$netobsd" -r "$tmp/copy.pcapng" --print=tcp-send --view monitor | wc -l)"
is "with all of its bytes" "$("$netobsd" -r "$tmp/copy.pcapng" --view monitor --records=- --format=json 2>/dev/null |
	python3 -c 'import json, sys; r = json.loads(sys.stdin.readline()); print(r["cr_client_bytes"], r["cr_server_bytes"])')" "1000 10"

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
for path in 999999 "0$first" "$first/nothing" by-port/9 by-nothing "by-port/$(connections lport | sed -n 1p)/$second" by-state/fin-wait-2/"$first"; do
	check "there is no $path" missing "$path"
done
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
ip netns exec "$space" python3 -c 'import socket
for source in range(2):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for port in range(10001, 15001):
        s.sendto(b"x", ("127.0.0.1", port))'
many() {
	[ "$("$build/netobsctl" -s "$socket" connections -o cid -P proto udp | wc -l)" -ge 10000 ]
}
wait_for many
is "10,000 connections are listed" "$(find "$root" -mindepth 1 -maxdepth 1 -name '[0-9]*' | wc -l)" 10003
is "and their ports" "$(find "$root/by-port" -mindepth 1 -maxdepth 1 | wc -l)" 5007
is "10,000 files are read" "$(cat "$root"/*/state | wc -l)" 10003
# A request for each file takes 5 seconds and more.  Other load may delay an attempt.
read_soon() {
	for _ in 1 2 3; do
		! timeout 4 cat "$root"/*/state >"$tmp/states" || return 0
	done
	return 1
}
check_speed "10,000 files are read in 4 seconds" read_soon
# Files that are opened in a row show the values of one list, which must not be old.
ip netns exec "$space" python3 - "$root" <<'PYTHON' >"$tmp/row"
import glob, socket, sys, time

def wait_for(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        pass

def read():
    with open(path) as file:
        return file.read()

held = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
held.sendto(b"x", ("127.0.0.1", 7010))
wait_for(lambda: glob.glob(sys.argv[1] + "/by-port/7010/*/bytes"))
path = glob.glob(sys.argv[1] + "/by-port/7010/*/bytes")[0]
for size in 2, 3, 5:
    for _ in range(20):
        before = read()
    began = time.monotonic()
    held.sendto(bytes(size), ("127.0.0.1", 7010))
    wait_for(lambda: read() != before)
    print(read().split()[-1], "old" if time.monotonic() - began > 5 else "fresh")
PYTHON
is "files opened in a row: the bytes of a stream that goes on" "$(paste -s -d ' ' "$tmp/row")" "3 fresh 6 fresh 11 fresh"

# fails NAME ERROR COMMAND...: the command fails with this error
fails() {
	fails_name=$1 fails_error=$2
	shift 2
	check "$fails_name" refused "$@"
	"$@" >"$tmp/list" 2>"$tmp/error"
	check "with \"$fails_error\"" grep -q "$fails_error\$" "$tmp/error"
}
ls "$root" >/dev/null
kill "$pid"
wait "$pid"
fails "netobsd has gone away: closed, which may be there" "Input/output error" ls "$root/closed"
fails "the directory" "Input/output error" ls "$root"
for file in state history capture.pcapng; do
	fails "$file" "Input/output error" cat "$root/$first/$file"
done
begin_netobsd
ls "$root" >"$tmp/list" 2>"$tmp/error"
is "netobsd is back: the directories" "$(paste -s -d ' ' "$tmp/list")" "by-host by-pid by-port by-state"
fails "closed is not there unless netobsd keeps connections that have ended" "No such file or directory" ls "$root/closed"
ip netns exec "$space" python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 7002))'
without_frames() {
	[ -d "$root/by-port/7002" ]
}
wait_for without_frames
for file in history capture.pcapng; do
	fails "without a flight recorder $file has no data" "No data available" cat "$root"/by-port/7002/*/$file
done

# A small flight recorder overwrites the packet of a stream.
kill "$pid"
wait "$pid"
begin_netobsd --flight-memory=1M
send() {
	ip netns exec "$space" python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[2])):
    s.sendto(bytes(int(sys.argv[3])), ("127.0.0.1", int(sys.argv[1])))' "$@"
}
send 7006 1 10
overwritten_listed() {
	[ -d "$root/by-port/7006" ]
}
wait_for overwritten_listed
stream=$root/$(ls "$root/by-port/7006")
check "the packet of a stream" cp "$stream/capture.pcapng" "$tmp/stream.pcapng"
overwritten() {
	send 7007 100 30000
	! cat "$stream/capture.pcapng" >"$tmp/list" 2>&1
}
wait_for overwritten
for file in history capture.pcapng; do
	fails "when its packet is overwritten $file has no data" "No data available" cat "$stream/$file"
done

# One connection ends, and one is refused.
kill "$pid"
wait "$pid"
begin_netobsd --closed-connections=100
ip netns exec "$space" python3 - <<'PYTHON'
import socket

with socket.create_server(("127.0.0.1", 7003)) as listener:
    with socket.create_connection(("127.0.0.1", 7003)) as client:
        listener.accept()[0].close()
        client.recv(1)
socket.socket().connect_ex(("127.0.0.1", 7003))
PYTHON
# closed FIELD,...: of the connections that have ended
closed() {
	"$build/netobsctl" -s "$socket" connections --closed -o "$1" | sed 1d | tr -s ' ' | sed 's/^ //; s/ $//'
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
	"$("$build/netobsctl" -s "$socket" connections --closed --json | sort)"
ip netns exec "$space" python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 7005))'
server=$(closed server_cid,reason | awk '$2 == "fin" { print $1 }')
is "by the id of the server" "$(cat "$root/closed/$server.json")" \
	"$(grep -h '"cr_reason":"fin"' "$root"/closed/*)"
is "the time of a file is the end of the connection" "$(stat -c %Y "$root/closed/$server.json")" \
	"$(sed 's/.*"cr_end":\([0-9]*\)[0-9]\{9\},.*/\1/' "$root/closed/$server.json")"
check "no such connection" refused ls "$root/closed/99999999.json"
check "no such name" refused ls "$root/closed/$server"
check "it is unmounted" fusermount3 -u "$root"
is "and its directory is empty" "$(ls -A "$root")" ''
if have runuser && getent passwd daemon >/dev/null; then
	chmod 755 "$tmp"
	"$build/netobs-connfs" -s "$socket" -o allow_other "$root"
	check "a stream of UDP" wait_for [ -d "$root/by-port/7005" ]
	udp=$(ls "$root/by-port/7005")
	for path in "$udp/state" "$udp/bytes" "by-port/7005/$udp/remote"; do
		check "allow_other: another user reads $path" runuser -u daemon -- cat "$root/$path"
	done
	for path in "$udp/status" "$udp/owner" "$udp/history" "$udp/capture.pcapng" "closed/$server.json"; do
		fails "but not $path" "Permission denied" runuser -u daemon -- cat "$root/$path"
	done
	fails "nor processes" "Permission denied" runuser -u daemon -- ls "$root/by-pid"
	fusermount3 -u "$root"
else
	skip "allow_other" "there is no runuser, or no user daemon"
fi
(cd "$tmp" && "$build/netobs-connfs" -s control connfs)
check "a socket and a mount point named from the current directory" ls "$root/by-port"
fusermount3 -u "$root"

# mistake NAME PATTERN ARGUMENT...
mistake() {
	mistake_name=$1 mistake_pattern=$2
	shift 2
	"$build/netobs-connfs" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$mistake_name: status" $? 1
	check "$mistake_name: message" grep -qE -e "$mistake_pattern" "$tmp/err"
}
mistake "no mount point" "name the directory to mount on"
mistake "a mount point that is not there" "No such file or directory" "$tmp/nothing"
mistake "a mount point that is a file" "$tmp/log: Not a directory" -s "$socket" "$tmp/log"
mistake "an unknown option" "unknown option" -s "$socket" --nonsense "$root"
mistake "an unknown option of FUSE, without netobsd" "unknown option.*nonsense" -s "$tmp/nothing" -o nonsense "$root"
mistake "no netobsd" "no netobsd is listening there" -s "$tmp/nothing" "$root"
is "--version" "$("$build/netobs-connfs" --version | cut -d ' ' -f 1)" netobs-connfs
is "--help fits in 80 columns" "$("$build/netobs-connfs" --help | awk 'length > 80')" ""
tap_done
