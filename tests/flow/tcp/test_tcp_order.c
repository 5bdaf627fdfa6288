/* SPDX-License-Identifier: BSD-2-Clause */
/* Duplicates, reordered segments and retransmissions told apart; stream offsets in spite of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "flow/tcp/tcp_internal.h"
#include "tests/flow/tcp/tcp_fixture.h"

#define LATER(ms) fastpath_finish_frame(&t, (ms) * MILLISECONDS)

static struct tcp_fixture t;

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

/* A handshake whose round trip, seen from the capture point, is 20 ms on B's side and `ms` on A's. */
static void
open_with_round_trip(unsigned ms)
{
	struct test_segment s = {.from = A, .flags = TCP_SYN, .seq = 1000, .mss = 1000, .sack_ok = true, .tsval = 1};

	tcp_fixture_feed(&t, s);
	LATER(20);
	s = (struct test_segment){.from = B, .flags = TCP_SYN | TCP_ACK, .seq = 5000, .ack = 1001, .mss = 1000,
				  .sack_ok = true, .tsval = 1, .tsecr = 1};
	tcp_fixture_feed(&t, s);
	LATER(ms);
	s = segment_empty(A, TCP_ACK, 1001, 5001);
	s.ident = 9;
	tcp_fixture_feed(&t, s);
	tcp_fixture_take_trace(&t);
}

/* 100 bytes of A from `seq` on, with an identification and a TSval (0: no TSval). */
static void
send_stamped(uint32_t seq, uint16_t ident, uint32_t tsval)
{
	struct test_segment s = segment_data(A, seq, 5001, 100);

	s.ident = ident;
	s.tsval = tsval;
	tcp_fixture_feed(&t, s);
}

static void
send_sack(uint32_t ack, uint32_t left, uint32_t right)
{
	struct test_segment s = segment_empty(B, TCP_ACK, 5001, ack);

	s.sacks = 1;
	s.sack[0][0] = left;
	s.sack[0][1] = right;
	tcp_fixture_feed(&t, s);
}

static const struct flow_counters *
counters(void)
{
	return flow_table_counters(t.table);
}

/* Compares the events so far, and the numbers of duplicate and of reordered segments. */
static void
assert_outcome(const char *trace, unsigned duplicates, unsigned reordered)
{
	assert_string_equal(tcp_fixture_take_trace(&t), trace);
	assert_int_equal(counters()->duplicate_segments, duplicates);
	assert_int_equal(counters()->reordered_segments, reordered);
}

/* --- duplicates --- */

static void
test_a_frame_captured_twice(void **state)
{
	struct tcp_endpoint before[2];
	unsigned segments;

	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 10, 0);
	memcpy(before, t.flow->tcp, sizeof before);
	segments = before[A].segments_sent;
	fastpath_finish_frame(&t, 20000);
	send_stamped(1001, 10, 0);
	assert_outcome("", 1, 0);
	assert_int_equal(t.flow->tcp[A].segments_sent, segments);
	assert_int_equal(t.flow->tcp[A].bytes, before[A].bytes);
	assert_memory_equal(&t.flow->tcp[B], &before[B], sizeof before[B]);
	/* The next segment returns to the fast path. */
	send_stamped(1101, 11, 0);
	assert_int_equal(t.flow->tcp[A].slow_reasons, 0);
}

/* Without identification and timestamps nothing but the time tells a copy from a retransmission. */
static void
test_a_plain_frame_captured_twice(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	send_stamped(1001, 0, 0);
	fastpath_finish_frame(&t, 20000);
	send_stamped(1001, 0, 0);
	assert_outcome("", 1, 0);
	LATER(2);
	send_stamped(1001, 0, 0);
	assert_outcome("A:retransmit(probe,2)", 1, 0);
}

/* An ACK that reports a gap may cause a retransmission at once. */
static void
test_a_plain_retransmission_after_an_ack(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	send_stamped(1001, 0, 0);
	send_stamped(1101, 0, 0);
	fastpath_finish_frame(&t, 20000);
	send_sack(1001, 1101, 1201);
	fastpath_finish_frame(&t, 20000);
	send_stamped(1001, 0, 0);
	assert_outcome("A:retransmit(fast,2)", 0, 0);
}

