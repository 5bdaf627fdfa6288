#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --record: a capture has the whole connections of which a probe or formula has fired, and only they, byte for byte, as
# tshark finds them; comments; the same bytes from a file and from a pipe; the file is complete or absent.
# shellcheck source=tests/lib/tap.sh disable=SC2016 # scripts of sh -c have their own arguments
. "$(dirname "$0")/../../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
chmod 755 "$tmp" # netobsd that is started as root changes its user
captures=$top/tests/captures
home=$captures/home-network.pcap
mkdir "$tmp/dir"
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

refuses "a name that is no formula and no probe is refused, with the nearest one" 1 \
	'no formula or probe "tcp-recieve" (did you mean tcp-receive?)' -r "$home" --record tcp-recieve="$tmp/dir/a"
refuses "so is a misspelt formula" 1 'did you mean slow-one?' -r "$home" --formula 'slow-one = tcp-send' \
	--record slow-oen="$tmp/dir/a"
refuses "a value without a file is refused" 1 'expected NAME=FILE' -r "$home" --record tcp-receive
refuses "another format is refused" 1 'expected pcapng, pcap or snoop' -r "$home" --record tcp-receive="$tmp/dir/a" \
	--write-format erf
refuses "--write-format needs --record" 1 'write-format needs --record' -r "$home" --write-format pcap
refuses "an interface is refused, and the message names the command" 1 'netobsctl record' -i lo \
	--record tcp-receive="$tmp/dir/a"
refuses "two captures with one file are refused" 1 'another option writes this file' -r "$home" \
	--record tcp-receive="$tmp/dir/a" --record tcp-send="$tmp/dir/../dir/a"
refuses "so is the file of --records" 1 'another option writes this file' -r "$home" \
	--record tcp-receive="$tmp/dir/a" --records="$tmp/dir/a"
refuses "the directory must exist" 1 'cannot write the capture .*: No such file' -r "$home" \
	--record tcp-receive="$tmp/dir/none/a"
cp "$home" "$tmp/input.pcap"
refuses "the input is not replaced" 1 'it is the capture that is read' -r "$tmp/input.pcap" \
	--record tcp-receive="$tmp/input.pcap"
check "it is unchanged" cmp "$home" "$tmp/input.pcap"
refuses "standard output is not written by two options" 1 '/dev/stdout: another option writes this file' -r "$home" \
	--record tcp-receive=- --print
refuses "nor is it by --record and the table of --records" 1 '/dev/stdout: another option writes this file' -r "$home" \
	--record tcp-receive=/dev/stdout --records
"$netobsd" -r "$home" --record tcp-receive="$tmp/named" 2>"$tmp/err"
(cd "$tmp/dir" && "$netobsd" -r "$home" --record tcp-receive=- 2>"$tmp/err" | cat >"$tmp/piped")
check "- is standard output" cmp "$tmp/named" "$tmp/piped"
is "and no file of this name" "$(ls -A "$tmp/dir")" ""
is "a terminal gets no capture" "$(python3 "$top/tests/service/write_client.py" terminal "$netobsd" -r "$home" --record tcp-receive=-)" \
	"1 netobsd: cannot write the capture /dev/stdout: a capture is not written to a terminal"
refuses "--split excludes --record" 1 '--record is for their replay' -r "$home" --split 2 -w "$tmp/dir/x" \
	--record tcp-receive="$tmp/dir/a"
refuses "with an unreadable input there is no file" 1 'is not a readable capture' -r "$top/README.md" \
	--record tcp-receive="$tmp/dir/a"

# ------------------------------------------------------------------------------------------------------------ messages

"$netobsd" -r "$home" --formula 'x = tcp-send where tcp_dport == 1' --record x="$tmp/dir/none" 2>"$tmp/err"
is "without a firing the capture is empty, which is said" "$? $(cat "$tmp/err")" \
	"0 netobsd: x has not fired: the capture $tmp/dir/none is empty"
