/* SPDX-License-Identifier: BSD-2-Clause */
/* Thresholds of formulas: N times in DURATION by FIELD, N distinct FIELD in DURATION by FIELD. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formulas/threshold.h"
#include "tests/formulas/firing_sample.h"

#define MILLISECOND 1000000u

static struct firing_sample sample;
static struct formula *formula;
static struct formula_threshold *threshold;

static void
begin(const char *definition)
{
	struct formula_error error;

	firing_sample_init(&sample);
	formula = formula_compile(definition, &error);
	assert_non_null(formula);
	threshold = formula_threshold_new(formula);
	assert_non_null(threshold);
}

static void
end(void)
{
	formula_threshold_free(threshold);
	formula_free(formula);
}

/* Counts a firing of tcp-retransmit after so many ms. */
static bool
count_at(uint64_t ms, uint64_t cid)
{
	struct firing *firing = firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT);

	sample.cs.cs_cid = cid;
	firing->ts = ms * MILLISECOND;
	return formula_threshold_count(threshold, firing);
}

static void
the_nth_firing_within_the_duration_reaches_it(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 times in 1s");
	assert_false(count_at(1000, 1));
	assert_false(count_at(1500, 2));
	assert_true(count_at(2000, 3)); /* exactly 1 s */
	assert_false(count_at(2001, 4)); /* from 0 again */
	assert_false(count_at(2002, 5));
	assert_true(count_at(2003, 6));
	end();
}

static void
the_window_slides(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 times in 1s");
	assert_false(count_at(0, 1));
	assert_false(count_at(900, 1));
	assert_false(count_at(1001, 1)); /* the first one is too old */
	assert_true(count_at(1900, 1));
	for (unsigned i = 0; i < 20; i++) /* never three in a second */
		assert_false(count_at(10000 + 501 * i, 1));
	end();
}

static void
once_is_every_time(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 1 times in 1ns by cs_cid");
	for (unsigned i = 0; i < 3; i++)
		assert_true(count_at(0, 1));
	end();
}

static void
values_are_counted_apart(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, tcp-timeout-retransmit, 2 times in 1s by cs_cid, ip_saddr");
	assert_false(count_at(0, 1));
	assert_false(count_at(1, 2));
	assert_true(count_at(2, 1));
	assert_true(count_at(3, 2));
	assert_false(count_at(4, 1));
	snprintf(sample.ip.ip_saddr, sizeof sample.ip.ip_saddr, "10.0.0.1");
	assert_false(count_at(5, 1));
	assert_true(count_at(6, 1));
	assert_false(count_at(7, 1));
	sample.ip.ip_saddr[40] = 'x'; /* past the end of the text */
	assert_true(count_at(8, 1));
	assert_false(count_at(9, 1));
	snprintf(sample.ip.ip_saddr, sizeof sample.ip.ip_saddr, "2001:db8::1:2:3:4"); /* a longer one between */
	assert_false(count_at(10, 1));
	snprintf(sample.ip.ip_saddr, sizeof sample.ip.ip_saddr, "10.0.0.1");
	assert_true(count_at(11, 1));
	end();
}

static void
an_absent_field_does_not_count(void **state)
{
	struct firing *firing;

	(void)state;
	begin("x = tcp-retransmit, 1 times in 1s by cs_cid");
	firing = firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT);
	firing->args[1] = NULL;
	assert_false(formula_threshold_count(threshold, firing));
	end();
}

/* Time stamps of several interfaces are not in order: an earlier one counts as if it were later. */
static void
time_may_go_back(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 times in 1s");
	assert_false(count_at(5000, 1));
	assert_false(count_at(4500, 1));
	assert_true(count_at(5100, 1)); /* within a second of each other */
	assert_false(count_at(90000, 1));
	assert_false(count_at(5200, 1)); /* the clock was set back */
	assert_false(count_at(5300, 1));
	assert_true(count_at(5400, 1));
	assert_false(count_at(7000, 1));
	assert_false(count_at(6100, 1));
	assert_false(count_at(5500, 1)); /* 7000 has left */
	assert_true(count_at(5600, 1));
	end();
}

