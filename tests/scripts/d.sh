#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every D script: by the strict reader of tests/scripts/d_check.py, and by DTrace's own compiler if it is installed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
have python3 || skip_all "python3 is not installed"
"$netobsd" --list-probes --format json >"$tmp/manifest"

# reads FILE...: whether the reader accepts them
reads() {
	python3 "$top/tests/scripts/d_check.py" "$top/probes/netobs.h" "$@" <"$tmp/manifest"
}

for script in "$top"/scripts/d/*.d; do
	check "$(basename "$script"): every probe, argument and name in it exists" reads "$script"
done

# The reader rejects what is wrong.
# refuses WHAT SCRIPT: the reader rejects SCRIPT, and not because its aggregations are not printed
refuses() {
	printf '%s\n' "$2" >"$tmp/bad.d"
	if reads "$tmp/bad.d" >"$tmp/message" || grep -q 'is not printed with its name' "$tmp/message"; then
		not_ok "the reader refuses $1" "$tmp/bad.d" "$tmp/message"
	else
		ok "the reader refuses $1"
	fi
}
refuses "an unknown probe" 'netobs*:::tcp-recieve { @a = count(); }'
refuses "another system's probe" 'tcp:::receive { @a = count(); }'
refuses "a field of another argument" 'netobs*:::tcp-receive { @a[args[2]->tcp_dport] = count(); }'
refuses "an argument that is reserved" 'netobs*:::tcp-state-change { @a[args[0]->pkt_len] = count(); }'
refuses "an argument that one probe of two lacks" 'netobs*:::tcp-send, netobs*:::arp-send { @a[args[2]->ip_ver] = count(); }'
refuses "an unknown name" 'netobs*:::tcp-receive { start = begin; }'
refuses "a printf that prints text as a number" 'netobs*:::tcp-receive { printf("%d\n", args[2]->ip_saddr); }'
refuses "a printf with too few arguments" 'netobs*:::tcp-receive { printf("%d %d\n", args[4]->tcp_seq); }'
refuses "a command with a text as a number" 'netobs*:::tcp-receive { system("true %d\n", args[2]->ip_saddr); }'
refuses "text and number compared" 'netobs*:::tcp-receive /args[2]->ip_saddr == 1/ { @a = count(); }'
refuses "an aggregation with different keys" 'netobs*:::tcp-receive { @a[1] = count(); } END { @a["x"] = count(); }'
refuses "a local variable that changes its kind" 'netobs*:::tcp-receive { this->a = 1; this->a = args[2]->ip_saddr; }'
refuses "a local variable of the other kind" 'netobs*:::tcp-receive { this->a = args[2]->ip_saddr; printf("%d\n", this->a); }'
refuses "a missing brace" 'netobs*:::tcp-receive { @a = count();'
echo 'netobs*:::tcp-receive { @a = count(); }' >"$tmp/bad.d"
reads "$tmp/bad.d" >"$tmp/message"
is "the reader refuses an aggregation that is not printed" "$(grep -c '@a is not printed with its name' "$tmp/message")" 1
refuses "an aggregation without a name" 'netobs*:::tcp-receive { @a = count(); } END { printa(@a); }'
refuses "an aggregation with another name" 'netobs*:::tcp-receive { @a = count(); } END { printa("@b: %@d\n", @a); }'
refuses "a printa with too few keys" 'netobs*:::tcp-receive { @a[1] = count(); } END { printa("@a: %@d\n", @a); }'
room='#pragma D option dynvarsize=32m'
refuses "an element set to 0" "$room
int a[uint64_t]; BEGIN { a[1] = 0; }"
refuses "a typedef among several keys" "$room
int a[uint64_t, int]; BEGIN { a[1, 1] = 1; }"
refuses "an array without room" 'int a[uint64_t]; BEGIN { a[1] = 1; }'
refuses "an if, which DTrace for Linux does not have" 'netobs*:::tcp-receive { if (arg1) { @a = count(); } }'

# DTrace does not see the private provider: its scripts are for bpftrace only.
grep -L ':netobs_engine:' "$top"/scripts/bpftrace/*.bt | sed -e 's|.*/||' -e 's/\.bt$//' | sort >"$tmp/bpftrace"
find "$top/scripts/d" -name '*.d' -exec basename {} .d \; | sort >"$tmp/d"
check "the same questions for bpftrace and for D" diff -u "$tmp/bpftrace" "$tmp/d"

