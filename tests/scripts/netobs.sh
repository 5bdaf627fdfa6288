#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(1) on the command line of a user, without a tracer: options, files and arguments in any order, help, mistakes,
# --print, versions; with stand-ins for bpftrace and DTrace.  tests/scripts/netobs_traced.sh has bpftrace itself.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap
questions=$captures/questions.pcap

# fails NAME STATUS WANTED OPTION...: netobs fails with this status and one line that matches WANTED
fails() {
	fails_name=$1
	fails_status=$2
	fails_wanted=$3
	shift 3
	"$netobs" "$@" >"$tmp/out" 2>&1 </dev/null
	fails_got=$?
	if [ "$fails_got" -eq "$fails_status" ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -q -e "$fails_wanted" "$tmp/out"; then
		ok "$fails_name"
	else
		echo "status $fails_got" >>"$tmp/out"
		not_ok "$fails_name" "$tmp/out"
	fi
}

# ------------------------------------------------------------------------------------------------------- help, versions

"$netobs" --help timeline >"$tmp/out"
check "--help of a script with a required argument" grep -q "^PORT is required" "$tmp/out"
"$netobs" webconn --help >"$tmp/out"
check "--help after the name" grep -q "^PORT is optional" "$tmp/out"

"$netobs" --help >"$tmp/out"
is "--help: no line is wider than 80 columns" "$(awk 'length($0) > 80' "$tmp/out")" ""
sed -n '/^The options are/,/^\.El/s/^\.It Fl \([^ ]*\).*/-\1/p' "$top/man/netobs.1" >"$tmp/options"
check "netobs(1) has options" test "$(wc -l <"$tmp/options")" -gt 8
is "--help explains every option of netobs(1)" \
	"$(while read -r option; do grep -q -e "^  ${option}[ ,]" "$tmp/out" || echo "$option"; done <"$tmp/options")" ""

"$netobs" --help timeline >"$tmp/out"
check "--help NAME explains a script" grep -q '^timeline PORT - ' "$tmp/out"
check "--help NAME says what the script needs" grep -q '^Needs bpftrace .* root' "$tmp/out"
is "--help of tcptop and udptop says that a capture has no intervals" \
	"$(for name in tcptop udptop; do "$netobs" --help "$name"; done | grep -c 'no intervals, but one total')" 2
check "--help NAME says which probes it uses" grep -q '^Probes: tcp-receive, tcp-retransmit, tcp-send, tcp-state-change;' "$tmp/out"

version=$(sed -n 's/^AC_INIT(\[netobs\], \[\([0-9.]*\)\].*/\1/p' "$top/configure.ac")
is "--version" "$("$netobs" --version | sed 2q)" "netobs $version
netobsd $version ($(readlink -f "$NETOBSD"))"
is "-V of the installed netobs" "$("$build/netobs" -V | sed q)" "netobs $version"

# The installed netobs has the paths of its files: no @...dir@ is left in it.
check "the paths of the installed netobs" test -x "$build/netobs" -a -z "$(grep -n '@[a-zA-Z]*@' "$build/netobs")"

# ------------------------------------------------------------------------------------------------------------- mistakes

fails "no such script" 1 "no script is called nonsense; netobs --list" nonsense -r /dev/null
fails "misspelt script" 1 "no script is called tcpsnop (did you mean tcpsnoop?); netobs --list" tcpsnop -r /dev/null
fails "a command of netobsctl" 1 "no script is called top; a running netobsd is asked by: netobsctl top" top
fails "misspelt script, its help" 1 "no script is called webcon (did you mean webconn?); netobs --list" --help webcon
fails "misspelt option" 1 "unknown option --prnt (did you mean --print?)" webconn --prnt
fails "no such file" 1 "cannot read /nonsense" webconn -r /nonsense
fails "control characters" 1 'cannot read /nonsense\\x1b.31m' webconn -r "$(printf '/nonsense\033[31m')"
fails "no such process" 1 "^netobs: no process has the id 999999999$" webconn -p 999999999
fails "no process at all" 1 "^netobs: no process has the id 0$" webconn -p 0
fails "no such option" 1 "unknown option --nonsense" webconn --nonsense
fails "both a file and a process" 1 "cannot be combined with -r" webconn -r /dev/null -p $$
fails "no such tracer" 1 "unknown tracer ktap; use bpftrace or dtrace" webconn -r /dev/null -t ktap
fails "timeline without its port" 1 "timeline needs a port: netobs timeline PORT" timeline -r "$questions"
fails "timeline without its port, on a running netobsd" 1 "timeline needs a port" timeline
fails "an invalid port" 1 "PORT is a number from 1 to 65535, not 70000" timeline 70000 -r "$questions"
fails "an argument of a script without arguments" 1 "hosts takes no argument, and there is no file nonsense" hosts nonsense
fails "two arguments" 1 "webconn takes one argument" webconn 80 81 -r "$questions"
fails "an argument after --" 1 "PORT is a number" webconn -r "$questions" -- "$home"
fails "a directory" 1 "is a directory" hosts "$captures"
fails "a filter for a running netobsd" 1 "^netobs: -f needs a capture" hosts -f tcp
fails "an invalid process id" 1 "^netobs: PID is a number, not nonsense" hosts -p nonsense
fails "an unknown tracer" 1 "^netobs: unknown tracer gdb" hosts -t gdb "$questions"
fails "a text as a script" 1 "^netobs: .*/LICENSE is not a script with a netobs probe" "$top/LICENSE" "$home"
fails "a directory as a script" 1 "^netobs: / is a directory" / "$home"
fails "an option of netobsd without its dashes" 1 "^netobs: -o takes an option of netobsd with its dashes" hosts "$home" -o view=host
if have setpriv && [ "$(id -u)" -eq 0 ] && chmod 755 "$tmp" && setpriv --reuid=65534 --clear-groups test -r "$netobs"; then
	: >"$tmp/unreadable"
	chmod 0 "$tmp/unreadable"
	is "a file that may not be read" "$(setpriv --reuid=65534 --clear-groups "$netobs" hosts "$tmp/unreadable" 2>&1)" \
		"netobs: cannot read $tmp/unreadable"
else
	skip "a file that may not be read" "not root, or no setpriv"
fi
for question in tcpretrans=retransmits tcpdrop=drops tcptracer=tcpstate tcpsubnet=tcpbytes; do
	fails "a program of bcc: ${question%=*}" 1 "did you mean ${question#*=}?" "${question%=*}"
	check "its script: ${question#*=}" "$netobs" --help "${question#*=}"
done
private=$NETOBSD
for NETOBSD in /nonsense "$top" "$top/README.md"; do
	fails "NETOBSD is not a program" 1 "^netobs: NETOBSD is $NETOBSD, which is not a program" hosts "$home"
	fails "NETOBSD is not a program: --version" 1 "^netobs: NETOBSD is $NETOBSD, which is not a program" --version
done
NETOBSD=$private
if [ -c /dev/full ]; then
	for what in "--help hosts" --help --list --version; do
		# shellcheck disable=SC2086
		"$netobs" $what >/dev/full 2>"$tmp/err"
		is "an output of $what that cannot be written: status" $? 1
		is "an output of $what that cannot be written: one line" "$(cat "$tmp/err")" "netobs: cannot write the output"
	done
fi
is "--print with a D script of the user" "$("$netobs" "$top/scripts/d/hosts.d" "$questions" --print 2>&1 | awk '{ print $2 }' | sort -u)" \
	"ip-receive
ip-send"
mkdir "$tmp/planted"
mkfifo "$tmp/planted/8080" "$tmp/planted/word"
ln -s "$home" "$tmp/planted/good.pcap"
printf 'usdt:x:netobs:tcp__send { }\n' >"$tmp/planted/mine.bt"
# Files of these names would be opened, and never have a writer.
for words in "webconn good.pcap 8080" "./mine.bt word good.pcap"; do
	# shellcheck disable=SC2016,SC2086 # $1 and $@ are of the inner shell
	check "a file whose name is an argument: $words" sh -c 'cd "$1" && shift && timeout 60 "$@"' sh "$tmp/planted" "$netobs" $words --print
done
fails "no such file, after an argument" 1 "cannot read /nonsense" webconn 80 -r /nonsense

is "--print after a file" "$("$netobs" refused "$captures/one-tcp-rst.pcap" --print 2>&1 | awk '{ print $2 }' | paste -s -d ' ' -)" \
	"tcp-accept-refused tcp-connect-refused connection-end"

fails "--print of a script that reads the private provider" 1 "^netobs: --print does not print netobs_engine, " lag --print "$home"
"$netobs" --help lag >"$tmp/out"
check "--help of a script that reads the private provider" grep -q '^Needs bpftrace 0.17, root, and a capture (FILE), ' "$tmp/out"

# A bpftrace that is never run.
mkdir "$tmp/never"
ln -s /bin/false "$tmp/never/bpftrace"
path=$PATH
PATH=$tmp/never:$PATH
if [ "$(id -u)" -eq 0 ]; then
	fails "no such interface" 1 "^netobsd: no such interface: nonsense" hosts -i nonsense
	fails "not a capture" 1 "^netobsd: .*README.md is not a readable capture" hosts "$top/README.md"
	fails "a bad filter" 1 "^netobsd: bad filter" hosts "$home" -f 'tcp nonsense'
	fails "a bad option" 1 "^netobsd: .*nonsense" hosts "$home" -o --nonsense
	cp /bin/true "$tmp/true"
	NETOBSD=$tmp/true fails "a program without probes" 1 "contains no probes" webconn -r /dev/null -t bpftrace
	if have setpriv && chmod 755 "$tmp" && setpriv --reuid=65534 --clear-groups test -r "$netobs" -a -x "$NETOBSD"; then
		if setpriv --reuid=65534 --clear-groups "$netobs" webconn -r /dev/null -t bpftrace >"$tmp/out" 2>&1 ||
			! grep -q 'bpftrace needs root, try sudo; to print the firings without a tracer: netobs webconn -r FILE --print' "$tmp/out"; then
			not_ok "no permission" "$tmp/out"
		else
			ok "no permission"
		fi
		setpriv --reuid=65534 --clear-groups "$netobs" webconn -p 999999999 >"$tmp/out" 2>&1
		is "no permission, but no such process either" "$(cat "$tmp/out")" "netobs: no process has the id 999999999"
		setpriv --reuid=65534 --clear-groups "$netobs" webconn -p $$ >"$tmp/out" 2>&1
		is "no permission to trace a process" "$(cat "$tmp/out")" "netobs: you may not trace process $$, try sudo"
	else
		skip "no permission" "user 65534 cannot read this tree"
	fi
else
	skip "a program without probes" "needs root"
	fails "no permission" 1 "needs root, try sudo; to print the firings without a tracer" webconn -r /dev/null -t bpftrace
fi
PATH=$path

"$netobs" refused -r "$top/tests/captures/one-tcp-rst.pcap" --print >"$tmp/out" 2>"$tmp/err"
is "--print shows the same firings without a tracer" "$(awk '{ print $2 }' "$tmp/out" | paste -s -d ' ' -)" \
	"tcp-accept-refused tcp-connect-refused connection-end"

# ------------------------------------------------------------------------------------------------------------ stand-ins

if [ "$(id -u)" -ne 0 ]; then
	skip "a signal before the tracer is attached, -t dtrace" "needs root"
	tap_done
fi

# A tracer that is not attached when a signal ends netobsd, and fails as bpftrace does.
mkdir "$tmp/fake"
cat >"$tmp/fake/bpftrace" <<-SH
	#!/bin/sh
	while [ "\$1" != -p ]; do shift; done
	: >"$tmp/attaching"
	while grep -q '^State:[[:space:]]*[^ZX]' "/proc/\$2/status"; do sleep 0.05; done 2>/dev/null # no event: a child of others
	echo "cannot attach uprobe, probe entry may not exist" >&2
	echo "terminate called after throwing an instance of 'bpftrace::MountNSException'" >&2
	kill -ABRT \$\$
SH
chmod +x "$tmp/fake/bpftrace"
for target in '' -; do
	rm -f "$tmp/attaching"
	PATH=$tmp/fake:$PATH setsid "$netobs" hosts "$home" >"$tmp/out" 2>"$tmp/err" </dev/null &
	interrupted=$!
	check "a tracer is about to attach" wait_for test -e "$tmp/attaching"
	kill -s TERM -- "$target$interrupted"
	wait "$interrupted"
	is "a signal to ${target:+all processes of }netobs before the tracer is attached: status" $? 130
	is "a signal to ${target:+all processes of }netobs before the tracer is attached: one line" "$(cat "$tmp/err")" \
		"netobs: interrupted before the tracer was attached"
done
# Nobody reads the messages: the status is the same.
rm "$tmp/attaching"
PATH=$tmp/fake:$PATH setsid "$netobs" hosts "$home" >"$tmp/out" 2>&- </dev/null &
interrupted=$!
check "without a standard error: a tracer is about to attach" wait_for test -e "$tmp/attaching"
kill -s TERM -- "-$interrupted"
wait "$interrupted"
is "without a standard error: a signal to all processes: status and output" "$? $(cat "$tmp/out")" "130 "
# The same errors without a signal are shown.
sed 's/^while .*//' "$tmp/fake/bpftrace" >"$tmp/fake/failing"
mv "$tmp/fake/failing" "$tmp/fake/bpftrace" && chmod +x "$tmp/fake/bpftrace"
PATH=$tmp/fake:$PATH "$netobs" hosts "$home" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a tracer that fails: its errors" "$(cut -d ' ' -f 1,2 "$tmp/err")" "cannot attach
terminate called"

# A tracer that no signal but SIGKILL ends: netobs does not wait for it for ever.  Its sleeps take no time here.
ln -s /bin/true "$tmp/fake/sleep"
mkfifo "$tmp/fifo"
cat >"$tmp/fake/bpftrace" <<-SH
	#!/bin/sh
	trap '' TERM
	: >"$tmp/ignoring"
	read -r _ <"$tmp/fifo"
SH
mkfifo "$tmp/capture"
"$NETOBSD" -r "$tmp/capture" 2>"$tmp/observer.err" &
observer=$!
wait_for begun "$observer"
PATH=$tmp/fake:$PATH "$netobs" hosts -p "$observer" >"$tmp/out" 2>"$tmp/err" </dev/null &
interrupted=$!
check "a tracer ignores signals" wait_for test -e "$tmp/ignoring"
kill -TERM "$interrupted"
wait "$interrupted"
is "a tracer that ignores signals is killed" "$? $(cat "$tmp/err")" \
	"4 netobs: bpftrace does not end: it is killed, and what it has counted is lost"
kill -KILL "$observer"
wait "$observer" 2>/dev/null
rm "$tmp/fake/sleep"

# With DTrace: a stand-in prints its arguments and the program.
mkdir "$tmp/bin"
cat >"$tmp/bin/dtrace" <<-'SH'
	#!/bin/sh
	[ "$1" != -V ] || exec echo "dtrace: Oracle D 2.0"
	printf '%s\n' "$@"
	while [ "$1" != -p ]; do shift; done
	kill "$2"
	while [ "$1" != -s ]; do shift; done
	cat "$2"
SH
chmod +x "$tmp/bin/dtrace"
PATH=$tmp/bin:$PATH "$netobs" timeline -r "$top/tests/captures/questions.pcap" -t dtrace 40002 >"$tmp/out" 2>"$tmp/err"
# The dollar sign is DTrace's.
# shellcheck disable=SC2016
is "-t dtrace: library, process, program with the process's provider, argument" \
	"$(grep -c -e '^-L$' -e '/dtrace$' -e '^-p$' -e '^-s$' -e '^netobs$target:::tcp-retransmit$' -e '^40002$' "$tmp/out"
		grep -c 'netobs\*' "$tmp/out")" "7
