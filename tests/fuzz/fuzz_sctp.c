/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any SCTP packets in any order, between two hosts with three addresses each.  A packet is a byte of sender, address
 * and delay, one of tags and chunks, then the arguments that those need; see send().  The table is tiny, so that flows
 * and address records run out.
 */
#include "flow/flow_internal.h"
#include "flow/sctp/sctp_internal.h"
#include "tests/flow/sctp/sctp_builder.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

static struct flow_table *table;
static uint64_t clock_ns;

static uint8_t
fuzz_sctp_feed(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

/* --- what must hold --- */

/* Each change is a transition of the machine, from the state in which the one before ended. */
static void
check_events(const struct flow *flow, const struct flow_events *events)
{
	int state[2] = {-1, -1};

	must(events->count < FLOW_EVENTS_MAX); /* at the bound one would be lost */
	for (unsigned i = 0; i < events->count; i++) {
		const struct flow_event *e = &events->event[i];
		bool arrow = false;

		must(e->kind == EVENT_SCTP_STATE_CHANGE && e->endpoint <= 1 && e->ts <= clock_ns);
		must(e->sctp_before.state != SCTP_STATE_NONE && e->sctp_before.state != e->sctp_after.state);
		must(state[e->endpoint] == -1 || state[e->endpoint] == e->sctp_before.state);
		state[e->endpoint] = e->sctp_after.state;
		for (unsigned in = 0; in < SCTP_INPUT_COUNT; in++)
			arrow |= sctp_machine_next((enum sctp_state)e->sctp_before.state, (enum sctp_input)in) ==
				 e->sctp_after.state;
		must(arrow);
	}
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		must(state[endpoint] == -1 || state[endpoint] == flow->sctp[endpoint].state);
}

static void
on_timer(void *context, struct flow *flow, const struct flow_events *events)
{
	(void)context;
	check_events(flow, events);
}

static void
fuzz_sctp_check_flow(void *context, const struct flow *flow)
{
	uint32_t *homes = context;

	must(flow->kind == FLOW_SCTP && flow->last_seen <= clock_ns);
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const struct sctp_endpoint *e = &flow->sctp[endpoint];
		struct sctp_address addresses[SCTP_ADDRESSES_MAX];
		unsigned count = sctp_get_addresses(table, flow, endpoint, addresses);

		must(e->state < SCTP_STATE_COUNT);
		must(count >= 1 && count <= SCTP_ADDRESSES_MAX);
		must(memcmp(addresses[0].bytes, flow->key.addr[endpoint], 16) == 0);
		if (e->addr_index != 0) {
			const struct sctp_addrs *addrs = &flow_table_sctp_addrs(table)->addrs[e->addr_index];

			must(flow_table_flow_at(table, addrs->flow) == flow && addrs->endpoint == endpoint);
			must(addrs->tag_entry[0].tag.tag == e->tag && addrs->tag_entry[1].tag.tag == e->pending_tag);
			(*homes)++;
		}
	}
}

/* Every bucket has the addresses of records in use, each once. */
static void
check_store(void)
{
	const struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	uint32_t homes = 0, names = 0, linked = 0;

	flow_table_visit(table, fuzz_sctp_check_flow, &homes);
	must(homes == addr_table->counters.addr_entries && homes <= addr_table->capacity);
	for (uint32_t bucket = 0; bucket <= addr_table->bucket_mask; bucket++)
		for (uint32_t at = addr_table->buckets[bucket]; at != 0;
		     at = addr_table->addrs[at / 2].tag_entry[at % 2].next) {
			const struct sctp_addrs *addrs = &addr_table->addrs[at / 2];

			must(flow_table_flow_at(table, addrs->flow)->sctp[addrs->endpoint].addr_index == at / 2);
			must(addrs->tag_entry[at % 2].bucket == bucket && addrs->tag_entry[at % 2].tag.tag != 0);
			must(++linked <= 2 * addr_table->capacity);
		}
	for (uint32_t i = 2; i <= 2 * addr_table->high_water + 1; i++)
		names += addr_table->addrs[i / 2].tag_entry[i % 2].tag.tag != 0;
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
	flow_key_from_packet(packet, &key, &sender);
	flow = flow_table_lookup_sctp(table, packet, &key, flow_key_hash(table, &key), &sender, clock_ns, &odd);
	must(odd == ANOMALY_NONE || anomaly_severity(odd) == SEVERITY_UNUSUAL);
	if (flow != NULL) {
		must(sender <= 1);
		sctp_packet_sent(table, flow, sender, packet, clock_ns, &events);
		check_events(flow, &events);
		must(odd == ANOMALY_NONE || events.count == 0);
		events.count = 0;
		sctp_packet_received(table, flow, 1 - sender, packet, clock_ns, &events);
		check_events(flow, &events);
		must(odd == ANOMALY_NONE || events.count == 0);
	}
	check_store();
}

