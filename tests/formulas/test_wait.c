/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits of formulas: for DURATION, no PROBE within DURATION. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formulas/wait.h"
#include "probes/manifest.h"
#include "tests/formulas/firing_sample.h"

#define MILLISECOND 1000000u
#define PARTS	    2u

static struct firing_sample sample;
static struct formula *formula;
static struct formula_wait *waits;
static struct formula_waited waited;

static void
begin(const char *definition)
{
	struct formula_error error;

	firing_sample_init(&sample);
	formula = formula_compile(definition, &error);
	assert_non_null(formula);
	assert_true(formula_has_wait(formula));
	assert_false(formula_has_threshold(formula));
	waits = formula_wait_new(formula, PARTS);
	assert_non_null(waits);
}

static void
end(void)
{
	formula_wait_free(waits);
	formula_free(formula);
}

/* Reads a firing after so many ms, in a part. */
static void
read_in(unsigned part, enum probe_id probe, uint64_t ms, uint64_t cid, uint16_t window)
{
	struct firing *firing = firing_sample_fire(&sample, probe);

	sample.cs.cs_cid = cid;
	sample.cs.cs_ts = ms * MILLISECOND;
	sample.tcp.tcp_window = window;
	sample.tcp.tcp_hdr = 1234;
	firing->ts = ms * MILLISECOND;
	formula_wait_read(waits, part, firing);
}

static void
read_at(enum probe_id probe, uint64_t ms, uint64_t cid, uint16_t window)
{
	read_in(0, probe, ms, cid, window);
}

/* The connection id of the wait of part 0 that has ended, 0 if there is none. */
static uint64_t
take_at(uint64_t ms)
{
	const struct csinfo *cs;

	if (!formula_wait_take(waits, 0, ms * MILLISECOND, &waited))
		return 0;
	cs = waited.firing.args[1];
	return cs->cs_cid;
}

static const char held[] = "x = tcp-send where tcp_window == 0 for 200ms by cs_cid";
static const char absent[] = "x = tcp-send where tcp_window == 0, no tcp-receive where tcp_window > 0 within 200ms "
			     "by cs_cid";

static void
a_condition_that_holds_is_reached_once(void **state)
{
	(void)state;
	begin(held);
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	read_at(PROBE_TCP_SEND, 1100, 7, 0);
	assert_int_equal(formula_wait_due(waits, 0), 1200 * MILLISECOND);
	assert_int_equal(take_at(1199), 0);
	assert_int_equal(take_at(1200), 7);
	assert_int_equal(take_at(1200), 0);
	read_at(PROBE_TCP_SEND, 1300, 7, 0); /* still true */
	assert_int_equal(formula_wait_due(waits, 0), WAIT_NEVER);
	assert_int_equal(take_at(9000), 0);
	read_at(PROBE_TCP_SEND, 9000, 7, 1);
	read_at(PROBE_TCP_SEND, 9100, 7, 0); /* again */
	assert_int_equal(take_at(9300), 7);
	end();
}

static void
a_condition_that_is_false_begins_again(void **state)
{
	(void)state;
	begin(held);
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	read_at(PROBE_TCP_SEND, 1050, 8, 1); /* another connection */
	read_at(PROBE_TCP_SEND, 1100, 7, 1);
	read_at(PROBE_TCP_SEND, 1150, 7, 0);
	assert_int_equal(take_at(1349), 0);
	assert_int_equal(take_at(1350), 7);
	end();
}

static void
what_does_not_come_is_reached(void **state)
{
	(void)state;
	begin(absent);
	assert_true(formula_reads_probe(formula, PROBE_TCP_RECEIVE));
	assert_false(formula_has_probe(formula, PROBE_TCP_RECEIVE));
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	read_at(PROBE_TCP_SEND, 1100, 7, 0); /* the first one counts */
	read_at(PROBE_TCP_RECEIVE, 1150, 7, 0); /* the expression is false */
	read_at(PROBE_TCP_RECEIVE, 1150, 8, 1); /* another connection */
	assert_int_equal(take_at(1200), 0);
	assert_int_equal(take_at(1201), 7);
	assert_int_equal(take_at(9999), 0);
	end();
}

static void
what_comes_within_the_duration_ends_the_wait(void **state)
{
	(void)state;
	begin(absent);
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	read_at(PROBE_TCP_SEND, 1000, 8, 0);
	read_at(PROBE_TCP_RECEIVE, 1200, 7, 5); /* the last moment */
	assert_int_equal(take_at(1201), 8);
	assert_int_equal(take_at(1201), 0);
	end();
}

/* A heartbeat both ends a wait and begins the next. */
static void
a_firing_may_be_both(void **state)
{
	(void)state;
	begin("x = tcp-send, no tcp-send within 200ms by cs_cid");
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	read_at(PROBE_TCP_SEND, 1150, 7, 0);
	read_at(PROBE_TCP_SEND, 1300, 7, 0);
	assert_int_equal(take_at(1500), 0);
	assert_int_equal(take_at(1501), 7);
	end();
}

