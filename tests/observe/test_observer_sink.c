/* SPDX-License-Identifier: BSD-2-Clause */
/* The observer as a sink: its output is flushed after its records, fails with either, and can be stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/observer.h"
#include "observe/observer_sink.h"
#include "probes/print/print.h"

static int output_error;
static bool records_failed;
static unsigned flushed, stopped; /* calls of printer_flush() and printer_stop() */

/* These replace observe/observer.c and probes/print/print.c. */
void
observe_frames(struct observer *observer, const struct frame *frames, unsigned count)
{
	(void)observer;
	(void)frames;
	(void)count;
}

void
observer_decide_held(struct observer *observer)
{
	(void)observer;
}

void
observer_populate_flows(struct observer *observer, uint32_t flows)
{
	(void)observer;
	(void)flows;
}

void
observer_clear(struct observer *observer)
{
	(void)observer;
}

void
observer_advance_clock(struct observer *observer, uint64_t now)
{
	(void)observer;
	(void)now;
}

void
observer_read_host_clock(struct observer *observer, struct host_clock *clock)
{
	(void)observer;
	(void)clock;
}

void
observer_poll_tracers(struct observer *observer)
{
	(void)observer;
}

bool
observer_is_complete(const struct observer *observer)
{
	(void)observer;
	return false;
}

bool
printer_is_waiting(const struct printer *printer)
{
	(void)printer;
	return true;
}

uint64_t
printer_dropped(const struct printer *printer)
{
	(void)printer;
	return 3;
}

bool
observer_flush_records(struct observer *observer)
{
	assert_null(observer);
	return !records_failed;
}

void
printer_flush(struct printer *printer)
{
	(void)printer;
	flushed++;
}

int
printer_error(const struct printer *printer)
{
	(void)printer;
	return output_error;
}

void
printer_stop(struct printer *printer)
{
	(void)printer;
	stopped++;
}

static void
test_output(void **state)
{
	static char no_printer; /* only its address counts */
	struct observer_sink sink;

	(void)state;
	observer_sink_init(&sink, NULL, (struct printer *)(void *)&no_printer);
	assert_true(sink.sink.ops->flush_output(&sink.sink));
	assert_int_equal(flushed, 1);
	output_error = 32;
	assert_false(sink.sink.ops->flush_output(&sink.sink));
	assert_true(sink.sink.ops->has_output(&sink.sink));
	assert_int_equal(sink.sink.ops->output_dropped(&sink.sink), 3);
	sink.sink.ops->stop_printing(&sink.sink);
	assert_int_equal(stopped, 1);
	assert_true(sink.sink.ops->flush_output(&sink.sink)); /* observation continues without its output */
	assert_int_equal(flushed, 2);
	assert_false(sink.sink.ops->has_output(&sink.sink));
	assert_int_equal(sink.sink.ops->output_dropped(&sink.sink), 0);
}

static void
test_records(void **state)
{
	struct observer_sink sink;

	(void)state;
	observer_sink_init(&sink, NULL, NULL);
	assert_true(sink.sink.ops->flush_output(&sink.sink));
	records_failed = true;
	assert_false(sink.sink.ops->flush_output(&sink.sink));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_output),
	    cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests_name("observer sink", tests, NULL, NULL);
}
