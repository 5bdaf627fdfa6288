/* SPDX-License-Identifier: BSD-2-Clause */
/* Timers: exact and in order, even if time stamps leap. */
#include "tests/flow/table/flow_table_fixture.h"

#define NOW (1700000000 * SECOND_NS)
#define MINUTE_NS (60 * SECOND_NS)
#define DAY_NS (86400 * SECOND_NS)
#define TICK_NS (1ull << WHEEL_TICK_BITS)
#define LAP_NS (TICK_NS << WHEEL_BUCKET_BITS)

static struct flow *
timed_flow(struct flow_table *table, uint32_t n, uint64_t now, uint64_t deadline)
{
	return fixture_flow_create(table, n, EVICT_CLASS_ESTABLISHED, now, deadline);
}

static void
assert_fired(size_t n, uint64_t serial, uint64_t time)
{
	assert_true(deadline_calls.count > n);
	assert_int_equal(deadline_calls.record[n].serial, serial);
	assert_int_equal(deadline_calls.record[n].time, time);
}

static void
test_to_the_nanosecond(void **state)
{
	static const uint64_t spans[] = {1, 1000, TICK_NS - 1, TICK_NS, TICK_NS + 1, SECOND_NS, MINUTE_NS,
					 LAP_NS - TICK_NS, LAP_NS - 1, LAP_NS, LAP_NS + 1, 4096 * TICK_NS,
					 4097 * TICK_NS, 3600 * SECOND_NS, 5 * DAY_NS, 12 * DAY_NS, 13 * DAY_NS,
					 14 * DAY_NS, 400 * DAY_NS};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof spans / sizeof spans[0]; i++) {
		struct flow_table *table = fixture_table_new(1);

		timed_flow(table, 1, NOW, NOW + spans[i]);
		flow_table_run_timers(table, NOW);
		flow_table_run_timers(table, NOW + spans[i] / 2);
		flow_table_run_timers(table, NOW + spans[i] - 1);
		assert_int_equal(deadline_calls.count, 0);
		flow_table_run_timers(table, NOW + spans[i]);
		assert_int_equal(deadline_calls.count, 1);
		assert_fired(0, 1, NOW + spans[i]);
		assert_int_equal(flow_table_counters(table)->flows, 0);
		assert_int_equal(flow_table_counters(table)->expired, 1);
		assert_int_equal(event_calls.count, 1);
		assert_int_equal(event_calls.record[0].time, NOW + spans[i]);
		flow_table_free(table);
	}
}

/* A gap in the capture: each timer expires at its own time and in its own order, as without the gap. */
static void
test_order_across_a_gap_of_years(void **state)
{
	struct flow_table *table = fixture_table_new(10000);
	uint64_t before = 0;
	size_t i;
	uint32_t n;

	(void)state;
	random_state = 0x676170;
	for (n = 0; n < 10000; n++)
		timed_flow(table, n, NOW, NOW + TICK_NS + (fixture_random_u64() >> (12 + fixture_random_below(30))));
	flow_table_run_timers(table, NOW + 100000 * DAY_NS);
	assert_int_equal(deadline_calls.count, 10000);
	for (i = 0; i < deadline_calls.count; i++) {
		assert_true(deadline_calls.record[i].time >= before);
		before = deadline_calls.record[i].time;
	}
	flow_table_free(table);
}

static void
test_equal_deadlines_run_in_order_of_entry(void **state)
{
	struct flow_table *table = fixture_table_new(1000);
	uint32_t n;

	(void)state;
	for (n = 0; n < 1000; n++)
		timed_flow(table, n, NOW, NOW + (n % 2 == 0 ? MINUTE_NS : MINUTE_NS + 1));
	flow_table_run_timers(table, NOW + 2 * MINUTE_NS);
	for (n = 0; n < 500; n++) {
		assert_fired(n, 2 * n + 1, NOW + MINUTE_NS);
		assert_fired(n + 500, 2 * n + 2, NOW + MINUTE_NS + 1);
	}
	flow_table_free(table);
}

/* More deadlines within the present tick than the due list sorts in: no deadline is early, or later than the next tick.
 * */
