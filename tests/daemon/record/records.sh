#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --records: a table or JSON lines of all connections, in one order whatever the run; a file is complete or absent; each
# failure has its message and its exit status.
# shellcheck source=tests/lib/tap.sh disable=SC2016 # scripts of sh -c have their own arguments
. "$(dirname "$0")/../../lib/tap.sh"

built "$netobsd"
home=$top/tests/captures/home-network.pcap
questions=$top/tests/captures/questions.pcap
mkdir "$tmp/dir"
# Files of this directory alone are expected.
files() {
	(cd "$tmp/dir" && find . -type f | sort | sed 's|^\./||' | tr '\n' ' ')
}

# ------------------------------------------------------------------------------------------------------------ lines

# value FIELD: a field of each line
value() {
	sed 's/.*"'"$1"'":"\{0,1\}\([^",}]*\).*/\1/'
}

"$netobsd" -r "$home" --records="$tmp/dir/a.jsonl" >"$tmp/out" 2>&1
is "a replay writes its records to a file, in silence" "$? $(files) $(wc -c <"$tmp/out" | tr -d ' ')" "0 a.jsonl  0"
check "the lines are sorted" sort -c "$tmp/dir/a.jsonl"
is "each connection of the capture has one line" "$(wc -l <"$tmp/dir/a.jsonl" | tr -d ' ')" \
	"$("$netobsd" -r "$home" --print=connection-end | wc -l | tr -d ' ')"
check "a line begins with its time and identity" sh -c '! grep -vE "$1" "$2"' sh \
	'^\{"end":"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z","cr_uid":"[0-9a-f]{16}","cr_community":"1:' \
	"$tmp/dir/a.jsonl"
is "no line has what differs from run to run" "$(grep -cE '_cid"|cr_seq"' "$tmp/dir/a.jsonl")" 0
# Identities, numbers and words are those of the firings.
for field in cr_uid cr_client cr_server_port cr_end cr_server_bytes cr_answer_max_us cr_reason; do
	"$netobsd" -r "$home" --print=connection-end --format json | value "$field" | sort >"$tmp/fired"
	value "$field" <"$tmp/dir/a.jsonl" | sort >"$tmp/written"
	check "$field is that of the firings" cmp "$tmp/fired" "$tmp/written"
done
TZ=Pacific/Auckland "$netobsd" -r "$home" --records="$tmp/dir/b.jsonl" 2>"$tmp/err"
check "another run in another time zone writes the same" cmp "$tmp/dir/a.jsonl" "$tmp/dir/b.jsonl"
"$netobsd" -r - --records --format json <"$home" >"$tmp/out" 2>"$tmp/err"
check "standard output has the same lines" cmp "$tmp/dir/a.jsonl" "$tmp/out"
"$netobsd" -r "$home" --records=- --format=json --print=tcp-send >"$tmp/out" 2>"$tmp/err"
is "--print and --records on one output are refused" "$? $(cat "$tmp/err")" \
	"1 netobsd: --print and --records cannot both write to standard output: give a file, --records=FILE"
"$netobsd" -r "$home" --records="$tmp/dir/b.jsonl" --print=tcp-connect-refused >"$tmp/out" 2>"$tmp/err"
check "beside --print, a file has the same lines" cmp "$tmp/dir/a.jsonl" "$tmp/dir/b.jsonl"
"$netobsd" -r "$home" --records="$tmp/dir/b.txt" --format text 2>"$tmp/err"
"$netobsd" -r "$home" --records >"$tmp/out" 2>>"$tmp/err"
check "a file may have the table" cmp "$tmp/dir/b.txt" "$tmp/out"
rm "$tmp/dir"/b*

# ------------------------------------------------------------------------------------------------- one connection each

