/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the chunks of a packet into inputs of the two state machines. */
#include "dissect/transport/sctp.h"
#include "flow/record/record_internal.h"
#include "flow/sctp/sctp.h"
#include "flow/sctp/sctp_internal.h"

enum { INIT_FIXED = 20, INIT_PARAMETERS = 16, DATA_HEADER = 16, I_DATA_HEADER = 20 };

struct sctp_packet_ctx {
	struct flow_table *table;
	struct flow *flow;
	struct sctp_endpoint *e;	  /* the endpoint that sends or receives */
	const struct sctp_endpoint *peer; /* the other endpoint, read only */
	const struct packet *packet;
	const struct sctp_bundle *bundle;
	struct flow_events *events;
	uint64_t now;
	unsigned endpoint; /* number of endpoint `e`, 0 or 1 */
	bool was_closed;   /* the association was closed before this packet */
	bool was_up;	   /* the endpoint was up before this packet */
};

/* --- the bundle as a whole --- */

static enum evict_class sctp_evict_class(const struct flow *flow);
static uint64_t sctp_idle_timeout_ns(const struct flow_table *table, const struct flow *flow);

/* Minimum length of each chunk type, header included (RFC 9260 section 3.3). */
static bool
sctp_chunk_is_too_short(const struct sctp_chunk *chunk)
{
	switch (chunk->type) {
	case SCTP_CHUNK_DATA:
		return chunk->length <= DATA_HEADER; /* section 6.2: at least one byte of user data */
	case SCTP_CHUNK_I_DATA:
		return chunk->length <= I_DATA_HEADER;
	case SCTP_CHUNK_INIT:
	case SCTP_CHUNK_INIT_ACK:
		return chunk->length < INIT_FIXED;
	case SCTP_CHUNK_SACK:
	case SCTP_CHUNK_NR_SACK:
		return chunk->length < 16;
	case SCTP_CHUNK_SHUTDOWN:
		return chunk->length < 8;
	default:
		return false;
	}
}

static bool
sctp_chunk_is_unbundlable(uint16_t type)
{
	return type == SCTP_CHUNK_INIT || type == SCTP_CHUNK_INIT_ACK || type == SCTP_CHUNK_SHUTDOWN_COMPLETE;
}

struct sctp_bundle
sctp_bundle_scan(const struct packet *packet)
{
	struct sctp_bundle bundle = {.anomaly = ANOMALY_NONE};
	struct cursor c = sctp_chunks(packet);
	struct sctp_chunk chunk;
	bool alone = false;

	while (sctp_chunk_next(&c, &chunk)) {
		if (bundle.chunks++ == 0)
			bundle.first_chunk = (uint8_t)chunk.type;
		alone |= sctp_chunk_is_unbundlable(chunk.type);
		if (sctp_chunk_is_too_short(&chunk))
			bundle.anomaly = ANOMALY_SCTP_CHUNK_SHORT;
		if (chunk.type == SCTP_CHUNK_INIT || chunk.type == SCTP_CHUNK_INIT_ACK) {
			bundle.init = chunk.type == SCTP_CHUNK_INIT;
			bundle.init_tag = slice_u32(chunk.value, 0);
			if (bundle.init_tag == 0 && chunk.value.len >= 4 && bundle.anomaly == ANOMALY_NONE)
				bundle.anomaly = ANOMALY_SCTP_TAG_ZERO; /* section 3.3.2 */
		}
		bundle.cookie_echo |= chunk.type == SCTP_CHUNK_COOKIE_ECHO;
		if (chunk.type == SCTP_CHUNK_ABORT || chunk.type == SCTP_CHUNK_SHUTDOWN_COMPLETE)
			bundle.reflected |= (chunk.flags & SCTP_FLAG_T) != 0;
	}
	if (alone && bundle.chunks > 1)
		bundle.anomaly = ANOMALY_SCTP_BUNDLE; /* section 6.10 */
	return bundle;
}

static bool
sctp_endpoint_has_tag(const struct sctp_endpoint *e, uint32_t tag)
{
	if (tag == 0)
		return false;
	return e->tag == 0 || tag == e->tag || tag == e->pending_tag;
}

/* Whether the packet's verification tag is right (RFC 9260 section 8.5); an unknown tag matches. */
static bool
sctp_tag_is_valid(const struct flow *flow, unsigned sender, const struct packet *packet,
		  const struct sctp_bundle *bundle)
{
	if (bundle->init)
		return packet->sctp.verification_tag == 0;
	return sctp_endpoint_has_tag(&flow->sctp[bundle->reflected ? sender : 1 - sender],
				     packet->sctp.verification_tag);
}

