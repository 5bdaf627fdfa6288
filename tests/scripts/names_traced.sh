#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every script of scripts/bpftrace on captures whose names try to forge output and to control a terminal: it prints
# printable ASCII only, and as many lines as for the same captures with harmless names; likewise names of processes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
have python3 || skip_all "python3 is not installed"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs

# safe FILE...: whether there are no other bytes in them than printable ASCII and line breaks
safe() {
	! LC_ALL=C grep -n '[^ -~]' "$@"
}

mkdir "$tmp/evil" "$tmp/harmless"
for name in dns http iscsi smb tls; do
	cp "$top/tests/captures/$name.pcap" "$tmp/harmless"
	python3 "$top/tests/scripts/evil_names.py" "$top/tests/captures/$name.pcap" "$tmp/evil/$name.pcap" >"$tmp/count"
	check "$name.pcap: names are replaced" test "$(cat "$tmp/count")" -gt 4
done
# run KIND SCRIPT: a script on the captures in the directory KIND, in the background.  Three at a time: bpftrace waits a tenth
# of a second for each site from which it detaches.  `wait` must follow the last.
running=0
run() {
	run_result=$tmp/$1/$(basename "$2" .bt)
	run_argument=''
	! grep -q '^ \* [a-z]* PORT - ' "$2" || run_argument=443
	{
		"$netobs" "$(basename "$2" .bt)" "$tmp/$1"/*.pcap* -o --app-timeout=0.1 ${run_argument:+"$run_argument"} \
			>"$run_result.out" 2>"$run_result.err" </dev/null || echo "status $?" >>"$run_result.err"
	} &
	running=$((running + 1))
	[ $((running % 3)) -ne 0 ] || wait
}

for script in "$top"/scripts/bpftrace/*.bt; do
	run evil "$script"
	run harmless "$script"
done
wait

for script in "$top"/scripts/bpftrace/*.bt; do
	name=$(basename "$script" .bt)
	# lag prints as much as the machine is slow.
	if ! safe "$tmp/evil/$name.out" "$tmp/evil/$name.err" >"$tmp/unsafe"; then
		not_ok "$name prints printable ASCII only" "$tmp/unsafe"
	elif grep -v '^netobs: a capture contains no processes' "$tmp/evil/$name.err" >"$tmp/unsafe"; then
		not_ok "$name succeeds" "$tmp/unsafe"
	elif ! grep -q ':netobs_engine:' "$script" &&
		[ "$(wc -l <"$tmp/evil/$name.out")" -ne "$(wc -l <"$tmp/harmless/$name.out")" ]; then
		not_ok "$name prints as many lines as for harmless names" "$tmp/evil/$name.out" "$tmp/harmless/$name.out"
	else
		ok "$name prints one line for each, in printable ASCII"
	fi
done
for name in httpfailed httplatency iscsilogin iscsilun iscsiwho smbfiles tlssni; do
	check "$name: there are names to escape" grep -q '\\x1b\|\\x0a' "$tmp/evil/$name.out"
done

# A process may have any name.
if have ip && unshare --net true 2>/dev/null; then
	ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$tmp/$(printf 'a\n7 \033[2J\233\\%%s')"
	timeout 240 unshare --net "$tmp"/a*s "$top/tests/scripts/netobs_live.py" process "$tmp" "$netobs" tcpconnect -i lo >"$tmp/pid"
	check "tcpconnect prints a process in one line" grep -q " $(cat "$tmp/pid") "'a\\x0a7 \\x1b\[2J\\x9b\\\\%s  *127.0.0.1 ' "$tmp/out"
	check "tcpconnect prints printable ASCII only" safe "$tmp/out" "$tmp/err"
else
	skip "the name of a process" "no network namespaces here, or no ip"
fi

tap_done
