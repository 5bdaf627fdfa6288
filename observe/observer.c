/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "host/lower_dedup.h"
#include "observe/observe_internal.h"
#include "engine/engine.h"
#include "flow/record/flow_record.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"

/* Most frames that are held: the one to decide about, and those after it. */
#define OBSERVE_HELD_MAX (PACKET_CLOCK_LOOKAHEAD + 1)

struct held_frames {
	unsigned count;
	struct frame frames[OBSERVE_HELD_MAX];
	uint8_t bytes[]; /* of all frames, one after the other */
};


/* Connections are distributed over the observers by hash; no observer has a table so small that an uneven distribution
 * matters. */
#define FLOWS_LEAST 16u

uint32_t
observer_flow_limit(const struct config *config, unsigned of)
{
	uint32_t part = (uint32_t)(((uint64_t)config->flow_limits.flows + of - 1) / of);

	return part < FLOWS_LEAST ? FLOWS_LEAST : part;
}

struct observer *
observer_new(const struct config *config, enum view_mode view, const struct local_addrs *local_addrs,
	     struct printer *printer, uint64_t seed, const struct observer_partition *partition)
{
	struct reassembly_limits fragment_limits = reassembly_limits_default();
	struct flow_limits limits = config->flow_limits;
	struct observer *o = calloc(1, sizeof *o);
	unsigned workers = partition != NULL ? partition->count : 1;

	if (o == NULL)
		return NULL;
	o->config = config;
	o->local_addrs = local_addrs;
	o->view = view;
	observer_window_open(o, config);
	o->worker = partition != NULL ? partition->index : 0;
	o->logs_steps = o->worker == 0;
	limits.flows = observer_flow_limit(config, workers);
	o->flows = flow_table_new(&limits, seed, observe_on_flow_timer, o);
	o->fragments = reassembly_new(&fragment_limits, seed, observe_on_reassembly_failure, o);
	if (o->fragments != NULL)
		o->fragments_due = reassembly_next_due(o->fragments);
	o->duplicates = calloc(1, sizeof *o->duplicates);
	if (o->flows != NULL)
		o->app_layer = app_layer_new(config, o->flows, seed, workers, o->counters.anomalies);
	if (o->flows != NULL && o->fragments != NULL && o->app_layer != NULL && o->duplicates != NULL)
		o->emitter = emitter_new(printer, o->flows);
	if (o->emitter == NULL || (config_keeps_records(config) && !flow_table_keep_records(o->flows, true))) {
		observer_free(o);
		return NULL;
	}
	flow_table_set_end_handler(o->flows, observe_on_flow_end);
	flow_table_set_record_handler(o->flows, observe_on_connection_record, o);
	if (partition != NULL) {
		flow_table_set_id_stride(o->flows, partition->index, partition->count);
		emitter_set_partition(o->emitter, partition->index, partition->count, partition->sequences);
	}
	return o;
}

void
observer_populate_flows(struct observer *o, uint32_t flows)
{
	flow_table_populate(o->flows, flows);
}

static bool
observer_find_owner(void *owners, const struct owner_key *key, uint32_t ifindex, uint64_t since_ns,
		    struct owner *owner)
{
	return owner_lookup_find(owners, key, ifindex, since_ns, owner);
}

void
observer_set_owners(struct observer *o, struct owner_lookup *lookup)
{
	o->owner_lookup = lookup;
	emitter_set_owner_lookup(o->emitter, lookup != NULL ? observer_find_owner : NULL, lookup);
}

void
observer_set_listener(struct observer *o, const struct emitter_listener *listener, void *context)
{
	emitter_set_listener(o->emitter, listener, context);
}

void
observer_set_record_sink(struct observer *o, const struct record_sink *sink)
{
	emitter_set_record_sink(o->emitter, sink);
}

bool
observer_flush_records(struct observer *o)
{
	return emitter_flush_records(o->emitter);
}

void
observer_set_feed(struct observer *o, struct feed_part *feed)
{
	emitter_set_feed(o->emitter, feed);
}

