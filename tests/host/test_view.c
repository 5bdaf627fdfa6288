/* SPDX-License-Identifier: BSD-2-Clause */
/* The default view of a run without --view: section 2 of the contract. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "host/locality.h"

static const char *none[] = {NULL}, *one[] = {"x", NULL};
static struct ip_prefix prefix = {.version = 4, .bits = 8};

static enum view_mode
resolve(enum view_mode view, bool live, size_t locals, const int *dlts, size_t count)
{
	struct config config = {
	    .view = view,
	    .interface_names = live ? one : none,
	    .capture_paths = live ? none : one,
	    .local_prefixes = &prefix,
	    .local_prefix_count = locals,
	};

	return view_resolve(&config, dlts, count);
}

static void
test_chosen(void **state)
{
	static const int sll[] = {DLT_LINUX_SLL};

	(void)state;
	for (int live = 0; live <= 1; live++) {
		assert_int_equal(resolve(VIEW_HOST, live, 0, sll, 1), VIEW_HOST);
		assert_int_equal(resolve(VIEW_BOTH, live, 1, sll, 1), VIEW_BOTH);
		assert_int_equal(resolve(VIEW_MONITOR, live, 1, sll, 1), VIEW_MONITOR);
	}
}

static void
test_live(void **state)
{
	static const int ethernet[] = {DLT_EN10MB}, any[] = {DLT_LINUX_SLL2};

	(void)state;
	assert_int_equal(resolve(VIEW_AUTO, true, 0, ethernet, 1), VIEW_HOST);
	assert_int_equal(resolve(VIEW_AUTO, true, 1, ethernet, 1), VIEW_HOST);
	assert_int_equal(resolve(VIEW_AUTO, true, 0, any, 1), VIEW_HOST);
}

static void
test_file(void **state)
{
	static const int ethernet[] = {DLT_EN10MB}, raw[] = {DLT_RAW}, sll[] = {DLT_LINUX_SLL},
			 sll2[] = {DLT_LINUX_SLL2}, mixed[] = {DLT_LINUX_SLL, DLT_EN10MB},
			 cooked[] = {DLT_LINUX_SLL, DLT_LINUX_SLL2}, ppp[] = {DLT_PPP},
			 directed[] = {DLT_PPP_PPPD,	    DLT_PPP_WITH_DIR, DLT_C_HDLC_WITH_DIR,
				       DLT_FRELAY_WITH_DIR, DLT_NFLOG,	      DLT_IPNET};

	(void)state;
	assert_int_equal(resolve(VIEW_AUTO, false, 0, ethernet, 1), VIEW_BOTH);
	assert_int_equal(resolve(VIEW_AUTO, false, 0, raw, 1), VIEW_BOTH);
	assert_int_equal(resolve(VIEW_AUTO, false, 1, ethernet, 1), VIEW_HOST);
	assert_int_equal(resolve(VIEW_AUTO, false, 0, sll, 1), VIEW_HOST);
	assert_int_equal(resolve(VIEW_AUTO, false, 0, sll2, 1), VIEW_HOST);
	assert_int_equal(resolve(VIEW_AUTO, false, 0, cooked, 2), VIEW_HOST);
	for (unsigned i = 0; i < sizeof directed / sizeof directed[0]; i++)
		assert_int_equal(resolve(VIEW_AUTO, false, 0, &directed[i], 1), VIEW_HOST);
	assert_int_equal(resolve(VIEW_AUTO, false, 0, ppp, 1), VIEW_BOTH);
	assert_int_equal(resolve(VIEW_AUTO, false, 0, mixed, 2), VIEW_BOTH);
	assert_int_equal(resolve(VIEW_AUTO, false, 1, mixed, 2), VIEW_HOST);
}

/* The host view of a file without information about its host causes a warning. */
static void
test_warning(void **state)
{
	static const int mixed[] = {DLT_EN10MB, DLT_LINUX_SLL};
	struct config config = {
	    .view = VIEW_HOST, .interface_names = none, .capture_paths = one, .local_prefixes = &prefix};

	(void)state;
	assert_false(view_knows_local_endpoints(&config, mixed, 1));
	assert_true(view_knows_local_endpoints(&config, mixed, 2));
	config.local_prefix_count = 1;
	assert_true(view_knows_local_endpoints(&config, mixed, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_chosen),
	    cmocka_unit_test(test_live),
	    cmocka_unit_test(test_file),
	    cmocka_unit_test(test_warning),
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
