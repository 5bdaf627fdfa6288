/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of keys, compared with a list of numbers; growth; many joins in a chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/split/split_groups.h"

enum { KEYS = 3000, JOINS = 2500 };

/* A number with its bits spread, as keys are hash values. */
static uint64_t
spread_key(unsigned number)
{
	uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (z ^ z >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void
test_unknown_key(void **state)
{
	struct split_groups *groups = split_groups_new();

	(void)state;
	assert_non_null(groups);
	assert_int_equal(split_groups_find(groups, 0), 0);
	assert_int_equal(split_groups_find(groups, 77), 77);
	assert_true(split_groups_join(groups, 77, 77));
	assert_int_equal(split_groups_count(groups), 0);
	split_groups_free(groups);
}

static void
test_least_key_names_group(void **state)
{
	struct split_groups *groups = split_groups_new();

	(void)state;
	assert_true(split_groups_join(groups, 30, 20));
	assert_true(split_groups_join(groups, 50, 40));
	assert_int_equal(split_groups_find(groups, 50), 40);
	assert_true(split_groups_join(groups, 50, 30));
	assert_int_equal(split_groups_find(groups, 50), 20);
	assert_int_equal(split_groups_find(groups, 40), 20);
	assert_true(split_groups_join(groups, 40, 10));
	for (uint64_t key = 10; key <= 50; key += 10)
		assert_int_equal(split_groups_find(groups, key), 10);
	assert_int_equal(split_groups_count(groups), 5);
	split_groups_free(groups);
}

/* The table grows twice; groups[i] is the group of key i by renaming the whole group at each join. */
static void
test_against_list(void **state)
{
	static uint64_t list[KEYS];
	struct split_groups *groups = split_groups_new();
	unsigned random = 1;

	(void)state;
	for (unsigned i = 0; i < KEYS; i++)
		list[i] = spread_key(i);
	for (unsigned n = 0; n < JOINS; n++) {
		unsigned a, b;
		uint64_t least, most;

		random = random * 1103515245u + 12345u;
		a = (random >> 8) % KEYS;
		random = random * 1103515245u + 12345u;
		b = (random >> 8) % KEYS;
		assert_true(split_groups_join(groups, spread_key(a), spread_key(b)));
		least = list[a] < list[b] ? list[a] : list[b];
		most = list[a] < list[b] ? list[b] : list[a];
		for (unsigned i = 0; i < KEYS; i++)
			if (list[i] == most)
				list[i] = least;
	}
	for (unsigned i = 0; i < KEYS; i++)
		assert_int_equal(split_groups_find(groups, spread_key(i)), list[i]);
	split_groups_free(groups);
}

/* Each join adds a smaller key: the longest tree. */
static void
test_chain(void **state)
{
	struct split_groups *groups = split_groups_new();

	(void)state;
	for (uint64_t key = 100000; key > 1; key--)
		assert_true(split_groups_join(groups, key, key - 1));
	assert_int_equal(split_groups_find(groups, 100000), 1);
	assert_int_equal(split_groups_find(groups, 50000), 1);
	split_groups_free(groups);
}

/* Keys that differ only above their low 26 bits, as a capture can be made of: the table needs other bits for slots. */
static void
test_common_bits(void **state)
{
	struct split_groups *groups = split_groups_new();
	uint64_t count = 300000;

	(void)state;
	for (uint64_t i = 1; i <= count; i++)
		assert_true(split_groups_join(groups, i << 26, 0));
	for (uint64_t i = 1; i <= count; i++)
		assert_int_equal(split_groups_find(groups, i << 26), 0);
	assert_int_equal(split_groups_count(groups), count + 1);
	split_groups_free(groups);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_unknown_key),
	    cmocka_unit_test(test_least_key_names_group),
	    cmocka_unit_test(test_against_list),
	    cmocka_unit_test(test_chain),
	    cmocka_unit_test(test_common_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
