/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any SCTP packets in any order, between two hosts with three addresses each.  A packet is a byte of sender, address
 * and delay, one of tags and chunks, then the arguments that those need; see send().  The table is tiny, so that flows
 * and homes run out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "flow/flow_internal.h"
#include "flow/sctp/sctp_addr_table.h"
#include "flow/sctp/sctp_machine.h"
#include "tests/flow/sctp/sctp_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(what)                                                                                \
	do {                                                                                      \
		if (!(what)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

struct input {
	const uint8_t *at;
	size_t left;
};

static struct flow_table *table;
static uint64_t clock_ns;

static uint8_t
take(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

/* --- what must hold --- */

/* A change is an arrow of the machine, and each begins where the one before ended. */
static void
check_events(const struct flow *flow, const struct flow_events *events)
{
	int state[2] = {-1, -1};

	must(events->count < FLOW_EVENTS_MAX); /* at the bound one would be lost */
	for (unsigned i = 0; i < events->count; i++) {
		const struct flow_event *e = &events->event[i];
		bool arrow = false;

		must(e->kind == EVENT_SCTP_STATE_CHANGE && e->end <= 1 && e->ts <= clock_ns);
		must(e->sctp_before.state != SCTP_STATE_NONE && e->sctp_before.state != e->sctp_after.state);
		must(state[e->end] == -1 || state[e->end] == e->sctp_before.state);
		state[e->end] = e->sctp_after.state;
		for (unsigned in = 0; in < SCTP_INPUT_COUNT; in++)
			arrow |= sctp_machine_next((enum sctp_state)e->sctp_before.state, (enum sctp_input)in) ==
				 e->sctp_after.state;
		must(arrow);
	}
	for (unsigned end = 0; end < 2; end++)
		must(state[end] == -1 || state[end] == flow->sctp[end].state);
}

static void
on_timer(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	check_events(flow, events);
}

static void
check_flow(void *context, const struct flow *flow)
{
	uint32_t *homes = context;

	must(flow->kind == FLOW_SCTP && flow->last <= clock_ns);
	for (unsigned end = 0; end < 2; end++) {
		const struct sctp_end *e = &flow->sctp[end];
		struct sctp_address addresses[SCTP_ADDRESSES_MAX];
		unsigned count = sctp_addresses(table, flow, end, addresses);

		must(e->state < SCTP_STATE_COUNT);
		must(count >= 1 && count <= SCTP_ADDRESSES_MAX);
		must(memcmp(addresses[0].bytes, flow->key.addr[end], 16) == 0);
		if (e->home != 0) {
			const struct sctp_home *home = &flow_table_sctp(table)->homes[e->home];

			must(flow_table_at(table, home->flow) == flow && home->end == end);
			must(home->name[0].tag.tag == e->tag && home->name[1].tag.tag == e->other_tag);
			(*homes)++;
		}
	}
}

/* Every chain holds names of homes that are in use, each once. */
static void
check_store(void)
{
	const struct sctp_store *store = flow_table_sctp(table);
	uint32_t homes = 0, names = 0, linked = 0;

	flow_table_visit(table, check_flow, &homes);
	must(homes == store->counters.homes && homes <= store->most);
	for (uint32_t bucket = 0; bucket <= store->bucket_mask; bucket++)
		for (uint32_t at = store->buckets[bucket]; at != 0; at = store->homes[at / 2].name[at % 2].next) {
			const struct sctp_home *home = &store->homes[at / 2];

			must(flow_table_at(table, home->flow)->sctp[home->end].home == at / 2);
			must(home->name[at % 2].bucket == bucket && home->name[at % 2].tag.tag != 0);
			must(++linked <= 2 * store->most);
		}
	for (uint32_t i = 2; i <= 2 * store->top + 1; i++)
		names += store->homes[i / 2].name[i % 2].tag.tag != 0;
	must(names == linked);
}

/* --- packets --- */

static void
observe(const struct packet *packet)
{
	struct flow_events events = {.count = 0};
	struct flow_key key;
	enum anomaly odd;
	unsigned sender;
	struct flow *flow;

	flow_table_run_timers(table, clock_ns);
	flow_key_of(packet, &key, &sender);
	flow = flow_for_sctp(table, packet, &key, flow_hash(table, &key), &sender, clock_ns, &odd);
	must(odd == ANOMALY_NONE || anomaly_gravity(odd) == GRAVITY_ODD);
	if (flow != NULL) {
		must(sender <= 1);
		sctp_sent(table, flow, sender, packet, clock_ns, &events);
		check_events(flow, &events);
		must(odd == ANOMALY_NONE || events.count == 0);
		events.count = 0;
		sctp_received(table, flow, 1 - sender, packet, clock_ns, &events);
		check_events(flow, &events);
		must(odd == ANOMALY_NONE || events.count == 0);
	}
	check_store();
}

static void
put_chunk(struct raw *raw, struct input *in, unsigned host)
{
	static const uint8_t types[16] = {
		SCTP_CHUNK_INIT, SCTP_CHUNK_INIT_ACK, SCTP_CHUNK_COOKIE_ECHO, SCTP_CHUNK_COOKIE_ACK,
		SCTP_CHUNK_DATA, SCTP_CHUNK_SACK, SCTP_CHUNK_HEARTBEAT, SCTP_CHUNK_SHUTDOWN,
		SCTP_CHUNK_SHUTDOWN_ACK, SCTP_CHUNK_SHUTDOWN_COMPLETE, SCTP_CHUNK_ABORT, SCTP_CHUNK_ERROR,
		SCTP_CHUNK_I_DATA, SCTP_CHUNK_FORWARD_TSN, SCTP_CHUNK_AUTH, 99,
	};
	uint8_t how = take(in), type = types[how & 15], addresses[3];

	switch (type) {
	case SCTP_CHUNK_INIT:
	case SCTP_CHUNK_INIT_ACK:
		for (unsigned i = 0; i < 3; i++)
			addresses[i] = (uint8_t)(10 * host + i + (how >> 7) * 3);
		script_init(raw, type, host * 16 + (how >> 4 & 3), addresses, how >> 6 & 1 ? 3 : 0);
		break;
	case SCTP_CHUNK_DATA:
		script_data(raw, how >> 4, how >> 5);
		break;
	case SCTP_CHUNK_SACK:
		script_sack(raw, how);
		break;
	case SCTP_CHUNK_SHUTDOWN:
		script_shutdown(raw, how);
		break;
	default:
		script_chunk(raw, type, how >> 4 & 1, 4);
		raw_u32(raw, how);
		break;
	}
	if (how == 0xff) { /* something that is not as it should be */
		uint8_t where = take(in);

		if (where < raw->len)
			raw->bytes[raw->len - 1 - where % (raw->len - 32u + 1)] = take(in);
	}
}

/* Host 1 or 2, the address of each, how much later; the tag, how many chunks, how much is cut off. */
static void
send(struct input *in)
{
	static const uint64_t later[8] = {0, 1, 1000000, NANOSECONDS, 11 * NANOSECONDS, 91 * NANOSECONDS,
					  211 * NANOSECONDS, 5};
	static struct raw raw;
	struct frame frame;
	struct packet packet;
	uint8_t who = take(in), what = take(in);
	unsigned from = 1 + (who & 1), to = 3 - from;
	unsigned owner = what >> 2 & 1 ? from : to;

	clock_ns += later[who >> 5];
	script_begin(&raw, 10 * from + (who >> 1 & 3) % 3, 10 * to + (who >> 3 & 3) % 3, from, to,
		     what >> 3 & 1 ? 0 : owner * 16 + (what & 3));
	for (unsigned i = 0; i <= (what >> 4 & 3); i++)
		put_chunk(&raw, in, from);
	script_end(&raw);
	raw_dissect_cut(&raw, what >> 6 == 3 ? raw.len - take(in) % (raw.len - 19u) : raw.len, clock_ns, &frame,
			&packet);
	if (packet.transport == TRANSPORT_SCTP)
		observe(&packet);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_limits limits = flow_limits_default();
	struct input in = {data, size};

	if (table == NULL) {
		limits.flows = 6;
		table = flow_table_new(&limits, 1, on_timer, NULL);
		must(table != NULL);
		flow_table_sctp(table)->most = 8;
	}
	clock_ns = NANOSECONDS;
	while (in.left > 0)
		send(&in);
	flow_table_clear(table);
	must(flow_table_counters(table)->flows == 0);
	check_store();
	return 0;
}
