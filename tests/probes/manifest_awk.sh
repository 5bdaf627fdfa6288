#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The generator reads the provider and the header, with the same result in every awk, and stops at text that it does not
# understand: a probe that it skipped would be missing without notice.  SystemTap's dtrace reads the provider, too.
#
#	manifest_awk.sh		with mawk, the awk of Debian
#	manifest_awk.sh others	with gawk and busybox
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
if [ "${1-}" = others ]; then
	same_with 'the same with gawk' gawk --posix
	same_with 'the same with busybox' busybox awk
	set -- 'gawk --posix' 'busybox awk'
else
	same_with 'the same with mawk' mawk
	set -- mawk
fi

# Those that are here, one a line.
for awk; do
	! have "${awk%% *}" || echo "$awk"
done >"$tmp/awks"

# run GENERATOR AWK...: a generator over the files in $tmp/changed
run() {
	generator=$1
	shift
	case $generator in
	manifest)
		(cd "$tmp/changed" && "$@" -v output=ids -f "$top/probes/manifest.awk" netobs.d netobs.h)
		;;
	libraries)
		(cd "$tmp/changed" && "$@" -v output=abi -f "$top/probes/tracer_libraries.awk" listing netobs.h)
		;;
	manual)
		(cd "$tmp/changed" && "$@" -f "$top/man/netobs7.awk" listing anomaly.def engine.def netobs.7.in)
		;;
	esac
}

# refuses NAME GENERATOR FILE SED-PROGRAM LINE FOUND EXPECTED: when FILE is changed like that, the generator prints nothing
# and stops with two lines.  Both begin with FILE and the number of the line that LINE matches in the changed file ($: the
# last one; +LINE: the next one); the first contains FOUND, the second, the example, EXPECTED.
refuses() {
	refuses_name=$1 refuses_generator=$2 refuses_file=$3
	rm -rf "$tmp/changed"
	mkdir "$tmp/changed"
	cp "$provider" "$header" "$tmp/listing" "$top/dissect/anomaly.def" "$top/engine/engine.def" "$top/man/netobs.7.in" "$tmp/changed"
	cp "$tmp/changed/$refuses_file" "$tmp/original"
	sed "$4" "$tmp/original" >"$tmp/changed/$refuses_file"
	if cmp -s "$tmp/original" "$tmp/changed/$refuses_file"; then
		not_ok "$refuses_name (the change does not apply)"
		return
	fi
	case $5 in
	$) at=$refuses_file:$(awk 'END { print NR }' "$tmp/changed/$refuses_file") ;;
	+*) at=$refuses_file:$(grep -n -m 1 -A 1 -- "${5#+}" "$tmp/changed/$refuses_file" | sed -n '2s/-.*//p') ;;
	*) at=$refuses_file:$(grep -n -m 1 -- "$5" "$tmp/changed/$refuses_file" | cut -d : -f 1) ;;
	esac
	while read -r awk; do
		# "gawk --posix" is two words.
		# shellcheck disable=SC2086
		run "$refuses_generator" $awk >"$tmp/out" 2>"$tmp/err" </dev/null
		status=$?
		if [ $status -ne 1 ] || [ "$refuses_generator" != manual ] && [ -s "$tmp/out" ] ||
			[ "$(wc -l <"$tmp/err")" -ne 2 ] || [ "$(grep -cF -- "$at: " "$tmp/err")" -ne 2 ] ||
			! sed -n 1p "$tmp/err" | grep -qF -- "$6" ||
			! sed -n 2p "$tmp/err" | grep -qF -- "$at: expected, for example: " ||
			! sed -n 2p "$tmp/err" | grep -qF -- "$7"; then
			echo "$awk, status $status, wanted $at: ...$6... and ...$7..." >>"$tmp/err"
			head -n 5 "$tmp/out" >>"$tmp/err"
			not_ok "$refuses_name" "$tmp/err"
			return
		fi
	done <"$tmp/awks"
	ok "$refuses_name"
}

generate listing "$provider" "$header" awk >"$tmp/listing"
declaration='probe tcp__probe(netobs_pktinfo_t *pkt, void *none1) : (nobs_pktinfo_t *pkt, void *none1);'

refuses 'an unknown declaration' manifest netobs.d 's/^	probe gld__send/	prove gld__send/' \
	'prove gld__send' 'prove gld__send(' "$declaration"
refuses 'a line outside the provider' manifest netobs.d 's/^provider netobs {/provider ipx {/' \
	'^provider' 'provider ipx' 'provider netobs {'
refuses 'a hyphen in a name' manifest netobs.d 's/gld__send/gld-send/' 'probe gld-send' 'probe gld-send(' "$declaration"
refuses 'a probe of packets that does not exist' manifest netobs.d 's/^ \* gld-send gld-receive/ * gld-sent gld-receive/' '^provider netobs' \
	'not declared: gld__sent' 'Probes of packets'
