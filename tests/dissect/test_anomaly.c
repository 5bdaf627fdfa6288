/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dissect/layers.h"

/* The sentences of the manual. */
static const char *const descriptions[ANOMALY_COUNT] = {
#define ANOMALY(symbol, word, severity, text) [ANOMALY_##symbol] = (text),
#include "dissect/anomaly.def"
#undef ANOMALY
};

static void
names_are_words(void **state)
{
	(void)state;
	assert_string_equal(anomaly_name(ANOMALY_NONE), "");
	for (unsigned a = 1; a < ANOMALY_COUNT; a++) {
		const char *word = anomaly_name((enum anomaly)a);

		assert_in_range(strlen(word), 3, 31);
		assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(word));
		assert_true(strlen(descriptions[a]) > 10);
		for (unsigned b = 1; b < a; b++)
			assert_string_not_equal(word, anomaly_name((enum anomaly)b));
	}
}

static void
other_values_have_no_name(void **state)
{
	(void)state;
	assert_string_equal(anomaly_name(ANOMALY_COUNT), "");
	assert_string_equal(anomaly_name((enum anomaly)-1), "");
}

static void
every_bit_is_its_own(void **state)
{
	(void)state;
	for (unsigned a = 1; a < ANOMALY_COUNT; a++) {
		struct anomaly_set set = {{0, 0}};

		anomaly_add(&set, (enum anomaly)a);
		for (unsigned b = 1; b < ANOMALY_COUNT; b++)
			assert_int_equal(anomaly_has(&set, (enum anomaly)b), a == b);
	}
}

/* The reason is the most severe anomaly, the first of equals. */
static void
reason_is_the_most_severe(void **state)
{
	struct packet packet = {.worst_anomaly = ANOMALY_NONE};

	(void)state;
	packet_add_anomaly(&packet, ANOMALY_TCP_FLAGS);
	packet_add_anomaly(&packet, ANOMALY_UDP_SURPLUS);
	assert_int_equal(packet.worst_anomaly, ANOMALY_TCP_FLAGS);
	packet_add_anomaly(&packet, ANOMALY_IPV4_LAND);
	packet_add_anomaly(&packet, ANOMALY_IPV4_SOURCE);
	assert_int_equal(packet.worst_anomaly, ANOMALY_IPV4_LAND);
	packet_add_anomaly(&packet, ANOMALY_TRUNCATED_QUOTE);
	assert_int_equal(packet.worst_anomaly, ANOMALY_IPV4_LAND);
	packet_add_anomaly(&packet, ANOMALY_TCP_SHORT);
	assert_int_equal(packet.worst_anomaly, ANOMALY_TCP_SHORT);
	assert_true(anomaly_has(&packet.anomalies, ANOMALY_UDP_SURPLUS));
}

static void
budget_is_spent_once(void **state)
{
	struct packet packet = {.worst_anomaly = ANOMALY_NONE};

	(void)state;
	for (unsigned i = 0; i < DISSECT_LAYER_BUDGET; i++)
		assert_true(packet_enter_layer(&packet));
	assert_int_equal(packet.worst_anomaly, ANOMALY_NONE);
	assert_false(packet_enter_layer(&packet));
	assert_int_equal(packet.worst_anomaly, ANOMALY_LAYER_BUDGET);
	assert_int_equal(packet.layers_spent, DISSECT_LAYER_BUDGET);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_words),
		cmocka_unit_test(other_values_have_no_name),
		cmocka_unit_test(every_bit_is_its_own),
		cmocka_unit_test(reason_is_the_most_severe),
		cmocka_unit_test(budget_is_spent_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
