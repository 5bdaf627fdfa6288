#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Spelling, manual pages, forbidden functions, and the rules of CONTRIBUTING.md that a script can check; shellcheck.sh has
# the scripts.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/test_lists.sh
. "$top/tests/source/test_lists.sh"
# shellcheck source=tests/source/folders.sh
. "$top/tests/source/folders.sh"

cd "$top" || exit 99

# nothing NAME COMMAND...: ok if the command prints nothing, no error either; its output is the list of faults
nothing() {
	nothing_name=$1
	shift
	"$@" >"$tmp/found" 2>&1
	if [ -s "$tmp/found" ]; then
		not_ok "$nothing_name" "$tmp/found"
	else
		ok "$nothing_name"
	fi
}

# ---------------------------------------------------------------------------------------------------- other tools

if have codespell; then
	# Words of the protocols and of C that codespell would correct.
	# shellcheck disable=SC2086
	check "spelling" codespell --quiet-level 3 --ignore-words-list "ba,fo,fro,hist,inout,nd,ot,som,stap,te,tha,ue,upto,wit" \
		--skip '*.pcap,*.pcapng,*.out,*.dmp,*.cap,*.gz,*.zst' \
		$folders conf man scripts tests bench bootstrap configure.ac Makefile.am \
		README.md CONTRIBUTING.md GLOSSARY.md SECURITY.md NEWS
else
	skip "spelling" "codespell is not installed"
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

# ------------------------------------------------------------------------------------------- portable shell and awk

# machine WHAT [FILE...]: faults that lint_shell.py finds in all scripts, or in these files.  It does not know bash, the
# commands of the installed package, and those of a developer.
machine() {
	machine_what=$1
	shift
	# shellcheck disable=SC2046
	[ $# -gt 0 ] || set -- $(shell_scripts | grep -v -e 'completion$' -e '^debian/tests/' -e '^tests/lib/accept$') probes/*.awk man/*.awk scripts/*.awk
	python3 tests/source/lint_shell.py "$machine_what" "$@"
}

# sleeps [FILE...]: sleeps without the comment that explains why there is no event to wait for
sleeps() {
	# shellcheck disable=SC2046
	[ $# -gt 0 ] || set -- $(find tests -name '*.sh' -o -name '*.py' -o -name '*.[ch]')
	grep -nE '(^|[^a-z_])(nano|u)?sleep(\(| +[0-9"$.])' "$@" /dev/null | grep -v 'no event: '
}

# The checks find these faults: one a line.
cat >"$tmp/awk.bad" <<'END'
awk '{ sum += $1 } END { print NR, sum }'
awk '{ bytes += $1 } END { printf "%d\n", bytes }'
x="$(awk -F: '{ print $1 > 2 }')"
awk '{ print toupper($1), strftime("%Y") }'
awk '/a{3}/ { n++ } END { print n }'
awk "{ print $1 }"
awk '{ print'
END
cat >"$tmp/commands.bad" <<'END'
case $1 in
nosuchcommand | sed) grep "$(nosuchcommand x)" y ;;
esac
! { sed p y && nosuchcommand; } | sort # nosuchcommand
have maybe && maybe "$nosuchcommand"
END
printf '%s\n' 'sleep 1' 'time.sleep(0.5)' 'nanosleep(&t, NULL)' 'sleep 1 # no event: it is the pace' 'loop_sleep(loop)' \
	>"$tmp/sleeps"
is "a sleep without a reason is found" "$(sleeps "$tmp/sleeps" | wc -l)" 3
nothing "each sleep has a comment that explains why there is no event to wait for" sleeps
if have mawk python3; then
	is "awk programs that some awk does not understand are found" "$(machine awk "$tmp/awk.bad" | sed 's/.*awk\.bad:\([0-9]*\):.*/\1/' |
		sort -u | tr '\n' ' ')" "1 2 3 4 5 6 7 "
	nothing "every awk understands the awk programs, and mawk parses them" machine awk
else
	skip "awk programs" "mawk or python3 is not installed"