static void
its_firing_is_that_which_began_the_wait(void **state)
{
	const struct tcpinfo *tcp;
	const struct csinfo *cs;
	const struct pktinfo *pkt;

	(void)state;
	begin(absent);
	sample.tcp.tcp_sport = 1111;
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	sample.tcp.tcp_sport = 2222;
	read_at(PROBE_TCP_SEND, 1100, 7, 0);
	assert_int_equal(take_at(5000), 7);
	assert_int_equal(waited.firing.probe, PROBE_TCP_SEND);
	assert_int_equal(waited.firing.ts, 1200 * MILLISECOND);
	assert_null(waited.firing.packet);
	pkt = waited.firing.args[0];
	cs = waited.firing.args[1];
	tcp = waited.firing.args[4];
	assert_int_equal(tcp->tcp_sport, 1111);
	assert_int_equal(tcp->tcp_hdr, 0); /* the packet is gone */
	assert_int_equal(pkt->pkt_ts, sample.pkt.pkt_ts);
	assert_int_equal(cs->cs_ts, 1200 * MILLISECOND);
	saved_firing_set_sequence(&waited.firing, 99);
	assert_int_equal(pkt->pkt_seq, 99);
	assert_int_equal(cs->cs_seq, 99);
	end();
}

static void
an_absent_field_has_no_effect(void **state)
{
	struct firing *firing;

	(void)state;
	begin(held);
	firing = firing_sample_fire(&sample, PROBE_TCP_SEND);
	sample.tcp.tcp_window = 0;
	firing->args[1] = NULL;
	formula_wait_read(waits, 0, firing);
	assert_int_equal(formula_wait_due(waits, 0), WAIT_NEVER);
	end();
}

static void
a_full_table_drops_the_oldest_wait(void **state)
{
	(void)state;
	begin(absent);
	for (unsigned i = 1; i <= WAITS_MAX; i++)
		read_at(PROBE_TCP_SEND, 1000 + i, i, 0);
	assert_int_equal(formula_wait_dropped(waits), 0);
	read_at(PROBE_TCP_SEND, 9000, WAITS_MAX + 1, 0);
	assert_int_equal(formula_wait_dropped(waits), 1);
	assert_int_equal(take_at(9000), 2);
	formula_wait_clear(waits, 0);
	assert_int_equal(take_at(99000), 0);
	end();
}

/* Values that were reached give way before a wait does. */
static void
a_full_table_drops_what_was_reached(void **state)
{
	(void)state;
	begin(held);
	read_at(PROBE_TCP_SEND, 1000, 1, 0);
	assert_int_equal(take_at(2000), 1);
	for (unsigned i = 2; i <= WAITS_MAX + 1; i++)
		read_at(PROBE_TCP_SEND, 3000, i, 0);
	assert_int_equal(formula_wait_dropped(waits), 1);
	assert_int_equal(take_at(4000), 2);
	end();
}

/* A wait belongs to the part that began it; any part ends it. */
static void
parts_share_the_waits(void **state)
{
	(void)state;
	begin(absent);
	read_in(0, PROBE_TCP_SEND, 1000, 7, 0);
	read_in(0, PROBE_TCP_SEND, 1000, 8, 0);
	assert_int_equal(formula_wait_due(waits, 1), WAIT_NEVER);
	read_in(1, PROBE_TCP_RECEIVE, 1100, 7, 1);
	assert_false(formula_wait_take(waits, 1, 5000 * MILLISECOND, &waited));
	assert_int_equal(take_at(5000), 8);
	assert_int_equal(take_at(5000), 0);
	end();
}

static void
firings_without_effect_are_rejected(void **state)
{
	struct firing *firing;

	(void)state;
	begin(absent);
	firing = firing_sample_fire(&sample, PROBE_TCP_RECEIVE);
	sample.tcp.tcp_window = 1;
	assert_true(formula_wait_rejects(waits, firing)); /* nothing waits */
	read_at(PROBE_TCP_SEND, 1000, 7, 0);
	firing = firing_sample_fire(&sample, PROBE_TCP_RECEIVE);
	assert_true(formula_wait_rejects(waits, firing));
	sample.tcp.tcp_window = 1;
	assert_false(formula_wait_rejects(waits, firing));
	firing = firing_sample_fire(&sample, PROBE_TCP_SEND);
	assert_true(formula_wait_rejects(waits, firing));
	sample.tcp.tcp_window = 0;
	assert_false(formula_wait_rejects(waits, firing));
	end();
}

static void
the_arguments_of_each_probe_have_room(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		assert_in_range(saved_firing_size((enum probe_id)i), 1, SAVED_ARGUMENTS_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_that_holds_is_reached_once),
		cmocka_unit_test(a_condition_that_is_false_begins_again),
		cmocka_unit_test(what_does_not_come_is_reached),
		cmocka_unit_test(what_comes_within_the_duration_ends_the_wait),
		cmocka_unit_test(a_firing_may_be_both),
		cmocka_unit_test(its_firing_is_that_which_began_the_wait),
		cmocka_unit_test(an_absent_field_has_no_effect),
		cmocka_unit_test(a_full_table_drops_the_oldest_wait),
		cmocka_unit_test(a_full_table_drops_what_was_reached),
		cmocka_unit_test(parts_share_the_waits),
		cmocka_unit_test(firings_without_effect_are_rejected),
		cmocka_unit_test(the_arguments_of_each_probe_have_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
