#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What a reader would complain about, checked by machine: spelling, shell scripts, manual pages, forbidden functions,
# and the rules of CONTRIBUTING.md that can be read off the text.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" || exit 99

# nothing NAME COMMAND...: ok if the command prints nothing; what it prints is what was found
nothing() {
	nothing_name=$1
	shift
	"$@" >"$tmp/found"
	if [ -s "$tmp/found" ]; then
		not_ok "$nothing_name" "$tmp/found"
	else
		ok "$nothing_name"
	fi
}

# ---------------------------------------------------------------------------------------------------- other tools

if have codespell; then
	# Words of the protocols and of C that codespell would mend.
	check "spelling" codespell --quiet-level 3 --ignore-words-list "ba,fo,fro,hist,inout,nd,ot,som,stap,te,tha,ue,upto,wit" \
		--skip '*.pcap,*.pcapng,*.out,*.dmp,*.cap,*.gz,*.zst' \
		dissect flow probes apps daemon tools conf man scripts tests bench bootstrap configure.ac Makefile.am \
		README.md CONTRIBUTING.md NEWS
else
	skip "spelling" "codespell is not installed"
fi

if have shellcheck; then
	# SC2317: functions that only wait_for calls seem out of reach.
	# shellcheck disable=SC2046
	check "shell scripts" shellcheck --norc -x -e SC2317 bootstrap .ci/run tests/golden/update scripts/netobs scripts/examples/update \
		$(find tests -name '*.sh')
else
	skip "shell scripts" "shellcheck is not installed"
fi

for page in man/*.[0-9] "$build"/man/*.[0-9]; do
	if [ ! -e "$page" ]; then
		not_ok "there is no $page"
	elif have mandoc; then
		check "$(basename "$page")" mandoc -T lint -W warning "$page"
	else
		skip "$(basename "$page")" "mandoc is not installed"
	fi
done

# -------------------------------------------------------------------------------------------------------- our rules

# in_sources PATTERN [FOLDER...]: lines of C that match, in these folders or all
in_sources() {
	in_sources_pattern=$1
	shift
	[ $# -gt 0 ] || set -- dissect flow probes apps daemon tools tests bench
	find "$@" -name '*.[ch]' -exec grep -nE "$in_sources_pattern" {} +
}

unsafe_calls() {
	in_sources '\b(strcpy|strncpy|strcat|strncat|v?sprintf|ato[il]|atoll|gets|alloca|strtok)[[:space:]]*\('
}

impure_calls() {
	in_sources '\b([mc]alloc|realloc|free|f?printf|time|gettimeofday|clock_gettime)[[:space:]]*\(' dissect flow apps |
		grep -vE '^flow/[a-z_/]*(flow|table|slab|store|pool)[a-z_]*\.c:[0-9]+:.*\b([mc]alloc|free)[[:space:]]*\('
}

packet_reads() {
	in_sources '(\.|->)at([[:space:]]*\[|[[:space:]]*\+|\+\+)|\*[a-z_]+(\.|->)at\b' dissect flow probes apps daemon |
		grep -v '^dissect/cursor\.h:'
}

conditionals() {
	in_sources '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)\b' dissect flow apps | grep -vE '#ifndef NETOBS_[A-Z0-9_]+_H$'
}

libevent_users() {
	in_sources '#include <(event\.h|event2/)' daemon probes apps | grep -v '^daemon/base/loop\.c:'
}

unlicensed() {
	# Captures, expectations and configurations are data, compared line by line.
	find dissect flow probes apps daemon tools man tests bench scripts bootstrap .ci/run -type f \
		! -path 'tests/captures/*' ! -path 'tests/golden/*.out' ! -path 'tests/fuzz/configurations/*' \
		! -name '*.tsv' ! -name LIST ! -name '*.expected' ! -name '*.explained' ! -path 'scripts/examples/*.txt' ! -name '*.pyc' | while read -r file; do
		[ ! -f "$file" ] || head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-2-Clause' || echo "$file"
	done
}

long_lines() {
	find dissect flow probes apps daemon tools scripts tests bench -name '*.[chd]' -o -name '*.bt' | while read -r file; do
		expand -t 8 "$file" | awk -v file="$file" 'length($0) > 120 { print file ":" NR ": " length($0) " columns" }'
	done
}

trailing_blanks() {
	find . -name .git -prune -o -name 'build*' -type d -prune -o -name autom4te.cache -prune -o -type f \
		\( -name '*.[chd]' -o -name '*.md' -o -name '*.sh' -o -name '*.py' -o -name '*.awk' -o -name '*.a[mc]' \
		-o -name bootstrap \) -exec grep -nE '[[:blank:]]+$' {} +
}

nothing "no function that cannot be used safely" unsafe_calls
nothing "dissect and flow neither log nor read a clock, and allocate only when a table is made" impure_calls
nothing "only dissect/cursor.h reads packet memory" packet_reads
nothing "no conditional compilation in dissect and flow" conditionals
nothing "dissect knows nobody" in_sources '#include "(flow|probes|daemon)/' dissect
nothing "flow knows only dissect" in_sources '#include "(probes|daemon)/' flow
nothing "probes do not know the daemon" in_sources '#include "daemon/' probes
nothing "libevent lives behind daemon/base/loop.c" libevent_users
nothing "every source file names its licence" unlicensed
nothing "nothing unfinished by its own word" in_sources '\b(TODO|FIXME|XXX|HACK)\b'
nothing "lines to 120 columns" long_lines
nothing "no blanks at the end of a line" trailing_blanks

tap_done
