/* SPDX-License-Identifier: BSD-2-Clause */
/* Byte streams in order: the bytes that a reader gets of segments out of order, repeated, altered, truncated or
 * missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flow/stream/stream.h"

/* The bytes that the reader got, missing ones as '.'. */
struct got {
	char text[1 << 16];
	size_t length;
	unsigned gaps, odd[ANOMALY_COUNT];
	bool verify; /* against byte_at() instead of keeping them */
	uint64_t place;
};

enum { HISTORY = 8192 }; /* bytes */

static struct got got;
static struct stream_pool *pool;
static struct stream stream, other;
static uint8_t history[2][HISTORY];

static uint8_t
byte_at(uint64_t place)
{
	return (uint8_t)(place * 37 + (place >> 8) * 11 + (place >> 16));
}

static void
on_bytes(void *context, struct slice bytes)
{
	struct got *to = context;

	assert_true(bytes.len > 0);
	for (uint32_t i = 0; i < bytes.len; i++, to->place++) {
		if (to->verify)
			assert_int_equal(slice_u8(bytes, i), byte_at(to->place));
		else if (to->length < sizeof to->text - 1)
			to->text[to->length++] = (char)slice_u8(bytes, i);
	}
}

static void
on_gap(void *context, uint32_t length)
{
	struct got *to = context;

	to->gaps++;
	to->place += length;
	for (uint32_t i = 0; !to->verify && i < length && to->length < sizeof to->text - 1; i++)
		to->text[to->length++] = '.';
}

static void
on_anomaly(void *context, enum anomaly a)
{
	((struct got *)context)->odd[a]++;
}

static const struct stream_reader reader = {
    .on_bytes = on_bytes, .on_gap = on_gap, .on_anomaly = on_anomaly, .context = &got};

static int
begin(void **state)
{
	(void)state;
	memset(&got, 0, sizeof got);
	stream = (struct stream){.history_size = HISTORY, .history = history[0]};
	other = (struct stream){.history_size = HISTORY, .history = history[1]};
	pool = stream_pool_new();
	stream_begin(pool, &stream, 1000);
	return pool == NULL;
}

static int
end(void **state)
{
	(void)state;
	stream_end(pool, &stream);
	stream_end(pool, &other);
	assert_int_equal(stream_pool_blocks(pool), 0);
	assert_int_equal(stream_pool_segments(pool), 0);
	stream_pool_free(pool);
	return 0;
}

static void
feed(uint32_t offset, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);
	struct stream_segment segment = {
	    .seq = 1000 + offset, .bytes = {(const uint8_t *)text, length}, .wire = length};

	stream_feed(pool, &stream, &segment, &reader);
}

static void
feed_acked(uint32_t offset, const char *text, uint32_t acked)
{
	uint32_t length = (uint32_t)strlen(text);
	struct slice bytes = {(const uint8_t *)text, length};
	struct stream_segment segment = {1000 + offset, bytes, length, true, 1000 + acked, {0}};

	stream_feed(pool, &stream, &segment, &reader);
}

#define assert_got(want)                                    \
	do {                                                \
		got.text[got.length] = '\0';                \
		assert_string_equal(got.text, want);        \
	} while (0)

static void
test_in_order(void **state)
{
	(void)state;
	feed(0, "GET ");
	feed(4, "/ HTTP");
	assert_got("GET / HTTP");
	assert_int_equal(got.gaps, 0);
	assert_int_equal(stream_pool_counters(pool)->bytes, 10);
}

static void
test_out_of_order_segments_are_queued(void **state)
{
	(void)state;
	feed(8, "cc");
	feed(4, "bbbb");
	assert_got("");
	assert_int_equal(stream_pool_segments(pool), 2);
	feed(0, "aaaa");
	assert_got("aaaabbbbcc");
	assert_int_equal(stream_pool_segments(pool), 0);
	assert_int_equal(got.gaps, 0);
}

static void
test_repeated_bytes_count_once(void **state)
{
	(void)state;
	feed(0, "abcdef");
	feed(0, "abcdef");
	feed(3, "defghi");
	assert_got("abcdefghi");
	assert_int_equal(stream_pool_counters(pool)->repeated, 9);
	assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 0);
}

