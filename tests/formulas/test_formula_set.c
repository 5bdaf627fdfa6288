/* SPDX-License-Identifier: BSD-2-Clause */
/* The formulas of a run: places, activity, counts and firings, with one thread and several. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formulas/formula_set.h"
#include "probes/fire.h"
#include "probes/print/print.h"
#include "probes/site/semaphores.h"
#include "tests/formulas/firing_sample.h"

#define PARTS 4u

static struct formula_set *set;
static const struct emitter_listener *listener;
static volatile union probe_semaphore slot_semaphores[SLOTS_COUNT];
static struct slots_object slots;
static _Atomic unsigned slot_firings;
static const void *_Atomic slot_argument; /* args[1] of the latest */

static void
slot_fire(const void *a, const void *b, const void *c, const void *d, const void *e, const void *f)
{
	(void)a, (void)c, (void)d, (void)e, (void)f;
	slot_argument = b;
	slot_firings++;
}

static int
set_up(void **state)
{
	(void)state;
	set = formula_set_new(PARTS);
	if (set == NULL)
		return -1;
	for (unsigned i = 0; i < PARTS; i++)
		listener = formula_set_connect(set, i, NULL);
	for (unsigned i = 0; i < SLOTS_COUNT; i++) {
		slot_semaphores[i].enablers = 0;
		slots.slots[i] = (struct slot_site){slot_fire, &slot_semaphores[i]};
	}
	formula_set_set_slots(set, &slots, "formulas.so");
	slot_firings = 0;
	return 0;
}

/* No formula is left that reads a probe. */
static int
tear_down(void **state)
{
	(void)state;
	formula_set_free(set);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (semaphores_enabled(i))
			return -1;
	return 0;
}

/* Adds a formula; returns its number, or the number of formulas with the reason in `error`. */
static char error[200];

static unsigned
add(const char *definition)
{
	struct formula_error mistake;
	struct formula *formula = formula_compile(definition, &mistake);

	assert_non_null(formula);
	if (formula_set_add(set, formula, FORMULA_OF_CONFIG, error, sizeof error))
		return formula_set_count(set) - 1;
	formula_free(formula);
	return formula_set_count(set);
}

static void
poll_parts(void)
{
	for (unsigned i = 0; i < PARTS; i++)
		listener->poll(formula_set_part(set, i));
}

static void
fire(unsigned part, enum probe_id probe, uint16_t port)
{
	struct firing_sample sample;
	struct firing *firing;

	firing_sample_init(&sample);
	sample.tcp.tcp_dport = port;
	firing = firing_sample_fire(&sample, probe);
	if (semaphores_formulas(probe) != 0)
		listener->fire(formula_set_part(set, part), firing);
}

static void
assert_counts(const char *name, uint64_t seen, uint64_t matched)
{
	struct formula_status status = formula_set_status(set, formula_set_find(set, name));

	assert_int_equal(status.seen, seen);
	assert_int_equal(status.matched, matched);
}

/* ------------------------------------------------------------------------------------------------------- the places */

static void
a_name_is_there_once(void **state)
{
	(void)state;
	assert_int_equal(add("a = tcp-send"), 0);
	assert_int_equal(add("b = tcp-send"), 1);
	assert_int_equal(add("a = tcp-receive"), 2);
	assert_string_equal(error, "there is a formula a already");
	assert_int_equal(formula_set_count(set), 2);
	assert_int_equal(formula_set_find(set, "c"), 2);
	assert_false(formula_set_remove(set, "c"));
	assert_true(formula_set_remove(set, "a"));
	assert_int_equal(formula_set_find(set, "b"), 0);
	assert_int_equal(add("a = tcp-receive"), 1);
	assert_string_equal(formula_text(formula_set_status(set, 1).formula), "a = tcp-receive");
}

