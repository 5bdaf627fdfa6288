#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs conns and netobs services --table: how connections end and what their answers cost, compared with what was made;
# totals compared with those of tshark; sorting, limit, fields and expressions as words of the command line.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
export NETOBSD="$netobsd"
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap

# ------------------------------------------------------------------------------------------------------ made cases

# values: the lines of a table below its title, with one blank between values
values() {
	sed 1d | tr -s ' ' | sed 's/^ //'
}

# of PORT FIELD,...: these fields of the connection to this port
of() {
	"$netobs" conns "$tmp/cases.pcap" -o --tcp-idle=7200 "server_port == $1 && protocol == 6" -o "$2" 2>&1 | values
}

if have python3; then
	python3 "$top/tests/scripts/conns_cases.py" "$tmp/cases.pcap"
	answer=reason,exchanges,answer_mean_us,answer_max_us
	is "a client that thinks 1.3 s before it asks makes no server slow" "$(of 80 $answer)" "fin 1 20000 20000"
	is "a server that thinks 1.3 s is slow" "$(of 81 $answer)" "fin 1 1300000 1300000"
	is "refused" "$(of 82 reason,client_state)" "refused closed"
	is "never answered" "$(of 83 reason,client_segments,server_segments,resent_syn)" "no-answer 3 0 2"
	is "reset by the client" "$(of 84 reason)" "reset-by-client"
	is "reset by the server" "$(of 85 reason)" "reset-by-server"
	is "a window that never reopens" "$(of 86 server_zero_windows,client_bytes,reason)" "1 1000 idle"
	is "if the capture ends before it is idle" "$("$netobs" conns "$tmp/cases.pcap" server_port == 86 -o reason | values)" \
		"capture-end"
	is "idle" "$(of 87 reason,duration_us)" "idle 20000"
	is "a middle has a client by its ports" "$(of 88 client,role,server_bytes)" "192.0.2.1 port 10"
	"$netobs" conns "$tmp/cases.pcap" >"$tmp/table"
	is "which the table marks" "$(grep -c ' 192.0.2.1:40000? *198.51.100.2:88 ' "$tmp/table")" 1
	is "others are not marked" "$(grep ' TCP ' "$tmp/table" | grep -c '?')" 1
	is "a stream that is open at the end is there" "$(grep -c ' UDP .* capture-end$' "$tmp/table")" 1
	is "each connection has one line, in the order of their ends" \
		"$(sed -n 's/.* TCP .* 198.51.100.2:\([0-9]*\) .*/\1/p' "$tmp/table" | tr '\n' ' ')" \
		"82 87 86 84 88 85 80 81 83 "
	"$netobs" conns "$tmp/cases.pcap" | cmp - "$tmp/table" >"$tmp/out" &&
		TZ=Asia/Kathmandu "$netobs" conns "$tmp/cases.pcap" | cmp - "$tmp/table" >>"$tmp/out"
	is "the output is the same, also in another time zone" "$?" 0
	python3 "$top/tests/tools/report/verdict_cases.py" errors "$tmp/errors.pcap"
	is "a text is one word of its line" \
		"$("$netobs" conns "$tmp/errors.pcap" 'server_port == 80' -o icmp_str,icmp_sender,reason | awk 'NR == 2 { print NF, $1, $2 }')" \
		'3 communication\x20administratively\x20prohibited 192.0.2.254'
	is "with its blanks in the last column" \
		"$("$netobs" conns "$tmp/errors.pcap" 'server_port == 80' -o icmp_sender,icmp_str | sed -n 2p)" \
		'192.0.2.254 communication administratively prohibited'
	is "no line is longer than 120 columns" "$(awk 'length > 120' "$tmp/table")" ""
else
	skip "made cases" "needs python3"
fi

# --------------------------------------------------------------------------------------------------- services --table

