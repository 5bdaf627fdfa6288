/* SPDX-License-Identifier: BSD-2-Clause */
/* The TCP tracker, scenario by scenario: which events, in which order, in which state each end is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/flow/tcp/tcp_fixture.h"

#define SECONDS NANOSECONDS

#define OPEN                                                                                     \
	"A:connect-request A:CLOSED>SYN_SENT B:LISTEN>SYN_RECEIVED A:connect-established "       \
	"A:SYN_SENT>ESTABLISHED B:accept-established B:SYN_RECEIVED>ESTABLISHED"

static struct tcp_fixture t;

/* Received segments take effect at once: the rules one by one.  Deferred input has tests of its own. */
static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, 0);
	return 0;
}

static int
end(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	return 0;
}

static const struct tcp_endpoint *
endpoint_of(unsigned which)
{
	return &t.flow->tcp[which];
}

static uint32_t
retransmits_of(unsigned which)
{
	return tcp_retransmits(t.table, t.flow, which);
}

/* --- opening --- */

static void
test_active_and_passive_open(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	assert_string_equal(tcp_fixture_take_trace(&t), OPEN);
	assert_true((endpoint_of(A)->flags & TCP_EP_ACTIVE_OPEN) != 0);
	assert_false((endpoint_of(B)->flags & TCP_EP_ACTIVE_OPEN) != 0);
	assert_int_equal(endpoint_of(A)->iss, 1000);
	assert_int_equal(endpoint_of(B)->iss, 5000);
	assert_int_equal(endpoint_of(A)->nxt, 1001);
	assert_int_equal(endpoint_of(A)->una, 1001);
	assert_int_equal(endpoint_of(B)->rcv_nxt, 1001);
	/* The state change has the endpoint before and after. */
	assert_int_equal(t.last[B].tcp_before.state, TCP_STATE_SYN_RECEIVED);
	assert_int_equal(t.last[B].tcp_after.una, 5001);
}

static void
test_a_lone_syn_proves_nothing_of_its_receiver(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:connect-request A:CLOSED>SYN_SENT");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_NONE);
}

static void
test_a_retransmitted_syn_is_the_same_request(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(syn,2)");
	fastpath_finish_frame(&t, 2 * SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(syn,3)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 2000000);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_ESTABLISHED);
	assert_int_equal(endpoint_of(A)->srtt_us, 0); /* Karn: it cannot be known which SYN was answered */
}

static void
test_a_retransmitted_syn_ack(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:timeout(retransmit) B:retransmit(syn,2)");
	/* In answer to the SYN sent again it is not a timer's. */
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:retransmit(syn,3)");
}

static void
test_another_syn_ack_replaces_the_first(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 9000, 1001)); /* a SYN cookie of the next minute */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 9001));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(endpoint_of(B)->iss, 9000);
	assert_int_equal(flow_table_counters(t.table)->reused, 0);
}

static void
test_simultaneous_open(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN, 5000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:connect-request A:CLOSED>SYN_SENT B:connect-request B:CLOSED>SYN_SENT "
			    "A:SYN_SENT>SYN_RECEIVED");
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN | TCP_ACK, 1000, 5001));
	/* B was in SYN_SENT when this came: it acknowledges B's SYN. */
	assert_string_equal(tcp_fixture_take_trace(&t), "B:connect-established B:SYN_SENT>ESTABLISHED");
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:connect-established A:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(retransmits_of(A) + retransmits_of(B), 0);
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN | TCP_ACK, 1000, 5001));
	assert_int_equal(retransmits_of(A), 1);
}

static void
test_refused(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:accept-refused A:connect-refused A:SYN_SENT>CLOSED");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_NONE);
	/* The same SYN once more is the same attempt. */
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(syn,2) A:CLOSED>SYN_SENT");
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST | TCP_ACK, 0, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:accept-refused A:connect-refused A:SYN_SENT>CLOSED");
	assert_int_equal(flow_table_counters(t.table)->created, 1);
}

static void
test_a_reset_of_another_syn_refuses_nothing(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST | TCP_ACK, 0, 777));
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 1001, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_SYN_SENT);
}

