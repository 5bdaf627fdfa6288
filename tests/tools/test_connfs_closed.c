/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of connections that have ended: what is read of a reply, and when another one is requested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/connections/connection_list.h"
#include "tools/connfs/connfs_closed.h"
#include "tools/control_client.h"

#define LINES 1000000u

static const char *reply; /* NULL: netobsd does not reply */
static unsigned requests;
static uint64_t now = 1;

/* --- in place of netobsd and the clock --- */

int
client_open_reply(const char *path, const char *request, unsigned timeout, char *error, size_t size)
{
	(void)path;
	(void)request;
	(void)timeout;
	(void)error;
	(void)size;
	requests++;
	return reply != NULL ? dup(STDERR_FILENO) : -1;
}

char *
client_read_lines(int fd, size_t most, size_t line_memory)
{
	(void)fd;
	(void)most;
	(void)line_memory;
	return strdup(reply);
}

bool
client_read_objects(const char *path, const char *request, uint64_t most, client_visitor *visit, void *context,
		    char *error, size_t size)
{
	(void)path;
	(void)request;
	(void)most;
	(void)visit;
	(void)context;
	(void)error;
	(void)size;
	return false;
}

uint64_t
connection_list_now(void)
{
	return now;
}

/* --- */

#define LINE(client, server, end) "{\"cr_client_cid\":" client ",\"cr_server_cid\":" server ",\"cr_end\":" end "}\n"

static void
test_both_ends_are_found(void **state)
{
	struct connfs_closed_list list = {.count = 0};
	const struct connfs_closed_end *end;

	(void)state;
	reply = LINE("7", "8", "1700000000000000000") LINE("3", "4", "5");
	assert_true(connfs_closed_refresh(&list, "", 0));
	assert_int_equal(list.count, 4);
	end = connfs_closed_find(&list, 8);
	assert_non_null(end);
	assert_int_equal(end->time_ns, 1700000000000000000);
	assert_false(end->client);
	assert_true(connfs_closed_find(&list, 3)->client);
	assert_null(connfs_closed_find(&list, 5));
	free(list.ends);
}

static void
test_other_lines(void **state)
{
	static const char *const others[] = {"nonsense\n",
					     LINE("7", "8", ""),
					     LINE("7", "-8", "9"),
					     LINE("7", "8", "9") "{}\n",
					     "{\"cr_client_cid\":7,\"cr_server_cid\":8,\"cr_end\":9}",
					     NULL};

	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		struct connfs_closed_list list = {.count = 0};

		reply = others[i];
		assert_false(connfs_closed_refresh(&list, "", 0));
		assert_int_equal(list.count, 0);
		assert_null(connfs_closed_find(&list, 7));
		free(list.ends);
	}
}

/* A terminal that shows the file of the record executes nothing of it. */
static void
test_record(void **state)
{
	char *text;

	(void)state;
	reply = "{\"cr_name\":\"\x1b[31m\xc3\xbc\xff\"}\n\x1b\n";
	text = connfs_closed_record("", 7);
	assert_non_null(text);
	assert_string_equal(text, "{\"cr_name\":\"\\u001b[31m\xc3\xbc\\u00ff\"}\n\\x1b\n");
	free(text);
	reply = NULL;
	assert_null(connfs_closed_record("", 7));
}

static void
test_age(void **state)
{
	struct connfs_closed_list list = {.count = 0};

	(void)state;
	reply = "";
	requests = 0;
	assert_true(connfs_closed_refresh(&list, "", 10));
	now += 10;
	assert_true(connfs_closed_refresh(&list, "", 10));
	assert_int_equal(requests, 1);
	now++;
	assert_true(connfs_closed_refresh(&list, "", 10));
	assert_int_equal(requests, 2);
	free(list.ends);
}

/* The time is linear in the lines: if it were quadratic, this would take minutes. */
static void
test_many(void **state)
{
	struct connfs_closed_list list = {.count = 0};
	const size_t most = sizeof LINE("1000000", "2000000", "1");
	char *text = malloc(LINES * most), *at = text;

	(void)state;
	assert_non_null(text);
	for (unsigned i = 1; i <= LINES; i++)
		at += snprintf(at, most, LINE("%u", "%u", "1"), i, LINES + i);
	reply = text;
	assert_true(connfs_closed_refresh(&list, "", 0));
	assert_int_equal(list.count, 2 * LINES);
	assert_true(connfs_closed_find(&list, LINES)->client);
	assert_false(connfs_closed_find(&list, 2 * LINES)->client);
	free(list.ends);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ends_are_found),
					   cmocka_unit_test(test_other_lines), cmocka_unit_test(test_record),
					   cmocka_unit_test(test_age),
					   cmocka_unit_test(test_many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
