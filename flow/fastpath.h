/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path for frames that change no state.  Most segments are in-order data and ACKs of an established
 * connection, and most datagrams belong to a known stream.  While no probe is enabled, peeking at the headers
 * (dissect/peek.h) is enough for them.  All other frames go to the caller's `other`.
 */
#ifndef NETOBS_FLOW_FASTPATH_H
#define NETOBS_FLOW_FASTPATH_H

#include "dissect/peek.h"
#include "flow/flow.h"

/* What the fast path knows of a frame when it calls `other`. */
struct sight {
	enum glance_kind kind;
	unsigned sender; /* set with hash and key unless kind is GLANCE_NONE */
	uint32_t hash;
	struct flow *near; /* candidate flow, NULL if there is none */
	bool rest;	   /* the packet will touch the cold half too */
	struct glance glance;
	struct flow_key key;
};

struct onward {
	struct flow_table *table;
	unsigned judged; /* flows with another flow.judged are left to `other` */
	void (*other)(struct onward *onward, const struct frame *frame, const struct sight *sight);
	void *context;	 /* the caller's */
	uint64_t clock;	 /* latest packet time so far, ns */
	uint64_t backwards; /* frames older than `clock` */
	uint64_t bytes;	 /* wire bytes of all frames */
	uint64_t moved;	 /* frames that took the fast path; the caller may reset it */
};

/* Updates the connections of plain frames as flow_for_tcp() with tcp_sent() and tcp_received(), or flow_for_udp(),
 * would, if no event results; calls `other` for every other frame.  Keeps the order of frames.  Timers do not run here:
 * a frame of an overdue flow goes to `other`, and a flow may be gone by the time `other` gets its frame. */
void flow_onward(struct onward *onward, const struct frame *frames, unsigned count);

#endif
