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

#define SECOND_NS NANOSECONDS
#define RECORD_MAX 300000

struct record {
	uint64_t serial;
	uint64_t time;
	enum flow_event_kind kind;
	unsigned end;
};

struct records {
	size_t count;
	struct record record[RECORD_MAX];
};

static struct records fired;   /* calls of tcp_timer: serial and `now` */
static struct records evicted; /* calls of tcp_evicted */
static struct records told;    /* events reported: kind, end, ts */

/* What tcp_timer answers; 0 to every call where it is NULL. */
static uint64_t (*timer_answer)(uint64_t serial, uint64_t now);

static inline void
note(struct records *records, struct record record)
{
	assert_true(records->count < RECORD_MAX);
	records->record[records->count++] = record;
}

uint64_t
tcp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t serial = cold_serial(flow_cold(table, flow));
	uint64_t answer = timer_answer == NULL ? 0 : timer_answer(serial, now);

	note(&fired, (struct record){.serial = serial, .time = now});
	if (answer == 0)
		event_add(events, EVENT_TCP_TIMEOUT, flow->first, now);
	return answer;
}

void
tcp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	note(&evicted, (struct record){.serial = cold_serial(flow_cold(table, flow)), .time = now});
	event_add(events, EVENT_TCP_STATE_CHANGE, flow->first, now);
}

/* Anything but NULL; never looked into. */
struct tcp_store *
tcp_store_new(uint32_t flows)
{
	static char nothing[64];

	(void)flows;
	return (struct tcp_store *)(void *)nothing;
}

void
tcp_store_free(struct tcp_store *store)
{
	(void)store;
}

size_t
tcp_store_memory(uint32_t flows)
{
	(void)flows;
	return 0;
}

static inline void
record_events(void *context, struct flow *flow, const struct flow_events *events)
{
	struct flow_table *table = *(struct flow_table **)context;
	unsigned i;

	/* The flow is still whole. */
	assert_ptr_equal(flow_find(table, &flow->key, flow->hash), flow);
	for (i = 0; i < events->count; i++)
		note(&told, (struct record){.serial = (flow_cid(table, flow, 0) + 1) / 2,
					    .time = events->event[i].ts,
					    .kind = events->event[i].kind,
					    .end = events->event[i].end});
}

static struct flow_table *the_table;

/* A table for `flows` flows with the timeouts of the defaults; nothing on record. */
static inline struct flow_table *
new_table(uint32_t flows)
{
	struct flow_limits limits = flow_limits_default();

	limits.flows = flows;
	fired.count = evicted.count = told.count = 0;
	timer_answer = NULL;
	the_table = flow_table_new(&limits, 0x5eed, record_events, &the_table);
	assert_non_null(the_table);
	return the_table;
}

/* xorshift64: the same numbers in every run. */
static uint64_t random_state;

static inline uint64_t
random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint32_t
random_below(uint32_t n)
{
	return (uint32_t)(random64() % n);
}

/* The key of an IPv4 connection that is numbered `n`. */
static inline struct flow_key
key_number(uint32_t n, uint8_t protocol)
{
	struct flow_key key = {.port = {80, 1024}, .protocol = protocol, .version = 4};

	memcpy(key.addr[0], &n, sizeof n);
	memcpy(key.addr[1], "\xff\xff\xff\xff", 4);
	return key;
}

/* A connection with its own number for a key. */
static inline struct flow *
new_flow(struct flow_table *table, uint32_t n, enum flow_class class, uint64_t now, uint64_t deadline)
{
	struct flow_key key = key_number(n, 6);

	return flow_create(table, &key, flow_hash(table, &key), FLOW_TCP, class, 0, now, deadline);
}

static inline struct flow *
find_number(struct flow_table *table, uint32_t n)
{
	struct flow_key key = key_number(n, 6);

	return flow_find(table, &key, flow_hash(table, &key));
}

struct ends {
	uint8_t version;
	const uint8_t *src, *dst;
	uint16_t sport, dport;
};

static inline struct packet
packet_between(struct ends ends, enum transport_layer transport)
{
	struct packet packet = {.network = ends.version == 4 ? NETWORK_IPV4 : NETWORK_IPV6, .transport = transport};
	size_t size = ends.version == 4 ? 4 : 16;

	packet.ip.version = ends.version;
	memcpy(packet.ip.src, ends.src, size);
	memcpy(packet.ip.dst, ends.dst, size);
	if (transport == TRANSPORT_TCP) {
		packet.tcp.sport = ends.sport;
		packet.tcp.dport = ends.dport;
	} else {
		packet.udp.sport = ends.sport;
		packet.udp.dport = ends.dport;
	}
	return packet;
}

#endif