if have python3; then
	"$netobs" services --table "$tmp/cases.pcap" >"$tmp/table"
	# row PORT: connections, FAILED and what follows ANSWER of the service
	row() {
		tr -s ' ' <"$tmp/table" | sed -n "s, \\([0-9]*\\) \\([0-9.]*%\\) [^ ]* [^ ]* [^ ]* \\([^ ]*\\) \\([^ ]*\\) .* 198.51.100.2 port $1/tcp.*,\\1 \\2 \\3 \\4,p"
	}
	is "services: a client that thinks makes no server slow" "$(row 80)" "1 0% 10.0ms 10.0ms"
	is "services: a server that thinks is slow" "$(row 81)" "1 0% 1.29s 1.29s"
	is "services: refused" "$(row 82)" "1 100% - -"
	is "services: never answered" "$(row 83)" "1 100% - -"
	is "services: the first line is that with most waiting" "$(sed -n '2s/.* port //p' "$tmp/table")" "$("$netobs" services --table \
		"$tmp/cases.pcap" --json | sed -n 's/.*"port":\([0-9]*\),.*"failed":\([0-9]*\),.*"waited_us":\([0-9]*\),.*/\3 \2 \1/p' |
		awk '{ print $1 + 5000000 * $2, $3 }' | sort -rn | sed -n '1s,.* \(.*\),\1/tcp,p')"
	is "services: an expression and a limit" \
		"$("$netobs" services --table "$tmp/cases.pcap" 'server_port >= 82 && protocol == 6' --limit 2 | wc -l | tr -d ' ')" 3
fi
"$netobs" services --table "$home" --sort start >"$tmp/out" 2>&1
is "services: --sort is refused" "$? $(cat "$tmp/out")" "1 netobs: --sort and -o FIELD are of netobs conns"
"$netobs" hosts --table "$home" >"$tmp/out" 2>&1
is "--table of another script is refused" "$? $(cat "$tmp/out")" "1 netobs: --table is of netobs services"
"$netobs" services --table >"$tmp/out" 2>&1
is "services --table without a capture" "$? $(cat "$tmp/out")" \
	"1 netobs: services --table needs a capture (-r FILE) or an interface (-i IFACE)"

# --------------------------------------------------------------------------------------------------- totals of tshark

# normal: "ENDPOINT ENDPOINT COUNT-OF-FIRST COUNT-OF-SECOND" with the smaller endpoint first
normal() {
	awk '{ if ($1 < $2) print $1, $2, $3, $4; else print $2, $1, $4, $3 }' | sort
}

# read_tshark FILE [OPTION...]: the packets of each conversation in $tmp/tshark, and what the options print before them;
# headers that ICMP errors quote are not among these packets.  Frames of questions.pcap from 51 on are scans and spoofed
# packets, which belong to no connection.
read_tshark() {
	read_frames=100000
	[ "$1" != "$captures/questions.pcap" ] || read_frames=51
	read_filter="not icmp and frame.number < $read_frames"
	tshark -z "conv,tcp,$read_filter" -z "conv,udp,$read_filter" -r "$@" >"$tmp/tshark" 2>"$tmp/err"
}

# of_tshark PROTOCOL: its conversations, from $tmp/tshark
of_tshark() {
	awk -v of="$1" '/ Conversations$/ { protocol = $1 } $2 == "<->" && protocol == of { print $1, $3, $7, $4 }' "$tmp/tshark" |
		normal
}

# of_netobs FILE NUMBER: the same of the records
of_netobs() {
	"$netobs" conns "$1" "protocol == $2" -o client,client_port,server,server_port,client_segments,server_segments |
		values | awk '{ print $1 ":" $2, $3 ":" $4, $5, $6 }' | normal
}

# compare FILE PROTOCOL NUMBER: the conversations of tshark, which has read the file, with those of netobs
compare() {
	of_tshark "$2" >"$tmp/wanted"
	of_netobs "$captures/$1.pcap" "$3" >"$tmp/got"
	check "$1: the $2 conversations of tshark, and their packets" diff "$tmp/wanted" "$tmp/got"
	check "$1 has some" test -s "$tmp/got"
}

