/* SPDX-License-Identifier: BSD-2-Clause */
/* The record of a connection as an argument: client and server, units, words, and the values for unknown fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "flow/table/table_internal.h"
#include "flow/tcp/tcp_pools.h"
#include "probes/args/args.h"
#include "tests/dissect/frame_buffer.h"

#define START 1795172523000000000u

/* A SYN from 10.0.0.2:40000 to 10.0.0.1:80: endpoint 1 is the client. */
static const uint8_t syn[] = {
    0x45, 0, 0, 40, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 2, 10, 0, 0, 1,
    0x9c, 0x40, 0, 80, 0, 0, 0, 100, 0, 0, 0, 0, 0x50, 0x02, 0x7d, 0, 0, 0, 0, 0,
};

static struct flow_table *table;
static struct flow *flow;
static struct flow_time *time;
static struct flow_record record;
static struct connrec cr;

static void
nothing_due(void *context, struct flow *due, const struct flow_events *events)
{
	(void)context;
	(void)due;
	(void)events;
}

static int
begin(void **state)
{
	struct flow_limits limits = flow_limits_default();
	struct frame_buffer bytes = frame_buffer_from(syn, sizeof syn);
	struct flow_key key;
	const struct packet *p;
	unsigned sender;

	(void)state;
	frame_fix_ipv4_checksum(&bytes);
	p = frame_dissect(DLT_RAW, &bytes);
	limits.flows = 16;
	table = flow_table_new(&limits, 1, nothing_due, NULL);
	assert_non_null(table);
	assert_true(flow_table_keep_records(table, true));
	flow_key_from_packet(p, &key, &sender);
	flow = flow_table_lookup_tcp(table, p, &key, flow_key_hash(table, &key), sender, START);
	assert_non_null(flow);
	time = &table->records.times[flow_index_of(table, flow)];
	time_begin(time, START);
	flow->last_seen = START + 1234567;
	record = (struct flow_record){.bits = RECORD_BEGUN | RECORD_CLIENT, .vlan = RECORD_NO_VLAN};
	memset(&cr, 0xa5, sizeof cr); /* a field that is not written shows */
	return 0;
}

static int
end(void **state)
{
	(void)state;
	flow_table_free(table);
	return 0;
}

static void
fill(enum record_reason reason, const struct owner *server, const struct owner *client)
{
	args_connrec(&cr, &(struct recorded_connection){.table = table, .flow = flow, .record = &record,
							.reason = reason, .owner = {server, client}});
}

static void
ends_are_client_and_server(void **state)
{
	(void)state;
	flow->tcp[0] = (struct tcp_endpoint){.state = TCP_STATE_CLOSED, .segments_sent = 4, .bytes = 900};
	flow->tcp[1] = (struct tcp_endpoint){.state = TCP_STATE_TIME_WAIT, .flags = TCP_EP_ISS_KNOWN, .iss = 100,
					     .segments_sent = 9, .bytes = 49};
	tcp_count_retransmission(table, flow, 0);
	record.wire[0] = 1200;
	record.wire[1] = 700;
	record.out_of_order[0] = 2;
	record.out_of_order[1] = 3;
	record.zero_windows[0] = 4;
	record.zero_windows[1] = 5;
	record.flags[0] = 0x12;
	record.flags[1] = 0x1b;
	fill(RECORD_FIN, NULL, NULL);
	assert_string_equal(cr.cr_client, "10.0.0.2");
	assert_string_equal(cr.cr_server, "10.0.0.1");
	assert_int_equal(cr.cr_client_port, 40000);
	assert_int_equal(cr.cr_server_port, 80);
	assert_int_equal(cr.cr_client_cid, flow_cid(table, flow, 1));
	assert_int_equal(cr.cr_server_cid, flow_cid(table, flow, 0));
	assert_int_equal(cr.cr_client_segments, 9);
	assert_int_equal(cr.cr_server_segments, 4);
	assert_int_equal(cr.cr_client_bytes, 49);
	assert_int_equal(cr.cr_server_bytes, 900);
	assert_int_equal(cr.cr_client_wire, 700);
	assert_int_equal(cr.cr_server_wire, 1200);
	assert_int_equal(cr.cr_client_resent, 0);
	assert_int_equal(cr.cr_server_resent, 1);
	assert_int_equal(cr.cr_client_out_of_order, 3);
	assert_int_equal(cr.cr_server_out_of_order, 2);
	assert_int_equal(cr.cr_client_zero_windows, 5);
	assert_int_equal(cr.cr_server_zero_windows, 4);
	assert_int_equal(cr.cr_client_flags, 0x1b);
	assert_int_equal(cr.cr_server_flags, 0x12);
	assert_string_equal(cr.cr_client_state, "time-wait");
	assert_string_equal(cr.cr_server_state, "closed");
}