"$netobsd" -r "$home" --record arp-receive="$tmp/dir/arp" 2>"$tmp/err"
check "firings without a connection are counted" grep -q 'firings of arp-receive without a connection, so without frames: [1-9]' "$tmp/err"
"$netobsd" -r "$top/tests/captures/questions.pcap" --formula 'x = tcp-connect-refused where tcps_rport == 110' \
	--record x="$tmp/dir/one" 2>"$tmp/err"
check "the firings, connections and frames are counted" \
	grep -q "^netobsd: firings of x: 1, connections: 1, frames in $tmp/dir/one: 2$" "$tmp/err"
rm "$tmp/dir"/*

# ------------------------------------------------------------------------------------------------- the files of a run

"$netobsd" -r "$home" --formula "$reset" --record x="$tmp/dir/a.pcapng" --record tcp-connect-refused="$tmp/dir/b.pcapng" \
	--records="$tmp/dir/r" --print=x >"$tmp/printed" 2>"$tmp/err"
is "several captures, beside --records and --print" "$? $(cd "$tmp/dir" && echo *)" "0 a.pcapng b.pcapng r"
"$netobsd" -r "$home" --print=x --formula "$reset" >"$tmp/wanted"
check "--print prints what it prints without --record" cmp "$tmp/wanted" "$tmp/printed"
"$netobsd" -r "$home" --formula "$reset" --record x="$tmp/dir/c.pcapng" 2>"$tmp/err"
check "another run gives the same bytes" cmp "$tmp/dir/a.pcapng" "$tmp/dir/c.pcapng"
sh -c 'cat "$1" | "$2" -r - --formula "$3" --record x="$4"' sh "$home" "$netobsd" "$reset" "$tmp/dir/c.pcapng" 2>"$tmp/err"
check "so does a pipe" cmp "$tmp/dir/a.pcapng" "$tmp/dir/c.pcapng"
"$netobsd" -r - --formula "$reset" --record x="$tmp/dir/c.pcapng" <"$home" 2>"$tmp/err"
check "and a file that is standard input" cmp "$tmp/dir/a.pcapng" "$tmp/dir/c.pcapng"
"$netobsd" -r "$home" --record tcp-connect-refused="$tmp/dir/c.pcapng" 2>"$tmp/err"
check "each capture has what it has alone" cmp "$tmp/dir/b.pcapng" "$tmp/dir/c.pcapng"
"$netobsd" -r "$tmp/dir/a.pcapng" --formula "$reset" --record x="$tmp/dir/c.pcapng" 2>"$tmp/err"
"$netobsd" -r "$tmp/dir/a.pcapng" --print=x --formula "$reset" | cut -d ' ' -f 2-4 >"$tmp/printed"
cut -d ' ' -f 2-4 "$tmp/wanted" >"$tmp/wanted.words"
check "the capture fires as its source" cmp "$tmp/wanted.words" "$tmp/printed"
for probe in connection-end tcp-state-change; do
	"$netobsd" -r "$home" --record $probe="$tmp/dir/c.pcapng" 2>"$tmp/err"
	sh -c 'cat "$1" | "$2" -r - --record "$3=$4"' sh "$home" "$netobsd" $probe "$tmp/dir/d.pcapng" 2>"$tmp/err"
	check "firings of timers, too: $probe" cmp "$tmp/dir/c.pcapng" "$tmp/dir/d.pcapng"
done
rm "$tmp/dir"/*

# A file appears when it is complete; a killed run leaves nothing.
mkfifo "$tmp/fifo"
for signal in KILL INT; do
	"$netobsd" -r "$tmp/fifo" --record tcp-send="$tmp/dir/a.pcapng" 2>"$tmp/err" &
	pid=$!
	exec 3>"$tmp/fifo"
	cat "$home" >&3
	wait_for sh -c '[ -n "$(ls -A "$1")" ]' sh "$tmp/dir"
	is "until the end, there is only a temporary file ($signal)" "$(cd "$tmp/dir" && echo a.pcapng.*.tmp | wc -w | tr -d ' ') $(cd "$tmp/dir" && echo *)" \
		"1 $(cd "$tmp/dir" && echo a.pcapng.*.tmp)"
	kill -$signal $pid
	wait $pid 2>/dev/null
	status=$?
	exec 3>&-
	wait_for sh -c '[ -z "$(ls -A "$1")" ]' sh "$tmp/dir"
	is "SIG$signal leaves no file" "$(ls -A "$tmp/dir")" ""
done
is "a stopped run has failed, and says which file is missing" "$status $(grep -c 'not all input was read: .*a.pcapng is not written' "$tmp/err")" "1 1"

"$netobsd" -r "$captures/broken-record.pcap" --record ip-receive="$tmp/dir/a.pcapng" 2>"$tmp/err"
is "of a damaged input, the file has what was before" "$? $(ls -A "$tmp/dir") $(grep -c 'ends unexpectedly' "$tmp/err")" "2 a.pcapng 1"
rm "$tmp/dir"/*

# A frame that claims to be longer than any, and one with many comments.
python3 - >"$tmp/huge.pcap" <<'PYTHON'
import struct, sys
tcp = struct.pack(">HHIIBBHHH", 1000, 80, 1000, 1, 0x50, 0x10, 500, 0, 0)
packet = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 20 + len(tcp), 1, 0, 64, 6, 0, 10, 0, 0, 1, 10, 0, 0, 2) + tcp
sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
for length in 54, 300000:
    sys.stdout.buffer.write(struct.pack("<IIII", 1, 0, 54, length) + bytes(12) + b"\x08\0" + packet)
PYTHON
"$netobsd" -r "$tmp/huge.pcap" --write-format snoop --record tcp-send="$tmp/dir/a.snoop" 2>"$tmp/err"
is "a length that snoop files cannot hold is said" "$? $(grep -c '1 frames were longer than 262144 bytes' "$tmp/err")" "0 1"
check "and the file can be read" sh -c '[ "$("$1" -r "$2" --print=tcp-send | wc -l)" -eq 2 ]' sh "$netobsd" "$tmp/dir/a.snoop"
if command -v tshark >/dev/null; then
	is "by tshark, too" "$(tshark -r "$tmp/dir/a.snoop" -T fields -e frame.len 2>/dev/null | paste -sd ' ' -)" "54 262144"
fi
set --
for i in $(seq 40); do
	set -- "$@" --formula "f$i = tcp-send where tcp_sport == 1000" --record "f$i=$tmp/dir/$i.pcapng"
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
		exec "$netobsd" -r "$home" --record tcp-send="$tmp/dir/a.pcapng"
	) 2>"$tmp/err"
	echo "$? $(ls -A "$tmp/dir") $(grep -c 'cannot write the capture .*: File too large' "$tmp/err")"
}
is "a file that cannot grow is not left" "$(refuses_limit)" "1  1"

full_disk() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount -t tmpfs -o size=64k none "$1" && "$2" -r "$3" --record tcp-send="$1/a.pcapng"
		echo "$? $(ls -A "$1")"' sh "$tmp/dir" "$netobsd" "$home" 2>"$tmp/err"
	grep -c 'cannot write the capture .*: No space left on device' "$tmp/err"
}
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs none "$tmp/dir" 2>/dev/null; then
	is "on a full disk there is no file" "$(full_disk | paste -sd ' ' -)" "1  1"
else
	skip "on a full disk there is no file" "no tmpfs can be mounted"
fi
denied() {
	mkdir -m 755 "$tmp/denied" && cp "$home" "$tmp/home.pcap" && chmod 644 "$tmp/home.pcap"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$netobsd" -r "$tmp/home.pcap" \
		--record tcp-send="$tmp/denied/a.pcapng" 2>"$tmp/err"
	echo "$? $(ls -A "$tmp/denied") $(grep -c 'cannot write the capture .*: Permission denied' "$tmp/err")"
}
if [ "$(id -u)" -eq 0 ] && have setpriv && setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$netobsd"; then
	is "a directory without write permission is an error" "$(denied)" "1  1"
else
	skip "a directory without write permission is an error" "netobsd cannot be run as another user"
fi

# The times of the replay change nothing.
"$netobsd" -r "$home" --record tcp-send="$tmp/dir/a.pcapng" 2>"$tmp/err"
for option in --pace=100000 --wait-tracer=1; do
	"$netobsd" -r "$home" "$option" --record tcp-send="$tmp/dir/b.pcapng" 2>"$tmp/err"
	check "the same bytes with $option" cmp "$tmp/dir/a.pcapng" "$tmp/dir/b.pcapng"
	rm -f "$tmp/dir/b.pcapng"
done
rm -f "$tmp/dir"/*

# OpenBSD's number of raw IP: a capture is written with the number that files have.
python3 - >"$tmp/raw.pcap" <<'PYTHON'
import struct, sys
packet = bytes.fromhex("4500001c00010000401166ce7f0000017f00000103e807d000080000")
sys.stdout.buffer.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 14) +
                        struct.pack("<IIII", 1, 0, len(packet), len(packet)) + packet)
PYTHON
for format in pcapng pcap; do
	"$netobsd" -r "$tmp/raw.pcap" --write-format $format --record udp-send="$tmp/dir/a" 2>"$tmp/err"
	is "raw IP of OpenBSD in a $format file can be read" "$("$netobsd" -r "$tmp/dir/a" --print=udp-send | wc -l | tr -d ' ')" 1
	rm -f "$tmp/dir/a"
done

# A small ring: earlier frames of a connection are gone, which is said.
{
	python3 - "$home" <<'PYTHON'
import struct, sys
# Many copies of the traffic behind each other, with other addresses, then the first ones again.
data = open(sys.argv[1], "rb").read()
out = sys.stdout.buffer
out.write(data[:24])
def frames(copy, shift):
    at = 24
    while at < len(data):
        seconds, fraction, caplen, length = struct.unpack("<IIII", data[at:at + 16])
        frame = bytearray(data[at + 16:at + 16 + caplen])
        if frame[12:14] == b"\x08\x00" and copy:
            frame[26] = frame[30] = 10 + copy % 200
            frame[27] = frame[31] = copy // 200
        out.write(struct.pack("<IIII", seconds + shift, fraction, caplen, length) + frame)
        at += 16 + caplen
for copy in range(40):
    frames(copy, copy * 60)
PYTHON
} >"$tmp/long.pcap"
long='x = tcp-send where tcp_flags & FIN'
"$netobsd" -r "$tmp/long.pcap" --formula "$long" --record x="$tmp/dir/a.pcapng" 2>"$tmp/err"
is "a file has everything" "$? $(grep -c lacks "$tmp/err")" "0 0"
sh -c 'cat "$1" | "$2" -r - --formula "$3" --record x="$4"' sh "$tmp/long.pcap" "$netobsd" "$long" "$tmp/dir/b.pcapng" 2>"$tmp/err"
check "so has a pipe with enough memory" cmp "$tmp/dir/a.pcapng" "$tmp/dir/b.pcapng"
sh -c 'cat "$1" | "$2" -r - --formula "$3" --flight-memory 1M --record x="$4"' sh "$tmp/long.pcap" "$netobsd" \
	'x = connection-end' "$tmp/dir/c.pcapng" 2>"$tmp/err"
is "with little memory, a message counts the missing frames" "$? $(grep -c 'lacks the first [0-9]* frames' "$tmp/err")" "0 1"
check "and so does the capture" sh -c 'strings "$1" | grep -q "earlier frames of the connections are missing"' sh "$tmp/dir/c.pcapng"

# The packets of a GRE tunnel and of a VXLAN tunnel, each in two fragments.
python3 - >"$tmp/tunnels.pcap" <<'PYTHON'
import struct, sys
def ip(protocol, ident, fragment, payload, host):
    return struct.pack(">BBHHHBBH4B4B", 0x45, 0, 20 + len(payload), ident, fragment, 64, protocol, 0, 10, 0, host, 1,
                       10, 0, host, 2) + payload
sys.stdout.buffer.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
for ident in range(1, 5):
    tcp = struct.pack(">HHIIBBHHH", 1000 + ident, 80, 1000, 1, 0x50, 0x10, 500, 0, 0) + bytes(100)
    inner = ip(6, 9, 0, tcp, 1)
    vxlan = struct.pack(">II", 0x08000000, 0x100) + bytes(12) + b"\x08\0" + inner
    udp = struct.pack(">HHHH", 5000 + ident, 4789, 8 + len(vxlan), 0) + vxlan
    protocol, outer = (47, struct.pack(">HH", 0, 0x800) + inner) if ident % 2 else (17, udp)
    for fragment, payload in ((0x2000, outer[:80]), (10, outer[80:])):
        frame = ip(protocol, ident, fragment, payload, 0)
        sys.stdout.buffer.write(struct.pack("<IIII", 1700000000 + ident, 0, len(frame), len(frame)) + frame)
PYTHON
for port in 1003 1004; do
	"$netobsd" -r "$tmp/tunnels.pcap" --formula "x = tcp-send where tcp_sport == $port" --record x="$tmp/x.pcapng" \
		2>"$tmp/err"
	check "port $port: the fragments of a tunnel belong to the connection inside" grep -q 'connections: 1, frames in .*: 2$' \
		"$tmp/err"
done

# ---------------------------------------------------------------------------------------------- compared with tshark

if ! command -v tshark >/dev/null; then
	skip "the frames are those that tshark finds" "tshark is not installed"
	tap_done
	exit
fi

# frames FILE [FILTER]: time, lengths and bytes of frames
frames() {
	tshark -r "$1" ${2:+-Y "$2"} -T fields -e frame.time_epoch -e frame.len -e frame.cap_len 2>/dev/null
	tshark -r "$1" ${2:+-Y "$2"} -x 2>/dev/null
}

# streams FIELD FILE FILTER: "FIELD in {...}" for the streams of the frames that the filter selects
streams() {
	tshark -r "$2" -Y "$3" -T fields -e "$1" 2>/dev/null | tr ',' '\n' | sort -un | paste -sd , - | sed "s/.*/$1 in {&}/"
}

