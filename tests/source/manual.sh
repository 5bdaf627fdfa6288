#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(7) documents everything that the program can report: every probe, field, anomaly and state.  The list comes
# from the program, not from the files that the page is generated from.  netobsd(8) has every message of the program.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

page=$build/man/netobs.7
[ -x "$netobsd" ] || skip_all "netobsd is not built"
check "the manual page is built" test -s "$page"
"$netobsd" --list-probes --format json >"$tmp/manifest" || exit 99

# told WHAT PATTERN: every line of standard input has a line in the page that PATTERN, with % for it, matches
told() {
	told_what=$1
	told_count=0
	: >"$tmp/untold"
	while read -r word; do
		told_count=$((told_count + 1))
		grep -qs -- "$(printf '%s\n' "$2" | sed "s/%/$word/")" "$page" || echo "$word is not in netobs(7)" >>"$tmp/untold"
	done
	if [ "$told_count" -gt 0 ] && [ ! -s "$tmp/untold" ]; then
		ok "every $told_what is told ($told_count)"
	else
		not_ok "every $told_what is told" "$tmp/untold"
	fi
}

# names KIND: of the manifest
names() {
	python3 - "$1" "$tmp/manifest" <<'PYTHON'
import json, sys

manifest = json.load(open(sys.argv[2]))
for struct in manifest["structs"].values() if isinstance(manifest["structs"], dict) else manifest["structs"]:
    if sys.argv[1] == "struct":
        print(struct["type"] if "type" in struct else struct["name"])
    for field in struct["fields"] if sys.argv[1] == "field" else []:
        print(field["name"])
for probe in manifest["probes"] if sys.argv[1] == "probe" else []:
    print(probe["name"])
PYTHON
}

names probe >"$tmp/probes"
told probe '^\.It Ic %$' <"$tmp/probes"
names struct | sed 's/_t$//' >"$tmp/structs"
told struct '^\.Ss %_t$' <"$tmp/structs"
names field | sort -u >"$tmp/fields"
told field '^\.It Va % Pq Vt' <"$tmp/fields"
sed -n 's/^ANOMALY([A-Z0-9_]*, "\([^"]*\)".*/\1/p' "$top/dissect/anomaly.def" >"$tmp/words"
told anomaly '^\.It Li % Pq' <"$tmp/words"
grep -o '"state-[a-z0-9-]*"' "$top/flow/tcp/tcp_dispatch.c" | tr -d '"' | sort -u >"$tmp/states"
told state '^\.It Li % Ta [0-9]' <"$tmp/states"
printf '%s\n' ok bad partial unverified >"$tmp/checksums"
told "word on checksums" '^\.It Li %$' <"$tmp/checksums"

# What the manual calls an estimate is one by the header, and the other way round.
sed -n 's/^[[:space:]]*netobs_[a-z0-9]* \([a-z_]*\);.*estimate.*/\1/p' "$top/probes/netobs.h" | sort -u >"$tmp/estimates"
told estimate '^\.It Va .*\<%\>' <"$tmp/estimates"

# DIAGNOSTICS of netobsd(8) has the messages of the program, and no others; the check finds a row that is missing.
messages() {
	# shellcheck disable=SC2046
	python3 "$top/tests/source/diagnostics.py" "$1" $(find "$top/daemon" "$top/apps" -name '*.c')
}
is "every message is in DIAGNOSTICS, and each row has a message" "$(messages "$top/man/netobsd.8" 2>&1)" ""
sed 's/^\.It "FILE is empty"$/.It "FILE is full"/' "$top/man/netobsd.8" >"$tmp/netobsd.8"
is "a missing row and a superfluous one are found" "$(messages "$tmp/netobsd.8" 2>&1 | sed 's/.*: //' | tr '\n' ';')" \
	"@ is empty;FILE is full;"

# Every provider has its row in the table of arguments, and a list of their meanings.
sed 's/-.*//' "$tmp/probes" | sort -u >"$tmp/providers"
told provider '^% .*info' <"$tmp/providers"
told "provider's arguments" '^\.Ss Arguments of %$' <"$tmp/providers"

# netobs(1) has every script.
page=$top/man/netobs.1
for script in "$top"/scripts/bpftrace/*.bt; do
	basename "$script" .bt
done >"$tmp/scripts"
told script '^\.It Ic %$' <"$tmp/scripts"
page=$build/man/netobs.7

is "no mark is left" "$(grep -c '^@' "$page" 2>&1)" 0

tap_done
