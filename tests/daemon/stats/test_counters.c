/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of counters: each field has a row, names and metrics are unique, and values come from their fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/stats/counters.h"

#define FIELDS (sizeof(struct stats_totals) / sizeof(uint64_t))
#define POSITION(member) (offsetof(struct stats_totals, member) / sizeof(uint64_t))

_Static_assert(sizeof(struct stats_totals) % sizeof(uint64_t) == 0, "nothing but counters");

/* Fields that are not shown: elements that stand for "none", and what only tests read. */
static const size_t hidden[] = {
    POSITION(observed.anomalies[ANOMALY_NONE]),
    POSITION(observed.retransmissions[RETRANSMIT_NONE]),
    POSITION(flows.longest_probe),
    POSITION(states.sctp_seen),
    POSITION(flight.oldest), /* flight_span_us is the time between these */
    POSITION(flight.newest),
    POSITION(closed.latest_lost), /* only a reply about ended connections needs it */
};

/* Of UDP streams only some reasons exist; what events count is not taken from the records. */
static bool
is_hidden_record(size_t position)
{
	size_t udp = POSITION(records.ended[FLOW_UDP]), resent = POSITION(records.resent);

	for (unsigned kind = 0; kind < RECORD_FLOW_KINDS; kind++)
		if (position == POSITION(records.ended) + kind * RECORD_REASON_COUNT + RECORD_OPEN)
			return true;
	return (position >= udp && position < udp + RECORD_IDLE) ||
	       (position >= resent && position <= POSITION(records.out_of_order));
}

/* Histograms: netobsctl status and the metrics compute their figures. */
static bool
is_in_histogram(size_t position)
{
	size_t all = POSITION(batches), minute = POSITION(batches_of_minute);
	size_t length = sizeof(struct batch_histograms) / sizeof(uint64_t);

	return (position >= all && position < all + length) || (position >= minute && position < minute + length);
}

static bool
is_hidden(size_t position)
{
	if (is_hidden_record(position) || is_in_histogram(position))
		return true;
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
		if (hidden[i] == position)
			return true;
	return false;
}

static void
test_each_field_has_one_row(void **state)
{
	unsigned rows[FIELDS] = {0};

	(void)state;
	for (size_t i = 0; i < counters_table_rows; i++) {
		const struct counter_row *row = &counters_table[i];

		assert_int_equal(row->offset % sizeof(uint64_t), 0);
		for (unsigned index = row->first; index < counter_row_end(row); index++) {
			assert_true(row->offset / sizeof(uint64_t) + index < FIELDS);
			rows[row->offset / sizeof(uint64_t) + index]++;
		}
	}
	for (size_t i = 0; i < FIELDS; i++) {
		if (rows[i] == !is_hidden(i))
			continue;
		print_error("the field at offset %zu of struct stats_totals has %u rows\n", i * sizeof(uint64_t),
			    rows[i]);
		fail();
	}
}

static void
test_rows_are_complete(void **state)
{
	(void)state;
	for (size_t i = 0; i < counters_table_rows; i++) {
		const struct counter_row *row = &counters_table[i], *last = i > 0 ? row - 1 : NULL;
		bool continued = last != NULL && last->metric != NULL && row->metric != NULL &&
				 strcmp(last->metric, row->metric) == 0;

		assert_true((row->name != NULL) != (row->element_name != NULL));
		assert_true(row->element_name == NULL || (row->variable != NULL && row->first < row->end));
		assert_true((row->group == NULL) == (row->condition == COUNTER_IN_METRICS_ONLY));
		assert_non_null(row->help);
		assert_int_equal(row->help[strlen(row->help) - 1], '.');
		assert_true(row->advice == NULL || row->advice[strlen(row->advice) - 1] == '.');
		if (row->metric == NULL)
			continue;
		assert_true((strlen(row->metric) > 6 &&
			     strcmp(row->metric + strlen(row->metric) - 6, "_total") == 0) ==
			    (row->type == COUNTER_TOTAL));
		/* Only the first of several rows of a metric has its help text; all of them have the label and type. */
		if (continued)
			assert_true(row->label != NULL && row->metric_help == NULL && row->type == last->type);
		else
			assert_true((row->label != NULL) == (row->metric_help != NULL) ||
				    row->element_name != NULL);
		for (size_t j = 0; !continued && j < i; j++)
			assert_true(counters_table[j].metric == NULL ||
				    strcmp(counters_table[j].metric, row->metric) != 0);
	}
}

