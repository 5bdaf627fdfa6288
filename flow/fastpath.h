/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that only move a connection on.
 *
 * Most segments are data and ACKs of an established connection, in order, and most datagrams belong to a stream that is
 * known.  While nobody listens a glance at such a frame (dissect/peek.h) is enough.  All others are handed back.
 */
#ifndef NETOBS_FLOW_FASTPATH_H
#define NETOBS_FLOW_FASTPATH_H

#include "dissect/peek.h"
#include "flow/flow.h"

/* What is known of a frame that is handed back. */
struct sight {
	enum glance_kind kind;
	unsigned sender; /* as hash and key, set unless kind is GLANCE_NONE */
	uint32_t hash;
	struct flow *near; /* the flow that it probably belongs to, NULL if there is none */
	bool rest;	   /* more than its hot half will be touched */
	struct glance glance;
	struct flow_key key;
};

struct onward {
	struct flow_table *table;
	unsigned judged; /* flows with another flow.judged are not moved on */
	void (*other)(struct onward *onward, const struct frame *frame, const struct sight *sight);
	void *context;	 /* the caller's */
	uint64_t clock;	 /* the latest packet time so far, ns */
	uint64_t backwards; /* frames that were older than that */
	uint64_t bytes;	 /* of all frames, on the wire */
	uint64_t moved;	 /* frames that were not handed back; the caller may set it to 0 */
};

/* Moves the connections of plain frames on, as flow_for_tcp() with tcp_sent() and tcp_received(), or flow_for_udp(),
 * would where they tell no event; calls `other` for every other frame.  In the order of the frames.  No timer runs,
 * except for who is found to be overdue: such a flow is not moved on, and a flow may be gone when its frame comes to
 * `other`. */
void flow_onward(struct onward *onward, const struct frame *frames, unsigned count);

#endif
