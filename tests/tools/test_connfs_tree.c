/* SPDX-License-Identifier: BSD-2-Clause */
/* The values of netobs-connfs: numbers, marks, limits over many lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/connfs/connfs_tree.h"

static void
mark_values(unsigned from, unsigned count, uint64_t list)
{
	char text[16];

	connfs_values_trim();
	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof text, "%u", from + i);
		assert_true(connfs_value_mark(CONNFS_BY_HOST, text, list));
	}
}

static void
test_values_are_found(void **state)
{
	enum connfs_group group;
	uint32_t port, host;

	(void)state;
	assert_true(connfs_value_mark(CONNFS_BY_PORT, "443", 1));
	assert_false(connfs_value_mark(CONNFS_BY_PORT, "443", 1));
	assert_true(connfs_value_mark(CONNFS_BY_HOST, "443", 1));
	assert_true(connfs_value_number(CONNFS_BY_PORT, "443", 1, &port));
	assert_true(connfs_value_number(CONNFS_BY_HOST, "443", 1, &host));
	assert_int_not_equal(port, host);
	assert_string_equal(connfs_value_text(port, &group), "443");
	assert_int_equal(group, CONNFS_BY_PORT);
	assert_false(connfs_value_number(CONNFS_BY_PORT, "443", 2, &port));
	assert_false(connfs_value_number(CONNFS_BY_PORT, "80", 1, &port));
	assert_null(connfs_value_text(2, &group));
}

/* What netobsd sends is not a path. */
static void
test_values_that_are_no_names(void **state)
{
	static const char *const wrong[] = {"", ".", "..", "a/b", "/", "open"};
	union connection_value values[CONNFS_FIELD_COUNT] = {[CONNFS_CLIENT_STATE].text = "open",
							     [CONNFS_SERVER_STATE].text = "...",
							     [CONNFS_CLIENT_PORT].number = 0,
							     [CONNFS_SERVER_PORT].number = 443,
							     [CONNFS_PID].number = (uint64_t)-1};
	char found[2][CONNFS_VALUE_SIZE];

	(void)state;
	assert_int_equal(connfs_group_values(CONNFS_BY_STATE, values, found), 2);
	assert_string_equal(found[1], "...");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		values[CONNFS_SERVER_STATE].text = wrong[i];
		assert_int_equal(connfs_group_values(CONNFS_BY_STATE, values, found), 1);
		assert_string_equal(found[0], "open");
	}
	assert_int_equal(connfs_group_values(CONNFS_BY_PORT, values, found), 2);
	assert_string_equal(found[1], "443");
	values[CONNFS_CLIENT_PORT].number = 443;
	assert_int_equal(connfs_group_values(CONNFS_BY_PORT, values, found), 1);
	assert_int_equal(connfs_group_values(CONNFS_BY_PID, values, found), 0);
}

static void
test_inodes(void **state)
{
	struct connfs_node node = {.kind = CONNFS_FILE, .number = CONNFS_FILES - 1, .cid = CONNFS_CID_MAX}, found;

	(void)state;
	assert_true(connfs_node(connfs_inode(&node), &found));
	assert_int_equal(found.kind, CONNFS_FILE);
	assert_int_equal(found.number, CONNFS_FILES - 1);
	assert_int_equal(found.cid, CONNFS_CID_MAX);
	node.number = CONNFS_FILES;
	assert_false(connfs_node(connfs_inode(&node), &found));
	node = (struct connfs_node){.kind = CONNFS_GROUP, .number = CONNFS_GROUPS};
	assert_false(connfs_node(connfs_inode(&node), &found));
}

/* A million values, of which a list has ten thousand: the values of every list are found. */
static void
test_values_of_many_lists(void **state)
{
	enum connfs_group group;
	uint32_t number, first = 0;

	(void)state;
	for (unsigned list = 0; list < 100; list++) {
		char text[16];

		mark_values(list * 10000, 10000, list + 10);
		snprintf(text, sizeof text, "%u", list * 10000 + 9999);
		assert_true(connfs_value_number(CONNFS_BY_HOST, text, list + 10, &number));
		assert_string_equal(connfs_value_text(number, &group), text);
		first = list == 0 ? number : first;
	}
	/* A number that was dropped does not become another value. */
	assert_null(connfs_value_text(first, &group));
}

/* The last test: it leaves no room. */
static void
test_values_of_one_list(void **state)
{
	unsigned stored = 0;
	char text[16];

	(void)state;
	mark_values(0, 250000, 1);
	connfs_values_trim();
	for (unsigned i = 0; i < 1000010; i++) {
		snprintf(text, sizeof text, "p%u", i);
		stored += connfs_value_mark(CONNFS_BY_HOST, text, 2);
	}
	assert_in_range(stored, 750000, 1000000);
	assert_false(connfs_value_mark(CONNFS_BY_HOST, "one more", 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values_are_found),
	    cmocka_unit_test(test_values_that_are_no_names),
	    cmocka_unit_test(test_inodes),
	    cmocka_unit_test(test_values_of_many_lists),
	    cmocka_unit_test(test_values_of_one_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
