#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The command line from outside: messages, exit statuses, pipes, signals, compressed and broken files.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"

# A capture of 100 UDP datagrams of 60 bytes, one per millisecond, written here so that every byte is known.
python3 "$top/tests/service/cli_files.py" udp >"$tmp/udp.pcap" || exit 99
file=$tmp/udp.pcap

# run NAME STATUS ARGUMENT...: runs netobsd; ok if it exits with STATUS and prints nothing on standard error
run() {
	run_name=$1 run_wanted=$2
	shift 2
	"$netobsd" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	run_status=$?
	if [ "$run_status" -eq "$run_wanted" ] && [ ! -s "$tmp/err" ]; then
		ok "$run_name"
	else
		echo "status $run_status, wanted $run_wanted" >"$tmp/why"
		not_ok "$run_name" "$tmp/why" "$tmp/err"
	fi
}

# complains NAME STATUS PATTERN ARGUMENT...: ok if netobsd exits with STATUS, prints nothing, and logs one line that
# matches PATTERN
complains() {
	run_name=$1 run_wanted=$2 run_pattern=$3
	shift 3
	"$netobsd" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	run_status=$?
	if [ "$run_status" -eq "$run_wanted" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] &&
		grep -q -- "^netobsd: .*$run_pattern" "$tmp/err"; then
		ok "$run_name"
	else
		echo "status $run_status, wanted $run_wanted and one line with: $run_pattern" >"$tmp/why"
		not_ok "$run_name" "$tmp/why" "$tmp/err" "$tmp/out"
	fi
}

# counter NAME: its value in the summary that standard error holds
counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$tmp/err"
}

# summary ARGUMENT...: replays with a summary
summary() {
	"$netobsd" "$@" --summary >"$tmp/out" 2>"$tmp/err" </dev/null
}

# ----------------------------------------------------------------------------------------------------- good requests

run "--help" 0 --help
is "--help fits in 80 columns" "$(awk 'length > 80' "$tmp/out")" ""
is "netobsctl --help, too" "$("$build/netobsctl" --help | awk 'length > 80')" ""
is "an option that must be given to have a value has no default" \
	"$(sed -n '/--from/,/--lead-in/p; /--records-limit/,/--formula /p' "$tmp/out" | grep -c '(0')" 0
check "--help continues a long line in its column" grep -qx ' \{34\}[^ ].*' "$tmp/out"
"$netobsd" --help | grep -o -- '--[a-z][a-z-]*' | sort -u >"$tmp/options"
while read -r option; do
	grep -qE "Fl -${option#--}( |$)" "$top/man/netobsd.8" || echo "$option"
done <"$tmp/options" >"$tmp/missing"
is "every option of --help is in netobsd(8)" "$(tr '\n' ' ' <"$tmp/missing")" ""
run "--version" 0 --version
check "--version names the release" grep -q '^netobsd [0-9]' "$tmp/out"
run "--list-probes" 0 --list-probes
check "--list-probes lists tcp-state-change" grep -q '^tcp-state-change' "$tmp/out"
run "--list-probes in JSON" 0 --list-probes --format json
check "--list-probes in JSON is JSON" python3 -m json.tool "$tmp/out" /dev/null
complains "a replay without output says what was observed" 0 \
	"observed 100 frames and 100 connections; --print shows .*--summary .*netobs tcpsnoop -r FILE" -r "$file"
is "without --print nothing is printed" "$(wc -c <"$tmp/out" | tr -d ' ')" 0

summary -r "$file"
is "summary: frames" "$(counter frames)" 100
is "summary: bytes" "$(counter bytes)" 6000
is "summary: packets" "$(counter packets)" 100
is "summary: streams" "$(counter flow.created)" 100
is "summary: dropped" "$(counter capture.dropped)" 0
if retransmissions=$(capture home-network.pcap); then
	summary -r "$retransmissions"
	grep '^retransmission\.' "$tmp/err" >"$tmp/untraced"
	summary -r "$retransmissions" --print
	grep '^retransmission\.' "$tmp/err" >"$tmp/traced"
	is "summary: retransmissions" "$(cut -d ' ' -f 1 "$tmp/untraced" | tr '\n' ' ')" \
		"retransmission.timeout retransmission.spurious "
	check "summary: retransmissions are counted with and without an enabled probe" cmp "$tmp/untraced" "$tmp/traced"
