/* SPDX-License-Identifier: BSD-2-Clause */
/* The line below a table: what it counts and which words it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "records/record_columns.h"

static char text[RECORD_TALLY_MAX];

static void
add(struct record_tally *tally, unsigned times, unsigned protocol, const char *reason)
{
	struct connrec record = {.cr_protocol = (netobs_u8)protocol};

	snprintf(record.cr_reason, sizeof record.cr_reason, "%s", reason);
	while (times-- > 0)
		record_tally_add(tally, &record);
}

static const char *
text_of(const struct record_tally *tally, uint64_t limit)
{
	record_tally_format(tally, limit, text);
	return text;
}

static void
test_all_words(void **state)
{
	struct record_tally tally = {0};

	(void)state;
	add(&tally, 20, 6, "fin");
	add(&tally, 2, 6, "refused");
	add(&tally, 4, 6, "unreachable");
	add(&tally, 1, 6, "no-answer");
	add(&tally, 5, 6, "reset-by-client");
	add(&tally, 7, 6, "reset-by-server");
	add(&tally, 3, 17, "idle");
	add(&tally, 1, 132, "capture-end");
	assert_string_equal(text_of(&tally, 0),
			    "43 connections: 39 TCP, 3 UDP, 1 SCTP; 2 refused, 4 unreachable, 1 no-answer, 12 reset");
	assert_null(strstr(text_of(&tally, 43), "shown"));
	assert_string_equal(text_of(&tally, 42), "43 connections: 39 TCP, 3 UDP, 1 SCTP; 2 refused, 4 unreachable, "
						 "1 no-answer, 12 reset; 42 of 43 lines shown");
}

static void
test_what_is_0_is_left_out(void **state)
{
	struct record_tally tally = {0};

	(void)state;
	assert_string_equal(text_of(&tally, 5), "0 connections");
	add(&tally, 1, 17, "idle");
	assert_string_equal(text_of(&tally, 5), "1 connection: 1 UDP");
	add(&tally, 1, 6, "no-answer");
	assert_string_equal(text_of(&tally, 1), "2 connections: 1 TCP, 1 UDP; 1 no-answer; 1 of 2 lines shown");
}

static void
test_an_open_connection_counts_once(void **state)
{
	struct record_tally tally = {0};

	(void)state;
	add(&tally, 3, 6, "open");
	add(&tally, 1, 6, "fin");
	assert_string_equal(text_of(&tally, 2), "1 connection: 1 TCP; 2 of 4 lines shown");
}

static void
test_largest_counts_fit(void **state)
{
	struct record_tally tally;

	(void)state;
	memset(&tally, 0xff, sizeof tally);
	text_of(&tally, UINT64_MAX - 1);
	assert_non_null(strstr(text, " of 18446744073709551615 lines shown"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_all_words),
	    cmocka_unit_test(test_what_is_0_is_left_out),
	    cmocka_unit_test(test_an_open_connection_counts_once),
	    cmocka_unit_test(test_largest_counts_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