/* --- states --- */

/* Applies an input to an endpoint's state and adds an event for each change. */
static void
sctp_apply_input(struct flow *flow, unsigned endpoint, enum sctp_input input, uint64_t now, struct flow_events *events)
{
	struct sctp_endpoint *e = &flow->sctp[endpoint];
	enum sctp_state next;

	while ((next = sctp_machine_next((enum sctp_state)e->state, input)) != e->state) {
		struct sctp_endpoint before = *e;
		struct flow_event *event;

		e->state = (uint8_t)next;
		if (before.state == SCTP_STATE_NONE)
			continue; /* the first change only sets the state before the first packet: no event */
		event = flow_events_add(events, EVENT_SCTP_STATE_CHANGE, endpoint, now);
		event->sctp_before = before;
		event->sctp_after = *e;
	}
}

/* The endpoint has left the association: after a SHUTDOWN, or an ABORT, which may refuse the attempt. */
static void
sctp_record_close(const struct sctp_packet_ctx *ctx, enum sctp_input input, uint8_t before)
{
	bool refused = before == SCTP_STATE_COOKIE_WAIT && (ctx->peer->flags & SCTP_EP_INIT_SEEN) == 0;

	if (input == SCTP_INPUT_SEND_ABORT)
		record_set_reset(ctx->table, ctx->flow, ctx->endpoint, false, 0);
	else if (input == SCTP_INPUT_RECV_ABORT)
		record_set_reset(ctx->table, ctx->flow, 1 - ctx->endpoint, refused, 0);
	record_set_down(ctx->table, ctx->flow);
}

static void
sctp_packet_input(const struct sctp_packet_ctx *ctx, enum sctp_input input)
{
	uint8_t before = ctx->e->state;

	sctp_apply_input(ctx->flow, ctx->endpoint, input, ctx->now, ctx->events);
	if (ctx->e->state == SCTP_STATE_CLOSED && before != SCTP_STATE_CLOSED && before != SCTP_STATE_NONE)
		sctp_record_close(ctx, input, before);
}

/* In a state from ESTABLISHED to SHUTDOWN_ACK_SENT. */
static bool
sctp_endpoint_is_up(const struct sctp_endpoint *e)
{
	return e->state >= SCTP_STATE_ESTABLISHED && e->state <= SCTP_STATE_SHUTDOWN_ACK_SENT;
}

/* Whether the packet carries a tag of the receiver known only from an INIT: it belongs to a restart that is not
 * confirmed yet. */
static bool
sctp_packet_is_of_restart(const struct sctp_endpoint *receiver, const struct packet *packet)
{
	return sctp_endpoint_is_up(receiver) && receiver->tag != 0 && packet->sctp.verification_tag != receiver->tag;
}

static void
sctp_flow_reclassify(const struct sctp_packet_ctx *ctx)
{
	struct flow_table *table = ctx->table;
	struct flow *flow = ctx->flow;
	enum evict_class class = sctp_evict_class(flow), before = flow_cold_class(flow_cold(table, flow));

	/* A tag offered before the endpoint came up is no longer valid. */
	if (sctp_endpoint_is_up(ctx->e) && !ctx->was_up && ctx->e->pending_tag != 0) {
		ctx->e->pending_tag = 0;
		sctp_addrs_index_tags(table, flow, ctx->endpoint);
	}
	record_check_end(table, flow);
	if (class == before && sctp_association_is_closed(flow) == ctx->was_closed)
		return;
	flow_set_evict_class(table, flow, class);
	flow_set_deadline(table, flow, deadline_add(ctx->now, sctp_idle_timeout_ns(table, flow)));
}

/* --- tags and addresses --- */

/* Sets a new tag for an endpoint that is not up.  The old tag is kept, because it may still be answered. */
static void
sctp_endpoint_set_tag(const struct sctp_packet_ctx *ctx, uint32_t tag)
{
	struct sctp_endpoint *e = ctx->e;

	if (tag == 0 || tag == e->tag)
		return;
	e->pending_tag = e->tag;
	e->tag = tag;
	sctp_addrs_index_tags(ctx->table, ctx->flow, ctx->endpoint);
}

/* A packet with the pending tag shows that this tag is the one in use. */
static void
sctp_endpoint_swap_tag(const struct sctp_packet_ctx *ctx)
{
	struct sctp_endpoint *e = ctx->e;
	uint32_t tag = e->pending_tag;

	e->pending_tag = sctp_endpoint_is_up(e) ? 0 : e->tag;
	e->tag = tag;
	sctp_addrs_index_tags(ctx->table, ctx->flow, ctx->endpoint);
}

