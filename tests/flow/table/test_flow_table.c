/* SPDX-License-Identifier: BSD-2-Clause */
/* The flow table: finding, creating, removing, and the order of eviction when it is full. */
#include <errno.h>

#include "flow/table/slots.h"
#include "tests/flow/table/flow_table_fixture.h"

#define NEVER (UINT64_MAX - 1)
#define NOW (1700000000 * SECOND_NS)

static uint64_t
serial_of(struct flow_table *table, const struct flow *flow)
{
	return (flow_cid(table, flow, 0) + 1) / 2;
}

static void
test_create_lookup_remove(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_key key = fixture_key(1, 6), other = fixture_key(2, 6);
	uint32_t hash = flow_key_hash(table, &key);
	struct flow *flow;

	(void)state;
	assert_null(flow_table_lookup(table, &key, hash));
	flow = flow_table_create_flow(table, &key, hash, FLOW_TCP, EVICT_CLASS_HALF_OPEN, 1, NOW, NEVER);
	assert_non_null(flow);
	assert_memory_equal(&flow->key, &key, sizeof key);
	assert_int_equal(flow->last_seen, NOW);
	assert_int_equal(flow->first_sender, 1);
	assert_int_equal(flow->hash, hash);
	assert_int_equal(flow->tcp[0].state, TCP_STATE_NONE);
	assert_int_equal(flow_first_seen(table, flow), NOW);
	assert_ptr_equal(flow_table_lookup(table, &key, hash), flow);
	assert_null(flow_table_lookup(table, &other, hash)); /* the same hash is not the same key */
	assert_int_equal(flow_table_counters(table)->flows, 1);
	flow->tcp[1].nxt = 77;
	flow_table_remove_flow(table, flow);
	assert_null(flow_table_lookup(table, &key, hash));
	assert_int_equal(flow_table_counters(table)->flows, 0);
	assert_int_equal(flow_table_counters(table)->created, 1);

	flow = flow_table_create_flow(table, &key, hash, FLOW_TCP, EVICT_CLASS_HALF_OPEN, 0, NOW, NEVER);
	assert_int_equal(flow->tcp[1].nxt, 0); /* memory used again is clean */
	flow_table_free(table);
}

static void
test_connection_ids_are_never_used_again(void **state)
{
	struct flow_table *table = fixture_table_new(4);
	uint64_t latest = 0;
	uint32_t i;

	(void)state;
	for (i = 0; i < 100; i++) {
		struct flow *flow = fixture_flow_create(table, i % 7, EVICT_CLASS_ESTABLISHED, NOW + i, NEVER);

		assert_true(flow_cid(table, flow, 0) > latest);
		assert_true(flow_cid(table, flow, 1) > flow_cid(table, flow, 0));
		latest = flow_cid(table, flow, 1);
		if (i % 3 == 0)
			flow_table_remove_flow(table, flow);
		if (i == 50)
			flow_table_clear(table);
	}
	assert_int_equal(latest, 200);
	flow_table_free(table);
}

/* Each table numbers with what the others leave out. */
static void
test_connection_ids_of_several_tables_are_distinct(void **state)
{
	enum { TABLES = 3, FLOWS = 50 };
	struct flow_table *tables[TABLES];
	bool taken[2 * TABLES * FLOWS + 1] = {false};

	(void)state;
	for (unsigned number = 0; number < TABLES; number++) {
		tables[number] = fixture_table_new(100);
		flow_table_set_id_stride(tables[number], number, TABLES);
	}
	for (uint32_t n = 0; n < FLOWS; n++)
		for (unsigned number = 0; number < TABLES; number++) {
			struct flow *flow =
			    fixture_flow_create(tables[number], n, EVICT_CLASS_ESTABLISHED, 1, SECOND_NS);

			for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
				uint64_t cid = flow_cid(tables[number], flow, endpoint);

				assert_true(cid >= 1 && cid <= 2 * TABLES * FLOWS);
				assert_false(taken[cid]);
				taken[cid] = true;
				assert_int_equal((cid - 1) / 2 % TABLES, number);
			}
		}
	for (unsigned number = 0; number < TABLES; number++)
		flow_table_free(tables[number]);
}

