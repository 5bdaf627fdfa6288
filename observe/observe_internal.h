/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the observer: batches (observer.c), frames (pipeline.c), packets (observe_packet.c). */
#ifndef NETOBS_OBSERVE_OBSERVE_INTERNAL_H
#define NETOBS_OBSERVE_OBSERVE_INTERNAL_H

#include "flow/duplicates.h"
#include "flow/reassembly/reassembly.h"
#include "flow/record/flow_record.h"
#include "host/locality.h"
#include "observe/app_layer.h"
#include "observe/batch_times.h"
#include "observe/frame_listener.h"
#include "observe/observe_counters.h"
#include "capture/packet_clock.h"
#include "owner/owner_lookup.h"

/* A packet in progress, from dissection to observation. */
struct packet_work {
	struct packet packet;
	struct flow_key key;
	uint32_t hash;
	unsigned sender;    /* end of the key that sent it; of an ICMP error, the destination of the quoted packet */
	bool stream_starts; /* a UDP stream whose start event has not fired yet */
	bool ignored;	    /* a TCP segment that its receiver ignores */
	bool duplicate;	    /* it was captured before, and changes nothing */
	bool damaged;	    /* its checksum is wrong, and it changes nothing */
	bool inside_duplicate; /* inside the tunnel of a duplicate */
	struct packet_print print; /* of an IP packet */
	struct flow *flow;  /* flow of the packet, or of the packet that an ICMP error quotes; NULL if there is none */
};

/* Where packet time is: see observer_clock.c. */
enum window_phase { WINDOW_SKIPPED, WINDOW_LEAD_IN, WINDOW_OPEN, WINDOW_AFTER };

/* The window of packet time in which probes fire. */
struct observe_window {
	bool limited; /* there is one; else the rest is not valid */
	enum window_phase phase;
	uint64_t lead_in, from, to; /* their beginnings; the end, ns */
	uint64_t first;		    /* packet time of the first frame, 0 before */
	uint64_t frames;	    /* in the window */
	uint64_t next_check;	    /* after the window: when to look again for connections of the window */
	bool drained;		    /* there are no such connections */
};

struct observer {
	const struct config *config;
	const struct local_addrs *local_addrs;
	struct lower_dedup *lower_dedup; /* NULL: duplicates are not skipped */
	uint64_t lower_hint;		 /* bit n: an interface whose index is n modulo 64 is a lower device */
	enum view_mode view;
	struct flow_table *flows;
	struct duplicates *duplicates;
	struct reassembly *fragments;
	const uint64_t *fragments_due; /* reassembly_next_due() */
	struct emitter *emitter;
	struct owner_lookup *owner_lookup; /* NULL: owners are not looked up */
	struct app_layer *app_layer;
	struct packet_clock clock;
	struct host_clock *host_clock; /* live: borrowed; NULL for files */
	struct capture_lag lag;
	struct batch_times times;
	struct held_frames *held;      /* frames of earlier calls that wait for a decision of the clock, NULL none */
	const struct frame *undecided; /* the first frame of the present call that is held, NULL none */
	const struct frame *batch_end; /* end of the frames of the present call */
	struct observe_window window;
	const struct frame_listener *listener; /* NULL: none */
	void *listener_context;
	bool reports;		 /* the events of the packet in progress are passed to the listener */
	frame_visitor *visit;	 /* NULL: frames are observed */
	void *visit_context;
	uint64_t last_packet_id; /* id of the latest packet */
	unsigned worker;	 /* number of the worker, from 0 */
	uint64_t slow_frames;	 /* frames that took the slow path */
	bool input_ended;
	bool logs_steps;	    /* the first observer of a run logs steps of the clock */
	bool input_waits;	    /* the next frame may be far: the clock decides about held frames now */
	bool untraced;		    /* no probe is enabled; determined once per call and when the phase of the window
				     * changes, like the next two */
	bool fast;		    /* no enabled probe fires for packets of the fast path, which cause no event */
	bool screened;		    /* `fast`, but first formulas must reject each packet by its headers */
	bool records;		    /* connection records are kept */
	bool records_missing;	    /* there was no memory for them, which is logged */
	uint64_t active_records_ns; /* interval of connection-active in effect */
	bool local_addrs_known;	    /* local_addrs_any_known(), read once per call for all its frames */
	uint32_t local_addrs_epoch; /* of `local_addrs`, when local_epoch began */
	uint16_t local_epoch;	    /* rises when local addresses have changed; never 0 */
	struct observe_counters counters;
	struct packet_work work;	/* packet on the slow path */
	struct packet_work reassembled; /* datagram completed by the present fragment */
	struct packet_work inner;	/* packet inside a tunnel */
};