/* Records the addresses listed in an INIT or INIT ACK (RFC 9260 sections 3.3.2.1 and 5.1.2), and the source address of
 * its packet. */
static void
sctp_save_addresses(const struct sctp_packet_ctx *ctx, const struct sctp_chunk *chunk)
{
	struct cursor c = sctp_chunk_parameters(chunk, INIT_PARAMETERS);
	const struct ip_layer *ip = &ctx->packet->ip;
	struct sctp_chunk parameter;
	static const uint8_t any[16];

	sctp_addrs_add(ctx->table, ctx->flow, ctx->endpoint, ip->src, ip->version);
	while (sctp_parameter_next(&c, &parameter)) {
		uint8_t address[16] = {0};
		bool ipv4 = parameter.type == SCTP_PARAMETER_IPV4, ipv6 = parameter.type == SCTP_PARAMETER_IPV6;

		if ((!ipv4 || parameter.value.len != 4) && (!ipv6 || parameter.value.len != 16))
			continue;
		slice_copy(parameter.value, 0, address, parameter.value.len);
		if (memcmp(address, any, sizeof any) != 0)
			sctp_addrs_add(ctx->table, ctx->flow, ctx->endpoint, address, ipv4 ? 4 : 6);
	}
}

static void
sctp_process_init(const struct sctp_packet_ctx *ctx, const struct sctp_chunk *chunk, enum sctp_input input)
{
	struct sctp_endpoint *e = ctx->e;

	if (sctp_endpoint_is_up(e)) { /* a restart or a forgery: decided by the COOKIE ECHO */
		if (ctx->bundle->init_tag == e->tag)
			return;
		e->pending_tag = ctx->bundle->init_tag;
		sctp_addrs_index_tags(ctx->table, ctx->flow, ctx->endpoint);
		return;
	}
	sctp_endpoint_set_tag(ctx, ctx->bundle->init_tag);
	sctp_save_addresses(ctx, chunk);
	if (chunk->value.len >= INIT_PARAMETERS) {
		e->rwnd = slice_u32(chunk->value, 4);
		e->streams_out = slice_u16(chunk->value, 8);
		e->streams_in = slice_u16(chunk->value, 10);
		e->next_tsn = slice_u32(chunk->value, 12);
		e->flags |= SCTP_EP_INIT_SEEN | SCTP_EP_TSN_KNOWN;
	}
	sctp_packet_input(ctx, input);
}

/* --- sent --- */

static void
sctp_count_data(struct sctp_endpoint *e, const struct sctp_chunk *chunk)
{
	uint32_t header = chunk->type == SCTP_CHUNK_DATA ? DATA_HEADER : I_DATA_HEADER;
	uint32_t tsn = slice_u32(chunk->value, 0);

	e->chunks++;
	if (chunk->value.len < 4)
		return;
	if ((e->flags & SCTP_EP_TSN_KNOWN) != 0 && (int32_t)(tsn - e->next_tsn) < 0) {
		e->retransmits++;
		return;
	}
	e->flags |= SCTP_EP_TSN_KNOWN;
	e->next_tsn = tsn + 1;
	e->bytes += chunk->length - header;
}

static void
sctp_save_ack(struct sctp_endpoint *e, const struct sctp_chunk *chunk, bool has_window)
{
	if (chunk->value.len < 8 && (has_window || chunk->value.len < 4))
		return;
	e->flags |= SCTP_EP_CUM_ACK_KNOWN;
	e->cum_tsn_ack = slice_u32(chunk->value, 0);
	if (has_window)
		e->rwnd = slice_u32(chunk->value, 4);
}

/* Data bundled with a COOKIE ECHO does not prove that the sender is established (section 5.1). */
static void
sctp_input_unless_cookie_echo(const struct sctp_packet_ctx *ctx)
{
	if (!ctx->bundle->cookie_echo)
		sctp_packet_input(ctx, SCTP_INPUT_SEND_ESTABLISHED);
}

