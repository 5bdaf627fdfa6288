/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

#define NONE UINT64_MAX

struct row {
	const char *text;
	uint64_t value; /* NONE: refused */
};

static const struct quantity seconds = {DIMENSION_TIME, UNITS_SECOND, 0, UINT64_MAX, false};
static const struct quantity bytes = {DIMENSION_SIZE, 1, 0, UINT64_MAX, false};

static void
expect_rows(const struct quantity *quantity, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char error[UNITS_ERROR_MAX] = "";
		uint64_t value;
		bool good = units_parse(quantity, rows[i].text, &value, error);

		if (good != (rows[i].value != NONE) || (good && value != rows[i].value))
			fail_msg("\"%s\" is %llu: %s", rows[i].text, good ? (unsigned long long)value : 0, error);
	}
}

#define EXPECT_ROWS(quantity, ...)                                                              \
	do {                                                                                    \
		static const struct row rows[] = {__VA_ARGS__};                                 \
		expect_rows(quantity, rows, sizeof rows / sizeof rows[0]);                      \
	} while (0)

static void
times_have_units(void **state)
{
	(void)state;
	EXPECT_ROWS(&seconds, {"7ns", 7}, {"10us", 10000}, {"500ms", 500000000}, {"300s", 300 * UNITS_SECOND},
		    {"5m", 300 * UNITS_SECOND}, {"5min", 300 * UNITS_SECOND}, {"2h", 7200 * UNITS_SECOND},
		    {"1d", 86400 * UNITS_SECOND}, {"300", 300 * UNITS_SECOND}, {"0", 0}, {"0s", 0},
		    {"1.5h", 5400 * UNITS_SECOND},
		    {"0.1", UNITS_SECOND / 10}, {".5s", UNITS_SECOND / 2}, {"2.", 2 * UNITS_SECOND},
		    {"007s", 7 * UNITS_SECOND},
		    {"1.0000000009", 1000000000}, {"0.000000001", 1}, {"213503d", 213503 * UNITS_DAY},
		    {"213504d", NONE},
		    {"18446744073.709551614", UINT64_MAX - 1});
	EXPECT_ROWS(&seconds, {"", NONE}, {"s", NONE}, {".", NONE}, {".s", NONE}, {"-1", NONE}, {"+1", NONE}, {" 1",
	NONE},
		    {"1 ", NONE}, {"1 s", NONE}, {"1S", NONE}, {"1M", NONE}, {"1D", NONE}, {"1H", NONE}, {"1sec", NONE},
		    {"1ss", NONE}, {"1s2", NONE}, {"1.2.3", NONE}, {"1e3", NONE}, {"0x10", NONE}, {"nan", NONE},
		    {"inf", NONE},
		    {"1K", NONE}, {"1MiB", NONE}, {"99999999999999999999", NONE}, {"1,5s", NONE}, {"5 m", NONE});
}

static void
sizes_have_units(void **state)
{
	(void)state;
	EXPECT_ROWS(&bytes, {"0", 0}, {"512", 512}, {"512B", 512}, {"64k", 65536}, {"64K", 65536}, {"64KiB", 65536},
		    {"64kB", 64000}, {"64M", 64 << 20}, {"64MiB", 64 << 20}, {"64MB", 64000000},
		    {"1.5G", UINT64_C(1536) << 20},
		    {"2GiB", UINT64_C(2) << 30}, {"2GB", 2000000000}, {"1T", UINT64_C(1) << 40},
		    {"1TiB", UINT64_C(1) << 40},
		    {"1TB", 1000000000000}, {"1.3K", 1331}, {"16777215T", UINT64_C(16777215) << 40},
		    {"16777216T", NONE},
		    {"18446744073709551614", UINT64_MAX - 1}, {"18446744073709551616", NONE});
	EXPECT_ROWS(&bytes, {"64m", NONE}, {"64g", NONE}, {"64KB", NONE}, {"64Kb", NONE}, {"64mib", NONE}, {"64MM",
	NONE},
		    {"M", NONE}, {"64s", NONE}, {"64h", NONE}, {"64 M", NONE}, {"-1", NONE}, {"1e9", NONE});
}

