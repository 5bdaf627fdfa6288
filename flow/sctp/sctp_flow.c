/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the association of a packet, and ends associations that fall silent. */
#include "flow/sctp/sctp.h"

#include "dissect/transport/sctp_chunks.h"
#include "flow/sctp/sctp_packet.h"

/* After this many consecutive packets with the same wrong tag another association is assumed. */
#define STRAYS 3

/* Most endpoints with the same tag and ports that a search examines. */
#define NAMESAKES 8

/* Whether a packet with this first chunk proves that an association exists or is being set up.  ABORT, ERROR and
 * SHUTDOWN COMPLETE do not: they also answer packets of no association (RFC 9260 section 8.4). */
static bool
proves_association(uint8_t type)
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
forget_homes(struct flow_table *table, struct flow *flow)
{
	home_drop(table, flow, 0);
	home_drop(table, flow, 1);
}

/* --- other paths --- */

/* Rank of a path for an association, 0 if it does not fit.  If the INIT and INIT ACK were captured, at least one of the
 * two addresses must be known; such an association ranks above one that was picked up in mid-stream. */
static unsigned
rank_path(const struct flow_table *table, const struct flow *flow, unsigned sender, const struct packet *packet)
{
	const struct ip_layer *ip = &packet->ip;
	unsigned known = home_has(table, flow, sender, ip->src, ip->version) +
			 home_has(table, flow, 1 - sender, ip->dst, ip->version);
	bool told = (flow->sctp[0].flags & flow->sctp[1].flags & SCTP_END_INIT) != 0;

	return told ? known * 4 : known + 1;
}

static struct flow *
find_by_tag(struct flow_table *table, const struct packet *packet, const struct sctp_look *look, uint16_t space,
	    unsigned *sender)
{
	const struct sctp_layer *sctp = &packet->sctp;
	bool senders = look->init || look->reflected; /* the tag is the sender's */
	struct sctp_tag tag = {
		.tag = look->init ? look->new_tag : sctp->verify,
		.port = senders ? sctp->sport : sctp->dport,
		.peer_port = senders ? sctp->dport : sctp->sport,
	};
	const struct sctp_store *store = flow_table_sctp(table);
	struct flow *best = NULL;
	unsigned best_rank = 0;
	uint32_t name = 0;

	if (tag.tag == 0)
		return NULL;
	for (unsigned i = 0; i < NAMESAKES && (name = home_find(table, &tag, name)) != 0; i++) {
		const struct sctp_home *home = home_named(store, name);
		struct flow *flow = flow_table_at(table, home->flow);
		unsigned from = senders ? home->end : 1u - home->end;
		unsigned rank = flow->key.space == space ? rank_path(table, flow, from, packet) : 0;

		if (rank > best_rank) {
			best_rank = rank;
			best = flow;
			*sender = from;
		}
	}
	return best;
}

/* Like find_by_tag(), unless the flow's timer has expired.  Records the addresses of the path. */
static struct flow *
find_on_other_path(struct flow_table *table, const struct packet *packet, const struct sctp_look *look, uint16_t space,
		   unsigned *sender, uint64_t now)
{
	const struct ip_layer *ip = &packet->ip;
	struct flow *flow = find_by_tag(table, packet, look, space, sender);

	if (flow != NULL)
		flow = flow_find_live(table, &flow->key, flow->hash, now);
	if (flow == NULL)
		return NULL;
	home_add(table, flow, *sender, ip->src, ip->version);
	home_add(table, flow, 1 - *sender, ip->dst, ip->version);
	flow_table_sctp(table)->counters.other_paths++;
	return flow;
}

/* --- creation and removal --- */

static struct flow *
create(struct flow_table *table, const struct flow_key *key, uint32_t hash, unsigned sender, bool init, uint64_t now)
{
	struct flow *flow = flow_create(table, key, hash, FLOW_SCTP, CLASS_HALF_OPEN, sender, now,
					deadline_after(now, flow_table_limits(table)->sctp_setup_ns));

	if (!init)
		flow_table_count(table)->midstream++;
	return flow;
}

/* The same ends started another association: ends the old one and reports that. */
static void
supersede(struct flow_table *table, struct flow *flow, uint64_t now)
{
	struct flow_events events = {.count = 0};

	sctp_input(flow, 0, SCTP_SUPERSEDED, now, &events);
	sctp_input(flow, 1, SCTP_SUPERSEDED, now, &events);
	flow_report(table, flow, &events);
	forget_homes(table, flow);
	flow_remove(table, flow);
	flow_table_count(table)->reused++;
}

/* Counts consecutive packets with the same wrong tag.  Not applicable to an INIT and to chunks that answer packets of
 * no association. */
static bool
is_another_association(struct flow *flow, unsigned sender, const struct packet *packet, const struct sctp_look *look,
		       bool fits)
{
	struct sctp_end *receiver = &flow->sctp[1 - sender];

	if (look->init || look->reflected || !proves_association(look->first))
		return false;
	if (fits) {
		receiver->stray = 0;
		return false;
	}
	if (receiver->stray == 0 || receiver->stray_tag != packet->sctp.verify) {
		receiver->stray = 0;
		receiver->stray_tag = packet->sctp.verify;
	}
	return packet->sctp.verify != 0 && ++receiver->stray >= STRAYS;
}