static void
test_invalid_limits(void **state)
{
	struct flow_limits limits = flow_limits_default();

	(void)state;
	limits.flows = 0;
	errno = 0;
	assert_null(flow_table_new(&limits, 1, fixture_record_events, NULL));
	assert_int_equal(errno, EINVAL);
	limits.flows = UINT32_MAX;
	errno = 0;
	assert_null(flow_table_new(&limits, 1, fixture_record_events, NULL));
	assert_int_equal(errno, EINVAL);
	flow_table_free(NULL);
}

static void
test_memory_per_flow(void **state)
{
	(void)state;
	assert_true(flow_table_memory_size(1000000) / 1000000 <= 256);
	assert_true(flow_table_memory_size(1000) < 256 * 1000 + 100000);
}

/* Fields that share a word do not change each other. */
static void
test_fields_of_the_cold_half(void **state)
{
	struct flow_cold cold = {.packed = ((1ull << 52) - 1) << FLOW_COLD_SERIAL_SHIFT | EVICT_CLASS_UDP};
	const uint64_t serial = (1ull << 52) - 1;

	(void)state;
	assert_int_equal(flow_cold_serial(&cold), serial);
	flow_cold_set_syn_options(&cold, 1, 14, true);
	assert_false(flow_cold_has_timestamps(&cold));
	flow_cold_set_syn_options(&cold, 0, 9, true);
	assert_true(flow_cold_has_timestamps(&cold));
	flow_cold_set_class(&cold, EVICT_CLASS_ESTABLISHED);
	flow_cold_set_class(&cold, EVICT_CLASS_CLOSING);
	flow_cold_set_syn_options(&cold, 0, 6,
				  false); /* another SYN: the shift is its own, that there are timestamps stays */
	assert_int_equal(flow_cold_wscale(&cold, 0), 6);
	assert_int_equal(flow_cold_wscale(&cold, 1), 14);
	assert_true(flow_cold_has_timestamps(&cold));
	assert_int_equal(flow_cold_class(&cold), EVICT_CLASS_CLOSING);
	assert_int_equal(flow_cold_serial(&cold), serial);
}

/* --- against a naive map --- */

#define KEYS 3000
#define FULL 1000

typedef uint32_t hash_maker(const struct flow_table *table, uint32_t n);

static uint32_t
real_hash(const struct flow_table *table, uint32_t n)
{
	struct flow_key key = fixture_key(n, 6);

	return flow_key_hash(table, &key);
}

/* Seven values far apart: long runs of equal hashes. */
static uint32_t
seven_hashes(const struct flow_table *table, uint32_t n)
{
	(void)table;
	return n % 7 * 0x24000000u;
}

/* The first and last slots and those near them; the hash 0, too, which a free slot has. */
static uint32_t
edge_hashes(const struct flow_table *table, uint32_t n)
{
	(void)table;
	return n % 2 == 0 ? n / 2 % 5 : UINT32_MAX - n / 2 % 5;
}

/* One home slot, different hashes. */
static uint32_t
narrow_hashes(const struct flow_table *table, uint32_t n)
{
	(void)table;
	return 0x80000000u + n;
}

/* The invariant of slots.h: falling distances, no gap between the home slot and the slot, no entry too far from
 * its home slot. */
static void
check_slots(const struct flow_table *table)
{
	uint32_t slots = table->home_slots + HASH_PROBE_MAX + 1;
	uint64_t before = UINT64_MAX;
	uint32_t i, used = 0, free_before = 0;

	for (i = 0; i < slots; i++) {
		uint32_t home = (uint32_t)((uint64_t)~(uint32_t)(table->slots[i] >> 32) * table->home_slots >> 32);

		if (table->slots[i] == 0) {
			free_before = i + 1;
			continue;
		}
		used++;
		assert_true(table->slots[i] < before);
		assert_true(home >= free_before);
		assert_true(home <= i);
		assert_true(i - home < HASH_PROBE_MAX);
		before = table->slots[i];
	}
	assert_int_equal(table->slots[slots - 1], 0);
	assert_int_equal(used, table->counters.flows);
}