if have tshark; then
	for file in dns-tcp ipv6-http one-tcp-rst tcp-urgent questions; do
		read_tshark "$captures/$file.pcap" -q
		compare "$file" TCP 6
	done
	compare questions UDP 17
	# Two questions, one start: tshark is slow to start.
	read_tshark "$home" -Y 'tcp && !icmp' -T fields -e ip.src -e tcp.srcport -e ip.dst -e tcp.dstport -e frame.len \
		-e frame.time_epoch -e tcp.flags
	compare home-network UDP 17
	awk -F '\t' 'NF > 1' "$tmp/tshark" >"$tmp/segments"

	# A record ends with its connection: segments that follow its end, as those of TIME-WAIT, are not in it.
	"$netobs" conns "$home" 'protocol == 6' --json \
		-o client,client_port,server,server_port,client_segments,server_segments,client_wire,server_wire,end |
		tr -d '{}"' | sed 's/[a-z_]*://g' | tr , ' ' >"$tmp/records"
	awk '{ print $1 ":" $2, $3 ":" $4, $5 "/" $7, $6 "/" $8 }' "$tmp/records" | normal >"$tmp/got"
	awk '
		FNR == NR { end[$1 ":" $2, $3 ":" $4] = end[$3 ":" $4, $1 ":" $2] = $9 ""; next }
		{
			from = $1 ":" $2
			to = $3 ":" $4
			sub("[.]", "", $6)
			if ($6 "" > end[from, to]) {
				late++
				next
			}
			conversations[from < to ? from " " to : to " " from]
			packets[from, to]++
			bytes[from, to] += $5
		} END {
			for (key in conversations) {
				split(key, ends, " ")
				one = ends[1]
				other = ends[2]
				print one, other, packets[one, other] + 0 "/" bytes[one, other] + 0, packets[other, one] + 0 "/" bytes[other, one] + 0
			}
			print late > "/dev/stderr"
		}' "$tmp/records" "$tmp/segments" 2>"$tmp/late" | sort >"$tmp/wanted"
	check "home-network: TCP packets and bytes of frames up to the end of each connection" diff "$tmp/wanted" "$tmp/got"
	is "segments after the end of their connection" "$(cat "$tmp/late")" 4
	# With SYN, 0x02, and without ACK, 0x10.
	awk '$7 ~ /[02468ace][2367abef]$/ { print $1, $2, $3, $4 }' "$tmp/segments" | sort -u >"$tmp/wanted"
	"$netobs" conns "$home" 'role == "seen" && protocol == 6' -o client,client_port,server,server_port | values |
		sed 's/ $//' | sort >"$tmp/got"
	check "home-network: the client is the end that sent the SYN" diff "$tmp/wanted" "$tmp/got"
else
	skip "totals of tshark" "tshark is not installed"
fi

# ---------------------------------------------------------------------------------------------------------- command line

"$netobs" conns "$home" >"$tmp/all"
is "a title and a line for each connection" "$(sed -n '1s/ .*//p' "$tmp/all") $(wc -l <"$tmp/all" | tr -d ' ')" \
	"START $(($("$netobsd" -r "$home" --print=connection-end | wc -l) + 1))"
"$netobs" conns -r "$home" --sort server_bytes --limit 3 -o server_bytes | sed 1d | tr -d ' ' >"$tmp/most"
check "--sort" sort -c -n -r "$tmp/most"
is "--limit" "$(wc -l <"$tmp/most" | tr -d ' ')" 3
"$netobs" conns --limit=3 "$home" --sort=-server_bytes -o server_bytes | sed 1d | tr -d ' ' >"$tmp/least"
check "--sort=-FIELD, before and after the file" sort -c -n "$tmp/least"
"$netobs" conns "$home" --json --limit 1 >"$tmp/out"
is "--json" "$(cut -c 1-9 "$tmp/out")" '{"end":"2'
"$netobs" conns "$home" server_port == 21 -o server_port,reason >"$tmp/out"
is "an expression in several words" "$(values <"$tmp/out")" "21 fin"
"$netobs" conns -o --local=192.168.0.13 -o --view=host -f 'port 21' "$home" >"$tmp/out"
is "options of netobsd and a filter" "$(wc -l <"$tmp/out" | tr -d ' ')" 2
"$netobs" conns "$home" "$captures/questions.pcap" >"$tmp/out"
is "captures of different days: START has a date, in the same column everywhere" \
	"$(sed 's/[0-9]\{4\}\(-[0-9][0-9]\)\{2\}T[0-9:]\{8\}[.][0-9]\{3\} /DATE /; s/ .*//' "$tmp/out" | sort | uniq -c | tr '\n' ' ' | tr -s ' ')" \
	" $(($(wc -l <"$tmp/out") - 1)) DATE 1 START "
