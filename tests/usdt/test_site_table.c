/* SPDX-License-Identifier: BSD-2-Clause */
/* Sites by kind, and watched sites, of rows and code of this test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "usdt/site_table.h"

#ifdef PROBE_HAS_FAST_SITE
#define BYTE_FAST PROBE_BYTE_FAST
#else
#define BYTE_FAST 0x0f
#endif
#ifdef PROBE_HAS_TABLE
#define BYTE_PLAIN PROBE_BYTE_PLAIN
#else
#define BYTE_PLAIN 0x90
#endif
#define BYTE_TRAP 0xcc

/* Three probes: with both sites, with the plain one, with the fast one in front of the plain one. */
static unsigned char code[5];
static volatile union probe_semaphore semaphores[4];
static const struct probe_site rows[] = {
    {&code[0], &semaphores[0], BYTE_PLAIN}, {&code[1], &semaphores[0], BYTE_FAST},
    {&code[2], &semaphores[1], BYTE_PLAIN}, {&code[3], &semaphores[2], BYTE_FAST},
    {&code[4], &semaphores[2], BYTE_PLAIN},
};
static const struct site_table table = {rows, sizeof rows / sizeof rows[0]};

static int
reset(void **state)
{
	(void)state;
	site_watch_end();
	for (size_t i = 0; i < table.count; i++) {
		code[i] = (unsigned char)rows[i].untraced;
		rows[i].semaphore->enablers = 0;
	}
	return 0;
}

static void
test_find(void **state)
{
	static const struct site_table none = {NULL, 0};

	(void)state;
#ifdef PROBE_HAS_FAST_SITE
	assert_ptr_equal(site_table_find(&table, &semaphores[0], true), &rows[1]);
	assert_ptr_equal(site_table_find(&table, &semaphores[2], true), &rows[3]);
#endif
	assert_ptr_equal(site_table_find(&table, &semaphores[0], false), &rows[0]);
	assert_non_null(site_table_find(&table, &semaphores[2], false));
	/* A probe that fires seldom has only the plain one, whatever runs. */
	assert_ptr_equal(site_table_find(&table, &semaphores[1], false), &rows[2]);
	assert_ptr_equal(site_table_find(&table, &semaphores[1], true), &rows[2]);
	assert_null(site_table_find(&table, &semaphores[3], false));
	assert_null(site_table_find(&table, NULL, true));
	assert_null(site_table_find(&none, &semaphores[0], false));
}

/* This program links no site. */
static void
test_program_without_sites(void **state)
{
	struct site_table own = site_table_of_program();

	(void)state;
	assert_int_equal(own.count, 0);
	assert_null(site_table_find(&own, &semaphores[0], false));
}

static void
test_uprobe_comes_and_goes(void **state)
{
	(void)state;
	assert_true(site_watch_add(&rows[0]));
	assert_true(site_watch_add(&rows[2]));
	site_watch_poll();
	assert_int_equal(semaphores[0].enablers, 0);
	code[0] = BYTE_TRAP;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	assert_int_equal(semaphores[0].tracers, 0); /* the kernel alone writes it */
	assert_true(semaphores[0].enablers != 0);
	assert_int_equal(semaphores[1].enablers, 0);
	for (int i = 0; i < 3; i++)
		site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	code[0] = BYTE_PLAIN;
	site_watch_poll();
	assert_int_equal(semaphores[0].enablers, 0);
	code[0] = BYTE_TRAP;
	code[2] = BYTE_TRAP;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	assert_int_equal(probe_tracers(&semaphores[1]), 1);
	site_watch_end();
	assert_int_equal(semaphores[0].enablers, 0);
	assert_int_equal(semaphores[1].enablers, 0);
	site_watch_poll();
	assert_int_equal(semaphores[0].enablers, 0);
}

/* The uprobe of a tracer that raises the semaphore is counted once. */
static void
test_tracer_that_raises(void **state)
{
	(void)state;
	assert_true(site_watch_add(&rows[0]));
	semaphores[0].tracers = 1;
	code[0] = BYTE_TRAP;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	semaphores[0].tracers = 0; /* it leaves, and another uprobe remains */
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	site_watch_end();
	assert_int_equal(probe_tracers(&semaphores[0]), 0);
}

static void
test_tracer_joins(void **state)
{
	(void)state;
	assert_true(site_watch_add(&rows[0]));
	code[0] = BYTE_TRAP;
	site_watch_poll();
	semaphores[0].tracers += 1; /* --print, or a tracer */
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	semaphores[0].tracers += 1;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 2);
	semaphores[0].tracers -= 2;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	semaphores[0].tracers += 1;
	code[0] = BYTE_PLAIN; /* both at once */
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	site_watch_end();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	semaphores[0].tracers = 0;
}

/* The count of formulas, which has the mark of a uprobe in it, remains. */
static void
test_formulas_remain(void **state)
{
	(void)state;
	semaphores[0].formulas = 7;
	assert_true(site_watch_add(&rows[0]));
	for (int i = 0; i < 3; i++) {
		code[0] = BYTE_TRAP;
		site_watch_poll();
		assert_int_equal(probe_tracers(&semaphores[0]), 1);
		assert_int_equal(semaphores[0].formulas & ~PROBE_UPROBE, 7);
		code[0] = BYTE_PLAIN;
		site_watch_poll();
		assert_int_equal(probe_tracers(&semaphores[0]), 0);
		assert_int_equal(semaphores[0].formulas & ~PROBE_UPROBE, 7);
	}
}

/* A kernel may write a call instead of a trap to the fast site. */
static void
test_fast_site(void **state)
{
	(void)state;
	assert_true(site_watch_add(&rows[1]));
	code[1] = 0xe8;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 1);
	code[1] = BYTE_FAST;
	site_watch_poll();
	assert_int_equal(probe_tracers(&semaphores[0]), 0);
}

static void
test_maximum(void **state)
{
	static unsigned char many_code[SITE_WATCH_MAX + 1];
	static volatile union probe_semaphore many_semaphores[SITE_WATCH_MAX + 1];
	static struct probe_site many[SITE_WATCH_MAX + 1];

	(void)state;
	for (size_t i = 0; i <= SITE_WATCH_MAX; i++) {
		many[i] = (struct probe_site){&many_code[i], &many_semaphores[i], BYTE_PLAIN}; /* a byte of 0 differs */
		assert_int_equal(site_watch_add(&many[i]), i < SITE_WATCH_MAX);
	}
	site_watch_poll();
	for (size_t i = 0; i <= SITE_WATCH_MAX; i++)
		assert_int_equal(many_semaphores[i].enablers != 0, i < SITE_WATCH_MAX);
	site_watch_end();
	for (size_t i = 0; i <= SITE_WATCH_MAX; i++)
		assert_int_equal(many_semaphores[i].enablers, 0);
	assert_true(site_watch_add(&many[SITE_WATCH_MAX])); /* there is room again */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_find, reset),
	    cmocka_unit_test_setup(test_program_without_sites, reset),
	    cmocka_unit_test_setup(test_uprobe_comes_and_goes, reset),
	    cmocka_unit_test_setup(test_tracer_that_raises, reset),
	    cmocka_unit_test_setup(test_tracer_joins, reset),
	    cmocka_unit_test_setup(test_formulas_remain, reset),
	    cmocka_unit_test_setup(test_fast_site, reset),
	    cmocka_unit_test_setup(test_maximum, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