static void
test_many_deadlines_within_the_present_tick(void **state)
{
	struct flow_table *table = fixture_table_new(10000);
	uint64_t begin = NOW / TICK_NS * TICK_NS;
	size_t i;
	uint32_t n;

	(void)state;
	random_state = 0x63726f7764;
	for (n = 0; n < 10000; n++)
		timed_flow(table, n, begin, begin + fixture_random_u64() % TICK_NS);
	flow_table_run_timers(table, begin + TICK_NS / 2);
	for (i = 0; i < deadline_calls.count; i++)
		assert_true(deadline_calls.record[i].time <= begin + TICK_NS / 2);
	flow_table_run_timers(table, begin + TICK_NS);
	assert_int_equal(deadline_calls.count, 10000);
	flow_table_free(table);
}

static uint64_t
once_more_a_minute_later(uint64_t serial, uint64_t now)
{
	(void)serial;
	return now < NOW + 10 * MINUTE_NS ? now + MINUTE_NS : 0;
}

/* Idle timeouts: checked, postponed, checked again; each time as of the deadline, also when all are due at once. */
static void
test_postponed_by_the_callback(void **state)
{
	struct flow_table *table = fixture_table_new(2);
	unsigned i;

	(void)state;
	deadline_result = once_more_a_minute_later;
	timed_flow(table, 1, NOW, NOW + MINUTE_NS);
	timed_flow(table, 2, NOW, NOW + MINUTE_NS + MINUTE_NS / 2);
	flow_table_run_timers(table, NOW + DAY_NS);
	assert_int_equal(deadline_calls.count, 20);
	for (i = 0; i < 10; i++) {
		assert_fired(2 * i, 1, NOW + (i + 1) * MINUTE_NS);
		assert_fired(2 * i + 1, 2, NOW + (i + 1) * MINUTE_NS + MINUTE_NS / 2);
	}
	assert_int_equal(flow_table_counters(table)->expired, 2);
	flow_table_free(table);
}

static uint64_t
never_later(uint64_t serial, uint64_t now)
{
	(void)serial;
	return now < NOW + 2 * MINUTE_NS ? now : 0;
}

static void
test_a_callback_that_does_not_postpone_does_not_stop_the_clock(void **state)
{
	struct flow_table *table = fixture_table_new(1);

	(void)state;
	deadline_result = never_later;
	timed_flow(table, 1, NOW, NOW + MINUTE_NS);
	flow_table_run_timers(table, NOW + DAY_NS);
	assert_int_equal(flow_table_counters(table)->flows, 0);
	flow_table_free(table);
}

static void
test_deadline_moved_forward_and_back(void **state)
{
	struct flow_table *table = fixture_table_new(4);

	(void)state;
	flow_set_deadline(table, timed_flow(table, 1, NOW, NOW + MINUTE_NS), NOW + 3 * MINUTE_NS);
	flow_set_deadline(table, timed_flow(table, 2, NOW, NOW + 5 * MINUTE_NS), NOW + 2 * MINUTE_NS);
	flow_set_deadline(table, timed_flow(table, 3, NOW, NOW + 100), NOW + 10);
	flow_set_deadline(table, timed_flow(table, 4, NOW, NOW + 50), NOW + DAY_NS);
	flow_table_run_timers(table, NOW + 9);
	assert_int_equal(deadline_calls.count, 0);
	flow_table_run_timers(table, NOW + 10);
	assert_fired(0, 3, NOW + 10);
	flow_table_run_timers(table, NOW + 3 * MINUTE_NS - 1);
	assert_int_equal(deadline_calls.count, 2);
	assert_fired(1, 2, NOW + 2 * MINUTE_NS);
	flow_table_run_timers(table, NOW + 2 * DAY_NS);
	assert_int_equal(deadline_calls.count, 4);
	assert_fired(2, 1, NOW + 3 * MINUTE_NS);
	assert_fired(3, 4, NOW + DAY_NS);
	flow_table_free(table);
}

/* --- lookup of a flow whose deadline has passed --- */

static struct flow *
find_live(struct flow_table *table, uint32_t n, uint64_t now)
{
	struct flow_key key = fixture_key(n, 6);

	return flow_table_lookup_live(table, &key, flow_key_hash(table, &key), now);
}