/* Sets `untraced`, `fast` and `screened` by the enabled probes. */
static void
observer_set_paths(struct observer *o)
{
	for (unsigned probe = 0; probe < PROBE_COUNT; probe++) {
		if (!semaphores_enabled(probe))
			continue;
		o->untraced = false;
		if (!manifest_per_packet[probe])
			continue;
		if (semaphores_read(probe) == 0 && emitter_screens_probe((enum probe_id)probe))
			o->screened = true;
		else
			o->fast = false;
	}
	if (engine_follows_packets())
		o->untraced = o->fast = false;
}

/* Determines which probes are enabled; in a window no probe is enabled unless it is open. */
static void
observer_check_probes(struct observer *o)
{
	o->untraced = o->fast = true;
	o->screened = false;
	if (!o->window.limited || o->window.phase == WINDOW_OPEN)
		observer_set_paths(o);
	flow_table_omit_states(o->flows, o->untraced && o->listener == NULL);
	if (o->screened)
		emitter_select_screened(o->emitter);
}

void
observer_end_input(struct observer *o)
{
	if (o->emitter != NULL && !o->input_ended) {
		observer_decide_held(o);
		observer_check_probes(o);
		tcp_flush_deferred(o->flows, o->clock.now);
		app_layer_end_input(o->app_layer, o->emitter, o->clock.now);
		app_layer_count_left(o->app_layer);
		flow_table_end_records(o->flows, o->clock.now);
		flow_table_count_open(o->flows);
	}
	o->input_ended = true;
}

void
observer_free(struct observer *o)
{
	if (o == NULL)
		return;
	observer_end_input(o);
	free(o->held);
	emitter_free(o->emitter);
	app_layer_free(o->app_layer);
	reassembly_free(o->fragments);
	free(o->duplicates);
	flow_table_free(o->flows);
	free(o);
}

void
observer_set_lower_dedup(struct observer *o, struct lower_dedup *dedup)
{
	o->lower_dedup = dedup;
}

/* Begins another local epoch if local addresses have changed.  The numbers repeat after 16,383 changes: no flow may
 * still hold one by then. */
static void
observer_update_local_epoch(struct observer *o)
{
	uint32_t epoch = local_addrs_epoch(o->local_addrs);

	o->local_addrs_known = local_addrs_any_known(o->local_addrs);
	if (epoch == o->local_addrs_epoch && o->local_epoch != 0)
		return;
	o->local_addrs_epoch = epoch;
	if (++o->local_epoch <= FLOW_LOCAL_EPOCH_MAX)
		return;
	flow_table_clear_local_epochs(o->flows);
	o->local_epoch = 1;
}

static void
observer_log_missing_records(struct observer *o)
{
	if (!o->records_missing)
		log_error("not enough memory for the records of %u connections: %s; connection-end does not fire; "
			  "reduce --max-flows",
			  (unsigned)o->config->flow_limits.flows, strerror(errno));
	o->records_missing = true;
}

/* Keeps records of connections while a probe or the configuration needs them.  If there is no memory for them, they are
 * tried again with the next call. */
static void
observer_update_records(struct observer *o)
{
	const struct config *config = o->config;
	bool keep = config_keeps_records(config) || semaphores_enabled(PROBE_CONNECTION_END) ||
		    semaphores_enabled(PROBE_CONNECTION_ACTIVE);
	uint64_t interval;

	if (keep != flow_table_keeps_records(o->flows) && !flow_table_keep_records(o->flows, keep)) {
		observer_log_missing_records(o);
		return;
	}
	o->records_missing = false;
	interval = keep ? config->active_records_ns : 0;
	if (interval != o->active_records_ns)
		flow_table_set_active_interval(o->flows, interval, o->clock.now);
	o->active_records_ns = interval;
}

/* Whether connections need names: an output of records or a probe has them. */
static bool
observer_needs_names(const struct observer *o)
{
	return o->records &&
	       (emitter_passes_records(o->emitter) || semaphores_enabled(PROBE_CONNECTION_END) ||
		semaphores_enabled(PROBE_CONNECTION_ACTIVE));
}

/* Determines what holds for all frames of a call. */
static void
observer_begin_batch(struct observer *o)
{
	observer_check_probes(o);
	observer_update_records(o);
	o->records = flow_table_keeps_records(o->flows);
	app_layer_select(o->app_layer, observer_needs_names(o));
	o->lower_hint = o->lower_dedup != NULL ? lower_dedup_hint(o->lower_dedup) : 0;
	observer_update_local_epoch(o);
}

