/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting in memory and through the temporary file gives the same, whatever the order of arrival. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "records/record_json.h"
#include "records/record_sort.h"
#include "tests/probes/probe_args_sample.h"

#define RECORDS	  5000u
#define IN_MEMORY ((size_t)RECORDS * 2 * sizeof(struct connrow))
#define IN_PIECES ((size_t)64 * sizeof(struct connrow)) /* some 80 runs */

static struct connrow *records;
static char error[RECORD_ERROR_MAX];

/* Few different values, so that many are equal. */
static int
make_records(void **state)
{
	struct probe_args_sample sample;

	(void)state;
	probe_args_sample_fill(&sample);
	records = malloc(RECORDS * sizeof *records);
	assert_non_null(records);
	srand(1);
	for (unsigned i = 0; i < RECORDS; i++) {
		records[i].record = sample.connrec;
		connrow_set_ended(&records[i]);
		records[i].record.cr_end = 1000 + (unsigned)rand() % 500;
		records[i].record.cr_uid = (unsigned)rand() % 3;
		records[i].record.cr_server_bytes = (unsigned)rand() % 50;
		records[i].record.cr_answer_max_us = rand() % 20 - 1;
		records[i].record.cr_vlan = (int)i; /* all are different, and "10" comes before "9" */
		snprintf(records[i].record.cr_server, sizeof records[i].record.cr_server, "192.0.2.%u",
			 (unsigned)rand() % 250);
	}
	return 0;
}

static int
free_records(void **state)
{
	(void)state;
	free(records);
	return 0;
}

static void
shuffle_records(void)
{
	for (unsigned i = RECORDS - 1; i > 0; i--) {
		unsigned other = (unsigned)rand() % (i + 1);
		struct connrow record = records[i];

		records[i] = records[other];
		records[other] = record;
	}
}

static int
temporary_file(void)
{
	char path[] = "/tmp/test_record_sort.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

/* Sorts all records; returns their number. */
static size_t
sort_records(const char *order, uint64_t limit, size_t memory, struct connrow *sorted)
{
	struct record_sort_settings settings = {.limit = limit, .memory = memory, .spill_fd = temporary_file()};
	struct record_sort *sort;
	const struct connrow *record;
	size_t count = 0;

	if (order != NULL)
		assert_true(record_order_parse(order, &settings.order, error));
	sort = record_sort_new(&settings);
	assert_non_null(sort);
	for (unsigned i = 0; i < RECORDS; i++)
		assert_true(record_sort_add(sort, &records[i]));
	while ((record = record_sort_next(sort)) != NULL)
		sorted[count++] = *record;
	assert_int_equal(record_sort_error(sort), 0);
	assert_null(record_sort_next(sort));
	record_sort_free(sort);
	close(settings.spill_fd);
	return count;
}

/* The same order in memory, in pieces, and of other orders of arrival; with a limit the first ones. */
static void
check_order(const char *order, struct connrow *sorted)
{
	struct connrow *again = malloc(RECORDS * sizeof *again);

	assert_non_null(again);
	assert_int_equal(sort_records(order, 0, IN_MEMORY, sorted), RECORDS);
	for (size_t memory = IN_PIECES; memory <= IN_MEMORY; memory *= 3) {
		shuffle_records();
		assert_int_equal(sort_records(order, 0, memory, again), RECORDS);
		assert_memory_equal(sorted, again, RECORDS * sizeof *again);
		assert_int_equal(sort_records(order, 7, memory, again), 7);
		assert_memory_equal(sorted, again, 7 * sizeof *again);
		assert_int_equal(sort_records(order, 3000, memory, again), 3000);
		assert_memory_equal(sorted, again, 3000 * sizeof *again);
		assert_int_equal(sort_records(order, RECORDS + 1, memory, again), RECORDS);
	}
	free(again);
}

/* As LC_ALL=C sort compares the lines. */
static void
check_line_order(struct record_json *json, const struct connrow *a, const struct connrow *b)
{
	static char one[RECORD_LINE_MAX], other[RECORD_LINE_MAX];

	*record_json_put_line(json, a, one) = '\0';
	*record_json_put_line(json, b, other) = '\0';
	assert_true(strcmp(one, other) < 0);
}

static void
test_sorted_by_line(void **state)
{
	struct connrow *sorted = malloc(RECORDS * sizeof *sorted);
	struct record_json *json = record_json_new(NULL, false);

	(void)state;
	assert_non_null(sorted);
	check_order(NULL, sorted);
	for (unsigned i = 1; i < RECORDS; i++)
		check_line_order(json, &sorted[i - 1], &sorted[i]);
	record_json_free(json);
	free(sorted);
}

static void
test_sorted_by_number(void **state)
{
	struct connrow *sorted = malloc(RECORDS * sizeof *sorted);
	struct record_json *json = record_json_new(NULL, false);

	(void)state;
	assert_non_null(sorted);
	check_order("server_bytes", sorted);
	for (unsigned i = 1; i < RECORDS; i++) {
		assert_true(sorted[i - 1].record.cr_server_bytes >= sorted[i].record.cr_server_bytes);
		if (sorted[i - 1].record.cr_server_bytes == sorted[i].record.cr_server_bytes)
			check_line_order(json, &sorted[i - 1], &sorted[i]);
	}
	check_order("-answer_max_us", sorted); /* signed: unknown first */
	assert_int_equal(sorted[0].record.cr_answer_max_us, -1);
	for (unsigned i = 1; i < RECORDS; i++)
		assert_true(sorted[i - 1].record.cr_answer_max_us <= sorted[i].record.cr_answer_max_us);
	record_json_free(json);
	free(sorted);
}

static void
test_sorted_by_text(void **state)
{
	struct connrow *sorted = malloc(RECORDS * sizeof *sorted);

	(void)state;
	assert_non_null(sorted);
	check_order("server", sorted);
	for (unsigned i = 1; i < RECORDS; i++)
		assert_true(strcmp(sorted[i - 1].record.cr_server, sorted[i].record.cr_server) <= 0);
	check_order("-server", sorted);
	for (unsigned i = 1; i < RECORDS; i++)
		assert_true(strcmp(sorted[i - 1].record.cr_server, sorted[i].record.cr_server) >= 0);
	free(sorted);
}

static void
test_nothing_added(void **state)
{
	const struct record_sort_settings settings = {.memory = IN_PIECES, .spill_fd = -1};
	struct record_sort *sort = record_sort_new(&settings);

	(void)state;
	assert_non_null(sort);
	assert_null(record_sort_next(sort));
	assert_int_equal(record_sort_error(sort), 0);
	record_sort_free(sort);
}

static void
test_full_disk(void **state)
{
	const struct record_sort_settings settings = {.memory = IN_PIECES, .spill_fd = open("/dev/full", O_RDWR)};
	struct record_sort *sort = record_sort_new(&settings);
	unsigned added = 0;

	(void)state;
	assert_non_null(sort);
	while (added < RECORDS && record_sort_add(sort, &records[added]))
		added++;
	assert_in_range(added, 16, RECORDS - 1);
	assert_int_equal(record_sort_error(sort), ENOSPC);
	assert_null(record_sort_next(sort));
	record_sort_free(sort);
	close(settings.spill_fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sorted_by_line), cmocka_unit_test(test_sorted_by_number),
	    cmocka_unit_test(test_sorted_by_text), cmocka_unit_test(test_nothing_added),
	    cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, make_records, free_records);
}
