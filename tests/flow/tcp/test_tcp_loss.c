/* SPDX-License-Identifier: BSD-2-Clause */
/* Retransmissions and their causes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/tcp/tcp_internal.h"
#include "tests/flow/tcp/tcp_fixture.h"

static struct tcp_fixture t;

static int
begin(void **state)
{
	(void)state;
	tcp_fixture_setup(&t, 0);
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
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
without_sack(void)
{
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, 0);
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_feed(&t, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	tcp_fixture_take_trace(&t);
}

/* A sends `count` segments of 100 bytes from 1001 on, a microsecond apart. */
static void
flight(unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		fastpath_finish_frame(&t, 1000);
		tcp_fixture_feed(&t, segment_data(A, 1001 + 100 * i, 5001, 100));
	}
}

static struct test_segment
sack(uint32_t ack, uint32_t left, uint32_t right)
{
	struct test_segment s = segment_empty(B, TCP_ACK, 5001, ack);

	s.sacks = 1;
	s.sack[0][0] = left;
	s.sack[0][1] = right;
	return s;
}

static const struct tcp_endpoint *
sender(void)
{
	return &t.flow->tcp[A];
}

static struct tcp_estimates
estimates(void)
{
	struct tcp_estimates e;

	tcp_estimate_congestion(t.table, t.flow, A, &e);
	return e;
}

/* --- fast --- */

static void
test_sack_makes_it_fast(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	tcp_fixture_feed(&t, sack(1001, 1101, 1201));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 11004);
	assert_int_equal(estimates().sack_fack, 1201);
	assert_int_equal(estimates().sack_snxt, 1101);
	assert_int_equal(estimates().mss, 1000);
	assert_int_equal(estimates().ssthresh, 2000);
	/* Segments outside the SACK block are retransmitted in the same recovery. */
	tcp_fixture_feed(&t, sack(1101, 1301, 1401));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1501));
	assert_int_equal(sender()->slow_reasons, 0); /* back to the fast path */
	assert_int_equal(estimates().sack_fack, 0);
}

static void
test_three_duplicate_acks_make_it_fast(void **state)
{
	unsigned acks, i;

	(void)state;
	for (acks = 2; acks < 4; acks++) {
		without_sack();
		flight(5);
		fastpath_finish_frame(&t, 10 * MILLISECONDS);
		for (i = 0; i < acks; i++)
			tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
		fastpath_finish_frame(&t, acks == 3 ? 0 : 200 * MILLISECONDS);
		tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
		assert_string_equal(tcp_fixture_take_trace(&t), acks == 3 ? "A:retransmit(fast,2)" :
							  "A:timeout(retransmit) A:retransmit(timeout,2)");
	}
}

static void
test_a_later_segment_has_arrived(void **state)
{
	(void)state;
	flight(3);
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	tcp_fixture_feed(&t, sack(1001, 1101, 1201));
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	/* The retransmission is answered, and the last segment, older than that, is still out (RACK). */
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

/* --- timeouts and probes --- */

static void
test_an_expired_rto_makes_it_a_timeout(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 300004);
	assert_int_equal(estimates().cwnd, 1000);
	fastpath_finish_frame(&t, 600 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100)); /* backed off */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,3)");
	/* Then it continues as the ACKs allow. */
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1101));
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1501));
	tcp_fixture_feed(&t, segment_data(A, 1501, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "");
}

/* Without ACKs nothing is known to be acknowledged: a timer that expires later is that of a later segment. */
static void
test_timeouts_of_a_sender_whose_peer_is_not_captured(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 5; i++)
		tcp_fixture_feed(&t, segment_data(A, 1001 + 100 * i, 5001, 100));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:timeout(retransmit) A:retransmit(timeout,2) A:retransmit(fast,2) "
			    "A:timeout(retransmit) A:retransmit(timeout,2)");
}

/* B had all data but the first segment, and discards it: its ACK of the first ends where the data begins that it had
 * reported (RFC 2018 section 8). */
