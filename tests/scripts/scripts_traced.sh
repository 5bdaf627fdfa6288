#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every script of scripts/bpftrace, run by netobs(1) on a capture: it prints its sample, misses no firing, and its
# aggregations agree with the built-in printer.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
examples=$top/scripts/examples
refused=$(tracing_refused)

grep -v '^#' "$examples/LIST" >"$tmp/list"

# maps: the maps of a script's output, sorted, histograms without bars and empty rows
maps() {
	sed -n -e 's/ *$//' -e '/^\[.* |/{ s/  *\([0-9][0-9]*\) |.*/ \1/; / 0$/!p; }' -e '/^@/p' | sort
}

# ------------------------------------------------------------------------------------------- without any tracer at all

# tests/scripts/engine.sh has those of the private provider: they have no sample, and count no sequence numbers.
engine=$(sed -n '/^engine_script_names/,/[^\]$/s/^[[:space:]]*\([a-z0-9_]*\)[ \]*$/\1/p' "$top/scripts/room.mk")
public() {
	grep -L ':netobs_engine:' "$top"/scripts/bpftrace/*.bt
}
public | sed -e 's|.*/||' -e 's/\.bt$//' | sort >"$tmp/existing"
awk '{ print $1 }' "$tmp/list" | sort >"$tmp/listed"
check "every script has a sample" diff -u "$tmp/existing" "$tmp/listed"

sed -n '/^script_names/,/[^\\]$/s/^[[:space:]]*\([a-z0-9_]*\)[ \\]*$/\1/p' "$top/scripts/room.mk" | sort >"$tmp/installed"
check "every script is installed, with its sample" diff -u "$tmp/existing" "$tmp/installed"

"$netobs" --list | awk 'NF > 2 { print $1 }' | sort >"$tmp/shown"
printf '%s\n' conns report "$engine" | sort - "$tmp/existing" >"$tmp/runnable"
check "netobs --list has a line for every script, for conns and for report" diff -u "$tmp/runnable" "$tmp/shown"

# A count is of no use if it may have missed firings.
public | xargs grep -lE '= (count|sum|avg|hist)\(' >"$tmp/counting"
check "every script that counts prints its missed firings" test -s "$tmp/counting" -a -z "$(xargs grep -L 'missed %lu firings' <"$tmp/counting")"

# complains NAME WANTED OPTION...: netobs fails with one line that matches WANTED
complains() {
	complains_name=$1
	complains_wanted=$2
	shift 2
	if "$netobs" "$@" >"$tmp/out" 2>&1 </dev/null; then
		not_ok "$complains_name" "$tmp/out"
	elif [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -q "$complains_wanted" "$tmp/out"; then
		ok "$complains_name"
	else
		not_ok "$complains_name" "$tmp/out"
	fi
}

complains "no such script" "no script is called nonsense; netobs --list" nonsense -r /dev/null
complains "misspelt script" "no script is called tcpsnop (did you mean tcpsnoop?); netobs --list" tcpsnop -r /dev/null
complains "misspelt script, its help" "no script is called webcon (did you mean webconn?); netobs --list" --help webcon
complains "misspelt option" "unknown option --prnt (did you mean --print?)" webconn --prnt
complains "no such file" "cannot read /nonsense" webconn -r /nonsense
complains "control characters" "cannot read /nonsense?.31m" webconn -r "$(printf '/nonsense\033[31m')"
complains "no such process" "^netobs: no process has the id 999999999$" webconn -p 999999999
complains "no process at all" "^netobs: no process has the id 0$" webconn -p 0
complains "no such option" "unknown option --nonsense" webconn --nonsense
complains "both a file and a process" "cannot be combined with -r" webconn -r /dev/null -p $$
complains "no such tracer" "unknown tracer ktap; use bpftrace or dtrace" webconn -r /dev/null -t ktap
# A bpftrace that is never run.
mkdir "$tmp/never"
ln -s /bin/false "$tmp/never/bpftrace"
path=$PATH
PATH=$tmp/never:$PATH
if [ "$(id -u)" -eq 0 ]; then
	cp /bin/true "$tmp/true"
	NETOBSD=$tmp/true complains "a program without probes" "contains no probes" webconn -r /dev/null -t bpftrace
	if have setpriv && chmod 755 "$tmp" && setpriv --reuid=65534 --clear-groups test -r "$netobs" -a -x "$NETOBSD"; then
		ln -s "$netobs" "$tmp/netobs"
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
	complains "no permission" "needs root, try sudo; to print the firings without a tracer" webconn -r /dev/null -t bpftrace
fi
PATH=$path

"$netobs" refused -r "$top/tests/captures/one-tcp-rst.pcap" --print >"$tmp/out" 2>"$tmp/err"
is "--print shows the same firings without a tracer" "$(awk '{ print $2 }' "$tmp/out" | paste -s -d ' ' -)" \
	"tcp-accept-refused tcp-connect-refused"

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

# With DTrace: a stand-in prints its arguments and the program.
home=$top/tests/captures/home-network.pcap
if [ "$(id -u)" -eq 0 ]; then
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
else
	skip "-t dtrace" "needs root"
fi

# ------------------------------------------------------------------------------------------------------ each of them

if [ -n "$refused" ]; then
	while read -r name _; do
		skip "$name" "$refused"
	done <"$tmp/list"
	tap_done
fi

while read -r name capture arguments; do
	# shellcheck disable=SC2086
	"$netobs" "$name" -r "$top/tests/captures/$capture" $arguments 2>"$tmp/err" </dev/null | sed 's/ *$//' >"$tmp/out"
	sed 1d "$examples/$name.txt" >"$tmp/wanted"
	if ! diff -u "$tmp/wanted" "$tmp/out" >"$tmp/diff"; then
		not_ok "$name prints its sample" "$tmp/diff" "$tmp/err"
	elif grep -v '^netobs: a capture contains no processes' "$tmp/err" | grep -q .; then
		not_ok "$name prints its sample and no warning" "$tmp/err"
	else
		ok "$name prints its sample"
	fi
	case $arguments in
	-o\ *) options=${arguments#-o } ;;
	*) options= ;;
	esac
	# shellcheck disable=SC2086
	"$NETOBSD" -r "$top/tests/captures/$capture" $options --print --format json |
		python3 "$top/tests/scripts/scripts_truth.py" "$name" >"$tmp/truth"
	case $? in
	0)
		maps <"$tmp/out" >"$tmp/maps"
		sort "$tmp/truth" >"$tmp/wanted"
		check "$name agrees with the printer" diff -u "$tmp/wanted" "$tmp/maps"
		;;
	3) ! grep -q '^@' "$tmp/out" || not_ok "$name has maps that nothing is compared with" ;;
	*) not_ok "$name: the values by the printer" "$tmp/truth" ;;
	esac
