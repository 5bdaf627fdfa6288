/* SPDX-License-Identifier: BSD-2-Clause */
/* Times of batches: which belong to the last minute, and a lag that is unknown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/batch_times.h"

#define SECONDS	     1000000000ull
#define MILLISECONDS 1000000ull
#define START	     (100000 * SECONDS)

static struct batch_times times;

static int
setup(void **state)
{
	(void)state;
	times = (struct batch_times){0};
	return 0;
}

static void
add(uint64_t end, uint64_t lag)
{
	batch_times_add(&times, end - 1 * MILLISECONDS, end, lag);
}

/* Batches of the last minute; their largest lag. */
static uint64_t
minute(uint64_t now, uint64_t *lag)
{
	struct batch_histograms sum = {0};

	batch_times_add_minute(&times, now, &sum);
	*lag = sum.lag.largest_ns;
	return time_histogram_samples(&sum.duration);
}

static void
test_minute(void **state)
{
	uint64_t lag;

	(void)state;
	assert_int_equal(minute(START, &lag), 0);
	for (unsigned second = 0; second < 120; second++)
		add(START + second * SECONDS, second * MILLISECONDS);
	assert_in_range(minute(START + 119 * SECONDS, &lag), 60, 70);
	assert_int_equal(lag, 119 * MILLISECONDS);
	assert_in_range(minute(START + 149 * SECONDS, &lag), 30, 40);
	assert_int_equal(minute(START + 189 * SECONDS, &lag), 0);
	assert_int_equal(time_histogram_samples(&times.all.duration), 120);
}

static void
test_pause(void **state)
{
	uint64_t lag;

	(void)state;
	add(START, 5 * MILLISECONDS);
	add(START + 1000 * SECONDS, 2 * MILLISECONDS);
	assert_int_equal(minute(START + 1000 * SECONDS, &lag), 1);
	assert_int_equal(lag, 2 * MILLISECONDS);
	add(START + 1065 * SECONDS, 1 * MILLISECONDS); /* less than all parts later */
	assert_in_range(minute(START + 1065 * SECONDS, &lag), 1, 2);
}

static void
test_soon_after_boot(void **state)
{
	uint64_t lag;

	(void)state;
	add(3 * SECONDS, 5 * MILLISECONDS);
	assert_int_equal(minute(4 * SECONDS, &lag), 1);
	add(12 * SECONDS, 5 * MILLISECONDS);
	assert_int_equal(minute(13 * SECONDS, &lag), 2);
}

static void
test_unknown_lag(void **state)
{
	struct batch_histograms sum = {0};

	(void)state;
	add(START, UINT64_MAX);
	add(START, 3);
	batch_times_add_minute(&times, START, &sum);
	assert_int_equal(time_histogram_samples(&sum.duration), 2);
	assert_int_equal(time_histogram_samples(&sum.lag), 1);
	assert_int_equal(sum.duration.largest_ns, 1 * MILLISECONDS);
	assert_int_equal(sum.lag.largest_ns, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_minute, setup),
	    cmocka_unit_test_setup(test_pause, setup),
	    cmocka_unit_test_setup(test_soon_after_boot, setup),
	    cmocka_unit_test_setup(test_unknown_lag, setup),
	};

	return cmocka_run_group_tests_name("batch_times", tests, NULL, NULL);
}