is "a capture of one day has no dates" "$(sed 1d "$tmp/all" | grep -c '^[0-9][0-9]:[0-9:]*[.][0-9]* ')" "$(($(wc -l <"$tmp/all") - 1))"
"$netobs" conns - <"$home" | cmp - "$tmp/all" >"$tmp/out"
is "standard input" "$?" 0
is "a capture without connections" "$("$netobs" conns "$captures/icmpv6-echo.pcap" 2>&1)" \
	"START TIME PROT CLIENT SERVER SENT RECVD ANSWER LOST WAITED REASON
netobsd: no TCP or UDP connection and no SCTP association in 2 frames"
is "which JSON does not have" "$("$netobs" conns "$captures/icmpv6-echo.pcap" --json 2>&1)" ""
is "an expression that no connection satisfies" "$("$netobs" conns "$home" server_port == 1 2>&1 | wc -l | tr -d ' ')" 1
"$netobs" conns "$home" | head -n 1 >"$tmp/out" 2>"$tmp/err"
is "| head" "$(cut -c 1-5 "$tmp/out")$(cat "$tmp/err")" "START"

# complains NAME WANTED ARGUMENT...: netobs fails with one line that contains WANTED
complains() {
	complains_name=$1
	complains_wanted=$2
	shift 2
	if "$netobs" "$@" >"$tmp/out" 2>&1 </dev/null; then
		not_ok "$complains_name" "$tmp/out"
	elif [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -qF -- "$complains_wanted" "$tmp/out"; then
		ok "$complains_name"
	else
		not_ok "$complains_name" "$tmp/out"
	fi
}

complains "a misspelt name" "no script is called cons (did you mean conns?)" cons "$home"
complains "a file that does not exist" "cannot read nonsense.pcap" conns nonsense.pcap
complains "a file without extension that does not exist" "cannot read nonsense; if it is an expression, it has an operator" \
	conns nonsense
complains "a file with other characters that does not exist" "cannot read no such (file; if it is an expression, it has an operator" \
	conns 'no such (file'
complains "a path with other characters that does not exist" "cannot read ./no such (file" conns './no such (file'

# Files in the working directory whose names are words of an expression.
mkdir "$tmp/planted"
cp "$captures/questions.pcap" "$tmp/planted/server_port == 21"
cp "$captures/questions.pcap" "$tmp/planted/server_port"
cp "$captures/questions.pcap" "$tmp/planted/plain"
ln -s "$home" "$tmp/planted/good.pcap"
mkfifo "$tmp/planted/21"
# planted ARGUMENT...: the port and the reason of connections
planted() {
	(cd "$tmp/planted" && timeout 60 "$netobs" conns "$@" -o server_port,reason 2>/dev/null | values)
}
is "an expression is not a file of this name" "$(planted good.pcap 'server_port == 21'; planted 'server_port == 21' good.pcap)" "21 fin
21 fin"
is "nor are its words" "$(planted server_port == 21 good.pcap)" "21 fin"
is "which is said" "$(cd "$tmp/planted" && "$netobs" conns good.pcap 'server_port == 21' 2>&1 >/dev/null)" \
	"netobs: server_port == 21 is not taken for the file of this name; for the file give ./server_port == 21 or -r server_port == 21"
is "it is with ./, with -r and alone" "$(cd "$tmp/planted" && for file in './server_port == 21' -r"server_port == 21" plain; do
	case $file in
	-r*) set -- -r "${file#-r}" ;;
	*) set -- "$file" ;;
	esac
	"$netobs" conns "$@" | cksum
done | sort -u)" "$("$netobs" conns "$captures/questions.pcap" | cksum)"
newline='
'
ln -s "$home" "$tmp/planted/a$newline"
ln -s "$captures/questions.pcap" "$tmp/planted/a"
is "a line break at the end of a file name" "$(cd "$tmp/planted" && "$netobs" conns -r "a$newline" | cksum)" "$(cksum <"$tmp/all")"

# Processes: netobsd is to look them up where conns shows them, and a capture has none.
cat >"$tmp/echo" <<'EOF'
#!/bin/sh
# Shows how it is called.
case " $* " in
*" --check-config "*) ;;
*) echo "$*" ;;
esac
EOF
chmod +x "$tmp/echo"
# asked WORD...: the options of owners that conns passes to netobsd
asked() {
	NETOBSD=$tmp/echo "$netobs" conns "$@" 2>&1 | grep -o -e '--[a-z]*-owners' | tr '\n' ' '
}

