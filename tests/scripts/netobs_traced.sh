#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(1) with bpftrace on the command line of a user: options, files and arguments in any order; failures of netobsd; maps
# that are too small; the end of its netobsd; on an interface and on a running netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap
questions=$captures/questions.pcap

# answers NAME WANTED OPTION...: netobs succeeds, and its output without the first line is WANTED
answers() {
	answers_name=$1
	answers_wanted=$2
	shift 2
	if "$netobs" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null; then
		is "$answers_name" "$(sed 1d "$tmp/out")" "$answers_wanted"
	else
		not_ok "$answers_name" "$tmp/out" "$tmp/err"
	fi
}

# --------------------------------------------------------------------------------------------------------- in any order

answers "an argument, then a file" "@connections[192.168.0.1]: 34" webconn 2869 -r "$home"
answers "an argument, then a plain file" "@connections[192.168.0.1]: 34" webconn 2869 "$home"
answers "a plain file, then an argument" "@connections[192.168.0.1]: 34" webconn "$home" 2869
answers "an argument with a leading zero" "@connections[192.168.0.1]: 34" webconn 02869 "$home"
answers "a plain file and no argument" "@connections[192.168.0.13]: 43" webconn "$home"
answers "an option in front of the name" "@connections[192.168.0.13]: 43" -r "$home" webconn
answers "a filter after everything" "@connections[192.168.0.1]: 34" webconn 2869 "$home" -f 'tcp port 2869'
answers "an argument after --" "@connections[192.168.0.1]: 34" webconn "$home" -- 2869
ln -s "$home" "$tmp/one name.pcap"
ln -s "$questions" "$tmp/another'name.pcap"
answers "two files with difficult names" "@connections[192.0.2.10]: 2
@connections[192.168.0.13]: 43" webconn "$tmp/one name.pcap" "$tmp/another'name.pcap"
"$netobs" webconn - <"$home" >"$tmp/out" 2>"$tmp/err"
is "standard input" "$(sed 1d "$tmp/out")" "@connections[192.168.0.13]: 43"

ln -s "$home" "$tmp/a name with blanks.pcap"
"$netobs" webconn -r "$tmp/a name with blanks.pcap" 2>"$tmp/err" | grep '^@' >"$tmp/out"
is "a file name with blanks" "$(cat "$tmp/out")" "@connections[192.168.0.13]: 43"
"$netobs" webconn -r "$home" -f 'tcp port 2869' 2869 2>"$tmp/err" | grep '^@' >"$tmp/out"
is "a filter and an argument" "$(cat "$tmp/out")" "@connections[192.168.0.1]: 34"

# ------------------------------------------------------------------------------------------------ a tracer that is slow

# Each attachment takes longer than netobsd waits for another one.  The script has five clauses that read one probe.
cat >"$tmp/slow.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

long
syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall"), a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open)
		nanosleep(&(struct timespec){.tv_nsec = 600000000}, 0); /* no event: a slow machine */
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
END
if have cc && cc -shared -fPIC -o "$tmp/slow.so" "$tmp/slow.c" -ldl 2>"$tmp/cc"; then
	mkdir "$tmp/slow"
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$tmp/slow.so" "$(command -v bpftrace)" >"$tmp/slow/bpftrace"
	chmod +x "$tmp/slow/bpftrace"
	wanted='@nxdomain[missing.example]: 2