# same NAME FILE FORMULA FILTER: the capture of the formula has the frames that the filter selects
same() {
	rm -f "$tmp/x.pcapng"
	"$netobsd" -r "$2" --formula "$3" --record x="$tmp/x.pcapng" --view both 2>"$tmp/err"
	frames "$tmp/x.pcapng" >"$tmp/got"
	frames "$2" "$4" >"$tmp/wanted"
	if [ -s "$tmp/wanted" ] && cmp -s "$tmp/got" "$tmp/wanted"; then
		ok "$1"
	else
		diff "$tmp/wanted" "$tmp/got" | head -20 >"$tmp/why"
		not_ok "$1" "$tmp/err" "$tmp/why"
	fi
}

for file in home-network questions evasion-windows mptcp-fclose null-tcp pppoe-qinq-reset split-handshake vlan-refused-reuse \
	cooked-refused; do
	same "$file: connections with a RST" "$captures/$file.pcap" "$reset" \
		"$(streams tcp.stream "$captures/$file.pcap" 'tcp.flags.reset == 1 && !icmp')"
done
same "connections with a zero window or a retransmission" "$home" 'x = tcp-retransmit' \
	"$(streams tcp.stream "$home" 'tcp.analysis.retransmission')"
same "UDP streams" "$home" 'x = udp-send where udp_dport == 53' "$(streams udp.stream "$home" 'udp.dstport == 53')"
same "connections of a port, with the ICMP errors that quote them" "$captures/questions.pcap" \
	'x = udp-send where udp_dport == 53' 'udp.port == 53'
