/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the four meet: a frame is dissected, tracked, and told through the probes. */
#ifndef NETOBS_DAEMON_OBSERVE_OBSERVER_H
#define NETOBS_DAEMON_OBSERVE_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/config/config.h"
#include "daemon/host/local_addrs.h"
#include "dissect/packet.h"
#include "flow/flow.h"
#include "flow/reassembly/reassembly.h"

/* Frames that are observed in one go, so that the memory latencies of their look-ups overlap. */
#define OBSERVE_BATCH 128

struct conversations;
struct observer;
struct owners;
struct printer;
struct prober;
struct sequences;
struct uppers;

struct observe_counters {
	uint64_t frames;
	uint64_t bytes;	    /* on the wire */
	uint64_t packets;   /* IP and ARP packets, inner ones included */
	uint64_t truncated; /* cut by the snapshot length */
	uint64_t loopback_copies; /* the outgoing copy of a loopback frame, left out */
	uint64_t interface_copies; /* of frames that are seen on an upper interface too, left out */
	uint64_t backwards; /* frames older than one before them */
	uint64_t anomalies[ANOMALY_COUNT];
	uint64_t retransmissions[RETRANSMIT_SYN + 1]; /* by enum retransmit_kind */
};

/* Which of the observers of a run one is, so that together they count and number as one would. */
struct observer_share {
	unsigned number; /* from 0 */
	unsigned of;
	struct sequences *sequences; /* of all, borrowed; NULL where there is one */
};

/* How many of the configuration's connections are one observer's part. */
uint32_t observer_flow_limit(const struct config *config, unsigned of);

/* An observer for one thread.  `locals` and `printer` (NULL: none) are borrowed.  `view` is never VIEW_AUTO.  `seed`
 * makes the flow table's hash unpredictable; no result depends on it.  `share` is NULL for the only one.  NULL with
 * errno if memory cannot be had. */
struct observer *observer_new(const struct config *config, enum view_kind view, const struct locals *locals,
			      struct printer *printer, uint64_t seed, const struct observer_share *share);

/* Where to learn who owns local endpoints; borrowed.  Without it nobody is known to. */
void observer_set_owners(struct observer *observer, struct owners *owners);

void observer_free(struct observer *observer);

/* From now on frames that are seen on an upper interface again are left out.  `uppers` is borrowed. */
void observer_leave_out_copies(struct observer *observer, struct uppers *uppers);

/* The input has ended: what still waited for a later frame fires now.  Freeing does it if nobody has. */
void observer_finish(struct observer *observer);

/* Observes frames in order; `count` is at most OBSERVE_BATCH.  Frame memory may be reused on return. */
void observe_frames(struct observer *observer, const struct frame *frames, unsigned count);

/* Lets the clock go on where no frame comes (live): timers that are due at `now` fire. */
void observer_advance(struct observer *observer, uint64_t now);

/* The times of the flow table have changed. */
void observer_set_limits(struct observer *observer, const struct flow_limits *limits);

/* Forgets every connection and every fragment, and tells nobody. */
void observer_forget(struct observer *observer);

const struct observe_counters *observer_counters(const struct observer *observer);
const struct flow_table *observer_flows(const struct observer *observer);
const struct reassembly_counters *observer_fragments(const struct observer *observer);
const struct conversations *observer_conversations(const struct observer *observer);
const struct prober *observer_prober(const struct observer *observer);

#endif