static void
test_a_duplicate_of_the_network(void **state)
{
	unsigned i;

	(void)state;
	open_with_round_trip(20);
	for (i = 0; i < 5; i++)
		send_stamped(1001 + 100 * i, (uint16_t)(10 + i), 0);
	LATER(30);
	send_sack(1101, 1201, 1301);
	send_stamped(1101, 11, 0);
	assert_outcome("", 1, 0);
	send_stamped(1101, 15, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

static void
test_a_duplicate_without_identification(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 0, 100);
	LATER(5);
	send_stamped(1001, 0, 100);
	assert_outcome("", 1, 0);
	LATER(300);
	send_stamped(1001, 0, 405);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(probe,2)");
}

/* On a short path a retransmission can have the TSval of its original. */
static void
test_a_retransmission_within_a_tick(void **state)
{
	struct test_segment s;

	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	send_stamped(1001, 0, 100);
	send_stamped(1101, 0, 100);
	fastpath_finish_frame(&t, 100000);
	send_sack(1001, 1101, 1201);
	fastpath_finish_frame(&t, 10000);
	s = segment_data(A, 1001, 5001, 100);
	s.tsval = 100;
	tcp_fixture_feed(&t, s);
	assert_outcome("A:retransmit(fast,2)", 0, 0);
}

static void
send_sized(uint32_t seq, uint32_t size, uint16_t ident, uint32_t tsval)
{
	struct test_segment s = segment_data(A, seq, 5001, size);

	s.ident = ident;
	s.tsval = tsval;
	tcp_fixture_feed(&t, s);
}

/* A large segment is captured before an interface splits it, and its parts after it; or received parts, and then what
 * they are merged into.  Its parts sent again have later identifications. */
static void
test_parts_of_a_large_segment(void **state)
{
	uint32_t tsval = 0;

	(void)state;
	open_with_round_trip(20);
	for (unsigned i = 0; i < 2; i++, tsval = 100) {
		uint16_t ident = i == 0 ? 10 : 0;
		uint32_t begin = 1001 + 1400 * i;

		send_sized(begin, 700, ident, tsval);
		for (unsigned part = 0; part < 3; part++)
			send_sized(begin + 300 * part, part < 2 ? 300 : 100, ident == 0 ? 0 : (uint16_t)(ident + part),
				   tsval);
		assert_outcome("", 3 + 4 * i, 0);
		send_sized(begin + 700, 300, ident == 0 ? 0 : 13, tsval);
		send_sized(begin + 1000, 400, ident == 0 ? 0 : 14, tsval);
		send_sized(begin + 700, 700, ident == 0 ? 0 : 13, tsval);
		assert_outcome("", 4 + 4 * i, 0);
		LATER(5);
	}
	send_sized(2401, 300, 30, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

/* Behind a router, where the packets of this sender are captured again. */
static void
test_where_duplicates_are_expected(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_take_trace(&t);
	for (unsigned i = 0; i < 4; i++)
		send_stamped(1001 + 100 * i, 0, 100);
	fastpath_finish_frame(&t, 100000);
	send_sack(1001, 1101, 1201);
	flow_table_expect_duplicate(t.table, true);
	/* Also after an ACK that reports a gap: what is sent again is captured elsewhere first. */
	send_stamped(1301, 0, 100);
	send_stamped(1001, 0, 100);
	assert_outcome("", 2, 0);
	flow_table_expect_duplicate(t.table, false);
	send_stamped(1001, 0, 100);
	assert_outcome("A:retransmit(fast,2)", 2, 0);
}

/* The gap that the SACK block reported was filled meanwhile, by a segment that was overtaken. */
static void
test_a_retransmission_within_a_tick_after_its_ack(void **state)
{
	(void)state;
	open_with_round_trip(1);
	send_stamped(1001, 0, 100);
	send_stamped(1101, 0, 100);
	fastpath_finish_frame(&t, 5000);
	send_sack(1001, 1101, 1201);
	fastpath_finish_frame(&t, 5000);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	send_stamped(1001, 0, 100);
	assert_outcome("A:retransmit(spurious,2)", 0, 0);
	/* A copy of the retransmission itself. */
	fastpath_finish_frame(&t, 1000);
	send_stamped(1001, 0, 100);
	assert_outcome("", 1, 0);
}

/* The retransmission that ends the recovery was sent after the original, and has arrived (RACK). */
static void
test_a_retransmission_within_a_tick_after_a_recovery(void **state)
{
	(void)state;
	open_with_round_trip(1);
	send_stamped(1001, 0, 100);
	send_stamped(1101, 0, 100);
	LATER(300);
	send_stamped(1001, 0, 400);
	send_stamped(1201, 0, 400);
	send_stamped(1101, 0, 400);
	tcp_fixture_take_trace(&t);
	fastpath_finish_frame(&t, 1000);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	send_stamped(1201, 0, 400);
	assert_outcome("A:retransmit(fast,2)", 0, 0);
}

/* A sender with one identification for everything has no send stamps. */
static void
test_identifications_that_do_not_count(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 7, 0);
	send_stamped(1101, 7, 0);
	send_sack(1001, 1101, 1201);
	LATER(40);
	send_stamped(1001, 7, 0);
	assert_outcome("A:retransmit(fast,2)", 0, 0);
}

/* The identification of the first transmission is 0, so that its stamp is its TSval. */
static void
test_identifications_that_wrap(void **state)
{
	unsigned i;

	(void)state;
	open_with_round_trip(20);
	for (i = 0; i < 14; i++) {
		fastpath_finish_frame(&t, MILLISECONDS / 10);
		send_stamped(1001 + 100 * i, (uint16_t)(65532 + i), 100);
	}
	LATER(20);
	send_sack(1401, 1501, 2401);
	send_stamped(1401, 10, 120);
	assert_outcome("A:retransmit(fast,2)", 0, 0);
}

static void
test_a_syn_captured_twice(void **state)
{
	struct test_segment s = {.from = A, .flags = TCP_SYN, .seq = 1000, .ident = 5};

	(void)state;
	tcp_fixture_feed(&t, s);
	tcp_fixture_feed(&t, s);
	assert_outcome("A:connect-request A:CLOSED>SYN_SENT", 1, 0);
	LATER(1000);
	s.ident = 6;
	tcp_fixture_feed(&t, s);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(syn,2)");
}

/* --- reordering --- */

static void
test_an_overtaken_segment_has_an_older_identification(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 10, 0);
	send_stamped(1201, 12, 0);
	send_stamped(1301, 13, 0);
	send_sack(1101, 1201, 1401);
	LATER(200);
	send_stamped(1101, 11, 0);
	assert_outcome("", 0, 1);
	assert_int_equal(t.flow->tcp[A].bytes, 400);
	assert_int_equal(tcp_retransmits(t.table, t.flow, A), 0);
}

static void
test_an_overtaken_segment_has_an_older_tsval(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 0, 100);
	send_stamped(1201, 0, 105);
	send_sack(1101, 1201, 1301);
	LATER(50);
	send_stamped(1101, 0, 104);
	assert_outcome("", 0, 1);
}