/* Processes a chunk that the endpoint sent.  False if the rest of the packet is ignored. */
static bool
sctp_process_sent_chunk(const struct sctp_packet_ctx *ctx, const struct sctp_chunk *chunk)
{
	switch (chunk->type) {
	case SCTP_CHUNK_INIT:
		if (ctx->peer->state == SCTP_STATE_NONE)
			ctx->e->flags |= SCTP_EP_ACTIVE_OPEN;
		sctp_process_init(ctx, chunk, SCTP_INPUT_SEND_INIT);
		return true;
	case SCTP_CHUNK_INIT_ACK:
		sctp_process_init(ctx, chunk, SCTP_INPUT_SEND_INIT_ACK);
		return true;
	case SCTP_CHUNK_COOKIE_ECHO:
		sctp_packet_input(ctx, SCTP_INPUT_SEND_COOKIE_ECHO);
		return true;
	case SCTP_CHUNK_COOKIE_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_SEND_COOKIE_ACK);
		return true;
	case SCTP_CHUNK_DATA:
	case SCTP_CHUNK_I_DATA:
		sctp_count_data(ctx->e, chunk);
		sctp_input_unless_cookie_echo(ctx);
		return true;
	case SCTP_CHUNK_SACK:
	case SCTP_CHUNK_NR_SACK:
		sctp_save_ack(ctx->e, chunk, true);
		sctp_input_unless_cookie_echo(ctx);
		return true;
	case SCTP_CHUNK_FORWARD_TSN:
	case SCTP_CHUNK_I_FORWARD_TSN:
	case SCTP_CHUNK_ASCONF:
	case SCTP_CHUNK_ASCONF_ACK:
	case SCTP_CHUNK_RE_CONFIG:
		sctp_input_unless_cookie_echo(ctx);
		return true;
	case SCTP_CHUNK_HEARTBEAT:
	case SCTP_CHUNK_HEARTBEAT_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_SEND_HEARTBEAT);
		return true;
	case SCTP_CHUNK_SHUTDOWN:
		sctp_save_ack(ctx->e, chunk, false);
		sctp_packet_input(ctx, SCTP_INPUT_SEND_SHUTDOWN);
		return true;
	case SCTP_CHUNK_SHUTDOWN_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_SEND_SHUTDOWN_ACK);
		return true;
	case SCTP_CHUNK_SHUTDOWN_COMPLETE:
		sctp_packet_input(ctx, ctx->bundle->reflected ? SCTP_INPUT_SEND_REFLECTED
							      : SCTP_INPUT_SEND_SHUTDOWN_COMPLETE);
		return false;
	case SCTP_CHUNK_ABORT:
		sctp_packet_input(ctx, ctx->bundle->reflected ? SCTP_INPUT_SEND_REFLECTED : SCTP_INPUT_SEND_ABORT);
		return false; /* section 3.3.7: the rest is ignored */
	default:
		return true; /* AUTH, ERROR and unknown chunks change no state */
	}
}

static struct sctp_packet_ctx
sctp_packet_begin(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		  const struct sctp_bundle *bundle, uint64_t now, struct flow_events *events)
{
	return (struct sctp_packet_ctx){
		.table = table,
		.flow = flow,
		.e = &flow->sctp[endpoint],
		.peer = &flow->sctp[1 - endpoint],
		.packet = packet,
		.bundle = bundle,
		.events = events,
		.now = now,
		.endpoint = endpoint,
		.was_closed = sctp_association_is_closed(flow),
		.was_up = sctp_endpoint_is_up(&flow->sctp[endpoint]),
	};
}

/* The endpoint's COOKIE ECHO carries the tag of the INIT ACK that answered its new INIT: it has restarted (section
 * 5.2.4, A). */
static void
sctp_endpoint_restart(const struct sctp_packet_ctx *ctx)
{
	struct sctp_endpoint *e = ctx->e;

	if (!sctp_endpoint_is_up(e))
		return;
	flow_table_sctp_addrs(ctx->table)->counters.restarts++;
	sctp_packet_input(ctx, SCTP_INPUT_SUPERSEDED);
	e->tag = e->pending_tag;
	e->pending_tag = 0;
	sctp_addrs_index_tags(ctx->table, ctx->flow, ctx->endpoint);
	e->flags &= (uint8_t)~(SCTP_EP_TSN_KNOWN | SCTP_EP_CUM_ACK_KNOWN);
}