fi
summary -r "$top/tests/captures/iscsi.pcap"
is "summary: iSCSI connections are followed while no probe is enabled" "$(counter conversation.begun)" 20
summary -r "$file" udp src port 1005 or udp src port 1006
is "a filter leaves frames out" "$(counter frames) $(counter capture.filtered)" "2 98"

run "--print" 0 -r "$file" --print=udp-send
is "--print: one line per firing" "$(wc -l <"$tmp/out" | tr -d ' ')" 100
run "--print in JSON" 0 -r "$file" --print=udp-send,udp-receive --format json
is "--print: send and receive" "$(wc -l <"$tmp/out" | tr -d ' ')" 200
run "--print-fields" 0 -r "$file" --print=udp-send,gld-receive --print-fields=udpinfo.udp_dport,probe,eth_type
is "--print-fields: its columns" "$(sort "$tmp/out" | uniq -c | tr -s ' \t\n' ' ')" \
	" 100 - gld-receive 2048 100 53 udp-send - "
run "--print-fields in JSON" 0 -r "$file" --print=udp-send,connection-end --format json --print-fields=pkt_caplen,cr_protocol
is "--print-fields: the fields that a probe has" "$(sort "$tmp/out" | uniq -c | tr -s ' \n' ' ')" \
	' 100 {"cr_protocol":17} 100 {"pkt_caplen":60} '
summary -r "$file" --print=udp-send
is "summary: firings" "$(counter probe.udp-send)" 100
is "summary: a probe that is not enabled has not fired" "$(counter probe.udp-receive)" ""

"$netobsd" -r "$file" --view monitor --print=gld-*,udp-send,udp-receive >"$tmp/out"
is "view monitor: each frame is received once" "$(awk '{ print $2 }' "$tmp/out" | sort | uniq -c | tr -s ' \n' ' ')" \
	" 100 gld-receive 100 udp-receive "
"$netobsd" -r "$file" --local 192.0.2.1 --print=udp-send,udp-receive >"$tmp/out"
is "--local: its own sends only" "$(awk '{ print $2 }' "$tmp/out" | sort | uniq -c | tr -s ' \n' ' ')" " 100 udp-send "
complains "view host without local addresses: a warning" 0 "--local PREFIX" -r "$file" --view host --print=arp-send
complains "a prefix without an endpoint: a warning" 0 "--local 198.51.100.0/24 matches no endpoint of the capture" \
	-r "$file" --local 192.0.2.0/31 --local 198.51.100.0/24 --local 192.0.2.1 --print=udp-receive
run "prefixes that overlap: no warning" 0 -r "$file" --local 192.0.2.0/24 --local 192.0.2.1 --print=udp-send
run "an empty capture: no warning" 0 -r "$file" --local 198.51.100.0/24 --print=udp-send tcp

# ------------------------------------------------------------------------------------------------------- bad requests

complains "nothing to do" 1 "-i IFACE"
complains "unknown option" 1 "unknown.*--frobnicate;" --frobnicate
complains "misspelt option" 1 "unknown.*--stirct (did you mean --strict?);" --stirct
complains "misspelt option with a value" 1 "unknown.*--veiw=both (did you mean --view?);" --veiw=both
printf 'interfce = {"any"}\n' >"$tmp/misspelt.conf"
complains "misspelt setting" 1 "misspelt.conf:1: .*'interfce' (did you mean interface?)" -c "$tmp/misspelt.conf" --check-config
complains "file and interface" 1 "not both" -r "$file" -i lo
complains "no such file" 1 "No such file" -r "$tmp/none"
complains "a directory" 1 "directory" -r "$tmp"
complains "an empty file" 1 "is empty" -r /dev/null
complains "empty standard input" 1 "standard input is empty" -r -
complains "not a capture" 1 "is not a readable capture" -r "$0"
complains "no such interface" 1 "no such interface: nope0; available: any, .*lo" -i nope0
(cd "$tmp" && exec "$netobsd" -i udp.pcap) 2>"$tmp/err"
is "a file instead of an interface" "$?:$(cat "$tmp/err")" \
	"1:netobsd: no such interface: udp.pcap; a file has this name: replay it with -r udp.pcap"