static void
test_a_wrong_syn_ack_is_answered_with_a_reset_and_changes_nothing(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 4711));
	assert_int_equal(endpoint_of(B)->rcv_nxt, 1001);
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 4711, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_SYN_SENT);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 6000, 1001)); /* the answer */
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 6001));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "B:LISTEN>SYN_RECEIVED A:connect-established A:SYN_SENT>ESTABLISHED "
			    "B:accept-established B:SYN_RECEIVED>ESTABLISHED");
}

static void
test_fast_open(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000, .len = 100});
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1101));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t,
			 segment_data(B, 5001, 1101, 50)); /* before the ACK of its SYN: only fast open can do that */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_SYN_RECEIVED);
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1101, 5051));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(endpoint_of(A)->bytes, 100);
	assert_int_equal(endpoint_of(B)->bytes, 50);
}

static void
test_refused_fast_open_data_is_retransmitted_without_a_timer(void **state)
{
	(void)state;
	tcp_fixture_feed(&t,
			 (struct test_segment){.from = A, .flags = TCP_SYN, .seq = 1000, .len = 100, .sack_ok = true});
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, (struct test_segment){
				 .from = B, .flags = TCP_SYN | TCP_ACK, .seq = 5000, .ack = 1001, .sack_ok = true});
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:retransmit(fast,2) B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(endpoint_of(A)->bytes, 100); /* not counted twice */
}

/* Deadlines are packet times: a step of the clock that stamps the frames does not move them. */
static void
test_a_clock_step_does_not_move_the_end_of_an_attempt(void **state)
{
	uint64_t connect = flow_limits_default().tcp_connect_ns;

	(void)state;
	flow_table_set_clock_offset(t.table, 0 - 86400 * NANOSECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	assert_true(t.flow->deadline == t.now + connect);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	assert_true(t.flow->deadline == t.now + connect);
}

static void
test_connect_times_out(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 7; i++) {
		tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
		if (i < 6)
			fastpath_finish_frame(&t, (1ull << i) * SECONDS);
	}
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 63 * SECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	fastpath_finish_frame(&t, SECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(connect) A:SYN_SENT>CLOSED");
	assert_int_equal(t.last[A].ts - FIXTURE_BEGIN, 127 * SECONDS);
	assert_int_equal(flow_table_counters(t.table)->flows, 0);
}

/* Another timestamp than before: the kernel does not merge such a segment with the one in front of it. */
static struct test_segment
stamped(struct test_segment s, uint32_t tsval)
{
	s.tsval = tsval;
	return s;
}

/* --- closing --- */

static void
test_one_end_closes_first(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>CLOSE_WAIT");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:FIN_WAIT_1>FIN_WAIT_2");
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:CLOSE_WAIT>LAST_ACK A:FIN_WAIT_2>TIME_WAIT");
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1002, 5002));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:LAST_ACK>CLOSED");
	fastpath_finish_frame(&t, 60 * SECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(time-wait) A:TIME_WAIT>CLOSED");
	assert_int_equal(t.last[A].ts, FIXTURE_BEGIN + 60 * SECONDS);
	assert_int_equal(flow_table_counters(t.table)->flows, 0);
}

static void
test_ack_and_fin_in_one_segment_are_two_steps(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "B:CLOSE_WAIT>LAST_ACK A:FIN_WAIT_1>FIN_WAIT_2 A:FIN_WAIT_2>TIME_WAIT");
}

static void
test_simultaneous_close(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1002));
	tcp_fixture_take_trace(&t);
	tcp_fixture_teardown(&t);
	/* With deferred input: the segments of each end prove that it had not received the other's FIN. */
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>FIN_WAIT_1");
	/* A's FIN is in front of A's ACK in B's queue, too; an ACK of B proves that it received both. */
	tcp_fixture_feed(&t, stamped(segment_empty(A, TCP_ACK, 1002, 5002), 71));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:FIN_WAIT_1>CLOSING");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5002, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:FIN_WAIT_1>CLOSING B:CLOSING>TIME_WAIT A:CLOSING>TIME_WAIT");
	fastpath_finish_frame(&t, 60 * SECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:timeout(time-wait) A:TIME_WAIT>CLOSED B:timeout(time-wait) B:TIME_WAIT>CLOSED");
}

static void
test_half_close(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1002));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_data(B, 5001, 1002, 100));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1002, 5101));
	tcp_fixture_feed(&t, segment_data(B, 5101, 1002, 100));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1002, 5201));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(endpoint_of(B)->bytes, 200);
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5201, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:CLOSE_WAIT>LAST_ACK A:FIN_WAIT_2>TIME_WAIT");
}