void
observer_set_frame_listener(struct observer *o, const struct frame_listener *listener, void *context)
{
	o->listener = listener;
	o->listener_context = context;
}

void
observer_set_visitor(struct observer *o, frame_visitor *visit, void *context)
{
	o->visit = visit;
	o->visit_context = context;
}

bool
observer_is_complete(const struct observer *o)
{
	return o->window.limited && o->window.phase == WINDOW_AFTER && (o->window.drained || !o->records);
}

bool
observer_window_is_empty(const struct observer *o, uint64_t *first, uint64_t *last)
{
	*first = o->window.first;
	*last = o->clock.now;
	return o->window.limited && o->window.frames == 0;
}

static void
observe_set_phase(struct observer *o, enum window_phase phase)
{
	if (phase == o->window.phase)
		return;
	o->window.phase = phase;
	emitter_mute(o->emitter, phase != WINDOW_OPEN);
	observer_check_probes(o);
}

static void observe_span(struct observer *o, const struct frame *frames, unsigned count);

/* Copies the last frames of a call until later ones decide about their time stamps.  If out of memory, they are decided
 * about now. */
static __attribute__((noinline, cold)) void
observe_hold_frames(struct observer *o)
{
	const struct frame *frames = o->undecided;
	unsigned count = (unsigned)(o->batch_end - frames);
	struct held_frames *held;
	size_t bytes = 0;

	o->undecided = NULL;
	for (unsigned i = 0; i < count; i++)
		bytes += frames[i].caplen;
	held = malloc(sizeof *held + bytes);
	if (held == NULL) {
		o->input_waits = true;
		observe_span(o, frames, count);
		o->input_waits = false;
		return;
	}
	held->count = count;
	bytes = 0;
	for (unsigned i = 0; i < count; i++) {
		held->frames[i] = frames[i];
		held->frames[i].data = held->bytes + bytes;
		memcpy(held->bytes + bytes, frames[i].data, frames[i].caplen);
		bytes += frames[i].caplen;
	}
	o->held = held;
}

/* Observes frames of the present call, or passes them to the visitor.  The clock and the window say how many. */
static void
observe_span(struct observer *o, const struct frame *frames, unsigned count)
{
	while (count > 0 && o->undecided == NULL) {
		bool skipped = false;
		unsigned span = count;

		if (__builtin_expect(o->window.limited, 0)) {
			enum window_phase phase;

			span = observer_window_measure(o, frames, count, &phase);
			observe_set_phase(o, phase);
			skipped = phase == WINDOW_SKIPPED || observer_is_complete(o);
		}
		if (__builtin_expect(skipped || o->visit != NULL, 0))
			pipeline_pass(o, frames, span, skipped ? NULL : o->visit);
		else
			pipeline_run(o, frames, span);
		if (o->window.phase == WINDOW_OPEN && o->undecided == NULL)
			o->window.frames += span;
		frames += span;
		count -= span;
	}
	if (__builtin_expect(o->undecided != NULL, 0))
		observe_hold_frames(o);
	observer_window_check_drained(o);
}

static __attribute__((noinline, cold)) void
observe_held_frames(struct observer *o, const struct frame *frames, unsigned count)
{
	struct frame joined[OBSERVE_HELD_MAX + FRAME_SINK_FRAMES_MAX];
	struct held_frames *held = o->held;
	unsigned all = held->count + count;

	memcpy(joined, held->frames, held->count * sizeof joined[0]);
	if (count > 0)
		memcpy(joined + held->count, frames, count * sizeof joined[0]);
	o->held = NULL;
	o->batch_end = joined + all;
	observe_span(o, joined, all);
	free(held);
}

/* The times of a batch: live for the histograms, in a replay for batch-start and batch-done.  Live, the first frame of
 * a batch is the oldest one. */
struct batch_begin {
	uint64_t begin, oldest, frames, bytes, slow_frames;
};

static __attribute__((noinline)) void
observe_begin_times(struct observer *o, struct batch_begin *b, const struct frame *frames, unsigned count)
{
	*b = (struct batch_begin){.begin = clock_monotonic_ns(),
				  .oldest = frames[0].ts,
				  .frames = o->counters.frames,
				  .bytes = o->counters.bytes,
				  .slow_frames = o->slow_frames};
	engine_batch_start(o->worker, count, b->oldest);
	if (o->host_clock != NULL)
		observer_read_host_clock(o, o->host_clock);
	if (o->clock.host_now != 0) {
		capture_lag_add(&o->lag, o->clock.host_now, b->oldest);
		o->counters.lag_us = capture_lag_us(&o->lag);
	}
}

