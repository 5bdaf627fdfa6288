/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of netobsd as the report reads them: fields in their order, numbers at their limits, text with its escapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/report/report_lines.h"

static struct report_line
begin(const char *text)
{
	struct report_line line;

	report_line_begin(&line, text, strlen(text));
	return line;
}

static void
test_names(void **state)
{
	struct report_line line = begin("{\"probe\":\"tcp-send\",\"cid\":7}");

	(void)state;
	assert_true(report_line_is(&line, "tcp-send\""));
	assert_true(report_line_is(&line, "tcp-"));
	assert_false(report_line_is(&line, "tcp-sen\""));
	assert_false(report_line_is(&line, "tcp-send-more"));
	line = begin("{\"probe\":\"tcp");
	assert_false(report_line_is(&line, "tcp-send"));
	line = begin("");
	assert_false(report_line_is(&line, ""));
}

static void
test_order(void **state)
{
	struct report_line line = begin("{\"a\":1,\"b\":2,\"a\":3,\"text\":\"\\\"c\\\":4\",\"c\":5}");

	(void)state;
	assert_int_equal(report_line_number(&line, "a", -1), 1);
	assert_int_equal(report_line_number(&line, "a", -1), 3);
	assert_int_equal(report_line_number(&line, "b", -1), -1); /* it stands before */
	assert_int_equal(report_line_number(&line, "c", -1), 5);  /* no value is taken for a field */
	assert_int_equal(report_line_number(&line, "c", -2), -2);
}

static void
test_numbers(void **state)
{
	struct report_line line = begin("{\"most\":9223372036854775807,\"more\":9223372036854775808,"
					"\"far\":99999999999999999999999,\"least\":-9223372036854775808,"
					"\"none\":null,\"text\":\"5\",\"last\":-");

	(void)state;
	assert_true(report_line_number(&line, "most", 0) == INT64_MAX);
	assert_true(report_line_number(&line, "more", 0) == INT64_MAX);
	assert_true(report_line_number(&line, "far", 0) == INT64_MAX);
	assert_true(report_line_number(&line, "least", 0) == -INT64_MAX);
	assert_int_equal(report_line_number(&line, "none", 8), 8);
	assert_int_equal(report_line_number(&line, "text", 8), 8);
	assert_int_equal(report_line_number(&line, "last", 8), 8);
}

static void
test_text(void **state)
{
	struct report_line line = begin("{\"a\":\"x\\\"y\\\\\",\"b\":\"12345\",\"c\":7,\"d\":\"z\",\"e\":\"open");
	char text[6];

	(void)state;
	report_line_text(&line, "a", text, sizeof text);
	assert_string_equal(text, "x\xe2\x80\xa6"); /* the escape behind it has no room */
	report_line_text(&line, "b", text, sizeof text);
	assert_string_equal(text, "12345");
	report_line_text(&line, "c", text, sizeof text);
	assert_string_equal(text, "");
	report_line_text(&line, "d", text, sizeof text);
	assert_string_equal(text, "z");
	report_line_text(&line, "e", text, sizeof text);
	assert_string_equal(text, "");
}

/* A text that is cut, for every size of its buffer: JSON and UTF-8 stay complete. */
static void
test_cut_text(void **state)
{
	static const char *const wanted[] = {"",
					     "",
					     "",
					     "",
					     "…",
					     "a…",
					     "a…",
					     "aä…",
					     "aä…",
					     "aä\\n…",
					     "aä\\n…",
					     "aä\\n…",
					     "aä\\n…",
					     "aä\\n…",
					     "aä\\n…",
					     "aä\\n\\u0001…",
					     "aä\\n\\u0001 …"};
	char text[32];

	(void)state;
	for (size_t size = 1; size < sizeof(wanted) / sizeof(wanted[0]); size++) {
		struct report_line line = begin("{\"name\":\"aä\\n\\u0001 and more\"}");

		report_line_text(&line, "name", text, size);
		assert_string_equal(text, wanted[size]);
	}
}

static void
test_formula(void **state)
{
	const uint64_t cids[] = {1, UINT64_MAX};
	char *option = report_line_formula("report-x", 60, "tcp-send where cs_cid", cids, 2, " && tcps_snd_segs <= 5");

	(void)state;
	assert_non_null(option);
	assert_string_equal(option, "--formula=report-x-60 = tcp-send where cs_cid in {1, 18446744073709551615} && "
				    "tcps_snd_segs <= 5");
	free(option);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names), cmocka_unit_test(test_order),	  cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_text), cmocka_unit_test(test_cut_text),  cmocka_unit_test(test_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