fi
if have dpkg-query python3; then
	is "a command that bootstrap does not install is found" "$(machine every-command tests/lib/tap.sh "$tmp/commands.bad" |
		sed 's/.*commands\.bad:\([0-9]*\):.*/\1/' | tr '\n' ' ')" "2 4 "
	nothing "each command is of an essential package or of bootstrap's packages" machine commands
	mkdir -p "$tmp/tree/tests/room"
	printf '%s\n' "PACKAGES='" 'check  mawk  an awk' 'all  python3  python' "'" >"$tmp/tree/bootstrap"
	printf '%s_tests += \\\n\t%%D%%/%s.sh\n' check early all late >"$tmp/tree/tests/room/room.mk"
	echo 'mawk && python3' | tee "$tmp/tree/tests/room/early.sh" >"$tmp/tree/tests/room/late.sh"
	is "a command of check-all in a test of check is found" \
		"$(tree=$PWD && cd "$tmp/tree" && python3 "$tree/tests/source/lint_shell.py" commands tests/room/*.sh | cut -d ' ' -f 1-2)" \
		"tests/room/early.sh:1: python3"
	mkdir -p "$tmp/tree/tests/vm/guest"
	printf '%s\n' '[all]' 'dpkg: dpkg' '[one]' 'python3: python3' '[two]' >"$tmp/tree/tests/vm/guests"
	for guest in one two; do
		printf '%s\n' "# Guest: $guest" 'dpkg && python3' >"$tmp/tree/tests/vm/guest/$guest.sh"
	done
	is "a command that another guest of check-vm has is found" \
		"$(tree=$PWD && cd "$tmp/tree" && python3 "$tree/tests/source/lint_shell.py" commands tests/vm/guest/*.sh | cut -d ' ' -f 1-2)" \
		"tests/vm/guest/two.sh:2: python3"
	printf '%s\n' 'nosuchpackage: nosuchcommand' 'dpkg: dpkg sed' >"$tmp/packages.bad"
	is "a command listed after the wrong package is found" "$(machine packages "$tmp/packages.bad" |
		sed 's/.*packages\.bad:\([0-9]*\):.*/\1/' | tr '\n' ' ')" "2 "
	nothing "the packages of check-vm have their commands" machine packages tests/vm/guests tests/vm/host-packages
else
	skip "commands of scripts" "this is not Debian, or python3 is not installed"
fi

# host_packages: the packages of check-vm on the host, in one line
host_packages() {
	sed -n 's/^\([a-z0-9][a-z0-9.+-]*\):.*/\1/p' tests/vm/host-packages | paste -s -d ' ' -
}

for manual in CONTRIBUTING.md tests/vm/README.md; do
	check "$manual has the packages of check-vm" grep -qxF "    apt-get install $(host_packages)" "$manual"
done

# -------------------------------------------------------------------------------------------- rules of CONTRIBUTING

