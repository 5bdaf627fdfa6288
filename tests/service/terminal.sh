#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsd on a terminal: the progress of a replay, and what an observation without a tracer says.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
netobsd=$(private_netobsd) || exit 99
python3 -c 'import os; os.close(os.forkpty()[1])' 2>/dev/null || skip_all "no pseudo-terminals"
export TERM=xterm

slow=$tmp/slow.pcap
python3 "$top/tests/service/progress.py" capture "$slow" || exit 99

# terminal NAME ARGUMENT...: runs terminal.py; NAME.raw is what was written to the terminal, NAME.shown what it shows at
# the end
terminal() {
	terminal_name=$1
	shift
	RAW=$tmp/$terminal_name.raw "$top/tests/service/terminal.py" "$@" >"$tmp/$terminal_name.shown" 2>&1 </dev/null
}

# progresses NAME POINT [PATTERN]: progress was shown, and is gone at the end
progresses() {
	if grep -q "netobsd: ${3-[0-9]* %, }[0-9]* frames, [0-9.]* [a-z ]*frames/s" "$tmp/$1.raw" &&
		! grep -q 'frames/s' "$tmp/$1.shown"; then
		ok "$2"
	else
		not_ok "$2" "$tmp/$1.raw" "$tmp/$1.shown"
	fi
}

# no_progress NAME POINT: the terminal has got no progress
no_progress() {
	is "$2" "$(grep 'frames/s' "$tmp/$1.raw")" ""
}

# exact NAME POINT: each progress is the share of the frames that were replayed
exact() {
	check "$2" python3 "$top/tests/service/progress.py" exact "$tmp/$1.raw"
}

# Each replay takes 2.5 seconds or more: all at the same time.
gzip -c "$slow" >"$tmp/gzip"
zstd -qc "$slow" >"$tmp/zstd"
head -c "$(($(wc -c <"$slow") - 7))" "$slow" >"$tmp/cut.pcap"
terminal file "$netobsd" -r "$slow" --pace &
terminal gzip "$netobsd" -r "$tmp/gzip" --pace &
terminal zstd "$netobsd" -r "$tmp/zstd" --pace &
terminal pipe -i "$slow" "$netobsd" -r - --pace &
terminal two "$netobsd" -r "$slow" -r "$slow" --pace=1.25 &
terminal to-file -o "$tmp/printed" "$netobsd" -r "$slow" --pace --print=arp-send &
terminal printing "$netobsd" -r "$slow" --pace --print=arp-send &
terminal errors -e "$tmp/err" "$netobsd" -r "$slow" --pace &
TERM=dumb terminal dumb "$netobsd" -r "$slow" --pace &
terminal cut "$netobsd" -r "$tmp/cut.pcap" --pace &
terminal summary "$netobsd" -r "$slow" --pace --summary &
wait

progresses file "a replay of more than a second shows its progress, and erases it"
is "nothing else is left on the terminal" "$(sed 's/;.*//' "$tmp/file.shown")" "netobsd: observed 100 frames and 0 connections"
exact file "the progress is the share of the file that was replayed, the rate that of the replay"
exact gzip "so is that of a file compressed with gzip"
exact zstd "so is that of a file compressed with zstd"
progresses pipe "so does a pipe, without a share" ""
progresses two "so does a replay of several files"
progresses to-file "a replay that prints to a file shows its progress"
is "the file has every line" "$(wc -l <"$tmp/printed")" 100
no_progress printing "a replay that prints to the terminal shows no progress"
is "the terminal has every line" "$(grep -c ' arp-send ' "$tmp/printing.shown")" 100
is "standard error that is not a terminal gets no progress" "$(sed 's/;.*//' "$tmp/errors.raw" "$tmp/err")" \
	"netobsd: observed 100 frames and 0 connections"
no_progress dumb "a terminal that cannot erase a line gets nothing"
progresses cut "a damaged file shows its progress"
is "a message has a line of its own" \
	"$(grep -c '^netobsd: .* is damaged at frame 100, .*everything before was observed$' "$tmp/cut.shown")" 1
is "so has the summary" "$(sed -n 1p "$tmp/summary.shown")" "frames 100"

begin=$(date +%s%N)
terminal short "$netobsd" -r "$top/tests/captures/questions.pcap"
if [ "$(($(date +%s%N) - begin))" -lt 1000000000 ]; then
	no_progress short "a replay of less than a second shows no progress"
else
	skip "a replay of less than a second shows no progress" "this one took longer"
fi

space=netobs-terminal-$$ why=''
if [ "$(id -u)" -ne 0 ]; then
	why="capturing needs root"
elif ! have ip nsenter; then
	why="ip or nsenter is not installed"
elif ! namespaces "$space"; then
	why=$kernel_refusal
fi
if [ -n "$why" ]; then
	skip "netobsd -i lo" "$why"
	tap_done
fi
ip -n "$space" link set lo up
# ip netns exec would hide tracefs.
inside="$(command -v nsenter) --net=/run/netns/$space"
# shellcheck disable=SC2086 # words
terminal live -c $inside "$netobsd" -i lo
check "netobsd -i lo says what it observes, and how to see it" \
	grep -q '^netobsd: observing lo; .*netobs tcpsnoop (netobs --list .*--print$' "$tmp/live.shown"
is "in one line" "$(wc -l <"$tmp/live.shown")" 1
# shellcheck disable=SC2086
$inside "$netobsd" -i lo 2>"$tmp/err" &
pid=$!
wait_for observing "$pid" 1
kill -INT "$pid"
wait "$pid"
is "without a terminal it says nothing" "$(cat "$tmp/err")" ""
refused=$(tracing_refused)
if [ -z "$refused" ]; then
	# shellcheck disable=SC2086
	terminal traced $inside bpftrace -q -c "$netobsd -i lo" \
		-e "usdt:$netobsd:netobs:arp__send { @ = 1; } interval:s:2 { exit(); }"
	is "with a tracer it says nothing" "$(grep 'observing lo' "$tmp/traced.raw")" ""
	terminal traced "$(command -v bpftrace)" -q -c "$netobsd -r $slow --pace" \
		-e "usdt:$netobsd:netobs:arp__send { @ = count(); }"
	no_progress traced "a replay shows no progress among the output of a tracer"
	check "the tracer has counted" grep -q '^@: 100$' "$tmp/traced.shown"
else
	skip "with a tracer" "$refused"
fi

tap_done