void
sctp_packet_sent(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		 uint64_t now, struct flow_events *events)
{
	struct sctp_bundle bundle = sctp_bundle_scan(packet);
	struct sctp_packet_ctx ctx = sctp_packet_begin(table, flow, endpoint, packet, &bundle, now, events);
	struct cursor c = sctp_chunks(packet);
	bool of_restart = !bundle.init && !bundle.reflected && sctp_packet_is_of_restart(ctx.peer, packet);
	uint64_t bytes = flow->sctp[endpoint].bytes;
	struct sctp_chunk chunk;

	record_prepare(table, flow);
	record_count_anomalies(table, flow, packet);
	if (bundle.anomaly != ANOMALY_NONE || !sctp_tag_is_valid(flow, endpoint, packet, &bundle))
		return;
	ctx.e->packets++;
	if (of_restart && bundle.cookie_echo)
		sctp_endpoint_restart(&ctx);
	while (sctp_chunk_next(&c, &chunk)) {
		if (of_restart && !bundle.cookie_echo && chunk.type != SCTP_CHUNK_INIT_ACK)
			continue;
		if (!sctp_process_sent_chunk(&ctx, &chunk))
			break;
	}
	if (record_unlikely(flow_table_keeps_records(table)))
		record_count_packet(table, flow, packet,
				    &(struct record_packet){.now = now,
							    .sender = endpoint,
							    .fresh = (uint32_t)(flow->sctp[endpoint].bytes - bytes),
							    .answers = true});
	sctp_flow_reclassify(&ctx);
}

/* --- received --- */

/* Processes a chunk that the endpoint received.  False if the rest of the packet is ignored. */
static bool
sctp_process_received_chunk(const struct sctp_packet_ctx *ctx, const struct sctp_chunk *chunk, bool restart)
{
	switch (chunk->type) {
	case SCTP_CHUNK_INIT:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_INIT);
		return true;
	case SCTP_CHUNK_INIT_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_INIT_ACK);
		return true;
	case SCTP_CHUNK_COOKIE_ECHO:
		sctp_packet_input(ctx, restart ? SCTP_INPUT_RECV_RESTART : SCTP_INPUT_RECV_COOKIE_ECHO);
		return true;
	case SCTP_CHUNK_COOKIE_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_COOKIE_ACK);
		return true;
	case SCTP_CHUNK_SHUTDOWN:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_SHUTDOWN);
		return true;
	case SCTP_CHUNK_SHUTDOWN_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_SHUTDOWN_ACK);
		return true;
	case SCTP_CHUNK_SHUTDOWN_COMPLETE:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_SHUTDOWN_COMPLETE);
		return false;
	case SCTP_CHUNK_ABORT:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_ABORT);
		return false;
	case SCTP_CHUNK_HEARTBEAT:
	case SCTP_CHUNK_HEARTBEAT_ACK:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_HEARTBEAT);
		return true;
	case SCTP_CHUNK_DATA:
	case SCTP_CHUNK_I_DATA:
	case SCTP_CHUNK_SACK:
	case SCTP_CHUNK_NR_SACK:
		sctp_packet_input(ctx, SCTP_INPUT_RECV_ESTABLISHED);
		return true;
	default:
		return true;
	}
}

/* Records the tag of an endpoint from a packet sent to it: its first tag, or which of its two tags is in use. */
static void
sctp_save_tag(const struct sctp_packet_ctx *ctx)
{
	struct sctp_endpoint *e = ctx->e;
	uint32_t tag = ctx->packet->sctp.verification_tag;

	if (e->tag == 0)
		sctp_endpoint_set_tag(ctx, tag);
	else if (tag != e->tag && !sctp_endpoint_is_up(e))
		sctp_endpoint_swap_tag(ctx);
}

void
sctp_packet_received(struct flow_table *table, struct flow *flow, unsigned endpoint, const struct packet *packet,
		     uint64_t now, struct flow_events *events)
{
	struct sctp_bundle bundle = sctp_bundle_scan(packet);
	struct sctp_packet_ctx ctx = sctp_packet_begin(table, flow, endpoint, packet, &bundle, now, events);
	struct cursor c = sctp_chunks(packet);
	bool of_restart = !bundle.init && !bundle.reflected && sctp_packet_is_of_restart(ctx.e, packet);
	struct sctp_chunk chunk;

	if (bundle.anomaly != ANOMALY_NONE || !sctp_tag_is_valid(flow, 1 - endpoint, packet, &bundle))
		return;
	if (of_restart && !bundle.cookie_echo)
		return;
	/* In SHUTDOWN_ACK_SENT the endpoint does not accept a restart: it repeats its SHUTDOWN ACK (section 5.2.4,
	 * A). */
	if (of_restart && ctx.e->state != SCTP_STATE_SHUTDOWN_ACK_SENT)
		sctp_endpoint_swap_tag(&ctx);
	if (!bundle.init && !bundle.reflected)
		sctp_save_tag(&ctx);
	while (sctp_chunk_next(&c, &chunk) && sctp_process_received_chunk(&ctx, &chunk, of_restart))
		continue;
	sctp_flow_reclassify(&ctx);
}

/* --- Finds the association of a packet, and ends idle associations. --- */

/* After this many consecutive packets with the same wrong tag another association is assumed. */
#define SCTP_FOREIGN_TAGS_MAX 3