static void
test_lookup_of_an_overdue_flow(void **state)
{
	struct flow_table *table = fixture_table_new(4);

	(void)state;
	timed_flow(table, 1, NOW, NOW + MINUTE_NS);
	timed_flow(table, 2, NOW, NOW + MINUTE_NS / 2);
	timed_flow(table, 3, NOW, NOW + 2 * MINUTE_NS);
	assert_non_null(find_live(table, 1, NOW + MINUTE_NS - 1));
	assert_int_equal(deadline_calls.count, 0); /* number 2 is due, but was not looked up */
	assert_null(find_live(table, 1, NOW + MINUTE_NS));
	/* The other one was due before, so it was reported before. */
	assert_int_equal(deadline_calls.count, 2);
	assert_fired(0, 2, NOW + MINUTE_NS / 2);
	assert_fired(1, 1, NOW + MINUTE_NS);
	assert_int_equal(event_calls.count, 2);
	assert_null(find_live(table, 9, NOW + DAY_NS));
	assert_int_equal(flow_table_counters(table)->flows, 1);
	flow_table_free(table);
}

static void
test_lookup_of_a_flow_that_lives_on(void **state)
{
	struct flow_table *table = fixture_table_new(1);
	struct flow *flow = timed_flow(table, 1, NOW, NOW + MINUTE_NS);

	(void)state;
	deadline_result = once_more_a_minute_later;
	assert_ptr_equal(find_live(table, 1, NOW + 3 * MINUTE_NS + 1), flow);
	assert_int_equal(deadline_calls.count, 3);
	assert_int_equal(flow->deadline, NOW + 4 * MINUTE_NS);
	assert_int_equal(event_calls.count, 0);
	flow_table_free(table);
}

/* --- clocks that misbehave --- */

static void
test_frames_a_little_out_of_order(void **state)
{
	struct flow_table *table = fixture_table_new(3);

	(void)state;
	timed_flow(table, 1, NOW, NOW + MINUTE_NS);
	flow_table_run_timers(table, NOW + MINUTE_NS);
	assert_int_equal(deadline_calls.count, 1);
	/* A frame from half a second before; its flow's time has passed at the latest frame's stamp, not at its own. */
	timed_flow(table, 2, NOW + MINUTE_NS - SECOND_NS / 2, NOW + MINUTE_NS - SECOND_NS / 4);
	flow_table_run_timers(table, NOW + MINUTE_NS - SECOND_NS / 2);
	assert_int_equal(deadline_calls.count, 1);
	flow_table_run_timers(table, NOW + MINUTE_NS - SECOND_NS / 4);
	assert_fired(1, 2, NOW + MINUTE_NS - SECOND_NS / 4);
	flow_table_free(table);
}

/* The clock is set back by a day: after a while the timers go by the new time. */
static void
test_clock_set_back(void **state)
{
	struct flow_table *table = fixture_table_new(100);
	uint64_t past = NOW - DAY_NS;
	uint32_t i;

	(void)state;
	timed_flow(table, 1, NOW, NOW + MINUTE_NS);
	timed_flow(table, 2, NOW, NOW + 2);
	flow_table_run_timers(table, NOW + 1);
	timed_flow(table, 3, past, past + MINUTE_NS);
	timed_flow(table, 4, past, past + 5 * MINUTE_NS);
	for (i = 0; i < 100; i++)
		flow_table_run_timers(table, past + i);
	assert_int_equal(deadline_calls.count, 0);
	timed_flow(table, 5, past, past + 2 * MINUTE_NS);
	flow_table_run_timers(table, past + MINUTE_NS);
	assert_int_equal(deadline_calls.count, 1);
	assert_fired(0, 3, past + MINUTE_NS);
	flow_table_run_timers(table, past + 5 * MINUTE_NS - 1);
	assert_int_equal(deadline_calls.count, 2);
	assert_fired(1, 5, past + 2 * MINUTE_NS);
	flow_table_run_timers(table, NOW + 1);
	assert_int_equal(deadline_calls.count, 3);
	assert_fired(2, 4, past + 5 * MINUTE_NS);
	flow_table_run_timers(table, NOW + DAY_NS);
	assert_int_equal(deadline_calls.count, 5);
	assert_fired(3, 2, NOW + 2);
	assert_fired(4, 1, NOW + MINUTE_NS);
	flow_table_free(table);
}

