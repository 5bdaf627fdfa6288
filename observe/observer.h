/* SPDX-License-Identifier: BSD-2-Clause */
/* Joins capture, dissect/, flow/ and probes/: frames are dissected, tracked, and reported by probes. */
#ifndef NETOBS_OBSERVE_OBSERVER_H
#define NETOBS_OBSERVE_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/batch.h"
#include "config/config.h"
#include "dissect/packet.h"
#include "flow/flow.h"
#include "flow/reassembly/reassembly.h"
#include "flow/record/flow_record.h"
#include "host/local_addrs.h"
#include "observe/frame_listener.h"
#include "observe/observe_counters.h"

struct app_layer;
struct batch_times;
struct host_clock;
struct observer;
struct owner_lookup;
struct printer;
struct record_sink;
struct feed_part;
struct emitter;
struct emitter_listener;
struct firing_sequences;
struct lower_dedup;

/* Share of one observer if a run has several, so that their ids and sequence numbers are those of a single one. */
struct observer_partition {
	unsigned index; /* from 0 */
	unsigned count;
	struct firing_sequences *sequences; /* shared by all observers, borrowed; NULL if there is only one */
};

/* Size of one observer's share of the configured number of connections. */
uint32_t observer_flow_limit(const struct config *config, unsigned of);

/* Creates an observer for one thread.  `local_addrs` and `printer` (NULL: none) are borrowed.  `view` is never
 * VIEW_AUTO.  `seed` makes the flow table's hash unpredictable; no result depends on it.  `partition` is NULL if there
 * is only one observer.  NULL with errno if out of memory. */
struct observer *observer_new(const struct config *config, enum view_mode view, const struct local_addrs *local_addrs,
			      struct printer *printer, uint64_t seed, const struct observer_partition *partition);

/* Sets the owner lookup, which is borrowed.  Without it all owners are unknown. */
void observer_set_owners(struct observer *observer, struct owner_lookup *lookup);

/* Sets what receives the firings that formulas read, see emitter_set_listener(). */
void observer_set_listener(struct observer *observer, const struct emitter_listener *listener, void *context);

/* Sets what receives the records of connections, see emitter_set_record_sink(); flushes it. */
void observer_set_record_sink(struct observer *observer, const struct record_sink *sink);
bool observer_flush_records(struct observer *observer);

/* Sets what receives frames and their connections (frame_listener.h), NULL for none, between two calls of
 * observe_frames().  Both are borrowed. */
void observer_set_frame_listener(struct observer *observer, const struct frame_listener *listener, void *context);

/* From now on frames are not observed but passed to `visit`; those that are skipped because they are before the lead-in
 * of the window or after the window are not. */
void observer_set_visitor(struct observer *observer, frame_visitor *visit, void *context);

/* Whether packet time is after the window of --from and --to, so that no frame has an effect any more. */
bool observer_is_complete(const struct observer *observer);

/* Whether no frame was in the window; then also the packet times of the first frame, 0 if there was none, and of the
 * latest. */
bool observer_window_is_empty(const struct observer *observer, uint64_t *first, uint64_t *last);

/* Sets the part of the feeds for firings, see emitter_set_feed(). */
void observer_set_feed(struct observer *observer, struct feed_part *feed);

void observer_free(struct observer *observer);

/* Makes the memory of the first `flows` connections present, before the first frame. */
void observer_populate_flows(struct observer *observer, uint32_t flows);

/* From now on frames that are captured again on an upper interface are skipped.  `dedup` is borrowed. */
void observer_set_lower_dedup(struct observer *observer, struct lower_dedup *dedup);

/* The input has ended: events that wait for a later frame fire now.  observer_free() calls it if necessary. */
void observer_end_input(struct observer *observer);

/* Observes frames in order; `count` is at most FRAME_SINK_FRAMES_MAX.  The frames' memory may be reused on return.  At
 * the end of a call a few frames with irregular time stamps may be held until the next (capture/packet_clock.h). */
void observe_frames(struct observer *observer, const struct frame *frames, unsigned count);

/* The next frame may be far: observes the held frames. */
void observer_decide_held(struct observer *observer);

/* Advances time while no frames arrive (live): timers that are due at `now` fire. */
void observer_advance_clock(struct observer *observer, uint64_t now);

/* While no frames are read: notices tracers that attach and detach. */
void observer_poll_tracers(struct observer *observer);

/* Live: the host's clock is `now`; it was stepped by `step` ns, modulo 2^64, since the last call. */
void observer_set_host_clock(struct observer *observer, uint64_t now, uint64_t step);

/* Live: reads the host's clock, now and whenever frames are observed: time stamps of frames that have been read are not
 * later.  `clock` is borrowed. */
void observer_read_host_clock(struct observer *observer, struct host_clock *clock);

/* The flow table's timeouts have changed. */
void observer_set_limits(struct observer *observer, const struct flow_limits *limits);

/* Drops all connections and fragments without reporting events; kept records are reported. */
void observer_clear(struct observer *observer);

const struct observe_counters *observer_counters(const struct observer *observer);

/* Live: times of the batches. */
const struct batch_times *observer_batch_times(const struct observer *observer);
const struct flow_table *observer_flows(const struct observer *observer);
const struct reassembly_counters *observer_reassembly_counters(const struct observer *observer);
const struct app_layer *observer_app_layer(const struct observer *observer);
const struct emitter *observer_emitter(const struct observer *observer);

#endif