struct naive {
	struct flow *flow[KEYS];
	uint32_t count;
};

static void
check_all(struct flow_table *table, const struct naive *naive, hash_maker *hash_of)
{
	uint32_t n;

	for (n = 0; n < KEYS; n++) {
		struct flow_key key = fixture_key(n, 6);

		assert_ptr_equal(flow_table_lookup(table, &key, hash_of(table, n)), naive->flow[n]);
	}
	assert_int_equal(flow_table_counters(table)->flows, naive->count);
}

static void
compare_with_naive_map(hash_maker *hash_of)
{
	struct flow_table *table = fixture_table_new(FULL);
	struct naive naive = {.count = 0};
	uint32_t step;

	random_state = 0x6e61697665;
	for (step = 0; step < 60000; step++) {
		uint32_t n = fixture_random_below(KEYS);
		struct flow_key key = fixture_key(n, 6);
		uint32_t hash = hash_of(table, n);
		struct flow *found;

		slots_prefetch_home(table, hash);
		slots_prefetch_candidate(table, hash);
		found = flow_table_lookup(table, &key, hash);
		assert_ptr_equal(found, naive.flow[n]);
		if (found != NULL) {
			flow_table_remove_flow(table, found);
			naive.flow[n] = NULL;
			naive.count--;
		} else if (naive.count < FULL) {
			naive.flow[n] =
			    flow_table_create_flow(table, &key, hash, FLOW_TCP, EVICT_CLASS_ESTABLISHED, 0, NOW, NEVER);
			naive.count++;
		}
		if (step % 4000 == 0) {
			check_all(table, &naive, hash_of);
			check_slots(table);
		}
	}
	check_all(table, &naive, hash_of);
	check_slots(table);
	assert_int_equal(evicted.count, 0);
	flow_table_free(table);
}

static void
test_model_real_hash(void **state)
{
	(void)state;
	compare_with_naive_map(real_hash);
}

static void
test_model_seven_hashes(void **state)
{
	(void)state;
	compare_with_naive_map(seven_hashes);
}

static void
test_model_edge_hashes(void **state)
{
	(void)state;
	compare_with_naive_map(edge_hashes);
}

static void
test_model_narrow_hashes(void **state)
{
	(void)state;
	compare_with_naive_map(narrow_hashes);
}

static void
count_visit(void *context, const struct flow *flow)
{
	uint32_t *sum = context, n;

	memcpy(&n, flow->key.addr[0], sizeof n);
	*sum += n;
}

static void
test_visit_reaches_each_flow_once(void **state)
{
	struct flow_table *table = fixture_table_new(100);
	uint32_t n, sum = 0;

	(void)state;
	for (n = 1; n <= 100; n++)
		fixture_flow_create(table, n, EVICT_CLASS_ESTABLISHED, NOW, NEVER);
	for (n = 10; n <= 100; n += 10)
		flow_table_remove_flow(table, fixture_flow_lookup(table, n));
	flow_table_visit(table, count_visit, &sum);
	assert_int_equal(sum, 5050 - 550);
	flow_table_free(table);
}

/* --- the full table --- */

static struct flow *
new_stream(struct flow_table *table, uint32_t n, uint64_t now, uint64_t datagrams)
{
	struct flow_key key = fixture_key(n, 17);
	struct flow *flow =
		flow_table_create_flow(table, &key, flow_key_hash(table, &key), FLOW_UDP, EVICT_CLASS_UDP, 0, now,
				       NEVER);

	flow->udp[0].datagrams = datagrams;
	return flow;
}