static void
a_full_set_takes_one_for_each_that_leaves(void **state)
{
	char text[40];

	(void)state;
	for (unsigned i = 0; i < FORMULAS_MAX; i++) {
		snprintf(text, sizeof text, "f%u = tcp-retransmit", i);
		assert_int_equal(add(text), i);
	}
	poll_parts();
	fire(0, PROBE_TCP_RETRANSMIT, 1);
	for (unsigned i = 0; i < 3 * FORMULAS_MAX; i++) {
		snprintf(text, sizeof text, "f%u = tcp-retransmit", FORMULAS_MAX + i);
		assert_int_equal(add(text), FORMULAS_MAX);
		assert_string_equal(error, "there are 64 formulas already, as many as there can be");
		snprintf(text, sizeof text, "f%u", i);
		assert_true(formula_set_remove(set, text));
		snprintf(text, sizeof text, "f%u = tcp-retransmit", FORMULAS_MAX + i);
		assert_int_equal(add(text), FORMULAS_MAX - 1);
		snprintf(text, sizeof text, "f%u", FORMULAS_MAX + i);
		assert_counts(text, 0, 0); /* those of the formula that left the place are not kept */
		assert_false(formula_set_status(set, FORMULAS_MAX - 1).active);
	}
	poll_parts();
	fire(0, PROBE_TCP_RETRANSMIT, 1);
	for (unsigned i = 0; i < FORMULAS_MAX; i++)
		assert_int_equal(formula_set_status(set, i).seen, 1);
}

/* ----------------------------------------------------------------------------------------------------- the activity */

static void
a_counted_formula_enables_its_probes(void **state)
{
	(void)state;
	add("a = tcp-receive, tcp-send where tcp_dport == 80 counted");
	add("b = tcp-receive where tcp_dport == 81 counted");
	add("c = tcp-retransmit");
	assert_int_equal(semaphores_formulas(PROBE_TCP_RECEIVE), 0);
	poll_parts();
	poll_parts();
	assert_int_equal(semaphores_formulas(PROBE_TCP_RECEIVE), PARTS); /* however many formulas read it */
	assert_int_equal(semaphores_formulas(PROBE_TCP_SEND), PARTS);
	assert_int_equal(semaphores_read(PROBE_TCP_SEND), 0);
	assert_true(formula_set_status(set, 2).active);
	formula_set_remove(set, "a");
	assert_int_equal(semaphores_formulas(PROBE_TCP_RECEIVE), PARTS);
	assert_int_equal(semaphores_formulas(PROBE_TCP_SEND), 0);
	formula_set_remove(set, "b");
	assert_int_equal(semaphores_formulas(PROBE_TCP_RECEIVE), 0);
	fire(0, PROBE_TCP_RETRANSMIT, 80);
	assert_counts("c", 1, 1);
}

static void
counts_are_those_of_all_parts(void **state)
{
	(void)state;
	add("a = tcp-receive, tcp-send where tcp_dport == 80 counted");
	add("b = tcp-receive counted");
	poll_parts();
	for (unsigned i = 0; i < PARTS; i++)
		for (unsigned j = 0; j <= i; j++) {
			fire(i, PROBE_TCP_RECEIVE, 80);
			fire(i, PROBE_TCP_SEND, 81);
		}
	assert_counts("a", 20, 10);
	assert_counts("b", 10, 10);
	formula_set_remove(set, "a");
	fire(1, PROBE_TCP_RECEIVE, 80);
	assert_counts("b", 11, 11);
}

static void
rejected_firings_are_counted_apart(void **state)
{
	struct formula_part *part = formula_set_part(set, 2);
	struct firing_sample sample;
	struct firing *firing;

	(void)state;
	add("a = tcp-receive where tcp_dport == 80 counted");
	add("b = tcp-receive where tcp_dport == 81 counted");
	add("c = tcp-send counted");
	poll_parts();
	firing_sample_init(&sample);
	firing = firing_sample_fire(&sample, PROBE_TCP_RECEIVE);
	assert_true(listener->rejects(part, firing));
	sample.tcp.tcp_dport = 81;
	assert_false(listener->rejects(part, firing));
	assert_counts("a", 0, 0);
	listener->count_rejected(part, PROBE_TCP_RECEIVE);
	assert_counts("a", 1, 0);
	assert_counts("b", 1, 0);
	assert_counts("c", 0, 0);
}

/* -------------------------------------------------------------------------------------------------------- the slots */

static void
a_raised_slot_enables_its_formula(void **state)
{
	(void)state;
	add("a = tcp-receive where tcp_dport == 80");
	add("b = tcp-receive where tcp_dport == 80");
	assert_int_equal(formula_set_status(set, 0).slot, FORMULA_NO_SLOT);
	formula_set_set_slot(set, 0, 7, true);
	formula_set_set_slot(set, 1, 8, false);
	assert_true(formula_set_status(set, 0).named);
	assert_false(formula_set_status(set, 1).named);
	poll_parts();
	fire(0, PROBE_TCP_RECEIVE, 80);
	assert_counts("a", 0, 0); /* fires for every packet, so that it is not counted */
	slot_semaphores[7].tracers = 2;
	assert_int_equal(formula_set_tracers(set), 2);
	poll_parts();
	assert_true(formula_set_status(set, 0).traced);
	assert_true(formula_set_status(set, 0).active);
	assert_false(formula_set_status(set, 1).active);
	fire(0, PROBE_TCP_RECEIVE, 80);
	fire(3, PROBE_TCP_RECEIVE, 80);
	fire(3, PROBE_TCP_RECEIVE, 79);
	assert_int_equal(slot_firings, 2);
	assert_non_null(slot_argument);
	assert_counts("a", 3, 2);
	assert_counts("b", 0, 0);
	slot_semaphores[7].tracers = 0;
	poll_parts();
	assert_int_equal(semaphores_formulas(PROBE_TCP_RECEIVE), 0);
	assert_counts("a", 3, 2);
}

