-- SPDX-License-Identifier: BSD-2-Clause
-- Loads the records of one host from standard input: lines of `netobsd --records` or of `netobsctl stream --json`.
-- Records that are in the table already are left out, and fields that have no column.
-- zstdcat records/HOST/*.jsonl.zst | psql -v host=HOST -f load.sql
BEGIN;
CREATE TEMPORARY TABLE lines (line jsonb) ON COMMIT DROP;
\copy lines FROM pstdin WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
INSERT INTO connections
	SELECT row.*
	FROM (SELECT coalesce(line->'args'->0, line) AS record FROM lines) AS records,
		jsonb_populate_record(NULL::connections, record || jsonb_build_object(
			'host', :'host', 'time', to_timestamp((record->>'cr_end')::bigint / 1e9))) AS row
	WHERE record ? 'cr_uid'
	ON CONFLICT DO NOTHING;
COMMIT;