/* The tick of the data above: a loss is reported only a round trip later. */
static void
test_an_overtaken_segment_of_the_same_tick(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 0, 100);
	send_stamped(1201, 0, 100);
	send_sack(1101, 1201, 1301);
	LATER(50);
	send_stamped(1101, 0, 100);
	assert_outcome("", 0, 1);
}

static void
test_first_copies_lost_before_the_capture(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 10, 0);
	send_stamped(1201, 12, 0);
	send_stamped(1301, 13, 0);
	send_sack(1101, 1201, 1401);
	LATER(40);
	send_stamped(1101, 14, 0);
	assert_outcome("A:retransmit(fast,2)", 0, 0);
}

/* One duplicate ACK and 11 ms: no sender retransmits for that. */
static void
test_a_gap_that_nothing_reports(void **state)
{
	(void)state;
	open_with_round_trip(10);
	send_stamped(1101, 0, 0);
	LATER(10);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
	LATER(1);
	send_stamped(1001, 0, 0);
	assert_outcome("", 0, 1);
}

/* The retransmission is captured first, then its original. */
static void
test_an_original_after_its_retransmission(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 10, 0);
	send_stamped(1201, 12, 0);
	send_stamped(1301, 13, 0);
	send_sack(1101, 1201, 1401);
	LATER(40);
	send_stamped(1101, 14, 0);
	LATER(5);
	send_stamped(1101, 11, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
	assert_int_equal(t.flow->tcp[A].bytes, 400);
}

