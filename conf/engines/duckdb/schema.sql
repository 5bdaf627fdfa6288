-- SPDX-License-Identifier: BSD-2-Clause
-- Connection records of netobs as a view of files: records/HOST/*.jsonl.zst below the current directory, with lines of
-- `netobsctl stream --json` or of `netobsd --records`.  DuckDB reads the files at each query; nothing is loaded.
-- netobs(7) describes the fields of connrec_t.
-- duckdb -init schema.sql
CREATE OR REPLACE VIEW connections AS
SELECT host, to_timestamp(record.cr_end / 1e9) AS time, unnest(record)
FROM (SELECT parse_path(filename)[-2] AS host, from_json(coalesce(json->'$.args[0]', json), '{
	"cr_uid": "VARCHAR",
	"cr_community": "VARCHAR",
	"cr_client": "VARCHAR",
	"cr_server": "VARCHAR",
	"cr_client_port": "USMALLINT",
	"cr_server_port": "USMALLINT",
	"cr_role": "VARCHAR",
	"cr_protocol": "UTINYINT",
	"cr_protostr": "VARCHAR",
	"cr_version": "UTINYINT",
	"cr_if_name": "VARCHAR",
	"cr_vlan": "INTEGER",
	"cr_start": "BIGINT",
	"cr_end": "BIGINT",
	"cr_duration_us": "BIGINT",
	"cr_client_segments": "BIGINT",
	"cr_client_bytes": "BIGINT",
	"cr_client_wire": "BIGINT",
	"cr_client_resent": "BIGINT",
	"cr_client_out_of_order": "BIGINT",
	"cr_client_zero_windows": "BIGINT",
	"cr_client_state": "VARCHAR",
	"cr_server_segments": "BIGINT",
	"cr_server_bytes": "BIGINT",
	"cr_server_wire": "BIGINT",
	"cr_server_resent": "BIGINT",
	"cr_server_out_of_order": "BIGINT",
	"cr_server_zero_windows": "BIGINT",
	"cr_server_state": "VARCHAR",
	"cr_resent_fast": "BIGINT",
	"cr_resent_timeout": "BIGINT",
	"cr_resent_probe": "BIGINT",
	"cr_resent_spurious": "BIGINT",
	"cr_resent_syn": "BIGINT",
	"cr_zero_window_us": "BIGINT",
	"cr_handshake_us": "BIGINT",
	"cr_first_byte_us": "BIGINT",
	"cr_rtt_min_us": "BIGINT",
	"cr_rtt_mean_us": "BIGINT",
	"cr_rtt_max_us": "BIGINT",
	"cr_rtt_samples": "BIGINT",
	"cr_exchanges": "BIGINT",
	"cr_answer_mean_us": "BIGINT",
	"cr_answer_max_us": "BIGINT",
	"cr_mss": "BIGINT",
	"cr_client_flags": "UTINYINT",
	"cr_server_flags": "UTINYINT",
	"cr_reason": "VARCHAR",
	"cr_client_pid": "INTEGER",
	"cr_server_pid": "INTEGER",
	"cr_client_uid": "BIGINT",
	"cr_server_uid": "BIGINT",
	"cr_client_comm": "VARCHAR",
	"cr_server_comm": "VARCHAR",
	"cr_name": "VARCHAR",
	"cr_name_from": "VARCHAR",
	"cr_anomalies": "BIGINT",
	"cr_anomaly": "VARCHAR",
	"cr_since": "BIGINT"
}') AS record FROM read_ndjson_objects('records/*/*.jsonl.zst', filename = true))
WHERE record.cr_uid IS NOT NULL;

-- subnet('192.0.2.7') = '192.0.2.0/24', subnet('2001:db8::7') = '2001:db8:0:0::/64'
CREATE OR REPLACE MACRO ipv6_groups(text) AS
	list_filter(string_split(text, ':'), lambda part: part <> '');
CREATE OR REPLACE MACRO subnet(address) AS
	CASE WHEN contains(address, ':') THEN array_to_string(list_slice(
			ipv6_groups(split_part(address, '::', 1)) || list_transform(range(
				8 - len(ipv6_groups(split_part(address, '::', 1))) - len(ipv6_groups(split_part(address, '::', 2)))),
				lambda i: '0') || ipv6_groups(split_part(address, '::', 2)), 1, 4), ':') || '::/64'
	ELSE regexp_replace(address, '[0-9]+$', '0/24') END;
