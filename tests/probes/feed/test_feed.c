/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeds: which probes are enabled, which lines a feed gets, several parts, and the most feeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes/feed/feed.h"
#include "probes/print/print.h"
#include "probes/site/semaphores.h"
#include "tests/probes/probe_args_sample.h"

#define PARTS 3u

static struct probe_args_sample samples;
static struct feed_set *set;
static unsigned wakes;
static char got[1 << 16], wanted[1 << 16];

static void
count_wake(void *context)
{
	(void)context;
	wakes++;
}

static int
set_up(void **state)
{
	(void)state;
	probe_args_sample_fill(&samples);
	wakes = 0;
	set = feed_set_new(PARTS, count_wake, NULL);
	return set != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
	(void)state;
	feed_set_free(set);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		assert_int_equal(semaphores_read(i), 0);
	return 0;
}

static struct feed *
add_feed_of(struct feed_choice choice)
{
	const char *unknown;
	char error[256];
	struct feed *feed;
	size_t length;

	(void)manifest_select_probes(choice.names, choice.probes, &unknown, &length); /* false for formulas */
	choice.of_formulas[PROBE_TCP_SEND] = true;
	feed = feed_new(set, &choice, error, sizeof error);
	assert_non_null(feed);
	assert_true(feed_set_add(set, feed));
	return feed;
}

static struct feed *
add_feed(const char *names, const char *fields)
{
	return add_feed_of((struct feed_choice){.names = names, .fields = fields});
}

static void
remove_feed(struct feed *feed)
{
	feed_set_remove(set, feed);
	feed_free(feed);
}

static const char *
take(struct feed *feed)
{
	const char *bytes;
	size_t length, used = 0;

	while ((length = feed_peek(feed, &bytes)) > 0) {
		assert_true(used + length < sizeof got);
		memcpy(got + used, bytes, length);
		used += length;
		feed_remove(feed, length);
	}
	got[used] = '\0';
	assert_int_equal(feed_waiting(feed), 0);
	return got;
}

static void
fire(unsigned part, enum probe_id id)
{
	const void *args[6];

	probe_args_sample_args(&samples, id, args);
	feed_add_firing(feed_set_part(set, part), id, args);
}

/* The line of netobsd --print --format json. */
static const char *
whole_line_as(enum print_format format, enum probe_id id)
{
	struct printer *printer = printer_new_formatter();
	const void *args[6];

	assert_non_null(printer);
	probe_args_sample_args(&samples, id, args);
	*printer_format_line(printer, format, NULL, id, args, wanted) = '\0';
	printer_free(printer);
	return wanted;
}

static const char *
whole_line(enum probe_id id)
{
	return whole_line_as(PRINT_JSON, id);
}

/* Text is the only member of an object. */
static void
test_text(void **state)
{
	struct feed *whole = add_feed_of((struct feed_choice){.names = "tcp-send", .text = true});
	struct feed *chosen =
	    add_feed_of((struct feed_choice){.names = "tcp-send", .fields = "probe,tcp_sport", .text = true});
	const char *text = whole_line_as(PRINT_TEXT, PROBE_TCP_SEND);
	char line[PRINT_LINE_MAX * 2];

	(void)state;
	assert_null(strpbrk(text, "\"\\"));
	snprintf(line, sizeof line, "{\"text\":\"%.*s\"}\n", (int)strlen(text) - 1, text);
	fire(0, PROBE_TCP_SEND);
	assert_string_equal(take(whole), line);
	snprintf(line, sizeof line, "{\"text\":\"tcp-send\\t");
	assert_memory_equal(take(chosen), line, strlen(line));
	remove_feed(whole);
	remove_feed(chosen);
}

