/* SPDX-License-Identifier: BSD-2-Clause */
/* The ACK of a SYN,ACK, which a listener drops if its accept queue is full.  See also tests/truth/overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/record/flow_record.h"
#include "tests/flow/tcp/tcp_fixture.h"

#define MS (NANOSECONDS / 1000)
#define ACCEPTED "B:accept-established B:SYN_RECEIVED>ESTABLISHED"

static struct tcp_fixture t;

static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, MS);
	assert_true(flow_table_keep_records(t.table, true));
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	return 0;
}

static void
feed(uint64_t after, unsigned from, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	struct test_segment s = segment_empty(from, flags, seq, ack);

	s.len = len;
	t.now += after;
	tcp_fixture_feed(&t, s);
}

static void
expect(const char *events)
{
	assert_string_equal(tcp_fixture_take_trace(&t), events);
}

/* SYN, SYN,ACK and its ACK. */
static void
open_client(void)
{
	feed(0, A, TCP_SYN, 1000, 0, 0);
	feed(MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1001, 5001, 0);
	expect("A:connect-request A:CLOSED>SYN_SENT B:LISTEN>SYN_RECEIVED A:connect-established "
	       "A:SYN_SENT>ESTABLISHED");
}

/* The event and the record have the time of the ACK. */
static void
assert_accepted_after(uint64_t ns)
{
	assert_int_equal(t.last[B].ts, FIXTURE_BEGIN + ns);
	assert_int_equal(flow_record_handshake_us(flow_table_record(t.table, t.flow)), ns / 1000);
}

static void
test_an_ack_of_data_proves_it(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_client();
	before = t.flow->tcp[B];
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 10).bytes, 0);
	expect("");
	before = t.flow->tcp[B];
	feed(40 * MS, B, TCP_ACK, 5001, 1011, 0);
	expect(ACCEPTED);
	assert_accepted_after(2 * MS);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 0).bytes, 10);
}

static void
test_data_proves_it(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	before = t.flow->tcp[B];
	feed(MS, B, TCP_ACK, 5001, 1001, 20); /* sent before the data arrived */
	expect(ACCEPTED);
	assert_accepted_after(2 * MS);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 0).bytes, 10);
}

static void
test_a_fin_proves_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, B, TCP_FIN | TCP_ACK, 5001, 1001, 0);
	expect(ACCEPTED " B:ESTABLISHED>FIN_WAIT_1");
}

static void
test_a_bare_ack_proves_nothing(void **state)
{
	(void)state;
	open_client();
	feed(MS, B, TCP_ACK, 5001, 1001, 0);
	expect("");
	feed(MS, A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(MS, B, TCP_ACK, 5001, 1002, 0);
	expect("A:ESTABLISHED>FIN_WAIT_1 " ACCEPTED " B:ESTABLISHED>CLOSE_WAIT A:FIN_WAIT_1>FIN_WAIT_2");
}

static void
test_silence_proves_it(void **state)
{
	(void)state;
	open_client();
	fastpath_finish_frame(&t, 1000 * MS);
	expect("");
	fastpath_finish_frame(&t, 250 * MS);
	expect(ACCEPTED);
	assert_accepted_after(2 * MS);
}

/* The second SYN,ACK has a timeout of two seconds. */
static void
test_silence_after_a_repeated_syn_ack_is_longer(void **state)
{
	(void)state;
	feed(0, A, TCP_SYN, 1000, 0, 0);
	feed(MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(1000 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1001, 5001, 0);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 3700 * MS);
	expect("");
	fastpath_finish_frame(&t, 100 * MS);
	expect(ACCEPTED);
	assert_accepted_after(1002 * MS);
}

static void
test_a_syn_ack_again_denies_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	feed(1000 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	expect("B:timeout(retransmit) B:retransmit(syn,2)");
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1001);
	feed(MS, A, TCP_ACK, 1011, 5001, 0);
	feed(200 * MS, A, TCP_ACK, 1001, 5001, 10);
	expect("A:timeout(retransmit) A:retransmit(timeout,2)");
	feed(MS, B, TCP_ACK, 5001, 1011, 0);
	expect(ACCEPTED);
	assert_accepted_after(1004 * MS);
}

