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
static char error[RECORD_ERROR_MAX];

/* A list of up to three connections: ids, bytes, beginnings. */
struct sample {
	uint64_t numbers[3][3];
	union connection_value values[3][4];
	struct connection_row rows[3];
	struct connection_list list;
};

static void
fill(struct sample *sample, uint64_t seconds)
{
	static const char *const states[] = {"b", "a", "b"};

	sample->list = (struct connection_list){.rows = sample->rows, .time_ns = seconds * 1000000000};
	for (; sample->list.count < 3 && sample->numbers[sample->list.count][0] != 0; sample->list.count++) {
		struct connection_row *row = &sample->rows[sample->list.count];
		const uint64_t *numbers = sample->numbers[sample->list.count];

		row->values = sample->values[sample->list.count];
		row->cid = row->values[0].number = numbers[0];
		row->values[1].number = numbers[1];
		row->values[2].text = states[sample->list.count];
		row->values[3].number = numbers[2];
	}
}

static int
setup(void **state)
{
	(void)state;
	if (!connection_columns_choose(&columns, "cid,client_bytes,client_state", "client_bytes", error))
		return 1;
	assert_int_equal(columns.shown, 3);
	assert_int_equal(columns.fields.count, 4);
	assert_int_equal(columns.start, 3);
	assert_int_equal(columns.sort, 1);
	return 0;
}

static void
check_row(const struct connection_list *rates, size_t row, uint64_t cid, uint64_t bytes)
{
	assert_true(row < rates->count);
	assert_int_equal(rates->rows[row].cid, cid);
	assert_int_equal(rates->rows[row].values[0].number, cid);
	assert_int_equal(rates->rows[row].values[1].number, bytes);
}

static void
test_rates(void **state)
{
	struct sample before = {.numbers = {{4, 100, 7}, {2, 50, 7}}};
	struct sample after = {.numbers = {{2, 70, 7}, {4, 90, 7}, {6, 8, 7}}};
	struct connection_list rates;

	(void)state;
	fill(&before, 10);
	fill(&after, 12);
	assert_true(connection_list_make_rates(&rates, &after.list, &before.list, &columns));
	assert_true(rates.seconds > 1.99 && rates.seconds < 2.01);
	connection_list_sort(&rates, &columns);
	check_row(&rates, 0, 2, 20);
	assert_string_equal(rates.rows[0].values[2].text, "b");
	check_row(&rates, 1, 6, 8);
	/* A counter that has become smaller is that of another run of netobsd. */
	check_row(&rates, 2, 4, 0);
	check_row(&after.list, 0, 2, 70);
	connection_list_clear(&rates);
}

/* netobsd was started again, and another connection has the id of an earlier one. */
static void
test_rates_of_another_run(void **state)
{
	struct sample before = {.numbers = {{2, 50, 1000}, {4, 60, 1000}}};
	struct sample after = {.numbers = {{2, 70, 1001}, {4, 70, 1000}}};
	struct connection_list rates;

	(void)state;
	fill(&before, 10);
	fill(&after, 12);
	assert_true(connection_list_make_rates(&rates, &after.list, &before.list, &columns));
	connection_list_sort(&rates, &columns);
	check_row(&rates, 0, 2, 70);
	check_row(&rates, 1, 4, 10);
	connection_list_clear(&rates);
}

/* A list without all connections does not tell which are new. */
static void
test_rates_after_a_cut_list(void **state)
{
	struct sample before = {.numbers = {{2, 50, 7}}};
	struct sample after = {.numbers = {{2, 70, 7}, {4, 1000000, 7}}};
	struct connection_list rates;

	(void)state;
	fill(&before, 10);
	fill(&after, 12);
	before.list.cut = true;
	assert_true(connection_list_make_rates(&rates, &after.list, &before.list, &columns));
	connection_list_sort(&rates, &columns);
	check_row(&rates, 0, 2, 20);
	assert_false(rates.rows[0].unrated);
	check_row(&rates, 1, 4, 0);
	assert_true(rates.rows[1].unrated);
	connection_list_clear(&rates);
}

static void
test_order(void **state)
{
	struct sample sample = {.numbers = {{6, 7, 1}, {4, 3, 3}, {2, 7, 2}}};

	(void)state;
	fill(&sample, 1);
	connection_list_sort(&sample.list, &columns);
	check_row(&sample.list, 0, 2, 7);
	check_row(&sample.list, 1, 6, 7);
	check_row(&sample.list, 2, 4, 3);
	columns.order.descending = false;
	connection_list_sort(&sample.list, &columns);
	check_row(&sample.list, 0, 4, 3);
	check_row(&sample.list, 1, 2, 7);
	assert_true(connection_columns_choose(&columns, "cid,client_bytes,client_state", "client_state", error));
	fill(&sample, 1);
	connection_list_sort(&sample.list, &columns);
	assert_string_equal(sample.rows[0].values[2].text, "a");
	assert_true(connection_columns_choose(&columns, "cid,client_bytes,client_state", "-start", error));
	fill(&sample, 1);
	connection_list_sort(&sample.list, &columns);
	check_row(&sample.list, 0, 4, 3);
	check_row(&sample.list, 2, 6, 7);
}

static void
test_wrong_names(void **state)
{
	(void)state;
	assert_false(connection_columns_choose(&columns, "cid,cliant", NULL, error));
	assert_non_null(strstr(error, "no field cliant (did you mean client?)"));
	assert_false(connection_columns_choose(&columns, "cid", "cliant", error));
	assert_non_null(strstr(error, "no field cliant"));
}

/* A line of a reply becomes a row, if it has all fields with their types. */
static void
test_a_row_of_json(void **state)
{
	json_t *object = json_loads("{\"cr_cid\":7,\"cr_pid\":-1,\"cr_uid\":\"00ff\",\"cr_client\":\"::1\"}", 0, NULL);
	struct record_fields fields;
	struct connrow row = {.live.cid = 0};

	(void)state;
	assert_true(record_fields_parse("cid,pid,uid,client", &fields, error));
	assert_null(connection_row_read(object, &fields, &row));
	assert_int_equal(row.live.cid, 7);
	assert_int_equal(row.live.pid, -1);
	assert_int_equal(row.record.cr_uid, 255);
	assert_string_equal(row.record.cr_client, "::1");
	assert_true(record_fields_parse("cid,server", &fields, error));
	assert_string_equal(connection_row_read(object, &fields, &row), "cr_server");
	json_object_set_new(object, "cr_server", json_integer(1));
	assert_string_equal(connection_row_read(object, &fields, &row), "cr_server");
	json_object_set_new(object, "cr_server", json_string("0123456789012345678901234567890123456789012345"));
	assert_string_equal(connection_row_read(object, &fields, &row), "cr_server");
	json_decref(object);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_rates, setup),
	    cmocka_unit_test_setup(test_rates_of_another_run, setup),
	    cmocka_unit_test_setup(test_rates_after_a_cut_list, setup),
	    cmocka_unit_test_setup(test_order, setup),
	    cmocka_unit_test(test_wrong_names),
	    cmocka_unit_test(test_a_row_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