all="--all-owners --wait-owners "
is "an expression that needs processes" "$(asked -i lo 'client_uid == 0')" "$all"
is "an order that needs processes" "$(asked -i lo --sort server_pid)" "$all"
is "fields that need processes" "$(asked -i lo -o client,client_comm)" "$all"
is "JSON has processes" "$(asked -i lo --json)" "$all"
is "a table without processes does not need them" "$(asked -i lo 'server_port == 80')" ""
is "without owners there are none" \
	"$(NETOBSD=$tmp/echo "$netobs" conns -i lo -o --no-owners -o client_pid 2>&1 | sed -n 's/^netobs: //p')" \
	"--no-owners: processes are unknown (-1, -)"
is "a capture has none" "$("$netobs" conns "$home" 'client_comm == "sshd"' 2>&1 >"$tmp/none")" \
	"netobs: a capture contains no processes: they are unknown (-1, -)"
is "which JSON does not repeat" "$("$netobs" conns "$home" --json 2>&1 >"$tmp/none")" ""

mkdir "$tmp/without"
ln -s "$netobsd" "$tmp/without/netobsd"
printf '#!/bin/sh\nexec "%s" -s "%s/none" "$@"\n' "$build/netobsctl" "$tmp" >"$tmp/without/netobsctl"
chmod +x "$tmp/without/netobsctl"
nothing="netobs: no netobsd runs that answers requests: give a capture, -i INTERFACE or -p PID"
is "neither a capture nor a netobsd" "$(NETOBSD=$tmp/without/netobsd "$netobs" conns 2>&1)" "$nothing"
is "nor beside an expression" "$(NETOBSD=$tmp/without/netobsd "$netobs" conns server_port == 80 2>&1)" "$nothing"

is "a field of open connections" "$("$netobs" conns "$home" 'rtt_us > 3' 2>&1 >"$tmp/none")" \
	"netobsd: rtt_us is known of open connections only: it is 0 or empty in records"
complains "an invalid process id" "PID is a number, not nonsense" conns -p nonsense
complains "a process that is not netobsd" "process $$ answers no requests" conns -p $$
complains "a process that does not exist" "no process has the id 4194305" conns -p 4194305
complains "a capture without conns" "for a capture: netobs conns $home" "$home"
complains "a misspelt field to sort by" "netobs: --sort server_byts: connections have no field server_byts (did you mean server_bytes?)" conns "$home" --sort server_byts
complains "a misspelt field to show" "netobs: -o clint,server: connections have no field clint (did you mean client?)" conns "$home" -o clint,server
complains "a misspelt field of an expression" "column 1: no field is called sever_port (did you mean server_port?)" \
	conns "$home" 'sever_port == 80'
complains "a title of a column" "netobs: --sort RECVD: connections have no field RECVD (did you mean server_bytes?)" \
	conns "$home" --sort RECVD
complains "which is shown" "netobs: sever_port == 80: column 1" conns "$home" sever_port == 80
complains "no number" "netobs: --limit many: expected a whole number" conns "$home" --limit many
complains "a filter is not an option" 'bad filter "--summary"' conns "$home" -f --summary
complains "nor in front of a printer" 'bad filter "--summary"' tcpsnoop "$home" --print -f --summary
complains "--sort without a field" "--sort needs a value" conns "$home" --sort
complains "a script has no --sort" "--sort, --limit and --json are options of netobs conns" tcpsnoop "$home" --sort start
complains "a script has no -o FIELD" "-o takes an option of netobsd with its dashes" tcpsnoop "$home" -o start
complains "conns has no tracer" "conns needs no tracer" conns "$home" -t bpftrace
complains "a filter without a capture" "-f is for a capture" conns -f "port 80"
is "--help conns" "$("$netobs" --help conns | sed q)" \
	"conns [EXPRESSION] - which connections are there, and how did they end?"
for field in $("$netobs" --help conns | tr '\n' ' ' | sed 's/.*fields of the columns are \(.*\)[.] netobsd --list.*/\1/' |
	sed -e 's/([A-Z]*)//g' -e 's/ and / /g' | tr -d ,); do
	check "--help conns: $field is a field" "$netobs" conns "$home" --limit 1 --sort "$field" -o "$field"
done
is "--help conns fits a terminal" "$("$netobs" --help conns | awk 'length > 80')" ""

tap_done
