#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The generator understands the provider and the header, the same with every awk, and stops at what it does not
# understand: a probe that it overlooked would be missing in silence.  SystemTap's dtrace reads the provider too.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

provider=$top/probes/netobs.d
header=$top/probes/netobs.h
declared=$(grep -c '^	probe ' "$provider")

# generate OUTPUT PROVIDER HEADER AWK...
generate() {
	generate_output=$1 generate_provider=$2 generate_header=$3
	shift 3
	"$@" -v output="$generate_output" -f "$top/probes/manifest.awk" "$generate_provider" "$generate_header"
}

for output in ids sites.h sites.c manifest; do
	generate $output "$provider" "$header" awk >"$tmp/reference.$output"
done
is 'every probe gets a site' "$(grep -c PROBE_DEFINE "$tmp/reference.sites.c")" "$declared"

# same_with NAME AWK...
same_with() {
	same_name=$1
	shift
	if ! have "$1"; then
		skip "$same_name" "no $1"
		return
	fi
	for output in ids sites.h sites.c manifest; do
		generate $output "$provider" "$header" "$@" | cmp - "$tmp/reference.$output"
	done >"$tmp/cmp" 2>&1
	if [ ! -s "$tmp/cmp" ]; then
		ok "$same_name"
	else
		not_ok "$same_name" "$tmp/cmp"
	fi
}
same_with 'the same with mawk' mawk
same_with 'the same with gawk' gawk --posix
same_with 'the same with busybox' busybox awk

# refuses NAME FILE SED-PROGRAM: the generator stops, with file and line, when FILE is changed like that
refuses() {
	cp "$provider" "$tmp/netobs.d"
	cp "$header" "$tmp/netobs.h"
	sed "$3" "$top/probes/$2" >"$tmp/$2"
	if cmp -s "$tmp/$2" "$top/probes/$2"; then
		not_ok "$1 (the change does not apply)"
		return
	fi
	generate ids "$tmp/netobs.d" "$tmp/netobs.h" awk >"$tmp/out" 2>"$tmp/err"
	status=$?
	if [ $status -eq 1 ] && [ ! -s "$tmp/out" ] && grep -q '^.*/netobs\.[dh]:[0-9]*: ' "$tmp/err"; then
		ok "$1"
	else
		echo "status $status" >>"$tmp/err"
		not_ok "$1" "$tmp/err" "$tmp/out"
	fi
}
refuses 'an unknown declaration' netobs.d 's/^	probe gld__send/	prove gld__send/'
refuses 'a hyphen in a name' netobs.d 's/gld__send/gld-send/'
refuses 'the same probe twice' netobs.d 's/probe gld__receive/probe gld__send/'
refuses 'a struct that is not in the header' netobs.d 's/arpinfo_t/warpinfo_t/'
refuses 'a stable type that is not the raw one' netobs.d 's/nobs_tcplsinfo_t \*tcpls/nobs_tcpsinfo_t *tcpls/'
refuses 'a comment that names another type' netobs.d 's/args\[5\] tcplsinfo_t/args[5] tcpsinfo_t/'
refuses 'an argument without its comment' netobs.d '/args\[5\] tcplsinfo_t/d'
refuses 'a provider that does not end' netobs.d '/^};/d'
refuses 'a type of no fixed width' netobs.h 's/netobs_u32 pkt_len;/unsigned pkt_len;/'
refuses 'a bit-field' netobs.h 's/netobs_u8 eth_dei;/netobs_u8 eth_dei:1;/'
refuses 'a field without a comment' netobs.h 's|\(netobs_u32 pkt_len;\).*|\1|'
refuses 'padding that is not said to be' netobs.h 's|\(cs_pad\[4\];\).*|\1 /* mystery */|'
refuses 'a function in the header' netobs.h 's/^typedef struct pktinfo pktinfo_t;/int f(void);/'

# SystemTap's program exits 0 on what it cannot parse, so its output is counted.
if have dtrace && dtrace --help 2>&1 | grep -q 'systemtap header'; then
	(cd "$tmp" && dtrace -h -s "$provider" -o stap.h) >"$tmp/err" 2>&1
	is "SystemTap's dtrace sees every probe" "$(grep -c '^#define NETOBS_[A-Z_]*(arg1' "$tmp/stap.h")" "$declared"
else
	skip "SystemTap's dtrace sees every probe" 'no such program'
fi
tap_done
