/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that an observer calls for every frame that it observes, with the connections of its packets and their
 * events.  A frame of the fast path is one call; for others begin_frame(), then what is found in the frame in the order
 * in which its probes fire, then end_frame().  Not for frames that are skipped.
 */
#ifndef NETOBS_OBSERVE_FRAME_LISTENER_H
#define NETOBS_OBSERVE_FRAME_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "dissect/packet.h"
#include "flow/flow.h"

/* A packet of a frame. */
struct frame_packet {
	const struct flow *flow; /* its connection, or the one that an ICMP error quotes; NULL if there is none */
	unsigned sender;	 /* end of the flow that sent it; for a quoted connection, see struct packet_work */
	unsigned direction;	 /* DIRECTION_ value of the link header */
	uint64_t packet_id;	 /* pkt_addr */
	bool datagram;		 /* the fragment before it has completed this packet */
	bool reset, zero_window; /* TCP: a RST; a segment with a window of 0, but no SYN */
};

struct frame_listener {
	/* A frame of the fast path: one packet of a flow of which packets were reported before, no event. */
	void (*on_fast_frame)(void *context, const struct frame *frame, uint64_t now,
			      const struct frame_packet *packet);
	/* Frames of the fast path with these flows will probably follow soon. */
	void (*prefetch)(void *context, const struct flow *const *flows, unsigned count);

	/* The outgoing copy of a loopback frame, which is not observed: the frame follows.  NULL: it is skipped. */
	void (*on_copy)(void *context, const struct frame *frame, uint64_t now, const struct packet *packet,
			const struct frame_packet *found);

	void (*begin_frame)(void *context, const struct frame *frame, uint64_t now);
	/* A fragment, before the packet that it may complete. */
	void (*on_fragment)(void *context, const struct packet *fragment);
	void (*on_packet)(void *context, const struct frame_packet *packet);
	/* Between the first event of a packet and its on_packet(). */
	void (*on_event)(void *context, const struct flow *flow, const struct flow_event *event);
	void (*end_frame)(void *context);
};

/* Receives frames in place of an observer, in their order and with their packet time. */
typedef void frame_visitor(void *context, const struct frame *frame, uint64_t now);

#endif
