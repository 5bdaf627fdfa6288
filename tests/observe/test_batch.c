/* SPDX-License-Identifier: BSD-2-Clause */
/* Batching: every frame reaches the observer once, in order, unchanged, in batches of at most BATCH_FRAMES. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "observe/batch.h"
#include "probes/print/print.h"
#include "tests/observe/observer_clock_stub.h"

static struct {
	uint64_t next;	    /* number that the next frame must have */
	unsigned calls;	    /* of observe_frames() */
	unsigned last;	    /* frames in the last call */
	unsigned stopped;   /* calls of printer_stop() */
	uint64_t advanced;
	const uint8_t *data; /* of the last frame */
	bool same;	     /* every frame has the number `next` */
} seen;

static int output_error;
static uint64_t flushed_at; /* frames seen when the printer was flushed */
static const struct interface somewhere = {.name = "test0", .ifindex = 7};

static uint32_t
length_of(uint64_t number)
{
	static const uint32_t lengths[] = {60,	   94, 0,  1514, BATCH_COPY_MAX, 1, BATCH_COPY_MAX + 1, 65549,
					   262144, 15, 16, 17};

	return lengths[number % (sizeof lengths / sizeof lengths[0])];
}

/* Replaces observe/observer.c and probes/print/print.c. */
void
observe_frames(struct observer *observer, const struct frame *frames, unsigned count)
{
	assert_null(observer);
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

void
observer_advance_clock(struct observer *observer, uint64_t now)
{
	assert_null(observer);
	seen.advanced = now;
}

void
observer_clear(struct observer *observer)
{
	assert_null(observer);
}

static bool records_failed;

void
observer_populate_flows(struct observer *observer, uint32_t flows)
{
	(void)observer;
	(void)flows;
}

bool
observer_flush_records(struct observer *observer)
{
	assert_null(observer);
	return !records_failed;
}

void
printer_flush(struct printer *printer)
{
	(void)printer;
	flushed_at = seen.next;
}

int
printer_error(const struct printer *printer)
{
	(void)printer;
	return output_error;
}

bool
printer_is_waiting(const struct printer *printer)
{
	(void)printer;
	return false;
}

uint64_t
printer_dropped(const struct printer *printer)
{
	(void)printer;
	return 0;
}

void
printer_stop(struct printer *printer)
{
	(void)printer;
	seen.stopped++;
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
	struct batch *batch = batch_new(NULL, NULL);

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
	struct batch *batch = batch_new(NULL, NULL);

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
	struct batch *batch = batch_new(NULL, NULL);

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
	static char no_printer; /* only its address counts */
	struct batch *batch = batch_new(NULL, (struct printer *)(void *)&no_printer);

	(void)state;
	memset(&seen, 0, sizeof seen);
	output_error = 0;
	flushed_at = 0;
	add(batch, 0);
	assert_true(batch_flush_output(batch));
	assert_int_equal(seen.next, 1);
	assert_int_equal(flushed_at, 1); /* printed what was just observed */
	output_error = 32;
	assert_false(batch_flush_output(batch));
	add(batch, 1);
	batch_advance_clock(batch, 99);
	assert_int_equal(seen.next, 2); /* the clock does not overtake frames */
	assert_int_equal(seen.advanced, 99);
	batch_stop_printing(batch);
	assert_int_equal(seen.stopped, 1);
	assert_true(batch_flush_output(batch)); /* observation continues without its output */
	batch_free(batch);

	batch = batch_new(NULL, NULL);
	assert_true(batch_flush_output(batch));
	records_failed = true;
	assert_false(batch_flush_output(batch));
	records_failed = false;
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
