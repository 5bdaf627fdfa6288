/* SPDX-License-Identifier: BSD-2-Clause */
/* Debug topics: the parser, the text of a set, and that a disabled message evaluates nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

#define BIT(topic) (UINT32_C(1) << (topic))

static char logged[256];
static unsigned messages;

/* Replaces base/log.c: keeps the message. */
void
log_write(enum log_level level, const char *format, ...)
{
	va_list arguments;

	assert_int_equal(level, LEVEL_DEBUG);
	va_start(arguments, format);
	vsnprintf(logged, sizeof logged, format, arguments);
	va_end(arguments);
	messages++;
}

static uint32_t
parse(uint32_t topics, const char *text)
{
	char why[256];

	assert_true(log_debug_parse(text, &topics, why, sizeof why));
	return topics;
}

static void
test_parser(void **state)
{
	(void)state;
	assert_int_equal(parse(0, "live"), BIT(DEBUG_LIVE));
	assert_int_equal(parse(0, "query,config"), BIT(DEBUG_CONFIG) | BIT(DEBUG_QUERY));
	assert_int_equal(parse(0, "host,host"), BIT(DEBUG_HOST));
	assert_int_equal(parse(BIT(DEBUG_OWNER), "live"), BIT(DEBUG_LIVE) | BIT(DEBUG_OWNER));
	assert_int_equal(parse(0, "all"), DEBUG_ALL_TOPICS);
	assert_int_equal(parse(DEBUG_ALL_TOPICS, "off"), 0);
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++)
		assert_int_equal(parse(0, debug_topics[i].name), BIT(i));
}

static void
test_refused(void **state)
{
	static const char *const bad[] = {"", ",", "live,", ",live", "livex", "liv", "LIVE", "live host", "all,live",
					  "live,off", "live,,host", "7", " live"};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		uint32_t topics = BIT(DEBUG_OWNER);
		char why[256] = "";

		assert_false(log_debug_parse(bad[i], &topics, why, sizeof why));
		assert_int_equal(topics, BIT(DEBUG_OWNER));
		for (unsigned topic = 0; topic < DEBUG_TOPIC_COUNT; topic++)
			assert_non_null(strstr(why, debug_topics[topic].name));
	}
}

static void
test_format(void **state)
{
	char text[DEBUG_TOPICS_TEXT_MAX];

	(void)state;
	for (uint32_t topics = 0; topics <= DEBUG_ALL_TOPICS; topics++) {
		log_debug_format(topics, text, sizeof text);
		assert_int_equal(parse(0, text), topics);
	}
	log_debug_format(BIT(DEBUG_LIVE) | BIT(DEBUG_CONFIG), text, sizeof text);
	assert_string_equal(text, "config,live");
	log_debug_format(0, text, sizeof text);
	assert_string_equal(text, "off");
}

static unsigned evaluated;

static unsigned
evaluate(void)
{
	return ++evaluated;
}

static void
test_messages(void **state)
{
	(void)state;
	log_debug(DEBUG_LIVE, "not evaluated: %u", evaluate());
	assert_int_equal(evaluated, 0);
	log_debug_enable(BIT(DEBUG_LIVE));
	log_debug(DEBUG_HOST, "not evaluated: %u", evaluate());
	assert_int_equal(evaluated, 0);
	assert_int_equal(messages, 0);
	log_debug(DEBUG_LIVE, "message %u", evaluate());
	assert_int_equal(messages, 1);
	assert_string_equal(logged, "debug live: message 1");
	log_debug_enable(0);
	log_debug(DEBUG_LIVE, "not evaluated: %u", evaluate());
	assert_int_equal(messages, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parser),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_format),
	    cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests_name("log_debug", tests, NULL, NULL);
}
