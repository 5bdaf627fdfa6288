/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/observe/observer_internal.h"

#include <string.h>

#include "dissect/dissect.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"

/* ------------------------------------------------------------------------------------------------------ the events */

/* Counts events, whether or not a probe is enabled. */
static void
count_events(struct observer *o, const struct flow_events *events)
{
	for (unsigned i = 0; i < events->count; i++)
		if (events->event[i].kind == EVENT_TCP_RETRANSMIT)
			o->counters.retransmissions[events->event[i].retransmission.kind]++;
}

static void
tell_events(struct observer *o, const struct flow *flow, const struct flow_events *events)
{
	count_events(o, events);
	for (unsigned i = 0; i < events->count; i++) {
		struct flow_event event = events->event[i];

		/* A UDP stream has one start and one end event, fired at whichever end is local. */
		if (flow->kind == FLOW_UDP && (flow->local >> event.end & 1) == 0)
			event.end = 1 - event.end;
		if ((flow->local >> event.end & 1) != 0)
			fire_event(o->prober, flow, &event);
	}
}

void
observe_flow_timer(void *observer, struct flow *flow, const struct flow_events *events)
{
	struct observer *o = observer;

	prober_timer_begin(o->prober, o->clock);
	tell_events(o, flow, events);
	prober_timer_end(o->prober);
}

/* ------------------------------------------------------------------------------------------------- the connections */

void
observe_find_key(struct observer *o, struct slot *slot)
{
	const struct packet *p = &slot->packet;

	slot->flow = NULL;
	slot->tracked = p->transport == TRANSPORT_TCP || p->transport == TRANSPORT_UDP ||
			p->transport == TRANSPORT_SCTP;
	if (!slot->tracked)
		return;
	slot->hash = flow_key_and_hash(o->flows, p, &slot->key, &slot->sender);
}

enum { BOTH_LOCAL = 3 }; /* struct flow.local */

/* 127.0.0.0/8, ::1, or a host that sends to one of its own addresses. */
static bool
is_same_host(const struct packet *p, enum view_kind view, uint8_t local)
{
	static const uint8_t loopback[16] = {[15] = 1};

	if (p->loopback || p->frame->interface->loopback || memcmp(p->ip.src, p->ip.dst, sizeof p->ip.src) == 0)
		return true;
	if (p->ip.version == 4 ? p->ip.src[0] == 127 : memcmp(p->ip.src, loopback, sizeof loopback) == 0)
		return true;
	return view == VIEW_HOST && local == BOTH_LOCAL;
}

/* Requests the owners of new local ends early, so that they are known when the first bytes pass through the sockets. */
static void
ask_owners(const struct observer *o, const struct slot *slot, uint8_t ends)
{
	for (unsigned end = 0; end < 2; end++) {
		struct owner_key key;

		if ((ends >> end & 1) == 0)
			continue;
		owner_key_of(&key, &slot->key, end);
		owners_ask(o->owners, &key, slot->packet.frame->interface->ifindex);
	}
}

/* Records which ends of the flow are local, as seen from its packets. */
static void
learn_local(const struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow *flow = slot->flow;
	uint8_t local = flow->local;

	if (sides.source_local)
		local |= (uint8_t)(1u << slot->sender);
	if (sides.destination_local)
		local |= (uint8_t)(1u << (1 - slot->sender));
	if (local == flow->local)
		return;
	if (o->owners != NULL && prober_is_wanted(o->prober))
		ask_owners(o, slot, local & (uint8_t)~flow->local);
	flow->local = local;
	flow->same_host |= is_same_host(&slot->packet, o->view, local);
}

/* ---------------------------------------------------------------------------------------------- TCP, top to bottom */

/* Reports bytes that the segment made deliverable to endpoint `end`. */
static void
tell_delivered(struct observer *o, const struct slot *slot, unsigned end, const struct tcp_end *before)
{
	/* the payload is not addressed to its sender */
	uint32_t payload = end == slot->sender ? 0 : slot->packet.segment;
	struct tcp_delivery delivery = tcp_delivered(slot->flow, end, before, payload);

	if (delivery.bytes > 0 && (slot->flow->local >> end & 1) != 0)
		fire_socket_receive(o->prober, slot->flow, end, delivery.bytes, delivery.offset);
}