static void
the_other_end_may_be_the_client(void **state)
{
	(void)state;
	record.bits = RECORD_BEGUN | RECORD_ROLE_PORT << RECORD_ROLE_SHIFT;
	fill(RECORD_IDLE, NULL, NULL);
	assert_string_equal(cr.cr_client, "10.0.0.1");
	assert_int_equal(cr.cr_server_port, 40000);
	assert_string_equal(cr.cr_role, "port");
}

static void
times_and_tuple(void **state)
{
	uint64_t uid;

	(void)state;
	fill(RECORD_FIN, NULL, NULL);
	uid = cr.cr_uid;
	assert_int_equal(cr.cr_protocol, 6);
	assert_string_equal(cr.cr_protostr, "TCP");
	assert_int_equal(cr.cr_version, 4);
	assert_int_equal(cr.cr_start, START);
	assert_int_equal(cr.cr_end, START + 1234567);
	assert_int_equal(cr.cr_duration_us, 1234);
	assert_int_equal(cr.cr_since, START);
	assert_int_equal(strlen(cr.cr_community), 30);
	assert_int_equal(cr.cr_vlan, -1);
	assert_string_equal(cr.cr_if_name, "");
	record.vlan = 4094;
	flow->last_seen = START - 1;
	flow->tcp[1].flags = TCP_EP_ISS_KNOWN;
	flow->tcp[1].iss = 100;
	fill(RECORD_FIN, NULL, NULL);
	assert_int_equal(cr.cr_duration_us, 0);
	assert_int_equal(cr.cr_vlan, 4094);
	flow->tcp[1].iss = 101;
	uid = cr.cr_uid;
	fill(RECORD_FIN, NULL, NULL);
	assert_int_not_equal(cr.cr_uid, uid);
}

static void
measured_values(void **state)
{
	(void)state;
	time->rtt[0] = (struct flow_round_trips){.samples = 2, .sum_us = 60, .min_us = 20, .max_us = 40};
	time->rtt[1] = (struct flow_round_trips){
	    .samples = 1, .sum_us = 50, .min_us = 50, .max_us = 50, .loaded = 1, .loaded_sum_us = 50};
	record.exchanges = 2;
	record.answer_sum_us = 5000000001;
	record.answer_max_us = 4000000000;
	record.bits |= RECORD_HANDSHAKE | RECORD_FROM_START | RECORD_SERVER_SENT;
	record.handshake_us = 700;
	record.first_byte_us = 900;
	record.zero_window_us = 4000000000;
	for (unsigned kind = 0; kind < 4; kind++)
		record.resent[kind] = kind + 1;
	record.resent_syn = 5;
	record.anomalies = 7;
	record.first_anomaly = ANOMALY_TCP_SHORT;
	fill(RECORD_FIN, NULL, NULL);
	assert_int_equal(cr.cr_rtt_samples, 3);
	assert_int_equal(cr.cr_rtt_min_us, 20);
	assert_int_equal(cr.cr_rtt_mean_us, 36);
	assert_int_equal(cr.cr_rtt_max_us, 50);
	assert_int_equal(cr.cr_client_rtt_min_us, 50);
	assert_int_equal(cr.cr_client_rtt_loaded_us, 50);
	assert_int_equal(cr.cr_server_rtt_mean_us, 30);
	assert_int_equal(cr.cr_server_rtt_loaded_us, -1);
	assert_int_equal(cr.cr_exchanges, 2);
	assert_int_equal(cr.cr_answer_mean_us, 2500000000);
	assert_int_equal(cr.cr_answer_max_us, 4000000000);
	assert_int_equal(cr.cr_handshake_us, 700);
	assert_int_equal(cr.cr_first_byte_us, 900);
	assert_int_equal(cr.cr_zero_window_us, 4000000000);
	assert_int_equal(cr.cr_resent_fast, 1);
	assert_int_equal(cr.cr_resent_timeout, 2);
	assert_int_equal(cr.cr_resent_probe, 3);
	assert_int_equal(cr.cr_resent_spurious, 4);
	assert_int_equal(cr.cr_resent_syn, 5);
	assert_int_equal(cr.cr_anomalies, 7);
	assert_string_equal(cr.cr_anomaly, "tcp-short");
}

static void
unknown_values(void **state)
{
	(void)state;
	flow->tcp[0].state = flow->tcp[1].state = TCP_STATE_NONE;
	fill(RECORD_FIN, NULL, NULL);
	assert_int_equal(cr.cr_rtt_samples, 0);
	assert_int_equal(cr.cr_rtt_min_us, -1);
	assert_int_equal(cr.cr_rtt_mean_us, -1);
	assert_int_equal(cr.cr_rtt_max_us, -1);
	assert_int_equal(cr.cr_exchanges, 0);
	assert_int_equal(cr.cr_answer_mean_us, -1);
	assert_int_equal(cr.cr_answer_max_us, -1);
	assert_int_equal(cr.cr_handshake_us, -1);
	assert_int_equal(cr.cr_first_byte_us, -1);
	assert_string_equal(cr.cr_client_state, "");
	assert_string_equal(cr.cr_server_state, "");
	assert_string_equal(cr.cr_anomaly, "");
	assert_string_equal(cr.cr_name, "");
	assert_string_equal(cr.cr_name_from, "");
	assert_int_equal(cr.cr_client_pid, -1);
	assert_int_equal(cr.cr_server_uid, -1);
	assert_string_equal(cr.cr_client_comm, "");
	assert_string_equal(cr.cr_server_comm, "");
	assert_int_equal(cr.cr_seq, 0);
}