/* Captured far from the listener, which sent it before the ACK arrived. */
static void
test_a_syn_ack_that_crosses_the_ack_denies_nothing(void **state)
{
	(void)state;
	feed(0, A, TCP_SYN, 1000, 0, 0);
	feed(700 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(350 * MS, A, TCP_ACK, 1001, 5001, 10);
	feed(650 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	tcp_fixture_take_trace(&t);
	feed(50 * MS, B, TCP_ACK, 5001, 1011, 0);
	expect(ACCEPTED);
	assert_accepted_after(1050 * MS);
}

static void
test_no_syn_ack_after_one_that_crosses_the_ack_proves_it(void **state)
{
	(void)state;
	feed(0, A, TCP_SYN, 1000, 0, 0);
	feed(MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(998 * MS, A, TCP_ACK, 1001, 5001, 0);
	feed(2 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 3700 * MS);
	expect("");
	fastpath_finish_frame(&t, 100 * MS);
	expect(ACCEPTED);
	assert_accepted_after(999 * MS);
}

/* The listener drops the ACK, and its next SYN,ACK comes three seconds after the first. */
static void
test_a_syn_ack_after_one_that_crosses_the_ack_denies_it(void **state)
{
	(void)state;
	feed(0, A, TCP_SYN, 1000, 0, 0);
	feed(1000 * MS, A, TCP_SYN, 1000, 0, 0);
	feed(MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1001, 5001, 0);
	feed(999 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1001, 5001, 0);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 1900 * MS);
	feed(99 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	expect("B:timeout(retransmit) B:retransmit(syn,3)");
}

/* One that the listener's end sends itself must not move the time of the ACK. */
static void
test_a_syn_of_the_listener_changes_no_time(void **state)
{
	(void)state;
	open_client();
	feed(10 * MS, B, TCP_SYN, 5000, 0, 0);
	tcp_fixture_take_trace(&t);
	feed(MS, B, TCP_ACK, 5001, 1001, 20);
	expect(ACCEPTED);
	assert_accepted_after(2 * MS);
}

/* The round trip is longer than the client's timer. */
static void
test_a_syn_ack_for_each_syn_denies_nothing(void **state)
{
	(void)state;
	feed(0, A, TCP_SYN, 1000, 0, 0);
	feed(1000 * MS, A, TCP_SYN, 1000, 0, 0);
	feed(500 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	tcp_fixture_take_trace(&t);
	feed(999 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	expect("B:retransmit(syn,2)");
	feed(501 * MS, B, TCP_ACK, 5001, 1011, 0);
	expect(ACCEPTED);
	assert_accepted_after(1501 * MS);
}

static void
test_a_copy_of_the_syn_ack_denies_nothing(void **state)
{
	struct test_segment s = segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001);

	(void)state;
	s.ident = 7;
	feed(0, A, TCP_SYN, 1000, 0, 0);
	tcp_fixture_feed(&t, s);
	feed(MS, A, TCP_ACK, 1001, 5001, 0);
	tcp_fixture_take_trace(&t);
	t.now += MS / 10;
	tcp_fixture_feed(&t, s);
	fastpath_finish_frame(&t, 1300 * MS);
	expect(ACCEPTED);
}

/* SYN cookies: the listener has no timer for its SYN,ACK. */
static void
test_data_without_an_answer_deny_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	feed(300 * MS, A, TCP_ACK, 1001, 5001, 10);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 20000 * MS);
	expect("");
	tcp_flush_deferred(t.table, t.now);
	expect("");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_SYN_RECEIVED);
	assert_int_equal(flow_record_handshake_us(flow_table_record(t.table, t.flow)), RECORD_UNKNOWN_US);
}

/* The client acknowledges each SYN,ACK; its data wait. */
static void
test_data_before_another_ack_deny_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	feed(200 * MS, A, TCP_ACK, 1001, 5001, 10);
	feed(800 * MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1011, 5001, 0);
	tcp_fixture_take_trace(&t);
	tcp_flush_deferred(t.table, t.now);
	expect("");
}

static void
test_a_late_syn_ack_delivers_nothing_again(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	feed(MS, B, TCP_ACK, 5001, 1011, 0);
	feed(MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	before = t.flow->tcp[B];
	feed(MS, B, TCP_ACK, 5001, 1011, 0);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 0).bytes, 0);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1011);
}

static void
test_fresh_data_at_the_end_of_the_capture(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_client();
	feed(MS, A, TCP_FIN | TCP_ACK, 1001, 5001, 10);
	expect("A:ESTABLISHED>FIN_WAIT_1");
	before = t.flow->tcp[B];
	tcp_flush_deferred(t.table, t.now);
	expect(ACCEPTED " B:ESTABLISHED>CLOSE_WAIT");
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 0).bytes, 10);
}