static void
test_data_after_close_is_answered_with_a_reset(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1002));
	tcp_fixture_feed(&t, segment_data(B, 5001, 1002, 100));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 1002, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:FIN_WAIT_2>CLOSED B:CLOSE_WAIT>CLOSED");
}

static void
test_a_retransmitted_fin(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 250 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2)");
	fastpath_finish_frame(&t, 250 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,3)");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_FIN_WAIT_1);
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_CLOSE_WAIT);
}

static void
test_a_fin_counts_in_order_or_when_it_is_acknowledged(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1101, 5001)); /* 100 bytes before it are missing */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>FIN_WAIT_1");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1102)); /* they were not captured */
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>CLOSE_WAIT A:FIN_WAIT_1>FIN_WAIT_2");
}

static void
test_time_wait_restarts_with_a_retransmitted_fin(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1002, 5002));
	fastpath_finish_frame(&t, 10 * SECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 60 * SECONDS - 1);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	fastpath_finish_frame(&t, 1);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(time-wait) A:TIME_WAIT>CLOSED");
}

static void
test_time_wait_ends_by_a_reset(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 5002, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:LAST_ACK>CLOSED A:TIME_WAIT>CLOSED");
}

/* --- reuse of both ends --- */

static void
test_reuse_in_time_wait_is_another_connection(void **state)
{
	uint64_t cid;

	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1002, 5002));
	tcp_fixture_take_trace(&t);
	cid = flow_cid(t.table, t.flow, A);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 900000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:TIME_WAIT>CLOSED A:connect-request A:CLOSED>SYN_SENT");
	assert_true(flow_cid(t.table, t.flow, A) > cid + 1);
	assert_int_equal(flow_table_counters(t.table)->reused, 1);
	assert_int_equal(flow_table_counters(t.table)->flows, 1);
}

static void
test_reuse_of_a_live_connection(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 900000, 0)); /* A was started anew, or the SYN is forged */
	/* B still has the old connection: a challenge ACK (RFC 5961). */
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	/* A has not, so the SYN was its own. */
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 1001, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED");
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 900000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:connect-request A:CLOSED>SYN_SENT");
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 7000, 900001));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 900001, 7001));
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_ESTABLISHED);
	assert_int_equal(flow_table_counters(t.table)->reused, 1);
}

static void
test_reuse_after_a_reset(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0)); /* the same ISN: a straggler; nothing new */
	assert_int_equal(flow_table_counters(t.table)->created, 1);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 70000, 0));
	assert_int_equal(flow_table_counters(t.table)->created, 2);
}

static void
test_a_syn_ack_of_another_connection(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 90000, 60001)); /* its SYN was not captured */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 60001, 90001));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:ESTABLISHED>CLOSED B:ESTABLISHED>CLOSED B:LISTEN>SYN_RECEIVED "
			    "B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
}

/* --- mid-stream, and one direction only --- */

static void
test_midstream_data(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_data(A, 700, 900, 10));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_ESTABLISHED);
	assert_int_equal(flow_table_counters(t.table)->midstream, 1);
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 900, 710));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>FIN_WAIT_1 A:ESTABLISHED>CLOSE_WAIT");
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 710, 901));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 901, 711));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:CLOSE_WAIT>LAST_ACK B:FIN_WAIT_1>FIN_WAIT_2 B:FIN_WAIT_2>TIME_WAIT "
			    "A:LAST_ACK>CLOSED");
}

static void
test_midstream_ack_proves_only_its_sender(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 700, 900));
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_NONE);
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 900, 0)); /* a scan: no socket was there */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>CLOSED");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_NONE);
}

static void
test_midstream_fin(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 700, 900));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_FIN_WAIT_1);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 900, 701));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:FIN_WAIT_1>FIN_WAIT_2");
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_CLOSE_WAIT);
}

static void
test_a_stray_reset_begins_nothing(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 700, 0));
	assert_null(t.flow);
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, 700, 900));
	assert_null(t.flow);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN, 700, 0));
	tcp_fixture_feed(&t, segment_empty(A, 0, 700, 0));
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN | TCP_FIN, 700, 0));
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN | TCP_RST, 700, 0));
	assert_null(t.flow);
	assert_int_equal(flow_table_counters(t.table)->created, 0);
}

