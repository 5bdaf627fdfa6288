/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments that an endpoint must ignore, and the evidence that frames are missing instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/tcp/tcp_fastpath.h"
#include "tests/flow/tcp/tcp_fixture.h"

#define OPEN                                                                                                 \
	"A:connect-request A:CLOSED>SYN_SENT B:LISTEN>SYN_RECEIVED A:connect-established A:SYN_SENT>ESTABLISHED " \
	"B:accept-established B:SYN_RECEIVED>ESTABLISHED"

static struct tcp_fixture t;

static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, MILLISECONDS);
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
feed(unsigned from, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len)
{
	struct test_segment s = segment_empty(from, flags, seq, ack);

	s.len = len;
	t.now += MILLISECONDS;
	tcp_fixture_feed(&t, s);
}

static void
feed_stamped(unsigned from, unsigned flags, uint32_t seq, uint32_t ack, uint32_t len, uint32_t tsval)
{
	struct test_segment s = segment_empty(from, flags, seq, ack);

	s.len = len;
	s.tsval = tsval;
	s.tsecr = 1;
	t.now += MILLISECONDS;
	tcp_fixture_feed(&t, s);
}

/* Another scenario in the same test. */
static void
begin_again(void)
{
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
}

static void
open_connection(void)
{
	tcp_fixture_handshake(&t);
	assert_string_equal(tcp_fixture_take_trace(&t), OPEN);
}

static void
expect(const char *events)
{
	assert_string_equal(tcp_fixture_take_trace(&t), events);
}

/* --- the SYN,ACK --- */

static void
test_a_half_open_scan_establishes_nothing(void **state)
{
	(void)state;
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(A, TCP_RST, 1001, 0, 0);
	expect("A:connect-request A:CLOSED>SYN_SENT B:LISTEN>SYN_RECEIVED A:SYN_SENT>CLOSED B:SYN_RECEIVED>CLOSED");
}

static void
test_a_syn_ack_is_accepted_if_the_peer_goes_on(void **state)
{
	(void)state;
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	expect("A:connect-request A:CLOSED>SYN_SENT B:LISTEN>SYN_RECEIVED");
	feed(B, TCP_ACK, 5001, 1001, 10); /* A's ACK was not captured */
	expect("A:connect-established A:SYN_SENT>ESTABLISHED");
	assert_int_equal(t.flow->tcp[A].rcv_nxt, 5011);
}

static void
test_a_syn_ack_is_accepted_at_the_end(void **state)
{
	(void)state;
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	tcp_fixture_take_trace(&t);
	tcp_flush_deferred(t.table, t.now);
	expect("A:connect-established A:SYN_SENT>ESTABLISHED");
}

static void
test_a_syn_ack_again_is_not_accepted(void **state)
{
	(void)state;
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	t.now += 1000 * MILLISECONDS;
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 5000 * MILLISECONDS);
	tcp_flush_deferred(t.table, t.now);
	expect("");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_SYN_SENT);
}

static void
test_a_syn_ack_sent_again_is_accepted_with_an_ack(void **state)
{
	(void)state;
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	t.now += 1000 * MILLISECONDS;
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	fastpath_finish_frame(&t, 1900 * MILLISECONDS);
	tcp_fixture_take_trace(&t);
	feed(A, TCP_ACK, 1001, 5001, 0);
	expect("A:connect-established A:SYN_SENT>ESTABLISHED");
}

/* --- RST --- */

static void
test_a_reset_with_the_number_of_a_fin_that_waits(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	t.now -= MILLISECONDS / 2; /* B has not acknowledged the FIN yet */
	feed(A, TCP_RST, 1001, 0, 0);
	tcp_flush_deferred(t.table, t.now);
	expect("A:ESTABLISHED>FIN_WAIT_1 A:FIN_WAIT_1>CLOSED B:ESTABLISHED>CLOSE_WAIT B:CLOSE_WAIT>CLOSED");
}

/* A closes; data of B and B's ACK of the FIN are captured before A's answer to the data. */
static void
close_before_data(void)
{
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(B, TCP_ACK, 5001, 1001, 100);
	t.now -= MILLISECONDS / 2;
	feed(B, TCP_ACK, 5101, 1002, 100);
	tcp_fixture_take_trace(&t);
	t.now -= MILLISECONDS / 2;
}

static void
test_data_resets_a_closed_socket_before_the_ack_of_its_fin(void **state)
{
	(void)state;
	close_before_data();
	feed(A, TCP_RST, 1001, 0, 0); /* the ACK number of the data */
	expect("A:FIN_WAIT_1>CLOSED");
}

static void
test_data_resets_a_closed_socket_after_the_ack_of_its_fin(void **state)
{
	(void)state;
	close_before_data();
	feed(A, TCP_RST, 1002, 0, 0);
	expect("A:FIN_WAIT_1>FIN_WAIT_2 A:FIN_WAIT_2>CLOSED");
}

/* A is busy: it answers late, but an open socket acknowledges data within 200 ms. */
static void
test_data_resets_a_closed_socket_late(void **state)
{
	(void)state;
	close_before_data();
	t.now += 40 * MILLISECONDS;
	feed(A, TCP_RST, 1001, 0, 0);
	expect("A:FIN_WAIT_1>CLOSED");
	begin_again();
	close_before_data();
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	expect("A:FIN_WAIT_1>FIN_WAIT_2");
}

/* A's FIN acknowledges bytes that were not captured, so it is proved only by B's ACK of it. */
static void
test_data_resets_a_closed_socket_with_an_unproven_fin(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_ACK, 5001, 1001, 100);
	feed(A, TCP_FIN | TCP_ACK, 1001, 5301, 0);
	feed(B, TCP_ACK, 5301, 1001, 100);
	feed(B, TCP_ACK, 5401, 1002, 100);
	expect("B:ESTABLISHED>CLOSE_WAIT A:ESTABLISHED>FIN_WAIT_1");
	feed(A, TCP_RST, 1001, 0, 0);
	expect("A:FIN_WAIT_1>CLOSED");
}

