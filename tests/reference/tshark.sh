#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Compares netobs with tshark; a Python program for each comparison defines what counts as the same, and has a list of
# explained differences beside it.
#
#	tshark.sh [PART...]
#		fields		the header fields of every packet of tests/captures (the default)
#		messages	messages of DNS, SMB and TLS in some captures of tests/captures
#		few		retransmissions and connection records of a few captures of tests/captures and tests/truth
#		whole		retransmissions and connection records of all of them
#		shared		all of this for the further captures of $NETOBS_SHARED
#	tshark.sh update
#		accepts the counts of fields, few and whole: accuracy.expected, and the tables of README.md and of README.md
#		here.  Each new difference needs a row with its reason first (`--write` of the Python programs prints the lists).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 tshark || skip_all "python3 or tshark is not installed"
here=$top/tests/reference
captures=$top/tests/captures

fields() {
	python3 "$here/tshark_fields.py" "$build/tests/reference/dump_fields" "$captures" "$@"
}

retransmissions() {
	python3 "$here/tshark_retransmissions.py" "$netobsd" "$captures" "$top/tests/truth" "$@"
}

records() {
	python3 "$here/tshark_records.py" "$netobsd" "$captures" "$top/tests/truth" "$@"
}

# compare NAME COMMAND...
compare() {
	compare_name=$1
	shift
	check "$compare_name: tshark differs only where the difference is explained" "$@"
	grep -E '^(shipped|further|few): ' "$tmp/check" >"$tmp/counts"
	while IFS= read -r line; do
		note "$line"
	done <"$tmp/counts"
}

# messages PROVIDER CAPTURE...
messages() {
	provider=$1
	shift
	set -- "$here/tshark_$provider.tsv" "$@"
	[ "$provider" = http ] || set -- --explained "$@"
	compare "$provider" python3 "$top/tests/apps/$provider/${provider}_messages.py" "$netobsd" "$@"
	note "$(tail -n 1 "$tmp/check")"
}

# providers CAPTURE: the application protocols of which a probe fires or tshark finds messages
providers() {
	{
		"$netobsd" -r "$1" --view monitor --print='dns-*,http-*,smb-*,tls-*' 2>"$tmp/err" | cut -d ' ' -f 2
		tshark -n -r "$1" -T fields -e frame.protocols 2>"$tmp/err" | tr : '\n'
	} | sed -n -e 's/^\(mdns\|llmnr\)$/dns/' -e 's/^\(dns\|http\|smb\|tls\)\(2\|-.*\)*$/\1/p' | sort -u
}

shared() {
	[ -d "$shared/captures" ] || skip_all "there is no $shared/captures"
	compare "fields" fields "$shared/captures"
	compare "retransmissions" retransmissions "$shared"
	compare "records" records "$shared"
	cd "$shared/captures" || exit 99 # the names of captures have no blanks
	find . -type f ! -name '*.md' ! -name '*.tsv' | sort | while read -r file; do
		providers "$file" | sed "s|\$| ${file#./}|"
	done >"$tmp/providers"
	for name in dns http smb tls; do
		# shellcheck disable=SC2046
		messages "$name" $(sed -n "s/^$name //p" "$tmp/providers")
	done
}

update() {
	fields --accept &&
		retransmissions --few --accept && records --few --accept && retransmissions --accept && records --accept &&
		"$here/accuracy.py" --accept || return 1
	[ ! -d "$shared/captures" ] ||
		{ fields "$shared/captures" --accept && retransmissions "$shared" --accept && records "$shared" --accept; }
}

[ $# -gt 0 ] || set -- fields
for part; do
	case $part in
	fields) compare "fields" fields ;;
	messages)
		cd "$captures" || exit 99
		messages dns dns-tcp.pcap dns.pcap home-network.pcap
		messages http http.pcap ipv6-http.pcap
		compare iscsi python3 "$top/tests/apps/iscsi/iscsi_pdus.py" "$netobsd" iscsi.pcap
		messages smb smb.pcap
		messages tls home-network.pcap tls.pcap
		;;
	few)
		compare "retransmissions" retransmissions --few
		compare "records" records --few
		;;
	whole)
		compare "retransmissions" retransmissions
		compare "records" records
		;;
	shared) shared ;;
	update)
		update 2>"$tmp/err"
		exit
		;;
	*) exit 99 ;;
	esac
done
tap_done