static void
test_a_receiver_that_discards_what_it_reported(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	tcp_fixture_feed(&t, sack(1001, 1101, 1501));
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1101));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	fastpath_finish_frame(&t, 400 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	fastpath_finish_frame(&t, 10 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2) A:retransmit(fast,2)");
}

/* Also if the RTO expires again for the same segment: data that was sent only once before has arrived (RFC 5682). */
static void
test_a_spurious_timeout_twice(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	fastpath_finish_frame(&t, 600 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:timeout(retransmit) A:retransmit(timeout,2) A:timeout(retransmit) "
			    "A:retransmit(timeout,3)");
	tcp_fixture_feed(&t, sack(1101, 1301, 1401));
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

/* A retransmission that something sent later overtakes was lost as well: fast recovery takes over from the timer. */
static void
test_an_overtaken_retransmission_ends_the_timeout(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1101));
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:timeout(retransmit) A:retransmit(timeout,2) A:retransmit(fast,2)");
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1501, 5001, 100));
	tcp_fixture_feed(&t, sack(1101, 1501, 1601));
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,3) A:retransmit(fast,2)");
}

static void
test_a_timeout_beats_stale_evidence(void **state)
{
	(void)state;
	flight(5);
	tcp_fixture_feed(&t, sack(1001, 1101, 1501));
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 300 * MILLISECONDS); /* lost again, and everything else is there */
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,3)");
}

static void
test_the_last_segment_is_a_tail_loss_probe(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 20 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2)");
	fastpath_finish_frame(&t, 220 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 100)); /* one tail-loss probe at a time */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,3)");
}

static void
test_an_acknowledged_tail_loss_probe_may_have_been_spurious(void **state)
{
	(void)state;
	flight(1);
	fastpath_finish_frame(&t, 220 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_feed(
	    &t, segment_empty(B, TCP_ACK, 5001, 1101)); /* of one or the other: the probe stays open (RFC 8985 7.4.2) */
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 220 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	fastpath_finish_frame(&t, 220 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100)); /* closed by the ACK beyond it */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2)");
}

/* A sends the lone segment at `seq` again after some time, and B acknowledges it. */
static void
lone(uint32_t seq, unsigned milliseconds)
{
	tcp_fixture_feed(&t, segment_data(A, seq, 5001, 100));
	fastpath_finish_frame(&t, milliseconds * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, seq, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, seq + 100));
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
}

static void
test_the_time_of_no_tail_loss_probe(void **state)
{
	(void)state;
	lone(1001, 3000); /* later than the timer without a round trip */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
}

/* A tail-loss probe sends the last segment, not all of them as one. */
static void
test_all_segments_as_one_are_no_tail_loss_probe(void **state)
{
	(void)state;
	flight(2);
	fastpath_finish_frame(&t, 320 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 300));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
}

/* Where a tail-loss probe of the last segment was due the timer expired for the first. */
static void
test_a_sender_without_tail_loss_probes(void **state)
{
	(void)state;
	lone(1001, 220);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2)");
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1301));
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 100));
	fastpath_finish_frame(&t, 220 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1501));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	lone(1501, 220);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	/* Such a probe all the same: the evidence was wrong. */
	tcp_fixture_feed(&t, segment_data(A, 1601, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1701, 5001, 100));
	fastpath_finish_frame(&t, 20 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1701, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1801));
	tcp_fixture_feed(&t, segment_data(A, 1801, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1901));
	lone(1901, 220);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2) A:retransmit(probe,2)");
}

/* A's segment at `seq` is lost with its first retransmissions, which follow after so many milliseconds. */
static void
lost_twice(uint32_t seq, unsigned first, unsigned second)
{
	tcp_fixture_feed(&t, segment_data(A, seq, 5001, 100));
	fastpath_finish_frame(&t, first * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, seq, 5001, 100));
	fastpath_finish_frame(&t, second * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, seq, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, seq + 100));
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
}

/* A round trip of a millisecond. */
static void
round_trip(uint32_t seq)
{
	tcp_fixture_feed(&t, segment_data(A, seq, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, seq + 100));
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
}