static void
a_plain_number_has_the_unit_of_its_option(void **state)
{
	static const struct quantity minutes = {DIMENSION_TIME, UNITS_MINUTE, UNITS_SECOND, UNITS_HOUR, true};
	static const struct quantity needed = {DIMENSION_TIME, 0, 1, UNITS_HOUR, false};
	static const struct quantity needed_or_zero = {DIMENSION_TIME, 0, 1, UNITS_HOUR, true};
	static const struct quantity kib = {DIMENSION_SIZE, UNITS_KIB, UNITS_KIB, 1 << 20, false};

	(void)state;
	EXPECT_ROWS(&minutes, {"2", 2 * UNITS_MINUTE}, {"90s", 90 * UNITS_SECOND}, {"0", 0}, {"0s", 0}, {"0.5s", NONE},
		    {"60", UNITS_HOUR}, {"61", NONE}, {"1h", UNITS_HOUR}, {"61m", NONE});
	EXPECT_ROWS(&needed, {"10", NONE}, {"0", NONE}, {"0s", NONE}, {"10s", 10 * UNITS_SECOND});
	EXPECT_ROWS(&needed_or_zero, {"10", NONE}, {"0", 0}, {"0s", 0}, {"0.0", 0}, {"0.1ns", NONE},
		    {"10s", 10 * UNITS_SECOND});
	EXPECT_ROWS(&kib, {"64", 65536}, {"64K", 65536}, {"1024", 1 << 20}, {"1M", 1 << 20}, {"1025", NONE},
	{"1023B", NONE});
}

static void
expect_message(const struct quantity *quantity, const char *expected)
{
	char error[UNITS_ERROR_MAX];
	uint64_t value;

	assert_false(units_parse(quantity, "none", &value, error));
	assert_string_equal(error, expected);
}

static void
messages_have_the_range_and_the_units(void **state)
{
	(void)state;
	expect_message(&(struct quantity){DIMENSION_TIME, UNITS_SECOND, UNITS_SECOND / 1000, UNITS_YEAR, false},
		       "expected a time from 1ms to 365d: seconds, or with a unit as in 500ms, 90s, 5m, 1h");
	expect_message(&(struct quantity){DIMENSION_TIME, UNITS_MINUTE, UNITS_SECOND, UNITS_HOUR, true},
		       "expected 0 or a time from 1s to 1h: minutes, or with a unit as in 500ms, 90s, 5m, 1h");
	expect_message(&(struct quantity){DIMENSION_TIME, 0, 0, 90 * UNITS_MINUTE, false},
		       "expected a time from 0s to 90min with a unit as in 500ms, 90s, 5m, 1h");
	expect_message(&(struct quantity){DIMENSION_SIZE, 1, 1 << 20, UINT64_C(1) << 36, true},
		       "expected 0 or a size from 1M to 64G: bytes, or with a unit as in 512K, 64M, 1G");
	expect_message(&(struct quantity){DIMENSION_SIZE, UNITS_KIB, UNITS_KIB, UNITS_KIB * 1025, false},
		       "expected a size from 1K to 1025K: KiB, or with a unit as in 512K, 64M, 1G");
}

static void
formatted_values_are_parsed_again(void **state)
{
	static const uint64_t values[] = {0, 1, 7, 999, 1000, 1024, 1500000, UNITS_SECOND, 90 * UNITS_SECOND,
	UNITS_MINUTE,
					  UNITS_HOUR, 36 * UNITS_HOUR, UNITS_DAY, UNITS_YEAR, UINT64_C(3) << 50,
					  UINT64_MAX};
	char text[UNITS_TEXT_MAX], error[UNITS_ERROR_MAX];
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		assert_true(units_parse(&seconds, units_format_time(values[i], text), &value, error));
		assert_int_equal(value, values[i]);
		assert_true(units_parse(&bytes, units_format_size(values[i], text), &value, error));
		assert_int_equal(value, values[i]);
	}
	assert_string_equal(units_format_time(300 * UNITS_SECOND, text), "5min");
	assert_string_equal(units_format_time(0, text), "0s");
	assert_string_equal(units_format_size(UINT64_C(1) << 50, text), "1024T");
}

static void
units_have_a_hint(void **state)
{
	(void)state;
	assert_string_equal(unit_hint("MIN", 3), "min");
	assert_string_equal(unit_hint("kib", 3), "KiB");
	assert_non_null(strstr(unit_hint("sec", 3), "times have ns, us, ms, s, m, min, h or d, sizes B, k, K, M"));
	assert_null(unit_find("", 0));
	assert_null(unit_find("mi", 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(a_plain_number_has_the_unit_of_its_option),
		cmocka_unit_test(messages_have_the_range_and_the_units),
		cmocka_unit_test(formatted_values_are_parsed_again),
		cmocka_unit_test(units_have_a_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
