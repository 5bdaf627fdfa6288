/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of log messages: how many lines a call site may log in an interval, and the count of the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/log.h"

static time_t now_s = 1000;
static unsigned lines;
static char last[256];

/* --- in place of the clock and of the log --- */

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	(void)clock;
	*now = (struct timespec){.tv_sec = now_s};
	return 0;
}

void
log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	vsnprintf(last, sizeof last, format, arguments);
	va_end(arguments);
	lines++;
}

static void
warn(unsigned times)
{
	while (times-- > 0)
		log_warning("number %u", times);
}

static void
test_limit(void **state)
{
	(void)state;
	warn(7);
	assert_int_equal(lines, 7); /* a start has no limit */
	log_limit_enable();
	lines = 0;
	warn(12);
	assert_int_equal(lines, LOG_LIMIT_LINES);
	now_s += (time_t)LOG_LIMIT_SECONDS - 1;
	warn(1);
	log_limit_report_expired();
	assert_int_equal(lines, LOG_LIMIT_LINES);
	now_s++;
	log_limit_report_expired();
	assert_int_equal(lines, LOG_LIMIT_LINES + 1);
	assert_string_equal(last, "8 more messages like \"number 0\" suppressed");
	warn(LOG_LIMIT_LINES);
	assert_int_equal(lines, 2 * LOG_LIMIT_LINES + 1);
	warn(1);
	assert_int_equal(lines, 2 * LOG_LIMIT_LINES + 1);
	log_limit_disable();
	assert_string_equal(last, "1 more messages like \"number 0\" suppressed");
	lines = 0;
	warn(7);
	assert_int_equal(lines, 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
