/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet time, live with the host's clock as reference, and of files; clock.sh replays files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/packet_clock.h"

#define SECOND	    1000000000ull
#define MILLISECOND 1000000ull
#define HOUR	    (3600 * SECOND)
#define START	    (1700000000 * SECOND)

#define BLOCK_MAX (2 * PACKET_CLOCK_STEADY_FRAMES)

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
	clock.host_now = host;
	packet_clock_step(&clock, step);
	packet_clock_advance(&clock, host - SECOND / 10);
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
	check_step(2 * SECOND);
	check_step(-(2 * SECOND));
	check_step(8 * SECOND);
	check_step(-(8 * SECOND));
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

	clock = (struct packet_clock){.now = START + 5 * SECOND, .host_now = START};
	assert_int_equal(packet_clock_advance(&clock, START), PACKET_CLOCK_STEP);
	clock.host_now = START + SECOND;
	assert_int_equal(packet_clock_advance(&clock, START + SECOND), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, START + 6 * SECOND);
}

/* The process is paused after the clock was read and before frames are: the clock is read again, and was not set. */
static void
check_pause(uint64_t pause)
{
	struct packet_clock clock = {0};
	uint64_t read = START + SECOND;

	observe(&clock, START, START);
	packet_clock_advance(&clock, START);
	assert_int_equal(observe(&clock, read + pause, read + pause), PACKET_CLOCK_REGULAR);
	assert_int_equal(packet_clock_advance(&clock, read - SECOND / 10), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, read + pause);
	assert_int_equal(clock.offset, 0);
	assert_false(clock.stepped);
	/* and a step is followed as before */
	clock.host_now = read + pause - HOUR;
	packet_clock_step(&clock, -HOUR);
	assert_int_equal(packet_clock_advance(&clock, read + pause + SECOND - HOUR), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, read + pause + SECOND);
	assert_int_equal(clock.offset, HOUR);
}

static void
test_pauses(void **state)
{
	(void)state;
	check_pause(SECOND);
	check_pause(SECOND + SECOND / 2);
	check_pause(20 * SECOND);
}

/* After a pause one interface is read before another, whose frames are older: their time stamps are not ignored. */
static void
test_interfaces(void **state)
{
	struct packet_clock clock = {0};
	uint64_t end = START + 5 * SECOND;

	(void)state;
	observe(&clock, START, START);
	packet_clock_advance(&clock, START);
	observe(&clock, end, end);
	assert_int_equal(observe(&clock, START + SECOND / 10, end), PACKET_CLOCK_REGULAR);
	assert_int_equal(clock.now, end);
	assert_int_equal(clock.offset, 0);
	packet_clock_advance(&clock, end); /* all interfaces have been read */
	assert_int_equal(observe(&clock, START + SECOND / 10, end), PACKET_CLOCK_STRAY);
}

/* Observes a block of frames of a file, a millisecond apart, not near those after the block.  Returns the
 * number of steps. */
static unsigned
observe_block(struct packet_clock *clock, uint64_t from, unsigned count)
{
	struct frame frames[BLOCK_MAX];
	unsigned steps = 0;

	assert_true(count <= BLOCK_MAX);
	for (unsigned i = 0; i < count; i++)
		frames[i] = (struct frame){.ts = from + i * MILLISECOND};
	for (unsigned i = 0; i < count; i++) {
		if (packet_clock_is_regular(clock, frames[i].ts))
			clock->now = frames[i].ts + clock->offset;
		else
			steps += packet_clock_decide(clock, frames[i].ts, &frames[i + 1], count - i - 1, true) ==
				 PACKET_CLOCK_STEP;
	}
	return steps;
}

/* A file with the blocks of three hosts in turn, whose clocks differ: packet time does not run away. */
static void
check_unordered(uint64_t second, uint64_t third)
{
	struct packet_clock clock = {0};
	uint64_t elapsed = 1000 * 20 * MILLISECOND;

	for (unsigned turn = 0; turn < 1000; turn++) {
		observe_block(&clock, START + turn * 20 * MILLISECOND, 20);
		observe_block(&clock, START + second + turn * 20 * MILLISECOND, 20);
		observe_block(&clock, START + third + turn * 20 * MILLISECOND, 20);
	}
	assert_in_range(clock.now, START + third, START + 3 * third + 3 * elapsed);
}

static void
test_unordered(void **state)
{
	(void)state;
	check_unordered(0, 2 * SECOND);
	check_unordered(0, 5 * SECOND);
	check_unordered(3 * SECOND, 7 * SECOND);
	check_unordered(0, 100 * SECOND);
	check_unordered(100 * SECOND, 250 * SECOND);
}

/* A second step soon after the first takes effect after some frames. */
static void
test_second_step(void **state)
{
	struct packet_clock clock = {0};
	uint64_t before;

	(void)state;
	observe_block(&clock, START, 20);
	assert_int_equal(observe_block(&clock, START - HOUR, 20), 1);
	before = clock.now;
	assert_int_equal(observe_block(&clock, START - 2 * HOUR, BLOCK_MAX), 1);
	assert_int_equal(clock.now, before + (BLOCK_MAX - PACKET_CLOCK_STEADY_FRAMES) * MILLISECOND);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_regular), cmocka_unit_test(test_stray),     cmocka_unit_test(test_steps),
	    cmocka_unit_test(test_ahead),
	    cmocka_unit_test(test_pauses),
	    cmocka_unit_test(test_interfaces),   cmocka_unit_test(test_unordered), cmocka_unit_test(test_second_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
