#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/engines/duckdb: DuckDB, from npm, on a directory of zstd files of two hosts.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

{ have node && [ -d "$cache/npm/node_modules/@duckdb/node-api" ]; } || unavailable "DuckDB, which npm installs,"

# duckdb FILE...: prints the rows of the last statement of the last file
duckdb() {
	(cd "$tmp" && node "$here/duckdb.js" "$cache/npm" "$@")
}

answer() {
	duckdb "$samples/duckdb/schema.sql" "$samples/duckdb/$1.sql"
}

columns() {
	echo "SELECT column_name FROM duckdb_columns() WHERE table_name = 'connections' ORDER BY column_index" >"$tmp/columns.sql"
	duckdb "$samples/duckdb/schema.sql" "$tmp/columns.sql"
}

require "records of two hosts" make_records
is "the view has a column for each member of a record line" "$(columns | sed 1,2d)" "$(fields)"
lines=$(cat "$records"/*.jsonl | wc -l)
echo 'SELECT count(*), count(DISTINCT host), count(time), min(cr_end) FROM connections' >"$tmp/count.sql"
is "every record is in the view" "$(duckdb "$samples/duckdb/schema.sql" "$tmp/count.sql" | tr '\t' ' ')" \
	"$lines 2 $lines $(sed 's/.*"cr_end":\([0-9]*\).*/\1/' "$records"/*.jsonl | sort | head -n 1)"
check_answers answer

tap_done
