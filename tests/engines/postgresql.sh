#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/engines/postgresql: a PostgreSQL of this test, on a Unix socket, with the records of two hosts.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

# extracted_database: copies the extracted programs below $tmp, with the libraries that were extracted: the user that runs
# them cannot read the cache if it lies below root's home
extracted_database() {
	mkdir -p "$tmp/usr/lib" "$tmp/usr/share" "$tmp/libraries"
	cp -R "$cache/root/usr/lib/postgresql" "$tmp/usr/lib/" && cp -R "$cache/root/usr/share/postgresql" "$tmp/usr/share/" || return 1
	programs=$tmp$programs
	extracted=$(sed -n 's/^LD_LIBRARY_PATH="\([^"]*\)".*/\1/p' "$cache/bin/psql")
	LD_LIBRARY_PATH=$extracted ldd "$programs/initdb" "$programs/postgres" "$programs/psql" |
		awk -v root="$cache/root/" 'index($3, root) == 1 { print $3 }' | sort -u | while read -r library; do
		cp -L "$library" "$tmp/libraries/" || return 1
	done
	libraries=$tmp/libraries
}

programs=/usr/lib/postgresql/15/bin libraries=''
if [ ! -x "$programs/postgres" ]; then
	[ -x "$cache/root$programs/postgres" ] || unavailable "PostgreSQL 15"
	extracted_database || exit 99
fi

# The path of a Unix socket has at most 107 bytes.
sockets=$(mktemp -d /tmp/netobs-sql.XXXXXX) || exit 99
at_end "rm -rf '$sockets'"
mkdir "$tmp/database"
[ "$(id -u)" -ne 0 ] || chown nobody:nogroup "$tmp/database" "$sockets"

start_database() {
	(unprivileged env LD_LIBRARY_PATH="$libraries" "$programs/initdb" -D "$tmp/database" -U netobs -A trust -E UTF8 --locale=C \
		--no-sync) >"$tmp/initdb" 2>&1 || {
		cat "$tmp/initdb"
		return 1
	}
	(unprivileged env LD_LIBRARY_PATH="$libraries" "$programs/postgres" -D "$tmp/database" -k "$sockets" -c listen_addresses= \
		-c fsync=off) >"$tmp/postgres" 2>&1 &
	database=$!
	wait_while "$database" database_answers || {
		cat "$tmp/postgres"
		return 1
	}
}

database_answers() {
	sql -c 'SELECT 1'
}

# sql OPTION...: without the settings of the user; the first error ends it
sql() {
	LD_LIBRARY_PATH=$libraries "$programs/psql" -X -q -v ON_ERROR_STOP=1 -h "$sockets" -U netobs -d postgres "$@"
}

answer() {
	sql -A -t -F "$(printf '\t')" -f "$samples/postgresql/$1.sql"
}

# load HOST
load() {
	zstdcat "$tmp/records/$1"/*.jsonl.zst | sql -v "host=$1" -f "$samples/postgresql/load.sql"
}

columns() {
	sql -A -t -c "SELECT column_name FROM information_schema.columns WHERE table_name = 'connections' ORDER BY ordinal_position"
}

require "records of two hosts" make_records
require "a database runs" start_database
check "the schema" sql -f "$samples/postgresql/schema.sql"
is "it has a column for each member of a record line" "$(columns | sed 1,2d)" "$(fields)"
check "load alpha" load alpha
check "load beta" load beta
check "load alpha again" load alpha
is "every record is in the table once" "$(sql -A -t -c 'SELECT count(*) FROM connections')" "$(cat "$records"/*.jsonl | wc -l)"
check_answers answer
end_server "$database" INT
is "the database ends" "$?" 0

tap_done
