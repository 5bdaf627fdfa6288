#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/engines/clickhouse: a ClickHouse of this test, on a loopback port, with the records of two hosts.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

have clickhouse-server clickhouse-client || unavailable ClickHouse

# Only the server of this test has this user, also if another one took its port.
user=netobs$$

# write_configuration PORT
write_configuration() {
	mkdir -p "$tmp/clickhouse/data" "$tmp/clickhouse/tmp"
	cat >"$tmp/clickhouse/config.xml" <<-END
		<yandex>
			<logger><level>warning</level><log>$tmp/clickhouse/log</log><errorlog>$tmp/clickhouse/errors</errorlog></logger>
			<listen_host>127.0.0.1</listen_host>
			<tcp_port>$1</tcp_port>
			<path>$tmp/clickhouse/data/</path>
			<tmp_path>$tmp/clickhouse/tmp/</tmp_path>
			<mark_cache_size>10000000</mark_cache_size>
			<users_config>users.xml</users_config>
			<default_profile>default</default_profile>
			<default_database>default</default_database>
		</yandex>
	END
	cat >"$tmp/clickhouse/users.xml" <<-END
		<yandex>
			<profiles><default/></profiles>
			<users><$user><password/><networks><ip>127.0.0.1</ip></networks>
				<profile>default</profile><quota>default</quota></$user></users>
			<quotas><default/></quotas>
		</yandex>
	END
}

# start_server: another program may take the port first, then with another one
start_server() {
	for _ in 1 2 3 4 5; do
		port=$(python3 "$here/free_port.py")
		write_configuration "$port"
		clickhouse-server "--config-file=$tmp/clickhouse/config.xml" >"$tmp/clickhouse/output" 2>&1 &
		server=$!
		! wait_while "$server" server_answers || return 0
		end_server "$server" KILL
	done
	cat "$tmp/clickhouse/output" "$tmp/clickhouse/errors"
	return 1
}

server_answers() {
	sql --query 'SELECT 1'
}

sql() {
	clickhouse-client --host 127.0.0.1 --port "$port" --user "$user" "$@"
}

answer() {
	sql <"$samples/clickhouse/$1.sql"
}

# load HOST
load() {
	zstdcat "$tmp/records/$1"/*.jsonl.zst | with_host "$1" |
		sql --input_format_skip_unknown_fields=1 --query 'INSERT INTO connections FORMAT JSONEachRow'
}

columns() {
	sql --query "SELECT name FROM system.columns WHERE table = 'connections' AND default_kind = ''"
}

require "records of two hosts" make_records
require "a server runs" start_server
sql -n <"$samples/clickhouse/schema.sql" >"$tmp/schema" 2>&1
is "the schema" "$(cat "$tmp/schema")" ""
is "it has a column for each member of a record line" "$(columns | sed 1d)" "$(fields)"
check "load alpha" load alpha
check "load beta" load beta
is "every record is in the table" "$(sql --query 'SELECT count() FROM connections')" "$(cat "$records"/*.jsonl | wc -l)"
check_answers answer
end_server "$server" TERM
is "the server ends" "$?" 0

tap_done
