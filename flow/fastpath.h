/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path: packets that only need the state of a known flow updated.
 *
 * Most segments are data and ACKs of an established connection, in order, and most datagrams belong to a known stream.
 * They cause no event, so while no probe is enabled that fires for every packet, what the peek has read of such a
 * packet (dissect/peek.h) is enough.  All other packets go the slow path: flow_table_lookup_tcp(), tcp_segment_sent()
 * and so on; while neither events nor records need them, segments in order that open or close a connection do not
 * (flow/tcp/tcp_fastpath.h).
 *
 * The lookup of a flow is spread over stages, so that the memory of one packet's flow is fetched while other packets
 * are worked on: start, fetch flow, fetch cold, fetch links.
 */
#ifndef NETOBS_FLOW_FASTPATH_H
#define NETOBS_FLOW_FASTPATH_H

#include "dissect/peek.h"
#include "flow/flow.h"

struct flow_lookup {
	struct flow *candidate; /* the flow that the packet probably belongs to, NULL if there is none */
	uint32_t hash;
	unsigned sender;	/* the end of the key that sent the packet */
	bool needs_cold;	/* the cold half of the candidate will be touched */
	struct flow_record *record; /* of the candidate; only set by flow_lookup_fetch_record() */
	struct flow_key key;
};

/* Sets key, hash and sender, and prefetches the home slot. */
void flow_lookup_start(const struct flow_table *table, struct flow_lookup *lookup, const struct frame_peek *peek);

/* Sets the candidate, and prefetches it. */
void flow_lookup_fetch_flow(const struct flow_table *table, struct flow_lookup *lookup);

/* While records are kept: prefetches the candidate's record. */
void flow_lookup_fetch_record(const struct flow_table *table, struct flow_lookup *lookup);

/* Prefetches the cold half of a TCP flow that opens, closes or may change its state. */
void flow_lookup_fetch_cold(const struct flow_table *table, struct flow_lookup *lookup, enum peek_kind kind);

/* Prefetches the neighbours of that cold half in its lists. */
void flow_lookup_fetch_links(const struct flow_table *table, const struct flow_lookup *lookup);

/* Updates the flow of a packet of the kind PEEK_FIN, PEEK_TCP or PEEK_UDP exactly as flow_table_lookup_tcp() with
 * tcp_segment_sent() and tcp_segment_received(), or flow_table_lookup_udp(), would if they report no event but those
 * with which a connection opens and closes, and these only while they are omitted (flow_table_omit_states()).  False,
 * with nothing changed, if the packet has to go the slow path.  `now` is packet time. */
bool fastpath_apply(struct flow_table *table, const struct flow_lookup *lookup, enum peek_kind kind,
		    const struct frame_peek *peek, uint64_t now);

/* Why fastpath_apply() or, with `records`, fastpath_apply_recorded() has returned false for a packet with a
 * candidate. */
enum fastpath_obstacle {
	FASTPATH_GONE,	   /* the candidate was removed since the lookup, or is another flow with the same hash */
	FASTPATH_SEGMENT,  /* the segment is not the expected one */
	FASTPATH_REPORTED, /* it may open or close the connection or begins its record: events or records need it */
	FASTPATH_TIMER,	   /* the deadline of the flow has passed */
};
enum fastpath_obstacle fastpath_find_obstacle(const struct flow_table *table, const struct flow_lookup *lookup,
					      enum peek_kind kind, uint64_t now, bool records);

/* Like fastpath_apply() while records are kept: also counts the packet in the record.  `wire`: bytes on the wire.  The
 * first packet of a record goes the slow path. */
bool fastpath_apply_recorded(struct flow_table *table, const struct flow_lookup *lookup, enum peek_kind kind,
			     const struct frame_peek *peek, uint64_t now, uint32_t wire);

#endif