static void
a_slot_is_free_when_neither_formula_nor_tracer_has_it(void **state)
{
	(void)state;
	assert_true(formula_set_slot_is_free(set, 7));
	add("a = tcp-retransmit");
	formula_set_set_slot(set, 0, 7, true);
	assert_false(formula_set_slot_is_free(set, 7));
	slot_semaphores[7].tracers = 1;
	poll_parts();
	fire(0, PROBE_TCP_RETRANSMIT, 1);
	assert_int_equal(slot_firings, 1);
	formula_set_remove(set, "a"); /* while it is traced */
	poll_parts();
	fire(0, PROBE_TCP_RETRANSMIT, 1);
	assert_int_equal(slot_firings, 1);
	assert_false(formula_set_slot_is_free(set, 7));
	assert_int_equal(formula_set_tracers(set), 1);
	add("b = tcp-retransmit"); /* in the place of a */
	poll_parts();
	fire(0, PROBE_TCP_RETRANSMIT, 1);
	assert_int_equal(slot_firings, 1);
	slot_semaphores[7].tracers = 0;
	assert_true(formula_set_slot_is_free(set, 7));
}

/* ------------------------------------------------------------------------------------------------------ the printer */

static bool
name_is(void *context, const char *name)
{
	return strcmp(context, name) == 0;
}

static char printed_text[4096];

/* What was printed since the last call. */
static const char *
printed(struct printer *printer, int fd)
{
	ssize_t length;

	printer_flush(printer);
	length = read(fd, printed_text, sizeof printed_text - 1);
	printed_text[length > 0 ? length : 0] = '\0';
	return printed_text;
}

static void
selected_formulas_are_printed(void **state)
{
	static const bool no_probes[PROBE_COUNT];
	FILE *file = tmpfile();
	struct printer *printer;
	int from;

	(void)state;
	assert_non_null(file);
	from = dup(fileno(file));
	printer = printer_new(fileno(file), PRINT_JSON, no_probes);
	assert_non_null(printer);
	formula_set_connect(set, 1, printer);
	add("a-name = tcp-receive where tcp_dport == 80");
	add("b = tcp-receive");
	formula_set_select_printed(set, name_is, "a-name");
	poll_parts();
	assert_true(formula_set_status(set, 0).printed);
	assert_false(formula_set_status(set, 1).printed);
	fire(1, PROBE_TCP_RECEIVE, 81);
	fire(1, PROBE_TCP_RECEIVE, 80);
	fire(0, PROBE_TCP_RECEIVE, 80); /* a part without a printer */
	assert_counts("a-name", 2, 1);
	printer_flush(printer);
	assert_int_equal(lseek(from, 0, SEEK_SET), 0);
	assert_ptr_equal(strstr(printed(printer, from), "{\"probe\":\"a-name\",\"of\":\"tcp-receive\","), printed_text);
	formula_set_remove(set, "a-name"); /* while it is printed */
	fire(1, PROBE_TCP_RECEIVE, 80);
	assert_string_equal(printed(printer, from), "");
	formula_set_connect(set, 1, NULL);
	printer_free(printer);
	close(from);
	fclose(file);
}

/* ------------------------------------------------------------------------------------------------------ writing */

static char matched_text[400];

static void
take_match(void *context, const struct formula_match *match)
{
	size_t used = strlen(matched_text);

	snprintf(matched_text + used, sizeof matched_text - used, "%s:%s%s%s/%llu ", (const char *)context,
		 formula_name(match->formula), match->is_written ? "!" : "",
		 manifest_probes[match->firing->probe].name, (unsigned long long)match->cid);
}

/* The matches since the last call. */
static void
assert_matched(const char *expected)
{
	assert_string_equal(matched_text, expected);
	matched_text[0] = '\0';
}