static void
test_enabled(void **state)
{
	struct feed *first = add_feed("tcp-send", NULL), *second = add_feed("tcp-send,udp-send", NULL);
	struct feed_part *part = feed_set_part(set, 0);

	(void)state;
	assert_int_equal(semaphores_read(PROBE_TCP_SEND), 2);
	assert_int_equal(semaphores_read(PROBE_UDP_SEND), 1);
	assert_true(feed_wants(part, PROBE_UDP_SEND));
	assert_false(feed_wants(part, PROBE_UDP_RECEIVE));
	remove_feed(second);
	assert_int_equal(semaphores_read(PROBE_TCP_SEND), 1);
	assert_int_equal(semaphores_read(PROBE_UDP_SEND), 0);
	assert_false(feed_wants(part, PROBE_UDP_SEND));
	assert_true(feed_wants(part, PROBE_TCP_SEND));
	remove_feed(first);
	assert_int_equal(feed_set_counters(set).feeds, 0);
}

static void
test_lines(void **state)
{
	struct feed *whole = add_feed("tcp-send", NULL), *chosen = add_feed("tcp-*", "probe,cs_cid");

	(void)state;
	feed_part_flush(feed_set_part(set, 0));
	assert_int_equal(wakes, 0);
	samples.csinfo.cs_cid = 5;
	fire(0, PROBE_TCP_SEND);
	fire(0, PROBE_TCP_RECEIVE);
	fire(0, PROBE_UDP_SEND);
	assert_string_equal(take(whole), whole_line(PROBE_TCP_SEND));
	assert_string_equal(take(chosen),
			    "{\"probe\":\"tcp-send\",\"cs_cid\":5}\n{\"probe\":\"tcp-receive\",\"cs_cid\":5}\n");
	feed_part_flush(feed_set_part(set, 0));
	feed_part_flush(feed_set_part(set, 0));
	feed_part_flush(feed_set_part(set, 1));
	assert_int_equal(wakes, 1);
	remove_feed(chosen);
	fire(0, PROBE_TCP_SEND);
	take(whole);
	remove_feed(whole);
	assert_int_equal(feed_set_counters(set).lines, 4);
	assert_int_equal(feed_set_counters(set).dropped, 0);
}

static void
test_formulas(void **state)
{
	struct feed *named = add_feed("slow,fast", "probe,of"), *other = add_feed("sl*", "of,probe"),
		    *none = add_feed("udp-send", NULL);
	struct feed_mask slow = feed_set_select_formula(set, "slow"), neither = feed_set_select_formula(set, "slower");
	const void *args[6];

	(void)state;
	assert_false(feed_mask_is_empty(&slow));
	assert_false(feed_mask_is_empty(&neither)); /* sl* */
	neither = feed_set_select_formula(set, "new");
	assert_true(feed_mask_is_empty(&neither));
	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	feed_add_formula(feed_set_part(set, 1), &slow, "slow", PROBE_TCP_SEND, args);
	assert_string_equal(take(named), "{\"probe\":\"slow\",\"of\":\"tcp-send\"}\n");
	assert_string_equal(take(other), "{\"of\":\"tcp-send\",\"probe\":\"slow\"}\n");
	assert_string_equal(take(none), "");
	assert_int_equal(semaphores_read(PROBE_TCP_SEND), 0); /* formulas enable their probes themselves */
	remove_feed(named);
	remove_feed(other);
	remove_feed(none);
}