# in_sources PATTERN [FOLDER...]: lines of C that match, in these folders or all
in_sources() {
	in_sources_pattern=$1
	shift
	# shellcheck disable=SC2086
	[ $# -gt 0 ] || set -- $folders tests bench
	find "$@" -name '*.[ch]' -exec grep -nE "$in_sources_pattern" {} +
}

unsafe_calls() {
	in_sources '\b(strcpy|strncpy|strcat|strncat|v?sprintf|ato[il]|atoll|gets|alloca|strtok)[[:space:]]*\('
}

impure_calls() {
	in_sources '\b([mc]alloc|realloc|free|f?printf|time|gettimeofday|clock_gettime)[[:space:]]*\(' engine dissect flow apps |
		grep -vE '^(flow/[a-z_/]*(flow|table|slab|store|pool|protocols)[a-z_]*|flow/reassembly/reassembly|flow/stream/stream)\.c:[0-9]+:.*\b([mc]alloc|free)[[:space:]]*\('
}

packet_reads() {
	# shellcheck disable=SC2086
	in_sources '(\.|->)at([[:space:]]*\[|[[:space:]]*\+|\+\+)|\*[a-z_]+(\.|->)at\b' engine dissect flow probes apps $house |
		grep -v '^dissect/cursor\.h:'
}

conditionals() {
	in_sources '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)\b' dissect flow apps | grep -vE '#ifndef NETOBS_[A-Z0-9_]+_H$'
}

libevent_users() {
	# shellcheck disable=SC2086
	in_sources '#include <(event\.h|event2/)' $house probes apps | grep -v '^base/loop\.c:'
}

# json_writers [FOLDER...]: texts that begin an object, a member or an escape
json_writers() {
	# shellcheck disable=SC2086
	[ $# -gt 0 ] || set -- $folders
	in_sources '"[{]\\"|\\"[A-Za-z_%]+\\":([^ ]|$)|\\\\u(%|00)' "$@" | grep -vE '^base/json\.c:'
}

# unit_parsers [FOLDER...]: rows of units with what they are worth
unit_parsers() {
	# shellcheck disable=SC2086
	[ $# -gt 0 ] || set -- $folders
	in_sources "[{](\"(ns|us|ms|s|m|min|h|d|[kKMGT]|[kMGT]B|[KMGT]iB)\"|'[smhdkKMGT]'), *([0-9]|[A-Z]+_)" "$@" |
		grep -v '^base/units\.c:'
}

# memory_messages [FOLDER...]: the message of log_out_of_memory(), written again
memory_messages() {
	# shellcheck disable=SC2086
	[ $# -gt 0 ] || set -- $folders
	in_sources '\blog_error\("out of memory"' "$@" | grep -v '^base/log\.h:'
}

# bad NAME FOUND FUNCTION LINE...: of these lines, FUNCTION finds those of these numbers; grep(1) names no file if there is one
bad() {
	bad_name=$1 bad_found=$2 bad_function=$3
	shift 3
	mkdir -p "$tmp/bad"
	printf '%s\n' "$@" >"$tmp/bad/bad.c"
	is "$bad_name" "$("$bad_function" "$tmp/bad" | cut -d : -f 1 | paste -s -d ' ' -)" "$bad_found"
}

# foreign_words [FILE...]: lines of all texts, or of these files, with words that GLOSSARY.md replaces: dear, behind, and
# "is no X".  What is removed first are the right uses.
foreign_words() {
	# shellcheck disable=SC2046,SC2086
	[ $# -gt 0 ] || set -- $(find $folders conf man scripts tests bench bootstrap configure.ac README.md CONTRIBUTING.md SECURITY.md \
		NEWS -type f ! -path 'tests/captures/*' ! -path 'tests/truth/*' ! -path tests/source/lint.sh \
		! -name '*.pyc')
	LC_ALL=C awk '
		!/[Bb]ehind|[Dd]ear|(is|are|was|were) no / { next }
		{
			line = tolower($0)
			gsub(/(left|leaves?|stays?|fall|falls|fell|falling|lags?) ([a-z]+ )?([a-z]+ )?behind/, "", line)
			gsub(/behind (the traffic|(a|the|its|one|several) (nat|firewall|proxy|router|bridge|load balancer))/, "", line)
			gsub(/in front of and behind/, "", line)
			gsub(/there (is|are|was|were) (still )?no /, "", line)
			gsub(/(is|are|was|were) no (longer|more than|later than|other than)/, "", line)
		}
		line ~ /(^|[^a-z])(behind|dear|dearer|dearest|dearly)([^a-z]|$)/ || line ~ /[^ #*\/] (is|are|was|were) no [a-z]/ {
			print FILENAME ":" FNR ": " $0
		}' "$@"
}

unlicensed() {
	# Captures, expectations and configurations are data, compared line by line.
	# shellcheck disable=SC2086
	find $folders man tests bench scripts bootstrap .ci/run -type f \
		! -path 'tests/captures/*' ! -path 'tests/truth/*' ! -path 'tests/golden/*.out' ! -path 'tests/fuzz/configurations/*' \
		! -name '*.md' ! -name '*.tsv' ! -name LIST ! -name '*.expected' ! -name '*.explained' ! -path 'scripts/examples/*.txt' \
		! -name '*.pyc' -exec awk '
		FNR <= 3 && /SPDX-License-Identifier: BSD-2-Clause/ { licensed[FILENAME] = 1 }
		END {
			for (i = 1; i < ARGC; i++)
				if (!(ARGV[i] in licensed))
					print ARGV[i]
		}' {} +
}

long_lines() {
	# shellcheck disable=SC2086
	find $folders scripts tests bench \
		'(' -name '*.[chd]' -o -name '*.bt' ')' -exec awk '
		length($0) > 120 || /\t/ {
			columns = 0
			count = split($0, part, "\t")
			for (i = 1; i < count; i++)
				columns += length(part[i]) - (columns + length(part[i])) % 8 + 8
			columns += length(part[count])
			if (columns > 120)
				print FILENAME ":" FNR
		}' {} +
}

trailing_blanks() {
	find . -name .git -prune -o -name 'build*' -type d -prune -o -name autom4te.cache -prune -o -type f \
		\( -name '*.[chd]' -o -name '*.md' -o -name '*.sh' -o -name '*.py' -o -name '*.awk' -o -name '*.a[mc]' \
		-o -name bootstrap \) -exec grep -nE '[[:blank:]]+$' {} +
}

nothing "no unsafe function of the C library" unsafe_calls
nothing "dissect and flow neither log nor read a clock, and allocate only when a table is made" impure_calls
nothing "only dissect/cursor.h reads packet memory" packet_reads
nothing "no conditional compilation in dissect and flow" conditionals
nothing "only base/loop.c uses libevent" libevent_users
bad "what writes JSON is found" "1 2 3" json_writers 'puts("{\"a\":1}");' 'at = PUT(at, ",\"cid\":");' \
	'snprintf(at, 7, "\\u%04x", c);' 'puts("set \"cid\": a number");'
nothing "only base/json.c writes JSON" json_writers
bad "what knows units is found" "1 2" unit_parsers '{"ms", 1000000},' "{'h', UNITS_HOUR}," '{"ms", NULL},'
nothing "only base/units.c knows units of times and sizes" unit_parsers
bad "what logs that memory is out is found" 1 memory_messages 'log_error("out of memory");' 'log_out_of_memory();'
nothing "only log_out_of_memory() logs that memory is out" memory_messages
printf '%s\n' 'a segment behind the gap' 'a dear frame' 'the flow is no stream' 'frames are no packets' \
	'a client behind a NAT: there is no answer, and it is no longer known' 'what a run left behind' >"$tmp/words"
is "words that the glossary replaces are found" "$(foreign_words "$tmp/words" | cut -d : -f 2 | tr '\n' ' ')" "1 2 3 4 "
nothing "no words that the glossary replaces" foreign_words
nothing "every source file names its licence" unlicensed
nothing "no TODO, FIXME, XXX or HACK" in_sources '\b(TODO|FIXME|XXX|HACK)\b'
nothing "lines to 120 columns" long_lines
nothing "no blanks at the end of a line" trailing_blanks

tap_done
