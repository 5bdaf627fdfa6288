/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the flow table: packets, keys, a seeded random source, a record of the events that the table
 * reported, and the four functions of the TCP machine, replaced by ones that only record their calls.  One test program
 * includes it once.
 */
#ifndef NETOBS_TESTS_FLOW_TABLE_FLOW_TABLE_FIXTURE_H
#define NETOBS_TESTS_FLOW_TABLE_FLOW_TABLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "flow/table/table_internal.h"
#include "flow/tcp/tcp.h"
#include "flow/tcp/tcp_pools.h"

#define SECOND_NS NANOSECONDS
#define RECORD_MAX 300000

struct table_call {
	uint64_t serial;
	uint64_t time;
	enum flow_event_kind kind;
	unsigned end;
};

struct table_calls {
	size_t count;
	struct table_call record[RECORD_MAX];
};

static struct table_calls deadline_calls; /* calls of tcp_on_deadline: serial and `now` */
static struct table_calls evicted;	  /* calls of tcp_on_evict */
static struct table_calls event_calls;	  /* events reported: kind, end, ts */

/* Results of tcp_on_deadline; if NULL, each call returns 0. */
static uint64_t (*deadline_result)(uint64_t serial, uint64_t now);

static inline void
fixture_record_call(struct table_calls *calls, struct table_call call)
{
	assert_true(calls->count < RECORD_MAX);
	calls->record[calls->count++] = call;
}

uint64_t
tcp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t serial = flow_cold_serial(flow_cold(table, flow));
	uint64_t answer = deadline_result == NULL ? 0 : deadline_result(serial, now);

	fixture_record_call(&deadline_calls, (struct table_call){.serial = serial, .time = now});
	if (answer == 0)
		flow_events_add(events, EVENT_TCP_TIMEOUT, flow->first_sender, now);
	return answer;
}

void
tcp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	fixture_record_call(&evicted,
			    (struct table_call){.serial = flow_cold_serial(flow_cold(table, flow)), .time = now});
	flow_events_add(events, EVENT_TCP_STATE_CHANGE, flow->first_sender, now);
}

/* Any pointer but NULL; never dereferenced. */
struct tcp_pools *
tcp_pools_new(uint32_t flows)
{
	static char nothing[64];

	(void)flows;
	return (struct tcp_pools *)(void *)nothing;
}

void
tcp_pools_populate(struct tcp_pools *pools, uint32_t flows)
{
	(void)pools;
	(void)flows;
}

void
tcp_pools_free(struct tcp_pools *pools)
{
	(void)pools;
}

size_t
tcp_pools_memory_size(uint32_t flows)
{
	(void)flows;
	return 0;
}

uint32_t
tcp_retransmits(const struct flow_table *table, const struct flow *flow, unsigned endpoint)
{
	(void)table;
	(void)flow;
	(void)endpoint;
	return 0;
}

struct pending_syn *
pending_syn_find(const struct flow_table *table, const struct flow *flow)
{
	(void)table;
	(void)flow;
	return NULL;
}

static inline void
fixture_record_events(void *context, struct flow *flow, const struct flow_events *events)
{
	struct flow_table *table = *(struct flow_table **)context;
	unsigned i;

	/* The flow is still intact. */
	assert_ptr_equal(flow_table_lookup(table, &flow->key, flow->hash), flow);
	for (i = 0; i < events->count; i++)
		fixture_record_call(&event_calls, (struct table_call){.serial = (flow_cid(table, flow, 0) + 1) / 2,
								      .time = events->event[i].ts,
								      .kind = events->event[i].kind,
								      .end = events->event[i].endpoint});
}

static struct flow_table *fixture_table;

/* A table for `flows` flows with the timeouts of the defaults; nothing on record. */
static inline struct flow_table *
fixture_table_new(uint32_t flows)
{
	struct flow_limits limits = flow_limits_default();

	limits.flows = flows;
	deadline_calls.count = evicted.count = event_calls.count = 0;
	deadline_result = NULL;
	fixture_table = flow_table_new(&limits, 0x5eed, fixture_record_events, &fixture_table);
	assert_non_null(fixture_table);
	return fixture_table;
}

/* xorshift64: the same numbers in every run. */
static uint64_t random_state;

static inline uint64_t
fixture_random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint32_t
fixture_random_below(uint32_t n)
{
	return (uint32_t)(fixture_random_u64() % n);
}

/* The key of an IPv4 connection that is numbered `n`. */
static inline struct flow_key
fixture_key(uint32_t n, uint8_t protocol)
{
	struct flow_key key = {.port = {80, 1024}, .protocol = protocol, .version = 4};

	memcpy(key.addr[0], &n, sizeof n);
	memcpy(key.addr[1], "\xff\xff\xff\xff", 4);
	return key;
}

/* A connection with its own number for a key. */
static inline struct flow *
fixture_flow_create(struct flow_table *table, uint32_t n, enum evict_class class, uint64_t now, uint64_t deadline)
{
	struct flow_key key = fixture_key(n, 6);

	return flow_table_create_flow(table, &key, flow_key_hash(table, &key), FLOW_TCP, class, 0, now, deadline);
}

static inline struct flow *
fixture_flow_lookup(struct flow_table *table, uint32_t n)
{
	struct flow_key key = fixture_key(n, 6);

	return flow_table_lookup(table, &key, flow_key_hash(table, &key));
}

struct packet_tuple {
	uint8_t version;
	const uint8_t *src, *dst;
	uint16_t sport, dport;
};

static inline struct packet
fixture_packet(struct packet_tuple tuple, enum transport_layer transport)
{
	struct packet packet = {.network = tuple.version == 4 ? NETWORK_IPV4 : NETWORK_IPV6, .transport = transport};
	size_t size = tuple.version == 4 ? 4 : 16;

	packet.ip.version = tuple.version;
	memcpy(packet.ip.src, tuple.src, size);
	memcpy(packet.ip.dst, tuple.dst, size);
	if (transport == TRANSPORT_TCP) {
		packet.tcp.sport = tuple.sport;
		packet.tcp.dport = tuple.dport;
	} else {
		packet.udp.sport = tuple.sport;
		packet.udp.dport = tuple.dport;
	}
	return packet;
}

#endif
