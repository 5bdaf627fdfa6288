/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of records: JSON and the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "records/record_json.h"
#include "records/record_columns.h"
#include "tests/lib/json_check.h"
#include "tests/probes/probe_args_sample.h"

static char line[RECORD_LINE_MAX + 1], error[RECORD_ERROR_MAX];

static struct connrow
sample_row(void)
{
	struct probe_args_sample sample;
	struct connrow row;

	probe_args_sample_fill(&sample);
	row.record = sample.connrec;
	connrow_set_ended(&row);
	return row;
}

static const char *
json_of(const struct connrow *row, const char *chosen)
{
	struct record_fields fields;
	struct record_json *json;
	size_t where;
	char *end;

	if (chosen != NULL)
		assert_true(record_fields_parse(chosen, &fields, error));
	json = record_json_new(chosen != NULL ? &fields : NULL, false);
	assert_non_null(json);
	end = record_json_put_line(json, row, line);
	assert_true(end > line && end[-1] == '\n');
	end[-1] = '\0';
	record_json_free(json);
	assert_true(json_check(line, strlen(line), &where));
	return line;
}

static void
test_json(void **state)
{
	struct connrow row = sample_row();
	static const char begin[] =
	    "{\"end\":\"2026-11-20T11:02:03.123456789Z\",\"cr_uid\":\"00ab54a98ceb1f0a\","
	    "\"cr_community\":\"1:LQU9qZlK+B5F3KDmev6m5PMibrg=\",\"cr_client\":\"192.0.2.1\",";

	(void)state;
	assert_memory_equal(json_of(&row, NULL), begin, sizeof begin - 1);
	assert_non_null(strstr(line, "\"cr_end\":1795172523123456789,"));
	assert_non_null(strstr(line, "\"cr_server_pid\":-1,"));
	assert_null(strstr(line, "cid"));
	assert_null(strstr(line, "cr_seq"));
	assert_null(strstr(line, "pad"));
}

static void
test_json_of_chosen_fields(void **state)
{
	struct connrow row = sample_row();

	(void)state;
	assert_string_equal(json_of(&row, "server_port,cr_reason,uid,client_cid"),
			    "{\"cr_server_port\":443,\"cr_reason\":\"fin\",\"cr_uid\":\"00ab54a98ceb1f0a\","
			    "\"cr_client_cid\":12}");
	assert_string_equal(json_of(&row, "uid"), "{\"cr_uid\":\"00ab54a98ceb1f0a\"}");
}

static void
test_json_escapes_text_of_the_network(void **state)
{
	struct connrow row = sample_row();

	(void)state;
	snprintf(row.record.cr_name, sizeof row.record.cr_name, "a\"\\\n\033[2J\xff");
	assert_string_equal(json_of(&row, "name"), "{\"cr_name\":\"a\\\"\\\\\\n\\u001b[2J\\u00ff\"}");
	memset(row.record.cr_name, 1, sizeof row.record.cr_name); /* without a NUL */
	json_of(&row, NULL);
}

static void
test_json_of_extreme_values(void **state)
{
	struct connrow row;

	(void)state;
	memset(&row, 0xff, sizeof row);
	json_of(&row, NULL);
	memset(&row, 0, sizeof row);
	json_of(&row, NULL);
	assert_non_null(strstr(line, "{\"end\":\"1970-01-01T00:00:00.000000000Z\",\"cr_uid\":\"0000000000000000\","));
}

static const char *
rows_of(const struct connrow *row, const char *chosen)
{
	struct record_fields fields;
	struct record_columns *table;

	if (chosen != NULL)
		assert_true(record_fields_parse(chosen, &fields, error));
	table = record_columns_new(chosen != NULL ? &fields : NULL, false);
	assert_non_null(table);
	record_columns_measure(table, row);
	*record_columns_put_line(table, row, record_columns_put_titles(table, line)) = '\0';
	record_columns_free(table);
	return line;
}

static void
test_table(void **state)
{
	struct connrow row = sample_row();

	(void)state;
	row.record.cr_start = UINT64_C(1795172523000999999);
	assert_string_equal(
	    rows_of(&row, NULL),
	    "START         TIME PROT CLIENT          SERVER           SENT RECVD ANSWER  LOST WAITED REASON\n"
	    "11:02:03.000 123ms TCP  192.0.2.1:40000 198.51.100.2:443   94  5000 2.00ms 100ms loss   fin\n");
}