/* Most endpoints with the same tag and ports that a search examines. */
#define SCTP_TAG_DUPLICATES_MAX 8

/* Whether a packet with this first chunk proves that an association exists or is being set up.  ABORT, ERROR and
 * SHUTDOWN COMPLETE do not: they also answer packets of no association (RFC 9260 section 8.4). */
static bool
sctp_chunk_proves_association(uint8_t type)
{
	switch (type) {
	case SCTP_CHUNK_DATA:
	case SCTP_CHUNK_INIT:
	case SCTP_CHUNK_INIT_ACK:
	case SCTP_CHUNK_SACK:
	case SCTP_CHUNK_HEARTBEAT:
	case SCTP_CHUNK_HEARTBEAT_ACK:
	case SCTP_CHUNK_SHUTDOWN:
	case SCTP_CHUNK_SHUTDOWN_ACK:
	case SCTP_CHUNK_COOKIE_ECHO:
	case SCTP_CHUNK_COOKIE_ACK:
	case SCTP_CHUNK_AUTH:
	case SCTP_CHUNK_NR_SACK:
	case SCTP_CHUNK_I_DATA:
	case SCTP_CHUNK_ASCONF_ACK:
	case SCTP_CHUNK_RE_CONFIG:
	case SCTP_CHUNK_FORWARD_TSN:
	case SCTP_CHUNK_ASCONF:
	case SCTP_CHUNK_I_FORWARD_TSN:
		return true;
	default:
		return false;
	}
}

static void
sctp_addrs_release_both(struct flow_table *table, struct flow *flow)
{
	sctp_addrs_release(table, flow, 0);
	sctp_addrs_release(table, flow, 1);
}

/* --- other paths --- */

/* Rank of a path for an association, 0 if it does not fit.  If all its addresses are recorded, at least one of the two
 * must be among them; such an association ranks above one in mid-stream. */
static unsigned
sctp_rank_path(const struct flow_table *table, const struct flow *flow, unsigned sender, const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;
	unsigned known = sctp_addrs_contain(table, flow, sender, ip->src, ip->version) +
			 sctp_addrs_contain(table, flow, 1 - sender, ip->dst, ip->version);
	unsigned either = flow->sctp[0].flags | flow->sctp[1].flags, both = flow->sctp[0].flags & flow->sctp[1].flags;
	bool addresses_known = (both & SCTP_EP_INIT_SEEN) != 0 && (either & SCTP_EP_ADDR_DROPPED) == 0;

	return addresses_known ? known * 4 : known + 1;
}

static struct flow *
sctp_lookup_by_tag(struct flow_table *table, const struct packet *packet, const struct sctp_bundle *bundle,
		   uint16_t space, unsigned *sender)
{
	const struct sctp_layer *sctp = &packet->sctp;
	bool tag_of_sender = bundle->init || bundle->reflected;
	struct sctp_tag_key tag = {
		.tag = bundle->init ? bundle->init_tag : sctp->verification_tag,
		.port = tag_of_sender ? sctp->sport : sctp->dport,
		.peer_port = tag_of_sender ? sctp->dport : sctp->sport,
	};
	const struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	struct flow *best = NULL;
	unsigned best_rank = 0;
	uint32_t entry = 0;

	if (tag.tag == 0)
		return NULL;
	for (unsigned i = 0;
	     i < SCTP_TAG_DUPLICATES_MAX && (entry = sctp_tag_find_next(table, &tag, entry)) != 0; i++) {
		const struct sctp_addrs *addrs = sctp_tag_addrs(addr_table, entry);
		struct flow *flow = flow_table_flow_at(table, addrs->flow);
		unsigned from = tag_of_sender ? addrs->endpoint : 1u - addrs->endpoint;
		unsigned rank = flow->key.address_space == space ? sctp_rank_path(table, flow, from, packet) : 0;

		if (rank > best_rank) {
			best_rank = rank;
			best = flow;
			*sender = from;
		}
	}
	return best;
}

/* Like sctp_lookup_by_tag(), unless the flow's timer has expired.  Records the addresses of the path. */
static struct flow *
sctp_lookup_other_path(struct flow_table *table, const struct packet *packet, const struct sctp_bundle *bundle,
		       uint16_t space, unsigned *sender, uint64_t now)
{
	const struct ip_layer *ip = &packet->ip;
	struct flow *flow = sctp_lookup_by_tag(table, packet, bundle, space, sender);

	if (flow != NULL)
		flow = flow_table_lookup_live(table, &flow->key, flow->hash, now);
	if (flow == NULL)
		return NULL;
	sctp_addrs_add(table, flow, *sender, ip->src, ip->version);
	sctp_addrs_add(table, flow, 1 - *sender, ip->dst, ip->version);
	flow_table_sctp_addrs(table)->counters.other_paths++;
	return flow;
}