for word in --jsn=status --jsn --veiw --json=x -x --socket --frobnicate --=x; do
	"$build/netobsctl" "$word" 2>&1
	echo "$?"
done >"$tmp/out"
is "wrong options of netobsctl" "$(cat "$tmp/out")" "netobsctl: unknown or ambiguous option --jsn=status \
(did you mean --json?); netobsctl --help lists the options
1
netobsctl: unknown or ambiguous option --jsn (did you mean --json?); netobsctl --help lists the options
1
netobsctl: unknown or ambiguous option --veiw; netobsctl --help lists the options
1
netobsctl: --json takes no value
1
netobsctl: unknown option -x; netobsctl --help lists the options
1
netobsctl: --socket needs a value: SOCKET
1
netobsctl: unknown or ambiguous option --frobnicate; netobsctl --help lists the options
1
netobsctl: unknown or ambiguous option --=x; netobsctl --help lists the options
1"
complains "bad filter" 1 'bad filter "no such words"' -r "$file" no such words
complains "unknown probe" 1 'no probe "tcp-recieve" (did you mean tcp-receive?);' -r "$file" --print=tcp-recieve
complains "unknown probe with a name like no other" 1 'no probe "nonesuch";' -r "$file" --print=nonesuch
complains "unknown probe among others" 1 'no probe "x\*"' -r "$file" --print=tcp-*,x*
complains "bad number" 1 "whole number from 16" -r "$file" --max-flows many
complains "limits are written out" 1 "expected a number from 0.000001 to 1000000$" -r "$file" --pace=abc
if have prlimit && prlimit --as=2000000000 "$netobsd" --version >/dev/null 2>&1; then # not with a sanitizer
	prlimit --as=2000000000 "$netobsd" -r "$file" --max-flows 100000000 2>"$tmp/err"
	is "more memory than there is: status" $? 1
	check "more memory than there is: message" grep -q "not enough memory for 100000000 connections: .*--max-flows" "$tmp/err"
else
	skip "more memory than there is" "no limit can be set"
fi
printf 'x\033[31m\n' >"$tmp/$(printf 'a\033[31mb')"
complains "a file name cannot colour the terminal" 1 'a\\x1b\[31mb is not' -r "$tmp/$(printf 'a\033[31mb')"
python3 "$top/tests/service/cli_files.py" dbus >"$tmp/dbus.pcap"
complains "link type" 1 "DBUS (231) is not supported; .*EN10MB" -r "$tmp/dbus.pcap"

if [ "$(id -u)" -eq 0 ] && have setpriv; then
	chmod 755 "$tmp"
	copy=$(private_netobsd)
	chmod 755 "$copy"
	setpriv --reuid=65534 --clear-groups "$copy" -i lo >"$tmp/out" 2>"$tmp/err"
	is "no permission: status" $? 1
	check "no permission: the message names the remedy" grep -q "no permission to capture on lo: .*setcap cap_net_raw" "$tmp/err"
	chmod 600 "$file"
	setpriv --reuid=65534 --clear-groups "$copy" -r "$file" >"$tmp/out" 2>"$tmp/err"
	is "unreadable file: status" $? 1
	check "unreadable file: message" grep -q "cannot read .*udp.pcap: Permission denied" "$tmp/err"
else
	skip "no permission" "needs root and setpriv"
fi

# ------------------------------------------------------------------------------------------- compressed, broken, merged