/* Whether the packet belongs to the successor of this association, which has therefore ended. */
static bool
is_of_successor(struct flow *flow, unsigned sender, const struct packet *packet, const struct sctp_look *look,
		bool fits)
{
	if (look->init && fits && sctp_is_over(flow) && look->new_tag != flow->sctp[sender].tag)
		return true;
	return is_another_association(flow, sender, packet, look, fits);
}

/* Finds the flow by addresses or by tag.  The tag decides if the two disagree, or if the flow's tag is not known
 * yet. */
static struct flow *
find(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
     const struct sctp_look *look, unsigned *sender, uint64_t now)
{
	struct flow *flow = flow_find_live(table, key, hash, now), *other;
	unsigned other_sender = *sender;

	if (look->odd != ANOMALY_NONE || look->chunks == 0)
		return flow;
	if (flow != NULL && (look->init || flow->sctp[look->reflected ? *sender : 1 - *sender].tag != 0) &&
	    sctp_tag_fits(flow, *sender, packet, look))
		return flow;
	other = find_on_other_path(table, packet, look, key->space, &other_sender, now);
	if (other == NULL)
		return flow_find(table, key, hash);
	*sender = other_sender;
	return other;
}

static struct flow *
begin(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
      const struct sctp_look *look, unsigned sender, uint64_t now)
{
	bool fits = look->init == (packet->sctp.verify == 0);

	if (look->odd != ANOMALY_NONE || look->chunks == 0 || !fits || !proves_association(look->first))
		return NULL;
	return create(table, key, hash, sender, look->init, now);
}

struct flow *
flow_for_sctp(struct flow_table *table, const struct packet *packet, const struct flow_key *key, uint32_t hash,
	      unsigned *sender, uint64_t now, enum anomaly *odd)
{
	struct sctp_counters *counters = &flow_table_sctp(table)->counters;
	struct sctp_look look = sctp_look_at(packet);
	unsigned key_sender = *sender;
	struct flow *flow = find(table, packet, key, hash, &look, sender, now);
	bool sound = look.odd == ANOMALY_NONE && look.chunks > 0;
	bool fits = sound && flow != NULL && sctp_tag_fits(flow, *sender, packet, &look);

	if (sound && flow != NULL && is_of_successor(flow, *sender, packet, &look, fits)) {
		supersede(table, flow, now);
		flow = NULL;
	}
	if (flow == NULL) {
		*sender = key_sender;
		flow = begin(table, packet, key, hash, &look, key_sender, now);
		fits = look.init == (packet->sctp.verify == 0);
	} else if (now > flow->last) {
		flow->last = now;
	}
	*odd = sound && !fits ? ANOMALY_SCTP_TAG : look.odd;
	counters->tags += *odd == ANOMALY_SCTP_TAG;
	counters->bundles += *odd == ANOMALY_SCTP_BUNDLE;
	return flow;
}

/* --- timers --- */

bool
sctp_is_over(const struct flow *flow)
{
	enum sctp_state a = (enum sctp_state)flow->sctp[0].state, b = (enum sctp_state)flow->sctp[1].state;

	return (a == SCTP_STATE_CLOSED && (b == SCTP_STATE_CLOSED || b == SCTP_STATE_NONE)) ||
	       (b == SCTP_STATE_CLOSED && a == SCTP_STATE_NONE);
}

static bool
is_closing(enum sctp_state state)
{
	return state >= SCTP_STATE_SHUTDOWN_PENDING && state <= SCTP_STATE_SHUTDOWN_ACK_SENT;
}

enum flow_class
sctp_class(const struct flow *flow)
{
	enum sctp_state a = (enum sctp_state)flow->sctp[0].state, b = (enum sctp_state)flow->sctp[1].state;

	if (sctp_is_over(flow) || is_closing(a) || is_closing(b))
		return CLASS_CLOSING;
	return a == SCTP_STATE_ESTABLISHED || b == SCTP_STATE_ESTABLISHED ? CLASS_ESTABLISHED : CLASS_HALF_OPEN;
}

uint64_t
sctp_patience(const struct flow_table *table, const struct flow *flow)
{
	const struct flow_limits *limits = flow_table_limits(table);

	if (sctp_is_over(flow))
		return limits->sctp_closed_ns;
	return sctp_class(flow) == CLASS_ESTABLISHED ? limits->sctp_idle_ns : limits->sctp_setup_ns;
}

uint64_t
sctp_timer(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	uint64_t due = deadline_after(flow->last, sctp_patience(table, flow));

	/* Late packets do not prolong a closed association. */
	if (!sctp_is_over(flow) && due > now)
		return due;
	sctp_input(flow, 0, SCTP_GAVE_UP, now, events);
	sctp_input(flow, 1, SCTP_GAVE_UP, now, events);
	forget_homes(table, flow);
	return 0;
}

void
sctp_evicted(struct flow_table *table, struct flow *flow, uint64_t now, struct flow_events *events)
{
	(void)now;
	(void)events;
	forget_homes(table, flow);
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