/* --- creation and removal --- */

static struct flow *
sctp_flow_create(struct flow_table *table, const struct flow_key *key, uint32_t hash, unsigned sender, bool init,
		 uint64_t now)
{
	struct flow *flow = flow_table_create_flow(table, key, hash, FLOW_SCTP, EVICT_CLASS_HALF_OPEN, sender, now,
						   deadline_add(now, flow_table_limits(table)->sctp_setup_ns));

	if (!init)
		flow_table_counters_rw(table)->midstream++;
	return flow;
}

/* The same ends started another association: ends the old one and reports that, unless it may have ended on another
 * path before. */
static void
sctp_flow_supersede(struct flow_table *table, struct flow *flow, uint64_t now)
{
	struct flow_events events = {.count = 0};

	record_prepare(table, flow);
	flow_report_end(table, flow, true);
	if (sctp_paths_are_known(table, flow)) {
		sctp_apply_input(flow, 0, SCTP_INPUT_SUPERSEDED, now, &events);
		sctp_apply_input(flow, 1, SCTP_INPUT_SUPERSEDED, now, &events);
		flow_report_events(table, flow, &events);
	}
	record_report_removal(table, flow, RECORD_IDLE);
	sctp_addrs_release_both(table, flow);
	flow_table_remove_flow(table, flow);
	flow_table_counters_rw(table)->reused++;
}

/* Counts consecutive packets with the same wrong tag.  True if they mean another association.  An INIT, and chunks that
 * answer packets of no association, do not count. */
static bool
sctp_tag_is_foreign(struct flow *flow, unsigned sender, const struct packet *packet, const struct sctp_bundle *bundle,
		    bool fits)
{
	struct sctp_endpoint *receiver = &flow->sctp[1 - sender];

	if (bundle->init || bundle->reflected || !sctp_chunk_proves_association(bundle->first_chunk))
		return false;
	if (fits) {
		receiver->foreign_tag_count = 0;
		return false;
	}
	if (receiver->foreign_tag_count == 0 || receiver->foreign_tag != packet->sctp.verification_tag) {
		receiver->foreign_tag_count = 0;
		receiver->foreign_tag = packet->sctp.verification_tag;
	}
	return packet->sctp.verification_tag != 0 && ++receiver->foreign_tag_count >= SCTP_FOREIGN_TAGS_MAX;
}

/* Whether the packet belongs to the successor of this association, which has therefore ended.  A restart is a successor
 * if the association may have ended on another path. */
static bool
sctp_packet_is_of_successor(const struct flow_table *table, struct flow *flow, unsigned sender,
			    const struct packet *packet, const struct sctp_bundle *bundle, bool fits)
{
	if (bundle->cookie_echo && fits && sctp_packet_is_of_restart(&flow->sctp[1 - sender], packet) &&
	    !sctp_paths_are_known(table, flow))
		return true;
	if (bundle->init && fits && sctp_association_is_closed(flow) && bundle->init_tag != flow->sctp[sender].tag)
		return true;
	return sctp_tag_is_foreign(flow, sender, packet, bundle, fits);
}

/* Finds the flow by addresses or by tag.  The tag decides if the two disagree, or if the flow's tag is not known
 * yet. */
static struct flow *
sctp_flow_lookup(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
		 const struct sctp_bundle *bundle, unsigned *sender, uint64_t now)
{
	struct flow *flow = flow_table_lookup_live(table, key, hash, now), *other;
	unsigned other_sender = *sender;

	if (bundle->anomaly != ANOMALY_NONE || bundle->chunks == 0)
		return flow;
	if (flow != NULL && (bundle->init || flow->sctp[bundle->reflected ? *sender : 1 - *sender].tag != 0) &&
	    sctp_tag_is_valid(flow, *sender, packet, bundle))
		return flow;
	other = sctp_lookup_other_path(table, packet, bundle, key->address_space, &other_sender, now);
	if (other == NULL)
		return flow_table_lookup(table, key, hash);
	*sender = other_sender;
	return other;
}

static struct flow *
sctp_flow_begin(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
		const struct sctp_bundle *bundle, unsigned sender, uint64_t now)
{
	bool fits = bundle->init == (packet->sctp.verification_tag == 0);

	if (bundle->anomaly != ANOMALY_NONE || bundle->chunks == 0 || !fits ||
	    !sctp_chunk_proves_association(bundle->first_chunk))
		return NULL;
	return sctp_flow_create(table, key, hash, sender, bundle->init, now);
}