/* --- kinds at real round-trip times --- */

/* Sooner than any retransmission timer expires. */
static void
test_no_timeout_after_41_ms(void **state)
{
	(void)state;
	open_with_round_trip(1);
	send_stamped(1001, 10, 0);
	send_stamped(1101, 11, 0);
	LATER(1);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
	LATER(40);
	send_stamped(1001, 12, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

/* SACK blocks still arrive when the timer of the first segment expires. */
static void
test_a_timeout_while_sacks_arrive(void **state)
{
	unsigned i;

	(void)state;
	open_with_round_trip(1);
	for (i = 0; i < 10; i++)
		send_stamped(1001 + 100 * i, (uint16_t)(10 + i), 0);
	LATER(20);
	send_sack(1001, 1101, 1201);
	send_stamped(1001, 20, 0);
	for (i = 0; i < 5; i++) {
		LATER(50);
		send_sack(1001, 1101, 1301 + 100 * i);
	}
	LATER(10);
	send_stamped(1001, 21, 0);
	assert_string_equal(tcp_fixture_take_trace(&t),
			    "A:retransmit(fast,2) A:timeout(retransmit) A:retransmit(timeout,3)");
}

/* Linux spaces the segments of a slow connection evenly, retransmissions among them. */
static void
test_a_paced_retransmission_is_no_timeout(void **state)
{
	unsigned i;

	(void)state;
	open_with_round_trip(1);
	for (i = 0; i < 4; i++) {
		send_stamped(1001 + 100 * i, (uint16_t)(10 + i), 0);
		if (i != 0)
			send_sack(1001, 1101, 1101 + 100 * i);
		LATER(131);
	}
	send_stamped(1001, 14, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

/* At 200 ms a retransmission that was lost, too, is replaced when SACK blocks show it, before its timer expires. */
static void
test_a_lost_retransmission_is_replaced(void **state)
{
	unsigned i;

	(void)state;
	open_with_round_trip(180);
	for (i = 0; i < 10; i++)
		send_stamped(1001 + 100 * i, (uint16_t)(10 + i), 0);
	LATER(200);
	send_sack(1001, 1101, 1201);
	send_stamped(1001, 20, 0);
	LATER(390);
	send_sack(1001, 1101, 2001);
	send_stamped(1001, 21, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2) A:retransmit(fast,3)");
}

/* --- mid-stream --- */

/* The retransmission begins before everything captured of its sender; the peer's ACKs show that it is outstanding. */
static void
test_midstream_una_is_the_last_ack(void **state)
{
	(void)state;
	send_sack(1001, 1101, 1201);
	send_stamped(1201, 10, 0);
	send_sack(1001, 1101, 1301);
	send_stamped(1301, 11, 0);
	send_sack(1001, 1101, 1401);
	LATER(1);
	send_stamped(1001, 12, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

static void
test_midstream_una_is_an_ack_after_the_data(void **state)
{
	(void)state;
	send_stamped(1201, 10, 0);
	send_sack(1001, 1101, 1301);
	assert_int_equal(t.flow->tcp[A].una, 1001);
	send_stamped(1301, 11, 0);
	send_sack(1001, 1101, 1401);
	LATER(1);
	send_stamped(1001, 12, 0);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:retransmit(fast,2)");
}

/* --- streams --- */

static struct tcp_endpoint before;

/* Offsets and bytes that a segment of A proves to be sent by A. */
static struct tcp_delivery
sent_by(uint32_t seq, uint32_t len)
{
	struct test_segment s = segment_data(A, seq, 5001, len);

	before = t.flow->tcp[A];
	tcp_fixture_feed(&t, s);
	return tcp_sent_since(t.flow, A, &before, seq);
}

static void
test_offsets_are_contiguous_in_spite_of_reordering(void **state)
{
	struct tcp_delivery sent;

	(void)state;
	tcp_fixture_handshake(&t);
	sent = sent_by(1001, 100);
	assert_true(sent.offset == 0 && sent.bytes == 100);
	sent = sent_by(1201, 100);
	assert_true(sent.offset == 100 && sent.bytes == 200);
	sent = sent_by(1101, 100);
	assert_int_equal(sent.bytes, 0);
	sent = sent_by(1301, 100);
	assert_true(sent.offset == 300 && sent.bytes == 100);
}

static void
test_offsets_are_contiguous_in_mid_stream(void **state)
{
	struct tcp_delivery sent;

	(void)state;
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 100));
	sent = sent_by(1201, 100);
	assert_true(sent.offset == 100 && sent.bytes == 200);
	sent = sent_by(1101, 100);
	assert_int_equal(sent.bytes, 0);
	sent = sent_by(1301, 100);
	assert_true(sent.offset == 300 && sent.bytes == 100);
}

/* --- bytes that fill holes, however far back --- */

#define STREAM_SEGMENTS 3000u
#define STREAM_BYTES	(STREAM_SEGMENTS * 100)

static bool captured[STREAM_BYTES];
static uint64_t captured_bytes;
static uint32_t chance_state;

static uint32_t
chance(uint32_t below)
{
	chance_state = chance_state * 1664525u + 1013904223u;
	return (chance_state >> 8) % below;
}

/* A and B have the largest windows. */
static void
open_wide(void)
{
	struct test_segment s = segment_empty(A, TCP_SYN, 1000, 0);

	s.wscale = 15;
	tcp_fixture_feed(&t, s);
	s = segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001);
	s.wscale = 15;
	tcp_fixture_feed(&t, s);
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1001));
	memset(captured, 0, sizeof captured);
	captured_bytes = 0;
}

/* Bytes [from, to) of A's stream are captured. */
static void
capture_stream(uint32_t from, uint32_t to, bool fin)
{
	struct test_segment s = segment_data(A, 1001 + from, 5001, to - from);
	uint32_t i;

	s.flags = (uint8_t)(s.flags | (fin ? TCP_FIN : 0));
	s.ident = (uint16_t)chance(65536);
	tcp_fixture_feed(&t, s);
	LATER(1);
	for (i = from; i < to; i++) {
		captured_bytes += !captured[i];
		captured[i] = true;
	}
}

/* One segment of A in `one_in` is not captured; then any part of the stream is sent again, until all of it was
 * captured. */
static void
lose_and_repeat(uint32_t seed, uint32_t first, uint32_t one_in)
{
	uint32_t i, from;

	chance_state = seed;
	for (i = first; i < STREAM_SEGMENTS; i++)
		if (i == first || i == STREAM_SEGMENTS - 1 || chance(one_in) != 0)
			capture_stream(i * 100, i * 100 + 100, i == STREAM_SEGMENTS - 1);
	for (i = 0; i < 1000; i++) {
		from = chance(STREAM_BYTES - 1001);
		capture_stream(from, from + 1 + chance(1000), false);
		assert_int_equal(t.flow->tcp[A].bytes, captured_bytes);
	}
	for (from = 0; from < STREAM_BYTES; from += 1000)
		capture_stream(from, from + 1000, from + 1000 == STREAM_BYTES);
	assert_int_equal(t.flow->tcp[A].bytes, STREAM_BYTES);
	tcp_fixture_take_trace(&t);
}

static void
test_holes_far_back_are_filled(void **state)
{
	uint32_t seed;

	for (seed = 1; seed < 6; seed++) {
		end(state);
		begin(state);
		open_wide();
		lose_and_repeat(seed, 0, 8);
	}
}

/* The beginning of the stream was sent before the capture. */
static void
test_holes_in_mid_stream_are_filled(void **state)
{
	(void)state;
	memset(captured, 0, sizeof captured);
	captured_bytes = 0;
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001 + 500 * 100, 5001));
	lose_and_repeat(7, 500, 20);
}