/* A closes with a FIN on its last data.  B's data, sent before, has an ACK number below A's data; B's ACK of `ack` and
 * more data are captured before A's answer. */
static void
close_with_data_before_data(uint32_t ack)
{
	open_connection();
	feed(A, TCP_ACK, 1001, 5001, 100);
	feed(A, TCP_FIN | TCP_ACK, 1101, 5001, 100);
	feed(B, TCP_ACK, 5001, 1001, 100);
	t.now -= MILLISECONDS / 2;
	feed(B, TCP_ACK, 5101, ack, 100);
	tcp_fixture_take_trace(&t);
	t.now -= MILLISECONDS / 2;
}

static void
test_data_resets_a_closed_socket_before_the_ack_of_its_data(void **state)
{
	static const uint32_t acks[] = {1101, 1202};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof acks / sizeof acks[0]; i++) {
		close_with_data_before_data(acks[i]);
		feed(A, TCP_RST, 1001, 0, 0); /* the ACK number of the first data */
		expect("A:FIN_WAIT_1>CLOSED");
		assert_int_equal(flow_cold(t.table, t.flow)->loss_index, 0);
		begin_again();
	}
	close_with_data_before_data(1202);
	feed(A, TCP_RST, 1002, 0, 0); /* the number of no segment */
	expect("");
	begin_again();
	/* A has answered the data: the number is old. */
	close_with_data_before_data(1202);
	feed(A, TCP_ACK, 1202, 5101, 0);
	expect("A:FIN_WAIT_1>FIN_WAIT_2");
	assert_int_equal(flow_cold(t.table, t.flow)->loss_index, 0);
	feed(A, TCP_RST, 1001, 0, 0);
	expect("");
}

static void
test_data_does_not_reset_a_socket_that_reads(void **state)
{
	(void)state;
	close_before_data();
	feed(A, TCP_ACK, 1002, 5101, 0);
	expect("A:FIN_WAIT_1>FIN_WAIT_2");
	/* An answered byte does not delay anything. */
	begin_again();
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(B, TCP_ACK, 5001, 1001, 100);
	feed(A, TCP_ACK, 1002, 5101, 0);
	tcp_fixture_take_trace(&t);
	feed(B, TCP_ACK, 5101, 1002, 0);
	expect("A:FIN_WAIT_1>FIN_WAIT_2");
}

static void
test_the_ack_of_a_fin_after_data_without_an_answer(void **state)
{
	(void)state;
	close_before_data();
	fastpath_finish_frame(&t, NANOSECONDS);
	expect("A:FIN_WAIT_1>FIN_WAIT_2");
	/* The peer's FIN takes effect after it. */
	begin_again();
	close_before_data();
	feed(B, TCP_FIN | TCP_ACK, 5201, 1002, 0);
	feed(A, TCP_ACK, 1002, 5202, 0);
	expect("B:CLOSE_WAIT>LAST_ACK A:FIN_WAIT_1>FIN_WAIT_2 A:FIN_WAIT_2>TIME_WAIT B:LAST_ACK>CLOSED");
}

static void
test_a_fin_with_the_ack_of_a_fin_after_data(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(B, TCP_ACK, 5001, 1001, 100);
	t.now -= MILLISECONDS / 2;
	feed(B, TCP_FIN | TCP_ACK, 5101, 1002, 0);
	tcp_fixture_take_trace(&t);
	assert_true(t.flow->deadline <= t.flow->tcp[A].wait_until);
	t.now -= MILLISECONDS / 2;
	feed(A, TCP_RST, 1001, 0, 0); /* A was closed before both */
	expect("A:FIN_WAIT_1>CLOSED");
	begin_again();
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(B, TCP_ACK, 5001, 1001, 100);
	feed(B, TCP_FIN | TCP_ACK, 5101, 1002, 0);
	tcp_fixture_take_trace(&t);
	tcp_flush_deferred(t.table, t.now);
	expect("A:FIN_WAIT_1>FIN_WAIT_2 A:FIN_WAIT_2>TIME_WAIT");
}

static void
test_more_data_does_not_extend_the_deferral(void **state)
{
	uint64_t end;
	uint32_t i;

	(void)state;
	close_before_data();
	end = t.flow->tcp[A].wait_until;
	for (i = 0; t.now + MILLISECONDS < end; i++) {
		expect("");
		feed(B, TCP_ACK, 5201 + 10 * i, 1002, 10);
		assert_int_equal(t.flow->tcp[A].wait_until, end);
	}
	assert_true(i > 0);
	feed(B, TCP_ACK, 5201 + 10 * i, 1002, 10);
	expect("A:FIN_WAIT_1>FIN_WAIT_2");
}

static void
test_forged_resets(void **state)
{
	static const uint32_t forged[] = {900000, 4000, 5100, 5000, 5001 + 20000};
	unsigned i;

	(void)state;
	open_connection();
	for (i = 0; i < sizeof forged / sizeof forged[0]; i++) {
		feed(B, TCP_RST, forged[i], 0, 0);
		feed(B, TCP_RST | TCP_ACK, forged[i], 1001, 0);
	}
	tcp_flush_deferred(t.table, t.now);
	expect("");
}

/* --- SYN --- */

static void
test_a_forged_syn(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_SYN, 700000, 0, 0);
	feed(A, TCP_SYN, 700000, 0, 0); /* at once: no retransmission */
	feed(B, TCP_ACK, 5001, 1001, 0);
	t.now += 3 * NANOSECONDS;
	feed(A, TCP_SYN, 700000, 0, 0); /* B has answered */
	feed(A, TCP_ACK, 1001, 5001, 10);
	feed(B, TCP_ACK, 5001, 1011, 0);
	expect("");
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1011);
	assert_int_equal(flow_table_counters(t.table)->created, 1);
}

static void
test_a_syn_that_is_accepted_after_missing_frames(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_SYN, 700000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 900000, 700001, 0);
	feed(A, TCP_ACK, 700001, 900001, 0);
	tcp_flush_deferred(t.table, t.now);
	expect("A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED " OPEN);
	assert_int_equal(t.flow->tcp[A].iss, 700000);
}

