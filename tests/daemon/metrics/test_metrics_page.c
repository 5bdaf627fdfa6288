/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics of more interfaces than one part of the page has space for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/metrics/metrics.h"
#include "tests/daemon/query/many_interfaces.h"

static void
test_many_interfaces(void **state)
{
	static char page[1 << 20], line[64];
	struct query_context *query = many_interfaces_new();
	uint32_t position = 0;
	size_t used = 0;
	const char *at;
	bool more = true;

	(void)state;
	assert_non_null(query);
	while (more) {
		struct text_buffer text = {.bytes = page + used, .size = SERVER_PART_SIZE};

		more = metrics_write_interfaces(query, &position, &text);
		assert_false(text.truncated);
		used += text.used;
	}
	assert_true(used > SERVER_PART_SIZE);
	at = strstr(page, "# TYPE netobs_interface_up gauge\n");
	assert_non_null(at);
	for (unsigned i = 0; i < MANY_INTERFACES; i++) {
		at = strchr(at, '\n') + 1;
		snprintf(line, sizeof line, "netobs_interface_up{interface=\"interface-%u\"} 1\n", i);
		assert_memory_equal(at, line, strlen(line));
	}
	assert_int_equal(strlen(strchr(at, '\n')), 1);
	many_interfaces_free(query);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_interfaces)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
