/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP errors about a connection.  icmp_errors.sh has each type and code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/record/flow_record.h"
#include "tests/flow/tcp/tcp_fixture.h"

enum { UNREACHABLE = 3, HOST = 1 };

static struct tcp_fixture t;
static enum record_reason reason;
static unsigned ended;

static void
on_record(void *context, const struct flow *flow, const struct flow_record *record, enum record_reason why)
{
	(void)context;
	(void)flow;
	(void)record;
	reason = why;
	ended++;
}

static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, NANOSECONDS / 1000);
	flow_table_set_record_handler(t.table, on_record, NULL);
	assert_true(flow_table_keep_records(t.table, true));
	ended = 0;
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	return 0;
}

/* A router says that no route leads to B for a segment of A with this number. */
static struct packet
error_about(uint32_t seq)
{
	struct packet packet = {.network = NETWORK_IPV4, .transport = TRANSPORT_ICMP};
	struct icmp_layer *icmp = &packet.icmp;

	packet.ip.version = 4;
	memcpy(packet.ip.src, (uint8_t[]){10, 0, 0, 254}, 4);
	memcpy(packet.ip.dst, (uint8_t[]){10, 0, 0, 1}, 4);
	icmp->type = UNREACHABLE;
	icmp->code = HOST;
	icmp->error = true;
	icmp->quote.version = 4;
	icmp->quote.protocol = 6;
	memcpy(icmp->quote.src, (uint8_t[]){10, 0, 0, 1}, 4);
	memcpy(icmp->quote.dst, (uint8_t[]){10, 0, 0, 2}, 4);
	icmp->quote.has_ports = icmp->quote.has_seq = true;
	icmp->quote.sport = 1000;
	icmp->quote.dport = 80;
	icmp->quote.seq = seq;
	return packet;
}

/* The error is captured now. */
static void
receive(const struct packet *error)
{
	struct flow_events events = {.count = 0};

	flow_table_run_timers(t.table, t.now);
	tcp_icmp_received(t.table, t.flow, A, error, t.now, &events);
	for (unsigned i = 0; i < events.count; i++)
		tcp_fixture_trace_event(&t, &events.event[i]);
	flow_table_report_ended(t.table);
}

static void
receive_about(uint32_t seq)
{
	struct packet error = error_about(seq);

	receive(&error);
}

/* What happens to an attempt with `len` bytes in its SYN. */
static const char *
attempt(uint32_t len, uint32_t seq)
{
	flow_table_clear(t.table);
	ended = 0;
	tcp_fixture_feed(&t, (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000, .len = len});
	tcp_fixture_take_trace(&t);
	receive_about(seq);
	return tcp_fixture_take_trace(&t);
}

static void
ends_an_attempt(void **state)
{
	(void)state;
	assert_string_equal(attempt(0, 1000), "A:connect-refused A:SYN_SENT>CLOSED");
	assert_int_equal(ended, 1);
	assert_int_equal(reason, RECORD_UNREACHABLE);
	receive_about(1000); /* a second one */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	fastpath_finish_frame(&t, 300 * NANOSECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(flow_table_counters(t.table)->flows, 0);
	assert_int_equal(ended, 1);
}

static void
quotes_a_number_of_the_attempt(void **state)
{
	(void)state;
	assert_string_equal(attempt(0, 999), "");
	assert_string_equal(attempt(0, 1001), "A:connect-refused A:SYN_SENT>CLOSED");
	assert_string_equal(attempt(0, 1002), "");
	assert_string_equal(attempt(100, 1101), "A:connect-refused A:SYN_SENT>CLOSED");
	assert_string_equal(attempt(100, 1102), "");
}

static void
ends_nothing_for_other_hosts(void **state)
{
	struct packet error = error_about(1000);

	(void)state;
	attempt(0, 999);
	error.ip.dst[3] = 9;
	receive(&error);
	error = error_about(1000);
	error.icmp.quote.has_seq = false;
	receive(&error);
	error = error_about(1000);
	error.ip.version = 6;
	receive(&error);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(ended, 0);
}

/* A SYN,ACK was captured before: the attempt has succeeded, or its host answers with a RST. */
static void
comes_too_late(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000});
	tcp_fixture_feed(&t, (struct test_segment){.from = B, .flags = TCP_SYN | TCP_ACK, .seq = 5000, .ack = 1001});
	tcp_fixture_take_trace(&t);
	receive_about(1000);
	receive_about(1001);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	receive_about(1001);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	receive_about(1001);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(ended, 0);
}

/* Another system does not give up: the SYN comes again and is answered. */
static void
may_be_survived(void **state)
{
	(void)state;
	attempt(0, 1000);
	t.now += NANOSECONDS;
	tcp_fixture_feed(&t, (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000});
	tcp_fixture_feed(&t, (struct test_segment){.from = B, .flags = TCP_SYN | TCP_ACK, .seq = 5000, .ack = 1001});
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 10));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1011));
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_ESTABLISHED);
}

/* Both ends open at once; an error ends the attempt of A, of which the SYN,ACK was captured. */
static void
feed_simultaneous(void)
{
	tcp_fixture_feed(&t, (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000});
	tcp_fixture_feed(&t, (struct test_segment){.from = B, .flags = TCP_SYN, .seq = 5000});
	tcp_fixture_feed(&t, (struct test_segment){.from = A, .flags = TCP_SYN | TCP_ACK, .seq = 1000, .ack = 5001});
	tcp_fixture_take_trace(&t);
	receive_about(1000);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:connect-refused A:SYN_RECEIVED>CLOSED");
	assert_non_null(flow_record_icmp(t.table, t.flow));
	assert_int_equal(ended, 0);
}

static void
ends_one_end_of_a_simultaneous_open(void **state)
{
	(void)state;
	feed_simultaneous();
	tcp_fixture_feed(&t, (struct test_segment){.from = B, .flags = TCP_SYN | TCP_ACK, .seq = 5000, .ack = 1001});
	assert_non_null(flow_record_icmp(t.table, t.flow));
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 1001, 0));
	flow_table_report_ended(t.table);
	assert_int_equal(ended, 1);
	assert_int_equal(reason, RECORD_UNREACHABLE);
}

/* The record of a connection that was established, of which both ends close, has no error. */
static void
may_be_survived_in_a_simultaneous_open(void **state)
{
	(void)state;
	feed_simultaneous();
	tcp_fixture_feed(&t, (struct test_segment){.from = B, .flags = TCP_SYN | TCP_ACK, .seq = 5000, .ack = 1001});
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 10));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1011));
	t.now += NANOSECONDS;
	tcp_fixture_feed(&t, segment_data(A, 1011, 5001, 10));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1021));
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	assert_null(flow_record_icmp(t.table, t.flow));
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1021, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1022));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1022, 5002));
	flow_table_report_ended(t.table);
	assert_int_equal(ended, 1);
	assert_int_equal(reason, RECORD_FIN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_an_attempt, begin, end),
		cmocka_unit_test_setup_teardown(quotes_a_number_of_the_attempt, begin, end),
		cmocka_unit_test_setup_teardown(ends_nothing_for_other_hosts, begin, end),
		cmocka_unit_test_setup_teardown(comes_too_late, begin, end),
		cmocka_unit_test_setup_teardown(may_be_survived, begin, end),
		cmocka_unit_test_setup_teardown(ends_one_end_of_a_simultaneous_open, begin, end),
		cmocka_unit_test_setup_teardown(may_be_survived_in_a_simultaneous_open, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