/* Reports new bytes that the segment's sender has accepted from its application. */
static void
tell_written(struct observer *o, const struct slot *slot, const struct tcp_end *before)
{
	const struct tcp_end *e = &slot->flow->tcp[slot->sender];
	bool fin = (e->flags & TCP_END_FIN) != 0;
	uint64_t fresh = e->bytes - before->bytes;

	if (e->bytes > before->bytes && (slot->flow->local >> slot->sender & 1) != 0)
		fire_socket_send(o->prober, slot->flow, slot->sender, (uint32_t)fresh,
				 tcp_stream_offset(slot->flow, slot->sender, e->nxt - fin - (uint32_t)fresh));
}

/* Runs the application providers, at their two points in the firing order. */
static inline void
tell_applications(struct observer *o, const struct slot *slot, struct sides sides, bool sending)
{
	const struct packet *p = &slot->packet;

	if (__builtin_expect(!apps_may_read(o->apps, &slot->key), 1))
		return;
	apps_take(o->apps, o->prober,
		  &(struct app_segment){o->flows, slot->flow, p, slot->sender, sending, sides.send});
}

static void
tcp_is_sent(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events;
	const struct packet *p = &slot->packet;
	unsigned sender = slot->sender;
	struct tcp_end before;
	bool sockets = wants_sockets();

	events.count = 0;
	slot->flow = flow_for_tcp(o->flows, p, &slot->key, slot->hash, sender, o->clock);
	if (slot->flow != NULL) {
		learn_local(o, slot, sides);
		if (sockets)
			before = slot->flow->tcp[sender];
		tcp_sent(o->flows, slot->flow, sender, p, o->clock, &events);
		if (sockets) {
			tell_delivered(o, slot, sender, &before);
			if (sides.send)
				tell_written(o, slot, &before);
		}
		tell_applications(o, slot, sides, true);
		tell_events(o, slot->flow, &events);
	}
	if (!sides.send)
		return;
	fire_tcp_send(o->prober, slot->flow, sender);
	if (slot->flow != NULL && slot->flow->same_host && p->segment > 0)
		fire_tcpf_send(o->prober, slot->flow, sender);
}

static void
tcp_is_received(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events;
	const struct packet *p = &slot->packet;
	unsigned receiver = 1 - slot->sender;
	struct tcp_end before;
	bool sockets = wants_sockets();

	if (sides.receive && !sides.overheard) {
		fire_tcp_receive(o->prober, slot->flow, receiver);
		if (slot->flow != NULL && slot->flow->same_host && p->segment > 0)
			fire_tcpf_receive(o->prober, slot->flow, receiver);
	}
	if (slot->flow == NULL)
		return;
	events.count = 0;
	if (sockets)
		before = slot->flow->tcp[receiver];
	tcp_received(o->flows, slot->flow, receiver, p, o->clock, &events);
	tell_events(o, slot->flow, &events);
	if (sockets)
		tell_delivered(o, slot, receiver, &before);
	tell_applications(o, slot, sides, false);
}

static void
udp_quietly(struct observer *o, struct slot *slot)
{
	struct flow_events untold;
	const struct packet *p = &slot->packet;

	untold.count = 0;
	slot->flow = flow_for_udp(o->flows, p, &slot->key, slot->hash, slot->sender, o->clock, &untold);
	if (slot->flow->local != BOTH_LOCAL)
		learn_local(o, slot, sides_of(p, o->view, o->locals));
}

bool
observe_quietly(struct observer *o, struct slot *slot)
{
	struct flow_events untold;
	const struct packet *p = &slot->packet;
	struct flow *flow;

	if (!o->quiet || p->reason != ANOMALY_NONE || p->inner != INNER_NONE || p->ip.fragment)
		return false;
	if (p->transport != TRANSPORT_TCP && p->transport != TRANSPORT_UDP)
		return false;
	/* Application providers follow logins even while no probe is enabled, for tracers that attach later. */
	if (p->transport == TRANSPORT_TCP && apps_may_read(o->apps, &slot->key))
		return false;
	o->next_id++;
	o->counters.packets++;
	flow_expect(o->flows, slot->near);
	if (p->transport == TRANSPORT_UDP) {
		udp_quietly(o, slot);
		return true;
	}
	slot->flow = flow = flow_for_tcp(o->flows, p, &slot->key, slot->hash, slot->sender, o->clock);
	if (flow == NULL)
		return true;
	if (flow->local != BOTH_LOCAL)
		learn_local(o, slot, sides_of(p, o->view, o->locals));
	untold.count = 0;
	tcp_sent(o->flows, flow, slot->sender, p, o->clock, &untold);
	count_events(o, &untold);
	untold.count = 0;
	tcp_received(o->flows, flow, 1 - slot->sender, p, o->clock, &untold);
	count_events(o, &untold);
	return true;
}