static void
test_classes_go_in_their_order(void **state)
{
	struct flow_table *table = fixture_table_new(8);
	const struct flow_counters *counters = flow_table_counters(table);
	/* Serials in the order of eviction; UDP ends are reported as events, without tcp_on_evict. */
	static const uint64_t order[6] = {3, 8, 5, 2, 1, 6};
	uint64_t later = NOW + 3600 * SECOND_NS;
	uint32_t n;

	(void)state;
	fixture_flow_create(table, 1, EVICT_CLASS_ESTABLISHED, NOW, NEVER);
	fixture_flow_create(table, 2, EVICT_CLASS_HALF_OPEN, NOW, NEVER);
	fixture_flow_create(table, 3, EVICT_CLASS_HALF_OPEN, NOW, NEVER);
	new_stream(table, 4, NOW, 5);
	fixture_flow_create(table, 5, EVICT_CLASS_CLOSING, NOW, NEVER);
	fixture_flow_create(table, 6, EVICT_CLASS_ESTABLISHED, NOW, NEVER);
	new_stream(table, 7, NOW, 5);
	fixture_flow_create(table, 8, EVICT_CLASS_HALF_OPEN, NOW, NEVER);
	flow_set_evict_class(table, fixture_flow_lookup(table, 2), EVICT_CLASS_CLOSING); /* after number 5, which was
											  * there before */
	flow_set_evict_class(table, fixture_flow_lookup(table, 3), EVICT_CLASS_HALF_OPEN); /* changes nothing */
	for (n = 0; n < 8; n++)
		fixture_flow_create(table, 100 + n, EVICT_CLASS_ESTABLISHED, later, NEVER);
	assert_int_equal(counters->evicted_half_open, 2);
	assert_int_equal(counters->evicted_closing, 2);
	assert_int_equal(counters->evicted_udp, 2);
	assert_int_equal(counters->evicted_idle, 2);
	assert_int_equal(counters->evicted_oldest, 0);
	assert_int_equal(counters->flows, 8);
	assert_int_equal(evicted.count, 6);
	for (n = 0; n < 6; n++) {
		assert_int_equal(evicted.record[n].serial, order[n]);
		assert_int_equal(evicted.record[n].time, later);
	}
	/* Everything was reported, the streams between the closing and the established ones. */
	assert_int_equal(event_calls.count, 8);
	assert_int_equal(event_calls.record[4].kind, EVENT_UDP_STREAM_END);
	assert_int_equal(event_calls.record[4].serial, 4);
	assert_int_equal(event_calls.record[5].serial, 7);
	flow_table_free(table);
}

static void
test_the_active_get_a_second_chance(void **state)
{
	struct flow_table *table = fixture_table_new(3);
	const struct flow_counters *counters = flow_table_counters(table);
	uint64_t later = NOW + 3600 * SECOND_NS;

	(void)state;
	fixture_flow_create(table, 1, EVICT_CLASS_ESTABLISHED, NOW, NEVER)->last_seen = later - 59 * SECOND_NS;
	fixture_flow_create(table, 2, EVICT_CLASS_ESTABLISHED, NOW, NEVER)->last_seen = later - 60 * SECOND_NS;
	fixture_flow_create(table, 3, EVICT_CLASS_ESTABLISHED, NOW, NEVER)->last_seen = later - 61 * SECOND_NS;
	fixture_flow_create(table, 4, EVICT_CLASS_ESTABLISHED, later, NEVER);
	assert_non_null(fixture_flow_lookup(table, 1));
	assert_null(fixture_flow_lookup(table, 2));
	/* Number 1 is now after number 3, which is idle. */
	fixture_flow_create(table, 5, EVICT_CLASS_ESTABLISHED, later, NEVER);
	assert_null(fixture_flow_lookup(table, 3));
	assert_int_equal(counters->evicted_idle, 2);
	/* All are active: the longest idle is evicted. */
	fixture_flow_create(table, 6, EVICT_CLASS_ESTABLISHED, later, NEVER);
	assert_null(fixture_flow_lookup(table, 1));
	assert_int_equal(counters->evicted_idle, 2);
	assert_int_equal(counters->evicted_oldest, 1);
	flow_table_free(table);
}