@refused[www.example.com]: 1'
	PATH=$tmp/slow:$PATH
	answers "a tracer that attaches slowly" "$wanted" dnsfailed "$captures/dns.pcap"
	# What a process waits for does not show through a wrapper.
	printf '#!/bin/sh\nLD_PRELOAD=%s %s "$@"\n' "$tmp/slow.so" "$(PATH=${PATH#*:} command -v bpftrace)" >"$tmp/slow/bpftrace"
	answers "a tracer that attaches slowly, in a wrapper" "$wanted" dnsfailed "$captures/dns.pcap"
	PATH=${PATH#*:}
else
	skip "a tracer that attaches slowly" "cc is not installed"
fi
printf '%s\n' "#include <netobs.h>" "struct pair { int a; } usdt:/usr/sbin/netobsd:netobs:dns__response { @n = count(); }" \
	>"$tmp/odd.bt"
"$netobs" "$tmp/odd.bt" "$captures/dns.pcap" >"$tmp/out" 2>"$tmp/err" </dev/null
check "a script whose first clause is not found: a message" grep -q 'first clause is not found' "$tmp/err"

# -------------------------------------------------------------------------------------------------- failures of netobsd

"$netobs" hosts "$captures/broken-record.pcap" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a damaged capture: status" $? 2
check "a damaged capture: the message of netobsd" grep -q '^netobsd: .*broken-record.pcap' "$tmp/err"
check "a damaged capture: what is in front of the damage" grep -q '^@from' "$tmp/out"
cat >"$tmp/wrong.bt" <<-'BT'
	usdt:/usr/sbin/netobsd:netobs:tcp__send { @ = nonsense(); }
BT
"$netobs" "$tmp/wrong.bt" "$home" >"$tmp/out" 2>&1 </dev/null
is "a script that does not compile: status" $? 1
check "a script that does not compile: the message of bpftrace" grep -q 'ERROR: .*nonsense' "$tmp/out"

if [ -c /dev/full ]; then
	"$netobs" hosts "$questions" >/dev/full 2>"$tmp/err" </dev/null
	is "an output that cannot be written: status" $? 4
fi

# --------------------------------------------------------------------------------------------------- maps that are full

# total MAP: the sum of its values
total() {
	awk -v map="^@$1\\\\[" '$0 ~ map { keys++; sum += $NF } END { printf "%d %.0f\n", keys, sum }' "$tmp/out"
}

if have python3; then
	python3 "$top/tests/scripts/many_hosts.py" 100000 "$tmp/many.pcap" >"$tmp/sum"
	"$netobs" hosts "$tmp/many.pcap" >"$tmp/out" 2>"$tmp/err"
	is "100,000 hosts: status" $? 0
	is "100,000 hosts: each is there, and the sum is right" "$(total from)" "$(cat "$tmp/sum")"
	# bpftrace prints a line for each update without room: the buffer holds them all.
	BPFTRACE_PERF_RB_PAGES=8192 BPFTRACE_MAP_KEYS_MAX=16384 "$netobs" hosts "$tmp/many.pcap" >"$tmp/out" 2>"$tmp/err"
	is "a map that is full: status" $? 4
	is "a map that is full: what was cut" "$(sed 's/;.*//' "$tmp/err")" \
		"netobs: @from is too small: $(awk 'BEGIN { print 110000 - 16384 - 1639 }') updates found no room, so what is printed is too little"
	check "a map that is full: no other line" test -z "$(grep -v -e '^@' -e '^missed 0 firings$' "$tmp/out")"
else
	skip "100,000 hosts, and a map that is full" "python3 is not installed"
fi

BPFTRACE_MAP_KEYS_MAX=1 "$netobs" sctpstate "$captures/sctp-multihomed.pcap" "$captures/sctp-restart.pcap" >"$tmp/out" 2>&1
is "an association that has ended takes no room: status" $? 0
is "an association that has ended takes no room: changes with a duration" "$(awk '$2 > 0' "$tmp/out" | grep -c ' -> ')" 6

# --------------------------------------------------------------------------------------- the end, and what stays behind

# none_left: whether no netobsd of this test runs
none_left() {
	for none_left_exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$none_left_exe")" != "$NETOBSD" ] || return 1
	done
}

# deliver COMMAND...: runs it with the default action of the signals that nohup and a shell's background job ignore, because
# a script cannot trap a signal that was ignored when it began
deliver() {
	env --default-signal=HUP,INT,QUIT "$@"
}

# A capture that does not end: a signal to every process of netobs loses no output.
mkfifo "$tmp/endless"
cat >"$tmp/end.bt" <<-'BT'
	usdt:/usr/sbin/netobsd:netobs:ip__receive { printf("a packet\n"); @packets = count(); }
	END { printf("the end\n"); }
BT
for signal in TERM HUP; do
	env --default-signal=HUP,INT,QUIT setsid "$netobs" "$tmp/end.bt" - <"$tmp/endless" >"$tmp/out" 2>"$tmp/err" &
	interrupted=$!
	exec 4>"$tmp/endless"
	cat "$home" >&4
	check "the capture is observed" wait_for test -s "$tmp/out"
	kill -s "$signal" -- "-$interrupted"
	wait "$interrupted"
	is "SIG$signal to all processes of netobs -r: status" $? 0
	exec 4>&-
	is "SIG$signal to all processes of netobs -r: the end of the script" "$(grep -c -e '^the end$' -e '^@packets: ' "$tmp/out")" 2
	is "SIG$signal to all processes of netobs -r: no complaint" "$(cat "$tmp/err")" ""
done

# on_lo TRAFFIC ARGUMENT...: netobs on the loopback interface of a network namespace, with traffic (tests/scripts/netobs_live.py)
on_lo() {
	on_lo_traffic=$1
	shift
	deliver timeout 240 unshare --net python3 "$top/tests/scripts/netobs_live.py" "$on_lo_traffic" "$tmp" "$@"
}

# SIGKILL of netobs, or of its process group: nothing of it is left.
# gone: whether no netobsd, no file and no other process of this environment are left
gone() {
	none_left && [ -z "$(ls "$tmp/files")" ] && ! grep -s -q -x -z -F "TMPDIR=$tmp/files" /proc/[0-9]*/environ
}
mkdir "$tmp/files"
for target in '' -; do
	TMPDIR=$tmp/files setsid "$netobs" "$tmp/end.bt" - <"$tmp/endless" >"$tmp/out" 2>"$tmp/err" &
	killed=$!
	exec 4>"$tmp/endless"
	cat "$home" >&4
	check "the capture is observed" wait_for test -s "$tmp/out"
	kill -s KILL -- "$target$killed"
	wait "$killed" 2>/dev/null
	check "SIGKILL of netobs${target:+ and its process group}: nothing is left" wait_for gone
	exec 4>&-