static void
a_full_table_drops_what_was_counted_longest_ago(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 2 times in 1h by cs_cid");
	for (unsigned i = 0; i < THRESHOLD_KEYS_MAX; i++)
		assert_false(count_at(i, i));
	assert_int_equal(formula_threshold_dropped(threshold), 0);
	assert_true(count_at(2000, 0)); /* now the newest */
	assert_false(count_at(2001, 0));
	assert_false(count_at(2002, THRESHOLD_KEYS_MAX)); /* drops 1 */
	assert_int_equal(formula_threshold_dropped(threshold), 1);
	assert_true(count_at(2003, 0));
	assert_true(count_at(2004, 2));
	assert_false(count_at(2005, 1)); /* drops 3 */
	assert_int_equal(formula_threshold_dropped(threshold), 2);
	assert_false(count_at(2006, 3));
	end();
}

/* The times of all firings are kept, so a table has fewer values for a high threshold. */
static void
a_high_threshold_has_fewer_values(void **state)
{
	enum { VALUES = THRESHOLD_STAMPS_MAX / THRESHOLD_TIMES_MAX };

	(void)state;
	begin("x = tcp-retransmit, 10000 times in 1h by cs_cid");
	for (unsigned i = 0; i < VALUES; i++)
		assert_false(count_at(i, i));
	assert_int_equal(formula_threshold_dropped(threshold), 0);
	assert_false(count_at(VALUES, VALUES));
	assert_int_equal(formula_threshold_dropped(threshold), 1);
	for (unsigned i = 1; i < THRESHOLD_TIMES_MAX - 1; i++)
		assert_false(count_at(VALUES + i, VALUES));
	assert_true(count_at(VALUES, VALUES));
	end();
}

/* Text whose bits were chosen so that what a pair of words adds to a multiplicative hash cancels, whatever its seed: a
 * difference of the highest bit remains one, and a shift copies it to where the next word can take it back. */
static void
values_cannot_be_chosen_to_share_a_bucket(void **state)
{
	enum { PAIRS = 5 };
	uint8_t *text = (uint8_t *)sample.ip.ip_saddr;

	(void)state;
	begin("x = tcp-retransmit, 2 times in 1s by ip_saddr, ip_daddr");
	assert_ptr_equal(sample.ip.ip_daddr, sample.ip.ip_saddr + sizeof sample.ip.ip_saddr);
	for (unsigned i = 0; i < 1u << PAIRS; i++) {
		memset(text, 'a', sizeof sample.ip.ip_saddr + sizeof sample.ip.ip_daddr);
		for (unsigned pair = 0; pair < PAIRS; pair++)
			if ((i >> pair & 1) != 0) {
				uint64_t words[2];

				memcpy(words, text + 16 * pair, sizeof words);
				words[0] ^= UINT64_C(1) << 63;
				words[1] ^= UINT64_C(1) << 63 | UINT64_C(1) << 34;
				memcpy(text + 16 * pair, words, sizeof words);
			}
		assert_false(count_at(i, 1));
	}
	assert_in_range(formula_threshold_longest_chain(threshold), 1, 8);
	for (unsigned i = 0; i < THRESHOLD_KEYS_MAX; i++) { /* a full table */
		snprintf(sample.ip.ip_saddr, sizeof sample.ip.ip_saddr, "10.0.%u.%u", i / 256, i % 256);
		count_at(i, 1);
	}
	assert_in_range(formula_threshold_longest_chain(threshold), 1, 12);
	end();
}

/* ------------------------------------------------------------------------------------------------- distinct values */

/* Counts a firing of tcp-retransmit to a port after so many ms. */
static bool
count_port(uint64_t ms, uint64_t cid, uint16_t port)
{
	sample.tcp.tcp_dport = port;
	return count_at(ms, cid);
}

static void
the_nth_distinct_value_within_the_duration_reaches_it(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 distinct tcp_dport in 1s");
	assert_false(count_port(0, 1, 80));
	assert_false(count_port(1, 1, 80));
	assert_false(count_port(2, 1, 81));
	assert_false(count_port(3, 1, 80));
	assert_false(count_port(4, 1, 81));
	assert_true(count_port(5, 1, 82));
	assert_false(count_port(6, 1, 82)); /* from 0 again */
	assert_false(count_port(7, 1, 80));
	assert_true(count_port(8, 1, 81));
	end();
}