static void
test_at_most_sixteen_are_examined(void **state)
{
	struct flow_table *table = fixture_table_new(20);
	uint32_t n;

	(void)state;
	for (n = 0; n < 20; n++)
		fixture_flow_create(table, n, EVICT_CLASS_ESTABLISHED, NOW, NEVER)->last_seen = NOW + 40 - n;
	fixture_flow_create(table, 20, EVICT_CLASS_ESTABLISHED, NOW + 100, NEVER);
	assert_null(fixture_flow_lookup(table, 15));
	assert_non_null(fixture_flow_lookup(table, 16));
	assert_int_equal(flow_table_counters(table)->evicted_oldest, 1);
	/* The next search begins where this one ended, with number 16. */
	fixture_flow_lookup(table, 16)->last_seen = 0;
	fixture_flow_create(table, 21, EVICT_CLASS_ESTABLISHED, NOW + 100, NEVER);
	assert_null(fixture_flow_lookup(table, 16));
	assert_int_equal(flow_table_counters(table)->evicted_idle, 1);
	flow_table_free(table);
}

/* A flood of single datagrams evicts itself, not the active streams. */
static void
test_single_datagrams_go_before_active_streams(void **state)
{
	struct flow_table *table = fixture_table_new(4);
	uint32_t n;

	(void)state;
	new_stream(table, 1, NOW, 2);
	for (n = 2; n < 1000; n++)
		new_stream(table, n, NOW + n, 1);
	assert_int_equal(flow_table_counters(table)->evicted_udp, 998 + 1 - 4);
	for (n = 0; n < event_calls.count; n++)
		assert_int_not_equal(event_calls.record[n].serial, 1);
	flow_table_free(table);
}

static void
test_half_open_flood_spares_the_established(void **state)
{
	struct flow_table *table = fixture_table_new(64);
	uint32_t n;

	(void)state;
	for (n = 0; n < 60; n++)
		fixture_flow_create(table, n, EVICT_CLASS_ESTABLISHED, NOW, NEVER);
	for (; n < 100000; n++)
		fixture_flow_create(table, n, EVICT_CLASS_HALF_OPEN, NOW + n, NEVER);
	for (n = 0; n < 60; n++)
		assert_non_null(fixture_flow_lookup(table, n));
	assert_int_equal(flow_table_counters(table)->flows, 64);
	assert_int_equal(flow_table_counters(table)->evicted_half_open, 100000 - 64);
	flow_table_free(table);
}

static void
test_timers_expire_before_eviction(void **state)
{
	struct flow_table *table = fixture_table_new(2);
	const struct flow_counters *counters = flow_table_counters(table);

	(void)state;
	fixture_flow_create(table, 1, EVICT_CLASS_HALF_OPEN, NOW, NOW + 50 * SECOND_NS);
	fixture_flow_create(table, 2, EVICT_CLASS_ESTABLISHED, NOW, NOW + 10 * SECOND_NS);
	fixture_flow_create(table, 3, EVICT_CLASS_ESTABLISHED, NOW + 11 * SECOND_NS, NEVER);
	assert_non_null(fixture_flow_lookup(table, 1));
	assert_null(fixture_flow_lookup(table, 2));
	assert_int_equal(counters->expired, 1);
	assert_int_equal(counters->evicted_half_open, 0);
	assert_int_equal(evicted.count, 0);
	flow_table_free(table);
}