static void
test_only_the_client_is_captured(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:connect-established A:SYN_SENT>ESTABLISHED");
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 10));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1011, 5501));
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1011, 5501));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>CLOSE_WAIT");
}

static void
test_only_the_server_is_captured(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:LISTEN>SYN_RECEIVED");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1101));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:accept-established B:SYN_RECEIVED>ESTABLISHED");
	tcp_fixture_feed(&t, segment_data(B, 5001, 1101, 10));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5011, 1101));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>FIN_WAIT_1 A:ESTABLISHED>CLOSE_WAIT");
}

/* --- RST --- */

static void
reset_in(enum tcp_state wanted, void (*make)(void))
{
	char expected[200];
	unsigned i;

	for (i = 0; i < 2; i++) {
		tcp_fixture_teardown(&t);
		tcp_fixture_setup(&t, 0);
		make();
		assert_int_equal(tcp_fixture_state(&t, A), wanted);
		tcp_fixture_take_trace(&t);
		if (i == 0)
			tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, endpoint_of(A)->nxt,
							   endpoint_of(A)->rcv_nxt));
		else
			tcp_fixture_feed(&t, segment_empty(B, TCP_RST | TCP_ACK, endpoint_of(A)->rcv_nxt,
							   endpoint_of(A)->nxt));
		snprintf(expected, sizeof expected, "A:%s>CLOSED", fixture_states[wanted]);
		assert_non_null(strstr(tcp_fixture_take_trace(&t), expected));
		assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_CLOSED);
	}
}

static void
make_syn_received(void)
{
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN, 5000, 0));
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN | TCP_ACK, 1000, 5001));
}

static void
make_established(void)
{
	tcp_fixture_handshake(&t);
}

static void
make_fin_wait_1(void)
{
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
}

static void
make_fin_wait_2(void)
{
	make_fin_wait_1();
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1002));
}

static void
make_closing(void)
{
	make_fin_wait_1();
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
}

static void
make_time_wait(void)
{
	make_fin_wait_1();
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1002));
}

static void
make_close_wait(void)
{
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
}

static void
make_last_ack(void)
{
	make_close_wait();
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5002));
}


static void
test_a_reset_in_every_state(void **state)
{
	(void)state;
	reset_in(TCP_STATE_SYN_RECEIVED, make_syn_received);
	reset_in(TCP_STATE_ESTABLISHED, make_established);
	reset_in(TCP_STATE_FIN_WAIT_1, make_fin_wait_1);
	reset_in(TCP_STATE_FIN_WAIT_2, make_fin_wait_2);
	reset_in(TCP_STATE_CLOSING, make_closing);
	reset_in(TCP_STATE_TIME_WAIT, make_time_wait);
	reset_in(TCP_STATE_CLOSE_WAIT, make_close_wait);
	reset_in(TCP_STATE_LAST_ACK, make_last_ack);
}

static void
test_only_an_exact_reset_is_accepted(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 4000, 0));	/* old */
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 900000, 0));	/* beyond the window */
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 5100, 0));	/* in the window: challenged (RFC 5961) */
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001)); /* the challenge */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 5001, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>CLOSED A:ESTABLISHED>CLOSED");
}

static void
test_a_reset_at_the_edge_of_the_sack_blocks(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_data(B, 5101, 1001, 100));
	tcp_fixture_feed(&t, (struct test_segment){
			 .from = A, .flags = TCP_ACK, .seq = 1001, .ack = 5001, .sacks = 1, .sack = {{5101, 5201}}});
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 5150, 0));
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	tcp_fixture_feed(&t, segment_empty(B, TCP_RST, 5201, 0)); /* RFC 5961 with SACK, as Linux does */
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_CLOSED);
}

static void
test_a_syn_in_the_window_is_challenged(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001)); /* an old duplicate */
	assert_string_equal(tcp_fixture_take_trace(&t), "B:timeout(retransmit) B:retransmit(syn,2)");
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_ESTABLISHED);
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_ESTABLISHED);
}

/* --- numbers --- */