/* The time to fill a hole counts from the data above it, not from the last 512 segments. */
static void
test_a_hole_far_back_is_no_reordering(void **state)
{
	uint32_t i;

	(void)state;
	open_wide();
	capture_stream(100, 200, false);
	LATER(200);
	for (i = 2; i < 1000; i++)
		tcp_fixture_feed(&t, segment_data(A, 1001 + i * 100, 5001, 100));
	tcp_fixture_take_trace(&t);
	capture_stream(0, 100, false);
	assert_string_equal(tcp_fixture_take_trace(&t), "A:timeout(retransmit) A:retransmit(timeout,2)");
	assert_int_equal(counters()->reordered_segments, 0);
	assert_int_equal(t.flow->tcp[A].bytes, 100000);
}

/* More holes than are kept: those that are forgotten are found in the send log as far as it reaches, and no byte counts
 * twice. */
static void
test_too_many_holes(void **state)
{
	uint64_t bytes;
	uint32_t i;

	(void)state;
	open_wide();
	for (i = 1; i < 1400; i += 2)
		capture_stream(i * 100, i * 100 + 100, false);
	for (i = 1398; i > 1398 - 2 * 512; i -= 2) {
		capture_stream(i * 100, i * 100 + 100, false);
		capture_stream(i * 100, i * 100 + 100, false);
	}
	assert_int_equal(t.flow->tcp[A].bytes, (700 + 512) * 100);
	capture_stream(0, 100, false);
	capture_stream(100, 200, false);
	bytes = t.flow->tcp[A].bytes;
	assert_in_range(bytes, (700 + 512) * 100, (700 + 513) * 100);
	capture_stream(1400 * 100, 1401 * 100, false);
	capture_stream(1402 * 100, 1403 * 100, false);
	capture_stream(1401 * 100, 1402 * 100, false);
	capture_stream(1401 * 100, 1402 * 100, false);
	assert_int_equal(t.flow->tcp[A].bytes, bytes + 300);
}

