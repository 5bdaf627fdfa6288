/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of fields, orders and expressions as users write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "records/record_filter.h"
#include "tests/probes/probe_args_sample.h"

static char error[RECORD_ERROR_MAX];

static void
test_names(void **state)
{
	struct record_fields fields;

	(void)state;
	assert_true(record_fields_parse("client,cr_server_port,duration_us", &fields, error));
	assert_int_equal(fields.count, 3);
	assert_string_equal(fields.fields[0]->name, "cr_client");
	assert_string_equal(fields.fields[1]->name, "cr_server_port");
	assert_string_equal(record_field_short_name(fields.fields[2]), "duration_us");
}

static void
test_wrong_names(void **state)
{
	struct record_fields fields;

	(void)state;
	assert_false(record_fields_parse("client,server_prot", &fields, error));
	assert_non_null(strstr(error, "no field server_prot (did you mean server_port?)"));
	assert_false(record_fields_parse("cr_duration", &fields, error));
	assert_non_null(strstr(error, "no field cr_duration"));
	assert_false(record_fields_parse("client,,server", &fields, error));
	assert_string_equal(error, "the name of a field is missing");
	assert_false(record_fields_parse("", &fields, error));
	assert_false(record_fields_parse("client,cr_client", &fields, error));
	assert_string_equal(error, "cr_client is chosen twice");
	assert_false(record_fields_parse("clien", &fields, error));
	assert_false(record_fields_parse("client ", &fields, error));
}

static void
leads_to(const char *name, const char *field)
{
	char hint[80];

	snprintf(hint, sizeof hint, "no field %s (did you mean %s?)", name, field);
	assert_null(record_fields_find(name, strlen(name), error));
	if (strstr(error, hint) == NULL)
		print_message("# %s\n", error);
	assert_non_null(strstr(error, hint));
}

static void
test_titles_lead_to_fields(void **state)
{
	(void)state;
	leads_to("START", "start");
	leads_to("TIME", "duration_us");
	leads_to("time", "duration_us");
	leads_to("PROT", "protostr");
	leads_to("Client", "client");
	leads_to("SERVER", "server");
	leads_to("SENT", "client_bytes");
	leads_to("RECVD", "server_bytes");
	leads_to("RESENT", "resent");
	leads_to("RTT", "rtt_us");
	leads_to("STATE", "client_state");
	leads_to("answer", "answer_us");
	leads_to("LOST", "lost_us");
	leads_to("REASON", "reason");
}

static void
test_all_fields_are_those_of_every_run(void **state)
{
	struct record_fields fields;
	const struct struct_info *info = &manifest_structs[STRUCT_CONNREC];

	(void)state;
	record_fields_set_all(&fields, false);
	assert_int_equal(fields.count, info->field_count - 3);
	for (unsigned i = 0; i < fields.count; i++) {
		assert_null(strstr(fields.fields[i]->name, "_cid"));
		assert_null(strstr(fields.fields[i]->name, "_seq"));
		assert_null(strstr(fields.fields[i]->name, "pad"));
	}
}

static void
test_orders(void **state)
{
	struct record_order order;

	(void)state;
	assert_true(record_order_parse("duration_us", &order, error));
	assert_true(order.descending);
	assert_true(record_order_parse("-duration_us", &order, error));
	assert_false(order.descending);
	assert_true(record_order_parse("cr_start", &order, error));
	assert_false(order.descending);
	assert_true(record_order_parse("client", &order, error));
	assert_false(order.descending);
	assert_true(record_order_parse("-client", &order, error));
	assert_true(order.descending);
	assert_false(record_order_parse("--client", &order, error));
	assert_false(record_order_parse("-", &order, error));
	assert_false(record_order_parse("durations_us", &order, error));
	assert_non_null(strstr(error, "did you mean duration_us?"));
}

static bool
selects(const char *expression)
{
	struct probe_args_sample sample;
	struct record_filter *filter = record_filter_compile(expression, error);
	struct connrow row;
	bool selected;

	probe_args_sample_fill(&sample);
	row.record = sample.connrec;
	connrow_set_ended(&row);
	if (filter == NULL)
		print_message("# %s: %s\n", expression, error);
	assert_non_null(filter);
	selected = record_filter_selects(filter, &row);
	record_filter_free(filter);
	return selected;
}

static void
test_expressions(void **state)
{
	(void)state;
	assert_true(selects("cr_server_port == 443"));
	assert_false(selects("cr_server_port == 80"));
	assert_true(selects("cr_duration_us > 100ms && cr_reason == \"fin\""));
	assert_false(selects("cr_duration_us > 1s"));
	assert_true(selects("cr_client in 192.0.2.0/24"));
}

