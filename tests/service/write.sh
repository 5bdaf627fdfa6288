#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl write: the frames of a connection are those that tcpdump captures beside netobsd, in all formats; filters,
# several workers, a ring that wraps while it is read, many clients, files that are complete or absent, refusals.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

have tcpdump tshark || skip_all "tcpdump or tshark is not installed"
client=$top/tests/service/write_client.py
mkdir "$tmp/files"

# fails TEXT ARGUMENT...: whether netobsctl write fails with the text, and leaves no file
fails() {
	fails_text=$1
	shift
	if ctl write -w "$tmp/files/failed" "$@" 2>"$tmp/failed.err"; then
		return 1
	fi
	cat "$tmp/failed.err"
	grep -q -e "$fails_text" "$tmp/failed.err" && [ -z "$(ls -A "$tmp/files")" ]
}

# ended COUNT: whether COUNT connections to port 7100 have ended and their last segments are observed, by whichever worker
ended() {
	[ "$(ctl connections -o state,peerstate -P port 7100 | grep -c '^time-wait:closed$')" -eq "$1" ]
}

# held SOURCE: whether a connection from this port is established; sets $cid
held() {
	cid=$(ctl connections -o cid -P "server_port == $1 && client_state == \"established\"")
	[ -n "$cid" ]
}

# same_frames FORMAT: whether the capture of connection $cid has exactly the frames with port 41002 that tcpdump captured
same_frames() {
	ctl write -w "$tmp/one.$1" --format "$1" --cid "$cid" 2>"$tmp/one.err" || return 1
	tshark -r "$tmp/one.$1" -F nsecpcap -w "$tmp/one" 2>/dev/null
	python3 "$client" same "$tmp/one" "$tmp/reference" 41002
}

# ------------------------------------------------------------------------------------------------------ one connection

ip netns exec "$space" tcpdump --immediate-mode -s 4096 -B 32768 -U -n -i lo -w "$tmp/reference" tcp >"$tmp/dump.out" 2>&1 &
dumper=$!
wait_for test -s "$tmp/reference"
start --flight-memory=4M --all-owners # root, which netobsd is not, owns the processes
inside python3 "$client" traffic 7100 3 30000
wait_for ended 3
cid=$(ctl connections -o cid -P port 41002)
check "pcapng: every frame of the connection, byte for byte, and no other" wait_for same_frames pcapng
check "pcap: the same frames" same_frames pcap
is "pcap: netobsctl prints that it holds no comments" "$(grep -c 'pcap holds no comments' "$tmp/one.err")" 1
check "snoop: the same frames" same_frames snoop
tshark -r "$tmp/one.pcapng" -Y frame.comment -T fields -e frame.comment >"$tmp/comments" 2>/dev/null
check "the comments are the state changes" grep -q 'state-established -> state-fin-wait-1, cid' "$tmp/comments"
# The server is established when it acknowledges data.
is "all frames with comments are those of the handshake, of its proof and of the end" "$(wc -l <"$tmp/comments")" 7
is "no temporary file is left" "$(find "$tmp" -maxdepth 1 -name '.*part')" ""
kill "$dumper"
wait "$dumper" 2>/dev/null

ctl write -w "$tmp/syn" --format pcap --last 1h 'tcp port 7100 and tcp[tcpflags] & (tcp-syn | tcp-ack) = tcp-syn' 2>"$tmp/syn.err"
is "a filter selects frames" "$(python3 "$client" ordered "$tmp/syn")" 3
check "the last line counts frames" grep -q '^netobsctl: 3 frames, .* 0 frames lost$' "$tmp/syn.err"
ctl write -w - --format pcap --last 1h tcp >"$tmp/output" 2>/dev/null
is "standard output" "$(python3 "$client" ordered "$tmp/output")" "$(tcpdump -r "$tmp/reference" 2>/dev/null | wc -l)"