done

if have python3 ip && unshare --net true 2>/dev/null; then
	on_lo datagrams '' sh -c "'$netobs' ipio -i lo | head -n 3 >'$tmp/lines'"
	is "netobs ipio -i lo | head -n 3: three lines" "$(wc -l <"$tmp/lines" | tr -d ' ')" 3
	check "its netobsd has ended" wait_for none_left
	for signal in TERM -TERM -HUP -INT; do
		on_lo datagrams "$signal" "$netobs" hosts -i lo
		is "kill $signal of netobs -i: status" $? 0
		sed 's/^/# /' "$tmp/err"
		check "kill $signal of netobs -i: it prints what it has counted" grep -q '^@from\[127.0.0.1\]: ' "$tmp/out"
		check "kill $signal of netobs -i: its netobsd has ended, too" wait_for none_left
	done

	pid=$(on_lo process "$netobs" tcpconnect -i lo)
	check "tcpconnect: the process of a new connection is known" grep -q " $pid python3  *127.0.0.1  *127.0.0.1  *7777" "$tmp/out"
	is "it has nothing to explain" "$(cat "$tmp/err")" ""

	on_lo resets "$netobs" resets -i lo
	check "resets: ten lines of connections within this host" test "$(wc -l <"$tmp/out")" -gt 10
	is "resets: one line for each, by the end that sends the RST" \
		"$(sed 1d "$tmp/out" | awk '{ print $6, $9 }' | sort -u)" "7777 local"

	on_lo service TERM "$build/netobsctl" "$netobs" tcplife
	is "tcplife on a running netobsd, ended by a signal: status" $? 0
	is "tcplife on a running netobsd with --all-owners explains nothing" "$(cat "$tmp/err")" ""
	for signal in TERM -TERM -HUP -INT; do
		on_lo service "$signal" "$build/netobsctl" "$netobs" timeline 7777
		is "timeline on a running netobsd, kill $signal: status" $? 0
		is "timeline on a running netobsd, kill $signal: every SYN" "$(grep -c ' SYN$' "$tmp/out")" 200
	done
else
	skip "netobs on an interface" "no network namespaces here, or no python3 or ip"
fi

# ------------------------------------------------------------------------------------------- processes that are unknown

"$netobs" tcpconnect "$home" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a capture: why processes are unknown" "$(cat "$tmp/err")" \
	"netobs: a capture contains no processes: they are unknown (-1, <unknown>)"
"$netobs" hosts "$home" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a script without processes has nothing to explain" "$(cat "$tmp/err")" ""

# ---------------------------------------------------------------------------------------------------- a running netobsd

# attached PID: whether bpftrace, a child of netobs, waits for firings
attached() {
	# The line has words.
	# shellcheck disable=SC2013
	for attached_child in $(cat "/proc/$1/task/$1/children"); do
		grep -qx bpftrace "/proc/$attached_child/comm" && grep -q poll "/proc/$attached_child/wchan" && return 0
	done
	return 1
}

# observe COMMAND...: a netobsd, in $observer, that waits for a tracer and then reads the FIFO
mkfifo "$tmp/fifo"
observe() {
	"$@" -r "$tmp/fifo" --wait-tracer=120 2>"$tmp/observer.err" &
	observer=$!
	wait_for begun "$observer"
}

# trace NAME: runs a script on the netobsd, whose capture comes when the tracer is attached; the status of netobs, which ends
# with the netobsd
trace() {
	"$netobs" "$1" -p "$observer" >"$tmp/out" 2>"$tmp/err" &
	tracer=$!
	{
		wait_while "$tracer" attached "$tracer"
		cat "$home"
	} >"$tmp/fifo"
	wait "$observer"
	if wait_up_to 120 tap_gone "$tracer"; then
		wait "$tracer"
	else
		not_ok "netobs $1 ends with the netobsd that it traces" "$tmp/err"
		false
	fi
}

observe "$NETOBSD"
trace webconn
is "netobs -p: status" $? 0
is "netobs -p: a running netobsd" "$(grep '^[@m]' "$tmp/out")" "missed 0 firings
@connections[192.168.0.13]: 43"
observe "$NETOBSD" -u nobody
trace tcpconnect
is "a netobsd without permission: status" $? 0
is "a netobsd without permission: why processes are unknown" "$(cat "$tmp/err")" \
	"netobs: netobsd runs without --all-owners: processes of other users than nobody are unknown (-1, <unknown>)"
# A netobsd whose file was replaced since it was started: netobs ends with it.
cp "$NETOBSD" "$tmp/replaced"
observe "$tmp/replaced"
rm "$tmp/replaced"
cp "$NETOBSD" "$tmp/replaced"
trace webconn
is "a netobsd whose file was replaced: netobs ends with it" $? 0
is "a netobsd whose file was replaced: output" "$(cat "$tmp/out")" "missed 0 firings
@connections[192.168.0.13]: 43"

tap_done
