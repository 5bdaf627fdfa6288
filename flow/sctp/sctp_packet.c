/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the chunks of a packet into inputs of the two state machines. */
#include "flow/sctp/sctp_packet.h"

#include "dissect/transport/sctp_chunks.h"

enum { INIT_FIXED = 20, INIT_PARAMETERS = 16, DATA_HEADER = 16, I_DATA_HEADER = 20 };

struct step {
	struct flow_table *table;
	struct flow *flow;
	struct sctp_end *e;	     /* the endpoint that sends or receives */
	const struct sctp_end *peer; /* the other endpoint, read only */
	const struct packet *packet;
	const struct sctp_look *look;
	struct flow_events *events;
	uint64_t now;
	unsigned end; /* number of endpoint e, 0 or 1 */
	bool over;    /* the association was closed before this packet */
	bool up;      /* the endpoint was up before this packet */
};

/* --- the bundle as a whole --- */

/* Minimum length of each chunk type, header included (RFC 9260 section 3.3). */
static bool
is_too_short(const struct sctp_chunk *chunk)
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
must_be_alone(uint16_t type)
{
	return type == SCTP_CHUNK_INIT || type == SCTP_CHUNK_INIT_ACK || type == SCTP_CHUNK_SHUTDOWN_COMPLETE;
}

struct sctp_look
sctp_look_at(const struct packet *packet)
{
	struct sctp_look look = {.odd = ANOMALY_NONE};
	struct cursor c = sctp_chunks(packet);
	struct sctp_chunk chunk;
	bool alone = false;

	while (sctp_chunk_next(&c, &chunk)) {
		if (look.chunks++ == 0)
			look.first = (uint8_t)chunk.type;
		alone |= must_be_alone(chunk.type);
		if (is_too_short(&chunk))
			look.odd = ANOMALY_SCTP_CHUNK_SHORT;
		if (chunk.type == SCTP_CHUNK_INIT || chunk.type == SCTP_CHUNK_INIT_ACK) {
			look.init = chunk.type == SCTP_CHUNK_INIT;
			look.new_tag = view_u32(chunk.value, 0);
			if (look.new_tag == 0 && chunk.value.len >= 4 && look.odd == ANOMALY_NONE)
				look.odd = ANOMALY_SCTP_TAG_ZERO; /* section 3.3.2 */
		}
		look.cookie_echo |= chunk.type == SCTP_CHUNK_COOKIE_ECHO;
		if (chunk.type == SCTP_CHUNK_ABORT || chunk.type == SCTP_CHUNK_SHUTDOWN_COMPLETE)
			look.reflected |= (chunk.flags & SCTP_FLAG_T) != 0;
	}
	if (alone && look.chunks > 1)
		look.odd = ANOMALY_SCTP_BUNDLE; /* section 6.10 */
	return look;
}

static bool
is_tag_of(const struct sctp_end *e, uint32_t tag)
{
	if (tag == 0)
		return false;
	return e->tag == 0 || tag == e->tag || tag == e->other_tag;
}

bool
sctp_tag_fits(const struct flow *flow, unsigned sender, const struct packet *packet, const struct sctp_look *look)
{
	if (look->init)
		return packet->sctp.verify == 0;
	return is_tag_of(&flow->sctp[look->reflected ? sender : 1 - sender], packet->sctp.verify);
}

/* --- states --- */

void
sctp_input(struct flow *flow, unsigned end, enum sctp_input input, uint64_t now, struct flow_events *events)
{
	struct sctp_end *e = &flow->sctp[end];
	enum sctp_state next;

	while ((next = sctp_machine_next((enum sctp_state)e->state, input)) != e->state) {
		struct sctp_end before = *e;
		struct flow_event *event;

		e->state = (uint8_t)next;
		if (before.state == SCTP_STATE_NONE)
			continue; /* the first change only sets the state before the first packet: no event */
		event = event_add(events, EVENT_SCTP_STATE_CHANGE, end, now);
		event->sctp_before = before;
		event->sctp_after = *e;
	}
}

static void
input(const struct step *step, enum sctp_input what)
{
	sctp_input(step->flow, step->end, what, step->now, step->events);
}

/* In a state from ESTABLISHED to SHUTDOWN_ACK_SENT. */
static bool
is_up(const struct sctp_end *e)
{
	return e->state >= SCTP_STATE_ESTABLISHED && e->state <= SCTP_STATE_SHUTDOWN_ACK_SENT;
}