/* A connection between others with holes: the lists and holes of those that ended are used again. */
static void
test_many_connections_with_holes(void **state)
{
	struct tcp_pools *pools = flow_table_tcp_pools(t.table);
	uint32_t i, round;

	(void)state;
	for (round = 0; round < 3 * 4096 / 400; round++) {
		open_wide();
		for (i = 1; i < 800; i += 2)
			capture_stream(i * 100, i * 100 + 100, false);
		capture_stream(0, 100, false);
		assert_int_equal(t.flow->tcp[A].bytes, 401 * 100);
		tcp_fixture_feed(&t, segment_empty(A, TCP_RST | TCP_ACK, 1001 + 800 * 100, 5001));
		LATER(100000);
		tcp_fixture_take_trace(&t);
	}
	assert_true(pools->hole_high_water < 4096);
	assert_int_equal(pools->hole_list_high_water, 1);
}

/* A segment that fills a gap, and repeats bytes after it: each byte counts once. */
static void
test_a_segment_that_fills_a_gap_and_overlaps(void **state)
{
	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_data(A, 1101, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1001, 5001, 150));
	assert_int_equal(t.flow->tcp[A].bytes, 200);
	tcp_fixture_feed(&t, segment_data(A, 1301, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1201, 5001, 200));
	assert_int_equal(t.flow->tcp[A].bytes, 400);
	tcp_fixture_feed(&t, segment_data(A, 1501, 5001, 100));
	tcp_fixture_feed(&t, segment_data(A, 1401, 5001, 300));
	assert_int_equal(t.flow->tcp[A].bytes, 700);
}

