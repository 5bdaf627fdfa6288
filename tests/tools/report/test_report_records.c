/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of a report: names as JSON, texts that are kept once, events of ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probes/netobs.h"
#include "tools/report/report_records.h"

/* Bytes of a name in JSON, without NUL. */
#define NAME_MAX_JSON (REPORT_NAME_SIZE - 1)

static struct report_records records;

static int
setup(void **state)
{
	(void)state;
	records.most = REPORT_RECORDS_MAX;
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	report_records_free(&records);
	memset(&records, 0, sizeof records);
	return 0;
}

/* The name of the record of a connection with this name. */
static const char *
name_of(const char *name)
{
	struct connrec connection = {.cr_client = "192.0.2.1", .cr_server = "192.0.2.2"};
	const struct report_record *record;

	snprintf(connection.cr_name, sizeof connection.cr_name, "%s", name);
	record = report_records_add(&records, &connection);
	assert_non_null(record);
	return record->name;
}

static void
test_name(void **state)
{
	(void)state;
	assert_string_equal(name_of(""), "");
	assert_string_equal(name_of("www.example.com"), "www.example.com");
	assert_string_equal(name_of("a\"b\\c\n\xff"), "a\\\"b\\\\c\\n\\u00ff");
}

/* A name that is cut, wherever its characters and escapes are: JSON and UTF-8 stay complete. */
static void
test_cut_name(void **state)
{
	static const struct {
		const char *end, *kept[8];
	} cases[] = {
	    {"1234", {"1234", "1\xe2\x80\xa6", "\xe2\x80\xa6"}},
	    {"\xc3\xa4\xc3\xa4", {"\xc3\xa4\xc3\xa4", "\xe2\x80\xa6", "\xe2\x80\xa6"}},
	    {"\n\n", {"\\n\\n", "\xe2\x80\xa6", "\xe2\x80\xa6"}},
	    {"\1xx", {"\xe2\x80\xa6", "\xe2\x80\xa6", "\xe2\x80\xa6"}},
	};

	(void)state;
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		for (size_t more = 0; more < 3; more++) {
			char name[256], wanted[256];
			size_t before = NAME_MAX_JSON - 4 + more;

			/* One byte more before it takes one from its end. */
			memset(name, 'n', before);
			snprintf(name + before, sizeof name - before, "%s", cases[c].end);
			memset(wanted, 'n', before);
			snprintf(wanted + before, sizeof wanted - before, "%s", cases[c].kept[more]);
			if (strlen(wanted) > NAME_MAX_JSON)
				snprintf(wanted + NAME_MAX_JSON - 3, 4, "\xe2\x80\xa6");
			assert_string_equal(name_of(name), wanted);
		}
	}
}

static void
test_texts(void **state)
{
	struct report_texts texts = {0};
	const char *first = report_texts_keep(&texts, "192.0.2.1"), *other;
	char text[32];

	(void)state;
	assert_string_equal(first, "192.0.2.1");
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(text, sizeof text, "2001:db8::%x", i);
		other = report_texts_keep(&texts, text);
		assert_string_equal(other, text);
		assert_ptr_equal(other, report_texts_keep(&texts, text));
	}
	assert_ptr_equal(first, report_texts_keep(&texts, "192.0.2.1"));
	assert_int_equal(texts.count, 100001);
	report_texts_free(&texts);
}

/* The first packet of an event at either end; the trouble of another connection does not count. */
static void
test_events(void **state)
{
	struct connrec connection = {.cr_client_cid = 1, .cr_server_cid = 2};
	struct report_record *record = report_records_add(&records, &connection);
	struct report_end_events *client, *server;

	(void)state;
	assert_non_null(record);
	client = &record->ends[REPORT_CLIENT].events;
	server = &record->ends[REPORT_SERVER].events;
	assert_int_equal(report_record_event(record, REPORT_RESENT), 0);
	report_end_add_trouble(client, 1)->packets[REPORT_RESENT] = 7;
	assert_int_equal(report_record_event(record, REPORT_RESENT), 7);
	report_end_add_trouble(server, 2)->packets[REPORT_RESENT] = 5;
	assert_int_equal(report_record_event(record, REPORT_RESENT), 5);
	server->opened_packet = 3;
	assert_int_equal(report_record_event(record, REPORT_OPENED), 3);
	assert_int_equal(report_record_event(record, REPORT_EVENTS), 0);
	report_end_add_trouble(server, 4);
	assert_int_equal(report_record_event(record, REPORT_RESENT), 7);
}

/* What is left out is counted, and is not want of memory. */
static void
test_most(void **state)
{
	struct connrec connection = {.cr_client = "192.0.2.1", .cr_server = "192.0.2.2"};

	(void)state;
	records.most = 2;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(report_records_add(&records, &connection) != NULL, i < 2);
	assert_int_equal(records.count, 2);
	assert_int_equal(records.left_out, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_name, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_cut_name, setup, teardown),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_most, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