/* ---------------------------------------------------------------------------------------------- UDP, top to bottom */

static void
udp_is_sent(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events;
	const struct packet *p = &slot->packet;

	events.count = 0;
	slot->flow = flow_for_udp(o->flows, p, &slot->key, slot->hash, slot->sender, o->clock, &events);
	learn_local(o, slot, sides);
	if (sides.send) {
		fire_socket_send(o->prober, slot->flow, slot->sender, p->segment,
				 slot->flow->udp[slot->sender].bytes - p->segment);
		tell_events(o, slot->flow, &events);
		fire_udp_send(o->prober, slot->flow, slot->sender);
	}
	slot->begins = !sides.send && events.count > 0;
}

static void
udp_is_received(struct observer *o, struct slot *slot, struct sides sides)
{
	const struct packet *p = &slot->packet;
	unsigned receiver = 1 - slot->sender;

	if (!sides.receive || sides.overheard)
		return;
	fire_udp_receive(o->prober, slot->flow, receiver);
	if (slot->begins) {
		struct flow_events events = {.count = 1};

		events.event[0] = (struct flow_event){
		    .kind = EVENT_UDP_STREAM_START, .end = (uint8_t)receiver, .ts = o->clock};
		tell_events(o, slot->flow, &events);
	}
	fire_socket_receive(o->prober, slot->flow, receiver, p->segment,
			    slot->flow->udp[slot->sender].bytes - p->segment);
}

/* --------------------------------------------------------------------------------------------- SCTP, top to bottom */

static void
sctp_is_sent(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events;
	enum anomaly odd;

	slot->flow = flow_for_sctp(o->flows, &slot->packet, &slot->key, slot->hash, &slot->sender, o->clock, &odd);
	if (odd != ANOMALY_NONE)
		packet_note(&slot->packet, odd);
	if (slot->flow != NULL) {
		learn_local(o, slot, sides);
		events.count = 0;
		sctp_sent(o->flows, slot->flow, slot->sender, &slot->packet, o->clock, &events);
		tell_events(o, slot->flow, &events);
	}
	if (sides.send)
		fire_sctp_send(o->prober, slot->flow, slot->sender);
}

static void
sctp_is_received(struct observer *o, struct slot *slot, struct sides sides)
{
	struct flow_events events;
	unsigned receiver = 1 - slot->sender;

	if (sides.receive && !sides.overheard)
		fire_sctp_receive(o->prober, slot->flow, receiver);
	if (slot->flow == NULL)
		return;
	events.count = 0;
	sctp_received(o->flows, slot->flow, receiver, &slot->packet, o->clock, &events);
	tell_events(o, slot->flow, &events);
}

/* ----------------------------------------------------------------------------------------------------- all of them */

/* Finds the connection that an ICMP error quotes.  The error concerns the end that sent the quoted packet. */
static void
find_quoted(struct observer *o, struct slot *slot)
{
	unsigned quoted_sender;

	if (!slot->packet.icmp.error || !flow_key_of_quote(&slot->packet, &slot->key, &quoted_sender))
		return;
	slot->flow = flow_find(o->flows, &slot->key, flow_hash(o->flows, &slot->key));
	slot->sender = 1 - quoted_sender;
}

static void
is_sent(struct observer *o, struct slot *slot, struct sides sides)
{
	switch (slot->packet.transport) {
	case TRANSPORT_TCP:
		tcp_is_sent(o, slot, sides);
		return;
	case TRANSPORT_UDP:
		udp_is_sent(o, slot, sides);
		return;
	case TRANSPORT_SCTP:
		sctp_is_sent(o, slot, sides);
		return;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		find_quoted(o, slot);
		if (sides.send)
			fire_icmp_send(o->prober, slot->flow, slot->sender);
		return;
	default:
		if (slot->packet.network == NETWORK_ARP && sides.send)
			fire_arp_send(o->prober);
		return;
	}
}

static void
is_received(struct observer *o, struct slot *slot, struct sides sides)
{
	switch (slot->packet.transport) {
	case TRANSPORT_TCP:
		tcp_is_received(o, slot, sides);
		return;
	case TRANSPORT_UDP:
		udp_is_received(o, slot, sides);
		return;
	case TRANSPORT_SCTP:
		sctp_is_received(o, slot, sides);
		return;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		if (sides.receive && !sides.overheard)
			fire_icmp_receive(o->prober, slot->flow, 1 - slot->sender);
		return;
	default:
		if (slot->packet.network == NETWORK_ARP && sides.receive && !sides.overheard)
			fire_arp_receive(o->prober);
		return;
	}
}

