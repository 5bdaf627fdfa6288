/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe.h"

#include <stdlib.h>

#include "daemon/observe_packet.h"
#include "dissect/dissect.h"
#include "flow/tcp.h"
#include "probes/fire.h"

struct observer *
observer_new(const struct config *config, enum view_kind view, const struct locals *locals, struct printer *printer,
	     uint64_t seed)
{
	struct reassembly_limits pieces = reassembly_limits_default();
	struct observer *o = calloc(1, sizeof *o);

	if (o == NULL)
		return NULL;
	o->config = config;
	o->locals = locals;
	o->view = view;
	o->flows = flow_table_new(&config->limits, seed, observe_flow_timer, o);
	o->fragments = reassembly_new(&pieces, seed, observe_lost_datagram, o);
	if (o->flows != NULL && o->fragments != NULL)
		o->prober = prober_new(printer, o->flows);
	if (o->prober == NULL) {
		observer_free(o);
		return NULL;
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
observer_free(struct observer *o)
{
	if (o == NULL)
		return;
	if (o->prober != NULL)
		tcp_flush(o->flows);
	prober_free(o->prober);
	reassembly_free(o->fragments);
	flow_table_free(o->flows);
	free(o);
}

static void
run_timers(struct observer *o)
{
	flow_table_run_timers(o->flows, o->clock);
	reassembly_run_timers(o->fragments, o->clock);
}

/* A frame: its packet, then the packets inside its tunnels, each as a packet of its own. */
static void
observe_frame(struct observer *o, struct slot *slot)
{
	const struct frame *frame = slot->packet.frame;

	if (frame->ts >= o->clock)
		o->clock = frame->ts;
	else
		o->counters.backwards++;
	o->counters.frames++;
	o->counters.bytes += frame->len;
	run_timers(o);
	if (sides_is_loopback_copy(&slot->packet)) {
		o->counters.loopback_copies++;
		return;
	}
	slot = observe_packet(o, slot, true);
	while (slot != NULL && slot->packet.inner != INNER_NONE && o->config->inner) {
		struct packet outer = slot->packet;

		dissect_inner(&outer, &o->inner.packet);
		observe_find_key(o, &o->inner);
		slot = observe_packet(o, &o->inner, false);
	}
}

void
observe_frames(struct observer *o, const struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct slot *slot = &o->slots[i];

		dissect_frame(&frames[i], &slot->packet);
		observe_find_key(o, slot);
		if (slot->tracked)
			flow_prefetch_slot(o->flows, slot->hash);
	}
	for (unsigned i = 0; i < count; i++)
		if (o->slots[i].tracked)
			flow_prefetch(o->flows, o->slots[i].hash);
	for (unsigned i = 0; i < count; i++)
		observe_frame(o, &o->slots[i]);
	owners_wake(o->owners);
	prober_refresh(o->prober);
}

void
observer_advance(struct observer *o, uint64_t now)
{
	if (now <= o->clock)
		return;
	o->clock = now;
	run_timers(o);
	prober_refresh(o->prober);
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

const struct prober *
observer_prober(const struct observer *o)
{
	return o->prober;
}