/* Whether the packet carries a tag known only from an INIT: it belongs to a restart that is not confirmed yet. */
static bool
is_of_restart(const struct sctp_end *receiver, const struct packet *packet)
{
	return is_up(receiver) && receiver->tag != 0 && packet->sctp.verify != receiver->tag;
}

static void
settle(const struct step *step)
{
	struct flow_table *table = step->table;
	struct flow *flow = step->flow;
	enum flow_class class = sctp_class(flow), before = cold_class(flow_cold(table, flow));

	/* A tag offered before the endpoint came up is no longer valid. */
	if (is_up(step->e) && !step->up && step->e->other_tag != 0) {
		step->e->other_tag = 0;
		home_rename(table, flow, step->end);
	}
	if (class == before && sctp_is_over(flow) == step->over)
		return;
	flow_set_class(table, flow, class);
	flow_set_deadline(table, flow, deadline_after(step->now, sctp_patience(table, flow)));
}

/* --- tags and addresses --- */

/* Sets a new tag for an endpoint that is not up.  The old tag is kept, because it may still be answered. */
static void
choose_tag(const struct step *step, uint32_t tag)
{
	struct sctp_end *e = step->e;

	if (tag == 0 || tag == e->tag)
		return;
	e->other_tag = e->tag;
	e->tag = tag;
	home_rename(step->table, step->flow, step->end);
}

/* A packet with the other tag shows that this is the tag in use. */
static void
use_other_tag(const struct step *step)
{
	struct sctp_end *e = step->e;
	uint32_t tag = e->other_tag;

	e->other_tag = is_up(e) ? 0 : e->tag;
	e->tag = tag;
	home_rename(step->table, step->flow, step->end);
}

/* Records the addresses listed in an INIT or INIT ACK (RFC 9260 sections 3.3.2.1 and 5.1.2), and its source address. */
static void
learn_addresses(const struct step *step, const struct sctp_chunk *chunk)
{
	struct cursor c = sctp_parameters(chunk, INIT_PARAMETERS);
	const struct ip_layer *ip = &step->packet->ip;
	struct sctp_chunk parameter;
	static const uint8_t any[16];

	home_add(step->table, step->flow, step->end, ip->src, ip->version);
	while (sctp_parameter_next(&c, &parameter)) {
		uint8_t address[16] = {0};
		bool ipv4 = parameter.type == SCTP_PARAMETER_IPV4, ipv6 = parameter.type == SCTP_PARAMETER_IPV6;

		if ((!ipv4 || parameter.value.len != 4) && (!ipv6 || parameter.value.len != 16))
			continue;
		view_copy(parameter.value, 0, address, parameter.value.len);
		if (memcmp(address, any, sizeof any) != 0)
			home_add(step->table, step->flow, step->end, address, ipv4 ? 4 : 6);
	}
}

static void
judge_offer(const struct step *step, const struct sctp_chunk *chunk, enum sctp_input what)
{
	struct sctp_end *e = step->e;

	if (is_up(e)) { /* a restart or a forgery: decided by the COOKIE ECHO */
		if (step->look->new_tag == e->tag)
			return;
		e->other_tag = step->look->new_tag;
		home_rename(step->table, step->flow, step->end);
		return;
	}
	choose_tag(step, step->look->new_tag);
	learn_addresses(step, chunk);
	if (chunk->value.len >= INIT_PARAMETERS) {
		e->rwnd = view_u32(chunk->value, 4);
		e->streams_out = view_u16(chunk->value, 8);
		e->streams_in = view_u16(chunk->value, 10);
		e->tsn = view_u32(chunk->value, 12);
		e->flags |= SCTP_END_INIT | SCTP_END_DATA;
	}
	input(step, what);
}

/* --- sent --- */

static void
count_data(struct sctp_end *e, const struct sctp_chunk *chunk)
{
	uint32_t header = chunk->type == SCTP_CHUNK_DATA ? DATA_HEADER : I_DATA_HEADER;
	uint32_t tsn = view_u32(chunk->value, 0);

	e->chunks++;
	if (chunk->value.len < 4)
		return;
	if ((e->flags & SCTP_END_DATA) != 0 && (int32_t)(tsn - e->tsn) < 0) {
		e->retransmits++;
		return;
	}
	e->flags |= SCTP_END_DATA;
	e->tsn = tsn + 1;
	e->bytes += chunk->length - header;
}