/* Flows whose keys have one hash evict each other, and no others. */
static void
test_crowding_is_bounded(void **state)
{
	struct flow_table *table = fixture_table_new(4096);
	const struct flow_counters *counters = flow_table_counters(table);
	struct flow_key key = fixture_key(1, 17);
	struct flow *bystander = new_stream(table, 1, NOW, 1), *veteran;
	uint32_t home_of_bystander = bystander->hash, n, found = 0;
	uint32_t crowded = home_of_bystander ^ 0x80000000u;

	(void)state;
	veteran = flow_table_create_flow(table, &key, crowded, FLOW_TCP, EVICT_CLASS_ESTABLISHED, 0, NOW, NEVER);
	for (n = 0; n < 5000; n++) {
		key = fixture_key(n, 6);
		flow_table_create_flow(table, &key, crowded, FLOW_TCP, EVICT_CLASS_HALF_OPEN, 0, NOW + n, NEVER);
		key = fixture_key(n, 6);
		assert_non_null(flow_table_lookup(table, &key, crowded));
	}
	assert_int_equal(counters->longest_probe, HASH_PROBE_MAX);
	assert_true(counters->flows <= HASH_PROBE_MAX + 2);
	assert_int_equal(counters->evicted_crowded, 5002 - counters->flows);
	assert_int_equal(counters->evicted_half_open, 0);
	assert_int_equal(evicted.count, counters->evicted_crowded);
	for (n = 0; n < 5000; n++) {
		key = fixture_key(n, 6);
		found += flow_table_lookup(table, &key, crowded) != NULL;
	}
	assert_int_equal(found + 2, counters->flows);
	key = fixture_key(1, 17);
	assert_ptr_equal(flow_table_lookup(table, &key, home_of_bystander), bystander);
	assert_ptr_equal(flow_table_lookup(table, &key, crowded), veteran);
	check_slots(table);
	flow_table_free(table);
}

static void
test_clear_reports_no_event(void **state)
{
	struct flow_table *table = fixture_table_new(50);
	uint32_t n;

	(void)state;
	for (n = 0; n < 20; n++)
		fixture_flow_create(table, n, n % EVICT_CLASS_UDP, NOW, NOW + n * SECOND_NS);
	for (; n < 40; n++)
		new_stream(table, n, NOW, 3);
	flow_table_clear(table);
	assert_int_equal(event_calls.count, 0);
	assert_int_equal(evicted.count, 20); /* their pooled memory was freed */
	assert_int_equal(flow_table_counters(table)->flows, 0);
	assert_int_equal(flow_table_counters(table)->created, 40);
	for (n = 0; n < 20; n++)
		assert_null(fixture_flow_lookup(table, n));
	check_slots(table);
	flow_table_run_timers(table, NOW + 3600 * SECOND_NS);
	assert_int_equal(deadline_calls.count, 0);
	/* The table can be used again, even at an earlier time. */
	fixture_flow_create(table, 7, EVICT_CLASS_HALF_OPEN, 5 * SECOND_NS, 6 * SECOND_NS);
	assert_int_equal(serial_of(table, fixture_flow_lookup(table, 7)), 41);
	flow_table_run_timers(table, 6 * SECOND_NS);
	assert_int_equal(deadline_calls.count, 1);
	flow_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_lookup_remove),
		cmocka_unit_test(test_connection_ids_are_never_used_again),
		cmocka_unit_test(test_connection_ids_of_several_tables_are_distinct),
		cmocka_unit_test(test_invalid_limits),
		cmocka_unit_test(test_memory_per_flow),
		cmocka_unit_test(test_fields_of_the_cold_half),
		cmocka_unit_test(test_model_real_hash),
		cmocka_unit_test(test_model_seven_hashes),
		cmocka_unit_test(test_model_edge_hashes),
		cmocka_unit_test(test_model_narrow_hashes),
		cmocka_unit_test(test_visit_reaches_each_flow_once),
		cmocka_unit_test(test_classes_go_in_their_order),
		cmocka_unit_test(test_the_active_get_a_second_chance),
		cmocka_unit_test(test_at_most_sixteen_are_examined),
		cmocka_unit_test(test_single_datagrams_go_before_active_streams),
		cmocka_unit_test(test_half_open_flood_spares_the_established),
		cmocka_unit_test(test_timers_expire_before_eviction),
		cmocka_unit_test(test_crowding_is_bounded),
		cmocka_unit_test(test_clear_reports_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
