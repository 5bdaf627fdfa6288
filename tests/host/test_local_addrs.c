/* SPDX-License-Identifier: BSD-2-Clause */
/* Local addresses: counted, by prefix, and against a plain model under many random changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/local_addrs.h"

static const uint8_t a4[16] = {192, 0, 2, 1}, b4[16] = {192, 0, 2, 2}, a6[16] = {0xfe, 0x80, [15] = 1};

static void
test_empty(void **state)
{
	static const uint8_t loop4[16] = {127, 1, 2, 3}, loop6[16] = {[15] = 1}, zero[16] = {0};
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);

	(void)state;
	assert_non_null(local_addrs);
	assert_false(local_addrs_contains(local_addrs, 4, a4));
	assert_false(local_addrs_contains(local_addrs, 6, a6));
	assert_false(local_addrs_contains(local_addrs, 4, zero));
	assert_false(local_addrs_contains(local_addrs, 6, zero));
	assert_true(local_addrs_contains(local_addrs, 4, loop4));
	assert_true(local_addrs_contains(local_addrs, 6, loop6));
	assert_false(local_addrs_contains(local_addrs, 4, loop6));
	local_addrs_remove(local_addrs, 4, a4); /* never there */
	assert_int_equal(local_addrs_epoch(local_addrs), 0);
	local_addrs_free(local_addrs);
	local_addrs_free(NULL);
}

static void
test_counted(void **state)
{
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);
	uint32_t generation;

	(void)state;
	assert_true(local_addrs_add(local_addrs, 4, a4));
	assert_true(local_addrs_add(local_addrs, 4, a4));
	assert_true(local_addrs_contains(local_addrs, 4, a4));
	assert_false(local_addrs_contains(local_addrs, 6, a4)); /* the same bytes, another address */
	assert_false(local_addrs_contains(local_addrs, 4, b4));
	generation = local_addrs_epoch(local_addrs);
	local_addrs_remove(local_addrs, 4, a4);
	assert_true(local_addrs_contains(local_addrs, 4, a4));
	assert_int_equal(local_addrs_epoch(local_addrs), generation);
	local_addrs_remove(local_addrs, 4, a4);
	assert_false(local_addrs_contains(local_addrs, 4, a4));
	assert_int_not_equal(local_addrs_epoch(local_addrs), generation);
	local_addrs_remove(local_addrs, 4, a4);
	assert_true(local_addrs_add(local_addrs, 4, a4));
	assert_true(local_addrs_contains(local_addrs, 4, a4)); /* the surplus removal left no debt */
	assert_true(local_addrs_add(local_addrs, 6, a6));
	local_addrs_remove(local_addrs, 4, a4);
	local_addrs_remove(local_addrs, 6, a6);
	assert_false(local_addrs_contains(local_addrs, 4, a4));
	assert_false(local_addrs_contains(local_addrs, 6, a6));
	local_addrs_free(local_addrs);
}

static void
test_prefixes(void **state)
{
	static const struct ip_prefix prefixes[] = {
	    {.addr = {10}, .version = 4, .bits = 8},
	    {.addr = {192, 168, 0xf0}, .version = 4, .bits = 20},
	    {.addr = {0x20, 1, 0xd, 0xb8}, .version = 6, .bits = 33},
	    {.addr = {198, 51, 100, 7}, .version = 4, .bits = 32},
	};
	static const struct {
		uint8_t version, addr[16];
		bool local;
	} cases[] = {
	    {4, {10, 255, 255, 255}, true},	   {4, {11}, false},
	    {4, {192, 168, 0xff, 255}, true},	   {4, {192, 168, 0xe0}, false},
	    {6, {0x20, 1, 0xd, 0xb8, 0x7f}, true}, {6, {0x20, 1, 0xd, 0xb8, 0x80}, false},
	    {4, {198, 51, 100, 7}, true},	   {4, {198, 51, 100, 6}, false},
	    {6, {10, 1, 1, 1}, false},
	};
	static const struct ip_prefix everything = {.version = 4, .bits = 0};
	struct local_addrs *local_addrs = local_addrs_new(prefixes, 4);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_int_equal(local_addrs_contains(local_addrs, cases[i].version, cases[i].addr), cases[i].local);
	assert_true(local_addrs_add(local_addrs, 4, cases[0].addr));
	local_addrs_remove(local_addrs, 4, cases[0].addr); /* prefixes are configuration and stay */
	assert_true(local_addrs_contains(local_addrs, 4, cases[0].addr));
	local_addrs_free(local_addrs);

	local_addrs = local_addrs_new(&everything, 1);
	assert_false(local_addrs_prefix_is_unmatched(local_addrs, 0)); /* no address was looked up */
	assert_false(local_addrs_contains(local_addrs, 6, a6));
	assert_true(local_addrs_prefix_is_unmatched(local_addrs, 0));
	assert_true(local_addrs_contains(local_addrs, 4, a4));
	assert_false(local_addrs_prefix_is_unmatched(local_addrs, 0));
	assert_false(local_addrs_prefix_is_unmatched(local_addrs, 1));
	local_addrs_free(local_addrs);
}

#define MODEL 3000u

/* Thousands of addresses that are added and removed: the table grows, and drops the removed ones. */
static void
test_model(void **state)
{
	static unsigned model[MODEL];
	struct local_addrs *local_addrs = local_addrs_new(NULL, 0);
	uint64_t random = 1;

	(void)state;
	for (unsigned step = 0; step < 200000; step++) {
		uint8_t addr[16] = {172, 16};
		unsigned which;

		random = random * 6364136223846793005u + 1442695040888963407u;
		which = (unsigned)(random >> 33) % MODEL;
		addr[2] = (uint8_t)(which >> 8);
		addr[3] = (uint8_t)which;
		if ((random >> 60) < 8) {
			assert_true(local_addrs_add(local_addrs, 4, addr));
			model[which]++;
		} else if (model[which] > 0) {
			local_addrs_remove(local_addrs, 4, addr);
			model[which]--;
		}
		assert_int_equal(local_addrs_contains(local_addrs, 4, addr), model[which] > 0);
	}
	for (unsigned which = 0; which < MODEL; which++) {
		const uint8_t addr[16] = {172, 16, (uint8_t)(which >> 8), (uint8_t)which};

		assert_int_equal(local_addrs_contains(local_addrs, 4, addr), model[which] > 0);
	}
	local_addrs_free(local_addrs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_counted),
	    cmocka_unit_test(test_prefixes),
	    cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests_name("locals", tests, NULL, NULL);
}