static void
count_ack(struct sctp_end *e, const struct sctp_chunk *chunk, bool has_window)
{
	if (chunk->value.len < 8 && (has_window || chunk->value.len < 4))
		return;
	e->flags |= SCTP_END_ACKS;
	e->acked = view_u32(chunk->value, 0);
	if (has_window)
		e->rwnd = view_u32(chunk->value, 4);
}

/* Data bundled with a COOKIE ECHO does not prove that the sender is established (section 5.1). */
static void
judge_open(const struct step *step)
{
	if (!step->look->cookie_echo)
		input(step, SCTP_SEND_OPEN);
}

/* Processes a chunk that the endpoint sent.  False if the rest of the packet is ignored. */
static bool
judge_sent(const struct step *step, const struct sctp_chunk *chunk)
{
	switch (chunk->type) {
	case SCTP_CHUNK_INIT:
		if (step->peer->state == SCTP_STATE_NONE)
			step->e->flags |= SCTP_END_ACTIVE;
		judge_offer(step, chunk, SCTP_SEND_INIT);
		return true;
	case SCTP_CHUNK_INIT_ACK:
		judge_offer(step, chunk, SCTP_SEND_INIT_ACK);
		return true;
	case SCTP_CHUNK_COOKIE_ECHO:
		input(step, SCTP_SEND_COOKIE_ECHO);
		return true;
	case SCTP_CHUNK_COOKIE_ACK:
		input(step, SCTP_SEND_COOKIE_ACK);
		return true;
	case SCTP_CHUNK_DATA:
	case SCTP_CHUNK_I_DATA:
		count_data(step->e, chunk);
		judge_open(step);
		return true;
	case SCTP_CHUNK_SACK:
	case SCTP_CHUNK_NR_SACK:
		count_ack(step->e, chunk, true);
		judge_open(step);
		return true;
	case SCTP_CHUNK_FORWARD_TSN:
	case SCTP_CHUNK_I_FORWARD_TSN:
	case SCTP_CHUNK_ASCONF:
	case SCTP_CHUNK_ASCONF_ACK:
	case SCTP_CHUNK_RE_CONFIG:
		judge_open(step);
		return true;
	case SCTP_CHUNK_HEARTBEAT:
	case SCTP_CHUNK_HEARTBEAT_ACK:
		input(step, SCTP_SEND_ALIVE);
		return true;
	case SCTP_CHUNK_SHUTDOWN:
		count_ack(step->e, chunk, false);
		input(step, SCTP_SEND_SHUTDOWN);
		return true;
	case SCTP_CHUNK_SHUTDOWN_ACK:
		input(step, SCTP_SEND_SHUTDOWN_ACK);
		return true;
	case SCTP_CHUNK_SHUTDOWN_COMPLETE:
		input(step, step->look->reflected ? SCTP_SEND_REFLECTED : SCTP_SEND_SHUTDOWN_COMPLETE);
		return false;
	case SCTP_CHUNK_ABORT:
		input(step, step->look->reflected ? SCTP_SEND_REFLECTED : SCTP_SEND_ABORT);
		return false; /* section 3.3.7: the rest is ignored */
	default:
		return true; /* AUTH, ERROR and unknown chunks change no state */
	}
}

static struct step
begin(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet,
      const struct sctp_look *look, uint64_t now, struct flow_events *events)
{
	return (struct step){
		.table = table,
		.flow = flow,
		.e = &flow->sctp[end],
		.peer = &flow->sctp[1 - end],
		.packet = packet,
		.look = look,
		.events = events,
		.now = now,
		.end = end,
		.over = sctp_is_over(flow),
		.up = is_up(&flow->sctp[end]),
	};
}

/* The endpoint's COOKIE ECHO carries the tag of the INIT ACK that answered its new INIT: it has restarted (section
 * 5.2.4, A). */
static void
begin_anew(const struct step *step)
{
	struct sctp_end *e = step->e;

	if (!is_up(e))
		return;
	flow_table_sctp(step->table)->counters.restarts++;
	input(step, SCTP_SUPERSEDED);
	e->tag = e->other_tag;
	e->other_tag = 0;
	home_rename(step->table, step->flow, step->end);
	e->flags &= (uint8_t)~(SCTP_END_DATA | SCTP_END_ACKS);
}

