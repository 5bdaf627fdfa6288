/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/lib/json_check.h"

static char room[4096];
static struct text_buffer text;
static struct json json;

static int
set_up(void **state)
{
	(void)state;
	text = (struct text_buffer){.bytes = room, .size = sizeof room};
	json = text_json(&text);
	return 0;
}

static void
members_have_commas(void **state)
{
	size_t where;

	(void)state;
	json_begin_object(&json, NULL);
	json_add_string(&json, "a", "text");
	json_begin_object(&json, "empty");
	json_end_object(&json);
	json_begin_array(&json, "list");
	json_add_unsigned(&json, NULL, UINT64_MAX);
	json_add_signed(&json, NULL, INT64_MIN);
	json_begin_array(&json, NULL);
	json_end_array(&json);
	json_begin_object(&json, NULL);
	json_add_bool(&json, "yes", true);
	json_add_bool(&json, "no", false);
	json_end_object(&json);
	json_end_array(&json);
	json_add_null(&json, "none");
	json_add_literal(&json, "number", "15");
	json_end_line(&json);
	json_begin_object(&json, NULL);
	json_end_line(&json);
	assert_string_equal(room, "{\"a\":\"text\",\"empty\":{},\"list\":[18446744073709551615,-9223372036854775808,[],"
				  "{\"yes\":true,\"no\":false}],\"none\":null,\"number\":15}\n{}\n");
	assert_true(json_check(room, strcspn(room, "\n"), &where));
}

static void
arrays_may_have_lines(void **state)
{
	(void)state;
	json_begin_array(&json, NULL);
	for (unsigned i = 0; i < 2; i++) {
		json_break_line(&json);
		json_begin_object(&json, NULL);
		json_end_object(&json);
	}
	json_end_array(&json);
	assert_string_equal(room, "[\n{},\n{}]");
}

/* At every place of a long text, as its pieces end somewhere. */
static void
characters_are_escaped_or_kept(void **state)
{
	static const struct {
		const char *bytes, *written;
	} rows[] = {
	    {"\"", "\\\""},
	    {"\\", "\\\\"},
	    {"\n\t\r\x01\x7f", "\\n\\t\\r\\u0001\\u007f"},
	    {"\xc3\xbc", "\xc3\xbc"},
	    {"\xe2\x82\xac", "\xe2\x82\xac"},
	    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
	    {"\xe2\x80\xae", "\\u202e"},
	    {"\xf3\xa0\x81\x81", "\\udb40\\udc41"},
	    {"\xff\x80", "\\u00ff\\u0080"},
	    {"\xc3", "\\u00c3"},
	};
	char string[256], expected[512];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int before = 0; before < 130; before++) {
			snprintf(string, sizeof string, "%*s%s", before, "", rows[i].bytes);
			snprintf(expected, sizeof expected, "\"%*s%s\"", before, "", rows[i].written);
			set_up(NULL);
			json_add_string(&json, NULL, string);
			assert_string_equal(room, expected);
		}
}

static void
texts_have_a_size(void **state)
{
	char bytes[200];

	(void)state;
	memset(bytes, 'x', sizeof bytes);
	for (size_t size = 0; size <= sizeof bytes; size++) {
		set_up(NULL);
		json_add_text(&json, "t", bytes, size);
		assert_int_equal(text.used, size + strlen("\"t\":\"\""));
	}
	bytes[3] = '\0';
	set_up(NULL);
	json_add_text(&json, NULL, bytes, sizeof bytes);
	assert_string_equal(room, "\"xxx\"");
}

static void
streams_have_the_same_bytes(void **state)
{
	char *written = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&written, &length);
	struct json to_file = json_to_file(file);

	(void)state;
	json_begin_object(&to_file, NULL);
	json_add_string(&to_file, "name", "a\nb");
	json_end_line(&to_file);
	fclose(file);
	assert_string_equal(written, "{\"name\":\"a\\nb\"}\n");
	free(written);
}

static void
nothing_ends_an_element_of_html(void **state)
{
	(void)state;
	set_up(NULL);
	json.in_html = true;
	json_begin_array(&json, NULL);
	json_add_string(&json, NULL, "</script>&amp;\n\"");
	json_add_escaped(&json, NULL, "<\\n>");
	json_add_escaped(&json, NULL, "");
	json_end_array(&json);
	room[text.used] = '\0';
	assert_string_equal(room, "[\"\\u003c/script\\u003e\\u0026amp;\\n\\\"\",\"\\u003c\\n\\u003e\",\"\"]");
}

/* A text without NUL at the end of a page: the next one cannot be read. */
static void
nothing_after_a_text_is_read(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
	memset(pages, 'a', page);
	for (size_t size = 0; size <= 300; size++) {
		text.used = 0;
		json_add_text(&json, NULL, pages + page - size, size);
		json.separate = false;
		assert_int_equal(text.used, size + 2);
	}
	assert_int_equal(munmap(pages, 2 * page), 0);
}

static void
keys_are_prepared(void **state)
{
	char *at = put_json_key(room, '{', "a");

	(void)state;
	at = put_json_name(at, "b");
	at = put_json_key(at, ',', "c");
	at = put_json_string(at, "\"", 1);
	*PUT(at, "}") = '\0';
	assert_string_equal(room, "{\"a\":\"b\",\"c\":\"\\\"\"}");
}

static void
the_position_of_a_constant_is_computed_once(void **state)
{
	unsigned number = 0;
	char *at = PUT(put_u32(room, ++number), "\n");

	(void)state;
	assert_int_equal(number, 1);
	assert_int_equal(at - room, 2);
	assert_memory_equal(room, "1\n", 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(members_have_commas, set_up),
		cmocka_unit_test_setup(arrays_may_have_lines, set_up),
		cmocka_unit_test_setup(characters_are_escaped_or_kept, set_up),
		cmocka_unit_test_setup(texts_have_a_size, set_up),
		cmocka_unit_test_setup(streams_have_the_same_bytes, set_up),
		cmocka_unit_test_setup(nothing_ends_an_element_of_html, set_up),
		cmocka_unit_test_setup(nothing_after_a_text_is_read, set_up),
		cmocka_unit_test_setup(keys_are_prepared, set_up),
		cmocka_unit_test(the_position_of_a_constant_is_computed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