for packer in gzip zstd; do
	if ! have "$packer"; then
		skip "$packer" "$packer is not installed"
		continue
	fi
	"$packer" -c "$file" >"$tmp/packed"
	summary -r "$tmp/packed"
	is "$packer" "$(counter frames)" 100
	head -c 4024 "$file" | "$packer" -c >"$tmp/parts"
	tail -c +4025 "$file" | "$packer" -c >>"$tmp/parts"
	summary -r "$tmp/parts"
	is "$packer: two parts in one file" "$(counter frames)" 100
	"$netobsd" -r - --summary <"$tmp/packed" 2>"$tmp/err"
	is "$packer from standard input" "$(counter frames)" 100
	head -c 60 "$tmp/packed" >"$tmp/cut"
	"$netobsd" -r "$tmp/cut" 2>"$tmp/err" >"$tmp/out"
	check "$packer: truncated data" grep -q "the $packer data break off" "$tmp/err"
done

for small in 'port 1 or port 2 or port 3' '(port 80 or port 443) and host 10.0.0.1' 'ip6 host ::1 or ip6 host ::2 or ip6 host ::3 or ip6 host ::4'; do
	check "a small filter in a formula: $small" "$netobsd" --check-config -i lo --formula "x = tcp-send where pcap(\"$small\")"
done

python3 "$top/tests/service/cli_files.py" window 23 <"$file" >"$tmp/windowed"
summary -r "$tmp/windowed"
is "zstd with a window of 8 MiB" "$(counter frames)" 100
python3 "$top/tests/service/cli_files.py" window 24 <"$file" >"$tmp/windowed"
complains "zstd with a window of 16 MiB" 1 \
	"is not a readable capture: the zstd data need a window of more than 8 MiB .*zstd -d --long=31" -r "$tmp/windowed"

summary -r "$top/tests/captures/gre-two-link-types.pcapng"
is "interfaces of different link types and snapshot lengths" "$(counter frames) $(counter capture.damaged)" "7 0"

head -c 4000 "$file" >"$tmp/cut.pcap"
complains "cut in a record" 2 "ends unexpectedly or is damaged at frame 53, byte 4000: .*everything before was observed" -r "$tmp/cut.pcap"
summary -r "$tmp/cut.pcap"
is "cut in a record: the records before it" "$(counter frames) $(counter capture.damaged)" "52 1"
summary -r "$tmp/cut.pcap" -r "$file"
is "the other file is read to its end" "$(counter frames)" 152
is "merged files are in time order" "$(counter backwards)" 0

# ------------------------------------------------------------------------------------------------- pipes and signals

"$netobsd" -r - --print=udp-send <"$file" >"$tmp/piped"
"$netobsd" -r "$file" --print=udp-send >"$tmp/direct"
check "standard input is like the file" cmp "$tmp/piped" "$tmp/direct"

{
	"$netobsd" -r "$file" -r "$file" -r "$file" -r "$file" --print --format json 2>"$tmp/err"
	echo $? >"$tmp/status"
} | head -n 1 >"$tmp/out"
is "a closed pipe: status" "$(cat "$tmp/status")" 0
is "a closed pipe: no message" "$(cat "$tmp/err")" ""

if [ -e /dev/full ]; then
	"$netobsd" -r "$file" --print >/dev/full 2>"$tmp/err"
	is "a full disk: status" $? 1
	check "a full disk: message" grep -q "cannot write to standard output: No space left" "$tmp/err"
	"$netobsd" -r "$file" --summary 2>/dev/full
	is "a full disk: --summary" $? 1
	"$netobsd" --list-probes >/dev/full 2>"$tmp/err"
	is "--list-probes on a full disk" $? 1
fi
"$netobsd" -r "$file" --print >&- 2>"$tmp/err"
is "a closed standard output" $? 1

for output in print records records=/dev/stdout write=udp-send=- write=udp-send=/dev/fd/1; do
	"$netobsd" -r "$file" "--$output" >&- 2>"$tmp/err"
	is "standard output is closed, --$output: status" $? 1
	check "standard output is closed, --$output: message" grep -q "cannot write .*: Bad file descriptor" "$tmp/err"
done
"$netobsd" -r "$file" --summary 2>&-
is "standard error is closed: --summary" $? 1
for path in /dev/fd/6 /proc/self/fd/6; do
	"$netobsd" -r "$file" --write "udp-send=$path" 6>"$tmp/six" 2>"$tmp/err"
	is "an inherited descriptor, --write: $path" "$? $("$netobsd" -r "$tmp/six" --print=udp-send | wc -l)" \
		"0 $("$netobsd" -r "$file" --print=udp-send | wc -l)"
