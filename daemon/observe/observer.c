/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/observer.h"

#include <stdlib.h>

#include "daemon/host/lower_dedup.h"
#include "daemon/observe/observe_fastpath.h"
#include "dissect/dissect.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"
#include "probes/site/semaphores.h"

/* Connections are distributed over the observers by hash; no observer has a table so small that an uneven distribution
 * matters. */
#define FLOWS_LEAST 16u

uint32_t
observer_flow_limit(const struct config *config, unsigned of)
{
	uint32_t part = (uint32_t)(((uint64_t)config->limits.flows + of - 1) / of);

	return part < FLOWS_LEAST ? FLOWS_LEAST : part;
}

struct observer *
observer_new(const struct config *config, enum view_kind view, const struct locals *locals, struct printer *printer,
	     uint64_t seed, const struct observer_share *share)
{
	struct reassembly_limits pieces = reassembly_limits_default();
	struct flow_limits limits = config->limits;
	struct observer *o = calloc(1, sizeof *o);

	if (o == NULL)
		return NULL;
	o->config = config;
	o->locals = locals;
	o->view = view;
	limits.flows = observer_flow_limit(config, share != NULL ? share->of : 1);
	o->flows = flow_table_new(&limits, seed, observe_flow_timer, o);
	o->fragments = reassembly_new(&pieces, seed, observe_lost_datagram, o);
	o->apps = apps_new(config, o->counters.anomalies);
	if (o->flows != NULL && o->fragments != NULL && o->apps != NULL)
		o->prober = prober_new(printer, o->flows);
	if (o->prober == NULL) {
		observer_free(o);
		return NULL;
	}
	if (share != NULL) {
		flow_table_share_ids(o->flows, share->number, share->of);
		prober_share_ids(o->prober, share->number, share->of, share->sequences);
	}
	return o;
}

static bool
find_owner(void *owners, const struct owner_key *key, uint32_t ifindex, struct owner *owner)
{
	return owners_find(owners, key, ifindex, owner);
}

void
observer_set_owners(struct observer *o, struct owners *owners)
{
	o->owners = owners;
	prober_set_owners(o->prober, owners != NULL ? find_owner : NULL, owners);
}

void
observer_finish(struct observer *o)
{
	if (o->prober != NULL && !o->finished)
		tcp_flush(o->flows);
	o->finished = true;
}

void
observer_free(struct observer *o)
{
	if (o == NULL)
		return;
	observer_finish(o);
	prober_free(o->prober);
	apps_free(o->apps);
	reassembly_free(o->fragments);
	flow_table_free(o->flows);
	free(o);
}

void
observer_leave_out_copies(struct observer *o, struct uppers *uppers)
{
	o->uppers = uppers;
}

void
observe_timers(struct observer *o)
{
	flow_table_run_timers(o->flows, o->clock);
	reassembly_run_timers(o->fragments, o->clock);
}

/* Whether the frame is a copy is decided by this host's addresses, even if another view is configured. */
static bool
is_interface_copy(const struct observer *o, const struct packet *p)
{
	return o->uppers != NULL && uppers_any(o->uppers) &&
	       uppers_has_copy(o->uppers, p, sides_of(p, VIEW_HOST, o->locals));
}

void
observe_content(struct observer *o, struct slot *slot)
{
	if (sides_is_loopback_copy(&slot->packet)) {
		o->counters.loopback_copies++;
		return;
	}
	if (is_interface_copy(o, &slot->packet)) {
		o->counters.interface_copies++;
		return;
	}
	if (observe_quietly(o, slot))
		return;
	slot = observe_packet(o, slot, true);
	while (slot != NULL && slot->packet.inner != INNER_NONE && o->config->inner) {
		struct packet outer = slot->packet;

		dissect_inner(&outer, &o->inner.packet);
		observe_find_key(o, &o->inner);
		slot = observe_packet(o, &o->inner, false);
	}
}

/* Steps of a frame: dissect it and prefetch its hash slot; prefetch the candidate flow; prefetch what else the flow
 * needs; observe it. */
static void
prepare(struct observer *o, const struct frame *frame, struct slot *slot)
{
	dissect_frame(frame, &slot->packet);
	observe_find_key(o, slot);
	if (slot->tracked)
		flow_prefetch_slot(o->flows, slot->hash);
}

static void
approach(struct observer *o, struct slot *slot)
{
	if (slot->tracked)
		slot->near = flow_prefetch(o->flows, slot->hash);
}

static void
arrive(struct observer *o, const struct slot *slot)
{
	if (slot->tracked && slot->near != NULL)
		flow_prefetch_rest(o->flows, slot->near);
}

/* Software pipeline: later steps of a frame run after earlier steps of the frames behind it, so that memory is fetched
 * meanwhile. */
static void
observe_closely(struct observer *o, const struct frame *frames, unsigned count)
{
	enum { SECOND = OBSERVE_DISTANCE, THIRD = 2 * OBSERVE_DISTANCE, LAST = 3 * OBSERVE_DISTANCE };

	for (unsigned i = 0; i < count + LAST; i++) {
		if (i < count)
			prepare(o, &frames[i], &o->slots[i % OBSERVE_SLOTS]);
		if (i >= SECOND && i - SECOND < count)
			approach(o, &o->slots[(i - SECOND) % OBSERVE_SLOTS]);
		if (i >= THIRD && i - THIRD < count)
			arrive(o, &o->slots[(i - THIRD) % OBSERVE_SLOTS]);
		if (i >= LAST) {
			observe_clock(o, &frames[i - LAST]);
			observe_timers(o);
			observe_content(o, &o->slots[(i - LAST) % OBSERVE_SLOTS]);
		}
	}
}

void
observe_frames(struct observer *o, const struct frame *frames, unsigned count)
{
	o->quiet = probes_raised() == 0;
	if (observe_may_glance(o, frames))
		observe_at_a_glance(o, frames, count);
	else
		observe_closely(o, frames, count);
	owners_wake(o->owners);
	prober_refresh(o->prober);
}

void
observer_advance(struct observer *o, uint64_t now)
{
	if (now <= o->clock)
		return;
	o->clock = now;
	observe_timers(o);
	prober_refresh(o->prober);
}

void
observer_set_limits(struct observer *o, const struct flow_limits *limits)
{
	flow_table_set_times(o->flows, limits);
}

void
observer_forget(struct observer *o)
{
	flow_table_clear(o->flows);
	reassembly_clear(o->fragments);
}

const struct observe_counters *
observer_counters(const struct observer *o)
{
	return &o->counters;
}

const struct flow_table *
observer_flows(const struct observer *o)
{
	return o->flows;
}

const struct reassembly_counters *
observer_fragments(const struct observer *o)
{
	return reassembly_counters(o->fragments);
}

const struct conversations *
observer_conversations(const struct observer *o)
{
	return o->apps->conversations;
}

const struct prober *
observer_prober(const struct observer *o)
{
	return o->prober;
}
