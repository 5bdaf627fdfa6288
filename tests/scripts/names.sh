#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Names in the output of the ready-made scripts: no byte of one reaches a terminal, and none forges a line; by what bpftrace
# and DTrace write, without them.  tests/scripts/names_traced.sh has bpftrace itself.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

scripts=$top/scripts
# shown FILTER: what netobs makes of the output of a tracer, with marks unless $mark is empty
mark=MARK
shown() {
	rm -f "$tmp/cut" "$tmp/lost" "$tmp/held" "$tmp/dropped"
	mark=$mark awk -v program="$tmp/program" -v cut="$tmp/cut" -v lost="$tmp/lost" -v held="$tmp/held" \
		-v dropped="$tmp/dropped" -f "$scripts/escape.awk" -f "$scripts/warnings.awk" -f "$scripts/$1.awk"
}

# shows NAME RAW WANTED: the filter of standard output prints WANTED for RAW, which is a format of printf
shows() {
	# shellcheck disable=SC2059
	printf "$2" | shown output | sed 's/ *$//' >"$tmp/shown"
	is "$1" "$(cat "$tmp/shown")" "$3"
}

# safe FILE: whether it has no other bytes than printable ASCII and line breaks
safe() {
	! LC_ALL=C grep -q '[^ -~]' "$1"
}

# ----------------------------------------------------------------------------------------------------------- every script

# unmarked: the lines with a text or map without marks of all scripts
unmarked() {
	sed 's/print[fa]("MARK<[^"]*MARK>\(\\n\)*"//g' "$tmp/bpftrace" "$tmp/d" | grep 'print[fa](' || true
	sed -e 's/"[^"]*"//g' -e 's/@MARK_[A-Za-z]//g' "$tmp/bpftrace" | grep '@' || true
}
mark=MARK awk -v language=bpftrace -f "$scripts/marks.awk" "$scripts"/bpftrace/*.bt >"$tmp/bpftrace"
mark=MARK awk -v language=d -f "$scripts/marks.awk" "$scripts"/d/*.d >"$tmp/d"
unmarked >"$tmp/unmarked"
check "there are texts and maps in scripts" test "$(grep -c 'printf("MARK<' "$tmp/bpftrace")" -gt 40 -a "$(grep -c '@MARK_' "$tmp/bpftrace")" -gt 40 -a \
	"$(grep -c 'print[fa]("MARK<' "$tmp/d")" -gt 40
check "every text and map of every script has marks" cmp "$tmp/unmarked" /dev/null

# -------------------------------------------------------------------------------------------------- what bpftrace prints

shows "a key that forges entries, empty lines and reports of bpftrace" \
	'@MARK_a[x]: 1\n\nLost 9 events\n@b[y]: 7\nstdin:1:2-3: WARNING: Map full\n1\n2\n]: 5\n@MARK_a[y]: 6\n\n' \
	'@a[x]: 1\x0a\x0aLost 9 events\x0a@b[y]: 7\x0astdin:1:2-3: WARNING: Map full\x0a1\x0a2\x0a]: 5
@a[y]: 6'
check "they are not counted" test ! -e "$tmp/lost" -a ! -e "$tmp/cut"
shows "keys of histograms that forge rows" \
	'@MARK_h[x]: \n[8, 16)      9 |@@|\n]: \n[4, 8)       5 |@@|\n\n@MARK_h[[1] 7 |@|\n[1] 7 |@|\n]: \n[1]          1 |@@|\n\n' \
	'@h[[1] 7 |@|\x0a[1] 7 |@|\x0a]:
[1]          1 |@@|
@h[x]: \x0a[8, 16)      9 |@@|\x0a]:
[4, 8)       5 |@@|'
shows "a name in a line, which has line breaks" '\nMARK<  7 a\n\nmissed 9 firings\n@x[y]: 7\nLost 9 eventsMARK>\nMARK<  8 MARK>MARK<b\nMARK>\n' \
	'  7 a\x0a\x0amissed 9 firings\x0a@x[y]: 7\x0aLost 9 events
  8 b\x0a'
check "what it forges is not counted" test ! -e "$tmp/lost" -a ! -e "$tmp/cut"
shows "a name with what a terminal obeys" 'MARK<\033[2J\233\302\233\342\200\256\001\177\\\\\t\r"%%s\\x1bMARK>\n@MARK_a[\377\033\\\\]: 1\n' \
	'\x1b[2J\x9b\xc2\x9b\xe2\x80\xae\x01\x7f\\\\\x09\x0d"%s\\x1b
@a[\xff\x1b\\\\]: 1'
printf '\t@MARK_a[1] = count();\n' >"$tmp/program"
shows "reports of bpftrace between lines, within a line and after a map" \
	'Lost 1 events\nMARK<aMARK>Lost 2 events\nMARK<bMARK>\n@MARK_a[x]: 1\n\nstdin:1:17-24: WARNING: Map full\n\t@MARK_a[1] = count();\n\t~~\nLost 4 events\nMARK<MARK>\nMARK<cMARK>\n' \
	'ab
@a[x]: 1
c'
is "they are counted" "$(cat "$tmp/lost" "$tmp/cut")" "7
@a 1"

# ---------------------------------------------------------------------------------------- a script of the user, the errors

mark=''
shows "a script of the user, which may print any bytes, in any order" '\033[2J\t\\\233\n\n@[x]: 2\n@[x]: 1\n\b' \
	"$(printf '\033[2J\t\\\233\n\n@[x]: 2\n@[x]: 1\n\b')"
mark=MARK
printf 'ERR\033\233: @MARK_a[MARK<x\\n]\n' | shown errors >"$tmp/shown"
is "what the tracer writes to its standard error has neither control characters nor marks" "$(cat "$tmp/shown")" \
	'ERR\x1b\x9b: @a[x\n]'

# --------------------------------------------------------------------------------------------------- what DTrace prints

if ! have python3; then
	skip "D scripts with names that forge lines" "python3 is not installed"
	tap_done
fi
for name in evil harmless; do
	python3 "$top/tests/scripts/evil_names.py" dtrace "$name" <"$tmp/d" | shown output >"$tmp/$name"
done
check "no D script prints a control character" safe "$tmp/evil"
check "the names are there" grep -q '^@hellos\[.*\\x1b.*\\x0a.*\\"%s' "$tmp/evil"
is "no D script prints a forged line" "$(wc -l <"$tmp/evil")" "$(wc -l <"$tmp/harmless")"

tap_done
