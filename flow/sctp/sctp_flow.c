/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the association of a packet, and ends idle associations. */
#include "flow/sctp/sctp.h"

#include "dissect/transport/sctp_chunks.h"
#include "flow/record/record_internal.h"
#include "flow/sctp/sctp_packet.h"

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

bool
sctp_association_is_closed(const struct flow *flow)
{
	enum sctp_state a = (enum sctp_state)flow->sctp[0].state, b = (enum sctp_state)flow->sctp[1].state;

	return (a == SCTP_STATE_CLOSED && (b == SCTP_STATE_CLOSED || b == SCTP_STATE_NONE)) ||
	       (b == SCTP_STATE_CLOSED && a == SCTP_STATE_NONE);
}

static bool
sctp_state_is_closing(enum sctp_state state)
{
	return state >= SCTP_STATE_SHUTDOWN_PENDING && state <= SCTP_STATE_SHUTDOWN_ACK_SENT;
}

enum evict_class
sctp_evict_class(const struct flow *flow)
{
	enum sctp_state a = (enum sctp_state)flow->sctp[0].state, b = (enum sctp_state)flow->sctp[1].state;

	if (sctp_association_is_closed(flow) || sctp_state_is_closing(a) || sctp_state_is_closing(b))
		return EVICT_CLASS_CLOSING;
	return a == SCTP_STATE_ESTABLISHED || b == SCTP_STATE_ESTABLISHED ? EVICT_CLASS_ESTABLISHED
									  : EVICT_CLASS_HALF_OPEN;
}

uint64_t
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