/* ------------------------------------------------------------------------------------------------------ the summary */

struct summary {
	char text[32768];
	size_t used;
};

static void
add_line(void *context, const char *group, const char *name, uint64_t value)
{
	struct summary *summary = context;
	char line[128];

	snprintf(line, sizeof line, "\n%s%s ", group, name);
	assert_null(strstr(summary->text, line)); /* no name twice */
	summary->used += (size_t)snprintf(summary->text + summary->used, sizeof summary->text - summary->used,
					  "%s%llu\n", summary->used > 0 ? line + 1 : line, (unsigned long long)value);
	assert_true(summary->used < sizeof summary->text);
}

static void
test_zeros(void **state)
{
	static struct summary summary;
	struct stats_totals totals = {0};

	(void)state;
	counters_visit(&totals, add_line, &summary);
	assert_non_null(strstr(summary.text, "\nframes 0\n"));
	assert_non_null(strstr(summary.text, "\nflow.evicted-crowded 0\n"));
	assert_non_null(strstr(summary.text, "\nchecksum.unverified 0\n"));
	assert_null(strstr(summary.text, "\nanomaly."));
	assert_null(strstr(summary.text, "\nretransmission."));
	assert_null(strstr(summary.text, "\nprobe."));
	assert_null(strstr(summary.text, "\nconversation."));
	assert_null(strstr(summary.text, "\nstream."));
	assert_null(strstr(summary.text, "\nreassembly."));
	assert_null(strstr(summary.text, "\nowner."));
	assert_null(strstr(summary.text, "\nended."));
	assert_null(strstr(summary.text, "\nrtt."));
}

static void
test_values(void **state)
{
	static struct summary summary;
	struct stats_totals totals;
	uint64_t *field = (uint64_t *)(void *)&totals;
	char line[128];

	(void)state;
	for (size_t i = 0; i < FIELDS; i++)
		field[i] = 1000 + i;
	counters_visit(&totals, add_line, &summary);
	snprintf(line, sizeof line, "\nflow.evicted-idle %zu\n", 1000 + POSITION(flows.evicted_idle));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nflow.sctp-unrecorded %zu\n", 1000 + POSITION(sctp_addr_table_full));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nowner.no-process %zu\n", 1000 + POSITION(owners.no_process));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nretransmission.syn %zu\n",
		 1000 + POSITION(observed.retransmissions[RETRANSMIT_SYN]));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nanomaly.truncated-link %zu\n",
		 1000 + POSITION(observed.anomalies[ANOMALY_TRUNCATED_LINK]));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nended.tcp.refused %zu\n",
		 1000 + POSITION(records.ended[FLOW_TCP][RECORD_REFUSED]));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nended.udp.idle %zu\n", 1000 + POSITION(records.ended[FLOW_UDP][RECORD_IDLE]));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nreset.server.established %zu\n",
		 1000 + POSITION(records.resets[1][TCP_STATE_ESTABLISHED]));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nrtt.above-10s %zu\n", 1000 + POSITION(records.rtt.count[RECORD_BUCKETS]));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nrtt.sum-us %zu\n", 1000 + POSITION(records.rtt.sum_us));
	assert_non_null(strstr(summary.text, line));
	snprintf(line, sizeof line, "\nstream.evicted %zu\n", 1000 + POSITION(streams.evicted_queues));
	assert_non_null(strstr(summary.text, line));
	assert_null(strstr(summary.text, "(null)")); /* states have no group and are in the metrics only */
}