# row WHERE: the columns from PROT on of the connection, without times
row() {
	"$netobsd" -r "$questions" --records --records-where "$1" \
		--records-fields client,server,server_port,client_bytes,server_bytes,reason | sed 1d | tr -s ' '
}
is "a refused connection" "$(row 'server_port == 443')" "198.51.100.66 192.0.2.80 443 0 0 refused"
"$netobsd" -r "$questions" --records --records-where 'server_port == 53' >"$tmp/out"
is "the client of an UDP stream is an estimate" "$(grep -c '^[^ ]* *[^ ]* UDP *192.0.2.10:53000? *192.0.2.53:53 ' "$tmp/out")" 1
"$netobsd" -r "$top/tests/captures/ipv6-http.pcap" --records >"$tmp/out"
is "IPv6 addresses are in brackets" "$(sed -n '2s/.* \(\[2001:db8::10\]:[0-9]*\) *\(\[2001:db8:1::5\]:[0-9]*\) .*/\1 \2/p' "$tmp/out")" \
	"[2001:db8::10]:43210 [2001:db8:1::5]:80"

# ----------------------------------------------------------------------------------------------- order, limit, fields

# records OPTION...: JSON lines in $tmp/out
records() {
	"$netobsd" -r "$home" --records --format json "$@" >"$tmp/out" 2>"$tmp/err"
}

# ordered FIELD SORT-OPTIONS: whether the values are in this order
ordered() {
	value "$1" <"$tmp/out" >"$tmp/values"
	[ -s "$tmp/values" ] && LC_ALL=C sort -c "$2" "$tmp/values"
}

records --records-sort server_bytes
check "numbers: the largest first" ordered cr_server_bytes -nr
records --records-sort=-cr_server_bytes
check "reversed" ordered cr_server_bytes -n
records --records-sort start
check "times: the earliest first" ordered cr_start -n
records --records-sort server
check "text: ascending" ordered cr_server -s
check "all of them" test "$(wc -l <"$tmp/out")" -eq "$(wc -l <"$tmp/dir/a.jsonl")"
records --records-sort server_bytes
head -n 5 "$tmp/out" >"$tmp/first"
records --records-sort server_bytes --records-limit 5
check "a limit gives the first ones" cmp "$tmp/first" "$tmp/out"
records --records-fields=server_port,cr_reason --records-limit 1 --records-where 'protocol == 6'
is "fields are chosen, with their names" "$(cat "$tmp/out")" '{"cr_server_port":80,"cr_reason":"fin"}'
records --records-where 'server_port == 80 && cr_reason == "fin"'
is "an expression selects" "$(wc -l <"$tmp/out" | tr -d ' ')" \
	"$(grep '"cr_server_port":80,' "$tmp/dir/a.jsonl" | grep -c '"cr_reason":"fin"')"

# Records of open connections, without a tracer of connection-active.
records --active-records=10s --records-where 'reason == "open"'
value cr_uid <"$tmp/out" | sort >"$tmp/written"
"$netobsd" -r "$home" --active-records=10s --print=connection-active --format json | value cr_uid | sort >"$tmp/fired"
check "--active-records: each open connection at its times" cmp "$tmp/fired" "$tmp/written"
check "there are some" test -s "$tmp/fired"
records --active-records=10s
grep -v '"cr_reason":"open"' "$tmp/out" >"$tmp/ended"
check "beside the records of all connections" cmp "$tmp/dir/a.jsonl" "$tmp/ended"
check "in one order" sort -c "$tmp/out"

# Services: each connection is in one of them, also with records of open connections.
records --records-services --active-records=10s
is "--records-services: a line for each server and port" "$(wc -l <"$tmp/out" | tr -d ' ')" \
	"$(sed 's/.*"cr_server":\("[^"]*"\).*"cr_server_port":\([0-9]*\).*"cr_protocol":\([0-9]*\).*/\1 \2 \3/' "$tmp/dir/a.jsonl" | sort -u | wc -l | tr -d ' ')"
is "with all connections" "$(value connections <"$tmp/out" | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" \
	"$(wc -l <"$tmp/dir/a.jsonl" | tr -d ' ')"
is "and all their bytes" "$(value bytes <"$tmp/out" | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" \
	"$({ value cr_client_bytes <"$tmp/dir/a.jsonl" && value cr_server_bytes <"$tmp/dir/a.jsonl"; } | awk '{ sum += $1 } END { printf "%.0f\n", sum }')"
head -n 2 "$tmp/out" >"$tmp/first"
records --records-services --records-limit 2
check "a limit gives those for which most was waited" cmp "$tmp/first" "$tmp/out"
records --records-services --records-where 'server_port == 80 && protocol == 6'
is "of the connections that an expression selects" "$(value port <"$tmp/out" | sort -u)" 80

