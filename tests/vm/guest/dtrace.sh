#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Timeout: 7200
#
# Runs DTrace: the example of netobs(7) and texts that may be empty against the built-in printer, and every D script on the
# capture of its sample against the sample, bpftrace and the printer.  A point fails as well if there is nothing to compare.
# $DTRACE_SCRIPTS: names of the scripts to run, all without it.  tests/vm/dtrace_points.sh replaces the paths:
#   $DTRACE_ARCHIVES   tar archives with DTrace
#   $DTRACE_NETOBSD    netobsd that is built for DTrace
#   $DTRACE_PROCESSES  directory in which dtprobed has an entry for each process with probes
#   $DTRACE_LIBRARY    D library, that of the package
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

for archive in "${DTRACE_ARCHIVES:-/vm/extra}"/*.tar; do
	tar -C / -xf "$archive"
done
ldconfig
if ! have dtrace; then
	skip_all "the archive of DTrace has no dtrace"
fi
systemctl daemon-reload
modprobe cuse
check "dtprobed starts" systemctl start dtprobed
note "$(dtrace -V), $(bpftrace --version), Linux $(uname -r)"

export NETOBSD="${DTRACE_NETOBSD:-/vm/dof/netobsd}"
captures=$top/tests/captures
library=${DTRACE_LIBRARY:-/usr/share/netobs/dtrace}

# registered: whether dtprobed knows the process
registered() {
	[ -e "${DTRACE_PROCESSES:-/run/dtrace/probes}/$observer" ]
}

# same_lines NAME WANTED GOT: a point: WANTED has lines, and GOT has the same
same_lines() {
	if [ -s "$2" ] && diff -u "$2" "$3" >"$tmp/diff"; then
		ok "$1"
	else
		[ -s "$2" ] || echo "nothing to compare" >"$tmp/diff"
		not_ok "$1" "$tmp/diff" "$tmp/err"
	fi
}

# observe CAPTURE: starts netobsd, which waits for the tracer, in the background
observe() {
	: >"$tmp/err"
	"$NETOBSD" -r "$captures/$1" --wait-tracer=600 2>>"$tmp/err" &
	observer=$!
	check "dtprobed reads the probes of netobsd" wait_for registered
}

# count PROGRAM: runs a D program on $observer, and prints its lines
count() {
	dtrace -q -L "$library" -p "$observer" -n "$1" 2>>"$tmp/err" | awk 'NF { $1 = $1; print }' | sort
	kill "$observer" 2>/dev/null
	wait "$observer"
}

# field NAME PROBE CAPTURE: how often the built-in printer prints each value of a field, "VALUE| COUNT"
field() {
	"$NETOBSD" -r "$captures/$3" --print="$2" --format json | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1|/p" | sort | uniq -c |
		awk '{ print $2, $1 }' | sort
}

# The example, typed, with the number of the process as a pattern.
observe home-network.pcap
dtrace -L "$library" -l -P "netobs$observer" 2>>"$tmp/err" | awk 'NR > 1 { print $NF }' | sort >"$tmp/listed"
"$NETOBSD" --list-probes --format json | tr '{' '\n' | sed -n 's/^"name":"\([a-z-]*\)","c_name".*/\1/p' | sort >"$tmp/probes"
same_lines "dtrace -l lists each probe once" "$tmp/probes" "$tmp/listed"
field ip_saddr tcp-receive home-network.pcap | tr -d '|' | sort >"$tmp/wanted"
count 'netobs*:::tcp-receive { @[args[2]->ip_saddr] = count(); }' >"$tmp/counted"
same_lines "netobs*:::tcp-receive counts by args[2]->ip_saddr as the printer does" "$tmp/wanted" "$tmp/counted"

# Texts that may be empty.
observe icmp.pcapng
program='netobs*:::icmp-receive {'
end='END {'
for name in icmp_codestr icmp_redirect_gateway icmp6_nd_target icmp_error_saddr icmp_error_daddr; do
	field "$name" icmp-receive icmp.pcapng | sed "s/^/$name /"
	program="$program @${name}[args[4]->$name] = count();"
	end="$end printa(\"$name %s| %@d\\n\", @$name);"
done >"$tmp/fields"
sort "$tmp/fields" >"$tmp/wanted"
count "$program } $end }" >"$tmp/counted"
same_lines "texts that may be empty: as often as the printer prints them" "$tmp/wanted" "$tmp/counted"

# A port that no segment has.
netobs timeline -r "$captures/dns-tcp.pcap" -t dtrace 9 >"$tmp/out" 2>"$tmp/err" </dev/null
is "timeline: a port that no segment has" "$(tail -n 1 "$tmp/out")" "no segment has port 9"

# The scripts: all that are installed, or those of $DTRACE_SCRIPTS.
grep -v '^#' "$top/scripts/examples/LIST" >"$tmp/list"
find "$top/scripts/d" -name '*.d' -exec basename {} .d \; | sort >"$tmp/wanted"
# shellcheck disable=SC2086 # names
set -- ${DTRACE_SCRIPTS:-}
[ $# -eq 0 ] || printf '%s\n' "$@" | sort -u >"$tmp/wanted"

# answers NAME CAPTURE [ARGUMENT]...: what DTrace prints: the sample, what bpftrace prints, and the printer's aggregations.
# The reasons of a failure are on standard output.
answers() {
	answers_name=$1 answers_capture=$captures/$2
	shift 2
	netobs "$answers_name" -r "$answers_capture" -t dtrace "$@" >"$tmp/out" 2>"$tmp/err" </dev/null ||
		echo "netobs -t dtrace fails with status $?"
	grep -v '^netobs: a capture contains no processes' "$tmp/err"
	python3 "$top/tests/scripts/d_same.py" "$top/scripts/examples/$answers_name.txt" <"$tmp/out" || echo "not the sample"
	netobs "$answers_name" -r "$answers_capture" -t bpftrace "$@" >"$tmp/bpftrace" 2>"$tmp/err" </dev/null ||
		echo "netobs -t bpftrace fails with status $?"
	python3 "$top/tests/scripts/d_same.py" "$tmp/bpftrace" <"$tmp/out" || echo "not the answer of bpftrace"
	"$NETOBSD" -r "$answers_capture" --print --format json |
		python3 "$top/tests/scripts/scripts_truth.py" "$answers_name" >"$tmp/truth"
	case $? in
	0) python3 "$top/tests/scripts/d_same.py" --maps "$tmp/truth" <"$tmp/out" || echo "not the values of the printer" ;;
	3) ! grep '^@' "$tmp/out" || echo "aggregations that nothing is compared with" ;; # of a script that prints lines
	*) echo "scripts_truth.py fails" ;;
	esac
}

while read -r name capture arguments; do
	grep -qx -e "$name" "$tmp/wanted" || continue
	echo "$name" >>"$tmp/ran"
	# shellcheck disable=SC2086
	answers "$name" "$capture" $arguments >"$tmp/differ"
	if [ -s "$tmp/out" ] && [ ! -s "$tmp/differ" ]; then
		ok "$name on $capture"
	else
		not_ok "$name on $capture" "$tmp/differ"
	fi
done <"$tmp/list"
sort -o "$tmp/ran" "$tmp/ran" 2>"$tmp/err"
same_lines "every script was run once" "$tmp/wanted" "$tmp/ran"
is "no netobsd is left" "$(pidof netobsd)" ""
systemctl stop dtprobed

tap_done
