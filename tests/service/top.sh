#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsctl top in a terminal of tmux: the list and its rates, order, conditions, one connection, its packets, sizes, a
# netobsd that goes away and comes back, and the terminal afterwards.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

have tmux || skip_all "tmux is not installed"
terminals=0
terminal() {
	tmux -f /dev/null -S "$tmp/tmux$terminals" "$@"
}
at_end 'terminal kill-server 2>/dev/null'

# begin_top COMMAND: in a terminal of 80x24, between two records of its settings
begin_top() {
	terminal kill-server 2>/dev/null
	terminals=$((terminals + 1))
	rm -f "$tmp/after"
	terminal new-session -d -x 80 -y 24 "cd '$tmp'; stty -a >before; $1; echo status \$? >status; stty -a >after; exec cat"
}

screen() {
	terminal capture-pane -p
}

# shows PATTERN: the screen has a line that matches
shows() {
	screen | grep -qE -e "$1"
}

# sees NAME PATTERN: waits until the screen has such a line
sees() {
	if wait_for shows "$2"; then
		ok "$1"
	else
		screen >"$tmp/screen"
		not_ok "$1" "$tmp/screen"
	fi
}

# awaits PATTERN: waits until the screen has such a line; another screen is a failed point
awaits() {
	wait_for shows "$1" || {
		screen >"$tmp/screen"
		not_ok "a screen with $1" "$tmp/screen"
	}
}

keys() {
	terminal send-keys "$@"
}

start --all-owners --flight-memory=8M
# Four connections to port 7001, over which 100, 200, 300 and 400 bytes are sent every tenth of a second.
begin_traffic
for bytes in 100 200 300 400; do
	traffic connect "$bytes" 7001
	traffic pace "$bytes" "$bytes"
done
run_top="'$ctl' -s '$socket' top -i 0.5"

begin_top "$run_top"
sees "the connections and their rates" '^4 connections .* out [1-9][0-9.]*K/s +every 0.5 s +by out_bytes'
sees "state, ends, round trip and process" '^established :[0-9]+ +127[.]0[.]0[.]1:7001 +0 +[1-9.K0-9]+ +[0-9.]+[um]s +0[.]0 python3'
rates() {
	screen | sed -n 's/^established .*:7001 *0 *\([^ ]*\) .*/\1/p'
}
rates | sed 's/K$/ 1000/' | awk '{ printf "%.0f\n", $1 * ($2 > 0 ? $2 : 1) }' >"$tmp/rates"
check "the highest rate comes first" sort -c -n -r "$tmp/rates"
is "each connection is one line" "$(wc -l <"$tmp/rates")" 4
keys r
sees "r: the reverse order" 'by -out_bytes'
keys s
sees "s: the next field" 'by -in_bytes'
keys S r
sees "S: the one before" 'by out_bytes'
keys / 'server_port == 9' Escape
sees "/ and Esc: the expression that there was" '^4 connections .* by out_bytes$'
keys / 'server_port == 70'
sees "/: a prompt" '^Expression: server_port == 70$'
terminal resize-window -x 15 -y 8
sees "in a terminal that becomes narrow: the end of the line" '^_port == 70$'
keys 02 BSpace 1 Enter
terminal resize-window -x 80 -y 24
sees "what was typed before and after that counts" '^4 connections .* by out_bytes  server_port == 7001$'
keys /
sees "/: the present expression" '^Expression: server_port == 7001$'
keys C-u 'size 9' Enter
sees "a wrong expression" '^column 1: no field is called size'
check "the list and its expression remain" shows '^4 connections .* server_port == 7001$'
keys / C-u 'port 9' Enter
sees "a condition: the expression for it" '^"port" is not an expression: write server_port == 9 [|]+ client_port == 9'
keys / C-u 'server_port == 9' Enter
sees "/: another expression" '^0 connections .* server_port == 9$'
keys / C-u Enter
sees "no condition: every connection" '^4 connections '

keys Down Enter
sees "Enter: one connection" '^  connection id  [0-9]+, local'
sees "with the line for a tracer" '^Tracer:  bpftrace -e .usdt:/proc/[0-9]+/exe:netobs:tcp__state__change'
# The second highest rate, which is that of the connection with 300 bytes.
terminal resize-window -x 200 -y 24
awaits "^Tracer: .*'$"
program=$(screen | sed -n "s/^Tracer:  bpftrace -e '\\(.*\\)'$/\\1/p")
cid=$(screen | sed -n 's/^  connection id *\([0-9]*\),.*/\1/p' | head -n 1)
keys w
sees "w: its packets" "^cid-$cid.pcapng: [1-9][0-9]* frames, [1-9][0-9]* bytes"
check "the file is a capture" "$netobsd" -r "$tmp/cid-$cid.pcapng"
terminal resize-window -x 80 -y 24
keys l
sees "l: its ladder, the last packets" '^ *[0-9]+[.][0-9]{6} +(PSH.ACK [0-9]+:[0-9]+, ack [0-9]+ +-->|<-- +ACK, ack [0-9]+)$'
sees "with both ends in the title" '^ +SECONDS  127[.]0[.]0[.]1:[0-9]+ +127[.]0[.]0[.]1:7001'
keys Home
sees "Home: its beginning" '^ +0[.]000000  closed -> syn-sent'
keys Down
shows_no_beginning() {
	! shows '^ +0[.]000000  closed -> syn-sent'
}
check "Down: the next line" wait_for shows_no_beginning
keys Escape
sees "Esc: its details" '^  connection id  [0-9]+, local'
reason=$(tracing_refused)
if [ -n "$reason" ]; then
	skip "the tracer sees this connection" "$reason"
	traffic close 300