static void
test_differing_bytes_are_reported_and_the_first_count(void **state)
{
	(void)state;
	feed(0, "abcdef");
	feed(0, "abXdef");
	assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 1);
	feed(4, "eFgh");
	assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 2);
	assert_got("abcdefgh");
	/* Among queued segments, too. */
	feed(10, "kkll");
	feed(12, "LLmm");
	feed(8, "ij");
	assert_got("abcdefghijkkllmm");
	assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 3);
	assert_int_equal(stream_pool_counters(pool)->differing, 3);
}

static void
test_a_keepalive_may_hold_any_byte(void **state)
{
	(void)state;
	feed(0, "abcdef");
	feed(5, "?");
	assert_got("abcdef");
	assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 0);
}

static void
test_missing_bytes_that_are_acknowledged_are_a_gap(void **state)
{
	(void)state;
	feed_acked(0, "abc", 0);
	feed_acked(6, "ghi", 3);
	assert_got("abc");
	feed_acked(9, "jkl", 6);
	assert_got("abc...ghijkl");
	assert_int_equal(got.gaps, 1);
	assert_int_equal(got.odd[ANOMALY_STREAM_GAP], 1);
	/* At once, if it is acknowledged already. */
	feed_acked(14, "op", 14);
	assert_got("abc...ghijkl..op");
	/* Bytes after the gap that arrive later are too late, and cannot be compared. */
	feed(3, "def");
	assert_got("abc...ghijkl..op");
	assert_int_equal(stream_pool_counters(pool)->uncompared, 3);
	assert_int_equal(stream_pool_counters(pool)->missing, 5);
}

static void
test_several_gaps_are_declared_one_by_one(void **state)
{
	(void)state;
	feed_acked(2, "c", 0);
	feed_acked(4, "e", 0);
	feed_acked(6, "g", 4);
	assert_got("..c.e");
	feed_acked(7, "h", 6);
	assert_got("..c.e.gh");
	assert_int_equal(got.gaps, 3);
}

static void
test_a_cut_segment_is_a_gap(void **state)
{
	struct stream_segment segment = {1000, {(const uint8_t *)"abc", 3}, 8, false, 0, {0}};

	(void)state;
	stream_feed(pool, &stream, &segment, &reader);
	assert_got("abc.....");
	segment.seq = 1012;
	stream_feed(pool, &stream, &segment, &reader);
	assert_got("abc.....");
	feed(8, "ijkl");
	assert_got("abc.....ijklabc.....");
	/* Nothing captured at all. */
	segment = (struct stream_segment){1020, {NULL, 0}, 2, false, 0, {0}};
	stream_feed(pool, &stream, &segment, &reader);
	assert_got("abc.....ijklabc.......");
}

static void
test_sequence_numbers_wrap(void **state)
{
	static const uint8_t text[] = "abcdefgh";
	struct stream_segment late = {2, {text + 4, 4}, 4, false, 0, {0}};
	struct stream_segment first = {0xfffffffe, {text, 4}, 4, false, 0, {0}};

	(void)state;
	stream_begin(pool, &stream, 0xfffffffe);
	stream_feed(pool, &stream, &late, &reader);
	stream_feed(pool, &stream, &first, &reader);
	stream_feed(pool, &stream, &first, &reader);
	assert_got("abcdefgh");
	assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 0);
}

static void
test_numbers_beyond_every_window_are_no_data(void **state)
{
	(void)state;
	feed(0x60000000, "evil");
	feed(0, "good");
	assert_got("good");
	assert_int_equal(stream_pool_segments(pool), 0);
}

static uint8_t block[65536];

static void
feed_length(struct stream *to, uint32_t offset, uint32_t length)
{
	struct stream_segment segment = {1000 + offset, {block, length}, length, false, 0, {0}};

	stream_feed(pool, to, &segment, &reader);
}

static void
test_a_stream_may_not_hold_more_than_its_share(void **state)
{
	(void)state;
	got.verify = true;
	for (uint32_t i = 0; i < 65536; i++)
		block[i] = byte_at(1 + i); /* only the first is delivered, after a gap of one */
	for (uint32_t i = 0; i < 4; i++)
		feed_length(&stream, 1 + i * 65536, 65536);
	assert_int_equal(stream_pool_blocks(pool), STREAM_BLOCKS_MAX);
	assert_int_equal(got.gaps, 0);
	got.verify = false;
	feed_length(&stream, 1 + 4 * 65536, 1);
	assert_int_equal(got.gaps, 1);
	assert_int_equal(got.odd[ANOMALY_STREAM_LIMIT], 1);
	assert_int_equal(stream_pool_blocks(pool), 0);
}