enum { BOTH_LOCAL = 3 }; /* struct flow.local */

/* observer_clock.c: moves the clock to a frame whose time stamp is irregular.  False if later frames decide about it:
 * then it is `undecided`, and no frame of this call is observed any more. */
bool observe_move_clock_irregularly(struct observer *o, const struct frame *frame) __attribute__((noinline, cold));

/* observer_clock.c: begins before the window of the configuration, if it has one. */
void observer_window_open(struct observer *o, const struct config *config);

/* The number of frames from the first one on that are in one phase, at least 1. */
unsigned observer_window_measure(struct observer *o, const struct frame *frames, unsigned count,
				 enum window_phase *phase);

/* After the window: looks for connections whose last packet is before its end and that may still be reported.  The
 * intervals double, so that all searches together cost little. */
void observer_window_check_drained(struct observer *o);

/* Whether a record belongs to the window: that of a connection that has ended by its last packet, and that of one that
 * is open by the time of the report. */
bool observer_window_has_record(const struct observer *o, const struct flow *flow, const struct flow_record *record,
				enum record_reason reason);

/* observer_clock.c: the clock was stepped. */
void observe_count_clock_step(struct observer *o);

/* Takes a packet id; the only place that does. */
static inline uint64_t
observe_take_packet_id(struct observer *o)
{
	return ++o->last_packet_id;
}

/* Counts an IP or ARP packet and takes its id. */
static inline uint64_t
observe_count_packet(struct observer *o)
{
	o->counters.packets++;
	return observe_take_packet_id(o);
}

/* Runs the timers that are due: one comparison each if there is none. */
static inline void
observe_run_timers(struct observer *o)
{
	if (__builtin_expect(o->clock.now >= o->app_layer->next_timeout, 0))
		app_layer_run_timers(o->app_layer, o->emitter, o->clock.now);
	flow_table_run_timers(o->flows, o->clock.now);
	if (__builtin_expect(o->clock.now >= *o->fragments_due, 0))
		reassembly_run_timers(o->fragments, o->clock.now);
}

/* Computes the flow key of a TCP, UDP or SCTP packet. */
void observe_set_flow_key(struct observer *o, struct packet_work *work);

/* Observes one packet, from the wire to the probes, in the firing order of netobs(7).  `outermost`: it
 * is the frame's own packet, not one inside a tunnel.  Returns the datagram that the packet is, or completes; NULL if
 * there is none. */
struct packet_work *observe_packet(struct observer *o, struct packet_work *work, bool outermost);

/* What makes the sender of a datagram send it again. */
enum duplicate_rule observe_udp_rule(const struct observer *o, const struct flow_key *key);

/* Like observe_packet() for a TCP or UDP packet without anomalies while no probe is enabled: only the connection's
 * state is updated.  False if the packet is not of this kind. */
bool observe_untraced(struct observer *o, struct packet_work *work);

/* Callback: a flow may have ended, or is removed, and not by the packet in progress alone. */
void observe_on_flow_end(void *observer, struct flow *flow, bool removed);

/* Callback: a flow's timer expired, or the flow was evicted. */
void observe_on_flow_timer(void *observer, struct flow *flow, const struct flow_events *events);

/* Callback: a connection has ended, or with RECORD_OPEN is still open. */
void observe_on_connection_record(void *observer, const struct flow *flow, const struct flow_record *record,
				  enum record_reason reason);

/* Callback: a datagram was dropped before it was complete. */
void observe_on_reassembly_failure(void *observer, const struct packet *first, unsigned fragments);

/* pipeline.c: only the clock moves to each of the frames, which `visit` receives unless it is NULL. */
void pipeline_pass(struct observer *observer, const struct frame *frames, unsigned count, frame_visitor *visit);

/* Observes frames in order. */
void pipeline_run(struct observer *observer, const struct frame *frames, unsigned count);

#endif