done

{
	gzip -c "$file"
	head -c 300000 /dev/zero
} >"$tmp/padded.gz"
"$netobsd" -r "$file" --print >"$tmp/wanted"
"$netobsd" -r "$tmp/padded.gz" --print >"$tmp/out" 2>"$tmp/err"
is "zeros after gzip data" "$? $(cat "$tmp/err")" "0 "
check "zeros after gzip data: all is observed" cmp "$tmp/wanted" "$tmp/out"

# A pipe that stays open: frames are reported at once, and signals are handled.
mkfifo "$tmp/fifo"
"$netobsd" -r "$tmp/fifo" --print=udp-send >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3>"$tmp/fifo"
head -c 7000 "$file" >&3
printed_all() {
	[ "$(wc -l <"$tmp/out")" -ge 91 ]
}
wait_for printed_all
is "a slow pipe: frames are printed at once" "$(wc -l <"$tmp/out" | tr -d ' ')" 91
kill -USR1 "$pid"
wait_for grep -q '^probe.udp-send' "$tmp/err"
is "SIGUSR1: a summary" "$(counter frames)" 91
kill -INT "$pid"
wait "$pid"
is "SIGINT: status" $? 0
exec 3>&-
check "SIGINT: no message about damage" sh -c "! grep -q '^netobsd:' '$tmp/err'"

"$netobsd" -r "$file" --wait-tracer --print &
pid=$!
wait_for begun "$pid"
kill -TERM "$pid"
wait "$pid"
is "SIGTERM while waiting for a tracer" $? 0
# A pipe that no writer has opened yet, and one that is empty so far.
for before in open input; do
	for output in records=- records="$tmp/none" write=tcp-send="$tmp/none"; do
		[ $before = open ] || exec 3<>"$tmp/fifo"
		"$netobsd" -r "$tmp/fifo" "--$output" >/dev/null 2>"$tmp/err" &
		pid=$!
		wait_for begun "$pid"
		kill -TERM "$pid"
		wait "$pid"
		status=$?
		exec 3>&-
		case $output in
		*none) wanted="1 netobsd: not all input was read: $tmp/none is not written" ;;
		*) wanted="0 " ;;
		esac
		is "SIGTERM before the first $before, --$output" "$status $(cat "$tmp/err")" "$wanted"
		check "SIGTERM before the first $before, --$output: no file" test ! -e "$tmp/none"
	done
done
complains "--wait-probes: no such probe" 1 'there is no probe "tcp-nonsense"' -r "$file" --wait-probes=udp-send,tcp-nonsense
complains "--wait-probes gives up after its time" 0 "no tracer enabled udp-send within 0.1 s" -r "$file" --wait-tracer=0.1 \
	--wait-probes=udp-send
complains "--wait-probes: the last name is of netobs_engine" 0 "no tracer enabled wait-done within 0.1 s" -r "$file" \
	--wait-tracer=0.1 --wait-probes=wait-done
complains "--wait-probes: likewise after another" 0 "no tracer enabled udp-send within 0.1 s" -r "$file" \
	--wait-tracer=0.1 --wait-probes=udp-send,wait-done
complains "--wait-probes: only the last one" 1 'there is no probe "wait-done"' -r "$file" --wait-probes=wait-done,udp-send
complains "--wait-tracer gives up after its time" 0 "no tracer attached within 0.1 s" -r "$file" --wait-tracer=0.1
"$netobsd" -r "$file" --pace=0.001 --print=udp-send >"$tmp/out" &
pid=$!
wait_for test -s "$tmp/out"
kill -INT "$pid"
wait "$pid"
is "SIGINT in a paced replay" $? 0
check "a paced replay prints as it goes" sh -c "[ \$(wc -l <'$tmp/out') -gt 0 ] && [ \$(wc -l <'$tmp/out') -lt 100 ]"

JOURNAL_STREAM=1:2 "$netobsd" -r "$tmp/none" 2>"$tmp/err"
check "priorities for the journal" grep -q '^<3>netobsd: ' "$tmp/err"

tap_done
