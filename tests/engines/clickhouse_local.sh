#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/engines/clickhouse/files.sql: a recent ClickHouse, without a server, on a directory of zstd files of two hosts.
# The engine is that of the npm module chdb, which is `clickhouse local` as a library.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

{ have node && [ -d "$cache/npm/node_modules/chdb" ]; } || unavailable "chdb, which npm installs,"

# sql FILE...: prints the rows of the last statement
sql() {
	(cd "$tmp" && node "$here/chdb.js" "$cache/npm" "$@")
}

answer() {
	sql "$samples/clickhouse/files.sql" "$samples/clickhouse/$1.sql"
}

columns() {
	echo "SELECT name FROM system.columns WHERE table = 'connections'" >"$tmp/columns.sql"
	sql "$samples/clickhouse/files.sql" "$tmp/columns.sql"
}

require "records of two hosts" make_records
is "the view has a column for each member of a record line" "$(columns | grep '^cr_')" "$(fields)"
echo "SELECT count(), uniqExact(host), min(cr_end) FROM connections" >"$tmp/count.sql"
is "every record is in the view" "$(sql "$samples/clickhouse/files.sql" "$tmp/count.sql" | tr '\t' ' ')" \
	"$(cat "$records"/*.jsonl | wc -l) 2 $(sed 's/.*"cr_end":\([0-9]*\).*/\1/' "$records"/*.jsonl | sort | head -n 1)"
check_answers answer
check "the schema of the server" sql "$samples/clickhouse/schema.sql"

tap_done
