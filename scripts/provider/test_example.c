/* SPDX-License-Identifier: BSD-2-Clause */
/* EXAMPLE: lines cut at every byte, gaps, mid-stream, a line without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "apps/example/example_message.h"
#include "apps/example/example_reader.h"

static unsigned messages, anomalies;
static struct example_message last;

static void
on_message(void *context, unsigned sender, const void *message)
{
	(void)context;
	(void)sender;
	messages++;
	last = *(const struct example_message *)message;
}

static void
on_anomaly(void *context, enum anomaly a)
{
	(void)context;
	assert_int_equal(a, ANOMALY_EXAMPLE_LINE);
	anomalies++;
}

static struct app_context ctx = {
    .server_endpoint = 1, .traced = true, .on_message = on_message, .on_anomaly = on_anomaly};

static int
begin(void **state)
{
	(void)state;
	messages = anomalies = 0;
	ctx.state = calloc(1, example_reader.state_size);
	return ctx.state == NULL;
}

static int
end(void **state)
{
	(void)state;
	free(ctx.state);
	return 0;
}

static void
feed(const char *text, size_t length)
{
	example_reader.on_bytes(&ctx, 0, (struct slice){(const uint8_t *)text, (uint32_t)length});
}

static void
test_any_cut(void **state)
{
	static const char text[] = "one\r\ntwo\n";

	(void)state;
	for (size_t cut = 0; cut < sizeof text; cut++) {
		messages = 0;
		example_reader.on_start(&ctx, 0, true);
		feed(text, cut);
		feed(text + cut, sizeof text - 1 - cut);
		assert_int_equal(messages, 2);
		assert_string_equal(last.text, "two");
		assert_int_equal(last.length, 3);
	}
}

static void
test_gap_and_mid_stream(void **state)
{
	(void)state;
	example_reader.on_start(&ctx, 0, false);
	feed("rest\nwhole\n", 11);
	assert_int_equal(messages, 1);
	assert_string_equal(last.text, "whole");
	feed("a", 1);
	example_reader.on_gap(&ctx, 0, 10);
	feed("b\nc\n", 4);
	assert_int_equal(messages, 2);
	assert_string_equal(last.text, "c");
}

static void
test_line_without_end(void **state)
{
	(void)state;
	example_reader.on_start(&ctx, 0, true);
	for (unsigned i = 0; i <= EXAMPLE_LINE_MAX; i++)
		feed("x", 1);
	assert_int_equal(anomalies, 1);
	assert_false(example_reader.is_reading(ctx.state, 0));
	assert_int_equal(messages, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_any_cut, begin, end),
	    cmocka_unit_test_setup_teardown(test_gap_and_mid_stream, begin, end),
	    cmocka_unit_test_setup_teardown(test_line_without_end, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
