/* SPDX-License-Identifier: BSD-2-Clause */
/* UDP streams: when they start, when they end, and what they count. */
#include "tests/flow/table/flow_table_fixture.h"

#define NOW (1700000000 * SECOND_NS)

static const uint8_t client[4] = {192, 0, 2, 1}, server[4] = {192, 0, 2, 2};
static const struct packet_tuple query = {4, client, server, 5353, 53}, answer = {4, server, client, 53, 5353};

static struct flow *
datagram(struct flow_table *table, struct packet_tuple tuple, uint32_t size, uint64_t now, struct flow_events *events)
{
	struct packet packet = fixture_packet(tuple, TRANSPORT_UDP);
	struct flow_key key;
	unsigned sender;

	packet.payload_wire = size;
	flow_key_from_packet(&packet, &key, &sender);
	events->count = 0;
	return flow_table_lookup_udp(table, &packet, &key, flow_key_hash(table, &key), sender, now, events);
}

static uint64_t
idle_of(struct flow_table *table)
{
	return flow_table_limits(table)->udp_idle_ns;
}

static void
test_the_first_datagram_starts_a_stream(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	struct flow *flow = datagram(table, query, 40, NOW, &events);

	(void)state;
	assert_non_null(flow);
	assert_int_equal(events.count, 1);
	assert_int_equal(events.event[0].kind, EVENT_UDP_STREAM_START);
	assert_int_equal(events.event[0].endpoint, 0);
	assert_int_equal(events.event[0].ts, NOW);
	assert_int_equal(flow->kind, FLOW_UDP);
	assert_int_equal(flow->first_sender, 0);
	assert_int_equal(flow->last_seen, NOW);
	assert_int_equal(flow_first_seen(table, flow), NOW);
	assert_ptr_equal(datagram(table, answer, 300, NOW + 1, &events), flow);
	assert_int_equal(events.count, 0);
	flow_table_free(table);
}

static void
test_the_second_end_may_be_first(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	struct flow *flow = datagram(table, answer, 40, NOW, &events);

	(void)state;
	assert_int_equal(events.event[0].endpoint, 1);
	assert_int_equal(flow->first_sender, 1);
	flow_table_free(table);
}

static void
test_each_end_counts_its_own(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	struct flow *flow = datagram(table, query, 40, NOW, &events);

	(void)state;
	datagram(table, answer, 300, NOW + 1, &events);
	datagram(table, query, 0, NOW + 2, &events); /* an empty datagram is one all the same */
	assert_int_equal(flow->udp[0].datagrams, 2);
	assert_int_equal(flow->udp[0].bytes, 40);
	assert_int_equal(flow->udp[1].datagrams, 1);
	assert_int_equal(flow->udp[1].bytes, 300);
	assert_int_equal(flow->last_seen, NOW + 2);
	flow_table_free(table);
}

static void
test_idle_timeout_to_the_nanosecond(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	uint64_t idle = idle_of(table), last = NOW + idle - 1;

	(void)state;
	datagram(table, answer, 40, NOW, &events);
	datagram(table, query, 40, last, &events);
	flow_table_run_timers(table, last + idle - 1);
	assert_int_equal(event_calls.count, 0);
	flow_table_run_timers(table, last + idle);
	assert_int_equal(event_calls.count, 1);
	assert_int_equal(event_calls.record[0].kind, EVENT_UDP_STREAM_END);
	assert_int_equal(event_calls.record[0].time, last + idle);
	assert_int_equal(event_calls.record[0].end, 1);
	assert_int_equal(flow_table_counters(table)->expired, 1);
	assert_int_equal(flow_table_counters(table)->flows, 0);
	flow_table_free(table);
}

/* The end is reported with the time at which it was due, however late it is noticed. */
static void
test_an_end_reported_late(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	uint64_t idle = idle_of(table);

	(void)state;
	datagram(table, query, 40, NOW, &events);
	datagram(table, query, 40, NOW + idle / 2, &events);
	flow_table_run_timers(table, NOW + 1000 * idle);
	assert_int_equal(event_calls.count, 1);
	assert_int_equal(event_calls.record[0].time, NOW + idle / 2 + idle);
	flow_table_free(table);
}

