/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring of records: order, what is overwritten, and reading while records come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "records/record_ring.h"

static void
take(struct record_ring *ring, uint64_t first, uint64_t last, const char *reason)
{
	for (uint64_t uid = first; uid <= last; uid++) {
		struct connrec record = {.cr_uid = uid, .cr_end = 100 - uid};

		memcpy(record.cr_reason, reason, strlen(reason));
		record_ring_take(ring, &record);
	}
}

/* Reads from `*position` on: the records have these numbers, and are all. */
static void
reads(struct record_ring *ring, uint64_t *position, uint64_t first, uint64_t last)
{
	struct connrec record;

	for (uint64_t uid = first; uid <= last; uid++) {
		assert_true(record_ring_read(ring, position, &record));
		assert_int_equal(record.cr_uid, uid);
	}
	assert_false(record_ring_read(ring, position, &record));
}

static void
test_order(void **state)
{
	struct record_ring *ring = record_ring_new(3);
	uint64_t position = 0;

	(void)state;
	assert_int_equal(record_ring_capacity(ring), 3);
	reads(ring, &position, 1, 0);
	take(ring, 1, 2, "fin");
	reads(ring, &position, 1, 2);
	take(ring, 3, 3, "fin");
	reads(ring, &position, 3, 3);
	position = 0;
	reads(ring, &position, 1, 3);
	assert_int_equal(record_ring_counters(ring).now, 3);
	assert_int_equal(record_ring_counters(ring).overwritten, 0);
	record_ring_free(ring);
}

static void
test_oldest_is_overwritten(void **state)
{
	struct record_ring *ring = record_ring_new(3);
	struct connrec record;
	uint64_t position = 0;

	(void)state;
	take(ring, 1, 4, "fin");
	reads(ring, &position, 2, 4);
	position = 0;
	assert_true(record_ring_read(ring, &position, &record));
	take(ring, 5, 9, "refused");
	reads(ring, &position, 7, 9);
	assert_int_equal(record_ring_counters(ring).now, 3);
	assert_int_equal(record_ring_counters(ring).overwritten, 6);
	assert_int_equal(record_ring_counters(ring).latest_lost, 99);
	record_ring_free(ring);
}

static void
test_open_connections_are_not_taken(void **state)
{
	struct record_ring *ring = record_ring_new(1);
	uint64_t position = 0;

	(void)state;
	take(ring, 1, 1, "fin");
	take(ring, 2, 2, "open");
	reads(ring, &position, 1, 1);
	record_ring_free(ring);
	record_ring_free(NULL);
	assert_int_equal(record_ring_memory_size(0), 0);
	assert_true(record_ring_memory_size(1000) >= 1000 * sizeof(struct connrec));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_oldest_is_overwritten),
					   cmocka_unit_test(test_open_connections_are_not_taken)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
