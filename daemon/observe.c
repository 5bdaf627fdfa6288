/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/sides.h"
#include "dissect/dissect.h"
#include "flow/tcp.h"
#include "probes/fire.h"

/* A frame of the batch between its dissection and its observation. */
struct slot {
	struct packet packet;
	struct flow_key key;
	uint32_t hash;
	unsigned sender;
	bool tracked; /* key, hash and sender are set */
};

struct observer {
	const struct config *config;
	const struct locals *locals;
	enum view_kind view;
	struct flow_table *flows;
	struct prober *prober;
	uint64_t clock;	  /* the latest packet time so far, ns */
	uint64_t next_id; /* packet ids */
	struct observe_counters counters;
	struct slot slots[OBSERVE_BATCH];
	struct slot inner; /* the packet inside a tunnel */
};

static void
tell_events(struct observer *o, const struct flow *flow, const struct flow_events *events)
{
	for (unsigned i = 0; i < events->count; i++) {
		const struct flow_event *event = &events->event[i];

		if (flow->local >> event->end & 1)
			fire_event(o->prober, flow, event);
	}
}

/* A timer or an eviction ended something: there is no packet to tell it with. */
static void
tell_timer(void *context, struct flow *flow, const struct flow_events *events)
{
	struct observer *o = context;

	prober_timer_begin(o->prober, o->clock);
	tell_events(o, flow, events);
	prober_timer_end(o->prober);
}

struct observer *
observer_new(const struct config *config, enum view_kind view, const struct locals *locals, struct printer *printer,
	     uint64_t seed)
{
	struct observer *o = calloc(1, sizeof *o);

	if (o == NULL)
		return NULL;
	o->config = config;
	o->locals = locals;
	o->view = view;
	o->flows = flow_table_new(&config->limits, seed, tell_timer, o);
	if (o->flows != NULL)
		o->prober = prober_new(printer, o->flows);
	if (o->prober == NULL) {
		observer_free(o);
		return NULL;
	}
	return o;
}

void
observer_free(struct observer *o)
{
	if (o == NULL)
		return;
	prober_free(o->prober);
	flow_table_free(o->flows);
	free(o);
}

static void
find_key(struct observer *o, struct slot *slot)
{
	const struct packet *p = &slot->packet;

	slot->tracked = p->transport == TRANSPORT_TCP || p->transport == TRANSPORT_UDP;
	if (!slot->tracked)
		return;
	flow_key_of(p, &slot->key, &slot->sender);
	slot->hash = flow_hash(o->flows, &slot->key);
}

/* Remembers which ends of the flow are local, as its frames show it. */
static void
learn_local(struct flow *flow, unsigned sender, struct sides sides)
{
	if (sides.source_local)
		flow->local |= (uint8_t)(1u << sender);
	if (sides.destination_local)
		flow->local |= (uint8_t)(1u << (1 - sender));
}

static void
observe_tcp(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events = {.count = 0};
	const struct packet *p = &slot->packet;
	unsigned sender = slot->sender, receiver = 1 - sender;
	struct flow *flow = flow_for_tcp(o->flows, p, &slot->key, slot->hash, sender, o->clock);

	if (flow != NULL) {
		learn_local(flow, sender, sides);
		tcp_sent(o->flows, flow, sender, p, o->clock, &events);
		tell_events(o, flow, &events);
	}
	if (sides.send) {
		fire_tcp_send(o->prober, flow, sender);
		fire_ip_send(o->prober, flow, sender);
		fire_gld_send(o->prober);
	}
	if (sides.receive) {
		fire_gld_receive(o->prober);
		fire_ip_receive(o->prober, flow, receiver);
		if (!sides.overheard)
			fire_tcp_receive(o->prober, flow, receiver);
	}
	if (flow != NULL) {
		events.count = 0;
		tcp_received(o->flows, flow, receiver, p, o->clock, &events);
		tell_events(o, flow, &events);
	}
}

static void
observe_udp(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events = {.count = 0};
	unsigned sender = slot->sender, receiver = 1 - sender;
	struct flow *flow =
	    flow_for_udp(o->flows, &slot->packet, &slot->key, slot->hash, sender, o->clock, &events);

	learn_local(flow, sender, sides);
	if (sides.send) {
		fire_udp_send(o->prober, flow, sender);
		fire_ip_send(o->prober, flow, sender);
		fire_gld_send(o->prober);
	}
	if (sides.receive) {
		fire_gld_receive(o->prober);
		fire_ip_receive(o->prober, flow, receiver);
		if (!sides.overheard)
			fire_udp_receive(o->prober, flow, receiver);
	}
	tell_events(o, flow, &events);
}