static void
test_a_syn_that_is_refused_after_missing_frames(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_SYN, 700000, 0, 0);
	feed(B, TCP_RST | TCP_ACK, 0, 700001, 0);
	expect("A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED A:connect-request A:CLOSED>SYN_SENT B:accept-refused "
	       "A:connect-refused A:SYN_SENT>CLOSED");
}

static void
test_a_syn_that_is_not_answered(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_SYN, 700000, 0, 0);
	t.now += NANOSECONDS;
	feed(A, TCP_SYN, 700000, 0, 0); /* a retransmission: B is not there any more */
	expect("A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED A:connect-request A:CLOSED>SYN_SENT A:timeout(retransmit) "
	       "A:retransmit(syn,2)");
}

static void
close_connection(uint32_t tsval)
{
	feed_stamped(A, TCP_FIN | TCP_ACK, 1001, 5001, 0, tsval);
	feed_stamped(B, TCP_FIN | TCP_ACK, 5001, 1002, 0, tsval);
	feed_stamped(A, TCP_ACK, 1002, 5002, 0, tsval);
	tcp_fixture_take_trace(&t);
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_TIME_WAIT);
}

static void
syn_in_time_wait(uint32_t seq, uint32_t tsval, bool accepted)
{
	begin_again();
	open_connection();
	close_connection(tsval == 0 ? 0 : 1000);
	feed_stamped(B, TCP_SYN, seq, 0, 0, tsval);
	expect(accepted ? "A:TIME_WAIT>CLOSED B:connect-request B:CLOSED>SYN_SENT" : "");
}

/* Linux tcp_timewait_state_process(). */
static void
test_a_syn_in_time_wait(void **state)
{
	(void)state;
	syn_in_time_wait(6000, 0, true);
	syn_in_time_wait(4000, 0, false);
	syn_in_time_wait(4000, 2000, true);
	syn_in_time_wait(6000, 500, false);
	syn_in_time_wait(6000, 1000, true);
	syn_in_time_wait(4000, 1000, false);
}

/* --- acknowledgements --- */

static void
test_impossible_acknowledgements_deliver_nothing(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_connection();
	before = t.flow->tcp[B];
	feed(B, TCP_ACK, 5001, 400000000, 0);
	feed(B, TCP_ACK, 5001, 1001 + 10001, 0); /* one byte beyond the window */
	feed(B, TCP_FIN | TCP_ACK, 5001, 400000000, 0);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 0).bytes, 0);
	feed(A, TCP_ACK, 1001, 5001, 10);
	feed(B, TCP_ACK, 5001, 1011, 0);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 10).bytes, 10);
	expect("");
}

/* Bytes delivered to B by its ACK of `ack`. */
static uint32_t
delivered_by_ack(uint32_t ack)
{
	struct tcp_endpoint before = t.flow->tcp[B];

	feed(B, TCP_ACK, 5001, ack, 0);
	return tcp_delivery_since(t.flow, B, &before, 0).bytes;
}

/* In the window of its sender, but of bytes that the peer has not sent. */
static void
test_acknowledgements_of_unsent_bytes(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_connection();
	assert_int_equal(delivered_by_ack(1501), 0);
	feed(A, TCP_ACK, 1001, 5001, 0); /* the challenge ACK */
	assert_int_equal(delivered_by_ack(1601), 0);
	assert_int_equal(delivered_by_ack(1701), 0);
	assert_int_equal(t.flow->tcp[B].last_ack_sent, 1001);
	before = t.flow->tcp[B];
	feed(A, TCP_ACK, 1001, 5001, 10);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 10).bytes, 10);
	assert_int_equal(delivered_by_ack(1011), 0);
	expect("");
}

/* The bytes were sent, but not captured: the sender continues after them, or another ACK follows. */
static void
test_acknowledgements_of_missing_frames(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_connection();
	assert_int_equal(delivered_by_ack(1501), 0);
	before = t.flow->tcp[B];
	feed(A, TCP_ACK, 1501, 5001, 100);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 100).bytes, 600);
	assert_int_equal(delivered_by_ack(1601), 0);
	assert_int_equal(delivered_by_ack(2001), 0);
	assert_int_equal(delivered_by_ack(2501), 900);
	expect("");
}

/* Bytes that were not captured, acknowledged, and a RST after them. */
static void
test_a_reset_after_missing_frames(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_ACK, 5001, 1501, 0);
	feed(A, TCP_RST, 1502, 0, 0);
	expect("");
	feed(A, TCP_RST, 1501, 0, 0);
	t.now += 1000 * MILLISECONDS;
	feed(A, TCP_RST, 1501, 0, 0);
	expect("A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED");
}

/* What Linux does, recorded with real sockets. */
static void
test_neighbours_of_acceptable_segments(void **state)
{
	(void)state;
	/* A SYN,ACK with a wrong number, and the RST that answers it. */
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 7000, 1000, 0);
	feed(A, TCP_RST, 1000, 0, 0);
	expect("A:connect-request A:CLOSED>SYN_SENT");
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(A, TCP_ACK, 1001, 5001, 0);
	tcp_flush_deferred(t.table, t.now);
	expect("B:LISTEN>SYN_RECEIVED A:connect-established A:SYN_SENT>ESTABLISHED B:accept-established "
	       "B:SYN_RECEIVED>ESTABLISHED");
	/* The ISN of an active opener is an old ACK number, that of a passive one is not. */
	feed(A, TCP_FIN | TCP_ACK, 1001, 5000, 0);
	expect("");
	feed(B, TCP_FIN | TCP_ACK, 5001, 1000, 0);
	t.now += 1000 * MILLISECONDS;
	feed(A, TCP_ACK, 1001, 5002, 0);
	expect("B:ESTABLISHED>FIN_WAIT_1 A:ESTABLISHED>CLOSE_WAIT B:FIN_WAIT_1>FIN_WAIT_2");
}

