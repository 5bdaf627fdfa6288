/* SPDX-License-Identifier: BSD-2-Clause */
/* A reply about more interfaces than one part has space for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/query/control_reply.h"
#include "tests/daemon/query/many_interfaces.h"

static char part[CONTROL_REPLY_PART_MAX], line[64];

/* Checks the lines of a part; returns the number of the next interface. */
static unsigned
check_lines(const char *text, unsigned number)
{
	for (const char *end; *text != '\0'; text = end + 1, number++) {
		end = strchr(text, '\n');
		assert_non_null(end);
		snprintf(line, sizeof line, "{\"interface\":\"interface-%u\",", number);
		assert_memory_equal(text, line, strlen(line));
		assert_int_equal(end[-1], '}');
	}
	return number;
}

static void
test_many_interfaces(void **state)
{
	struct query_context *query = many_interfaces_new();
	struct control_reply reply = {.query = query, .request = {.command = REQUEST_INTERFACES}};
	unsigned parts = 0, written = 0;

	(void)state;
	assert_non_null(query);
	for (; !reply.done; parts++) {
		struct text_buffer text = {.bytes = part, .size = sizeof part};

		control_reply_write(&reply, &text);
		assert_false(text.truncated);
		if (parts == 0)
			assert_memory_equal(part, "ok\n", 3);
		written = check_lines(parts == 0 ? part + 3 : part, written);
	}
	assert_int_equal(written, MANY_INTERFACES);
	assert_in_range(parts, 2, 20);
	many_interfaces_free(query);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_interfaces)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