static __attribute__((noinline)) void
observe_end_times(struct observer *o, const struct batch_begin *b)
{
	uint64_t end = clock_monotonic_ns(), lag = UINT64_MAX, now;

	if (o->clock.host_now != 0) {
		now = clock_realtime_ns();
		if (b->oldest >= o->lag.valid_from && b->oldest <= now)
			lag = now - b->oldest;
		batch_times_add(&o->times, b->begin, end, lag);
	}
	engine_batch_done(o->worker, o->counters.frames - b->frames, o->counters.bytes - b->bytes,
			  o->slow_frames - b->slow_frames, lag != UINT64_MAX ? lag : 0, end - b->begin);
}

void
observe_frames(struct observer *o, const struct frame *frames, unsigned count)
{
	struct batch_begin times;
	bool timed;

	observer_begin_batch(o);
	timed = count != 0 && (o->clock.host_now != 0 || engine_batch_start_enabled() || engine_batch_done_enabled());
	if (timed)
		observe_begin_times(o, &times, frames, count);
	o->batch_end = count != 0 ? frames + count : frames; /* `frames` may be null if there are none */
	if (__builtin_expect(o->held != NULL, 0))
		observe_held_frames(o, frames, count);
	else
		observe_span(o, frames, count);
	owner_lookup_wake(o->owner_lookup);
	emitter_advance(o->emitter, o->clock.now);
	emitter_poll_semaphores(o->emitter);
	if (timed)
		observe_end_times(o, &times);
}

void
observer_advance_clock(struct observer *o, uint64_t now)
{
	if (now > o->clock.host_now)
		o->clock.host_now = now;
	if (packet_clock_advance(&o->clock, now) == PACKET_CLOCK_STEP)
		observe_count_clock_step(o);
	observer_check_probes(o);
	observe_run_timers(o);
	emitter_advance(o->emitter, o->clock.now);
	emitter_poll_semaphores(o->emitter);
}

void
observer_poll_tracers(struct observer *o)
{
	emitter_poll_semaphores(o->emitter);
}

void
observer_set_host_clock(struct observer *o, uint64_t now, uint64_t step)
{
	o->clock.host_now = now;
	if (step != 0)
		capture_lag_step(&o->lag, now);
	capture_lag_advance(&o->lag, now);
	o->counters.lag_us = capture_lag_us(&o->lag);
	if (step == 0)
		return;
	packet_clock_step(&o->clock, step);
	observe_count_clock_step(o);
}

void
observer_read_host_clock(struct observer *o, struct host_clock *clock)
{
	uint64_t step = host_clock_read(clock);

	o->host_clock = clock;
	observer_set_host_clock(o, clock->now, step);
}

void
observer_decide_held(struct observer *o)
{
	if (o->held == NULL)
		return;
	o->input_waits = true;
	observe_frames(o, NULL, 0);
	o->input_waits = false;
}

void
observer_set_limits(struct observer *o, const struct flow_limits *limits)
{
	flow_table_set_timeouts(o->flows, limits);
}

void
observer_clear(struct observer *o)
{
	flow_table_clear(o->flows);
	reassembly_clear(o->fragments);
	*o->duplicates = (struct duplicates){.traces[0].content = 0};
	o->lag = (struct capture_lag){0};
	o->counters.lag_us = 0;
}

const struct observe_counters *
observer_counters(const struct observer *o)
{
	return &o->counters;
}

const struct batch_times *
observer_batch_times(const struct observer *o)
{
	return &o->times;
}

const struct flow_table *
observer_flows(const struct observer *o)
{
	return o->flows;
}

const struct reassembly_counters *
observer_reassembly_counters(const struct observer *o)
{
	return reassembly_counters(o->fragments);
}

const struct app_layer *
observer_app_layer(const struct observer *o)
{
	return o->app_layer;
}

const struct emitter *
observer_emitter(const struct observer *o)
{
	return o->emitter;
}