/* A line that is removed in pieces is not torn by lines of another part. */
static void
test_parts(void **state)
{
	struct feed *feed = add_feed("tcp-send,udp-send,icmp-send", "probe");
	const char *bytes;
	size_t used = 0;

	(void)state;
	fire(0, PROBE_TCP_SEND);
	fire(1, PROBE_UDP_SEND);
	while (feed_peek(feed, &bytes) > 0) {
		got[used++] = *bytes;
		feed_remove(feed, 1);
		if (used == 4) {
			fire(2, PROBE_ICMP_SEND);
			fire(0, PROBE_ICMP_SEND);
		}
	}
	got[used] = '\0';
	for (char *rest = got, *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';)
		if (strcmp(line, "{\"probe\":\"tcp-send\"}") != 0 && strcmp(line, "{\"probe\":\"udp-send\"}") != 0)
			assert_string_equal(line, "{\"probe\":\"icmp-send\"}");
	assert_int_equal(used, 2 * strlen("{\"probe\":\"tcp-send\"}\n") + 2 * strlen("{\"probe\":\"icmp-send\"}\n"));
	remove_feed(feed);
}

/* A feed that is not read loses lines, and no other one does. */
static void
test_stopped(void **state)
{
	struct feed *stopped = add_feed("tcp-send", NULL), *read = add_feed("tcp-send", "probe");
	uint64_t fired = 0, lines = 0, lost = 0;
	char *line = got;

	(void)state;
	do {
		fire(0, PROBE_TCP_SEND);
		fired++;
		take(read);
		assert_string_equal(got, "{\"probe\":\"tcp-send\"}\n");
	} while (feed_set_counters(set).dropped < 100);
	for (;;) {
		const char *bytes;
		size_t length = feed_peek(stopped, &bytes);

		if (length == 0)
			break;
		for (size_t i = 0; i < length; i++)
			lines += bytes[i] == '\n';
		feed_remove(stopped, length);
	}
	feed_part_flush(feed_set_part(set, 0)); /* nothing fires any more */
	take(stopped);
	assert_int_equal(strncmp(line, "{\"lost\":", 8), 0);
	lost = strtoull(line + 8, NULL, 10);
	assert_int_equal(lost, 100);
	assert_int_equal(lines + lost, fired);
	assert_int_equal(feed_set_counters(set).lines, 2 * fired);
	remove_feed(stopped);
	remove_feed(read);
	assert_int_equal(feed_set_counters(set).lines, 2 * fired);
	assert_int_equal(feed_set_counters(set).dropped, 100);
}

static void
test_most(void **state)
{
	const struct feed_choice choice = {.names = "tcp-send"};
	struct feed *feeds[FEEDS_MAX], *further;
	char error[256];

	(void)state;
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		feeds[i] = add_feed("tcp-send", "probe");
	assert_int_equal(feed_set_counters(set).feeds, FEEDS_MAX);
	further = feed_new(set, &choice, error, sizeof error);
	assert_non_null(further);
	assert_false(feed_set_add(set, further));
	fire(PARTS - 1, PROBE_TCP_SEND);
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		assert_string_equal(take(feeds[i]), "{\"probe\":\"tcp-send\"}\n");
	remove_feed(feeds[70]);
	assert_true(feed_set_add(set, further));
	feeds[70] = further;
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		remove_feed(feeds[i]);
}

/* The bytes that wait in all feeds, after each has lost lines. */
static size_t
fill_feeds(struct feed *const feeds[FEEDS_MAX], const void *const args[6])
{
	size_t waiting = 0;
	uint64_t before;

	do {
		before = feed_set_counters(set).dropped;
		for (unsigned part = 0; part < PARTS; part++)
			feed_add_firing(feed_set_part(set, part), PROBE_TCP_SEND, args);
	} while (feed_set_counters(set).dropped - before < (uint64_t)PARTS * FEEDS_MAX);
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		waiting += feed_waiting(feeds[i]);
	return waiting;
}

/* Readers that have all stopped, with whole lines: the first ones have long queues, and together they have a bound. */
static void
test_memory(void **state)
{
	struct feed *feeds[FEEDS_MAX];
	const void *args[6];
	size_t waiting;

	(void)state;
	probe_args_sample_args(&samples, PROBE_TCP_SEND, args);
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		feeds[i] = add_feed("tcp-send", NULL);
	waiting = fill_feeds(feeds, args);
	assert_in_range(waiting, (size_t)32 * 1024 * 1024, (size_t)64 * 1024 * 1024);
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		assert_in_range(feed_waiting(feeds[i]), i < 8 ? 2000000 : 128000, i < 8 ? 4194304 : 262144);
	remove_feed(feeds[3]); /* makes room for another long queue */
	feeds[3] = add_feed("tcp-send", NULL);
	assert_in_range(fill_feeds(feeds, args), waiting - 65536, waiting + 65536);
	assert_in_range(feed_waiting(feeds[3]), 2000000, 4194304);
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		remove_feed(feeds[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_text, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_enabled, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_formulas, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_most, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
