/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet time with the host's clock as reference, as live; tests/daemon/observe/clock.sh replays files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/observe/packet_clock.h"

#define SECOND 1000000000ull
#define HOUR   (3600 * SECOND)
#define START  (1700000000 * SECOND)

/* Observes one frame whose time stamp is `ts` while the host's clock is `host`. */
static enum packet_clock_verdict
observe(struct packet_clock *clock, uint64_t ts, uint64_t host)
{
	clock->host_now = host;
	if (packet_clock_is_regular(clock, ts)) {
		clock->now = ts + clock->offset;
		return PACKET_CLOCK_REGULAR;
	}
	return packet_clock_decide(clock, ts, NULL, 0, false);
}

static void
test_regular(void **state)
{
	struct packet_clock clock = {0};

	(void)state;
	assert_int_equal(observe(&clock, START, START), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START);
	assert_int_equal(observe(&clock, START - SECOND / 2, START), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START);
	/* the process was stopped for an hour, or there was no traffic */
	assert_int_equal(observe(&clock, START + HOUR, START + HOUR), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + HOUR);
	assert_int_equal(clock.offset, 0);
}

static void
test_stray(void **state)
{
	struct packet_clock clock = {0};

	(void)state;
	observe(&clock, START, START);
	assert_int_equal(observe(&clock, START + HOUR, START), PACKET_CLOCK_STRAY);
	assert_int_equal(observe(&clock, START - HOUR, START), PACKET_CLOCK_STRAY);
	assert_int_equal(observe(&clock, UINT64_MAX, START), PACKET_CLOCK_STRAY);
	assert_int_equal(observe(&clock, 0, START), PACKET_CLOCK_STRAY);
	assert_int_equal(clock.now, START);
}

/* Packet time goes on regularly after a step of the host's clock. */
static void
check_step(uint64_t step)
{
	struct packet_clock clock = {0};
	uint64_t host = START + step;

	observe(&clock, START, START);
	packet_clock_step(&clock, step);
	assert_int_equal(observe(&clock, host + SECOND, host + SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + SECOND);
	/* a frame from before the step is read late */
	assert_int_equal(observe(&clock, START + SECOND, host + SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + SECOND);
	assert_int_equal(observe(&clock, host + 2 * SECOND, host + 2 * SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + 2 * SECOND);
	assert_int_equal(packet_clock_advance(&clock, host + 3 * SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + 3 * SECOND);
	/* and the clock is set back to where it was */
	packet_clock_step(&clock, -step);
	assert_int_equal(observe(&clock, START + 4 * SECOND, START + 4 * SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + 4 * SECOND);
	assert_int_equal(clock.offset, 0);
}

static void
test_steps(void **state)
{
	(void)state;
	check_step(HOUR);
	check_step(-HOUR);
	check_step(56ull * 365 * 24 * HOUR); /* a machine without a battery at boot */
}

/* A time stamp slightly in the future is accepted; time goes on nevertheless. */
static void
test_ahead(void **state)
{
	struct packet_clock clock = {0};

	(void)state;
	observe(&clock, START, START);
	assert_int_equal(observe(&clock, START + 8 * SECOND, START), PACKET_CLOCK_REGULAR);
	assert_int_equal(observe(&clock, START + SECOND, START + SECOND), PACKET_CLOCK_STEP);
	assert_int_equal(clock.now, START + 8 * SECOND);
	assert_int_equal(observe(&clock, START + 2 * SECOND, START + 2 * SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + 9 * SECOND);

	clock = (struct packet_clock){.now = START + 5 * SECOND};
	assert_int_equal(packet_clock_advance(&clock, START), PACKET_CLOCK_STEP);
	assert_int_equal(packet_clock_advance(&clock, START + SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + 6 * SECOND);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_regular),
	    cmocka_unit_test(test_stray),
	    cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_ahead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