/* In a connection with timestamps 0 is an old one, too. */
static void
test_a_timestamp_of_zero(void **state)
{
	struct test_segment s = segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001);

	(void)state;
	feed_stamped(A, TCP_SYN, 1000, 0, 0, 100);
	feed_stamped(B, TCP_SYN | TCP_ACK, 5000, 1001, 0, 100);
	feed_stamped(A, TCP_ACK, 1001, 5001, 0, 101);
	tcp_fixture_take_trace(&t);
	s.zero_stamp = true;
	tcp_fixture_feed(&t, s);
	feed_stamped(B, TCP_ACK, 5001, 1001, 0, 102);
	expect("");
}

/* A SYN,ACK in CLOSING with the numbers of the connection: the challenge ACK looks as if it accepted the SYN,ACK. */
static void
test_a_syn_ack_with_the_numbers_of_the_connection(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(B, TCP_FIN | TCP_ACK, 5001, 1001, 0);
	feed(A, TCP_ACK, 1002, 5002, 0);
	tcp_fixture_take_trace(&t);
	feed(B, TCP_SYN | TCP_ACK, 5001, 1002, 0);
	feed(A, TCP_ACK, 1002, 5002, 0);
	expect("");
}

/* An ACK that a newer one has overtaken: its window is old, too (RFC 9293 section 3.10.7.4, SND.WL2). */
static void
test_the_window_of_an_overtaken_ack(void **state)
{
	struct test_segment s = segment_empty(B, TCP_ACK, 5001, 1101);

	(void)state;
	open_connection();
	feed(A, TCP_ACK, 1001, 5001, 100);
	feed(A, TCP_ACK, 1101, 5001, 100);
	feed(B, TCP_ACK, 5001, 1201, 0);
	s.window = -1;
	tcp_fixture_feed(&t, s);
	assert_int_equal(t.flow->tcp[B].wnd, 10000);
	s.ack = 1201;
	tcp_fixture_feed(&t, s);
	assert_int_equal(t.flow->tcp[B].wnd, 0);
	expect("");
}

static void
test_a_fin_that_acknowledges_unsent_data(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5101, 0);
	feed(B, TCP_ACK, 5001, 1001, 0); /* the challenge ACK */
	feed(A, TCP_ACK, 1001, 5001, 1); /* the byte in place of the FIN */
	feed(B, TCP_ACK, 5001, 1002, 0);
	expect("");
	assert_int_equal(t.flow->tcp[A].bytes, 1);
}

static void
test_a_fin_after_missing_frames(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5101, 0); /* 100 bytes of B are missing */
	expect("");
	feed(B, TCP_ACK, 5101, 1002, 0);
	expect("B:ESTABLISHED>CLOSE_WAIT A:ESTABLISHED>FIN_WAIT_1 A:FIN_WAIT_1>FIN_WAIT_2");
	begin_again();
	open_connection();
	feed(A, TCP_FIN | TCP_ACK, 1001, 5101, 0);
	feed(A, TCP_ACK, 1002, 5201, 0);
	expect("A:ESTABLISHED>FIN_WAIT_1");
}

/* --- timestamps --- */

static void
open_with_timestamps(void)
{
	feed_stamped(A, TCP_SYN, 1000, 0, 0, 5000);
	feed_stamped(B, TCP_SYN | TCP_ACK, 5000, 1001, 0, 70000);
	feed_stamped(A, TCP_ACK, 1001, 5001, 0, 5000);
	feed_stamped(A, TCP_ACK, 1001, 5001, 10, 5100);
	feed_stamped(B, TCP_ACK, 5001, 1011, 0, 70100);
	expect(OPEN);
}

static void
test_old_timestamps(void **state)
{
	(void)state;
	open_with_timestamps();
	feed_stamped(A, TCP_ACK, 1011, 5001, 10, 5000); /* as it were for the fast path */
	feed_stamped(A, TCP_FIN | TCP_ACK, 1011, 5001, 0, 5000);
	expect("");
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1011);
	assert_int_equal(t.flow->tcp[A].nxt, 1011);
	feed_stamped(A, TCP_ACK, 1011, 5001, 10, 5101);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1021);
	assert_int_equal(t.flow->tcp[A].bytes, 20);
	expect("");
}

/* A clock of 1 MHz wraps in 36 minutes. */
static void
test_timestamps_expire(void **state)
{
	(void)state;
	open_with_timestamps();
	t.now += 2200 * NANOSECONDS;
	feed_stamped(A, TCP_ACK, 1011, 5001, 10, 4000);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1021);
}

/* A timestamp may be one tick older than the newest one, not one tick older than every one. */
static void
test_timestamps_do_not_fall(void **state)
{
	(void)state;
	feed_stamped(A, TCP_SYN, 1000, 0, 0, 100);
	feed_stamped(B, TCP_SYN | TCP_ACK, 5000, 1001, 0, 100);
	feed_stamped(A, TCP_ACK, 1001, 5001, 10, 110);
	feed_stamped(B, TCP_ACK, 5001, 1011, 0, 110);
	feed_stamped(A, TCP_ACK, 1011, 5001, 10, 109);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1021);
	feed_stamped(B, TCP_ACK, 5001, 1021, 0, 111);
	feed_stamped(A, TCP_ACK, 1021, 5001, 10, 108);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1021);
}

/* B has acknowledged 10 bytes of A.  Each of these segments ends at or below RCV.NXT, so its timestamp does not count,
 * and what was sent before it arrives. */