static void
observe_icmp(struct observer *o, struct slot *slot, struct sides sides)
{
	const struct packet *p = &slot->packet;
	struct flow *quoted = NULL;
	unsigned quoted_sender = 0;

	if (p->icmp.error && flow_key_of_quote(p, &slot->key, &quoted_sender))
		quoted = flow_find(o->flows, &slot->key, flow_hash(o->flows, &slot->key));
	/* The error goes to the endpoint that had sent the quoted packet. */
	if (sides.send) {
		fire_icmp_send(o->prober, quoted, 1 - quoted_sender);
		fire_ip_send(o->prober, NULL, 0);
		fire_gld_send(o->prober);
	}
	if (sides.receive) {
		fire_gld_receive(o->prober);
		fire_ip_receive(o->prober, NULL, 0);
		if (!sides.overheard)
			fire_icmp_receive(o->prober, quoted, quoted_sender);
	}
}

static void
observe_other(struct observer *o, const struct packet *p, struct sides sides)
{
	bool ip = p->network == NETWORK_IPV4 || p->network == NETWORK_IPV6;
	bool arp = p->network == NETWORK_ARP;

	if (sides.send) {
		if (ip)
			fire_ip_send(o->prober, NULL, 0);
		if (arp)
			fire_arp_send(o->prober);
		fire_gld_send(o->prober);
	}
	if (sides.receive) {
		fire_gld_receive(o->prober);
		if (ip)
			fire_ip_receive(o->prober, NULL, 0);
		if (arp && !sides.overheard)
			fire_arp_receive(o->prober);
	}
}

static void
count_packet(struct observer *o, const struct packet *p)
{
	struct observe_counters *c = &o->counters;

	c->packets += p->network != NETWORK_NONE;
	if (p->reason == ANOMALY_NONE)
		return;
	c->truncated += anomaly_gravity(p->reason) == GRAVITY_TRUNCATED;
	for (unsigned a = 1; a < ANOMALY_COUNT; a++)
		c->anomalies[a] += anomaly_has(&p->anomalies, (enum anomaly)a);
}

/* One packet, from the wire to the probes: the order of firing is the contract's (section 3). */
static void
observe_packet(struct observer *o, struct slot *slot)
{
	struct packet *p = &slot->packet;
	struct sides sides = sides_of(p, o->view, o->locals);

	count_packet(o, p);
	prober_packet(o->prober, p, ++o->next_id, o->clock);
	switch (p->transport) {
	case TRANSPORT_TCP:
		observe_tcp(o, slot, sides);
		break;
	case TRANSPORT_UDP:
		observe_udp(o, slot, sides);
		break;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		observe_icmp(o, slot, sides);
		break;
	default:
		observe_other(o, p, sides);
		break;
	}
}

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
	flow_table_run_timers(o->flows, o->clock);
	if (sides_is_loopback_copy(&slot->packet)) {
		o->counters.loopback_copies++;
		return;
	}
	observe_packet(o, slot);
	while (slot->packet.inner != INNER_NONE && o->config->inner) {
		struct packet outer = slot->packet;

		slot = &o->inner;
		dissect_inner(&outer, &slot->packet);
		find_key(o, slot);
		observe_packet(o, slot);
	}
}

void
observe_frames(struct observer *o, const struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct slot *slot = &o->slots[i];

		dissect_frame(&frames[i], &slot->packet);
		find_key(o, slot);
		if (slot->tracked)
			flow_prefetch_slot(o->flows, slot->hash);
	}
	for (unsigned i = 0; i < count; i++)
		if (o->slots[i].tracked)
			flow_prefetch(o->flows, o->slots[i].hash);
	for (unsigned i = 0; i < count; i++)
		observe_frame(o, &o->slots[i]);
	prober_refresh(o->prober);
}

void
observer_advance(struct observer *o, uint64_t now)
{
	if (now <= o->clock)
		return;
	o->clock = now;
	flow_table_run_timers(o->flows, o->clock);
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

const struct prober *
observer_prober(const struct observer *o)
{
	return o->prober;
}