/* One frame with a stamp of the year 2106 in a capture of our days. */
static void
test_one_stamp_from_the_future(void **state)
{
	struct flow_table *table = fixture_table_new(1000);
	uint64_t future = 4294967295 * SECOND_NS, now = NOW;
	uint32_t n;

	(void)state;
	flow_table_run_timers(table, NOW);
	flow_table_run_timers(table, future);
	timed_flow(table, 0, future, future + MINUTE_NS);
	for (n = 1; n <= 500; n++) {
		now = NOW + n * SECOND_NS;
		flow_table_run_timers(table, now);
		timed_flow(table, n, now, now + MINUTE_NS);
	}
	/* Flows from before the wheel turned back have expired by now as well. */
	assert_int_equal(deadline_calls.count, 500 - 60);
	assert_int_equal(flow_table_counters(table)->flows, 60 + 1);
	flow_table_run_timers(table, future + MINUTE_NS);
	assert_int_equal(deadline_calls.count, 501);
	assert_fired(500, 1, future + MINUTE_NS);
	flow_table_free(table);
}

/* Time stamps that leap back and forth cost a few checks per frame, not one per flow: the wheel turns back no oftener
 * than once in as many frames as a sixteenth of the flows. */
static void
test_leaping_stamps_are_cheap(void **state)
{
	struct flow_table *table = fixture_table_new(50000);
	uint64_t tick = NOW / TICK_NS;
	uint32_t n, turns = 0;

	(void)state;
	for (n = 0; n < 50000; n++)
		timed_flow(table, n, NOW, NOW + 5 * DAY_NS + n);
	for (n = 0; n < 1000000; n++) {
		flow_table_run_timers(table, n % 2 == 0 ? NOW : NOW - 13 * DAY_NS);
		turns += wheel_time(table) / TICK_NS < tick;
		tick = wheel_time(table) / TICK_NS;
	}
	assert_in_range(turns, 1, 1000000 / (50000 / 16));
	assert_int_equal(deadline_calls.count, 0);
	flow_table_run_timers(table, NOW + 6 * DAY_NS);
	assert_int_equal(deadline_calls.count, 50000);
	flow_table_free(table);
}

static uint64_t
always_later(uint64_t serial, uint64_t now)
{
	(void)serial;
	return deadline_add(now, MINUTE_NS);
}

static void
test_the_ends_of_time(void **state)
{
	struct flow_table *table = fixture_table_new(4);

	(void)state;
	assert_int_equal(deadline_add(UINT64_MAX - 5, 5), UINT64_MAX);
	assert_int_equal(deadline_add(UINT64_MAX, UINT64_MAX), UINT64_MAX);
	assert_int_equal(deadline_add(1, 2), 3);
	flow_table_run_timers(table, 0);
	flow_table_run_timers(table, UINT64_MAX);
	timed_flow(table, 1, 0, 0);
	timed_flow(table, 2, 0, UINT64_MAX - 1);
	timed_flow(table, 3, UINT64_MAX, UINT64_MAX);
	flow_table_run_timers(table, 0);
	assert_int_equal(deadline_calls.count, 1);
	flow_table_run_timers(table, UINT64_MAX);
	flow_table_run_timers(table, UINT64_MAX);
	assert_int_equal(deadline_calls.count, 2);
	assert_fired(1, 2, UINT64_MAX - 1);
	deadline_result = always_later;
	assert_non_null(find_live(table, 3, UINT64_MAX)); /* the end of time never comes */
	timed_flow(table, 4, UINT64_MAX, UINT64_MAX - 2);
	assert_non_null(find_live(table, 4, UINT64_MAX));
	flow_table_free(table);
}

/* --- against a naive list --- */

#define MODEL_FLOWS 500

struct model {
	uint64_t deadline[MODEL_FLOWS]; /* 0: not there */
	uint64_t serial[MODEL_FLOWS];
	struct table_calls fired;
};

/* Deadlines end with the serial, so that no two are equal. */
static uint64_t
own_deadline(uint64_t serial, uint64_t time)
{
	return ((time + 0x10000) & ~0xffffull) | (serial & 0xffff);
}

static uint64_t
sometimes_later(uint64_t serial, uint64_t now)
{
	uint64_t mixed = (now ^ serial) * 0x9e3779b97f4a7c15ull;

	return mixed >> 63 == 0 ? 0 : own_deadline(serial, now + (mixed >> 12 >> (mixed % 32)));
}

static void
model_run(struct model *model, uint64_t now)
{
	for (;;) {
		uint32_t n, first = 0;

		for (n = 1; n < MODEL_FLOWS; n++)
			if (model->deadline[n] != 0 &&
			    (model->deadline[first] == 0 || model->deadline[n] < model->deadline[first]))
				first = n;
		if (model->deadline[first] == 0 || model->deadline[first] > now)
			return;
		fixture_record_call(&model->fired,
		     (struct table_call){.serial = model->serial[first], .time = model->deadline[first]});
		model->deadline[first] = sometimes_later(model->serial[first], model->deadline[first]);
	}
}