static void
test_the_timer_doubles_without_tail_loss_probes(void **state)
{
	(void)state;
	round_trip(1001);
	lost_twice(1101, 204, 410);
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:retransmit(probe,2) A:timeout(retransmit) A:retransmit(timeout,3)");
	round_trip(1201);
	lone(1301, 204);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
}

/* After a tail-loss probe the timer expires for the first time. */
static void
test_the_timer_does_not_double_after_a_tail_loss_probe(void **state)
{
	(void)state;
	round_trip(1001);
	lone(1101, 160); /* at no time of such a probe */
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, 0);
	tcp_fixture_handshake(&t);
	round_trip(1001);
	lost_twice(1101, 204, 208);
	round_trip(1201);
	tcp_fixture_take_trace(&t);
	lone(1301, 160);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2)");
}

static void
test_without_sack_there_are_no_tail_loss_probes(void **state)
{
	(void)state;
	without_sack();
	flight(5);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
}

static void
test_a_spurious_timeout(void **state)
{
	(void)state;
	flight(5);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_take_trace(&t);
	/* Acknowledges data that was never retransmitted: all of it was only late (F-RTO). */
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1301));
	fastpath_finish_frame(&t, 20 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:retransmit(fast,2)"); /* older than data that has arrived: no timer */
	assert_int_equal(flow_table_tcp_pools(t.table)->loss_evicted, 0);
}

/* --- timestamps --- */

static struct test_segment
stamped(struct test_segment s, uint32_t tsval, uint32_t tsecr)
{
	s.tsval = tsval;
	s.tsecr = tsecr;
	return s;
}

static void
test_an_echo_times_a_retransmission(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, stamped(segment_data(A, 1001, 5001, 100), 100, 1));
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, stamped(segment_data(A, 1001, 5001, 100), 400, 1));
	fastpath_finish_frame(&t, 30 * MILLISECONDS);
	tcp_fixture_feed(&t, stamped(segment_empty(B, TCP_ACK, 5001, 1101), 2, 400));
	/* The handshake took 0 us, which counts as 1. */
	assert_in_range(sender()->srtt_us, 30000 / 8 - 1, 30000 / 8 + 2);
}

static void
test_karn_without_timestamps(void **state)
{
	uint32_t before = sender()->srtt_us;

	(void)state;
	flight(1);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	fastpath_finish_frame(&t, 30 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1101));
	assert_int_equal(sender()->srtt_us, before);
}

static void
test_an_old_echo_undoes_the_recovery(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, stamped(segment_data(A, 1001, 5001, 100), 100, 1));
	tcp_fixture_feed(&t, stamped(segment_data(A, 1101, 5001, 100), 100, 1));
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, stamped(segment_data(A, 1001, 5001, 100), 400, 1));
	tcp_fixture_take_trace(&t);
	tcp_fixture_feed(
	    &t, stamped(segment_empty(B, TCP_ACK, 5001, 1101), 2, 100)); /* answers the first sending (Eifel) */
	fastpath_finish_frame(&t, 20 * MILLISECONDS);
	tcp_fixture_feed(&t, stamped(segment_data(A, 1101, 5001, 100), 420, 2));
	/* Not caused by the timer, whose recovery is over. */
	assert_null(strstr(tcp_fixture_take_trace(&t), "timeout"));
}

/* --- spurious, or no retransmission --- */

static void
test_a_retransmission_of_acknowledged_data_is_spurious(void **state)
{
	(void)state;
	flight(2);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(spurious,2)");
	flight(0);
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	tcp_fixture_feed(&t, sack(1201, 1301, 1401));
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(spurious,2)");
}

static void
test_reordered_frames_are_no_retransmissions(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100)); /* captured late */
	assert_string_equal(tcp_fixture_take_trace(&t), "");
	assert_int_equal(sender()->bytes, 400);
	assert_int_equal(tcp_retransmits(t.table, t.flow, A), 0);
	tcp_fixture_feed(&t, segment_empty(A, TCP_FIN | TCP_ACK, 1501, 5001));
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:ESTABLISHED>FIN_WAIT_1");
	assert_int_equal(sender()->bytes, 500);
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100)); /* but this is */
	assert_int_equal(tcp_retransmits(t.table, t.flow, A), 1);
}

