/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast path for frames that change no state.  Most segments are in-order data and ACKs of an established
 * connection, and most datagrams belong to a known stream.  While no probe is enabled, peeking at the headers
 * (dissect/peek.h) is enough for them.  All other frames go to the caller's `slow_path`.
 */
#ifndef NETOBS_FLOW_FASTPATH_H
#define NETOBS_FLOW_FASTPATH_H

#include "dissect/peek.h"
#include "flow/flow.h"

/* What the fast path knows of a frame when it calls `slow_path`. */
struct flow_lookup {
	enum peek_kind peek_kind;
	unsigned sender; /* set with hash and key unless kind is PEEK_NONE */
	uint32_t hash;
	struct flow *candidate; /* candidate flow, NULL if there is none */
	bool needs_cold;	/* the packet will touch the cold half too */
	struct frame_peek peek;
	struct flow_key key;
};

struct fastpath {
	struct flow_table *table;
	unsigned local_epoch; /* flows with another flow.local_epoch are left to `slow_path` */
	void (*slow_path)(struct fastpath *fastpath, const struct frame *frame, const struct flow_lookup *lookup);
	void *context;	 /* the caller's */
	uint64_t clock;	 /* latest packet time so far, ns */
	uint64_t backward_frames; /* frames older than `clock` */
	uint64_t bytes;	 /* wire bytes of all frames */
	uint64_t fast_frames;	 /* frames that took the fast path; the caller may reset it */
};

/* Updates the connections of plain frames as flow_table_lookup_tcp() with tcp_segment_sent() and
 * tcp_segment_received(), or flow_table_lookup_udp(), would, if no event results; calls `slow_path` for every other
 * frame.  Keeps the order of frames.  Timers do not run here: a frame of an overdue flow goes to `slow_path`, and a
 * flow may be gone by the time `slow_path` gets its frame. */
void fastpath_run(struct fastpath *fastpath, const struct frame *frames, unsigned count);

#endif