same "the fragments of a datagram" "$captures/ipv4-fragments.pcap" 'x = udp-send' 'ip'
same "those of a segment" "$captures/raw-ipv6-fragments.pcap" 'x = tcp-send' 'ipv6'
same "a connection in a tunnel" "$captures/dccp-tunnels.pcap" 'x = udp-send' 'udp'

# Captures of the loopback interface have each frame twice, the outgoing copy first.
# loopback FILE NUMBER: the frames of a capture of Ethernet as on the loopback interface, NUMBER copies before the frames
loopback() {
	python3 - "$1" "$2" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
out = sys.stdout.buffer
out.write(data[:20] + struct.pack("<I", 113))
frames, at = [], 24
while at < len(data):
    seconds, fraction, caplen, length = struct.unpack("<IIII", data[at:at + 16])
    frames.append((seconds, fraction, length, data[at + 16:at + 16 + caplen]))
    at += 16 + caplen
step = int(sys.argv[2])
for first in range(0, len(frames), step):
    for kind in 4, 0:
        for seconds, fraction, length, frame in frames[first:first + step]:
            cooked = struct.pack(">HHH8s", kind, 772, 6, bytes(8)) + frame[12:]
            out.write(struct.pack("<IIII", seconds, fraction, len(cooked), length + 2) + cooked)
PYTHON
}
loopback "$home" 1 >"$tmp/lo.pcap"
same "both copies of the frames of a loopback interface" "$tmp/lo.pcap" "$reset" \
	"$(streams tcp.stream "$tmp/lo.pcap" 'tcp.flags.reset == 1 && !icmp')"