static void
test_table_of_two_days_has_dates(void **state)
{
	const uint64_t midnight = UINT64_C(1795132800000000000); /* 2026-11-20T00:00:00Z */
	struct connrow late = sample_row(), early = sample_row();
	struct record_columns *table = record_columns_new(NULL, false);

	(void)state;
	assert_non_null(table);
	late.record.cr_start = midnight - 1;
	early.record.cr_start = midnight;
	record_columns_measure(table, &late);
	record_columns_measure(table, &late);
	*record_columns_put_line(table, &late, line) = '\0';
	assert_memory_equal(line, "23:59:59.999 ", 13);
	record_columns_measure(table, &early);
	*record_columns_put_titles(table, line) = '\0';
	assert_memory_equal(line, "START                    TIME ", 30);
	*record_columns_put_line(table, &late, line) = '\0';
	assert_memory_equal(line, "2026-11-19T23:59:59.999 ", 24);
	*record_columns_put_line(table, &early, line) = '\0';
	assert_memory_equal(line, "2026-11-20T00:00:00.000 ", 24);
	record_columns_free(table);
}

static void
test_table_marks_a_judged_client(void **state)
{
	struct connrow row = sample_row();

	(void)state;
	snprintf(row.record.cr_role, sizeof row.record.cr_role, "port");
	snprintf(row.record.cr_client, sizeof row.record.cr_client, "2001:db8::1");
	snprintf(row.record.cr_server, sizeof row.record.cr_server, "2001:db8::2");
	row.record.cr_exchanges = 0;
	connrow_set_ended(&row);
	assert_non_null(strstr(rows_of(&row, NULL), " [2001:db8::1]:40000? [2001:db8::2]:443 "));
	assert_non_null(strstr(line, "      - 100ms loss   fin\n"));
}

static void
test_table_fits_120_columns(void **state)
{
	struct connrow row = sample_row();
	struct record_columns *table = record_columns_new(NULL, false);
	char *end;

	(void)state;
	assert_non_null(table);
	snprintf(row.record.cr_client, sizeof row.record.cr_client, "255.255.255.255");
	snprintf(row.record.cr_server, sizeof row.record.cr_server, "255.255.255.255");
	snprintf(row.record.cr_role, sizeof row.record.cr_role, "port");
	snprintf(row.record.cr_protostr, sizeof row.record.cr_protostr, "SCTP");
	snprintf(row.record.cr_reason, sizeof row.record.cr_reason, "reset-by-client");
	row.record.cr_client_port = row.record.cr_server_port = 65535;
	row.record.cr_client_bytes = UINT64_MAX;
	row.record.cr_server_bytes = 999999999;
	row.record.cr_duration_us = UINT64_C(999) * 86400 * 1000000 + UINT64_C(86399) * 1000000;
	row.record.cr_server_us = row.record.cr_client_lost_us = 99999;
	connrow_set_ended(&row);
	record_columns_measure(table, &row);
	record_columns_set_usual_widths(table);
	end = record_columns_put_line(table, &row, line);
	assert_true(end - line - 1 <= 120);
	record_columns_free(table);
}

/* The columns TIME and SENT. */
static const char *
values_of(uint64_t us, uint64_t bytes)
{
	struct connrow row = sample_row();
	static char values[64];
	char time[16], sent[16];
	const char *second;

	row.record.cr_duration_us = us;
	row.record.cr_client_bytes = bytes;
	second = strchr(rows_of(&row, NULL), '\n');
	assert_int_equal(sscanf(second, "%*s %15s %*s %*s %*s %15s", time, sent), 2);
	snprintf(values, sizeof values, "%s %s", time, sent);
	return values;
}

static void
test_table_rounds_down(void **state)
{
	(void)state;
	assert_string_equal(values_of(999, 0), "999us 0");
	assert_string_equal(values_of(1000, 999999), "1.00ms 999999");
	assert_string_equal(values_of(99999, 1000000), "99.9ms 1.00M");
	assert_string_equal(values_of(999999, 12345678), "999ms 12.3M");
	assert_string_equal(values_of(1000000, 999999999), "1.00s 999M");
	assert_string_equal(values_of(99999999, UINT64_C(1000000000)), "99.9s 1.00G");
	assert_string_equal(values_of(100000000, UINT64_C(1234567890123)), "1m40s 1.23T");
	assert_string_equal(values_of(UINT64_C(3600000000), 1), "1h00m 1");
	assert_string_equal(values_of(UINT64_C(86399000000), 1), "23h59m 1");
	assert_string_equal(values_of(UINT64_C(86400000000) * 3 + UINT64_C(3600000000), 1), "3d01h 1");
	assert_string_equal(values_of(UINT64_C(86400000000) * 3000, UINT64_MAX), "3000d 18.4E");
}