/* ------------------------------------------------------------------------------------------------------ the packet */

static bool
is_ip(const struct packet *p)
{
	return p->network == NETWORK_IPV4 || p->network == NETWORK_IPV6;
}

static void
count_anomalies(struct observer *o, const struct packet *p)
{
	struct observe_counters *c = &o->counters;

	if (p->reason == ANOMALY_NONE)
		return;
	c->truncated += anomaly_gravity(p->reason) == GRAVITY_TRUNCATED;
	for (unsigned a = 1; a < ANOMALY_COUNT; a++)
		c->anomalies[a] += anomaly_has(&p->anomalies, (enum anomaly)a);
}

void
observe_lost_datagram(void *observer, const struct packet *lost, unsigned fragments)
{
	struct observer *o = observer;
	struct sides sides = sides_of(lost, o->view, o->locals);

	(void)fragments;
	o->counters.anomalies[lost->reason]++;
	prober_packet(o->prober, lost, ++o->next_id, o->clock);
	if (sides.receive && !sides.overheard)
		fire_ip_drop_in(o->prober, NULL, 0);
	fire_ip_packet_free(o->prober);
}

/* The datagram that this packet is, or completes; NULL if IP drops it or fragments are missing. */
static struct slot *
whole_datagram(struct observer *o, struct slot *slot)
{
	struct packet *p = &slot->packet;
	struct reassembly_result result;

	if (anomaly_gravity(p->reason) == GRAVITY_DROP)
		return NULL;
	if (!is_ip(p) || !p->ip.fragment)
		return slot;
	switch (reassembly_add(o->fragments, p, 0, o->clock, &result)) {
	case REASSEMBLY_WHOLE:
		dissect_reassembled(p, result.first, result.bytes, result.have, result.wire, &o->whole.packet);
		observe_find_key(o, &o->whole);
		return &o->whole;
	case REASSEMBLY_DROPPED:
		packet_note(p, result.why);
		break;
	case REASSEMBLY_HELD:
		break;
	}
	return NULL;
}

static void
ip_is_sent(struct observer *o, struct slot *slot, const struct slot *whole, bool dropped)
{
	const struct flow *flow = whole != NULL ? whole->flow : NULL;
	unsigned end = whole != NULL ? whole->sender : 0;

	if (!is_ip(&slot->packet))
		return;
	if (dropped)
		fire_ip_drop_out(o->prober, flow, end);
	else
		fire_ip_send(o->prober, flow, end);
}

struct slot *
observe_packet(struct observer *o, struct slot *slot, bool outermost)
{
	struct packet *p = &slot->packet;
	struct sides sides = sides_of(p, o->view, o->locals);
	struct slot *whole = whole_datagram(o, slot);
	bool dropped = anomaly_gravity(p->reason) == GRAVITY_DROP, ip = is_ip(p);
	uint64_t id = ++o->next_id;

	if (whole != NULL) {
		prober_packet(o->prober, &whole->packet, id, o->clock);
		is_sent(o, whole, sides);
		if (ip && sides.send)
			fire_ip_request(o->prober, whole->flow, whole->sender);
	}
	if (whole != slot)
		prober_packet(o->prober, p, id, o->clock);
	if (sides.send) {
		ip_is_sent(o, slot, whole, dropped);
		if (outermost)
			fire_gld_send(o->prober);
	}
	if (sides.receive) {
		if (outermost)
			fire_gld_receive(o->prober);
		if (ip)
			fire_ip_receive(o->prober, whole != NULL ? whole->flow : NULL,
					whole != NULL ? 1 - whole->sender : 0);
		if (ip && dropped && !sides.overheard)
			fire_ip_drop_in(o->prober, NULL, 0);
	}
	if (whole != NULL) {
		if (whole != slot)
			prober_packet(o->prober, &whole->packet, id, o->clock);
		if (ip && sides.receive && !sides.overheard)
			fire_ip_deliver(o->prober, whole->flow, 1 - whole->sender);
		is_received(o, whole, sides);
	}
	fire_ip_packet_free(o->prober);
	o->counters.packets += p->network != NETWORK_NONE;
	count_anomalies(o, p);
	if (whole != NULL && whole != slot)
		count_anomalies(o, &whole->packet);
	return whole;
}
