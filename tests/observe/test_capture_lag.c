/* SPDX-License-Identifier: BSD-2-Clause */
/* The largest lag of the last 15 to 30 seconds, also across steps of the host's clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/batch_times.h"

#define SECONDS	     1000000000ull
#define MILLISECONDS 1000000ull
#define START	     (1700000000 * SECONDS)

static struct capture_lag lag;

static void
add(uint64_t now, uint64_t lag_ns)
{
	capture_lag_advance(&lag, now);
	capture_lag_add(&lag, now, now - lag_ns);
}

static int
setup(void **state)
{
	(void)state;
	lag = (struct capture_lag){0};
	return 0;
}

static void
test_largest(void **state)
{
	(void)state;
	assert_int_equal(capture_lag_us(&lag), 0);
	add(START, 3 * MILLISECONDS);
	add(START + 1 * SECONDS, 700 * MILLISECONDS);
	add(START + 2 * SECONDS, 5 * MILLISECONDS);
	assert_int_equal(capture_lag_us(&lag), 700000);
}

static void
test_a_stamp_ahead_of_the_clock(void **state)
{
	(void)state;
	capture_lag_advance(&lag, START);
	capture_lag_add(&lag, START, START + 1);
	assert_int_equal(capture_lag_us(&lag), 0);
}

static void
test_windows(void **state)
{
	(void)state;
	add(START, 700 * MILLISECONDS);
	add(START + 14 * SECONDS, 2 * MILLISECONDS);
	add(START + 16 * SECONDS, 4 * MILLISECONDS);
	assert_int_equal(capture_lag_us(&lag), 700000); /* of the window before */
	add(START + 32 * SECONDS, 1 * MILLISECONDS);
	assert_int_equal(capture_lag_us(&lag), 4000);
	capture_lag_advance(&lag, START + 100 * SECONDS); /* without frames */
	assert_int_equal(capture_lag_us(&lag), 0);
}

static void
test_steps(void **state)
{
	(void)state;
	add(START, 1 * MILLISECONDS);
	capture_lag_step(&lag, START + 3600 * SECONDS);
	add(START + 3600 * SECONDS + 2 * MILLISECONDS, 3600 * SECONDS); /* its stamp is from before the step */
	assert_int_equal(capture_lag_us(&lag), 1000);
	capture_lag_step(&lag, START);
	add(START + 10 * MILLISECONDS, 6 * MILLISECONDS);
	assert_int_equal(capture_lag_us(&lag), 6000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_largest, setup),
	    cmocka_unit_test_setup(test_a_stamp_ahead_of_the_clock, setup),
	    cmocka_unit_test_setup(test_windows, setup),
	    cmocka_unit_test_setup(test_steps, setup),
	};

	return cmocka_run_group_tests_name("capture_lag", tests, NULL, NULL);
}