for number in 1 3; do
	loopback "$captures/ipv4-fragments.pcap" $number >"$tmp/fragments.pcap"
	same "both copies of the fragments of a datagram, $number at once" "$tmp/fragments.pcap" 'x = udp-send' 'ip'
	mv "$tmp/x.pcapng" "$tmp/dir/file.pcapng"
	sh -c 'cat "$1" | "$2" -r - --formula "x = udp-send" --record x="$3" --view both' sh "$tmp/fragments.pcap" "$netobsd" \
		"$tmp/dir/pipe.pcapng" 2>"$tmp/err"
	check "and the same bytes from a pipe" cmp "$tmp/dir/file.pcapng" "$tmp/dir/pipe.pcapng"
done

# ------------------------------------------------------------------------------------------------------------- formats

"$netobsd" -r "$home" --formula "$reset" --record x="$tmp/x.pcapng" 2>"$tmp/err"
frames "$tmp/x.pcapng" >"$tmp/wanted"
for format in pcap snoop; do
	"$netobsd" -r "$home" --formula "$reset" --write-format $format --record x="$tmp/x.$format" 2>"$tmp/err"
	frames "$tmp/x.$format" | sed '/^[0-9]*\.[0-9]*	/s/\([0-9]\{6\}\)000	/\1	/' >"$tmp/got"
	sed '/^[0-9]*\.[0-9]*	/s/\([0-9]\{6\}\)000	/\1	/' "$tmp/wanted" >"$tmp/wanted.us"
	check "a $format file has the same frames" cmp "$tmp/wanted.us" "$tmp/got"
