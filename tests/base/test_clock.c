/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of the host's clock are detected; slewing and a suspended machine are not steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"

#define SECOND 1000000000ull

static uint64_t realtime, boottime;
static uint64_t preempted; /* time that passes at each of the next readings of CLOCK_REALTIME */
static unsigned readings;  /* number of these */

/* Replaces the function of libc. */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns = clock == CLOCK_REALTIME ? realtime : boottime;

	if (clock == CLOCK_REALTIME && readings > 0) {
		readings--;
		ns += preempted;
		boottime += preempted;
		realtime += preempted;
	}
	*now = (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
	return 0;
}

static void
pass(uint64_t ns)
{
	realtime += ns;
	boottime += ns;
}

/* The thread is preempted between the readings of the two clocks, `times` times. */
static void
check_preempted(struct host_clock *clock, unsigned times)
{
	unsigned steps = clock->steps;

	preempted = 2 * SECOND;
	readings = times;
	assert_int_equal(host_clock_read(clock), 0);
	assert_int_equal(clock->now, realtime);
	readings = 0;
	pass(SECOND);
	assert_int_equal(host_clock_read(clock), 0);
	assert_int_equal(clock->now, realtime);
	assert_int_equal(clock->steps, steps);
}

static void
test_host_clock(void **state)
{
	struct host_clock clock = {0};

	(void)state;
	boottime = 5 * SECOND;
	realtime = 1000000 * SECOND;
	assert_int_equal(host_clock_read(&clock), 0);
	assert_int_equal(clock.now, realtime);
	for (unsigned second = 0; second < 1000; second++) { /* slewed by half a second altogether */
		pass(SECOND);
		realtime += SECOND / 2000;
		assert_int_equal(host_clock_read(&clock), 0);
		assert_int_equal(clock.now, realtime);
	}
	realtime += 3600 * SECOND;
	assert_int_equal(host_clock_read(&clock), 3600 * SECOND);
	assert_int_equal(host_clock_read(&clock), 0);
	pass(SECOND);
	realtime -= 7200 * SECOND;
	assert_int_equal(host_clock_read(&clock), -(7200 * SECOND));
	assert_int_equal(clock.now, realtime);
	assert_int_equal(clock.steps, 2);
	check_preempted(&clock, 1);
	check_preempted(&clock, 100); /* more often than the clocks are read again */
}

/* The first reading sets the clock in any case: 0 means that there is no host's clock. */
static void
test_preempted_at_first(void **state)
{
	struct host_clock clock = {0};

	(void)state;
	boottime = 5 * SECOND;
	realtime = 1000000 * SECOND;
	preempted = 2 * SECOND;
	readings = 1;
	assert_int_equal(host_clock_read(&clock), 0);
	assert_int_equal(clock.now, realtime);
	pass(SECOND);
	assert_int_equal(host_clock_read(&clock), 0);
	assert_int_equal(clock.now, realtime);
	assert_int_equal(clock.steps, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_host_clock),
					   cmocka_unit_test(test_preempted_at_first)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