refuses 'no list of the probes of packets' manifest netobs.d 's/^ \* Probes of packets/ * Packets/' '^provider netobs' \
	'does not name the probes of packets' 'Probes of packets'
refuses 'a name of one word' manifest netobs.d 's/probe gld__send/probe gld/' 'probe gld(' 'name of a probe: gld' \
	'tcp__connect__established'
refuses 'the same probe twice' manifest netobs.d 's/probe gld__receive/probe gld__again/; s/probe arp__send/probe gld__again/' \
	'gld__again(netobs_pktinfo_t \*pkt, void \*none1, void' 'probe gld__again was declared at line' 'probe gld__again__again'
refuses 'an argument of another type' manifest netobs.d 's/gld__send(netobs_pktinfo_t/gld__send(unsigned/' 'probe gld__send' \
	'args[0] of gld__send is not an argument: unsigned *pkt' 'netobs_ipinfo_t *ip, or void *none1'
refuses 'more than six arguments' manifest netobs.d 's/gld__send(/gld__send(void *a, void *b, void *c, /' 'probe gld__send' \
	'8 arguments, not one to six' "$declaration"
refuses 'a different number of stable arguments' manifest netobs.d 's/gld__send(/gld__send(void *a, /' 'probe gld__send' \
	'6 arguments before the colon and 5 after it' "$declaration"
refuses 'a struct that is not in the header' manifest netobs.d 's/arpinfo_t/warpinfo_t/' 'probe arp__send' \
	'netobs.h has no struct warpinfo' 'struct warpinfo { in netobs.h'
refuses 'a stable type that is not the raw one' manifest netobs.d 's/nobs_arpinfo_t \*arp/nobs_ipinfo_t *arp/' \
	'probe arp__send' 'args[4] of arp__send is nobs_ipinfo_t *arp' 'expected, for example: nobs_arpinfo_t *arp'
refuses 'a comment that names another type' manifest netobs.d 's/args\[4\] arpinfo_t/args[4] ipinfo_t/' 'args.4. ipinfo_t' \
	'args[4] ipinfo_t *: the ARP packet' ' * args[4] arpinfo_t *: what arp is'
refuses 'an argument without its comment' manifest netobs.d 's/^	 \* args\[4\] arpinfo_t.*/	 * /' '+^	 \* $' \
	'arp__send has 5 arguments, its comment 4' ' * args[4] arpinfo_t *: what arp is'
refuses 'a comment that leaves one out' manifest netobs.d '1,/args\[3\]/{ /args\[3\]/d; }' 'args.4. etherinfo_t' \
	'the comment of gld__send has no args[3] before: args[4]' ' * args[3] illinfo_t *: what ill is'
refuses 'an argument without text' manifest netobs.d 's/\(args\[4\] arpinfo_t \*\):.*/\1/' 'args.4. arpinfo_t' \
	'args[4] arpinfo_t *' ' * args[4] arpinfo_t *: what arp is'
refuses 'a comment with too many arguments' manifest netobs.d '/\* args\[4\] arpinfo_t /a\
	 * args[5] NULL: surplus' 'surplus' 'arp__send has 5 arguments, its comment has more: args[5] NULL: surplus' \
	' * args[4] arpinfo_t *: what arp is, as the last one'
refuses 'an argument on two lines' manifest netobs.d 's/^\(	 \* args\[3\] illinfo_t \*: the\) interface/\1\
	 * interface/' '^	 \* interface' 'not a line of an argument: interface' \
	' * args[3] illinfo_t *: what ill is, all on one line'
refuses 'a probe without a comment' manifest netobs.d 's|^};|	probe a__b(void *c) : (void *c);\
};|' 'probe a__b' 'probe a__b has no comment above it' 'args[0] pktinfo_t *: the packet'
refuses 'a provider that does not end' manifest netobs.d '/^};/d' $ 'the file ends inside the provider that begins at line' '};'
refuses 'a provider without probes' manifest netobs.d '/^provider/,/^};/d' '^/' 'no probe in the whole file' "$declaration"

refuses 'a type of no fixed width' manifest netobs.h 's/netobs_u32 pkt_len;/unsigned pkt_len;/' 'unsigned pkt_len' \
	'not a type of a field: unsigned' 'netobs_u32; or netobs_u8'
refuses 'a bit-field' manifest netobs.h 's/netobs_u8 eth_dei;/netobs_u8 eth_dei:1;/' 'eth_dei:1' \
	'not a field: netobs_u8 eth_dei:1;' 'netobs_u32 pkt_len;    /* bytes'
refuses 'a field without a comment' manifest netobs.h 's|\(netobs_u32 pkt_len;\).*|\1|' 'netobs_u32 pkt_len;' \
	'netobs_u32 pkt_len;' 'netobs_u32 pkt_len;    /* bytes'
refuses 'a field with an empty comment' manifest netobs.h 's|\(netobs_u32 pkt_len;\).*|\1 /* */|' 'netobs_u32 pkt_len;' \
	'pkt_len has an empty comment' 'netobs_u32 pkt_len;    /* bytes'