# one_head NAME: whether both scripts have the same head comment
one_head() {
	for language in bpftrace/$1.bt d/$1.d; do
		sed -n '1,/^ \*\//p' "$top/scripts/$language" >"$tmp/head.$(basename "$language")"
	done
	cmp "$tmp/head.$1.bt" "$tmp/head.$1.d"
}
while read -r name; do
	one_head "$name" || echo "$name"
done <"$tmp/d" >"$tmp/differ"
check "both have the same head comment" test ! -s "$tmp/differ"

# netobs waits until the tracer has enabled the probes of the bpftrace script.
# probes PATTERN FILE: the probes that match
probes() {
	grep -o "$1" "$2" | sed -e 's/.*://' -e 's/__/-/g' | sort -u
}
while read -r name; do
	probes 'usdt:[^:]*:netobs:[a-z_]*' "$top/scripts/bpftrace/$name.bt" >"$tmp/bpftrace.probes"
	probes 'netobs\*:::[a-z-]*' "$top/scripts/d/$name.d" >"$tmp/d.probes"
	[ -s "$tmp/d.probes" ] && diff -u "$tmp/bpftrace.probes" "$tmp/d.probes" || echo "$name"
done <"$tmp/d" >"$tmp/differ"
check "both use the same probes" test ! -s "$tmp/differ"

# With DTrace itself, against an idle netobsd: args[] have types only if a process has the provider.
why=
if ! have dtrace || ! dtrace -V 2>/dev/null | grep -q ' D [0-9]'; then
	why="there is no DTrace on this machine, the D scripts were not run"
elif [ "$(id -u)" -ne 0 ]; then
	why="DTrace needs root"
elif ! readelf -S "$netobsd" 2>/dev/null | grep -q -e SUNW_dof -e note.usdt; then
	why="this netobsd is built without --with-dtrace"
fi
if [ -n "$why" ]; then
	skip "DTrace compiles every D script" "$why"
	skip "DTrace counts what the built-in printer prints" "$why"
	tap_done
fi
program=$(private_netobsd) || exit 99
mkfifo "$tmp/idle"
"$program" -r "$tmp/idle" &
observer=$!
exec 3>"$tmp/idle"
for script in "$top"/scripts/d/*.d; do
	dtrace -e -L "$build/probes/dtrace" -s "$script" >"$tmp/message" 2>&1 || cat "$tmp/message"
done >"$tmp/refused"
check "DTrace compiles every D script" test ! -s "$tmp/refused"
exec 3>&-
wait "$observer"
home=$top/tests/captures/home-network.pcap
"$program" -r "$home" --wait-tracer=120 &
observer=$!
# shellcheck disable=SC2016
dtrace -q -L "$build/probes/dtrace" -p "$observer" -n 'netobs$target:::tcp-receive { @[args[2]->ip_saddr] = count(); }' |
	awk 'NF == 2' | sort >"$tmp/counted"
wait "$observer"
"$program" -r "$home" --print=tcp-receive | awk '{ sub(/:[0-9]+$/, "", $3); n[$3]++ } END { for (a in n) print a, n[a] }' |
	sort >"$tmp/printed"
sed 's/  */ /g; s/^ //' "$tmp/counted" >"$tmp/compared"
check "DTrace counts what the built-in printer prints" diff -u "$tmp/printed" "$tmp/compared"
tap_done
