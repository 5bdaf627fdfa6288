/* SPDX-License-Identifier: BSD-2-Clause */
/* A reply about connections that have ended, while further ones end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/query/control_reply.h"
#include "records/record_ring.h"

/* More than one part of a reply examines. */
#define CAPACITY 1000u

/* Rows of a part, if each takes 1 us. */
#define PART_ROWS 500u

static struct query_context query;
static struct record_ring *ring;
static struct control_reply reply;
static uint64_t taken;
static char bytes[1 << 20];
static uint64_t now_ns, row_ns; /* the clock, and what passes between two readings of it */

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	now_ns += row_ns;
	*now = (struct timespec){.tv_sec = (time_t)(now_ns / 1000000000), .tv_nsec = (long)(now_ns % 1000000000)};
	return 0;
}

static int
set_up(void **state)
{
	(void)state;
	ring = record_ring_new(CAPACITY);
	taken = 0;
	row_ns = 1000;
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

static void
begin(uint64_t limit)
{
	char error[256] = "";

	query.closed = ring;
	reply = (struct control_reply){.query = &query, .all_owners = true, .begun = true};
	reply.request.command = REQUEST_CONNECTIONS;
	reply.request.closed = true;
	reply.request.limit = limit;
	reply.request.fields = "client_bytes";
	assert_true(control_reply_begin_connections(&reply, error, sizeof error));
	assert_string_equal(error, "");
}

/* The first part of the reply, then `between` connections end, then the other parts; returns all lines. */
static const char *
write_parts(unsigned between)
{
	struct text_buffer text = {.bytes = bytes, .size = sizeof bytes - 1};

	control_reply_write_connections(&reply, &text);
	while (!reply.done) {
		end_connections(between);
		control_reply_write_connections(&reply, &text);
	}
	bytes[text.used] = '\0';
	control_reply_end_connections(&reply);
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
	begin(0);
	text = write_parts(400);
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
	begin(0);
	text = write_parts(900);
	assert_int_equal(lines(text), PART_ROWS + 100 + 1);
	assert_non_null(strstr(text, "\n{\"note\":\"earlier ones are overwritten: "));
}

static void
test_all_overwritten_meanwhile(void **state)
{
	const char *text;

	(void)state;
	end_connections(CAPACITY);
	begin(0);
	text = write_parts(5000);
	assert_int_equal(lines(text), PART_ROWS + 1);
	assert_null(strstr(text, "{\"cr_client_bytes\":5001}\n"));
}

static void
test_read_ones_may_be_overwritten(void **state)
{
	const char *text;

	(void)state;
	end_connections(CAPACITY);
	begin(0);
	text = write_parts(500);
	assert_int_equal(lines(text), CAPACITY);
	assert_null(strstr(text, "overwritten"));
}

/* Capture waits for a part: the slower rows are, the fewer are in it. */
static void
test_time_of_a_part(void **state)
{
	struct text_buffer text = {.bytes = bytes, .size = sizeof bytes};

	(void)state;
	end_connections(CAPACITY);
	begin(0);
	row_ns = 100000;
	control_reply_write_connections(&reply, &text);
	assert_int_equal(lines(bytes), 5);
	row_ns = 1000000;
	control_reply_write_connections(&reply, &text);
	assert_int_equal(lines(bytes), 5 + 1);
	control_reply_end_connections(&reply);
}

/* A limit ends the reply. */
static void
test_limit(void **state)
{
	(void)state;
	end_connections(CAPACITY + 1);
	begin(2);
	assert_string_equal(write_parts(1), "{\"cr_client_bytes\":2}\n{\"cr_client_bytes\":3}\n"
					    "{\"note\":\"earlier ones are overwritten: netobsd keeps 1000, see "
					    "--closed-connections\"}\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_later_ones_are_left_out, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_overwritten_meanwhile, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_all_overwritten_meanwhile, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_read_ones_may_be_overwritten, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_time_of_a_part, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