done <"$tmp/list"

# ----------------------------------------------------------------------------------------------- special cases

ln -s "$home" "$tmp/a name with blanks.pcap"
"$netobs" webconn -r "$tmp/a name with blanks.pcap" 2>"$tmp/err" | grep '^@' >"$tmp/out"
is "a file name with blanks" "$(cat "$tmp/out")" "@connections[192.168.0.13]: 43"
"$netobs" webconn -r "$home" -f 'tcp port 2869' 2869 2>"$tmp/err" | grep '^@' >"$tmp/out"
is "a filter and an argument" "$(cat "$tmp/out")" "@connections[192.168.0.1]: 34"

# The probe fires for the client if only that is local.
"$netobs" tlslatency "$top/tests/captures/tls.pcap" -o --view=host -o --local=192.0.2.2 2>"$tmp/err" | sed 's/ *$//' >"$tmp/out"
sed 1d "$examples/tlslatency.txt" >"$tmp/wanted"
check "tlslatency has the server's address where the client is" diff -u "$tmp/wanted" "$tmp/out"

# A capture without anything that a script reports is no reason for silence.
while read -r name _ argument; do
	# shellcheck disable=SC2086
	"$netobs" "$name" "$top/tests/captures/empty.pcap" $argument >"$tmp/out" 2>"$tmp/err" </dev/null || echo "$name fails"
	grep -q . "$tmp/out" || echo "$name is silent"
done <"$tmp/list" >"$tmp/silent"
check "no script is silent on an empty capture" test ! -s "$tmp/silent"

# A script that gets only every second firing must print that it missed the others.
mkdir -p "$tmp/tree/scripts/bpftrace"
ln -s "$top/probes" "$tmp/tree/probes"
cp "$netobs" "$top"/scripts/*.awk "$tmp/tree/scripts"
sed 's|^\(usdt:.*tcp__accept__established\)|\1 /((struct pktinfo *)arg0)->pkt_seq % 2/|' "$top/scripts/bpftrace/webconn.bt" \
	>"$tmp/tree/scripts/bpftrace/webconn.bt"
"$tmp/tree/scripts/netobs" webconn -r "$home" 2>"$tmp/err" | grep . >"$tmp/out"
accepted=$("$NETOBSD" -r "$home" --print=tcp-accept-established | wc -l)
is "a script that misses firings prints their number" "$(sed -n 's/^missed \(.*\) firings/\1/p' "$tmp/out")" "$(((accepted - 1) / 2))"

# With a running netobsd.
mkfifo "$tmp/fifo"
"$NETOBSD" -r "$tmp/fifo" --wait-tracer=120 2>"$tmp/observer.err" &
observer=$!
wait_for begun "$observer"
"$netobs" webconn -p "$observer" >"$tmp/out" 2>"$tmp/err" &
tracer=$!
cat "$home" >"$tmp/fifo"
wait "$observer"
wait "$tracer"
is "netobs -p: a running netobsd" "$(grep '^[@m]' "$tmp/out")" "missed 0 firings
@connections[192.168.0.13]: 43"

tap_done