static void
test_a_gap_filled_late_was_sent_before(void **state)
{
	(void)state;
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 100));
	tcp_fixture_feed(&t, sack(1101, 1201, 1301));
	fastpath_finish_frame(&t, 50 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 0); /* that was not captured */
	assert_int_equal(sender()->bytes, 300);
}

static void
test_a_super_packet_in_pieces(void **state)
{
	unsigned i;

	(void)state;
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 4000));
	tcp_fixture_feed(&t, sack(1001, 3001, 5001));
	fastpath_finish_frame(&t, MILLISECONDS);
	for (i = 0; i < 2; i++)
		tcp_fixture_feed(&t, segment_data(A, 1001 + 1000 * i, 5001, 1000));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2) A:retransmit(fast,2)");
	assert_int_equal(sender()->bytes, 4000);
}

static void
test_retransmitted_together_with_new_data(void **state)
{
	(void)state;
	flight(2);
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(
	    &t, (struct test_segment){.from = A, .flags = TCP_ACK | TCP_FIN, .seq = 1101, .ack = 5001, .len = 150});
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:retransmit(probe,2) A:ESTABLISHED>FIN_WAIT_1 B:ESTABLISHED>CLOSE_WAIT");
	assert_int_equal(sender()->bytes, 250);
	assert_int_equal(sender()->nxt, 1252);
}

/* Leaves ones in the memory of the functions that are called next. */
static __attribute__((noinline)) void
soil_stack(void)
{
	volatile unsigned char bytes[4096];

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = 0xff;
}

/* The ISN is then no more below SND.NXT, modulo 2^32, so that nothing is known of the original SYN. */
static void
test_a_syn_repeated_after_two_gigabytes(void **state)
{
	(void)state;
	t.flow->tcp[A].nxt = t.flow->tcp[A].una = 1000 + (1u << 31) + 1;
	soil_stack();
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(syn,2)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 0);
}

/* --- bounds --- */

static void
test_the_send_log_overwrites_old_segments(void **state)
{
	struct tcp_pools *pools = flow_table_tcp_pools(t.table);
	uint32_t i;

	(void)state;
	flight(2);
	t.flow->tcp[B].log_tail = 0;
	for (i = 0; i <= pools->log_mask; i++)
		send_log_append(pools, &t.flow->tcp[B], &(struct send_log_record){.seq = i, .end_seq = i + 1});
	fastpath_finish_frame(&t, 300 * MILLISECONDS);
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 0);
}

static void
test_log_indices_wrap(void **state)
{
	struct tcp_pools *pools = flow_table_tcp_pools(t.table);

	(void)state;
	pools->send_log_last = SEND_LOG_INDEX_MASK - 2;
	t.flow->tcp[A].log_tail = t.flow->tcp[B].log_tail = 0;
	flight(6);
	fastpath_finish_frame(&t, MILLISECONDS);
	tcp_fixture_feed(&t, sack(1001, 1301, 1401));
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	assert_int_equal(t.last[A].retransmission.elapsed_us, 1005);
	assert_true(pools->send_log_last < 10);
}

/* The memory of a million connections, with the pools of loss pairs and of SCTP addresses full. */
static void
test_memory_of_a_million(void **state)
{
	(void)state;
	assert_true(flow_table_memory_size(1000000) <= 300000000);
}

/* More connections with losses than loss pairs: the oldest pairs are evicted, and retransmissions are still
 * classified. */
