/* SPDX-License-Identifier: BSD-2-Clause */
/* The event loop: a descriptor that is always ready does not keep it; signals are not a queue. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"

static struct loop *loop;
static unsigned calls;

/* Does not read, so that the descriptor stays readable. */
static void
count_call(void *context)
{
	(void)context;
	if (++calls == 100)
		loop_stop(loop);
}

static void
test_poll_handles_events_once(void **state)
{
	int ends[2];
	struct watch *watch;

	(void)state;
	loop = loop_new();
	assert_non_null(loop);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	watch = loop_watch_readable(loop, ends[0], count_call, NULL);
	assert_non_null(watch);
	loop_poll(loop);
	assert_int_equal(calls, 1);
	loop_poll(loop);
	assert_int_equal(calls, 2);
	watch_free(watch);
	loop_poll(loop); /* returns without events */
	assert_int_equal(calls, 2);
	loop_free(loop);
	close(ends[0]);
	close(ends[1]);
}

static char order[8];

static void
note_signal(void *context)
{
	size_t used = 0;

	while (order[used] != '\0')
		used++;
	if (used + 1 < sizeof order)
		order[used] = *(const char *)context;
	if (*(const char *)context == 'R')
		assert_int_equal(raise(SIGHUP), 0); /* one that arrives meanwhile is not lost */
}

static void
test_pending_signals_are_one(void **state)
{
	struct watch *reload, *stop;

	(void)state;
	loop = loop_new();
	assert_non_null(loop);
	reload = loop_watch_signal(loop, SIGHUP, note_signal, (char[]){'R'});
	stop = loop_watch_stop_signal(loop, SIGTERM, note_signal, (char[]){'S'});
	assert_non_null(reload);
	assert_non_null(stop);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(raise(SIGHUP), 0);
		assert_int_equal(raise(SIGTERM), 0);
	}
	assert_true(loop_stop_requested());
	loop_poll(loop);
	assert_string_equal(order, "SR"); /* one of each, and the signal that ends the process first */
	loop_poll(loop);
	assert_string_equal(order, "SRR");
	watch_free(reload);
	watch_free(stop);
	loop_free(loop);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_poll_handles_events_once),
	    cmocka_unit_test(test_pending_signals_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