static void
test_old_segments_do_not_raise_the_timestamp(void **state)
{
	static const struct {
		uint8_t flags;
		uint32_t seq, len;
	} old[] = {
		{TCP_ACK, 1001, 10},
		{TCP_ACK, 1001, 5},
		{TCP_ACK, 1010, 1},
		{TCP_ACK, 1010, 0}, /* keepalive */
		{TCP_ACK, 1001, 0},
		{TCP_ACK, 1000, 11},
		{TCP_ACK | TCP_FIN, 1001, 5},
		{TCP_SYN, 1000, 0},
		{TCP_SYN | TCP_ACK, 1000, 0},
		{TCP_RST | TCP_ACK, 1009, 0},
	};
	unsigned i;

	for (i = 0; i < sizeof old / sizeof old[0]; i++) {
		end(state);
		begin(state);
		open_with_timestamps();
		feed_stamped(A, old[i].flags, old[i].seq, 5001, old[i].len, 5900);
		assert_int_equal(t.flow->tcp[B].ts_recent, 5100);
		feed_stamped(A, TCP_ACK, 1011, 5001, 10, 5200);
		assert_int_equal(t.flow->tcp[B].rcv_nxt, 1021);
		assert_int_equal(t.flow->tcp[A].bytes, 20);
		assert_int_equal(t.flow->tcp[B].ts_recent, 5200);
		tcp_fixture_take_trace(&t);
	}
}

/* Nor does a copy of what was received, but is not acknowledged yet. */
static void
test_a_copy_before_its_ack_does_not_raise_the_timestamp(void **state)
{
	(void)state;
	open_with_timestamps();
	feed_stamped(A, TCP_ACK, 1011, 5001, 10, 5200);
	feed_stamped(A, TCP_ACK, 1021, 5001, 10, 5201);
	feed_stamped(A, TCP_ACK, 1011, 5001, 10, 5900);
	feed_stamped(A, TCP_ACK, 1031, 5001, 10, 5210);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1041);
	assert_int_equal(t.flow->tcp[A].bytes, 40);
}

/* A segment that continues an old one is acceptable; one ahead of RCV.NXT is, too, but begins above the last ACK. */
static void
test_segments_with_new_bytes_raise_the_timestamp(void **state)
{
	(void)state;
	open_with_timestamps();
	feed_stamped(A, TCP_ACK, 1021, 5001, 10, 5400);
	assert_int_equal(t.flow->tcp[B].ts_recent, 5100);
	feed_stamped(A, TCP_ACK, 1001, 5001, 11, 5300);
	assert_int_equal(t.flow->tcp[B].ts_recent, 5300);
	feed_stamped(B, TCP_ACK, 5001, 1012, 0, 70300);
	feed_stamped(A, TCP_ACK, 1012, 5001, 0, 5310);
	assert_int_equal(t.flow->tcp[B].ts_recent, 5310);
}

/* A SYN again in SYN_RECEIVED, after which the ACK that was sent before it arrives. */
static void
test_a_repeated_syn_does_not_raise_the_timestamp(void **state)
{
	(void)state;
	feed_stamped(A, TCP_SYN, 1000, 0, 0, 5000);
	feed_stamped(B, TCP_SYN | TCP_ACK, 5000, 1001, 0, 70000);
	feed_stamped(A, TCP_SYN, 1000, 0, 0, 6000);
	feed_stamped(A, TCP_ACK, 1001, 5001, 10, 5001);
	tcp_flush_deferred(t.table, t.now);
	assert_int_equal(t.flow->tcp[B].state, TCP_STATE_ESTABLISHED);
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1011);
}

/* The FIN again in FIN_WAIT_2 and TIME_WAIT. */
static void
test_a_repeated_fin_does_not_raise_the_timestamp(void **state)
{
	(void)state;
	open_with_timestamps();
	feed_stamped(B, TCP_FIN | TCP_ACK, 5001, 1011, 0, 70200);
	feed_stamped(A, TCP_ACK, 1011, 5002, 0, 5200);
	feed_stamped(A, TCP_ACK, 1001, 5001, 10, 5900);
	feed_stamped(A, TCP_FIN | TCP_ACK, 1011, 5002, 0, 5300);
	feed_stamped(B, TCP_ACK, 5002, 1012, 0, 70300);
	assert_int_equal(t.flow->tcp[B].state, TCP_STATE_TIME_WAIT);
	assert_int_equal(t.flow->tcp[B].ts_recent, 5300);
	feed_stamped(A, TCP_FIN | TCP_ACK, 1011, 5002, 0, 5900);
	assert_int_equal(t.flow->tcp[B].ts_recent, 5300);
}

/* --- after a reset --- */

/* B resets the connection; A does not receive the RST, goes on, and its segment makes a new socket of B. */
static void
test_a_new_socket_goes_on_after_a_reset(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_ACK, 1001, 5001, 1);
	feed(B, TCP_ACK, 5001, 1002, 0);
	feed(B, TCP_RST | TCP_ACK, 5001, 1002, 0);
	fastpath_finish_frame(&t, 3000 * MILLISECONDS);
	expect("B:ESTABLISHED>CLOSED A:ESTABLISHED>CLOSED");
	feed(A, TCP_ACK, 1002, 5001, 4);
	expect("");
	feed(B, TCP_ACK, 5001, 1006, 0);
	expect("B:LISTEN>SYN_RECEIVED B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(t.flow->tcp[A].state, TCP_STATE_ESTABLISHED);
	assert_int_equal(t.flow->tcp[A].bytes, 4);
	feed(A, TCP_FIN | TCP_ACK, 1006, 5001, 0);
	feed(B, TCP_FIN | TCP_ACK, 5001, 1007, 0);
	feed(A, TCP_ACK, 1007, 5002, 0);
	expect("A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>CLOSE_WAIT B:CLOSE_WAIT>LAST_ACK A:FIN_WAIT_1>FIN_WAIT_2 "
	       "A:FIN_WAIT_2>TIME_WAIT B:LAST_ACK>CLOSED");
}

/* The first segment captured after it is one of the new socket with data, which A acknowledges. */
static void
test_a_new_socket_that_sends_first(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_RST | TCP_ACK, 5001, 1001, 0);
	fastpath_finish_frame(&t, 3000 * MILLISECONDS);
	feed(A, TCP_ACK, 1001, 5001, 0);
	feed(B, TCP_ACK, 5001, 1001, 100);
	tcp_fixture_take_trace(&t);
	feed(A, TCP_ACK, 1001, 5101, 0);
	expect("B:LISTEN>SYN_RECEIVED B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(t.flow->tcp[A].state, TCP_STATE_ESTABLISHED);
	assert_int_equal(t.flow->tcp[B].bytes, 100);
	assert_int_equal(flow_table_counters(t.table)->midstream, 0); /* the beginning of its client was captured */
}