struct flow *
flow_table_lookup_sctp(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
		       unsigned *sender, uint64_t now, enum anomaly *anomaly)
{
	struct sctp_counters *counters = &flow_table_sctp_addrs(table)->counters;
	struct sctp_bundle bundle = sctp_bundle_scan(packet);
	unsigned key_sender = *sender;
	struct flow *flow = sctp_flow_lookup(table, packet, key, hash, &bundle, sender, now);
	bool sound = bundle.anomaly == ANOMALY_NONE && bundle.chunks > 0;
	bool fits = sound && flow != NULL && sctp_tag_is_valid(flow, *sender, packet, &bundle);

	if (sound && flow != NULL && sctp_packet_is_of_successor(table, flow, *sender, packet, &bundle, fits)) {
		sctp_flow_supersede(table, flow, now);
		flow = NULL;
	}
	if (flow == NULL) {
		*sender = key_sender;
		flow = sctp_flow_begin(table, packet, key, hash, &bundle, key_sender, now);
		fits = bundle.init == (packet->sctp.verification_tag == 0);
	} else if (now > flow->last_seen) {
		flow->last_seen = now;
	}
	*anomaly = sound && !fits ? ANOMALY_SCTP_TAG : bundle.anomaly;
	counters->tag_mismatches += *anomaly == ANOMALY_SCTP_TAG;
	counters->illegal_bundles += *anomaly == ANOMALY_SCTP_BUNDLE;
	return flow;
}

/* --- timers --- */

static bool
sctp_state_is_closing(enum sctp_state state)
{
	return state >= SCTP_STATE_SHUTDOWN_PENDING && state <= SCTP_STATE_SHUTDOWN_ACK_SENT;
}

/* Eviction class of the flow by its states, and its idle timeout. */
static enum evict_class
sctp_evict_class(const struct flow *flow)
{
	enum sctp_state a = (enum sctp_state)flow->sctp[0].state, b = (enum sctp_state)flow->sctp[1].state;

	if (sctp_association_is_closed(flow) || sctp_state_is_closing(a) || sctp_state_is_closing(b))
		return EVICT_CLASS_CLOSING;
	return a == SCTP_STATE_ESTABLISHED || b == SCTP_STATE_ESTABLISHED ? EVICT_CLASS_ESTABLISHED
									  : EVICT_CLASS_HALF_OPEN;
}

static uint64_t
sctp_idle_timeout_ns(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_limits *limits = flow_table_limits(table);

	if (sctp_association_is_closed(flow))
		return limits->sctp_closed_ns;
	return sctp_evict_class(flow) == EVICT_CLASS_ESTABLISHED ? limits->sctp_idle_ns : limits->sctp_setup_ns;
}

uint64_t
sctp_on_deadline(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t due = deadline_add(flow->last_seen, sctp_idle_timeout_ns(table, flow));

	/* Late packets do not prolong a closed association. */
	if (!sctp_association_is_closed(flow) && due > now)
		return due;
	if (sctp_paths_are_known(table, flow)) { /* else the association may have continued on another path */
		sctp_apply_input(flow, 0, SCTP_INPUT_TIMEOUT, now, events);
		sctp_apply_input(flow, 1, SCTP_INPUT_TIMEOUT, now, events);
	}
	sctp_addrs_release_both(table, flow);
	return 0;
}

void
sctp_on_evict(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	(void)now;
	(void)events;
	sctp_addrs_release_both(table, flow);
}

const char *
sctp_state_name(enum sctp_state state)
{
	static const char *const names[SCTP_STATE_COUNT] = {
		[SCTP_STATE_NONE] = "<unknown>",
		[SCTP_STATE_CLOSED] = "state-closed",
		[SCTP_STATE_COOKIE_WAIT] = "state-cookie-wait",
		[SCTP_STATE_COOKIE_ECHOED] = "state-cookie-echoed",
		[SCTP_STATE_ESTABLISHED] = "state-established",
		[SCTP_STATE_SHUTDOWN_PENDING] = "state-shutdown-pending",
		[SCTP_STATE_SHUTDOWN_SENT] = "state-shutdown-sent",
		[SCTP_STATE_SHUTDOWN_RECEIVED] = "state-shutdown-received",
		[SCTP_STATE_SHUTDOWN_ACK_SENT] = "state-shutdown-ack-sent",
	};

	return (unsigned)state < SCTP_STATE_COUNT ? names[state] : names[SCTP_STATE_NONE];
}