static void
test_counters_and_numbers(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	fastpath_finish_frame(&t, 400 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 200)); /* half of it again */
	assert_int_equal(endpoint_of(A)->bytes, 300);
	assert_int_equal(endpoint_of(A)->segments_sent, 5);
	assert_int_equal(retransmits_of(A), 1);
	assert_int_equal(endpoint_of(A)->nxt, 1301);
	assert_int_equal(endpoint_of(A)->una, 1201);
	assert_int_equal(endpoint_of(B)->rcv_nxt, 1301);
	assert_int_equal(endpoint_of(B)->last_ack_sent, 1201);
	assert_true((endpoint_of(A)->flags & TCP_EP_LAST_RETRANSMITTED) != 0);
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 1));
	assert_false((endpoint_of(A)->flags & TCP_EP_LAST_RETRANSMITTED) != 0);
}

static void
test_windows_are_scaled_only_if_both_offer(void **state)
{
	unsigned both;

	(void)state;
	for (both = 0; both < 2; both++) {
		tcp_fixture_teardown(&t);
		tcp_fixture_setup(&t, 0);
		tcp_fixture_feed(&t, (struct test_segment){
					 .from = A, .flags = TCP_SYN, .seq = 1000, .window = 5000, .wscale = 7 + 1});
		assert_int_equal(endpoint_of(A)->wnd, 5000);
		tcp_fixture_feed(&t, (struct test_segment){.from = B,
							   .flags = TCP_SYN | TCP_ACK,
							   .seq = 5000,
							   .ack = 1001,
							   .window = 6000,
							   .wscale = both ? 2 + 1 : 0});
		assert_int_equal(endpoint_of(B)->wnd, 6000);
		tcp_fixture_feed(
		    &t, (struct test_segment){.from = A, .flags = TCP_ACK, .seq = 1001, .ack = 5001, .window = 100});
		tcp_fixture_feed(
		    &t, (struct test_segment){.from = B, .flags = TCP_ACK, .seq = 5001, .ack = 1001, .window = 100});
		assert_int_equal(endpoint_of(A)->wnd, both ? 12800 : 100);
		assert_int_equal(endpoint_of(B)->wnd, both ? 400 : 100);
		assert_int_equal(endpoint_of(A)->wscale, both ? 7 : 0);
		assert_int_equal(endpoint_of(B)->wscale, both ? 2 : 0);
	}
}

static void
test_sequence_numbers_wrap(void **state)
{
	uint32_t a = 0xfffffff0u, b = 0xfffffff8u;

	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, a, 0));
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, b, a + 1));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, a + 1, b + 1));
	assert_string_equal(tcp_fixture_take_trace(&t), OPEN);
	tcp_fixture_feed(&t, segment_data(A, a + 1, b + 1, 100));
	tcp_fixture_feed(&t, segment_data(B, b + 1, a + 101, 100));
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, a + 101, b + 101));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, b + 101, a + 102));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, a + 102, b + 102));
	assert_int_equal(tcp_fixture_state(&t, A), TCP_STATE_TIME_WAIT);
	assert_int_equal(tcp_fixture_state(&t, B), TCP_STATE_CLOSED);
	assert_int_equal(endpoint_of(A)->bytes, 100);
	assert_int_equal(retransmits_of(A) + retransmits_of(B), 0);
}

static void
test_round_trips(void **state)
{
	(void)state;
	assert_int_equal(tcp_rto_us(&(struct tcp_endpoint){.srtt_us = 0}), 1000000);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	fastpath_finish_frame(&t, 40 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	assert_int_equal(endpoint_of(A)->srtt_us, 40000);
	assert_int_equal(endpoint_of(A)->rttvar_us, 20000);
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	assert_int_equal(endpoint_of(B)->srtt_us, 1000);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 10));
	fastpath_finish_frame(&t, 80 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1011));
	assert_int_equal(endpoint_of(A)->srtt_us, 45000);
	assert_int_equal(endpoint_of(A)->rttvar_us, 25000);
	assert_int_equal(tcp_rto_us(endpoint_of(A)), 245000); /* 4 * RTTVAR is less than Linux's 200 ms */
	assert_int_equal(tcp_rto_us(&(struct tcp_endpoint){.srtt_us = 100000, .rttvar_us = 100000}), 500000);
	assert_int_equal(tcp_rto_us(&(struct tcp_endpoint){.srtt_us = 0x7fffffff, .rttvar_us = 0x7fffffff}), 120000000);
}

