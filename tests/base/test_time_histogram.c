/* SPDX-License-Identifier: BSD-2-Clause */
/* Histograms of times: buckets, percentiles, sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define MILLISECONDS 1000000ull
#define SECONDS	     1000000000ull

static struct time_histogram histogram;

static int
setup(void **state)
{
	(void)state;
	histogram = (struct time_histogram){0};
	return 0;
}

static void
test_buckets(void **state)
{
	unsigned last = 0;

	(void)state;
	assert_int_equal(time_histogram_bucket(0), 0);
	assert_int_equal(time_histogram_bucket(127), 0);
	assert_int_equal(time_histogram_bucket(128), 1);
	assert_int_equal(time_histogram_bucket(143), 1);
	assert_int_equal(time_histogram_bucket(144), 2);
	assert_int_equal(time_histogram_bucket(255), 8);
	assert_int_equal(time_histogram_bucket(256), 9);
	assert_int_equal(time_histogram_bucket((UINT64_C(1) << 37) - 1), TIME_HISTOGRAM_BUCKETS - 2);
	assert_int_equal(time_histogram_bucket(UINT64_C(1) << 37), TIME_HISTOGRAM_BUCKETS - 1);
	assert_int_equal(time_histogram_bucket(UINT64_MAX), TIME_HISTOGRAM_BUCKETS - 1);
	for (uint64_t ns = 1; ns < UINT64_C(1) << 37; ns += 1 + ns / 50) {
		assert_in_range(time_histogram_bucket(ns), last, last + 1);
		last = time_histogram_bucket(ns);
	}
}

static void
test_percentiles(void **state)
{
	(void)state;
	assert_int_equal(time_histogram_percentile(&histogram, 99), 0);
	for (unsigned ms = 1; ms <= 200; ms++)
		time_histogram_add(&histogram, ms * MILLISECONDS);
	assert_int_equal(time_histogram_samples(&histogram), 200);
	assert_in_range(time_histogram_percentile(&histogram, 50), 100 * MILLISECONDS, 113 * MILLISECONDS);
	assert_in_range(time_histogram_percentile(&histogram, 99), 198 * MILLISECONDS, 200 * MILLISECONDS);
	assert_int_equal(time_histogram_percentile(&histogram, 100), 200 * MILLISECONDS);
	assert_in_range(time_histogram_percentile(&histogram, 0), 1 * MILLISECONDS, 2 * MILLISECONDS);
	assert_int_equal(histogram.sum_ns, 200 * 201 / 2 * MILLISECONDS);
}

static void
test_one_sample(void **state)
{
	(void)state;
	time_histogram_add(&histogram, 5);
	assert_int_equal(time_histogram_percentile(&histogram, 1), 5);
	assert_int_equal(time_histogram_percentile(&histogram, 99), 5);
	histogram = (struct time_histogram){0};
	time_histogram_add(&histogram, 1000 * SECONDS);
	assert_int_equal(time_histogram_percentile(&histogram, 50), 1000 * SECONDS);
}

static void
test_bounds(void **state)
{
	(void)state;
	time_histogram_add(&histogram, 4095);
	time_histogram_add(&histogram, 4096);
	time_histogram_add(&histogram, 1000 * SECONDS);
	assert_int_equal(time_histogram_samples_below(&histogram, 128), 0);
	assert_int_equal(time_histogram_samples_below(&histogram, 4096), 1);
	assert_int_equal(time_histogram_samples_below(&histogram, 8192), 2);
	assert_int_equal(time_histogram_samples_below(&histogram, UINT64_C(1) << 37), 2);
}

static void
test_merge(void **state)
{
	struct time_histogram other = {0};

	(void)state;
	time_histogram_add(&histogram, 3 * MILLISECONDS);
	time_histogram_add(&other, 1 * MILLISECONDS);
	time_histogram_add(&other, 7 * MILLISECONDS);
	time_histogram_merge(&histogram, &other);
	assert_int_equal(time_histogram_samples(&histogram), 3);
	assert_int_equal(histogram.sum_ns, 11 * MILLISECONDS);
	assert_int_equal(histogram.largest_ns, 7 * MILLISECONDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_buckets, setup),    cmocka_unit_test_setup(test_percentiles, setup),
	    cmocka_unit_test_setup(test_one_sample, setup), cmocka_unit_test_setup(test_bounds, setup),
	    cmocka_unit_test_setup(test_merge, setup),
	};

	return cmocka_run_group_tests_name("time_histogram", tests, NULL, NULL);
}