static void
written_formulas_are_active_in_parts_with_a_handler(void **state)
{
	(void)state;
	matched_text[0] = '\0';
	add("a = tcp-receive where tcp_dport == 80");
	add("b = tcp-receive where tcp_dport == 80");
	add("c = tcp-receive, tcp-retransmit where tcp_dport >= 80 counted");
	formula_set_select_written(set, name_is, "a");
	poll_parts();
	assert_false(formula_set_status(set, 0).written);
	assert_false(formula_set_status(set, 0).active);
	formula_set_set_match_handler(set, 1, take_match, "1");
	formula_set_set_match_handler(set, 2, take_match, "2");
	poll_parts();
	assert_true(formula_set_status(set, 0).written);
	assert_true(formula_set_status(set, 0).active);
	assert_false(formula_set_status(set, 1).written);
	assert_false(formula_set_status(set, 1).active);
	assert_false(formula_set_status(set, 2).written);
	assert_int_equal(formula_set_tracers(set), 0);
	fire(0, PROBE_TCP_RECEIVE, 80); /* a part without a handler */
	assert_matched("");
	assert_counts("a", 0, 0);
	fire(1, PROBE_TCP_RECEIVE, 80);
	fire(2, PROBE_TCP_RECEIVE, 81);
	fire(2, PROBE_TCP_RECEIVE, 79);
	fire(2, PROBE_TCP_RETRANSMIT, 80);
	assert_matched("1:a!tcp-receive/0 1:ctcp-receive/0 2:ctcp-receive/0 2:ctcp-retransmit/0 ");
	assert_counts("a", 3, 1);
	assert_counts("b", 0, 0);
	formula_set_select_written(set, name_is, "b");
	formula_set_set_match_handler(set, 2, NULL, NULL);
	poll_parts();
	fire(1, PROBE_TCP_RECEIVE, 80);
	fire(2, PROBE_TCP_RECEIVE, 80);
	assert_matched("1:b!tcp-receive/0 1:ctcp-receive/0 ");
	formula_set_select_written(set, NULL, NULL);
	poll_parts();
	assert_false(formula_set_status(set, 1).active);
	fire(1, PROBE_TCP_RECEIVE, 80);
	assert_matched("1:ctcp-receive/0 ");
	formula_set_set_match_handler(set, 1, NULL, NULL);
}

static void
a_later_formula_is_written_and_not_numbered(void **state)
{
	(void)state;
	matched_text[0] = '\0';
	formula_set_set_match_handler(set, 0, take_match, "0");
	formula_set_select_written(set, name_is, "later");
	assert_int_equal(add("later = tcp-retransmit, 2 times in 1s uncounted"), 0);
	formula_set_set_slot(set, 0, 7, true);
	formula_set_poll(set);
	for (unsigned i = 0; i < 5; i++)
		fire(0, PROBE_TCP_RETRANSMIT, 80);
	assert_matched("0:later!tcp-retransmit/0 0:later!tcp-retransmit/0 ");
	assert_counts("later", 5, 2);
	assert_true(formula_set_remove(set, "later"));
	fire(0, PROBE_TCP_RETRANSMIT, 80);
	assert_matched("");
	assert_int_equal(add("other = tcp-retransmit uncounted"), 0); /* in the same place */
	formula_set_poll(set);
	assert_false(formula_set_status(set, 0).active);
	formula_set_set_match_handler(set, 0, NULL, NULL);
}

static void
a_written_probe_is_not_listed(void **state)
{
	(void)state;
	matched_text[0] = '\0';
	add("a = tcp-retransmit");
	assert_true(formula_set_write_probe(set, PROBE_TCP_SEND, error, sizeof error));
	assert_true(formula_set_write_probe(set, PROBE_TCP_RETRANSMIT, error, sizeof error));
	assert_true(formula_set_write_probe(set, PROBE_TCP_SEND, error, sizeof error));
	assert_int_equal(add("b = tcp-send counted"), 1);
	assert_int_equal(formula_set_count(set), 2);
	assert_int_equal(formula_set_find(set, "tcp-send"), 2);
	assert_false(formula_set_remove(set, "tcp-send"));
	poll_parts();
	assert_int_equal(semaphores_formulas(PROBE_TCP_SEND), PARTS); /* of b */
	formula_set_set_match_handler(set, 3, take_match, "3");
	formula_set_select_written(set, name_is, "a");
	poll_parts();
	fire(3, PROBE_TCP_SEND, 80);
	fire(3, PROBE_TCP_RETRANSMIT, 80);
	assert_matched("3:tcp-send!tcp-send/0 3:btcp-send/0 3:a!tcp-retransmit/0 3:tcp-retransmit!tcp-retransmit/0 ");
	assert_true(formula_set_remove(set, "b"));
	assert_true(formula_set_remove(set, "a"));
	fire(3, PROBE_TCP_SEND, 80);
	assert_matched("3:tcp-send!tcp-send/0 ");
	for (unsigned i = 2; i < FORMULAS_MAX; i++) {
		char text[40];

		snprintf(text, sizeof text, "f%u = tcp-retransmit", i);
		assert_int_equal(add(text), i - 2);
	}
	assert_int_equal(add("full = tcp-send"), FORMULAS_MAX - 2);
	assert_false(formula_set_write_probe(set, PROBE_TCP_RECEIVE, error, sizeof error));
	assert_string_equal(error, "there are 64 formulas already, as many as there can be");
	formula_set_set_match_handler(set, 3, NULL, NULL);
}

