/* SPDX-License-Identifier: BSD-2-Clause */
/* Points in time as values of options: ISO 8601, or seconds since the epoch. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/options.h"

/* The latest second that 64 bits of nanoseconds hold is in the year 2554. */
#define SECONDS_MAX UINT64_C(18446744072)

static bool
time_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes a number of exactly `digits` digits in [least, most].  False if there is none. */
static bool
time_take_number(const char **at, unsigned digits, int least, int most, int *number)
{
	*number = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (!time_is_digit(**at))
			return false;
		*number = *number * 10 + *(*at)++ - '0';
	}
	return *number >= least && *number <= most;
}

static bool
time_take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* Takes a fraction of a second, if there is one; digits after the ninth are dropped. */
static bool
time_take_fraction(const char **at, uint64_t *ns)
{
	uint64_t unit = NANOSECONDS / 10;

	*ns = 0;
	if (!time_take_char(at, '.'))
		return true;
	if (!time_is_digit(**at))
		return false;
	for (; time_is_digit(**at); ++*at, unit /= 10)
		*ns += (uint64_t)(**at - '0') * unit;
	return true;
}

/* Takes Z or an offset from UTC, +HH:MM, +HHMM or +HH; nothing is UTC. */
static bool
time_take_offset(const char **at, int *seconds)
{
	int sign = **at == '-' ? -1 : 1, hours, minutes = 0;

	*seconds = 0;
	if (time_take_char(at, 'Z') || **at == '\0')
		return true;
	if (!time_take_char(at, '+') && !time_take_char(at, '-'))
		return false;
	if (!time_take_number(at, 2, 0, 23, &hours))
		return false;
	if (**at != '\0' && ((void)time_take_char(at, ':'), !time_take_number(at, 2, 0, 59, &minutes)))
		return false;
	*seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

/* YYYY-MM-DD, then T or a blank, HH:MM, :SS and a fraction. */
static bool
time_take_date(const char **at, struct tm *tm, uint64_t *ns)
{
	*tm = (struct tm){0};
	*ns = 0;
	if (!time_take_number(at, 4, 1970, 2553, &tm->tm_year) || !time_take_char(at, '-') ||
	    !time_take_number(at, 2, 1, 12, &tm->tm_mon) || !time_take_char(at, '-') ||
	    !time_take_number(at, 2, 1, 31, &tm->tm_mday))
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	if (**at == '\0')
		return true;
	if ((!time_take_char(at, 'T') && !time_take_char(at, ' ')) || !time_take_number(at, 2, 0, 23, &tm->tm_hour) ||
	    !time_take_char(at, ':') || !time_take_number(at, 2, 0, 59, &tm->tm_min))
		return false;
	return !time_take_char(at, ':') ||
	       (time_take_number(at, 2, 0, 59, &tm->tm_sec) && time_take_fraction(at, ns));
}

static bool
time_parse_date(const char *text, uint64_t *time)
{
	struct tm tm;
	uint64_t ns;
	int64_t seconds;
	int offset, day;

	if (!time_take_date(&text, &tm, &ns) || !time_take_offset(&text, &offset) || *text != '\0')
		return false;
	day = tm.tm_mday;
	seconds = (int64_t)timegm(&tm) - offset; /* timegm() makes February 30 a day in March */
	if (tm.tm_mday != day || seconds < 0)
		return false;
	*time = (uint64_t)seconds * NANOSECONDS + ns;
	return true;
}

static bool
time_parse_seconds(const char *text, uint64_t *time)
{
	uint64_t seconds = 0, ns;

	if (!time_is_digit(*text))
		return false;
	for (; time_is_digit(*text); text++) {
		seconds = seconds * 10 + (uint64_t)(*text - '0');
		if (seconds > SECONDS_MAX)
			return false;
	}
	if (!time_take_fraction(&text, &ns) || *text != '\0')
		return false;
	*time = seconds * NANOSECONDS + ns;
	return true;
}

static bool
value_set_time(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	uint64_t *time = (uint64_t *)((char *)config + row->config_offset);

	if (time_parse_seconds(text, time) || time_parse_date(text, time))
		return true;
	snprintf(error, size,
		 "expected a time such as 2026-11-22T19:40:00.5Z, 2026-11-22T20:40:00+01:00 (UTC without Z or offset) "
		 "or 1795376400.5 (seconds since 1970)");
	return false;
}

/* 0 is the time of an option that is not given. */
static const char *
value_get_time(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	uint64_t time = *(const uint64_t *)((const char *)config + row->config_offset);

	snprintf(buffer, OPTIONS_VALUE_MAX, "%llu.%09u", (unsigned long long)(time / NANOSECONDS),
		 (unsigned)(time % NANOSECONDS));
	return index == 0 && time != 0 ? buffer : NULL;
}

const struct option_kind value_time = {.set = value_set_time, .get = value_get_time};