# on_terminal COMMAND: the command's standard error, while its standard output is a terminal with $tmp/out
on_terminal() {
	python3 -c 'import pty, sys; pty.spawn(["sh", "-c", sys.argv[1] + " 2>" + sys.argv[2]])' "$1" "$tmp/err" \
		>"$tmp/out" </dev/null
	cat "$tmp/err"
}

if have python3; then
	table="'$netobsd' -r '$home' --records"
	count=$(wc -l <"$tmp/dir/a.jsonl" | tr -d ' ')
	tcp=$(grep -c '"cr_protocol":6,' "$tmp/dir/a.jsonl")
	udp=$(grep -c '"cr_protocol":17,' "$tmp/dir/a.jsonl")
	is "counts are below a table on a terminal" "$(on_terminal "$table" | sed 's/;.*//')" \
		"netobsd: $count connections: $tcp TCP, $udp UDP"
	is "the terminal has the table" "$(wc -l <"$tmp/out" | tr -d ' ')" "$((count + 1))"
	is "counts of what is selected and shown" "$(on_terminal "$table --records-limit 1 --records-where 'protocol == 17'")" \
		"netobsd: $udp connections: $udp UDP; 1 of $udp lines shown"
	is "nothing is selected" "$(on_terminal "$table --records-where 'server_port == 1'")" "netobsd: 0 connections"
	is "JSON has no counts" "$(on_terminal "$table --format json")" ""
else
	skip "counts on a terminal" "needs python3"
fi
is "a table in a pipe has no counts" "$("$netobsd" -r "$home" --records 2>&1 >"$tmp/out" | cat)" ""