/* Bytes delivered to A by a segment of A: what it acknowledges. */
static struct tcp_delivery
acknowledged_by(uint32_t ack)
{
	before = t.flow->tcp[A];
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, ack));
	return tcp_delivery_since(t.flow, A, &before, 0);
}

static void
test_the_fin_of_a_sender_that_is_not_captured(void **state)
{
	struct tcp_delivery got;

	(void)state;
	tcp_fixture_feed(&t, segment_empty(A, TCP_SYN, 1000, 0));
	tcp_fixture_feed(&t, segment_empty(A, TCP_ACK, 1001, 5001));
	got = acknowledged_by(5101);
	assert_true(got.offset == 0 && got.bytes == 99);
	got = acknowledged_by(5201);
	assert_true(got.offset == 99 && got.bytes == 100);
	got = acknowledged_by(5202); /* the last byte, and the FIN */
	assert_true(got.offset == 199 && got.bytes == 1);
}

static void
test_a_window_probe_is_received_when_it_is_acknowledged(void **state)
{
	struct test_segment s;
	struct tcp_delivery got;

	(void)state;
	tcp_fixture_handshake(&t);
	tcp_fixture_feed(&t, segment_data(B, 5001, 1001, 100));
	s = segment_empty(A, TCP_ACK, 1001, 5101);
	s.window = -1;
	tcp_fixture_feed(&t, s);
	LATER(300);
	before = t.flow->tcp[A];
	tcp_fixture_feed(&t, segment_data(B, 5101, 1001, 1));
	got = tcp_delivery_since(t.flow, A, &before, 1);
	assert_int_equal(got.bytes, 0);
	tcp_fixture_feed(&t, s); /* refused */
	LATER(300);
	tcp_fixture_feed(&t, segment_data(B, 5101, 1001, 1));
	got = acknowledged_by(5102);
	assert_true(got.offset == 100 && got.bytes == 1);
}

/* --- a mirror port --- */

struct mirrored {
	unsigned copies;     /* of each frame with sequence space; those of others do not come here */
	bool identified;     /* the ACKs have identifications */
	bool acknowledged;   /* an ACK of the first segment was received before the duplicate ACKs */
	unsigned duplicates; /* duplicate ACKs */
	unsigned round_trip_ms, wait_ms;
};

static void
feed_mirrored(const struct mirrored *m, struct test_segment s, unsigned ident)
{
	unsigned i, copies = s.len != 0 || (s.flags & TCP_SYN) != 0 ? m->copies : 1;

	s.ident = (uint16_t)ident;
	for (i = 0; i < copies; i++) {
		fastpath_finish_frame(&t, 1000);
		tcp_fixture_feed(&t, s);
	}
}

/* A sends five segments without SACK, and repeats the first one that is not acknowledged.  Returns the events. */
static const char *
repeat_mirrored(const struct mirrored *m)
{
	unsigned i, ident = m->identified ? 50 : 0, una = m->acknowledged ? 1101 : 1001;

	tcp_fixture_teardown(&t);
	tcp_fixture_setup(&t, 0);
	feed_mirrored(m, segment_empty(A, TCP_SYN, 1000, 0), 8);
	LATER(m->round_trip_ms);
	feed_mirrored(m, segment_empty(B, TCP_SYN | TCP_ACK, 5000, 1001), 40);
	feed_mirrored(m, segment_empty(A, TCP_ACK, 1001, 5001), 9);
	for (i = 0; i < 5; i++)
		feed_mirrored(m, segment_data(A, 1001 + 100 * i, 5001, 100), 10 + i);
	LATER(m->round_trip_ms);
	for (i = !m->acknowledged; i <= m->duplicates; i++)
		feed_mirrored(m, segment_empty(B, TCP_ACK, 5001, una), ident == 0 ? 0 : ident + i);
	LATER(m->wait_ms);
	tcp_fixture_take_trace(&t);
	feed_mirrored(m, segment_data(A, una, 5001, 100), 15);
	return tcp_fixture_take_trace(&t);
}

