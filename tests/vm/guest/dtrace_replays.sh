#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Guest: dtrace
# Timeout: 7200
#
# DTrace of Debian unstable on captures: lines that are typed, and texts that may be empty, against the built-in printer, and
# every D script on the capture of its sample against the sample, which bpftrace prints, and the printer.  A point fails as
# well if there is nothing to compare.
# $DTRACE_SCRIPTS: names of the scripts to run, all without it.  tests/vm/dtrace_points.sh replaces
#   $DTRACE_PROCESSES  directory in which dtprobed has an entry for each process with probes
# shellcheck disable=SC2016 # $target is D's
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

note "$(dtrace -V), Linux $(uname -r)"
captures=$top/tests/captures

# registered: whether dtprobed knows the process
registered() {
	[ -n "$(ls "${DTRACE_PROCESSES:-/run/dtrace/probes}/$observer")" ]
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

# observe CAPTURE...: starts netobsd, which waits for the tracer, in the background
observe() {
	: >"$tmp/err"
	for capture; do
		set -- "$@" -r "$captures/$capture"
		shift
	done
	"$netobsd" "$@" --wait-tracer=600 2>>"$tmp/err" &
	observer=$!
	check "dtprobed knows the probes of netobsd" wait_while "$observer" registered
}

# either_ended: whether netobsd or dtrace has ended
either_ended() {
	tap_gone "$observer" || tap_gone "$counter"
}

# count ARGUMENT...: runs dtrace until $observer has ended, and prints its lines
count() {
	dtrace -q "$@" >"$tmp/lines" 2>>"$tmp/err" &
	counter=$!
	wait_up_to 900 either_ended
	kill -TERM "$observer" "$counter" 2>/dev/null
	wait "$observer" "$counter"
	awk 'NF { $1 = $1; print }' "$tmp/lines" | sort
}

# field NAME PROBE CAPTURE...: how often the built-in printer prints each value of a field, "VALUE| COUNT"; PROBE may be
# several with commas between them
field() {
	field_name=$1 field_probes=$2
	shift 2
	for capture; do
		"$netobsd" -r "$captures/$capture" --print="$field_probes" --format json
	done | sed -n "s/.*\"$field_name\":\"\([^\"]*\)\".*/\1|/p" | sort | uniq -c | awk '{ print $2, $1 }' | sort
}

# The example, typed, for every process and for one.
program='tcp-receive { @[args[2]->ip_saddr] = count(); }'
field ip_saddr tcp-receive home-network.pcap | tr -d '|' | sort >"$tmp/wanted"
observe home-network.pcap
count -n "netobs*:::$program" >"$tmp/counted"
same_lines "netobs*:::tcp-receive counts by args[2]->ip_saddr as the printer does" "$tmp/wanted" "$tmp/counted"
observe home-network.pcap
count -p "$observer" -n 'netobs$target:::'"$program" >"$tmp/counted"
same_lines "netobs\$target:::tcp-receive counts the same" "$tmp/wanted" "$tmp/counted"

# The application protocols of storage and the web: every probe with a connection.
"$netobsd" --list-probes --format json | tr '{' '\n' |
	sed -n 's/^"name":"\(iscsi-[a-z-]*\|http-[a-z-]*\|smb-[a-z-]*\)","c_name".*"args":\["conninfo_t \*".*/\1/p' >"$tmp/probes"
field ci_remote "$(paste -s -d , "$tmp/probes")" iscsi.pcap http.pcap smb.pcap | tr -d '|' | sort >"$tmp/wanted"
observe iscsi.pcap http.pcap smb.pcap
count -n "$(sed 's/^/netobs*:::/' "$tmp/probes" | paste -s -d , -) { @[args[0]->ci_remote] = count(); }" >"$tmp/counted"
same_lines "iSCSI, HTTP and SMB by args[0]->ci_remote: as the printer does" "$tmp/wanted" "$tmp/counted"

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
count -n "$program } $end }" >"$tmp/counted"
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

# options_of [ARGUMENT]...: the options of netobsd among the arguments of netobs
options_of() {
	while [ $# -gt 0 ]; do
		if [ "$1" = -o ]; then
			echo "$2"
			shift
		fi
		shift
	done
}

# answers NAME CAPTURE [ARGUMENT]...: what DTrace prints: the sample, and the printer's aggregations.
# The reasons of a failure are on standard output.
answers() {
	answers_name=$1 answers_capture=$captures/$2
	shift 2
	netobs "$answers_name" -r "$answers_capture" -t dtrace "$@" >"$tmp/out" 2>"$tmp/err" </dev/null ||
		echo "netobs -t dtrace fails with status $?"
	grep -v '^netobs: a capture contains no processes' "$tmp/err"
	python3 "$top/tests/scripts/d_same.py" "$top/scripts/examples/$answers_name.txt" <"$tmp/out" || echo "not the sample"
	# shellcheck disable=SC2046 # options
	"$netobsd" -r "$answers_capture" $(options_of "$@") --print --format json |
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

tap_done
