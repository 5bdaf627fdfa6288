/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue of a feed: order, gaps and their lines, the end of the memory, and two threads. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes/feed/feed_queue.h"

#define SIZE 256u

static struct feed_queue queue;
static char got[1 << 16];
static size_t got_length;

static int
set_up(void **state)
{
	(void)state;
	got_length = 0;
	return feed_queue_open(&queue, SIZE) ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	feed_queue_close(&queue);
	return 0;
}

static void
add(const char *line)
{
	feed_queue_add(&queue, line, strlen(line));
}

/* Removes at most `most` bytes. */
static void
take(size_t most)
{
	const char *bytes;
	size_t length;

	while (most > 0 && (length = feed_queue_peek(&queue, &bytes)) > 0) {
		if (length > most)
			length = most;
		assert_true(got_length + length < sizeof got);
		memcpy(got + got_length, bytes, length);
		got_length += length;
		feed_queue_remove(&queue, length);
		most -= length;
	}
	got[got_length] = '\0';
}

static void
test_order(void **state)
{
	(void)state;
	add("one\n");
	add("two\n");
	assert_int_equal(feed_queue_used(&queue), 8);
	take(SIZE);
	assert_string_equal(got, "one\ntwo\n");
	assert_int_equal(feed_queue_used(&queue), 0);
	assert_true(feed_queue_end_gap(&queue));
	assert_int_equal(feed_queue_used(&queue), 0);
	assert_int_equal(queue.lines, 2);
	assert_int_equal(queue.dropped, 0);
}

/* The queue takes exactly its size, over the end of its memory too. */
static void
test_full(void **state)
{
	char line[SIZE + 2];

	(void)state;
	memset(line, 'a', sizeof line);
	line[SIZE - 1] = '\n';
	for (unsigned i = 0; i < 3; i++) {
		add("x\n");
		take(SIZE);
		feed_queue_add(&queue, line, SIZE);
		assert_int_equal(feed_queue_used(&queue), SIZE);
		take(SIZE);
	}
	assert_int_equal(queue.dropped, 0);
	feed_queue_add(&queue, line, SIZE + 1);
	assert_int_equal(queue.dropped, 1);
}

static void
fill(unsigned *number)
{
	uint64_t before = queue.dropped;

	while (queue.dropped == before) {
		char line[16];

		snprintf(line, sizeof line, "%u\n", (*number)++);
		add(line);
	}
}

/* The number of dropped lines stands where they are missing. */
static void
test_gap(void **state)
{
	char wanted[1024];
	unsigned number = 0, first;
	size_t used = 0;

	(void)state;
	fill(&number);
	first = number - 1;
	add("dropped\n");
	add("dropped\n");
	assert_int_equal(queue.dropped, 3);
	take(SIZE / 8);
	assert_true(feed_queue_drop(&queue)); /* less than a quarter is free */
	take(SIZE);
	assert_false(feed_queue_drop(&queue));
	add("next\n");
	assert_false(feed_queue_drop(&queue));
	take(SIZE);
	for (unsigned i = 0; i < first; i++)
		used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%u\n", i);
	snprintf(wanted + used, sizeof wanted - used, "{\"lost\":4}\nnext\n");
	assert_string_equal(got, wanted);
	assert_int_equal(queue.lines, first + 4 + 1);
	assert_int_equal(queue.dropped, 4);
}

/* A gap with nothing after it. */
static void
test_last_gap(void **state)
{
	unsigned number = 0;

	(void)state;
	fill(&number);
	assert_false(feed_queue_end_gap(&queue));
	take(SIZE);
	got_length = 0;
	assert_true(feed_queue_end_gap(&queue));
	assert_true(feed_queue_end_gap(&queue));
	take(SIZE);
	assert_string_equal(got, "{\"lost\":1}\n");
}

/* ------------------------------------------------------------------------------------------------------ two threads */

#define THREAD_LINES 300000u

static _Atomic bool adding_ended;

static void *
add_lines(void *context)
{
	(void)context;
	for (unsigned i = 1; i <= THREAD_LINES; i++) {
		char line[64];
		int length =
		    snprintf(line, sizeof line, "%u %.*s\n", i, (int)(i % 37), "abcdefghijklmnopqrstuvwxyzabcdefghijk");

		feed_queue_add(&queue, line, (size_t)length);
		if (i % 64 == 0)
			sched_yield();
	}
	while (!feed_queue_end_gap(&queue))
		sched_yield();
	adding_ended = true;
	return NULL;
}

/* Every number is there once and in order, or counted by the line of its gap. */
static void
test_threads(void **state)
{
	char line[256];
	size_t length = 0;
	unsigned long number = 0, lost = 0;
	pthread_t thread;

	(void)state;
	adding_ended = false;
	assert_int_equal(pthread_create(&thread, NULL, add_lines, NULL), 0);
	for (;;) {
		bool ended = adding_ended;
		const char *bytes;
		size_t piece = feed_queue_peek(&queue, &bytes);

		if (piece == 0 && ended)
			break;
		for (size_t i = 0; i < piece; i++) {
			assert_true(length < sizeof line);
			line[length++] = bytes[i];
			if (bytes[i] != '\n')
				continue;
			line[length - 1] = '\0';
			length = 0;
			if (strncmp(line, "{\"lost\":", 8) == 0) {
				unsigned long count = strtoul(line + 8, NULL, 10);

				assert_true(count > 0);
				lost += count;
				number += count;
			} else {
				assert_int_equal(strtoul(line, NULL, 10), ++number);
			}
		}
		feed_queue_remove(&queue, piece);
	}
	pthread_join(thread, NULL);
	assert_int_equal(number, THREAD_LINES);
	assert_int_equal(lost, queue.dropped);
	assert_int_equal(queue.lines, THREAD_LINES);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_gap, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_last_gap, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("feed_queue", tests, NULL, NULL);
}