done
rm -f "$tmp/dir"/*
python3 - "$tmp/huge.pcap" >"$tmp/late.pcapng" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
seconds, fraction, caplen, length = struct.unpack("<IIII", data[24:40])
frame = data[40:40 + caplen]
time = (seconds + (1 << 32)) * 1000000
def block(kind, body):
    body += bytes(-len(body) % 4)
    sys.stdout.buffer.write(struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12))
block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
block(1, struct.pack("<HHI", 1, 0, 0))
for i in range(2):
    block(6, struct.pack("<IIIII", 0, (time + i) >> 32, (time + i) & 0xffffffff, caplen, length) + frame)
PYTHON
for format in pcap snoop; do
	refuses "times that a $format file cannot hold are refused" 1 \
		'later than February 2106.*write-format pcapng' -r "$tmp/late.pcapng" --write-format $format --record tcp-send="$tmp/dir/a"
	refuses "two link types do not fit in a $format file" 1 'link types EN10MB and LINUX_SLL.*write-format pcapng' \
		-r "$home" -r "$tmp/lo.pcap" --write-format $format --record tcp-send="$tmp/dir/a"
done
"$netobsd" -r "$home" -r "$tmp/lo.pcap" --record tcp-send="$tmp/dir/a" 2>"$tmp/err"
is "but in a pcapng file, with an interface each" "$? $(capinfos -I "$tmp/dir/a" 2>/dev/null | sed -n 's/^Number of interfaces in file: //p')" "0 2"
for format in pcapng pcap snoop; do
	"$netobsd" -r "$home" --formula 'x = tcp-send where tcp_dport == 1' --write-format $format --record x="$tmp/dir/empty" 2>"$tmp/err"
	is "tshark reads an empty $format capture" "$(tshark -r "$tmp/dir/empty" 2>&1 >/dev/null | grep -v 'Running as')$(tshark -r "$tmp/dir/empty" 2>/dev/null | wc -l | tr -d ' ')" 0
	"$netobsd" -r "$tmp/dir/empty" --summary 2>"$tmp/err"
	is "netobsd reads it" "$? $(awk '$1 == "frames" { print $2 }' "$tmp/err")" "0 0"
done

echo 'flight-memory = 64M' >"$tmp/conf"
"$netobsd" -c "$tmp/conf" -r "$home" --record arp-receive="$tmp/dir/a" 2>"$tmp/err"
is "files need no flight recorder, and its memory is not said to be reserved" \
	"$(grep -c 'memory reserved' "$tmp/err") $(grep -c 'for the flight recorder' "$tmp/err")" "1 0"

# ------------------------------------------------------------------------------------------------------------ comments

"$netobsd" -r "$home" --formula 'slow = tcp-accept-established where tcps_rport > 0' --record slow="$tmp/x.pcapng" 2>"$tmp/err"
tshark -r "$tmp/x.pcapng" -Y frame.comment -T fields -e frame.comment 2>/dev/null | tr ',' '\n' |
	sed -n 's/^tcp-state-change \(.*\)/\1/p' | sort >"$tmp/got"
"$netobsd" -r "$tmp/x.pcapng" --print=tcp-state-change | sed 's/^.*: \(state-[^ ]* -> state-[^,]*\),.*/\1/' |
	sort >"$tmp/wanted"
