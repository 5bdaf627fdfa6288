#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsd on a terminal: the progress of a replay, and what an observation without a tracer says.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
netobsd=$(private_netobsd) || exit 99
python3 -c 'import os; os.close(os.forkpty()[1])' 2>/dev/null || skip_all "no pseudo-terminals"
export TERM=xterm RAW="$tmp/raw"

# 100 frames in 2.5 seconds
python3 - "$tmp/slow.pcap" <<'PYTHON' || exit 99
import struct, sys

with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(100):
        frame = bytes(12) + b"\x08\x06" + struct.pack("!HHBBH", 1, 0x800, 6, 4, 1) + bytes(20)
        out.write(struct.pack("<IIII", 1000 + i // 40, i % 40 * 25000, len(frame), len(frame)) + frame)
PYTHON
slow=$tmp/slow.pcap

# terminal ARGUMENT...: runs netobsd on a terminal, which shows $tmp/shown at the end
terminal() {
	"$top/tests/service/terminal.py" "$@" >"$tmp/shown" 2>&1 </dev/null
}

# progresses NAME [PATTERN]: progress was shown, and is gone at the end
progresses() {
	if grep -q "netobsd: ${2-[0-9]* %, }[0-9]* frames, [0-9.]* [a-z ]*frames/s" "$tmp/raw" &&
		! grep -q 'frames/s' "$tmp/shown"; then
		ok "$1"
	else
		not_ok "$1" "$tmp/raw" "$tmp/shown"
	fi
}

# quiet NAME: the terminal has got no progress
quiet() {
	check "$1" sh -c "! grep 'frames/s' '$tmp/raw'"
}

terminal "$netobsd" -r "$slow" --pace
progresses "a replay of more than a second shows its progress, and erases it"
is "nothing else is left on the terminal" "$(sed 's/;.*//' <"$tmp/shown")" "netobsd: observed 100 frames and 0 connections"
# exact NAME: each progress is the share of the 100 frames that were replayed, at most all of them in a second
exact() {
	check "$1" python3 - "$tmp/raw" <<'PYTHON'
import re, sys

lines = re.findall(r"netobsd: (\d+) %, (\d+) frames, ([\d.]+) frames/s", open(sys.argv[1]).read())
print(lines)
shares = [int(line[0]) for line in lines]
sys.exit(not lines or shares != sorted(shares) or
         any(abs(int(share) - int(frames)) > 1 for share, frames, _ in lines) or
         not all(0 <= float(rate) <= 100 for _, _, rate in lines) or not any(float(rate) > 0 for _, _, rate in lines))
PYTHON
}
exact "the progress is the share of the file that was replayed, the rate that of the replay"
for compression in gzip zstd; do
	$compression -c "$slow" >"$tmp/compressed"
	terminal "$netobsd" -r "$tmp/compressed" --pace
	exact "so is that of a file compressed with $compression"
done
terminal -i "$slow" "$netobsd" -r - --pace
progresses "so does a pipe, without a share" ""
terminal "$netobsd" -r "$slow" -r "$slow" --pace=1.25
progresses "so does a replay of several files"
terminal -o "$tmp/printed" "$netobsd" -r "$slow" --pace --print=arp-send
progresses "a replay that prints to a file shows its progress"
is "the file has every line" "$(wc -l <"$tmp/printed")" 100
terminal "$netobsd" -r "$slow" --pace --print=arp-send
quiet "a replay that prints to the terminal shows none"
is "the terminal has every line" "$(grep -c ' arp-send ' "$tmp/shown")" 100
for _ in 1 2 3 4 5; do # a busy machine may need more than a second
	terminal "$netobsd" -r "$top/tests/captures/questions.pcap"
	grep -q 'frames/s' "$tmp/raw" || break
done
quiet "a short replay shows no progress"
terminal -e "$tmp/err" "$netobsd" -r "$slow" --pace
is "standard error that is no terminal gets no progress" "$(sed 's/;.*//' "$tmp/raw" "$tmp/err")" \
	"netobsd: observed 100 frames and 0 connections"
TERM=dumb terminal "$netobsd" -r "$slow" --pace
quiet "a terminal that cannot erase a line gets nothing"
python3 - "$slow" "$tmp/cut.pcap" <<'PYTHON'
import sys

open(sys.argv[2], "wb").write(open(sys.argv[1], "rb").read()[:-7])
PYTHON
terminal "$netobsd" -r "$tmp/cut.pcap" --pace
progresses "a damaged file shows its progress"
is "a message has a line of its own" \
	"$(grep -c '^netobsd: .* is damaged at record 100, .*everything before was observed$' "$tmp/shown")" 1
terminal "$netobsd" -r "$slow" --pace --summary
is "so has the summary" "$(sed -n 1p "$tmp/shown")" "frames 100"

if [ "$(id -u)" -ne 0 ]; then
	skip "netobsd -i lo" "capturing needs root"
	tap_done
fi
terminal -c "$netobsd" -i lo
check "netobsd -i lo says what it observes, and how to see it" \
	grep -q '^netobsd: observing lo; .*netobs tcpsnoop (netobs --list .*--print$' "$tmp/shown"
is "in one line" "$(wc -l <"$tmp/shown")" 1
"$netobsd" -i lo 2>"$tmp/err" &
pid=$!
wait_for observing "$pid" 1
kill -INT "$pid"
wait "$pid"
is "without a terminal it says nothing" "$(cat "$tmp/err")" ""
refused=$(tracing_refused)
if [ -z "$refused" ]; then
	terminal "$(command -v bpftrace)" -q -c "$netobsd -i lo" \
		-e "usdt:$netobsd:netobs:arp__send { @ = 1; } interval:s:2 { exit(); }"
	check "with a tracer it says nothing" sh -c "! grep 'observing lo' '$tmp/raw'"
	terminal "$(command -v bpftrace)" -q -c "$netobsd -r $slow --pace" \
		-e "usdt:$netobsd:netobs:arp__send { @ = count(); }"
	quiet "a replay shows no progress among the output of a tracer"
	check "the tracer has counted" grep -q '^@: 100$' "$tmp/shown"
else
	skip "with a tracer" "$refused"
fi

tap_done
