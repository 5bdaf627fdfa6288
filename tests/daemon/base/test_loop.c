/* SPDX-License-Identifier: BSD-2-Clause */
/* The event loop: a descriptor that is always ready does not keep it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/base/loop.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_poll_handles_events_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
