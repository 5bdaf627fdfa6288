#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(7) documents everything that the program can report: every probe, field, anomaly and state.  The list comes
# from the program, not from the files that the page is generated from.  netobsd(8) has every message of the program.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/folders.sh
. "$top/tests/source/folders.sh"

page=$build/man/netobs.7
built "$netobsd"
check "the manual page is built" test -s "$page"
"$netobsd" --list-probes --format json | python3 "$top/tests/source/manifest_names.py" >"$tmp/names" || exit 99

# documented WHAT SED-PROGRAM: the page has every word of standard input among those that the program prints from it
documented() {
	sort -u >"$tmp/wanted"
	sed -n "$2" "$page" | sort -u | comm -23 "$tmp/wanted" - | sed "s/\$/ is not in ${page##*/}/" >"$tmp/missing"
	if [ -s "$tmp/wanted" ] && [ ! -s "$tmp/missing" ]; then
		note "$(wc -l <"$tmp/wanted") of them:"
		ok "every $1 is documented"
	else
		not_ok "every $1 is documented" "$tmp/missing"
	fi
}

# names KIND: of the manifest
names() {
	sed -n "s/^$1 //p" "$tmp/names"
}

"$netobsd" --list-probes --engine | grep '^[a-z]' >"$tmp/engine"
documented 'probe of netobs_engine' 's/^\.It Ic //p' <"$tmp/engine"
"$netobsd" --list-probes --engine | sed -n 's/^    \(arg[0-5] [a-z]*\):.*/\1/p' | sort -u >"$tmp/engine"
documented 'argument of netobs_engine' 's/^\.It Va //p' <"$tmp/engine"
names probe >"$tmp/probes"
documented probe 's/^\.It Ic //p' <"$tmp/probes"
names struct >"$tmp/structs"
documented struct 's/^\.Ss \([a-z0-9]*\)_t$/\1/p' <"$tmp/structs"
names field | sort -u >"$tmp/fields"
documented field 's/^\.It Va \([^ ]*\) Pq Vt.*/\1/p' <"$tmp/fields"
sed -n 's/^ANOMALY([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$top/dissect/anomaly.def" >"$tmp/words"
documented anomaly 's/^\.It Li \([^ ]*\) Pq.*/\1/p' <"$tmp/words"
grep -o '"state-[a-z0-9-]*"' "$top/flow/tcp/tcp_dispatch.c" | tr -d '"' | sort -u >"$tmp/states"
documented state 's/^\.It Li \([^ ]*\) Ta [0-9].*/\1/p' <"$tmp/states"
printf '%s\n' ok bad partial unverified >"$tmp/checksums"
documented "word for a checksum" 's/^\.It Li //p' <"$tmp/checksums"

# The table of fields of other systems: the last column says which of them netobs has.
awk '/^\.Ss Fields of other systems/ { inside = 1 } /^\.El/ { inside = 0 }
	inside && /^\.It Va/ { print $3, ($NF == "-" || $0 ~ / Ta -: [^-]*$/ ? "-" : "yes") }' "$page" | sort >"$tmp/table"
while read -r field _; do
	if grep -qx "$field" "$tmp/fields"; then echo "$field yes"; else echo "$field -"; fi
done <"$tmp/table" >"$tmp/table.wanted"
check "the table of fields of other systems says which ones netobs has" \
	sh -c "test -s '$tmp/table' && diff -u '$tmp/table.wanted' '$tmp/table'"

# The estimates of the header are those of the manual.
sed -n 's/^[[:space:]]*netobs_[a-z0-9]* \([a-z_]*\);.*estimate.*/\1/p' "$top/probes/netobs.h" | sort -u >"$tmp/estimates"
documented estimate '/^\.It Va / { s/[^a-z0-9_]/\n/g; p; }' <"$tmp/estimates"

# A page is read in a terminal of 80 columns.
if have mandoc; then
	for manual in "$page" "$top"/man/*.[158]; do
		mandoc -T ascii -O width=80 "$manual" | sed "s/.$(printf '\b')//g" |
			awk -v page="${manual##*/}" 'length($0) > 80 { print page ": " $0 }'
	done >"$tmp/wide"
	check "no line of a manual page is wider than 80 columns" [ ! -s "$tmp/wide" ]
	[ ! -s "$tmp/wide" ] || note "$(cat "$tmp/wide")"
else
	skip "no line of a manual page is wider than 80 columns" "mandoc is not installed"
fi

# DIAGNOSTICS of netobsd(8) has the messages of the program, and no others; the check finds a row that is missing.
messages() {
	# shellcheck disable=SC2086
	(cd "$top" && find $house flight apps -name '*.c' -exec python3 tests/source/diagnostics.py "$1" {} +)
}
is "every message is in DIAGNOSTICS, and each row has a message" "$(messages "$top/man/netobsd.8" 2>&1)" ""
sed 's/^\.It "FILE is empty"$/.It "FILE is full"/' "$top/man/netobsd.8" >"$tmp/netobsd.8"
is "a missing row and a superfluous one are found" "$(messages "$tmp/netobsd.8" 2>&1 | sed 's/.*: //' | tr '\n' ';')" \
	"@ is empty;FILE is full;"

# Every provider has its row in the table of arguments, and a list of their meanings.
sed 's/-.*//' "$tmp/probes" | sort -u >"$tmp/providers"
documented provider 's/^\([^ ]*\) .*\(info\|connrec\).*/\1/p' <"$tmp/providers"
documented "provider's arguments" 's/^\.Ss Arguments of //p' <"$tmp/providers"

# netobs(1) has every script.
page=$top/man/netobs.1
for script in "$top"/scripts/bpftrace/*.bt; do
	basename "$script" .bt
done >"$tmp/scripts"
documented script 's/^\.It Ic //p' <"$tmp/scripts"
page=$build/man/netobs.7

is "no @TABLE@ is left in netobs(7)" "$(grep -c '^@' "$page" 2>&1)" 0

tap_done