/* The kind of a retransmission does not depend on whether each frame was captured once or twice. */
static void
test_a_mirror_port_copies_frames(void **state)
{
	static const unsigned round_trips[] = {1, 20, 100, 300}, waits[] = {0, 5, 60, 120, 180, 250, 350, 700, 1500};
	unsigned kind, i, k;

	(void)state;
	for (i = 0; i < sizeof round_trips / sizeof round_trips[0]; i++)
		for (k = 0; k < sizeof waits / sizeof waits[0]; k++)
			for (kind = 0; kind < 20; kind++) {
				struct mirrored m = {.copies = 1, .identified = kind & 1,
						     .acknowledged = kind >> 1 & 1, .duplicates = kind >> 2,
						     .round_trip_ms = round_trips[i], .wait_ms = waits[k]};
				char once[256];

				snprintf(once, sizeof once, "%s", repeat_mirrored(&m));
				m.copies = 2;
				assert_string_equal(repeat_mirrored(&m), once);
			}
}

/* The receiver has accepted a newer timestamp meanwhile.  The fixture compares tcp_segment_check() with
 * tcp_segment_received(). */
static void
test_a_duplicate_is_not_an_old_timestamp(void **state)
{
	(void)state;
	open_with_round_trip(20);
	send_stamped(1001, 10, 100);
	LATER(1);
	send_stamped(1101, 11, 200);
	tcp_fixture_feed(&t, segment_empty(B, TCP_ACK, 5001, 1201));
	send_stamped(1201, 12, 300);
	send_stamped(1001, 10, 100);
	assert_int_equal(counters()->duplicate_segments, 1);
}

#define scenario(test) cmocka_unit_test_setup_teardown(test, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		scenario(test_a_frame_captured_twice),
		scenario(test_a_mirror_port_copies_frames),
		scenario(test_a_plain_frame_captured_twice),
		scenario(test_a_plain_retransmission_after_an_ack),
		scenario(test_a_duplicate_of_the_network),
		scenario(test_a_duplicate_is_not_an_old_timestamp),
		scenario(test_a_duplicate_without_identification),
		scenario(test_a_retransmission_within_a_tick),
		scenario(test_where_duplicates_are_expected),
		scenario(test_parts_of_a_large_segment),
		scenario(test_a_retransmission_within_a_tick_after_its_ack),
		scenario(test_a_retransmission_within_a_tick_after_a_recovery),
		scenario(test_identifications_that_do_not_count),
		scenario(test_identifications_that_wrap),
		scenario(test_a_syn_captured_twice),
		scenario(test_an_overtaken_segment_has_an_older_identification),
		scenario(test_an_overtaken_segment_has_an_older_tsval),
		scenario(test_an_overtaken_segment_of_the_same_tick),
		scenario(test_first_copies_lost_before_the_capture),
		scenario(test_a_gap_that_nothing_reports),
		scenario(test_an_original_after_its_retransmission),
		scenario(test_no_timeout_after_41_ms),
		scenario(test_a_timeout_while_sacks_arrive),
		scenario(test_a_paced_retransmission_is_no_timeout),
		scenario(test_a_lost_retransmission_is_replaced),
		scenario(test_midstream_una_is_the_last_ack),
		scenario(test_midstream_una_is_an_ack_after_the_data),
		scenario(test_offsets_are_contiguous_in_spite_of_reordering),
		scenario(test_offsets_are_contiguous_in_mid_stream),
		scenario(test_a_segment_that_fills_a_gap_and_overlaps),
		scenario(test_holes_far_back_are_filled),
		scenario(test_holes_in_mid_stream_are_filled),
		scenario(test_a_hole_far_back_is_no_reordering),
		scenario(test_too_many_holes),
		scenario(test_many_connections_with_holes),
		scenario(test_the_fin_of_a_sender_that_is_not_captured),
		scenario(test_a_window_probe_is_received_when_it_is_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
