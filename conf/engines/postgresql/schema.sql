-- SPDX-License-Identifier: BSD-2-Clause
-- Connection records of netobs, one row for each record; netobs(7) describes the fields of connrec_t.
-- psql -f schema.sql
CREATE TABLE connections (
	host text NOT NULL,		-- the host that observed the connection: from the load, not of the record
	time timestamptz NOT NULL,	-- cr_end, to the microsecond: from the load, not of the record
	cr_uid text NOT NULL,		-- 16 hex digits, the same on both hosts of a connection whose SYN was captured
	cr_community text NOT NULL,
	cr_client inet NOT NULL,
	cr_server inet NOT NULL,
	cr_client_port integer NOT NULL,
	cr_server_port integer NOT NULL,
	cr_role text,
	cr_protocol smallint,
	cr_protostr text,
	cr_version smallint,
	cr_if_name text,
	cr_vlan integer,
	cr_start bigint NOT NULL,	-- ns since the epoch
	cr_end bigint NOT NULL,
	cr_duration_us bigint,
	cr_client_segments bigint,
	cr_client_bytes bigint,
	cr_client_wire bigint,
	cr_client_resent bigint,
	cr_client_out_of_order bigint,
	cr_client_zero_windows bigint,
	cr_client_state text,
	cr_server_segments bigint,
	cr_server_bytes bigint,
	cr_server_wire bigint,
	cr_server_resent bigint,
	cr_server_out_of_order bigint,
	cr_server_zero_windows bigint,
	cr_server_state text,
	cr_resent_fast bigint,
	cr_resent_timeout bigint,
	cr_resent_probe bigint,
	cr_resent_spurious bigint,
	cr_resent_syn bigint,
	cr_zero_window_us bigint,
	cr_handshake_us bigint,		-- this and the times below: -1 unknown
	cr_first_byte_us bigint,
	cr_rtt_min_us bigint,
	cr_rtt_mean_us bigint,
	cr_rtt_max_us bigint,
	cr_rtt_samples bigint,
	cr_exchanges bigint,
	cr_answer_mean_us bigint,
	cr_answer_max_us bigint,
	cr_mss bigint,
	cr_client_flags smallint,
	cr_server_flags smallint,
	cr_reason text NOT NULL,
	cr_client_pid integer,
	cr_server_pid integer,
	cr_client_uid bigint,
	cr_server_uid bigint,
	cr_client_comm text,
	cr_server_comm text,
	cr_name text,
	cr_name_from text,
	cr_anomalies bigint,
	cr_anomaly text,
	cr_since bigint,
	PRIMARY KEY (host, cr_uid, cr_end, cr_reason)
);
CREATE INDEX connections_community ON connections (cr_community);
CREATE INDEX connections_time ON connections USING brin (time);