static void
test_expressions_with_short_names(void **state)
{
	(void)state;
	assert_true(selects("server_port == 443 && duration_us > 100ms"));
	assert_false(selects("client in 198.51.100.0/24"));
	assert_true(selects("server_comm == \"\" || name == \"x\""));
}

static void
refuses(const char *expression, const char *message)
{
	assert_null(record_filter_compile(expression, error));
	if (strstr(error, message) == NULL)
		print_message("# %s: %s\n", expression, error);
	assert_non_null(strstr(error, message));
}

static void
test_fields_of_open_connections(void **state)
{
	(void)state;
	assert_string_equal(record_fields_find_open("rtt_us > 3"), "rtt_us");
	assert_string_equal(record_fields_find_open("client_comm == \"local\" && cr_client_cwnd<3"), "client_cwnd");
	assert_string_equal(record_fields_find_open("client,server_owner"), "server_owner");
	assert_string_equal(record_fields_find_open("-age_us"), "age_us");
	assert_null(record_fields_find_open("cid == 3 && resent > 1 && pid == 1 && comm == \"x\""));
	assert_null(record_fields_find_open("comm == \"a\\\"rtt_us\" && client_srtt_us_x == 1"));
	assert_null(record_fields_find_open("client,server_port,duration_us"));
	assert_null(record_fields_find_open("answer_us,lost_us,waited"));
	assert_null(record_fields_find_open(NULL));
}

static void
test_wrong_expressions(void **state)
{
	char longest[4096];

	(void)state;
	refuses("", "the expression is empty");
	refuses(" \n", "the expression is empty");
	refuses("cr_server_port = 443", "column 16: ");
	refuses("server_prot == 443", "column 1: no field is called server_prot (did you mean ");
	refuses("tcp_sport == 443", "column 1: ");
	refuses("seq == 1", "column 1: ");
	refuses("durations_us > 1s", "did you mean duration_us?");
	refuses("cr_server_port == 443 &&\nfoo == 1", "line 2, column 1: ");
	refuses("443", "column 1: a number alone is not a condition: server_port == 443");
	refuses("server_port == 80 || 443", "column 22: a number alone is not a condition: server_port == 443");
	refuses("0", "column 1: 0 alone is not a condition: compare it with a field");
	refuses("1s", "column 1: 1s alone is not a condition: compare it with a field");
	refuses("cr_server_port == 443, 3 times in 1s", "threshold");
	refuses("server_port == 443 || pcap(\"host a.example\")", "column 23: pcap() tests a frame");
	memset(longest, ' ', sizeof longest - 1);
	longest[0] = '1';
	longest[sizeof longest - 1] = '\0';
	refuses(longest, "longer than");
}

/* What netobsctl once had instead of expressions. */
static void
test_conditions_lead_to_expressions(void **state)
{
	(void)state;
	refuses("state=established", "\"state\" is not an expression: write client_state == \"established\" || "
				     "server_state == \"established\"");
	refuses("state = established", "write client_state == \"established\" || server_state == \"established\"");
	refuses("port 80 state established", "write server_port == 80 || client_port == 80");
	refuses("host 2001:db8::1", "write client == 2001:db8::1 || server == 2001:db8::1");
	refuses("proto=udp", "write protostr == \"UDP\"");
	refuses("cid 12", "write client_cid == 12 || server_cid == 12");
	refuses("where server_port == 80", "write server_port == 80");
	refuses("port", "column 1: no field is called port");
	refuses("port == 80", "column 1: no field is called port");
	refuses("statex 80", "column 1: ");
	assert_true(selects("server_port == 80 || client_port == 40000"));
	assert_true(selects("client == 192.0.2.1 || server == 192.0.2.1"));
	assert_true(selects("protostr == \"TCP\" && client_cid == 12"));
}

/* Fields of open connections, which have no value in a record. */
static void
test_live_fields(void **state)
{
	(void)state;
	assert_true(selects("client_srtt_us == 0 && server_cwnd == 0 && age_us < 1s && local == \"\""));
	assert_true(selects("resent == client_resent + server_resent && cid == client_cid && rtt_us < 5ms"));
	assert_false(selects("client_owner ~ \"p*\" || server_rto > 200ms || server_sack_snxt > 3"));
	refuses("client_srt_us == 0", "did you mean client_srtt_us?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_wrong_names),
	    cmocka_unit_test(test_titles_lead_to_fields),
	    cmocka_unit_test(test_all_fields_are_those_of_every_run),
	    cmocka_unit_test(test_orders),
	    cmocka_unit_test(test_expressions),
	    cmocka_unit_test(test_expressions_with_short_names),
	    cmocka_unit_test(test_fields_of_open_connections),
	    cmocka_unit_test(test_wrong_expressions),
	    cmocka_unit_test(test_conditions_lead_to_expressions),
	    cmocka_unit_test(test_live_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