static void
test_the_fast_path_equals_the_slow_path(void **state)
{
	struct tcp_endpoint plain[2];
	unsigned slow, i;

	(void)state;
	for (slow = 0; slow < 2; slow++) {
		tcp_fixture_teardown(&t);
		tcp_fixture_setup(&t, 0);
		tcp_fixture_handshake(&t);
		if (slow != 0)
			t.flow->tcp[A].slow_reasons = t.flow->tcp[B].slow_reasons =
			    1; /* forces the slow path */
		for (i = 0; i < 50; i++) {
			fastpath_finish_frame(&t, MILLISECONDS);
			tcp_fixture_feed(&t, segment_data(A, 1001 + 100 * i, 5001 + 10 * i, 100));
			tcp_fixture_feed(&t, segment_data(B, 5001 + 10 * i, 1101 + 100 * i, 10));
			if (slow != 0)
				t.flow->tcp[A].slow_reasons = t.flow->tcp[B].slow_reasons = 1;
		}
		t.flow->tcp[A].slow_reasons = t.flow->tcp[B].slow_reasons = 0;
		if (slow == 0)
			memcpy(plain, t.flow->tcp, sizeof plain);
		else
			assert_memory_equal(plain, t.flow->tcp, sizeof plain);
	}
}

/* --- keepalives and probes --- */

static void
test_keepalives(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 10 * SECONDS);
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1000, 5001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(keepalive)");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
	fastpath_finish_frame(&t, 10 * SECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1000, 5001, 1)); /* with a byte of garbage */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(keepalive)");
	assert_int_equal(retransmits_of(A), 0);
	assert_int_equal(endpoint_of(A)->bytes, 0);
}

static struct test_segment
closed_window(uint32_t ack)
{
	struct test_segment segment = segment_empty(B, TCP_ACK, 5001, ack);

	segment.window = -1;
	return segment;
}

/* A has sent 100 bytes, which fill B's window.  Without SACK, so that duplicate ACKs count. */
static void
close_window(void)
{
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_feed(&t, closed_window(1101));
	tcp_fixture_take_trace(&t);
}

/* A probes the closed window with `bytes` bytes, and B refuses them. */
static void
probe_window(uint32_t bytes)
{
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, bytes == 0 ? segment_empty(A, TCP_ACK, 1100, 5001) : segment_data(A, 1101, 5001, bytes));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(persist)");
	tcp_fixture_feed(&t, closed_window(1101));
}

static void
test_zero_window_probes(void **state)
{
	(void)state;
	close_window();
	probe_window(0); /* as Linux does */
	assert_int_equal(endpoint_of(A)->bytes, 100);
	for (unsigned i = 0; i < 4; i++)
		probe_window(1); /* as others do: one byte that does not fit */
	assert_int_equal(retransmits_of(A), 0);
	assert_int_equal(endpoint_of(A)->bytes, 101);
	assert_int_equal(endpoint_of(B)->rcv_nxt, 1101);
}

/* The byte of a probe is sent again with what follows it, as soon as the window opens: nothing was lost. */
static void
test_data_after_window_probes(void **state)
{
	(void)state;
	close_window();
	for (unsigned i = 0; i < 4; i++)
		probe_window(1);
	assert_int_equal(endpoint_of(A)->slow_reasons & TCP_SLOW_DUPACKS, 0);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1101));
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(retransmits_of(A), 0);
	assert_int_equal(endpoint_of(A)->bytes, 200);
	assert_int_equal(endpoint_of(B)->rcv_nxt, 1201);
	/* Now it is lost: no ACK has asked for it. */
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	assert_int_equal(endpoint_of(A)->slow_reasons, 0);
}