# complains NAME WANTED OPTION...: netobsd fails with status 1 and one line that contains WANTED
complains() {
	complains_name=$1
	complains_wanted=$2
	shift 2
	"$netobsd" "$@" >"$tmp/out" 2>"$tmp/err"
	complains_status=$?
	cat "$tmp/err" >>"$tmp/out"
	if [ "$complains_status" -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF -- "$complains_wanted" "$tmp/err"; then
		ok "$complains_name"
	else
		not_ok "$complains_name, status $complains_status" "$tmp/out"
	fi
}

complains "a misspelt field to sort by" "--records-sort durations_us: connections have no field durations_us (did you mean duration_us?)" \
	-r "$home" --records --records-sort durations_us
complains "a misspelt field to show" "no field sever_port (did you mean server_port?)" \
	-r "$home" --records --records-fields client,sever_port
complains "a field of something else" "connections have no field tcp_sport" -r "$home" --records --records-fields tcp_sport
complains "a field twice" "cr_client is chosen twice" -r "$home" --records --records-fields client,client
complains "a misspelt field in an expression" \
	"--records-where duration > 1s && server_prot == 80: column 1: no field is called duration (did you mean duration_us?)" \
	-r "$home" --records --records-where 'duration > 1s && server_prot == 80'
complains "a mistake in an expression has its column" "column 16: " -r "$home" --records --records-where 'server_port == == 80'
complains "an empty expression" "the expression is empty" -r "$home" --records --records-where ' '
complains "no limit" "expected a whole number from 1" -r "$home" --records --records-limit 0
complains "a table of services has its own order" "it takes neither --records-fields nor --records-sort" \
	-r "$home" --records --records-services --records-sort start
complains "--records-services alone" "--records-services needs --records" -r "$home" --records-services
complains "--records-limit alone" "--records-limit needs --records" -r "$home" --records-limit 3

# -------------------------------------------------------------------------------------------------------------- files

echo old >"$tmp/dir/old"
"$netobsd" -r "$questions" --records="$tmp/dir/old"
check "an existing file is replaced" sh -c '! grep -q old "$1" && sort -c "$1"' sh "$tmp/dir/old"
ln -s old "$tmp/dir/link"
"$netobsd" -r "$questions" --records="$tmp/dir/link"
check "a link is replaced, not followed" test ! -L "$tmp/dir/link"
rm "$tmp/dir/link" "$tmp/dir/old"
cp "$questions" "$tmp/dir/q.pcap"
complains "the capture itself" "it is the capture that is read" -r "$tmp/dir/q.pcap" --records="$tmp/dir/../dir/q.pcap"
check "which stays as it is" cmp "$questions" "$tmp/dir/q.pcap"
rm "$tmp/dir/q.pcap"
complains "a directory" "cannot write records to $tmp/dir: Is a directory" -r "$home" --records="$tmp/dir"
complains "a directory that does not exist" "cannot write records to $tmp/none/x: No such file or directory" \
	-r "$home" --records="$tmp/none/x"
complains "a capture that does not exist" "cannot read $tmp/none" -r "$tmp/none" --records="$tmp/dir/x"
complains "a full device" "cannot write records to /dev/full: No space left on device" -r "$home" --records=/dev/full
"$netobsd" -r "$home" --records >/dev/full 2>"$tmp/err"
is "a full standard output" "$? $(cat "$tmp/err")" "1 netobsd: cannot write records to standard output: No space left on device"
is "failures leave nothing" "$(files)" "a.jsonl "
{
	"$netobsd" -r "$home" --records --format json 2>"$tmp/err"
	echo $? >"$tmp/status"
} | true
wait_for test -s "$tmp/status"
is "a closed pipe ends it quietly" "$(cat "$tmp/status" "$tmp/err")" 0
"$netobsd" -r "$top/tests/captures/broken-record.pcap" --records="$tmp/dir/broken" 2>"$tmp/err"
is "of a damaged capture, what was before the damage" "$? $(files)$(wc -l <"$tmp/dir/broken" | tr -d ' ')" "2 a.jsonl broken 1"
rm "$tmp/dir/broken"
mkfifo "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/piped" &
"$netobsd" -r "$home" --records="$tmp/pipe"
wait $!
check "a FIFO is written as it is" cmp "$tmp/dir/a.jsonl" "$tmp/piped"
"$netobsd" -r "$home" --records=/dev/fd/7 7>"$tmp/piped"
check "an inherited descriptor is written" cmp "$tmp/dir/a.jsonl" "$tmp/piped"

# netobsd waits for a frame that never comes; $tmp/feed is its input.  Its temporary file is there, and signals are handled.
interrupt() {
	mkfifo "$tmp/feed"
	"$netobsd" -r - "$@" <"$tmp/feed" >"$tmp/out" 2>"$tmp/err" &
	child=$!
	exec 8>"$tmp/feed"
	cat "$home" >&8
	wait_for test -e "$tmp/dir/.x.netobs-part"
	wait_for begun "$child"
}
interrupt --records="$tmp/dir/x"
kill -INT "$child"
wait "$child"
is "a replay that is interrupted writes no file" "$? $(files)$(cat "$tmp/err")" \
	"1 a.jsonl netobsd: not all input was read: $tmp/dir/x is not written"
exec 8>&-
rm "$tmp/feed"
interrupt --records="$tmp/dir/x"
kill -KILL "$child"
wait "$child" 2>"$tmp/err"
nothing_new() {
	[ "$(files)" = "a.jsonl " ]
}
check "nor does one that is killed" wait_for nothing_new
exec 8>&-
rm "$tmp/feed"

interrupt --records="$tmp/dir/x"
temporary=.x.netobs-part
rm "$tmp/dir/$temporary"
ln -s a.jsonl "$tmp/dir/$temporary"
exec 8>&-
wait "$child"
is "a file that has replaced the temporary one is not published, and stays" \
	"$? $(files)$(readlink "$tmp/dir/$temporary") $(cat "$tmp/err")" \
	"1 a.jsonl a.jsonl netobsd: cannot write records to $tmp/dir/x: No such file or directory"
rm "$tmp/feed" "$tmp/dir/$temporary"

# A file system of 64 KiB.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>"$tmp/err"; then
	mkdir "$tmp/small"
	unshare -m sh -c '
		mount -t tmpfs -o size=64k none "$1" || exit 99
		"$2" -r "$3" --records="$1/x" 2>"$4"
		echo "$? $(ls -A "$1" | wc -l)"' sh "$tmp/small" "$netobsd" "$home" "$tmp/err" >"$tmp/out"
	is "a full disk: an error, and no file" "$(cat "$tmp/out" "$tmp/err" | tr '\n' ' ')" \
		"1 0 netobsd: cannot write records to $tmp/small/x: No space left on device "
else
	skip "a full disk: an error, and no file" "needs root and a mount namespace"
fi
# closed: a directory that this user may not write to; root may write everywhere
mkdir -m 555 "$tmp/closed"
closed() {
	if [ "$(id -u)" -eq 0 ]; then
		chmod 755 "$tmp"
		cp "$home" "$tmp/home.pcap" && chmod 644 "$tmp/home.pcap"
		setpriv --reuid 65534 --regid 65534 --clear-groups "$(private_netobsd)" -r "$tmp/home.pcap" --records="$tmp/closed/x"
	else
		"$netobsd" -r "$home" --records="$tmp/closed/x"
	fi 2>"$tmp/err"
}
closed
is "a directory that is not writable" "$? $(cat "$tmp/err")" "1 netobsd: cannot write records to $tmp/closed/x: Permission denied"

# --------------------------------------------------------------------------------------------------- many connections

# Flows of 5 GB of addresses are within this limit, and their records of 2.5 GB are not.
many() {
	prlimit --as=6400000000 "$netobsd" -r "$home" --max-flows 20000000 "$@" >"$tmp/out" 2>"$tmp/err"
}
if have prlimit && many; then # not with a sanitizer
	many --records
	is "no memory for records: the exit status" $? 1
	check "the message" grep -q "not enough memory for 20000000 connections: .*--max-flows" "$tmp/err"
	many --print=connection-end
	is "no memory for the records of a tracer: nothing fires, and one line is logged" \
		"$(wc -l <"$tmp/out" | tr -d ' ') $(grep -c "not enough memory for the records of 20000000 connections" "$tmp/err")" \
		"0 1"
else
	skip "no memory for records" "no limit can be set"
fi

# 220,000 UDP streams do not fit in the memory for sorting.  Each has two datagrams, so that records do not come in the
# order of their ends.
if have python3; then
	python3 "$top/tests/daemon/record/many_streams.py" "$tmp/many.pcap" 220000
	"$netobsd" -r "$tmp/many.pcap" --records="$tmp/dir/many" --records-fields=end,uid 2>"$tmp/err"
	is "more connections than fit in the memory for sorting" "$? $(wc -l <"$tmp/dir/many" | tr -d ' ')" "0 220000"
	check "are sorted" sort -c "$tmp/dir/many"
	is "no record is there twice" "$(value cr_uid <"$tmp/dir/many" | sort -u | wc -l | tr -d ' ')" 220000
	is "and the temporary file is gone" "$(files)" "a.jsonl many "

	# The reader of --print ends the replay.
	mkfifo "$tmp/firings"
	head -n 1 "$tmp/firings" >"$tmp/out" &
	"$netobsd" -r "$tmp/many.pcap" --print --records="$tmp/dir/x" >"$tmp/firings" 2>"$tmp/err"
	is "a replay that a closed pipe of --print has ended writes no file" "$? $(files)$(cat "$tmp/err")" \
		"0 a.jsonl many netobsd: not all input was read: $tmp/dir/x is not written"
	wait

	# A file system that is full before all records are sorted.
	if [ "$(id -u)" -eq 0 ] && unshare -m true 2>"$tmp/err"; then
		unshare -m sh -c '
			mount -t tmpfs -o size=1m none "$1" || exit 99
			"$2" -r "$3" --records="$1/x" 2>"$4"
			echo "$? $(ls -A "$1" | wc -l)"' sh "$tmp/small" "$netobsd" "$tmp/many.pcap" "$tmp/err" >"$tmp/out"
		is "no space for sorting: an error, and no file" "$(cat "$tmp/out" "$tmp/err" | tr '\n' ' ')" \
			"1 0 netobsd: cannot sort records in a temporary file: No space left on device "
	else
		skip "no space for sorting: an error, and no file" "needs root and a mount namespace"
	fi
else
	skip "more connections than fit in the memory for sorting" "needs python3"
fi

tap_done
