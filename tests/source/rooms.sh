#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The rooms of the source tree: which room may include headers of which (rooms.tsv), at most 27 files in a room, every
# file and every test in the list of its own room.mk, no static function name in two files, and the table of rooms in
# CONTRIBUTING.md.
#
#	rooms.sh --write	writes the last column of that table from rooms.tsv
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cd "$top" || exit 99
folders="usdt engine dissect flow probes formulas records recorder apps daemon page tools"
table=tests/source/rooms.tsv

# The lists below come from the files on disk, never from git: a tarball has no git.
# shellcheck disable=SC2086
sources() {
	find $folders -name '*.[ch]' | sort
}

# forbidden: "FILE includes a header of ROOM" for every include that the table does not have
forbidden() {
	sources | while read -r file; do
		room=$(dirname "$file")
		sed -n 's/^#include "\(.*\)\/[^/]*"$/\1/p' "$file" | sort -u | while read -r used; do
			[ "$used" = "$room" ] || awk -F '\t' -v room="$room" -v used="$used" '
				$1 == room && index(" " $2 " ", " " used " ") > 0 { allowed = 1 }
				END { exit !allowed }' "$table" || echo "$file includes a header of $used"
		done
	done
}

# unknown: rooms without a row, and rows without a room
unknown() {
	sources | sed 's|/[^/]*$||' | sort -u >"$tmp/rooms"
	grep -v '^#' "$table" | cut -f 1 | sort -u | diff "$tmp/rooms" -
}

# unused: uses in the table that no file makes
unused() {
	grep -v '^#' "$table" | while IFS='	' read -r room uses; do
		for used in $uses; do
			grep -qE "^#include \"$used/[^/]*\"" "$room"/*.[ch] || echo "$room does not use $used"
		done
	done
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

# shellcheck disable=SC2086
crowded() {
	find $folders -name '*.[ch]' | sed 's|/[^/]*$||' | sort | uniq -c | awk '$1 > 27 { print $2 ": " $1 " files" }'
}

# unlisted: files that the room.mk of their own folder does not list
unlisted() {
	for file in $(sources); do
		list=$(dirname "$file")/room.mk
		grep -qE "%D%/$(basename "$file")( |\$)" "$list" 2>/dev/null || echo "$file: not in $list"
	done | grep -v '^daemon/main\.c: '
}

# unlisted_tests: test programs and shell tests that no room.mk names, which never run
unlisted_tests() {
	{
		find tests -name 'test_*.c' | sed 's/\.c$//'
		find tests -mindepth 2 -name '*.sh' -exec grep -l 'lib/tap\.sh"$' {} +
	} | sort | while read -r file; do
		list=$(dirname "$file")/room.mk
		grep -qE "%D%/$(basename "$file")( |\$)" "$list" 2>/dev/null || echo "$file: not in $list"
	done
}

# repeated: static functions of one name in several files; gdb, perf and cscope would find the wrong one
repeated() {
	sources | grep '\.c$' | while read -r file; do
		awk -v file="$file" '
			/^static / { begun = 1; if ($0 !~ /;$/ && $0 !~ /=/) { next } else begun = 0 }
			begun { if ($0 ~ /^[a-z_][a-z_0-9]*\(/) { sub(/\(.*/, ""); print $0 " " file }; begun = 0 }' "$file"
	done | grep -v '_stub\.c$' | sort | awk '
		$1 == name { print name ": " first " and " $2 }
		{ name = $1; first = $2 }'
}

# listed_rooms: the rows of CONTRIBUTING's table as rooms.tsv has them
listed_rooms() {
	awk -F ' *[|] *' '/^### Rooms$/ { inside = 1 }
		/^### / && !/Rooms/ { inside = 0 }
		inside && $2 ~ /^`/ { gsub(/`/, "", $2); print $2 "\t" $4 }' CONTRIBUTING.md
}

# table_differences: between that table and rooms.tsv, which may leave out the tab behind a room without uses
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
	"$@" >"$tmp/found"
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
none "no room has more than 27 files" crowded
none "every file is listed in its own room.mk" unlisted
none "every test is listed in its own room.mk" unlisted_tests
none "no two static functions have the same name" repeated
none "the table of rooms in CONTRIBUTING.md agrees with rooms.tsv" table_differences
none "the table of rooms in CONTRIBUTING.md describes each room" undescribed
tap_done