/* Without any call of the timers: a datagram after the idle timeout ends the old stream and starts a new one. */
static void
test_a_datagram_after_the_idle_timeout(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	uint64_t idle = idle_of(table), first, second;

	(void)state;
	first = flow_cid(table, datagram(table, query, 40, NOW, &events), 0);
	datagram(table, query, 40, NOW + idle - 1, &events); /* in time */
	assert_int_equal(events.count, 0);
	datagram(table, query, 40, NOW + 2 * idle - 2, &events); /* in time, after the deadline that was first set */
	assert_int_equal(events.count, 0);
	assert_int_equal(event_calls.count, 0);
	second = flow_cid(table, datagram(table, query, 40, NOW + 3 * idle - 2, &events), 0);
	assert_int_equal(events.count, 1);
	assert_int_equal(events.event[0].kind, EVENT_UDP_STREAM_START);
	assert_int_equal(event_calls.count, 1);
	assert_int_equal(event_calls.record[0].kind, EVENT_UDP_STREAM_END);
	assert_int_equal(event_calls.record[0].time, NOW + 3 * idle - 2);
	assert_true(second > first);
	flow_table_free(table);
}

static void
test_eviction_ends_it(void **state)
{
	struct flow_table *table = fixture_table_new(1);
	const uint8_t third[4] = {192, 0, 2, 3};
	struct flow_events events;

	(void)state;
	datagram(table, query, 40, NOW, &events);
	datagram(table, (struct packet_tuple){4, third, server, 1, 53}, 40, NOW + 5, &events);
	assert_int_equal(events.count, 1);
	assert_int_equal(events.event[0].kind, EVENT_UDP_STREAM_START);
	assert_int_equal(event_calls.count, 1);
	assert_int_equal(event_calls.record[0].kind, EVENT_UDP_STREAM_END);
	assert_int_equal(event_calls.record[0].serial, 1);
	assert_int_equal(event_calls.record[0].time, NOW + 5);
	assert_int_equal(flow_table_counters(table)->evicted_udp, 1);
	flow_table_free(table);
}

static void
test_an_earlier_time_stamp_ends_nothing_early(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	struct flow_events events;
	uint64_t idle = idle_of(table);
	struct flow *flow = datagram(table, query, 40, NOW, &events);

	(void)state;
	datagram(table, answer, 40, NOW - idle / 2, &events);
	assert_int_equal(flow->last_seen, NOW);
	assert_int_equal(flow->udp[1].datagrams, 1);
	flow_table_run_timers(table, NOW + idle - 1);
	assert_int_equal(event_calls.count, 0);
	flow_table_free(table);
}

static void
test_protocols_do_not_mix(void **state)
{
	struct flow_table *table = fixture_table_new(10);
	const uint8_t v6[16] = {192, 0, 2, 1}, w6[16] = {192, 0, 2, 2};
	struct flow_events events;
	struct flow *flow = datagram(table, query, 40, NOW, &events);

	(void)state;
	assert_ptr_not_equal(datagram(table, (struct packet_tuple){6, v6, w6, 5353, 53}, 40, NOW, &events), flow);
	assert_int_equal(flow_table_counters(table)->flows, 2);
	flow_table_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_datagram_starts_a_stream),
		cmocka_unit_test(test_the_second_end_may_be_first),
		cmocka_unit_test(test_each_end_counts_its_own),
		cmocka_unit_test(test_idle_timeout_to_the_nanosecond),
		cmocka_unit_test(test_an_end_reported_late),
		cmocka_unit_test(test_a_datagram_after_the_idle_timeout),
		cmocka_unit_test(test_eviction_ends_it),
		cmocka_unit_test(test_an_earlier_time_stamp_ends_nothing_early),
		cmocka_unit_test(test_protocols_do_not_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
