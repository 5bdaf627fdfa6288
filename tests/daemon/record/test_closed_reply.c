/* SPDX-License-Identifier: BSD-2-Clause */
/* A reply about connections that have ended, while further ones end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/record/closed_reply.h"

/* More than one part of a reply examines. */
#define CAPACITY 1000u

static struct record_ring *ring;
static uint64_t taken;
static char bytes[1 << 20];

static int
set_up(void **state)
{
	(void)state;
	ring = record_ring_new(CAPACITY);
	taken = 0;
	return ring == NULL;
}

static int
tear_down(void **state)
{
	(void)state;
	record_ring_free(ring);
	return 0;
}

/* So many connections end, whose clients send 1, 2, ... bytes. */
static void
end_connections(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct connrec record = {.cr_reason = "fin"};

		record.cr_client_bytes = record.cr_end = ++taken;
		record_ring_take(ring, &record);
	}
}

static struct closed_reply *
begin(struct closed_request request)
{
	struct closed_reply *reply;
	char error[256] = "";

	request.fields = "client_bytes";
	request.all_owners = true;
	reply = closed_reply_new(ring, &request, error, sizeof error);
	assert_string_equal(error, "");
	assert_non_null(reply);
	return reply;
}

/* The first part of the reply, then `between` connections end, then the other parts; returns all lines. */
static const char *
write_parts(struct closed_reply *reply, unsigned between)
{
	struct text_buffer text = {.bytes = bytes, .size = sizeof bytes - 1};

	assert_true(closed_reply_write(reply, &text));
	end_connections(between);
	while (closed_reply_write(reply, &text))
		end_connections(between);
	bytes[text.used] = '\0';
	closed_reply_free(reply);
	return bytes;
}

static unsigned
lines(const char *text)
{
	unsigned count = 0;

	for (; *text != '\0'; text++)
		count += *text == '\n';
	return count;
}

/* A reply ends although connections end as fast as it is read. */
static void
test_later_ones_are_left_out(void **state)
{
	const char *text;

	(void)state;
	end_connections(CAPACITY - 400);
	text = write_parts(begin((struct closed_request){.json = true}), 400);
	assert_int_equal(lines(text), CAPACITY - 400);
	assert_non_null(strstr(text, "{\"cr_client_bytes\":600}\n"));
	assert_null(strstr(text, "{\"cr_client_bytes\":601}\n"));
}

static void
test_overwritten_meanwhile(void **state)
{
	const char *text;

	(void)state;
	end_connections(CAPACITY);
	text = write_parts(begin((struct closed_request){.limit = 0}), 900);
	assert_int_equal(lines(text), 1 + 512 + 100 + 1);
	assert_non_null(strstr(text, "\nearlier ones are overwritten: "));
}

static void
test_all_overwritten_meanwhile(void **state)
{
	const char *text;

	(void)state;
	end_connections(CAPACITY);
	text = write_parts(begin((struct closed_request){.json = true}), 5000);
	assert_int_equal(lines(text), 512);
	assert_null(strstr(text, "{\"cr_client_bytes\":5001}\n"));
}

static void
test_read_ones_may_be_overwritten(void **state)
{
	const char *text;

	(void)state;
	end_connections(CAPACITY);
	text = write_parts(begin((struct closed_request){.limit = 0}), 500);
	assert_int_equal(lines(text), 1 + CAPACITY);
	assert_null(strstr(text, "overwritten"));
}

/* Of more records than are sorted the first ones of the order are listed: the memory of the sort is enough for them. */
static void
test_most_are_sorted(void **state)
{
	const char *text;
	char last[64];

	(void)state;
	record_ring_free(ring);
	ring = record_ring_new(4 * CLOSED_SORT_MAX);
	assert_non_null(ring);
	end_connections(4 * CLOSED_SORT_MAX);
	text = write_parts(begin((struct closed_request){.sort = "-client_bytes"}), 0);
	assert_int_equal(lines(text), 1 + CLOSED_SORT_MAX + 1);
	snprintf(last, sizeof last, " %u\nthere are more: with --sort at most 5000 are printed\n", CLOSED_SORT_MAX);
	assert_non_null(strstr(text, last));
	text = write_parts(begin((struct closed_request){.sort = "-client_bytes", .json = true, .notes = true}), 0);
	assert_int_equal(lines(text), CLOSED_SORT_MAX + 1);
	assert_non_null(strstr(text, "}\n{\"note\":\"there are more: with --sort at most 5000 are printed\"}\n"));
	text = write_parts(begin((struct closed_request){.sort = "-client_bytes", .json = true}), 0);
	assert_int_equal(lines(text), CLOSED_SORT_MAX);
	text = write_parts(begin((struct closed_request){.sort = "client_bytes", .limit = 1, .json = true}), 0);
	snprintf(last, sizeof last, "{\"cr_client_bytes\":%u}\n", 4 * CLOSED_SORT_MAX);
	assert_string_equal(text, last);
	text = write_parts(
	    begin((struct closed_request){.sort = "client_bytes", .limit = 1, .json = true, .notes = true}), 0);
	assert_string_equal(text, last);
	end_connections(1);
	text = write_parts(begin((struct closed_request){.json = true, .notes = true}), 0);
	assert_non_null(strstr(text, "}\n{\"note\":\"earlier ones are overwritten: netobsd keeps 20000, see "
				     "--closed-connections\"}\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_later_ones_are_left_out, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_overwritten_meanwhile, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_all_overwritten_meanwhile, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_read_ones_may_be_overwritten, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_most_are_sorted, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