static void
test_a_window_probe_that_is_accepted(void **state)
{
	(void)state;
	close_window();
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 1));
	tcp_fixture_feed(&t, closed_window(1102));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(persist)");
	fastpath_finish_frame(&t, SECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1102, 5001, 1));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1103));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(persist)");
	assert_int_equal(endpoint_of(A)->slow_reasons, 0);
	tcp_fixture_feed(&t, segment_data(A, 1103, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(retransmits_of(A), 0);
	assert_int_equal(endpoint_of(A)->bytes, 202);
	assert_int_equal(endpoint_of(A)->srtt_us, 1); /* not the time between the probes */
}

/* B has dropped data for want of room; BSD then probes with the first byte of it. */
static void
test_window_probes_of_data_that_was_dropped(void **state)
{
	(void)state;
	close_window();
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	tcp_fixture_feed(&t, closed_window(1101));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	probe_window(1);
	probe_window(1);
	assert_int_equal(retransmits_of(A), 0);
	assert_int_equal(endpoint_of(A)->bytes, 200);
}

/* --- deferred input --- */

static void
test_deferred_input_takes_effect_when_an_ack_proves_it(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>FIN_WAIT_1");
	fastpath_finish_frame(&t, MILLISECONDS / 10);
	tcp_fixture_feed(&t, segment_data(B, 5001, 1001, 10)); /* sent before the FIN arrived */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	fastpath_finish_frame(&t, MILLISECONDS / 10);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5011, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>CLOSE_WAIT");
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1002, 5011)); /* the data has not reset it */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:FIN_WAIT_1>FIN_WAIT_2");
}

static void
test_deferred_input_takes_effect_without_an_ack_later(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, MILLISECONDS - 1);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	fastpath_finish_frame(&t, 1);
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>CLOSE_WAIT");
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 1002, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:FIN_WAIT_1>CLOSED");
	fastpath_finish_frame(&t, MILLISECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "B:CLOSE_WAIT>CLOSED");
}

static void
test_a_fin_that_crosses_a_reset(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>CLOSED B:ESTABLISHED>FIN_WAIT_1");
	fastpath_finish_frame(&t, 2 * MILLISECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "B:FIN_WAIT_1>CLOSED");
}

/* The kernel merges segments that wait for a busy socket and have the same options: B gets A's FIN and ACK as one. */
static void
test_a_fin_and_an_ack_become_one_segment(void **state)
{
	struct test_segment fin = segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001),
			    ack = segment_empty(A, TCP_ACK, 1002, 5002);
	unsigned same;

	(void)state;
	fin.tsval = ack.tsval = 70;
	fin.tsecr = 30;
	for (same = 0; same < 2; same++) {
		ack.tsecr = same ? 30 : 31;
		tcp_fixture_teardown(&t);
		tcp_fixture_setup(&t, MILLISECONDS);
		tcp_fixture_handshake(&t);
		tcp_fixture_feed(&t, fin);
		tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
		tcp_fixture_feed(&t, ack);
		tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5002, 1002));
		assert_int_equal(endpoint_of(B)->state, TCP_STATE_TIME_WAIT);
		assert_non_null(
		    strstr(tcp_fixture_take_trace(&t), same ? "B:FIN_WAIT_2>TIME_WAIT" : "B:CLOSING>TIME_WAIT"));
	}
}

/* Both have closed, and A's FIN is lost after the capture: B never acknowledges it, so B has not received it. */
static void
test_a_fin_that_was_lost_comes_after_the_ack_after_it(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, stamped(segment_empty(A, TCP_ACK, 1002, 5002), 71));
	tcp_fixture_feed(&t, stamped(segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5002), 71));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:FIN_WAIT_1>CLOSING A:retransmit(fast,2) B:FIN_WAIT_1>FIN_WAIT_2");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5002, 1002));
	assert_string_equal(tcp_fixture_take_trace(&t), "B:FIN_WAIT_2>TIME_WAIT A:CLOSING>TIME_WAIT");
}

static void
test_an_ack_after_a_fin_waits_no_longer_than_the_fin(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_FIN | TCP_ACK, 5001, 1001));
	tcp_fixture_feed(&t, stamped(segment_empty(A, TCP_ACK, 1002, 5002), 71));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, SECONDS);
	assert_string_equal(tcp_fixture_take_trace(&t), "B:FIN_WAIT_1>FIN_WAIT_2 B:FIN_WAIT_2>TIME_WAIT");
}

static void
test_the_end_of_the_capture_ends_the_wait(void **state)
{
	(void)state;
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, MILLISECONDS);
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, 1002, 5001));
	tcp_fixture_take_trace(&t);
	tcp_flush_deferred(t.table, t.now);
	assert_string_equal(tcp_fixture_take_trace(&t), "B:ESTABLISHED>CLOSE_WAIT B:CLOSE_WAIT>CLOSED");
	tcp_flush_deferred(t.table, t.now);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
}