/* B has sent data that A acknowledged, so no SYN cookie makes a new socket: neither end was closed. */
static void
test_ends_that_ignored_a_reset(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_ACK, 5001, 1001, 100);
	feed(A, TCP_ACK, 1001, 5101, 0);
	feed(B, TCP_RST, 5101, 0, 0);
	fastpath_finish_frame(&t, 3000 * MILLISECONDS);
	expect("B:ESTABLISHED>CLOSED A:ESTABLISHED>CLOSED");
	feed(A, TCP_ACK, 1001, 5101, 10);
	feed(B, TCP_ACK, 5101, 1011, 0);
	feed(B, TCP_FIN | TCP_ACK, 5101, 1011, 0);
	feed(A, TCP_ACK, 1011, 5102, 0);
	expect("B:ESTABLISHED>FIN_WAIT_1 A:ESTABLISHED>CLOSE_WAIT B:FIN_WAIT_1>FIN_WAIT_2");
}

/* What was on its way when the RST was captured proves nothing, and neither does a RST that answers what follows. */
static void
test_segments_around_a_reset_open_nothing(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_RST, 5001, 0, 0);
	feed(A, TCP_ACK, 1001, 5001, 10);
	feed(B, TCP_ACK, 5001, 1011, 0);
	fastpath_finish_frame(&t, 3000 * MILLISECONDS);
	feed(B, TCP_ACK, 5001, 1011, 0);
	feed(A, TCP_ACK, 1011, 5001, 10);
	feed(B, TCP_RST, 5001, 0, 0);
	expect("B:ESTABLISHED>CLOSED A:ESTABLISHED>CLOSED");
}

/* A does not accept the SYN,ACK: it answers with a RST, and is in SYN_SENT still. */
static void
test_a_reset_of_an_unacceptable_syn_ack(void **state)
{
	(void)state;
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 4000, 1001, 0);
	feed(A, TCP_RST, 1001, 0, 0);
	fastpath_finish_frame(&t, 1000 * MILLISECONDS);
	tcp_fixture_take_trace(&t);
	feed(A, TCP_SYN, 1000, 0, 0);
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	feed(A, TCP_ACK, 1001, 5001, 10);
	tcp_flush_deferred(t.table, t.now);
	assert_non_null(strstr(t.trace, "A:CLOSED>SYN_SENT"));
	assert_non_null(strstr(t.trace, "B:LISTEN>SYN_RECEIVED"));
	assert_non_null(strstr(t.trace, "A:SYN_SENT>ESTABLISHED B:accept-established B:SYN_RECEIVED>ESTABLISHED"));
	assert_int_equal(t.flow->tcp[B].rcv_nxt, 1011);
	assert_int_equal(t.illegal, 0);
	tcp_fixture_take_trace(&t);
}

/* --- back to the fast path --- */

/* A receiver that sends nothing but ACKs. */
static void
test_a_forged_fin_does_not_keep_a_connection_slow(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_ACK, 5001, 1001, 100);
	feed(A, TCP_FIN | TCP_ACK, 1001, 5501, 0);
	assert_int_not_equal(t.flow->tcp[A].slow_reasons, 0);
	feed(A, TCP_ACK, 1001, 5001, 0); /* overtaken, perhaps */
	assert_int_not_equal(t.flow->tcp[A].slow_reasons, 0);
	feed(A, TCP_ACK, 1001, 5101, 0);
	assert_int_equal(t.flow->tcp[A].slow_reasons, 0);
	assert_int_equal(t.flow->tcp[B].slow_reasons, 0);
	expect("");
}

static void
test_a_forged_syn_does_not_keep_a_connection_slow(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_SYN, 700000, 0, 0);
	feed(A, TCP_ACK, 1001, 5001, 10);
	assert_int_not_equal(t.flow->tcp[A].slow_reasons & TCP_SLOW_UNDECIDED, 0);
	t.now += flow_limits_default().tcp_connect_ns;
	feed(A, TCP_ACK, 1011, 5001, 10);
	feed(B, TCP_ACK, 5001, 1021, 0);
	assert_int_equal(t.flow->tcp[A].slow_reasons, 0);
	assert_int_equal(t.flow->tcp[B].slow_reasons, 0);
	expect("");
}

/* A closes and B at once; `late` is captured after what the other has sent. */
static void
close_with_late(unsigned late)
{
	open_connection();
	if (late == A) {
		feed(B, TCP_FIN | TCP_ACK, 5001, 1002, 0);
		expect("");
		feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
		feed(A, TCP_ACK, 1002, 5002, 0);
		return;
	}
	feed(A, TCP_FIN | TCP_ACK, 1001, 5001, 0);
	feed(A, TCP_ACK, 1002, 5002, 0);
	expect("A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>CLOSE_WAIT");
	feed(B, TCP_FIN | TCP_ACK, 5001, 1002, 0);
}

static void
test_fins_captured_after_the_ack_of_them(void **state)
{
	(void)state;
	close_with_late(A);
	expect("A:ESTABLISHED>FIN_WAIT_1 A:FIN_WAIT_1>FIN_WAIT_2 B:ESTABLISHED>CLOSE_WAIT B:CLOSE_WAIT>LAST_ACK "
	       "A:FIN_WAIT_2>TIME_WAIT B:LAST_ACK>CLOSED");
	begin_again();
	close_with_late(B);
	expect("B:CLOSE_WAIT>LAST_ACK B:LAST_ACK>CLOSED A:FIN_WAIT_1>FIN_WAIT_2 "
	       "A:FIN_WAIT_2>TIME_WAIT");
}

