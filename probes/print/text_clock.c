/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/print/text_clock.h"

#include <string.h>

#include "base/format.h"

/* Days since 1970-01-01 as a date of the Gregorian calendar; counts from 1 March, so that the leap day is last. */
static char *
text_clock_put_date(char *at, uint64_t days)
{
	uint64_t z = days + 719468;
	uint32_t of_era = (uint32_t)(z % 146097);
	uint32_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	uint32_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	uint32_t month = (5 * of_year + 2) / 153;
	uint32_t day = of_year - (153 * month + 2) / 5 + 1;
	uint32_t year = year_of_era + (uint32_t)(z / 146097) * 400 + (month >= 10);

	at = put_digits(at, year, 4);
	*at++ = '-';
	at = put_digits(at, month < 10 ? month + 3 : month - 9, 2);
	*at++ = '-';
	return put_digits(at, day, 2);
}

static void
text_clock_set(struct text_clock *clock, uint64_t second)
{
	uint32_t of_day = (uint32_t)(second % 86400);
	char *at = text_clock_put_date(clock->prefix, second / 86400);

	*at++ = 'T';
	at = put_digits(at, of_day / 3600, 2);
	*at++ = ':';
	at = put_digits(at, of_day / 60 % 60, 2);
	*at++ = ':';
	at = put_digits(at, of_day % 60, 2);
	*at++ = '.';
	clock->length = (unsigned)(at - clock->prefix);
	clock->second = second;
}

char *
put_time(char *at, struct text_clock *clock, uint64_t ns)
{
	uint64_t second = ns / 1000000000;

	if (clock->length == 0 || second != clock->second)
		text_clock_set(clock, second);
	memcpy(at, clock->prefix, sizeof clock->prefix);
	at = put_digits(at + clock->length, (uint32_t)(ns % 1000000000), 9);
	*at++ = 'Z';
	return at;
}