static void
test_table_of_chosen_fields(void **state)
{
	struct connrow row = sample_row();

	(void)state;
	snprintf(row.record.cr_name, sizeof row.record.cr_name, "a\nb\xe2\x80\xae");
	assert_string_equal(rows_of(&row, "start,uid,server_port,vlan,client_pid,server_comm,name,server_pid"),
			    "start                          uid              server_port vlan client_pid server_comm "
			    "name               server_pid\n"
			    "2026-11-20T11:02:03.000000000Z 00ab54a98ceb1f0a         443 4094       4242 -           "
			    "a\\x0ab\\xe2\\x80\\xae         -1\n");
}

/* What an open connection has besides: all fields, the usual columns, rates of an interval. */
static void
test_open(void **state)
{
	static const struct tcpsinfo ends[] = {{.tcps_srtt_us = 1200, .tcps_rto = 200, .tcps_snd_ws = -1},
					       {.tcps_srtt_us = 80, .tcps_cwnd = 14480}};
	struct connrow row = sample_row();
	struct record_json *json = record_json_new(NULL, true);
	struct record_columns *table = record_columns_new(NULL, true);
	struct record_fields fields;

	(void)state;
	assert_true(json != NULL && table != NULL);
	snprintf(row.live.local, sizeof row.live.local, "server");
	snprintf(row.live.owner[1], sizeof row.live.owner[1], "process");
	row.record.cr_server_pid = 77;
	snprintf(row.record.cr_server_comm, sizeof row.record.cr_server_comm, "a b");
	row.record.cr_client_pid = -1;
	row.live.age_us = 61000000;
	connrow_set_open(&row, ends);
	*record_json_put_line(json, &row, line) = '\0';
	assert_non_null(strstr(line, ",\"cr_client_srtt_us\":1200,"));
	assert_non_null(strstr(line, ",\"cr_server_srtt_us\":80,"));
	assert_non_null(strstr(line, ",\"cr_client_snd_ws\":-1,"));
	assert_non_null(strstr(line, ",\"cr_server_cwnd\":14480,"));
	assert_non_null(strstr(line, ",\"cr_rtt_us\":80,"));
	assert_non_null(strstr(line, ",\"cr_client_cid\":12,"));
	assert_non_null(strstr(line, ",\"cr_server_owner\":\"process\""));
	record_columns_measure(table, &row);
	*record_columns_put_line(table, &row, record_columns_put_titles(table, line)) = '\0';
	assert_string_equal(line, "CID PROT CLIENT          SERVER           STATE              AGE SENT RECVD RESENT  "
				  "RTT PROCESS\n"
				  " 13 TCP  192.0.2.1:40000 198.51.100.2:443 time-wait/closed 61.0s   94  5000      3 "
				  "80us 77/a b\n");
	record_columns_free(table);
	record_json_free(json);
	assert_true(record_fields_parse("client_bytes,client_segments,rtt_us,comm", &fields, error));
	table = record_columns_new(&fields, true);
	assert_non_null(table);
	record_columns_set_interval(table, 2);
	row.record.cr_client_segments = 3;
	record_columns_measure(table, &row);
	*record_columns_put_line(table, &row, record_columns_put_titles(table, line)) = '\0';
	assert_string_equal(line, "client_bytes client_segments rtt_us comm\n"
				  "          47             1.5     80 a b\n");
	record_columns_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_json),
	    cmocka_unit_test(test_json_of_chosen_fields),
	    cmocka_unit_test(test_json_escapes_text_of_the_network),
	    cmocka_unit_test(test_json_of_extreme_values),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_table_of_two_days_has_dates),
	    cmocka_unit_test(test_table_marks_a_judged_client),
	    cmocka_unit_test(test_table_fits_120_columns),
	    cmocka_unit_test(test_table_rounds_down),
	    cmocka_unit_test(test_table_of_chosen_fields),
	    cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