static void
put_chunk(struct packet_buffer *buffer, struct input *in, unsigned host)
{
	static const uint8_t types[16] = {
		SCTP_CHUNK_INIT, SCTP_CHUNK_INIT_ACK, SCTP_CHUNK_COOKIE_ECHO, SCTP_CHUNK_COOKIE_ACK,
		SCTP_CHUNK_DATA, SCTP_CHUNK_SACK, SCTP_CHUNK_HEARTBEAT, SCTP_CHUNK_SHUTDOWN,
		SCTP_CHUNK_SHUTDOWN_ACK, SCTP_CHUNK_SHUTDOWN_COMPLETE, SCTP_CHUNK_ABORT, SCTP_CHUNK_ERROR,
		SCTP_CHUNK_I_DATA, SCTP_CHUNK_FORWARD_TSN, SCTP_CHUNK_AUTH, 99,
	};
	uint8_t how = fuzz_sctp_feed(in), type = types[how & 15], addresses[3];

	switch (type) {
	case SCTP_CHUNK_INIT:
	case SCTP_CHUNK_INIT_ACK:
		for (unsigned i = 0; i < 3; i++)
			addresses[i] = (uint8_t)(10 * host + i + (how >> 7) * 3);
		sctp_build_init(buffer, type, host * 16 + (how >> 4 & 3), addresses, how >> 6 & 1 ? 3 : 0);
		break;
	case SCTP_CHUNK_DATA:
		sctp_build_data(buffer, how >> 4, how >> 5);
		break;
	case SCTP_CHUNK_SACK:
		sctp_build_sack(buffer, how);
		break;
	case SCTP_CHUNK_SHUTDOWN:
		sctp_build_shutdown(buffer, how);
		break;
	default:
		sctp_build_chunk(buffer, type, how >> 4 & 1, 4);
		packet_put_u32(buffer, how);
		break;
	}
	if (how == 0xff) { /* an invalid chunk */
		uint8_t where = fuzz_sctp_feed(in);

		if (where < buffer->len)
			buffer->bytes[buffer->len - 1 - where % (buffer->len - 32u + 1)] = fuzz_sctp_feed(in);
	}
}

/* Host 1 or 2, the address of each, how much later; the tag, how many chunks, how much is cut off. */
static void
send(struct input *in)
{
	static const uint64_t later[8] = {0, 1, 1000000, NANOSECONDS, 11 * NANOSECONDS, 91 * NANOSECONDS,
					  211 * NANOSECONDS, 5};
	static struct packet_buffer raw;
	struct frame frame;
	struct packet packet;
	uint8_t who = fuzz_sctp_feed(in), what = fuzz_sctp_feed(in);
	unsigned from = 1 + (who & 1), to = 3 - from;
	unsigned owner = what >> 2 & 1 ? from : to;

	clock_ns += later[who >> 5];
	sctp_build_begin(&raw, 10 * from + (who >> 1 & 3) % 3, 10 * to + (who >> 3 & 3) % 3, from, to,
			 what >> 3 & 1 ? 0 : owner * 16 + (what & 3));
	for (unsigned i = 0; i <= (what >> 4 & 3); i++)
		put_chunk(&raw, in, from);
	sctp_build_end(&raw);
	packet_dissect_truncated(&raw, what >> 6 == 3 ? raw.len - fuzz_sctp_feed(in) % (raw.len - 19u) : raw.len,
				 clock_ns, &frame, &packet);
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
		flow_table_sctp_addrs(table)->capacity = 8;
	}
	clock_ns = NANOSECONDS;
	while (in.left > 0)
		send(&in);
	flow_table_clear(table);
	must(flow_table_counters(table)->flows == 0);
	check_store();
	return 0;
}