# have_processes: whether each frame of connection $cid has the process of its sender; both ends are local
have_processes() {
	ctl write -w "$tmp/held.pcapng" --cid "$cid" 2>"$tmp/held.err"
	python3 "$client" processes "$tmp/held.pcapng" 7050 >"$tmp/held"
	cat "$tmp/held"
	[ "$(cat "$tmp/held")" = "7050:${both#* } 41500:${both% *}" ]
}

mkfifo "$tmp/hold"
ip netns exec "$space" python3 "$client" hold 7050 41500 "$tmp/ready" <"$tmp/hold" &
holder=$!
exec 5>"$tmp/hold"
wait_for test -e "$tmp/ready"
both=$(cat "$tmp/ready")
wait_for held 41500
check "each frame has the process id of its sender" wait_for have_processes
is "a capture of all connections has no processes" \
	"$(ctl write -w "$tmp/held.pcapng" 2>/dev/null; python3 "$client" processes "$tmp/held.pcapng" 7050)" "7050:none 41500:none"
exec 5>&-
wait "$holder"

# --------------------------------------------------------------------------------------------------------- refusals

check "an unknown connection" fails "no frame of connection 4711 is in the flight memory" --cid 4711
check "a filter with an error" fails "bad filter for link type EN10MB: .*syntax error" port
check "a filter with a name that is unknown" fails 'unknown port' port no-such-service
check "a filter with a loop" fails 'netobsd does not follow "protochain"' ip6 protochain 6
check "a format" fails "the format is pcapng, pcap or snoop" --format erf
ctl write -w "$tmp/refused" --format erf 2>"$tmp/refused.err"
is "a format that does not exist: the error alone" "$(wc -l <"$tmp/refused.err")" 1
check "--cid and --last" fails "either --cid or --last" --cid 1 --last 1s
ctl write -w "$tmp/absent/file" 2>"$tmp/absent.err"
is "a directory that does not exist" "$?:$(grep -c "cannot create $tmp/absent/file: No such file" "$tmp/absent.err")" 1:1
if mount -t tmpfs -o size=16k none "$small"; then
	ctl write -w "$small/file" 2>"$tmp/full.err"
	is "a full disk" "$?:$(grep -c "cannot write $small/file: No space left" "$tmp/full.err"):$(ls -A "$small")" 1:1:
else
	skip "a full disk" "tmpfs cannot be mounted"
fi
(ulimit -f 8 && exec "$ctl" -s "$socket" write -w "$tmp/files/large") 2>"$tmp/large.err"
is "a file that cannot grow" "$?:$(cat "$tmp/large.err"):$(ls -A "$tmp/files")" \
	"1:netobsctl: cannot write $tmp/files/large: File too large:"
is "an empty name" "$(ctl write -w '' 2>&1)" "netobsctl: write: name the file with -w FILE; -w - is standard output"
is "a terminal" "$(python3 "$client" terminal "$ctl" -s "$socket" write -w -)" \
	"1 netobsctl: a capture is not written to a terminal"
ctl write -w - 2>"$tmp/closed.err" >&-
is "a closed standard output" "$?:$(cat "$tmp/closed.err")" "1:netobsctl: cannot write to standard output: Bad file descriptor"
is "an address of IPv6 needs no lookup" \
	"$(ctl write -w - --format pcap ip6 host fe80::1 2>"$tmp/ip6.err" | wc -c):$(tail -n 1 "$tmp/ip6.err")" \
	"24:netobsctl: 0 frames, 24 bytes written; 0 frames lost"

# ------------------------------------------------------------------------------------- many clients, a ring that wraps

inside python3 "$client" traffic 7100 40 300000
readers=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$ctl" -s "$socket" write -w "$tmp/many.$i" 2>"$tmp/many.$i.err" &
	readers="$readers $!"
done
done_count=0
for reader in $readers; do
	wait "$reader" && done_count=$((done_count + 1))
