/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two halves of the observer: batches and frames (observe.c), and packets (observe_packet.c). */
#ifndef NETOBS_DAEMON_OBSERVE_OBSERVER_INTERNAL_H
#define NETOBS_DAEMON_OBSERVE_OBSERVER_INTERNAL_H

#include "daemon/host/locality.h"
#include "daemon/observe/app_layer.h"
#include "daemon/observe/observer.h"
#include "daemon/owner/owner_lookup.h"
#include "flow/reassembly/reassembly.h"

/* Distance in frames between two steps of a frame (observe_frames()).  Against running each step over a whole batch of
 * 32 this saves 18 ns a frame of 180 with 100,000 connections; distances of 8 and 12 save 10 and 0. */
#define OBSERVE_PREFETCH_DISTANCE 4
#define OBSERVE_PIPELINE_DEPTH	  16 /* a power of two above three distances */

/* A packet in progress, from dissection to observation. */
struct packet_work {
	struct packet packet;
	struct flow_key key;
	uint32_t hash;
	unsigned sender; /* end of the key that sent it; for a quoted connection, the end that the error concerns */
	bool has_key;	 /* key, hash and sender are set */
	struct flow *candidate; /* tracked: candidate flow, NULL if there is none */
	bool stream_starts;	/* a UDP stream whose start event has not fired yet */
	struct flow *flow; /* flow of the packet, or of the packet that an ICMP error quotes; NULL if there is none */
};

struct observer {
	const struct config *config;
	const struct local_addrs *local_addrs;
	struct lower_dedup *lower_dedup; /* NULL: duplicates are not skipped */
	enum view_mode view;
	struct flow_table *flows;
	struct reassembly *fragments;
	struct emitter *emitter;
	struct owner_lookup *owner_lookup; /* NULL: owners are not looked up */
	struct app_layer *app_layer;
	uint64_t clock;		 /* latest packet time so far, ns */
	uint64_t last_packet_id; /* last packet id */
	bool input_ended;	 /* the input has ended */
	bool untraced;		 /* no probe is enabled; determined once per call for all its frames */
	struct observe_counters counters;
	struct packet_work work[OBSERVE_PIPELINE_DEPTH];
	struct packet_work reassembled; /* datagram completed by the present fragment */
	struct packet_work inner;	/* packet inside a tunnel */
};

/* Advances the clock to a frame and counts it. */
static inline void
observe_count_frame(struct observer *o, const struct frame *frame)
{
	bool backwards = frame->ts < o->clock;

	o->clock = backwards ? o->clock : frame->ts;
	o->counters.backward_frames += backwards;
	o->counters.frames++;
	o->counters.bytes += frame->len;
}

/* Runs the timers that are due. */
void observe_run_timers(struct observer *o);

/* Observes the packet of a frame, then each packet inside its tunnels as a packet of its own. */
void observe_frame(struct observer *o, struct packet_work *work);

/* Computes the connection key of a TCP, UDP or SCTP packet. */
void observe_set_flow_key(struct observer *o, struct packet_work *work);

/* Observes one packet, from the wire to the probes, in the firing order of the contract (section 3).  `outermost`: it
 * is the frame's own packet, not one inside a tunnel.  Returns the slot of the whole datagram, NULL if there is
 * none. */
struct packet_work *observe_packet(struct observer *o, struct packet_work *work, bool outermost);

/* Like observe_packet() for a TCP or UDP packet without anomalies while no probe is enabled: only the connection's
 * state is updated.  False if the packet is not of this kind.  Saves 26 ns a packet of 156. */
bool observe_untraced(struct observer *o, struct packet_work *work);

/* Callback: a flow's timer expired, or the flow was evicted. */
void observe_on_flow_timer(void *observer, struct flow *flow, const struct flow_events *events);

/* Callback: a datagram was given up before it was complete. */
void observe_on_reassembly_failure(void *observer, const struct packet *lost, unsigned fragments);

#endif
