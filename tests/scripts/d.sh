#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every D script, by the strict reader of tests/scripts/d_check.py; tests/scripts/d_dtrace.sh has DTrace's own compiler.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
"$netobsd" --list-probes --format json >"$tmp/manifest"

# reads FILE...: whether the reader accepts them all; what it refuses is in $tmp/refused
reads() {
	python3 "$top/tests/scripts/d_check.py" "$top/probes/netobs.h" "$@" <"$tmp/manifest" >"$tmp/refused"
}

# accepts FILE: whether the reader accepts it.  Each start of it costs: one script alone is read only if not all are good.
reads "$top"/scripts/d/*.d
all=$?
accepts() {
	[ "$all" -eq 0 ] || { reads "$1" || ! cat "$tmp/refused"; }
}

for script in "$top"/scripts/d/*.d; do
	check "$(basename "$script"): every probe, argument and name in it exists" accepts "$script"
done

# The reader rejects what is wrong.
# refuses WHAT SCRIPT: the reader rejects SCRIPT, and not because its aggregations are not printed
mkdir "$tmp/bad"
refusals=0
refuses() {
	refusals=$((refusals + 1))
	printf '%s\n' "$2" >"$tmp/bad/$refusals.d"
	printf '%s\n' "$1" >>"$tmp/bad/list"
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

echo 'netobs*:::tcp-receive { @a = count(); }' >"$tmp/bad/unprinted.d"
reads "$tmp"/bad/*.d
is "the reader refuses an aggregation that is not printed" \
	"$(grep -c "^$tmp/bad/unprinted.d:[0-9]*: @a is not printed with its name" "$tmp/refused")" 1
refusals=0
while read -r what; do
	refusals=$((refusals + 1))
	grep "^$tmp/bad/$refusals.d:" "$tmp/refused" >"$tmp/message"
	if [ -s "$tmp/message" ] && ! grep -q 'is not printed with its name' "$tmp/message"; then
		ok "the reader refuses $what"
	else
		not_ok "the reader refuses $what" "$tmp/bad/$refusals.d" "$tmp/message"
	fi
done <"$tmp/bad/list"

# DTrace does not see the private provider: its scripts are for bpftrace only.
cd "$top/scripts" || exit 99
bpftrace=$(grep -L ':netobs_engine:' bpftrace/*.bt)
# names FILE...: their names, without directory and extension
names() {
	printf '%s\n' "$@" | sed 's|.*/\(.*\)[.].*|\1|'
}
# The lists are words without blanks.
# shellcheck disable=SC2086
names $bpftrace >"$tmp/bpftrace"
names d/*.d >"$tmp/d"
check "the same questions for bpftrace and for D" diff -u "$tmp/bpftrace" "$tmp/d"

# heads FILE...: the head comments, each line with the name of its script
heads() {
	awk 'FNR == 1 { head = 1; name = FILENAME; sub(".*/", "", name); sub("[.].*", "", name) }
		head { print name ": " $0 }
		/^ \*\// { head = 0 }' "$@"
}
# shellcheck disable=SC2086
heads $bpftrace >"$tmp/bpftrace.heads"
heads d/*.d >"$tmp/d.heads"
check "both have the same head comment" diff -u "$tmp/bpftrace.heads" "$tmp/d.heads"

# netobs waits until the tracer has enabled the probes of the bpftrace script.
# probes PATTERN FILE...: the probes that match, each with the name of its script
probes() {
	grep -Ho "$@" | sed -e 's|^[^/]*/\([^.]*\)[.].*:|\1 |' -e 's/__/-/g' | sort -u
}
# shellcheck disable=SC2086
probes 'usdt:[^:]*:netobs:[a-z_]*' $bpftrace >"$tmp/bpftrace.probes"
probes 'netobs\*:::[a-z-]*' d/*.d >"$tmp/d.probes"
check "both use the same probes" diff -u "$tmp/bpftrace.probes" "$tmp/d.probes"
cut -d ' ' -f 1 "$tmp/d.probes" | uniq >"$tmp/with.probes"
check "and each uses some" diff -u "$tmp/d" "$tmp/with.probes"
tap_done