/* A value counts from its last firing on. */
static void
distinct_values_leave_after_the_duration(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 distinct tcp_dport in 1s");
	assert_false(count_port(0, 1, 80));
	assert_false(count_port(500, 1, 81));
	assert_false(count_port(1001, 1, 82)); /* 80 has left */
	assert_false(count_port(1400, 1, 81));
	assert_true(count_port(2001, 1, 83)); /* 81, 82 exactly a second ago */
	assert_false(count_port(3000, 1, 80));
	assert_false(count_port(3900, 1, 80)); /* again: at 3900 */
	assert_false(count_port(4800, 1, 81));
	assert_true(count_port(4850, 1, 82));
	for (unsigned i = 0; i < 20; i++) /* never three in a second */
		assert_false(count_port(10000 + 501 * i, 1, (uint16_t)i));
	end();
}

static void
one_distinct_value_is_every_firing(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 1 distinct tcp_dport in 1s by cs_cid");
	for (unsigned i = 0; i < 3; i++)
		assert_true(count_port(0, 1, 80));
	end();
}

static void
distinct_values_are_counted_apart(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 2 distinct tcp_dport in 1s by cs_cid");
	assert_false(count_port(0, 1, 80));
	assert_false(count_port(1, 2, 81));
	assert_false(count_port(2, 3, 80));
	assert_true(count_port(3, 1, 81));
	assert_true(count_port(4, 2, 80));
	assert_true(count_port(5, 3, 81));
	end();
}

static void
several_fields_are_one_value(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 distinct ip_daddr, tcp_dport in 1s");
	assert_false(count_port(0, 1, 80));
	assert_false(count_port(1, 1, 81));
	assert_false(count_port(2, 1, 80));
	snprintf(sample.ip.ip_daddr, sizeof sample.ip.ip_daddr, "10.0.0.1");
	assert_true(count_port(3, 1, 80));
	end();
}

static void
an_absent_distinct_field_does_not_count(void **state)
{
	struct firing *firing;

	(void)state;
	begin("x = tcp-retransmit, 1 distinct cs_cid in 1s");
	firing = firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT);
	firing->args[1] = NULL;
	assert_false(formula_threshold_count(threshold, firing));
	end();
}

static void
distinct_values_with_time_that_goes_back(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 distinct tcp_dport in 1s");
	assert_false(count_port(90000, 1, 80));
	assert_false(count_port(90001, 1, 81));
	assert_false(count_port(5000, 1, 82)); /* the clock was set back */
	assert_false(count_port(4500, 1, 83));
	assert_true(count_port(5100, 1, 84));
	end();
}

static void
a_dropped_value_loses_its_distinct_values(void **state)
{
	(void)state;
	begin("x = tcp-retransmit, 3 distinct tcp_dport in 1h by cs_cid");
	for (unsigned i = 0; i < THRESHOLD_KEYS_MAX; i++) {
		assert_false(count_port(i, i, 80));
		assert_false(count_port(i, i, 81));
	}
	assert_int_equal(formula_threshold_dropped(threshold), 0);
	assert_false(count_port(2000, THRESHOLD_KEYS_MAX, 80)); /* drops 0 */
	assert_int_equal(formula_threshold_dropped(threshold), 1);
	assert_false(count_port(2001, 0, 82)); /* drops 1 */
	assert_false(count_port(2002, 0, 83));
	assert_true(count_port(2003, 2, 82));
	for (uint64_t i = 0; i < 20000; i++) /* a flood of values */
		assert_false(count_port(3000 + i, 5000 + i, (uint16_t)i));
	assert_int_equal(formula_threshold_dropped(threshold), 20002);
	end();
}

/* All values of a key are kept, so a table has fewer keys if they are long. */
static void
long_distinct_values_have_fewer_keys(void **state)
{
	enum { KEYS = THRESHOLD_DISTINCT_BYTES_MAX / (1000 * (4 + 2 * 46)) };

	(void)state;
	begin("x = tcp-retransmit, 1000 distinct ip_saddr, ip_daddr in 1h by cs_cid");
	for (unsigned i = 0; i <= KEYS; i++) {
		assert_int_equal(formula_threshold_dropped(threshold), 0);
		for (unsigned j = 0; j < 999; j++) {
			snprintf(sample.ip.ip_saddr, sizeof sample.ip.ip_saddr, "2001:db8::%x", j);
			assert_false(count_at(i, i));
		}
	}
	assert_int_equal(formula_threshold_dropped(threshold), 1);
	assert_in_range(formula_threshold_longest_chain(threshold), 1, 16);
	end();
}

