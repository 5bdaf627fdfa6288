/* SPDX-License-Identifier: BSD-2-Clause */
/* Rates and order of the rows of netobsctl connections and top. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/connections/connection_list.h"

static struct connection_columns columns;
static const char fields[] = "cid,inbytes,outsegs,state";

/* A list of up to three connections: ids, bytes, segments. */
struct sample {
	const char *values[3][4];
	struct connection_row rows[3];
	struct connection_list list;
};

static void
fill(struct sample *sample, uint64_t seconds)
{
	sample->list = (struct connection_list){.rows = sample->rows, .time_ns = seconds * 1000000000};
	for (; sample->list.count < 3 && sample->values[sample->list.count][0] != NULL; sample->list.count++) {
		struct connection_row *row = &sample->rows[sample->list.count];

		row->values = sample->values[sample->list.count];
		row->cid = (uint64_t)(row->values[0][0] - '0');
	}
}

static int
setup(void **state)
{
	static char list[sizeof fields];

	(void)state;
	memcpy(list, fields, sizeof fields);
	return connection_columns_choose(&columns, list, "inbytes") ? 0 : 1;
}

static void
check_row(const struct connection_list *rates, size_t row, const char *cid, const char *bytes, const char *segments)
{
	assert_true(row < rates->count);
	assert_string_equal(rates->rows[row].values[0], cid);
	assert_string_equal(rates->rows[row].values[1], bytes);
	assert_string_equal(rates->rows[row].values[2], segments);
}

static void
test_rates(void **state)
{
	struct sample before = {.values = {{"4", "100", "1", "a"}, {"2", "50", "5", "a"}}};
	struct sample after = {.values = {{"2", "70", "8", "b"}, {"4", "90", "1", "a"}, {"6", "8", "1", "a"}}};
	struct connection_list rates;

	(void)state;
	fill(&before, 10);
	fill(&after, 12);
	assert_true(connection_list_make_rates(&rates, &after.list, &before.list, &columns));
	connection_list_sort(&rates, &columns);
	check_row(&rates, 0, "2", "10", "1.5");
	assert_string_equal(rates.rows[0].values[3], "b");
	check_row(&rates, 1, "6", "4", "0.5");
	/* A counter that has become smaller is that of another run of netobsd. */
	check_row(&rates, 2, "4", "0", "0.0");
	connection_list_clear(&rates);
}

/* netobsd was started again, and another connection has the id of an earlier one. */
static void
test_rates_of_another_run(void **state)
{
	struct sample before = {.values = {{"2", "50", "5", "1000"}, {"4", "60", "6", "1000"}}};
	struct sample after = {.values = {{"2", "70", "8", "1001"}, {"4", "70", "8", "1000"}}};
	struct connection_columns with_start;
	struct connection_list rates;
	char list[] = "cid,inbytes,outsegs";

	(void)state;
	assert_true(connection_columns_choose(&with_start, list, "inbytes"));
	assert_true(connection_columns_add_start(&with_start));
	assert_int_equal(with_start.start, 3);
	assert_int_equal(with_start.shown, 3);
	fill(&before, 10);
	fill(&after, 12);
	assert_true(connection_list_make_rates(&rates, &after.list, &before.list, &with_start));
	connection_list_sort(&rates, &with_start);
	check_row(&rates, 0, "2", "35", "4.0");
	check_row(&rates, 1, "4", "5", "1.0");
	connection_list_clear(&rates);
}

/* A list without all connections does not tell which are new. */
static void
test_rates_after_a_cut_list(void **state)
{
	struct sample before = {.values = {{"2", "50", "5", "a"}}};
	struct sample after = {.values = {{"2", "70", "8", "b"}, {"4", "1000000", "999", "a"}}};
	struct connection_list rates;

	(void)state;
	fill(&before, 10);
	fill(&after, 12);
	before.list.cut = true;
	assert_true(connection_list_make_rates(&rates, &after.list, &before.list, &columns));
	connection_list_sort(&rates, &columns);
	check_row(&rates, 0, "2", "10", "1.5");
	check_row(&rates, 1, "4", "-", "-");
	connection_list_clear(&rates);
}

static void
test_order(void **state)
{
	struct sample sample = {.values = {{"6", "7", "1", "a"}, {"4", "-", "1", "b"}, {"2", "7", "1", "a"}}};

	(void)state;
	fill(&sample, 1);
	connection_list_sort(&sample.list, &columns);
	check_row(&sample.list, 0, "2", "7", "1");
	check_row(&sample.list, 1, "6", "7", "1");
	check_row(&sample.list, 2, "4", "-", "1");
	columns.reversed = true;
	connection_list_sort(&sample.list, &columns);
	check_row(&sample.list, 0, "6", "7", "1");
	check_row(&sample.list, 2, "4", "-", "1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_rates, setup),
	    cmocka_unit_test_setup(test_rates_of_another_run, setup),
	    cmocka_unit_test_setup(test_rates_after_a_cut_list, setup),
	    cmocka_unit_test_setup(test_order, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