0"
# DTrace reports drops, and ends as usual.
cat >"$tmp/bin/dtrace" <<-'SH'
	#!/bin/sh
	[ "$1" != -V ] || exec echo "dtrace: Oracle D 2.0"
	echo "dtrace: ${DROPS:?}" >&2
	echo "@connections[192.168.0.13]: 43"
SH
for DROPS in "1 drop on CPU 0" "12 dynamic variable drops with non-empty dirty list" "3 aggregation drops on CPU 1"; do
	export DROPS
	PATH=$tmp/bin:$PATH "$netobs" webconn -r "$home" -t dtrace >"$tmp/out" 2>"$tmp/err"
	is "-t dtrace: $DROPS: the output is incomplete" \
		"$? $(wc -l <"$tmp/out" | tr -d ' ') $(grep -c -e "^dtrace: $DROPS\$" -e '^netobs: DTrace had too little room, ' "$tmp/err")" "4 1 2"
done
# The program that DTrace gets has the marks by which a name makes no line (names.sh), and a report of lost lines.
cat >"$tmp/bin/dtrace" <<-'SH'
	#!/bin/sh
	[ "$1" != -V ] || exec echo "dtrace: Oracle D 2.0"
	while [ "$1" != -p ]; do shift; done
	process=$2
	while [ "$1" != -s ]; do shift; done
	cp "$2" "${GIVEN:?}"
	echo "Lost 9 events"
	kill "$process"
SH
GIVEN=$tmp/given PATH=$tmp/bin:$PATH "$netobs" iscsilogin -r "$home" -t dtrace >"$tmp/out" 2>"$tmp/err"
is "-t dtrace: lines were lost: the output is incomplete" "$? $(grep -c '^netobs: 9 lines or more were lost' "$tmp/err")" "4 1"
check "-t dtrace: names are between marks" grep -q 'netobs[0-9a-f]\{32\}<' "$tmp/given"
# DTrace refuses the script: netobs fails, and its netobsd ends.
cat >"$tmp/bin/dtrace" <<-'SH'
	#!/bin/sh
	[ "$1" != -V ] || exec echo "dtrace: Oracle D 2.0"
	while [ "$1" != -p ]; do shift; done
	echo "$2"
	exit 1
SH
PATH=$tmp/bin:$PATH "$netobs" webconn -r "$home" -t dtrace >"$tmp/out" 2>"$tmp/err"
status=$?
started=$(cat "$tmp/out")
check "-t dtrace: DTrace fails, so does netobs" test "$status" -ne 0
check "-t dtrace: no netobsd is left" test -n "$started" -a ! -e "/proc/$started"

tap_done
