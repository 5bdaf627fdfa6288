#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The rooms of the source tree: which room may include headers of which (rooms.tsv), every file and every test in the
# list of its own room.mk, no static function name in two files, and the table of rooms in CONTRIBUTING.md.
#
#	rooms.sh --write	writes the last column of that table from rooms.tsv
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/source/test_lists.sh
. "$top/tests/source/test_lists.sh"
# shellcheck source=tests/source/folders.sh
. "$top/tests/source/folders.sh"

cd "$top" || exit 99
table=tests/source/rooms.tsv

# The lists below come from the files on disk, never from git: a tarball has no git.
# shellcheck disable=SC2086
sources() {
	find $folders -name '*.[ch]' | sort
}

# included: "FILE ROOM" for every include of a header of another room
included() {
	# shellcheck disable=SC2086
	find $folders -name '*.[ch]' -exec awk '
		FNR == 1 { room = FILENAME; sub(/\/[^\/]*$/, "", room) }
		/^#include ".*\/.*"$/ {
			used = $2
			gsub(/"|\/[^\/]*$/, "", used)
			if (used != room)
				print FILENAME, used
		}' {} + | sort -u
}

# forbidden: "FILE includes a header of ROOM" for every include that the table does not have
forbidden() {
	included | awk '
		NR == FNR { count = split($2, uses, " "); for (i = 1; i <= count; i++) allowed[$1, uses[i]] = 1; next }
		{ room = $1; sub(/\/[^\/]*$/, "", room) }
		!((room, $2) in allowed) { print $1 " includes a header of " $2 }' FS='\t' "$table" FS=' ' -
}

# unknown: rooms without a row, and rows without a room
unknown() {
	sources | sed 's|/[^/]*$||' | sort -u >"$tmp/rooms"
	grep -v '^#' "$table" | cut -f 1 | sort -u | diff "$tmp/rooms" -
}

# unused: uses in the table that no file makes
unused() {
	included | awk '
		NR == FNR { sub(/\/[^\/]*$/, "", $1); used[$1, $2] = 1; next }
		/^#/ { next }
		{
			count = split($2, uses, " ")
			for (i = 1; i <= count; i++)
				if (!(($1, uses[i]) in used))
					print $1 " does not use " uses[i]
		}' - FS='\t' "$table"
}

# upward: a row that uses a room of a later row.  Rooms below flow/ and probes/ use headers of their own folder, and the
# folder uses them: within one top folder the order is free, except in daemon/.
upward() {
	grep -v '^#' "$table" | awk -F '\t' '
		{ place[$1] = NR; row[NR] = $1; uses[NR] = $2 }
		END {
			for (i = 1; i <= NR; i++) {
				count = split(uses[i], used, " ")
				for (j = 1; j <= count; j++) {
					split(row[i], mine, "/")
					split(used[j], other, "/")
					if (place[used[j]] > i && (mine[1] != other[1] || mine[1] == "daemon"))
						print row[i] " uses " used[j] ", which comes later"
				}
			}
		}'
}

# unlisted: files that the room.mk of their own folder does not list
unlisted() {
	# shellcheck disable=SC2086
	find $folders -name room.mk -exec awk '
		FNR == 1 { room = FILENAME; sub(/\/[^\/]*$/, "", room) }
		{
			for (i = 1; i <= NF; i++)
				if (sub(/^%D%/, room, $i))
					print $i
		}' {} + | sort -u >"$tmp/listed"
	sources | grep -v '^daemon/main\.c$' | comm -23 - "$tmp/listed"
}

# homeless: tests that are not in one list of their room, and lines of the lists that are not tests; the golden cases
# run in two builds
homeless() {
	{
		test_scripts
		find tests -name 'test_*.c' | sed 's/\.c$//'
		echo tests/golden/golden.sh
	} | sort >"$tmp/tests"
	listed unit_tests quick_tests check_tests sanitizers_tests all_tests all_sanitizers_tests speed_tests cross_scripts vm_checks |
		diff "$tmp/tests" -
}

# unexplained: lists of tests that `./bootstrap check` leaves out without a comment above them that says why
unexplained() {
	find tests -name room.mk -exec awk '
		/^(sanitizers|all|all_sanitizers|speed)_tests [+]=/ && before !~ /^#/ { print FILENAME ": " $1 }
		{ before = $0 }' {} +
}

# repeated: static functions of one name in several files; gdb, perf and cscope would find the wrong one
repeated() {
	# shellcheck disable=SC2086
	find $folders -name '*.c' ! -name '*_stub.c' -exec awk '
		FNR == 1 { begun = 0 }
		/^static / { begun = ($0 !~ /;$/ && $0 !~ /=/); next }
		begun {
			if ($0 ~ /^[a-z_][a-z_0-9]*\(/) {
				sub(/\(.*/, "")
				print $0 " " FILENAME
			}
			begun = 0
		}' {} + | sort | awk '
		$1 == name { print name ": " first " and " $2 }
		{ name = $1; first = $2 }'
}

# listed_rooms: the rows of CONTRIBUTING's table as rooms.tsv has them
listed_rooms() {
	awk -F ' *[|] *' '/^### Rooms$/ { inside = 1 }
		/^### / && !/Rooms/ { inside = 0 }
		inside && $2 ~ /^`/ { gsub(/`/, "", $2); print $2 "\t" $4 }' CONTRIBUTING.md
}

# table_differences: between that table and rooms.tsv, which may leave out the tab after a room without uses
table_differences() {
	listed_rooms >"$tmp/listed"
	grep -v '^#' "$table" | awk -F '\t' '{ print $1 "\t" $2 }' | diff - "$tmp/listed"
}

# undescribed: rooms of the table that have no description
undescribed() {
	# shellcheck disable=SC2016
	sed -n '/^### Rooms$/,/^### Rules/p' CONTRIBUTING.md | grep -E '^\| `[a-z/]+` \| *\|'
}

if [ "${1:-}" = --write ]; then
	awk -F '\t' 'NR == FNR { if ($0 !~ /^#/) { uses[$1] = $2; known[$1] = 1 }; next }
		/^### / { inside = ($0 == "### Rooms") }
		inside && /^[|] `/ {
			split($0, cell, / *[|] */)
			room = cell[2]
			gsub(/`/, "", room)
			if (room in known)
				$0 = "| " cell[2] " | " cell[3] " | " uses[room] (uses[room] == "" ? "|" : " |")
		}
		{ print }' "$table" CONTRIBUTING.md >"$tmp/page" && cat "$tmp/page" >CONTRIBUTING.md
	exit
fi

none() {
	none_name=$1
	shift
	"$@" >"$tmp/found" 2>&1
	if [ -s "$tmp/found" ]; then
		not_ok "$none_name" "$tmp/found"
	else
		ok "$none_name"
	fi
}

none "a room includes only headers of the rooms in its row" forbidden
none "every room has a row" unknown
none "every use in the table is needed" unused
none "no room uses a later one" upward
none "every file is listed in its own room.mk" unlisted
none "every test is in one list of its own room.mk" homeless
none "a list of tests that check leaves out has its reason" unexplained
none "no two static functions have the same name" repeated
none "the table of rooms in CONTRIBUTING.md agrees with rooms.tsv" table_differences
none "the table of rooms in CONTRIBUTING.md describes each room" undescribed
tap_done