/* B answers and closes; the capture has the request after the answer. */
static void
test_a_request_captured_after_an_answer_with_fin(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_FIN | TCP_ACK, 5001, 1101, 50);
	expect("");
	feed(A, TCP_ACK, 1001, 5001, 100);
	expect("B:ESTABLISHED>FIN_WAIT_1");
	feed(A, TCP_FIN | TCP_ACK, 1101, 5052, 0);
	feed(B, TCP_ACK, 5052, 1102, 0);
	expect("A:ESTABLISHED>CLOSE_WAIT A:CLOSE_WAIT>LAST_ACK B:FIN_WAIT_1>FIN_WAIT_2 B:FIN_WAIT_2>TIME_WAIT "
	       "A:LAST_ACK>CLOSED");
	assert_int_equal(t.flow->tcp[A].bytes, 100);
	assert_int_equal(t.flow->tcp[B].bytes, 50);
}

/* The whole of A is captured after the whole of B, which acknowledges A's FIN at the end. */
static void
test_a_direction_captured_after_the_other(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_FIN | TCP_ACK, 5001, 1101, 50);
	feed(B, TCP_ACK, 5052, 1102, 0);
	expect("B:ESTABLISHED>FIN_WAIT_1");
	feed(A, TCP_ACK, 1001, 5001, 100);
	feed(A, TCP_FIN | TCP_ACK, 1101, 5052, 0);
	assert_int_equal(t.flow->tcp[A].state, TCP_STATE_CLOSED);
	assert_int_equal(t.flow->tcp[B].state, TCP_STATE_TIME_WAIT);
}

/* A FIN whose ACK number is not the end of one of A's segments stays unproven. */
static void
test_a_fin_with_an_ack_inside_a_later_segment(void **state)
{
	(void)state;
	open_connection();
	feed(B, TCP_FIN | TCP_ACK, 5001, 1101, 0);
	feed(A, TCP_ACK, 1001, 5001, 90);
	feed(A, TCP_ACK, 1091, 5001, 90);
	expect("");
	feed(B, TCP_ACK, 5001, 1181, 10);
	assert_false(t.flow->tcp[B].fin_unproven);
	expect("");
}

static void
test_a_refuted_fin_leaves_the_pending_syn(void **state)
{
	(void)state;
	open_connection();
	feed(A, TCP_SYN, 700000, 0, 0);
	feed(B, TCP_FIN | TCP_ACK, 5001, 1101, 0);
	assert_true(t.flow->tcp[B].fin_unproven);
	feed(B, TCP_ACK, 5001, 1001, 10);
	assert_false(t.flow->tcp[B].fin_unproven);
	expect("");
	feed(B, TCP_RST | TCP_ACK, 0, 700001, 0);
	expect("A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED A:connect-request A:CLOSED>SYN_SENT B:accept-refused "
	       "A:connect-refused A:SYN_SENT>CLOSED");
}

/* --- missing frames --- */

/* Of what was outstanding before the missing frames nothing is left, however far the numbers have advanced. */
static void
test_a_loss_before_missing_frames(void **state)
{
	struct test_segment sack = segment_empty(B, TCP_ACK, 5001, 1001);
	uint32_t far = 0xc0000001;

	(void)state;
	open_connection();
	feed(A, TCP_ACK, 1001, 5001, 100);
	feed(A, TCP_ACK, 1101, 5001, 100);
	sack.sacks = 1;
	sack.sack[0][0] = 1101;
	sack.sack[0][1] = 1201;
	tcp_fixture_feed(&t, sack);
	feed(A, TCP_ACK, far, 5001, 100);
	feed(B, TCP_ACK, 5001, far + 100, 0);
	feed(A, TCP_ACK, far + 100, 5001, 100);
	feed(B, TCP_ACK, 5001, far + 200, 0);
	assert_int_equal(t.flow->tcp[A].una, far + 200);
	assert_int_equal(t.flow->tcp[A].slow_reasons, 0);
	expect("");
}

static void
test_lost_windows_in_both_directions(void **state)
{
	struct tcp_endpoint before;

	(void)state;
	open_connection();
	before = t.flow->tcp[B];
	feed(A, TCP_ACK, 900001, 5001, 100);
	feed(B, TCP_ACK, 5001, 900101, 0);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 0).bytes, 0);
	before = t.flow->tcp[B];
	feed(A, TCP_ACK, 900101, 5001, 100);
	assert_int_equal(tcp_delivery_since(t.flow, B, &before, 100).bytes, 100);
	feed(B, TCP_ACK, 5001, 900201, 0);
	feed(A, TCP_FIN | TCP_ACK, 900201, 5001, 0);
	feed(B, TCP_ACK, 5001, 900202, 0);
	expect("A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>CLOSE_WAIT A:FIN_WAIT_1>FIN_WAIT_2");
}

static void
test_one_direction_is_not_checked(void **state)
{
	(void)state;
	feed(A, TCP_ACK, 1001, 5001, 100);
	feed(A, TCP_ACK, 4000001, 5001, 100);
	feed(A, TCP_FIN | TCP_ACK, 4000101, 5001, 0);
	expect("A:ESTABLISHED>FIN_WAIT_1");
}

/* Bytes of A's stream, of which B's ACKs are captured or A's data, as far as they are contiguous. */
static uint64_t
one_direction(unsigned from, unsigned steps)
{
	uint32_t step = 60000, i;
	uint64_t position = 0;

	for (i = 1; i <= steps; i++) {
		struct tcp_endpoint before = t.flow == NULL ? (struct tcp_endpoint){0} : t.flow->tcp[from];
		struct tcp_delivery bytes;

		if (from == A)
			feed(A, TCP_ACK, 1001 + step * (i - 1), 5001, step);
		else
			feed(B, TCP_ACK, 5001, 1001 + step * i, 0);
		bytes = from == A ? tcp_sent_since(t.flow, A, &before, 1001 + step * (i - 1)) :
				    tcp_delivery_since(t.flow, B, &before, 0);
		if (bytes.bytes != 0 && bytes.offset == position)
			position += bytes.bytes;
	}
	return position;
}

