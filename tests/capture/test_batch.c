/* SPDX-License-Identifier: BSD-2-Clause */
/* Batching: every frame reaches the sink once, in order, unchanged, in batches of at most BATCH_FRAMES. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/batch.h"
#include "tests/capture/sink_fixture.h"

static struct {
	uint64_t next;	    /* number that the next frame must have */
	unsigned calls;	    /* of take_frames() */
	unsigned last;	    /* frames in the last call */
	uint64_t advanced;
	const uint8_t *data; /* of the last frame */
	bool same;	     /* every frame has the number `next` */
} seen;

static bool output_failed;
static uint64_t flushed_at; /* frames seen when the output was flushed */
static const struct interface somewhere = {.name = "test0", .ifindex = 7};

static uint32_t
length_of(uint64_t number)
{
	static const uint32_t lengths[] = {60,	   94, 0,  1514, BATCH_COPY_MAX, 1, BATCH_COPY_MAX + 1, 65549,
					   262144, 15, 16, 17};

	return lengths[number % (sizeof lengths / sizeof lengths[0])];
}

static void
take_frames(struct frame_sink *sink, const struct frame *frames, unsigned count)
{
	(void)sink;
	assert_in_range(count, 1, BATCH_FRAMES);
	for (unsigned i = 0; i < count; i++) {
		const struct frame *frame = &frames[i];

		assert_int_equal(frame->ts, seen.next);
		assert_int_equal(frame->caplen, length_of(seen.next));
		assert_int_equal(frame->len, length_of(seen.next) + 1);
		assert_int_equal(frame->dlt, 42);
		assert_ptr_equal(frame->interface, &somewhere);
		for (uint32_t at = 0; at < frame->caplen; at++)
			if (frame->data[at] != (uint8_t)seen.next)
				fail_msg("frame %llu differs at byte %u", (unsigned long long)seen.next, (unsigned)at);
		seen.data = frame->data;
		seen.next += !seen.same;
	}
	seen.calls++;
	seen.last = count;
}

static void
advance_clock(struct frame_sink *sink, uint64_t now)
{
	(void)sink;
	seen.advanced = now;
}

static bool
flush_output(struct frame_sink *sink)
{
	(void)sink;
	flushed_at = seen.next;
	return !output_failed;
}

/* A batch that passes frames to take_frames(). */
static struct batch *
new_batch(void)
{
	static struct frame_sink_ops ops;
	static struct frame_sink sink = {&ops};
	struct batch *batch;

	ops = sink_ops(take_frames);
	ops.advance_clock = advance_clock;
	ops.flush_output = flush_output;
	batch = batch_new(&sink);
	assert_non_null(batch);
	assert_ptr_equal(batch_sink(batch), &sink);
	return batch;
}

static uint8_t lent[262144];

/* Adds a frame to the batch and overwrites its bytes at once, as libpcap does. */
static void
add(struct batch *batch, uint64_t number)
{
	uint32_t length = length_of(number);

	memset(lent, (uint8_t)number, length);
	*batch_next_frame(batch) = (struct frame){
	    .data = lent, .interface = &somewhere, .ts = number, .caplen = length, .len = length + 1, .dlt = 42};
	batch_commit_frame(batch);
	memset(lent, 0xee, length);
}

static void
test_order(void **state)
{
	struct batch *batch = new_batch();

	(void)state;
	memset(&seen, 0, sizeof seen);
	assert_non_null(batch);
	for (uint64_t number = 0; number < 5000; number++)
		add(batch, number);
	assert_true(seen.next > 5000 - BATCH_FRAMES);
	batch_flush(batch);
	assert_int_equal(seen.next, 5000);
	batch_flush(batch); /* nothing left */
	assert_int_equal(seen.next, 5000);
	batch_free(batch);
}

static void
test_full(void **state)
{
	struct batch *batch = new_batch();

	(void)state;
	memset(&seen, 0, sizeof seen);
	/* Lengths repeat every 12 frames and the seventh is too large, so that batches are cut there. */
	for (uint64_t number = 0; number < 6; number++)
		add(batch, number);
	assert_int_equal(seen.calls, 0);
	add(batch, 6);
	assert_int_equal(seen.calls, 2); /* the six before it, then the large one by itself */
	assert_int_equal(seen.last, 1);
	assert_ptr_equal(seen.data, lent); /* where it lies */
	batch_free(batch);
}

/* As many frames as fit, each as long as may be copied. */
static void
test_longest(void **state)
{
	struct batch *batch = new_batch();

	(void)state;
	memset(&seen, 0, sizeof seen);
	seen.next = 4;
	seen.same = true;
	assert_int_equal(length_of(4), BATCH_COPY_MAX);
	for (unsigned i = 0; i < BATCH_FRAMES; i++) {
		assert_int_equal(seen.calls, 0);
		add(batch, 4);
	}
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.last, BATCH_FRAMES);
	batch_free(batch);
}

static void
test_flush(void **state)
{
	struct batch *batch = new_batch();

	(void)state;
	memset(&seen, 0, sizeof seen);
	flushed_at = 0;
	add(batch, 0);
	assert_true(batch_flush_output(batch));
	assert_int_equal(seen.next, 1);
	assert_int_equal(flushed_at, 1); /* printed what was just observed */
	output_failed = true;
	assert_false(batch_flush_output(batch));
	output_failed = false;
	add(batch, 1);
	batch_advance_clock(batch, 99);
	assert_int_equal(seen.next, 2); /* the clock does not overtake frames */
	assert_int_equal(seen.advanced, 99);
	batch_free(batch);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_full),
	    cmocka_unit_test(test_longest),
	    cmocka_unit_test(test_flush),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