refuses 'padding by its name only' manifest netobs.h 's|\(cs_pad\[4\];\).*|\1 /* mystery */|' 'mystery' \
	'cs_pad is padding by its name but not by its comment: mystery' 'netobs_u8 cs_pad[4];  /* padding */'
refuses 'padding by its comment only' manifest netobs.h 's|\(netobs_u32 pkt_len;\).*|\1 /* padding */|' 'netobs_u32 pkt_len;' \
	'pkt_len is padding by its comment but not by its name' 'netobs_u8 cs_pad[4];  /* padding */'
refuses 'a struct without fields' manifest netobs.h 's|^struct pktinfo {|&\
};|' '+^struct pktinfo {' 'struct pktinfo ends without a field' \
	'netobs_u32 pkt_len;    /* bytes'
refuses 'a struct without a comment' manifest netobs.h '/^\/\* The packet: /d' '^struct pktinfo {' \
	'struct pktinfo has no comment above it' '/* The packet: its id'
refuses 'an enum without its field' manifest netobs.h '/^\/\* tcps_state: /d' '^enum netobs_tcp_state {' \
	'enum netobs_tcp_state has no comment above it that begins with a field' "tcps_state: the numbers are Linux's."
refuses 'an enumerator without its number in the manifest' manifest netobs.h \
	's/^	NETOBS_TCP_CLOSED = 7/	NETOBS_TCP_CLOSED/' '^	NETOBS_TCP_CLOSED' 'NETOBS_TCP_CLOSED,' 'NETOBS_TCP_CLOSED = 7,'
refuses 'an enum without enumerators' manifest netobs.h 's|^enum netobs_tcp_flag {|&\
};|' '+^enum netobs_tcp_flag {' 'enum netobs_tcp_flag ends without an enumerator' 'NETOBS_TCP_CLOSED = 7,'
refuses 'a function in the header' manifest netobs.h 's/^typedef struct pktinfo pktinfo_t;/int f(void);/' 'int f(void)' \
	'int f(void);' 'struct pktinfo {'
# The dollar sign is sed's.
# shellcheck disable=SC2016
refuses 'a header that ends in a comment' manifest netobs.h '$s|$| /* more|; $a\
/* more' $ 'the file ends inside a comment' '*/'

refuses 'an unknown line of the listing' libraries listing 's/^probe	gld-send/prove	gld-send/' '^prove' 'prove gld-send' \
	'probe<TAB>tcp-send'
refuses 'an unknown type in the listing' libraries listing 's/^field	pkt_len	uint32_t/field	pkt_len	unsigned/' '	unsigned	' \
	'not a type of a field: unsigned' 'uint32_t, char[16]'
refuses 'an enumerator without its number' libraries netobs.h 's/^	NETOBS_TCP_CLOSED = 7/	NETOBS_TCP_CLOSED/' \
	'^	NETOBS_TCP_CLOSED' 'NETOBS_TCP_CLOSED,' 'NETOBS_TCP_CLOSED = 7,'

awk -f "$top/man/netobs7.awk" "$tmp/listing" "$top/dissect/anomaly.def" "$top/engine/engine.def" "$top/man/netobs.7.in" >"$tmp/out" 2>"$tmp/err"
is "the manual begins a sentence with a field as it is" "$(grep -c '^tls_version in words' "$tmp/out")" 1

refuses 'an unknown line for the manual' manual listing 's/^probe	gld-send/prove	gld-send/' '^prove' 'prove gld-send' \
	'probe<TAB>tcp-send'
refuses 'an anomaly without severity' manual anomaly.def 's/^ANOMALY(ARP_SHORT, "arp-short", SEVERITY_MALFORMED,/ANOMALY(ARP_SHORT, "arp-short",/' \
	'^ANOMALY(ARP_SHORT' 'ANOMALY(ARP_SHORT, "arp-short", "' 'ANOMALY(ARP_SHORT, "arp-short", SEVERITY_MALFORMED'
refuses 'an indented anomaly' manual anomaly.def 's/^ANOMALY(ARP_SHORT/	&/' '^	ANOMALY' 'ANOMALY(ARP_SHORT' 'ANOMALY(ARP_SHORT'
refuses 'a table of another name' manual netobs.7.in 's/^@PROBES@/@SONDES@/' '@SONDES@' '@SONDES@' '@PROBES@, @ARGUMENTS@'

# SystemTap's program exits 0 on what it cannot parse, so its output is counted.
if have dtrace && dtrace --help 2>&1 | grep -q 'systemtap header'; then
	(cd "$tmp" && dtrace -h -s "$provider" -o stap.h) >"$tmp/err" 2>&1
	is "SystemTap's dtrace finds every probe" "$(grep -c '^#define NETOBS_[A-Z_]*(arg1' "$tmp/stap.h")" "$declared"
else
	skip "SystemTap's dtrace finds every probe" 'no such program'
fi
tap_done
