#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of netobsd(8) that are made from tables of the program are up to date.  After a change of such a table:
# tests/daemon/stats/manual_tables.sh --write
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

generate=$build/tests/daemon/stats/manual_tables
built "$generate"
page=$top/man/netobsd.8

# with_table NAME FILE: the page in FILE with a new table of that name
with_table() {
	sed "/^[.].\" From here on made by .* $1\$/q" "$2"
	"$generate" "$1"
	sed -n "/^[.].\" To here made by .* $1\$/,\$p" "$2"
}

tables="counters topics"
cp "$page" "$tmp/page"
for table in $tables; do
	with_table "$table" "$tmp/page" >"$tmp/new" && mv "$tmp/new" "$tmp/page"
done
if [ "${1:-}" = --write ]; then
	accept "$tmp/page" "$page"
	exit
fi

for table in $tables; do
	is "one place for the table $table" \
		"$(grep -c " here on made by .* $table\$" "$page") $(grep -c " here made by .* $table\$" "$page")" "1 1"
done
check "the tables of netobsd(8)" diff -u "$page" "$tmp/page"

tap_done
