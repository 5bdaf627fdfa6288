/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>

#include <cmocka.h>

#include "usdt/site.h"
#include "probes/site/site_select.h"

static int answer;
static unsigned asked;

static int
call(void)
{
	asked++;
	return answer;
}

static enum site_kind
cheapest(const char *release, int error)
{
	answer = error;
	asked = 0;
	return site_kind_for_kernel(release, call);
}

/* Kernels on which a filter could answer the question by killing the process are not queried. */
static void
test_old_kernels_are_not_queried(void **state)
{
	static const char *const releases[] = {"4.20.1", "5.14.0-503.el9.x86_64", "6.1.0-37-amd64", "6.17.13", "Linux",
					       "", "6"};

	(void)state;
	for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
		assert_int_equal(cheapest(releases[i], ENXIO), SITE_PLAIN);
		assert_int_equal(asked, 0);
	}
}

#ifdef PROBE_HAS_FAST_SITE

static void
test_only_enxio_is_a_yes(void **state)
{
	static const int others[] = {0, ENOSYS, EPROTO, EPERM, EACCES, EINVAL};

	(void)state;
	assert_int_equal(cheapest("6.18.44-fc", ENXIO), SITE_FAST);
	assert_int_equal(cheapest("6.18", ENXIO), SITE_FAST);
	assert_int_equal(cheapest("7.0.0-rc1", ENXIO), SITE_FAST);
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		assert_int_equal(cheapest("6.18.44", others[i]), SITE_PLAIN);
		assert_int_equal(asked, 1);
	}
}

static void
test_the_option_decides(void **state)
{
	(void)state;
	assert_true(site_select(SITE_FAST));
	assert_int_equal(site_selected(), SITE_FAST);
	assert_true(site_is_fast);
	assert_true(site_select(SITE_PLAIN));
	assert_int_equal(site_selected(), SITE_PLAIN);
	assert_false(site_is_fast);
}

#else

static void
test_only_enxio_is_a_yes(void **state)
{
	(void)state;
	assert_int_equal(cheapest("6.18.44", ENXIO), SITE_PLAIN);
}

static void
test_the_option_decides(void **state)
{
	(void)state;
	assert_false(site_select(SITE_FAST));
	assert_true(site_select(SITE_PLAIN));
	assert_int_equal(site_selected(), SITE_PLAIN);
}

#endif

/* First in the list: nothing has been chosen yet. */
static void
test_plain_until_selected(void **state)
{
	(void)state;
	assert_int_equal(site_selected(), SITE_PLAIN);
}

static void
test_auto_selects(void **state)
{
	(void)state;
	assert_true(site_select(SITE_AUTO));
	assert_int_not_equal(site_selected(), SITE_AUTO);
}

/* The kernel raises a semaphore once for each site while any tracer is attached to it. */
static void
test_enablers_are_counted_once(void **state)
{
	(void)state;
	for (unsigned sites = 1; sites <= 2; sites++) {
		assert_int_equal(site_count_enablers(0, sites), 0);
		assert_int_equal(site_count_enablers(1, sites), 1); /* the printer */
		for (unsigned tracers = 1; tracers < 5; tracers++)
			assert_int_equal(site_count_enablers(tracers * sites, sites), tracers);
	}
}

static void
test_words(void **state)
{
	(void)state;
	assert_string_equal(site_kind_name(SITE_AUTO), "auto");
	assert_string_equal(site_kind_name(SITE_PLAIN), "plain");
	assert_string_equal(site_kind_name(SITE_FAST), "fast");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain_until_selected), cmocka_unit_test(test_old_kernels_are_not_queried),
	    cmocka_unit_test(test_only_enxio_is_a_yes), cmocka_unit_test(test_the_option_decides),
	    cmocka_unit_test(test_auto_selects),	cmocka_unit_test(test_enablers_are_counted_once),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