is "the comments list changes of state" "$(comm -23 "$tmp/got" "$tmp/wanted")" ""
for change in 'state-syn-sent -> state-established' 'state-established -> state-fin-wait-1'; do
	is "every $change" "$(grep -c "$change" "$tmp/got")" "$(grep -c "$change" "$tmp/wanted")"
done
check "and the formula with the values that made it true" sh -c \
	'tshark -r "$1" -T fields -e frame.comment 2>/dev/null | grep -q "slow: tcps_rport = [0-9]"' sh "$tmp/x.pcapng"

# -------------------------------------------------------------------------------------------------------------- windows

from=$(tshark -r "$home" -Y 'frame.number == 300' -T fields -e frame.time_epoch 2>/dev/null | cut -d . -f 1)
to=$((from + 60))
"$netobsd" -r "$home" --from "$from" --to "$to" --record tcp-send="$tmp/x.pcapng" 2>"$tmp/err"
"$netobsd" -r "$home" --from "$from" --to "$to" --record tcp-send="$tmp/y.pcapng" --records="$tmp/dir/r" 2>"$tmp/err"
check "with a window, --records changes nothing" cmp "$tmp/x.pcapng" "$tmp/y.pcapng"
frames "$tmp/x.pcapng" >"$tmp/got"
# Frames before the window belong to the connections; those behind it are not read.
all=$(tshark -r "$home" -Y "tcp && frame.time_epoch >= $from && frame.time_epoch < $to" -T fields -e tcp.stream 2>/dev/null |
	sort -un | paste -sd , -)
frames "$home" "tcp.stream in {$all} && frame.time_epoch >= $((from - 600)) && frame.time_epoch < $to" >"$tmp/wanted"
check "frames of the lead-in belong to their connections" cmp "$tmp/wanted" "$tmp/got"

tap_done