/* 4.8 GB: sequence numbers wrap. */
static void
test_one_direction_for_a_long_time(void **state)
{
	(void)state;
	assert_int_equal(one_direction(A, 80000), 60000ull * 80000);
	begin_again();
	/* The first ACK is the beginning, and the last byte may be a FIN. */
	assert_int_equal(one_direction(B, 80000), 60000ull * 79999 - 1);
	begin_again();
	feed(B, TCP_SYN | TCP_ACK, 5000, 1001, 0);
	assert_int_equal(one_direction(B, 80000), 60000ull * 80000 - 1);
	expect("B:LISTEN>SYN_RECEIVED B:accept-established B:SYN_RECEIVED>ESTABLISHED");
}

#define all(test) cmocka_unit_test_setup_teardown(test, begin, end)

/* --- the fast path agrees --- */

static void
test_fast_path_and_a_closed_window(void **state)
{
	struct tcp_fast_segment data = {.seq = 1001, .ack = 5001, .len = 10};
	struct test_segment closed = segment_empty(B, TCP_ACK, 5001, 1001);
	struct tcp_endpoint unseen = {.state = TCP_STATE_ESTABLISHED, .rcv_nxt = 1001, .una = 5001, .nxt = 5001};

	(void)state;
	open_connection();
	assert_true(tcp_fast_may_receive(&t.flow->tcp[B], &data));
	closed.window = -1;
	tcp_fixture_feed(&t, closed);
	assert_false(tcp_fast_may_receive(&t.flow->tcp[B], &data));
	assert_true(tcp_fast_may_receive(&unseen, &data));
}

static void
test_fast_path_and_timestamps(void **state)
{
	struct tcp_fast_segment stamped = {.seq = 1001, .ack = 5001, .len = 10, .tsval = 3000000000u}, plain = stamped;
	struct tcp_endpoint *b, unseen = {.state = TCP_STATE_ESTABLISHED, .rcv_nxt = 1001, .una = 5001, .nxt = 5001};

	(void)state;
	plain.tsval = 0;
	open_connection();
	b = &t.flow->tcp[B];
	b->ts_recent = 3000000000u;
	assert_true(tcp_fast_timestamp_is_new(b, &plain));
	tcp_fast_apply_received(b, &plain, 0);
	assert_int_equal(b->ts_recent, 3000000000u);
	/* The timestamps that an endpoint which is not captured accepts are unknown. */
	assert_true(tcp_fast_timestamp_is_new(&unseen, &stamped));
	tcp_fast_apply_received(&unseen, &stamped, 0);
	assert_int_equal(unseen.ts_recent, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		all(test_a_half_open_scan_establishes_nothing),
		all(test_a_syn_ack_is_accepted_if_the_peer_goes_on),
		all(test_a_syn_ack_is_accepted_at_the_end),
		all(test_a_syn_ack_again_is_not_accepted),
		all(test_a_syn_ack_sent_again_is_accepted_with_an_ack),
		all(test_a_reset_with_the_number_of_a_fin_that_waits),
		all(test_data_resets_a_closed_socket_before_the_ack_of_its_fin),
		all(test_data_resets_a_closed_socket_after_the_ack_of_its_fin),
		all(test_data_resets_a_closed_socket_late),
		all(test_data_resets_a_closed_socket_with_an_unproven_fin),
		all(test_data_resets_a_closed_socket_before_the_ack_of_its_data),
		all(test_data_does_not_reset_a_socket_that_reads),
		all(test_the_ack_of_a_fin_after_data_without_an_answer),
		all(test_a_fin_with_the_ack_of_a_fin_after_data),
		all(test_more_data_does_not_extend_the_deferral),
		all(test_forged_resets),
		all(test_a_forged_syn),
		all(test_a_syn_that_is_accepted_after_missing_frames),
		all(test_a_syn_that_is_refused_after_missing_frames),
		all(test_a_syn_that_is_not_answered),
		all(test_a_syn_in_time_wait),
		all(test_impossible_acknowledgements_deliver_nothing),
		all(test_acknowledgements_of_unsent_bytes),
		all(test_acknowledgements_of_missing_frames),
		all(test_a_reset_after_missing_frames),
		all(test_neighbours_of_acceptable_segments),
		all(test_a_timestamp_of_zero),
		all(test_a_syn_ack_with_the_numbers_of_the_connection),
		all(test_the_window_of_an_overtaken_ack),
		all(test_a_fin_that_acknowledges_unsent_data),
		all(test_a_fin_after_missing_frames),
		all(test_old_timestamps),
		all(test_a_new_socket_goes_on_after_a_reset),
		all(test_a_new_socket_that_sends_first),
		all(test_ends_that_ignored_a_reset),
		all(test_segments_around_a_reset_open_nothing),
		all(test_a_reset_of_an_unacceptable_syn_ack),
		all(test_timestamps_expire),
		all(test_timestamps_do_not_fall),
		all(test_old_segments_do_not_raise_the_timestamp),
		all(test_a_copy_before_its_ack_does_not_raise_the_timestamp),
		all(test_segments_with_new_bytes_raise_the_timestamp),
		all(test_a_repeated_syn_does_not_raise_the_timestamp),
		all(test_a_repeated_fin_does_not_raise_the_timestamp),
		all(test_a_forged_syn_does_not_keep_a_connection_slow),
		all(test_a_forged_fin_does_not_keep_a_connection_slow),
		all(test_fins_captured_after_the_ack_of_them),
		all(test_a_request_captured_after_an_answer_with_fin),
		all(test_a_direction_captured_after_the_other),
		all(test_a_fin_with_an_ack_inside_a_later_segment),
		all(test_a_refuted_fin_leaves_the_pending_syn),
		all(test_a_loss_before_missing_frames),
		all(test_lost_windows_in_both_directions),
		all(test_one_direction_is_not_checked),
		all(test_one_direction_for_a_long_time),
		all(test_fast_path_and_a_closed_window),
		all(test_fast_path_and_timestamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