static void
test_segments_of_one_byte_have_a_bound_too(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3 * STREAM_QUEUE_MAX; i++)
		feed(2 + 2 * i, "x");
	assert_true(stream_pool_segments(pool) <= STREAM_QUEUE_MAX);
	assert_true(got.odd[ANOMALY_STREAM_LIMIT] > 0);
}

/* For all streams together: the queue that has waited longest is evicted. */
static void
test_the_pool_has_a_bound(void **state)
{
	enum { MANY = STREAM_POOL_BLOCKS / STREAM_BLOCKS_MAX };
	static struct stream many[MANY];
	static uint8_t memory[MANY][HISTORY];

	(void)state;
	for (unsigned s = 0; s < MANY; s++) {
		many[s] = (struct stream){.history_size = HISTORY, .history = memory[s]};
		stream_begin(pool, &many[s], 1000);
		for (uint32_t i = 0; i < 4; i++)
			feed_length(&many[s], 1 + i * 65536, 65536);
	}
	assert_int_equal(stream_pool_blocks(pool), STREAM_POOL_BLOCKS);
	feed(10, "late");
	assert_int_equal(stream_pool_counters(pool)->evicted_queues, 1);
	assert_int_equal(many[0].queued_segments, 0);
	assert_int_equal(many[1].queued_segments, 4);
	assert_int_equal(stream.queued_segments, 1);
	got.length = 0;
	feed(0, "0123456789");
	assert_got("0123456789late");
	for (unsigned s = 0; s < MANY; s++)
		stream_end(pool, &many[s]);
}

/* Any order, any overlap, losses with and without an ACK: the delivered bytes are the sent ones, in order. */
static void
test_any_order(void **state)
{
	static uint8_t sent[4096];

	(void)state;
	srand(7);
	for (unsigned round = 0; round < 400; round++) {
		uint32_t start = (uint32_t)rand() * 3u, acked = 0;

		stream_begin(pool, &stream, start);
		memset(&got, 0, sizeof got);
		got.verify = true;
		for (unsigned i = 0; i < 200; i++) {
			uint32_t near = (uint32_t)got.place, offset = near + (uint32_t)(rand() % 600), length;
			struct stream_segment segment;

			offset = offset > 200 ? offset - 200 : 0;
			length = 1 + (uint32_t)rand() % 300;
			for (uint32_t b = 0; b < length; b++)
				sent[b] = byte_at(offset + b);
			if (rand() % 8 == 0 && near + 100 > acked)
				acked = near + (uint32_t)rand() % 100;
			segment = (struct stream_segment){start + offset, {sent, length}, length, rand() % 2 == 0,
							  start + acked, {0}};
			if (rand() % 10 == 0)
				segment.bytes.len = (uint32_t)rand() % length;
			stream_feed(pool, &stream, &segment, &reader);
			assert_int_equal(stream.next_seq, start + (uint32_t)got.place);
		}
		assert_int_equal(got.odd[ANOMALY_RETRANSMISSION_DIFFERS], 0);
	}
}

int
main(void)
{
#define POINT(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
	    POINT(test_in_order),
	    POINT(test_out_of_order_segments_are_queued),
	    POINT(test_repeated_bytes_count_once),
	    POINT(test_differing_bytes_are_reported_and_the_first_count),
	    POINT(test_a_keepalive_may_hold_any_byte),
	    POINT(test_missing_bytes_that_are_acknowledged_are_a_gap),
	    POINT(test_several_gaps_are_declared_one_by_one),
	    POINT(test_a_cut_segment_is_a_gap),
	    POINT(test_sequence_numbers_wrap),
	    POINT(test_numbers_beyond_every_window_are_no_data),
	    POINT(test_a_stream_may_not_hold_more_than_its_share),
	    POINT(test_segments_of_one_byte_have_a_bound_too),
	    POINT(test_the_pool_has_a_bound),
	    POINT(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
