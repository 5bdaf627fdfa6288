/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_text.h"

#include "base/text.h"

/* Three significant digits of `value` / `unit`, rounded down: "1.23", "12.3", "123". */
static char *
put_three_digits(char *at, uint64_t value, uint64_t unit)
{
	uint64_t whole = value / unit;

	at = put_u64(at, whole);
	if (whole >= 100)
		return at;
	*at++ = '.';
	return whole >= 10 ? put_digits(at, (uint32_t)(value % unit * 10 / unit), 1)
			   : put_digits(at, (uint32_t)(value % unit * 100 / unit), 2);
}

/* "1h02m": of `big` units and the next smaller ones, `ratio` of which are one. */
static char *
put_two_units(char *at, uint64_t value, char big, uint32_t ratio, char small)
{
	at = put_u64(at, value / ratio);
	*at++ = big;
	if (value / ratio >= 100)
		return at;
	at = put_digits(at, (uint32_t)(value % ratio), 2);
	*at++ = small;
	return at;
}

char *
put_duration(char *at, int64_t us)
{
	uint64_t value = (uint64_t)us;

	if (us < 0) {
		*at++ = '-';
		return at;
	}
	if (value < 1000)
		return at = put_u64(at, value), PUT(at, "us");
	if (value < 1000000)
		return at = put_three_digits(at, value, 1000), PUT(at, "ms");
	if (value < 100000000)
		return at = put_three_digits(at, value, 1000000), PUT(at, "s");
	value /= 1000000;
	if (value < 3600)
		return put_two_units(at, value, 'm', 60, 's');
	if (value < 86400)
		return put_two_units(at, value / 60, 'h', 60, 'm');
	return put_two_units(at, value / 3600, 'd', 24, 'h');
}

char *
put_amount(char *at, uint64_t value)
{
	static const char letters[] = "MGTPE";
	uint64_t unit = 1000000;

	if (value < unit)
		return put_u64(at, value);
	for (const char *letter = letters;; letter++, unit *= 1000) {
		if (value / unit < 1000 || letter[1] == '\0') {
			at = put_three_digits(at, value, unit);
			*at++ = *letter;
			return at;
		}
	}
}