/* ------------------------------------------------------------------------------------------------------ the threads */

#define FIRINGS 20000u

struct emitter_thread {
	pthread_t thread;
	unsigned part;
};

/* Each part in its thread, which also polls, as that of an emitter does. */
static void *
thread_fire(void *context)
{
	const struct emitter_thread *t = context;
	struct formula_part *part = formula_set_part(set, t->part);
	struct firing_sample sample;

	firing_sample_init(&sample);
	for (unsigned i = 0; i < FIRINGS; i++) {
		struct firing *firing = firing_sample_fire(&sample, PROBE_TCP_RETRANSMIT);

		sample.cs.cs_cid = i % 2 == 0 ? 1 : 2 + t->part;
		if (i % 64 == 0)
			listener->poll(part);
		listener->fire(part, firing);
	}
	return NULL;
}

static void
run_threads(void)
{
	struct emitter_thread threads[PARTS];

	for (unsigned i = 0; i < PARTS; i++) {
		threads[i].part = i;
		assert_int_equal(pthread_create(&threads[i].thread, NULL, thread_fire, &threads[i]), 0);
	}
	for (unsigned i = 0; i < PARTS; i++) { /* a tracer comes and goes */
		__atomic_store_n(&slot_semaphores[5].tracers, i % 2 + 1, __ATOMIC_RELAXED);
		pthread_join(threads[i].thread, NULL);
	}
}

static void
a_new_formula_is_active_in_all_parts(void **state)
{
	(void)state;
	add("counted = tcp-retransmit");
	add("not-counted = tcp-retransmit uncounted");
	formula_set_poll(set);
	for (unsigned i = 0; i < PARTS; i++)
		fire(i, PROBE_TCP_RETRANSMIT, 80);
	assert_counts("counted", PARTS, PARTS);
	assert_counts("not-counted", 0, 0);
}

static void
a_threshold_counts_the_firings_of_all_parts(void **state)
{
	(void)state;
	add("all = tcp-retransmit, 7 times in 1s");
	add("each = tcp-retransmit, 10 times in 1s by cs_cid");
	add("shared = tcp-retransmit where cs_cid == 1, 1000 times in 1s by cs_cid");
	add("traced = tcp-retransmit");
	formula_set_set_slot(set, 3, 5, true);
	slot_semaphores[5].tracers = 1;
	poll_parts();
	run_threads();
	assert_counts("all", PARTS * FIRINGS, PARTS * FIRINGS / 7);
	assert_counts("each", PARTS * FIRINGS, PARTS * FIRINGS / 10);
	assert_counts("shared", PARTS * FIRINGS, PARTS * FIRINGS / 2 / 1000);
	assert_int_equal(slot_firings, PARTS * FIRINGS);
}

#define with_set(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		with_set(a_name_is_there_once),
		with_set(a_full_set_takes_one_for_each_that_leaves),
		with_set(a_counted_formula_enables_its_probes),
		with_set(counts_are_those_of_all_parts),
		with_set(rejected_firings_are_counted_apart),
		with_set(a_raised_slot_enables_its_formula),
		with_set(a_slot_is_free_when_neither_formula_nor_tracer_has_it),
		with_set(selected_formulas_are_printed),
		with_set(written_formulas_are_active_in_parts_with_a_handler),
		with_set(a_later_formula_is_written_and_not_numbered),
		with_set(a_written_probe_is_not_listed),
		with_set(a_new_formula_is_active_in_all_parts),
		with_set(a_threshold_counts_the_firings_of_all_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