done
is "of 20 clients each has a complete file or a refusal" \
	"$(find "$tmp" -maxdepth 1 -name 'many.*[0-9]' | wc -l):$(grep -L 'captures are being written already' "$tmp"/many.*.err | wc -l)" \
	"$done_count:$done_count"
is "no frame is dropped meanwhile" "$(value capture.dropped)" 0

inside python3 "$client" wrap "$socket" "$tmp/wrapped" >"$tmp/wrap.out"
is "the ring wraps while a client reads: it has the frames that netobsd counts" \
	"$(cat "$tmp/wrap.out")" "$(tshark -r "$tmp/wrapped" 2>/dev/null | wc -l) lost"
check "the end of the capture says what is missing" grep -aq 'frames were overwritten while the capture was read' "$tmp/wrapped"

is "a client that never reads is disconnected" "$(inside python3 "$client" stalled "$socket")" disconnected
ctl write -w "$tmp/after" 2>/dev/null
is "then the next client has its file, and no frame was dropped" "$?:$(value capture.dropped)" 0:0

# ----------------------------------------------------------------------------------------------------- killed programs

# whole FILE: whether the file is absent or complete
whole() {
	[ ! -e "$1" ] || tshark -r "$1" >/dev/null 2>"$tmp/whole.err"
}

broken=0
for delay in 0.001 0.002 0.003 0.005 0.008 0.01 0.013 0.02 0.03 0.05; do
	timeout --signal=KILL "$delay" "$ctl" -s "$socket" write -w "$tmp/files/killed" 2>/dev/null
	whole "$tmp/files/killed" || broken=$((broken + 1))
	rm -f "$tmp/files/killed"
done
is "a killed netobsctl leaves no file that is not complete" "$broken" 0
ctl write -w "$tmp/files/killed" 2>/dev/null
is "the next run leaves its file only" "$(ls -A "$tmp/files")" killed
rm -f "$tmp/files/killed"
stop

broken=0
for delay in 0 0.01 0.03; do
	start --flight-memory=64M
	inside python3 "$client" traffic 7100 20 300000
	"$ctl" -s "$socket" write -w "$tmp/files/killed" 2>/dev/null &
	reader=$!
	sleep "$delay" # no event: the delays spread the kills over the reply
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	if wait "$reader"; then
		tshark -r "$tmp/files/killed" >/dev/null 2>&1 || broken=$((broken + 1))
	else
		[ ! -e "$tmp/files/killed" ] || broken=$((broken + 1))
	fi
	rm -f "$tmp/files/killed"
done
is "a killed netobsd leaves a complete file or no file" "$broken:$(ls -A "$tmp/files")" 0:

# ------------------------------------------------------------------------------------- several workers, permissions

start --flight-memory=8M --workers 2 --control-mode 0666
inside python3 "$client" traffic 7100 10 30000
wait_for ended 10
ctl write -w "$tmp/workers" --format pcap tcp 2>/dev/null
is "frames of several workers are in the order of time" "$(python3 "$client" ordered "$tmp/workers")" \
	"$(ctl connections -o insegs,outsegs -P port 7100 | awk -F : '{ sum += $1 + $2 } END { printf "%.0f\n", sum }')"
is "all connections of several workers are there" \
	"$(tshark -r "$tmp/workers" -Y 'tcp.flags.syn == 1 && tcp.flags.ack == 0' 2>/dev/null | wc -l)" 10
ctl_as 65533 write -w - >"$tmp/other" 2>"$tmp/other.err"
is "another user may not write captures" "$?:$(wc -c <"$tmp/other"):$(cat "$tmp/other.err")" \
	"1:0:netobsctl: only root and the user that netobsd runs as may write captures, which contain the traffic of all users"
stop

start --flight-memory=0
check "without a flight memory the error names the option" fails "start netobsd with --flight-memory=SIZE"
stop

tap_done