/* --- timers --- */

static void
test_idle_connections_expire_without_an_event(void **state)
{
	struct flow_limits limits = flow_limits_default();

	(void)state;
	tcp_fixture_handshake(&t);
	fastpath_finish_frame(&t, limits.tcp_idle_ns / 2);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 1));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, limits.tcp_idle_ns - 1);
	assert_int_equal(flow_table_counters(t.table)->flows, 1);
	fastpath_finish_frame(&t, 1);
	assert_int_equal(flow_table_counters(t.table)->flows, 0);
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, limits.tcp_closing_ns);
	assert_int_equal(flow_table_counters(t.table)->flows, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "");
}

static void
test_stragglers_of_a_closed_connection_begin_nothing(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(&t, segment_data(B, 5001, 1001, 100));
	tcp_fixture_feed(&t, segment_empty(A, TCP_RST, 1001, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(flow_table_counters(t.table)->created, 1);
	fastpath_finish_frame(&t, 30 * SECONDS);
	assert_int_equal(flow_table_counters(t.table)->flows, 0);
}

#define scenario(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		scenario(test_active_and_passive_open),
		scenario(test_a_lone_syn_proves_nothing_of_its_receiver),
		scenario(test_a_retransmitted_syn_is_the_same_request),
		scenario(test_a_retransmitted_syn_ack),
		scenario(test_another_syn_ack_replaces_the_first),
		scenario(test_simultaneous_open),
		scenario(test_refused),
		scenario(test_a_reset_of_another_syn_refuses_nothing),
		scenario(test_a_wrong_syn_ack_is_answered_with_a_reset_and_changes_nothing),
		scenario(test_fast_open),
		scenario(test_refused_fast_open_data_is_retransmitted_without_a_timer),
		scenario(test_a_clock_step_does_not_move_the_end_of_an_attempt),
		scenario(test_connect_times_out),
		scenario(test_one_end_closes_first),
		scenario(test_ack_and_fin_in_one_segment_are_two_steps),
		scenario(test_simultaneous_close),
		scenario(test_half_close),
		scenario(test_data_after_close_is_answered_with_a_reset),
		scenario(test_a_retransmitted_fin),
		scenario(test_a_fin_counts_in_order_or_when_it_is_acknowledged),
		scenario(test_time_wait_restarts_with_a_retransmitted_fin),
		scenario(test_time_wait_ends_by_a_reset),
		scenario(test_reuse_in_time_wait_is_another_connection),
		scenario(test_reuse_of_a_live_connection),
		scenario(test_reuse_after_a_reset),
		scenario(test_a_syn_ack_of_another_connection),
		scenario(test_midstream_data),
		scenario(test_midstream_ack_proves_only_its_sender),
		scenario(test_midstream_fin),
		scenario(test_a_stray_reset_begins_nothing),
		scenario(test_only_the_client_is_captured),
		scenario(test_only_the_server_is_captured),
		scenario(test_a_reset_in_every_state),
		scenario(test_only_an_exact_reset_is_accepted),
		scenario(test_a_reset_at_the_edge_of_the_sack_blocks),
		scenario(test_a_syn_in_the_window_is_challenged),
		scenario(test_counters_and_numbers),
		scenario(test_windows_are_scaled_only_if_both_offer),
		scenario(test_sequence_numbers_wrap),
		scenario(test_round_trips),
		scenario(test_the_fast_path_equals_the_slow_path),
		scenario(test_keepalives),
		scenario(test_zero_window_probes),
		scenario(test_data_after_window_probes),
		scenario(test_a_window_probe_that_is_accepted),
		scenario(test_window_probes_of_data_that_was_dropped),
		scenario(test_deferred_input_takes_effect_when_an_ack_proves_it),
		scenario(test_deferred_input_takes_effect_without_an_ack_later),
		scenario(test_a_fin_that_crosses_a_reset),
		scenario(test_a_fin_and_an_ack_become_one_segment),
		scenario(test_a_fin_that_was_lost_comes_after_the_ack_after_it),
		scenario(test_an_ack_after_a_fin_waits_no_longer_than_the_fin),
		scenario(test_the_end_of_the_capture_ends_the_wait),
		scenario(test_idle_connections_expire_without_an_event),
		scenario(test_stragglers_of_a_closed_connection_begin_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