static uint64_t
random_span(void)
{
	return fixture_random_u64() >> (13 + fixture_random_below(35));
}

static void
model_step(struct flow_table *table, struct model *model, uint64_t now)
{
	uint32_t n = fixture_random_below(MODEL_FLOWS);
	struct flow *flow;
	uint64_t deadline;

	if (model->deadline[n] != 0 && model->deadline[n] <= now)
		model_run(model, now);
	flow = find_live(table, n, now);
	assert_int_equal(flow != NULL, model->deadline[n] != 0);
	if (flow == NULL) {
		model->serial[n] = flow_table_counters(table)->created + 1;
		model->deadline[n] = own_deadline(model->serial[n], now + random_span());
		timed_flow(table, n, now, model->deadline[n]);
		return;
	}
	assert_int_equal(flow->deadline, model->deadline[n]);
	switch (fixture_random_below(4)) {
	case 0:
		model->deadline[n] = 0;
		flow_table_remove_flow(table, flow);
		break;
	case 1:
		deadline = own_deadline(model->serial[n], now + random_span());
		model->deadline[n] = deadline;
		flow_set_deadline(table, flow, deadline);
		break;
	default:
		break;
	}
}

static void
test_model(void **state)
{
	static struct model model;
	struct flow_table *table = fixture_table_new(MODEL_FLOWS);
	uint64_t now = NOW;
	uint32_t step;
	size_t i;

	(void)state;
	memset(&model, 0, sizeof model);
	deadline_result = sometimes_later;
	random_state = 0x74696d657273;
	for (step = 0; step < 60000; step++) {
		uint32_t dice = fixture_random_below(1000);

		now += dice < 5 ? random_span() : dice < 900 ? random_span() >> 16 : 0;
		if (dice == 999)
			now -= fixture_random_u64() % SECOND_NS; /* a frame out of order */
		model_step(table, &model, now);
		if (dice % 8 == 0) {
			model_run(&model, now);
			flow_table_run_timers(table, now);
		}
	}
	assert_true(deadline_calls.count > 10000);
	assert_int_equal(deadline_calls.count, model.fired.count);
	for (i = 0; i < deadline_calls.count; i++)
		assert_fired(i, model.fired.record[i].serial, model.fired.record[i].time);
	flow_table_free(table);
}

/* The number of time steps makes no difference. */
static void
test_results_do_not_depend_on_the_calls(void **state)
{
	static struct table_calls often;
	unsigned stride;
	uint32_t i;
	size_t n;

	(void)state;
	for (stride = 1; stride <= 1000; stride *= 10) {
		struct flow_table *table = fixture_table_new(400);

		deadline_result = sometimes_later;
		random_state = 0x63616c6c73;
		for (i = 0; i < 400; i++)
			timed_flow(table, i, NOW, own_deadline(i + 1, NOW + random_span() % MINUTE_NS));
		for (i = 0; i <= 20000; i++)
			if (i % stride == 0)
				flow_table_run_timers(table, NOW + i * (MINUTE_NS / 10000));
		if (stride == 1)
			often = deadline_calls;
		assert_int_equal(deadline_calls.count, often.count);
		for (n = 0; n < deadline_calls.count; n++)
			assert_fired(n, often.record[n].serial, often.record[n].time);
		flow_table_free(table);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_the_nanosecond),
		cmocka_unit_test(test_order_across_a_gap_of_years),
		cmocka_unit_test(test_equal_deadlines_run_in_order_of_entry),
		cmocka_unit_test(test_many_deadlines_within_the_present_tick),
		cmocka_unit_test(test_postponed_by_the_callback),
		cmocka_unit_test(test_a_callback_that_does_not_postpone_does_not_stop_the_clock),
		cmocka_unit_test(test_deadline_moved_forward_and_back),
		cmocka_unit_test(test_lookup_of_an_overdue_flow),
		cmocka_unit_test(test_lookup_of_a_flow_that_lives_on),
		cmocka_unit_test(test_frames_a_little_out_of_order),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_one_stamp_from_the_future),
		cmocka_unit_test(test_leaping_stamps_are_cheap),
		cmocka_unit_test(test_the_ends_of_time),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_results_do_not_depend_on_the_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