else
	tracer "$tmp/trace" "$program"
	traffic close 300
	wait_for grep -q tcp__state__change "$tmp/trace"
	check "the tracer sees this connection" grep -q tcp__state__change "$tmp/trace"
	tracer_end
fi
sees "its details when it has ended" '^  state          (time-wait|closed)'
keys Escape / 'client_state == "established"' Enter
sees "Esc: the list again" '^STATE +LOCAL +REMOTE'
awaits '^3 connections'
keys Enter
awaits '^Packets: w'
keys / C-u 'server_port == 9' Enter
sees "an expression that is false for the connection: still its details" '^  connection id  [0-9]+, local'
keys l
sees "l: no ladder, because its ends are not in the list" '^connection [0-9]+ is not in the list any more'
keys Escape / C-u Enter
sees "and the list again" '^[34] connections .* by out_bytes$'
keys h
sees "h: the keys" '^w +write its packets'
keys h

terminal resize-window -x 130 -y 12
sees "a wide terminal: the address of the local end" '^established 127[.]0[.]0[.]1:[0-9]+ +127[.]0[.]0[.]1:7001 '
terminal resize-window -x 20 -y 5
sees "a terminal of 20x5: a part of it" '^STATE +LOCAL  R$'
keys Home Enter
sees "of the details as well" '^127'
keys End
sees "they scroll: their end" "'\$"
keys Home
sees "and their beginning" '^TCP,'
keys h
sees "so does the help" '^Up Down'
keys End
sees "to its end" 'time'
keys h
terminal resize-window -x 1 -y 1
terminal resize-window -x 80 -y 24
sees "and 80x24 again" '^STATE +LOCAL +REMOTE .*PROCESS'

stop
sees "netobsd has gone away" 'no netobsd is listening there'
sees "nothing is shown that is not known" '^0 connections'
start --all-owners
sees "netobsd is back" '^3 connections .* out [1-9]'
sees "with processes, without a tracer and a flight memory" '^established .* python3'
mkfifo "$tmp/hold"
ip netns exec "$space" python3 "$top/tests/service/hostile_name.py" 7009 <"$tmp/hold" &
hostile=$!
exec 5>"$tmp/hold"
keys / 'server_port == 7009' Enter
sees "control characters and markup of a name are text" '^UDP  .* \\x1b\[31m<b>'
keys Enter
sees "in the details, too" '^  process +[0-9]+ \(\\x1b\[31m<b>\\x07\\x09:\)$'
keys Escape / C-u Enter
exec 5>&-
wait "$hostile"
keys q
wait_for test -s "$tmp/after"
is "q: exit status" "$(cat "$tmp/status")" "status 0"
check "the terminal has the settings that it had" cmp "$tmp/before" "$tmp/after"
is "and its former screen" "$(screen | grep -c STATE)" 0

# The process that top is, not its shell: the one with this socket among its arguments.
for signal in TERM SEGV; do
	begin_top "$run_top"
	awaits '^[1-9][0-9]* connections'
	kill -"$signal" "$(pgrep -x -f "$ctl -s $socket top -i 0.5")"
	wait_for test -s "$tmp/after"
	check "SIG$signal: the terminal has the settings that it had" cmp "$tmp/before" "$tmp/after"
	is "SIG$signal: and its former screen" "$(screen | grep -c STATE)" 0
done

# mistake NAME PATTERN ARGUMENT...: without a terminal
mistake() {
	mistake_name=$1 mistake_pattern=$2
	shift 2
	"$ctl" -s "$socket" top "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$mistake_name: status" $? 1
	check "$mistake_name: message" grep -qE "^netobsctl: $mistake_pattern" "$tmp/err"
}
mistake "no terminal" "top needs a terminal"
mistake "a field that connections do not have" 'connections have no field size; netobsctl' --sort size
mistake "a misspelt one" 'connections have no field rtt .did you mean rtt_us[?].' --sort -rtt
mistake "a title" 'connections have no field RTT .did you mean rtt_us[?].' --sort RTT
mistake "a wrong interval" "-i: expected a time from 100ms to 1d: seconds, or with a unit" -i 0
mistake "an option of connections" "--closed, --limit, -c and -P are options of the command connections only" -P
mistake "a wrong expression from the beginning" "column 1: no field is called size" size 3
mistake "fields" "--fields is an option of the commands connections and stream only" -o cid
mistake "JSON" "top has no --json" --json
for type in unknown-terminal dumb; do
	begin_top "TERM=$type $run_top 2>error"
	wait_for test -s "$tmp/after"
	check "a terminal of type $type" grep -q "^netobsctl: top cannot use a terminal of this type: $type$" "$tmp/error"
done

# The terminal goes away in the list and in the prompt, and no SIGHUP ends top, because it does not control it.
for key in '' /; do
	is "the terminal is gone${key:+, at a prompt}" "$(python3 "$top/tests/service/lost_terminal.py" "$key" \
		"$ctl" -s "$socket" top -i 86400)" "1 netobsctl: the terminal is gone"
done

begin_top "$run_top --sort pid"
awaits ' by pid$'
keys r
sees "r: the reverse order of a field that s does not reach" 'by -pid$'
# The sequences of a VT100 contain delays, "$<2>", and lead to no other screen.
begin_top "TERM=vt100 $run_top"
awaits '^[1-9][0-9]* connections'
kill "$(pgrep -x -f "$ctl -s $socket top -i 0.5")"
wait_for test -s "$tmp/after"
is "a VT100 shows no delays" "$(screen | grep -c -e '[$]<')" 0
end_traffic
stop
tap_done