/* The names of the buckets are their bounds. */
static void
test_bucket_names(void **state)
{
	const struct counter_row *row = counters_table;

	(void)state;
	while (row->type != COUNTER_HISTOGRAM)
		row++;
	assert_int_equal(counter_row_end(row), RECORD_BUCKETS + 1);
	for (unsigned i = 0; i < RECORD_BUCKETS; i++) {
		uint32_t us = record_bucket_bounds_us[i];
		char name[32];

		if (us < 1000)
			snprintf(name, sizeof name, "up-to-%uus", (unsigned)us);
		else if (us < 1000000)
			snprintf(name, sizeof name, "up-to-%gms", us / 1e3);
		else
			snprintf(name, sizeof name, "up-to-%gs", us / 1e6);
		assert_string_equal(counter_row_name(row, i), name);
	}
	assert_string_equal(counter_row_name(row, RECORD_BUCKETS), "above-10s");
}

/* ------------------------------------------------------------------------------------------------------ the metrics */

/* Counters that the metrics contain, by metric and name of the element: their number. */
static unsigned
count_exported(const char *metric, const struct stats_totals *totals, const struct config *config)
{
	unsigned exported = 0;

	for (size_t i = 0; i < counters_table_rows; i++) {
		const struct counter_row *row = &counters_table[i];

		if (row->metric == NULL || strcmp(row->metric, metric) != 0)
			continue;
		for (unsigned index = row->first; index < counter_row_end(row); index++)
			exported += counter_row_is_exported(row, index, totals, config);
	}
	return exported;
}

static void
test_exported_by_configuration(void **state)
{
	static const char *one[] = {"eth0", NULL}, *any[] = {"eth0", "any", NULL};
	struct stats_totals totals = {0};
	struct config config = {.interface_names = one, .print = PRINT_OFF};

	(void)state;
	assert_int_equal(count_exported("frames_total", &totals, &config), 1);
	assert_int_equal(count_exported("tcp_retransmissions_total", &totals, &config), RETRANSMIT_SYN);
	assert_int_equal(count_exported("copied_frames_total", &totals, &config), 1);
	assert_int_equal(count_exported("print_dropped_lines_total", &totals, &config), 0);
	assert_int_equal(count_exported("owner_requests_total", &totals, &config), 0);
	assert_int_equal(count_exported("conversations_begun_total", &totals, &config), 0);
	config.interface_names = any;
	config.print = PRINT_TEXT;
	config.lookup_owners = true;
	config.app_ports[APP_ISCSI].count = 1;
	assert_int_equal(count_exported("copied_frames_total", &totals, &config), 2);
	assert_int_equal(count_exported("print_dropped_lines_total", &totals, &config), 1);
	assert_int_equal(count_exported("owner_requests_total", &totals, &config), 1);
	assert_int_equal(count_exported("owner_results_total", &totals, &config), 0);
	assert_int_equal(count_exported("conversations_begun_total", &totals, &config), 1);
	assert_int_equal(count_exported("stream_bytes_total", &totals, &config), 0);
}

static void
test_exported_by_use(void **state)
{
	static const char *one[] = {"eth0", NULL};
	struct stats_totals totals = {0};
	const struct config config = {.interface_names = one};

	(void)state;
	assert_int_equal(count_exported("anomalies_total", &totals, &config), 0);
	assert_int_equal(count_exported("probe_firings_total", &totals, &config), 0);
	assert_int_equal(count_exported("connections_by_state", &totals, &config), TCP_STATE_COUNT + 1);
	totals.observed.anomalies[ANOMALY_TRUNCATED_LINK] = 1;
	totals.fired[PROBE_COUNT - 1] = 1;
	totals.states.sctp_seen = 1;
	totals.app_flows.begun = 1;
	totals.owners.requests = 1;
	assert_int_equal(count_exported("anomalies_total", &totals, &config), 1);
	assert_int_equal(count_exported("probe_firings_total", &totals, &config), 1);
	assert_int_equal(count_exported("connections_by_state", &totals, &config),
			 TCP_STATE_COUNT + SCTP_STATE_COUNT + 1);
	assert_int_equal(count_exported("stream_bytes_total", &totals, &config), 1);
	assert_int_equal(count_exported("owner_results_total", &totals, &config), 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_field_has_one_row),
	    cmocka_unit_test(test_rows_are_complete),
	    cmocka_unit_test(test_zeros),
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_bucket_names),
	    cmocka_unit_test(test_exported_by_configuration),
	    cmocka_unit_test(test_exported_by_use),
	};

	return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