static void
owners_belong_to_their_ends(void **state)
{
	struct owner client = {.pid = 77, .uid = 1000, .comm = "curl"};
	struct owner server = {.pid = -1, .uid = OWNER_UID_UNKNOWN, .comm = "stale"};

	(void)state;
	fill(RECORD_FIN, &server, &client);
	assert_int_equal(cr.cr_client_pid, 77);
	assert_int_equal(cr.cr_client_uid, 1000);
	assert_string_equal(cr.cr_client_comm, "curl");
	assert_int_equal(cr.cr_server_pid, -1);
	assert_int_equal(cr.cr_server_uid, -1);
	assert_string_equal(cr.cr_server_comm, "");
	record.bits = RECORD_BEGUN; /* endpoint 0 is the client */
	fill(RECORD_FIN, &server, &client);
	assert_int_equal(cr.cr_server_pid, 77);
	assert_int_equal(cr.cr_client_pid, -1);
}

/* Every reason and role has its word, and fits. */
static void
reasons_and_roles_are_words(void **state)
{
	static const char *const reasons[RECORD_REASON_COUNT] = {
	    "open", "fin", "reset-by-client", "reset-by-server", "refused",
	    "unreachable", "no-answer", "idle", "evicted", "capture-end"};
	static const char *const roles[] = {"seen", "port", "first"};

	(void)state;
	for (unsigned reason = 0; reason < RECORD_REASON_COUNT; reason++) {
		fill((enum record_reason)reason, NULL, NULL);
		assert_string_equal(cr.cr_reason, reasons[reason]);
	}
	for (unsigned role = 0; role < sizeof roles / sizeof roles[0]; role++) {
		record.bits = (uint16_t)(RECORD_BEGUN | role << RECORD_ROLE_SHIFT);
		fill(RECORD_FIN, NULL, NULL);
		assert_string_equal(cr.cr_role, roles[role]);
	}
}

static void
records_may_begin_late(void **state)
{
	(void)state;
	record.bits |= RECORD_LATE;
	record.since = START + 500;
	fill(RECORD_FIN, NULL, NULL);
	assert_int_equal(cr.cr_start, START);
	assert_int_equal(cr.cr_since, START + 500);
	assert_int_equal(cr.cr_handshake_us, -1);
	assert_int_equal(cr.cr_first_byte_us, -1);
}

static void
datagrams_have_no_state(void **state)
{
	(void)state;
	flow->kind = FLOW_UDP;
	flow->key.protocol = 17;
	flow->udp[0] = (struct udp_endpoint){.bytes = 1ull << 40, .datagrams = 5};
	flow->udp[1] = (struct udp_endpoint){.bytes = 64, .datagrams = 2};
	fill(RECORD_IDLE, NULL, NULL);
	assert_string_equal(cr.cr_protostr, "UDP");
	assert_int_equal(cr.cr_server_bytes, 1ull << 40);
	assert_int_equal(cr.cr_server_segments, 5);
	assert_int_equal(cr.cr_client_bytes, 64);
	assert_int_equal(cr.cr_client_segments, 2);
	assert_string_equal(cr.cr_client_state, "");
	assert_int_equal(cr.cr_mss, 0);
	flow->kind = FLOW_TCP;
}

static void
associations_have_states(void **state)
{
	(void)state;
	flow->kind = FLOW_SCTP;
	flow->key.protocol = 132;
	flow->sctp[0] = (struct sctp_endpoint){
	    .state = SCTP_STATE_SHUTDOWN_RECEIVED, .packets = 3, .chunks = 4, .retransmits = 1, .bytes = 99};
	flow->sctp[1] = (struct sctp_endpoint){.state = SCTP_STATE_CLOSED};
	fill(RECORD_IDLE, NULL, NULL);
	assert_string_equal(cr.cr_protostr, "SCTP");
	assert_string_equal(cr.cr_server_state, "shutdown-received");
	assert_string_equal(cr.cr_client_state, "closed");
	assert_int_equal(cr.cr_server_segments, 3);
	assert_int_equal(cr.cr_server_resent, 1);
	assert_int_equal(cr.cr_server_bytes, 99);
	flow->kind = FLOW_TCP;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(ends_are_client_and_server),
	    CASE(the_other_end_may_be_the_client),
	    CASE(times_and_tuple),
	    CASE(measured_values),
	    CASE(unknown_values),
	    CASE(owners_belong_to_their_ends),
	    CASE(reasons_and_roles_are_words),
	    CASE(records_may_begin_late),
	    CASE(datagrams_have_no_state),
	    CASE(associations_have_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