/* Compared with a plain list of the last time of each value. */
static void
distinct_counts_are_those_of_a_plain_list(void **state)
{
	enum { KEYS = 20, PORTS = 9, FIRINGS = 30000, DISTINCT = 6, WINDOW = 300 };
	static uint64_t last[KEYS][PORTS];
	uint64_t random = 1, now = WINDOW + 1;
	unsigned reached_count = 0;

	(void)state;
	begin("x = tcp-retransmit, 6 distinct tcp_dport in 300ms by cs_cid");
	for (unsigned i = 0; i < FIRINGS; i++) {
		unsigned key, port, distinct = 0;
		bool reached;

		random = random * 6364136223846793005u + 1442695040888963407u;
		key = (unsigned)(random >> 33) % KEYS;
		port = (unsigned)(random >> 43) % PORTS;
		now += (random >> 60) % 4;
		last[key][port] = now;
		for (unsigned j = 0; j < PORTS; j++)
			distinct += last[key][j] != 0 && now - last[key][j] <= WINDOW;
		reached = distinct == DISTINCT;
		if (reached)
			memset(last[key], 0, sizeof last[key]);
		reached_count += reached;
		assert_int_equal(count_port(now, key, (uint16_t)(port + 80)), reached);
	}
	assert_in_range(reached_count, 100, FIRINGS / DISTINCT);
	end();
}

/* Many values and few times, compared with a plain count. */
static void
counts_are_those_of_a_plain_list(void **state)
{
	enum { VALUES = 50, FIRINGS = 20000, TIMES = 5, WINDOW = 300 };
	static uint64_t times[VALUES][TIMES];
	static unsigned held[VALUES];
	uint64_t random = 1, now = 0;

	(void)state;
	begin("x = tcp-retransmit, 5 times in 300ms by cs_cid");
	for (unsigned i = 0; i < FIRINGS; i++) {
		unsigned value, kept = 0;
		bool reached;

		random = random * 6364136223846793005u + 1442695040888963407u;
		value = (unsigned)(random >> 33) % VALUES;
		now += (random >> 60) % 4;
		for (unsigned j = 0; j < held[value]; j++)
			if (now - times[value][j] <= WINDOW)
				times[value][kept++] = times[value][j];
		times[value][kept++] = now;
		reached = kept == TIMES;
		held[value] = reached ? 0 : kept;
		assert_int_equal(count_at(now, value), reached);
	}
	assert_int_equal(formula_threshold_dropped(threshold), 0);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nth_firing_within_the_duration_reaches_it),
		cmocka_unit_test(the_window_slides),
		cmocka_unit_test(once_is_every_time),
		cmocka_unit_test(values_are_counted_apart),
		cmocka_unit_test(an_absent_field_does_not_count),
		cmocka_unit_test(time_may_go_back),
		cmocka_unit_test(a_full_table_drops_what_was_counted_longest_ago),
		cmocka_unit_test(a_high_threshold_has_fewer_values),
		cmocka_unit_test(values_cannot_be_chosen_to_share_a_bucket),
		cmocka_unit_test(the_nth_distinct_value_within_the_duration_reaches_it),
		cmocka_unit_test(distinct_values_leave_after_the_duration),
		cmocka_unit_test(one_distinct_value_is_every_firing),
		cmocka_unit_test(distinct_values_are_counted_apart),
		cmocka_unit_test(several_fields_are_one_value),
		cmocka_unit_test(an_absent_distinct_field_does_not_count),
		cmocka_unit_test(distinct_values_with_time_that_goes_back),
		cmocka_unit_test(a_dropped_value_loses_its_distinct_values),
		cmocka_unit_test(long_distinct_values_have_fewer_keys),
		cmocka_unit_test(distinct_counts_are_those_of_a_plain_list),
		cmocka_unit_test(counts_are_those_of_a_plain_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