static void
test_loss_pairs_run_out(void **state)
{
	struct tcp_pools *pools = flow_table_tcp_pools(t.table);
	struct flow *flows[600];
	unsigned i, round;

	(void)state;
	for (i = 0; i < 600; i++) {
		struct test_segment s = segment_data(A, 1001, 5001, 100);
		struct packet packet = tcp_fixture_packet(&s);
		struct flow_events events = {.count = 0};
		struct flow_key key;
		unsigned endpoint;

		packet.tcp.sport = (uint16_t)(2000 + i);
		flow_key_from_packet(&packet, &key, &endpoint);
		flows[i] = flow_table_lookup_tcp(t.table, &packet, &key, flow_key_hash(t.table, &key), endpoint, t.now);
		for (round = 0; round < 3; round++) {
			events.count = 0;
			t.now += NANOSECONDS;
			tcp_segment_sent(t.table, flows[i], endpoint, &packet, t.now, &events);
			assert_int_equal(tcp_retransmits(t.table, flows[i], endpoint), round);
		}
	}
	assert_int_equal(pools->loss_evicted, 600 - pools->loss_pair_count);
	assert_int_equal(flow_cold(t.table, flows[0])->loss_index, 0);
	assert_int_equal(flows[0]->tcp[0].slow_reasons | flows[0]->tcp[1].slow_reasons, 0);
	assert_int_not_equal(flow_cold(t.table, flows[599])->loss_index, 0);
	flow_table_clear(t.table);
	assert_int_equal(pools->loss_evicted, 600 - pools->loss_pair_count);
	for (i = 0; i < pools->loss_pair_count; i++)
		assert_null(loss_pool_find(pools, &(struct flow_cold){.loss_index = (uint16_t)(i + 1)})->flow);
}

static void
test_many_sack_blocks(void **state)
{
	unsigned i;

	(void)state;
	flight(100);
	for (i = 1; i < 50; i++)
		tcp_fixture_feed(
		    &t, sack(1001, 1001 + 200 * i, 1101 + 200 * i)); /* every other segment: far more than is kept */
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	assert_int_equal(estimates().sack_fack, 1101 + 200 * 49);
	tcp_fixture_feed(&t, sack(1001, 500, 900));	/* below everything */
	tcp_fixture_feed(&t, sack(1001, 90000, 90100)); /* beyond everything */
	tcp_fixture_feed(&t, sack(1001, 1300, 1200));	/* inside out */
	assert_int_equal(estimates().sack_fack, 1101 + 200 * 49);
}

#define scenario(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		scenario(test_sack_makes_it_fast),
		scenario(test_three_duplicate_acks_make_it_fast),
		scenario(test_a_later_segment_has_arrived),
		scenario(test_an_expired_rto_makes_it_a_timeout),
		scenario(test_timeouts_of_a_sender_whose_peer_is_not_captured),
		scenario(test_a_receiver_that_discards_what_it_reported),
		scenario(test_a_spurious_timeout_twice),
		scenario(test_an_overtaken_retransmission_ends_the_timeout),
		scenario(test_a_timeout_beats_stale_evidence),
		scenario(test_the_last_segment_is_a_tail_loss_probe),
		scenario(test_an_acknowledged_tail_loss_probe_may_have_been_spurious),
		scenario(test_the_time_of_no_tail_loss_probe),
		scenario(test_all_segments_as_one_are_no_tail_loss_probe),
		scenario(test_a_sender_without_tail_loss_probes),
		scenario(test_the_timer_doubles_without_tail_loss_probes),
		scenario(test_the_timer_does_not_double_after_a_tail_loss_probe),
		scenario(test_without_sack_there_are_no_tail_loss_probes),
		scenario(test_a_spurious_timeout),
		scenario(test_an_echo_times_a_retransmission),
		scenario(test_karn_without_timestamps),
		scenario(test_an_old_echo_undoes_the_recovery),
		scenario(test_a_retransmission_of_acknowledged_data_is_spurious),
		scenario(test_reordered_frames_are_no_retransmissions),
		scenario(test_a_gap_filled_late_was_sent_before),
		scenario(test_a_super_packet_in_pieces),
		scenario(test_retransmitted_together_with_new_data),
		scenario(test_a_syn_repeated_after_two_gigabytes),
		scenario(test_the_send_log_overwrites_old_segments),
		scenario(test_log_indices_wrap),
		scenario(test_memory_of_a_million),
		scenario(test_loss_pairs_run_out),
		scenario(test_many_sack_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