/* The SYN,ACK has refused the data of the SYN. */
static void
test_data_of_a_syn_deny_nothing(void **state)
{
	(void)state;
	feed(0, A, TCP_SYN, 1000, 0, 5);
	feed(MS, B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(MS, A, TCP_ACK, 1006, 5001, 0);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 1300 * MS);
	expect(ACCEPTED);
	assert_accepted_after(2 * MS);
}

static void
test_old_data_at_the_end_of_the_capture(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	tcp_fixture_take_trace(&t);
	t.now += 20000 * MS; /* the packets of others */
	tcp_flush_deferred(t.table, t.now);
	expect("");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_SYN_RECEIVED);
}

/* A listener answers with the number of the ACK (tcp_abort_on_overflow), a socket that was closed with an ACK, too. */
static void
test_a_reset_of_the_listener_denies_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, B, TCP_RST, 5001, 0, 0);
	fastpath_finish_frame(&t, 1000 * MS);
	expect("B:SYN_RECEIVED>CLOSED A:ESTABLISHED>CLOSED");
}

static void
test_a_reset_of_the_socket_proves_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, B, TCP_RST | TCP_ACK, 5001, 1001, 0);
	fastpath_finish_frame(&t, 1000 * MS);
	expect(ACCEPTED " B:ESTABLISHED>CLOSED A:ESTABLISHED>CLOSED");
}

static void
test_a_reset_of_the_client_at_once(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_RST | TCP_ACK, 1001, 5001, 0);
	fastpath_finish_frame(&t, 1000 * MS);
	expect("A:ESTABLISHED>CLOSED " ACCEPTED " B:ESTABLISHED>CLOSED");
}

static void
test_a_reset_of_a_client_without_an_answer(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5001, 10);
	feed(9000 * MS, A, TCP_RST | TCP_ACK, 1011, 5001, 0);
	expect("A:ESTABLISHED>CLOSED B:SYN_RECEIVED>CLOSED");
}

/* The client acknowledges data that were not captured: only a connection sends them. */
static void
test_an_ack_of_missing_data_proves_it(void **state)
{
	(void)state;
	open_client();
	feed(MS, A, TCP_ACK, 1001, 5501, 0);
	expect(ACCEPTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_ack_of_data_proves_it, begin, end),
		cmocka_unit_test_setup_teardown(test_data_proves_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_fin_proves_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_bare_ack_proves_nothing, begin, end),
		cmocka_unit_test_setup_teardown(test_silence_proves_it, begin, end),
		cmocka_unit_test_setup_teardown(test_silence_after_a_repeated_syn_ack_is_longer, begin, end),
		cmocka_unit_test_setup_teardown(test_a_syn_ack_again_denies_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_syn_ack_that_crosses_the_ack_denies_nothing, begin, end),
		cmocka_unit_test_setup_teardown(test_no_syn_ack_after_one_that_crosses_the_ack_proves_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_syn_ack_after_one_that_crosses_the_ack_denies_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_syn_of_the_listener_changes_no_time, begin, end),
		cmocka_unit_test_setup_teardown(test_a_syn_ack_for_each_syn_denies_nothing, begin, end),
		cmocka_unit_test_setup_teardown(test_a_copy_of_the_syn_ack_denies_nothing, begin, end),
		cmocka_unit_test_setup_teardown(test_data_without_an_answer_deny_it, begin, end),
		cmocka_unit_test_setup_teardown(test_data_before_another_ack_deny_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_late_syn_ack_delivers_nothing_again, begin, end),
		cmocka_unit_test_setup_teardown(test_fresh_data_at_the_end_of_the_capture, begin, end),
		cmocka_unit_test_setup_teardown(test_old_data_at_the_end_of_the_capture, begin, end),
		cmocka_unit_test_setup_teardown(test_data_of_a_syn_deny_nothing, begin, end),
		cmocka_unit_test_setup_teardown(test_a_reset_of_the_listener_denies_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_reset_of_the_socket_proves_it, begin, end),
		cmocka_unit_test_setup_teardown(test_a_reset_of_the_client_at_once, begin, end),
		cmocka_unit_test_setup_teardown(test_a_reset_of_a_client_without_an_answer, begin, end),
		cmocka_unit_test_setup_teardown(test_an_ack_of_missing_data_proves_it, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