void
sctp_sent(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	  struct flow_events *events)
{
	struct sctp_look look = sctp_look_at(packet);
	struct step step = begin(table, flow, end, packet, &look, now, events);
	struct cursor c = sctp_chunks(packet);
	bool aside = !look.init && !look.reflected && is_of_restart(step.peer, packet);
	struct sctp_chunk chunk;

	if (look.odd != ANOMALY_NONE || !sctp_tag_fits(flow, end, packet, &look))
		return;
	step.e->packets++;
	if (aside && look.cookie_echo)
		begin_anew(&step);
	while (sctp_chunk_next(&c, &chunk)) {
		if (aside && !look.cookie_echo && chunk.type != SCTP_CHUNK_INIT_ACK)
			continue;
		if (!judge_sent(&step, &chunk))
			break;
	}
	settle(&step);
}

/* --- received --- */

/* Processes a chunk that the endpoint received.  False if the rest of the packet is ignored. */
static bool
judge_received(const struct step *step, const struct sctp_chunk *chunk, bool restart)
{
	switch (chunk->type) {
	case SCTP_CHUNK_INIT:
		input(step, SCTP_RECV_INIT);
		return true;
	case SCTP_CHUNK_INIT_ACK:
		input(step, SCTP_RECV_INIT_ACK);
		return true;
	case SCTP_CHUNK_COOKIE_ECHO:
		input(step, restart ? SCTP_RECV_RESTART : SCTP_RECV_COOKIE_ECHO);
		return true;
	case SCTP_CHUNK_COOKIE_ACK:
		input(step, SCTP_RECV_COOKIE_ACK);
		return true;
	case SCTP_CHUNK_SHUTDOWN:
		input(step, SCTP_RECV_SHUTDOWN);
		return true;
	case SCTP_CHUNK_SHUTDOWN_ACK:
		input(step, SCTP_RECV_SHUTDOWN_ACK);
		return true;
	case SCTP_CHUNK_SHUTDOWN_COMPLETE:
		input(step, SCTP_RECV_SHUTDOWN_COMPLETE);
		return false;
	case SCTP_CHUNK_ABORT:
		input(step, SCTP_RECV_ABORT);
		return false;
	case SCTP_CHUNK_HEARTBEAT:
	case SCTP_CHUNK_HEARTBEAT_ACK:
		input(step, SCTP_RECV_ALIVE);
		return true;
	case SCTP_CHUNK_DATA:
	case SCTP_CHUNK_I_DATA:
	case SCTP_CHUNK_SACK:
	case SCTP_CHUNK_NR_SACK:
		input(step, SCTP_RECV_OPEN);
		return true;
	default:
		return true;
	}
}

/* Learns the tag of an endpoint from a packet sent to it: a first tag, or which of its two tags is in use. */
static void
learn_tag(const struct step *step)
{
	struct sctp_end *e = step->e;
	uint32_t tag = step->packet->sctp.verify;

	if (e->tag == 0)
		choose_tag(step, tag);
	else if (tag != e->tag && !is_up(e))
		use_other_tag(step);
}

void
sctp_received(struct flow_table *table, struct flow *flow, unsigned end, const struct packet *packet, uint64_t now,
	      struct flow_events *events)
{
	struct sctp_look look = sctp_look_at(packet);
	struct step step = begin(table, flow, end, packet, &look, now, events);
	struct cursor c = sctp_chunks(packet);
	bool aside = !look.init && !look.reflected && is_of_restart(step.e, packet);
	struct sctp_chunk chunk;

	if (look.odd != ANOMALY_NONE || !sctp_tag_fits(flow, 1 - end, packet, &look))
		return;
	if (aside && !look.cookie_echo)
		return;
	/* In SHUTDOWN_ACK_SENT the endpoint does not accept a restart: it repeats its SHUTDOWN ACK (section 5.2.4,
	 * A). */
	if (aside && step.e->state != SCTP_STATE_SHUTDOWN_ACK_SENT)
		use_other_tag(&step);
	if (!look.init && !look.reflected)
		learn_tag(&step);
	while (sctp_chunk_next(&c, &chunk) && judge_received(&step, &chunk, aside))
		continue;
	settle(&step);
}
