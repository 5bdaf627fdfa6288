/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/observe_internal.h"

#include <string.h>

#include "dissect/dissect.h"
#include "engine/engine.h"
#include "flow/sctp/sctp.h"
#include "flow/tcp/tcp.h"
#include "probes/fire.h"

/* ------------------------------------------------------------------------------------------------------ the events */

/* Counts events, whether or not a probe is enabled. */
static void
observe_count_events(struct observer *o, const struct flow_events *events)
{
	for (unsigned i = 0; i < events->count; i++)
		if (events->event[i].kind == EVENT_TCP_RETRANSMIT)
			o->counters.retransmissions[events->event[i].retransmission.kind]++;
}

static void
observe_report_events(struct observer *o, const struct flow *flow, const struct flow_events *events)
{
	for (unsigned i = 0; i < events->count; i++)
		o->listener->on_event(o->listener_context, flow, &events->event[i]);
}

/* Counts the events of a packet, and passes them to the listener. */
static void
observe_note_events(struct observer *o, const struct flow *flow, const struct flow_events *events)
{
	observe_count_events(o, events);
	if (__builtin_expect(o->reports, 0))
		observe_report_events(o, flow, events);
}

/* A packet that was observed; `flow` may be NULL. */
static void
observe_report_packet(struct observer *o, const struct packet *p, const struct flow *flow, unsigned sender, uint64_t id,
		    bool datagram)
{
	bool tcp = p->transport == TRANSPORT_TCP;
	const struct frame_packet reported = {
	    .flow = flow,
	    .sender = sender,
	    .direction = p->direction,
	    .packet_id = id,
	    .datagram = datagram,
	    .reset = tcp && (p->tcp.flags & TCP_RST) != 0,
	    .zero_window = tcp && p->tcp.window == 0 && (p->tcp.flags & (TCP_SYN | TCP_RST)) == 0,
	};

	o->listener->on_packet(o->listener_context, &reported);
}

static void
observe_fire_events(struct observer *o, const struct flow *flow, const struct flow_events *events, unsigned first,
		    unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		const struct flow_event *event = &events->event[i];
		struct flow_event at_peer;

		/* A UDP stream has one start and one end event, fired at whichever end is local. */
		if (flow->kind == FLOW_UDP && (flow->local >> event->endpoint & 1) == 0) {
			at_peer = *event;
			at_peer.endpoint = 1 - event->endpoint;
			event = &at_peer;
		}
		if ((flow->local >> event->endpoint & 1) != 0)
			fire_event(o->emitter, flow, event);
	}
}

static void
observe_emit_events(struct observer *o, const struct flow *flow, const struct flow_events *events)
{
	observe_note_events(o, flow, events);
	observe_fire_events(o, flow, events, 0, events->count);
}

/* How many of the events of a segment belong before what it sends: those with which the sender was established. */
static unsigned
observe_count_accept_events(const struct flow_events *events)
{
	if (events->count == 0 || events->event[0].kind != EVENT_TCP_ACCEPT_ESTABLISHED)
		return 0;
	return events->count > 1 && events->event[1].kind == EVENT_TCP_STATE_CHANGE ? 2 : 1;
}

/* The end of the capture, or of the connection, or the peer, has decided that endpoint `endpoint` is established: what
 * its peer has sent meanwhile is delivered. */
static void
observe_deliver_accepted(struct observer *o, struct flow *flow, unsigned endpoint)
{
	struct tcp_endpoint before = flow->tcp[endpoint];
	struct tcp_delivery delivery;

	before.state = TCP_STATE_SYN_RECEIVED;
	before.slow_reasons = TCP_SLOW_ACK_DEFERRED;
	delivery = tcp_delivery_since(flow, endpoint, &before, 0);
	if (delivery.bytes == 0)
		return;
	if ((flow->local >> endpoint & 1) != 0)
		fire_socket_receive(o->emitter, flow, endpoint, delivery.bytes, delivery.offset);
	if (app_layer_may_match(o->app_layer, &flow->key) && flow->app != FLOW_APP_NONE)
		app_layer_read_kept(o->app_layer, o->emitter, flow, endpoint, false, o->last_packet_id, o->clock.now);
}

void
observe_on_flow_end(void *observer, struct flow *flow, bool removed)
{
	struct observer *o = observer;

	if (removed || flow_has_ended(o->flows, flow))
		app_layer_end_connection(o->app_layer, o->emitter, flow, o->clock.now);
}

void
observe_on_flow_timer(void *observer, struct flow *flow, const struct flow_events *events)
{
	struct observer *o = observer;
	bool reports = o->reports;
	unsigned accepts;

	emitter_begin_timer(o->emitter, o->clock.now);
	o->reports = false; /* the frame in progress, if any, is not that of these events */
	observe_note_events(o, flow, events);
	accepts = observe_count_accept_events(events);
	observe_fire_events(o, flow, events, 0, accepts);
	if (accepts != 0)
		observe_deliver_accepted(o, flow, events->event[0].endpoint);
	observe_fire_events(o, flow, events, accepts, events->count);
	o->reports = reports;
	emitter_end_timer(o->emitter);
}

/* Once for the connection, whichever of its ends are local. */
void
observe_on_connection_record(void *observer, const struct flow *flow, const struct flow_record *record,
			     enum record_reason reason)
{
	struct observer *o = observer;

	if (flow->local == 0 || !observer_window_has_record(o, flow, record, reason))
		return;
	emitter_begin_timer(o->emitter, o->clock.now);
	emitter_mute(o->emitter, false);
	fire_connection(o->emitter, flow, record, reason);
	emitter_mute(o->emitter, o->window.limited && o->window.phase != WINDOW_OPEN);
	emitter_end_timer(o->emitter);
}

/* ------------------------------------------------------------------------------------------------- the connections */

void
observe_set_flow_key(struct observer *o, struct packet_work *work)
{
	const struct packet *p = &work->packet;

	work->flow = NULL;
	if (p->transport == TRANSPORT_TCP || p->transport == TRANSPORT_UDP || p->transport == TRANSPORT_SCTP)
		work->hash = flow_key_hash_packet(o->flows, p, &work->key, &work->sender);
}

/* 127.0.0.0/8, ::1, or a host that sends to one of its own addresses. */
static bool
observe_is_same_host(const struct packet *p, enum view_mode view, uint8_t local)
{
	static const uint8_t loopback[16] = {[15] = 1};

	if (p->loopback || p->frame->interface->loopback || memcmp(p->ip.src, p->ip.dst, sizeof p->ip.src) == 0)
		return true;
	if (p->ip.version == 4 ? p->ip.src[0] == 127 : memcmp(p->ip.src, loopback, sizeof loopback) == 0)
		return true;
	return view == VIEW_HOST && local == BOTH_LOCAL;
}

/* Requests the owners of new local ends early, so that they are known when the first socket probes fire and when the
 * record of the connection is made. */
static void
observe_request_owners(const struct observer *o, const struct packet_work *work, uint8_t ends)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		struct owner_key key;

		if ((ends >> endpoint & 1) == 0)
			continue;
		owner_key_from_flow(&key, &work->key, endpoint);
		owner_lookup_request(o->owner_lookup, &key, work->packet.frame->interface->ifindex);
	}
}

/* A group or unspecified address: whether its end is local depends on the link header, too (locality_of_packet()). */
static bool
observe_is_special_address(unsigned version, const uint8_t addr[16])
{
	static const uint8_t zero[16];

	return memcmp(addr, zero, sizeof zero) == 0 || addr[0] >= (version == 4 ? 0xe0 : 0xff);
}

/* Stores the local epoch if `local` has every end whose address is local.  Then no frame of this epoch adds another
 * end, unless its link header adds information to the addresses (observe_is_locality_known(),
 * pipeline_is_locality_known()). */
static void
observe_set_local_epoch(const struct observer *o, struct flow *flow)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++) {
		const uint8_t *addr = flow->key.addr[endpoint];

		if (observe_is_special_address(flow->key.version, addr))
			return;
		if ((flow->local >> endpoint & 1) == 0 && local_addrs_contains(o->local_addrs, flow->key.version, addr))
			return;
	}
	flow->local_epoch = o->local_epoch & FLOW_LOCAL_EPOCH_MAX;
}

/* Marks the ends of the flow that are local according to this packet. */
static void
observe_update_local_endpoints(const struct observer *o, struct packet_work *work, struct locality locality)
{
	struct flow *flow = work->flow;
	uint8_t local = flow->local;

	if (locality.source_local)
		local |= (uint8_t)(1u << work->sender);
	if (locality.destination_local)
		local |= (uint8_t)(1u << (1 - work->sender));
	if (local != flow->local) {
		if (o->owner_lookup != NULL && (emitter_is_traced(o->emitter) || emitter_passes_records(o->emitter)))
			observe_request_owners(o, work, local & (uint8_t)~flow->local);
		flow->local = local & 3u;
		flow->same_host |= observe_is_same_host(&work->packet, o->view, local);
	}
	if (local != BOTH_LOCAL && flow->local_epoch != o->local_epoch)
		observe_set_local_epoch(o, flow);
}

/* Whether the packet cannot add an end to flow.local: both are local, or its link header says nothing and its addresses
 * have been compared with the local addresses in this epoch. */
static bool
observe_is_locality_known(const struct observer *o, const struct flow *flow, const struct packet *p)
{
	return flow->local == BOTH_LOCAL || (flow->local_epoch == o->local_epoch && p->direction == DIRECTION_UNKNOWN &&
					     !p->loopback && !p->frame->interface->loopback);
}

/* ------------------------------------------------------------------------------------------------- the duplicates */

static bool
observe_packet_is_ip(const struct packet *p)
{
	return p->network == NETWORK_IPV4 || p->network == NETWORK_IPV6;
}

static bool
observe_has_sequence_space(const struct packet *p)
{
	return p->transport == TRANSPORT_TCP && (p->payload_wire != 0 || (p->tcp.flags & (TCP_SYN | TCP_FIN)) != 0);
}

static bool
observe_port_is_of_dns(const struct observer *o, uint16_t port)
{
	const struct app_ports *ports = &o->config->app_ports[APP_DNS];

	for (unsigned i = 0; i < ports->count; i++)
		if (ports->port[i] == port)
			return true;
	return false;
}

enum duplicate_rule
observe_udp_rule(const struct observer *o, const struct flow_key *key)
{
	return observe_port_is_of_dns(o, key->port[0]) || observe_port_is_of_dns(o, key->port[1]) ? DUPLICATE_RULE_TIMER
												   : DUPLICATE_RULE_ANY;
}

static bool
observe_icmp_is_echo(const struct packet *p)
{
	enum { ECHO_REPLY = 0, ECHO = 8, ECHO_V6 = 128, ECHO_REPLY_V6 = 129 };
	uint8_t type = p->icmp.type;

	return p->transport == TRANSPORT_ICMP ? type == ECHO_REPLY || type == ECHO
					      : type == ECHO_V6 || type == ECHO_REPLY_V6;
}

static enum duplicate_rule
observe_duplicate_rule(const struct observer *o, const struct packet_work *work)
{
	const struct packet *p = &work->packet;

	switch (p->transport) {
	case TRANSPORT_TCP:
		return observe_has_sequence_space(p) ? DUPLICATE_RULE_TCP : DUPLICATE_RULE_ANY;
	case TRANSPORT_UDP:
		return observe_udp_rule(o, &work->key);
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		return observe_icmp_is_echo(p) ? DUPLICATE_RULE_TIMER : DUPLICATE_RULE_ANY;
	case TRANSPORT_SCTP:
		return DUPLICATE_RULE_TIMER;
	default:
		return DUPLICATE_RULE_ANY;
	}
}

/* Whether a segment is one of which only the TCP machine knows whether it is a duplicate. */
static bool
observe_is_left_to_tcp(const struct packet *p)
{
	return p->transport == TRANSPORT_TCP &&
	       !print_is_needed(observe_has_sequence_space(p), (uint16_t)p->ip.fragment_id,
				(p->tcp.options & TCP_OPTION_TIMESTAMPS) != 0);
}

/* Whether the packet differs from all before, although it may have the print of one. */
static bool
observe_segment_is_next(struct observer *o, const struct packet_work *work, enum ident_use *use)
{
	const struct packet *p = &work->packet;
	const struct flow *flow;

	if (p->transport != TRANSPORT_TCP)
		return false;
	flow = flow_table_lookup(o->flows, &work->key, work->hash);
	if (flow == NULL)
		return false;
	*use = tcp_identification_use(o->flows, flow, work->sender, p);
	return tcp_segment_is_next(flow, work->sender, p);
}

/* Whether an IP packet was captured before; if not it is remembered. */
static bool
observe_find_duplicate(struct observer *o, struct packet_work *work)
{
	enum ident_use use = IDENT_UNKNOWN;

	work->print = print_from_packet(&work->packet, &work->key, work->sender);
	if (observe_is_left_to_tcp(&work->packet)) {
		flow_table_expect_duplicate(o->flows, duplicates_are_moved(o->duplicates, &work->print, o->clock.now));
		return false;
	}
	flow_table_expect_duplicate(o->flows, false);
	if (!duplicates_may_have(o->duplicates, &work->print) || observe_segment_is_next(o, work, &use)) {
		duplicates_add(o->duplicates, &work->print, o->clock.now);
		return false;
	}
	return duplicates_find(o->duplicates, &work->print, observe_duplicate_rule(o, work), use,
			       o->clock.now);
}

/* Whether the receiver drops a segment because its checksum is wrong.  The sender's SYN or first segment must have a
 * right one: then the capture has checksums as they were sent, not as they are before an interface computes them.  Only
 * segments that open or close a connection and carry nothing count; damaged data are sent again, and each byte counts
 * once. */
static bool
observe_is_damaged(const struct observer *o, const struct packet_work *work)
{
	const struct packet *p = &work->packet;
	const struct flow *flow;

	if (p->transport != TRANSPORT_TCP || p->payload_wire != 0 ||
	    (p->tcp.flags & (TCP_SYN | TCP_FIN | TCP_RST)) == 0)
		return false;
	flow = flow_table_lookup(o->flows, &work->key, work->hash);
	return flow != NULL && (flow->summed >> work->sender & 1) != 0 && checksum_verify(p) == CHECKSUM_BAD;
}

/* SYNs, and the first segment of a connection, take the slow path, traced or not. */
static void
observe_learn_sum(struct flow *flow, unsigned sender, const struct packet *p)
{
	bool first = flow->tcp[0].segments_sent + flow->tcp[1].segments_sent == 0;

	if ((first || (p->tcp.flags & TCP_SYN) != 0) && checksum_verify(p) == CHECKSUM_OK)
		flow->summed |= (uint16_t)(1u << sender) & 3u;
}

/* The connection of a segment without effect, which is not created. */
static void
observe_find_duplicate_flow(struct observer *o, struct packet_work *work)
{
	const struct packet *p = &work->packet;

	if (p->transport == TRANSPORT_TCP || p->transport == TRANSPORT_UDP || p->transport == TRANSPORT_SCTP)
		work->flow = flow_table_lookup(o->flows, &work->key, work->hash);
	if (p->transport == TRANSPORT_TCP && !work->damaged)
		tcp_count_duplicate(o->flows);
}

/* ---------------------------------------------------------------------------------------------- TCP, top to bottom */

/* Fires the receive probe for bytes that this segment made deliverable to the application of `endpoint`. */
static void
observe_emit_socket_receive(struct observer *o, const struct packet_work *work, unsigned endpoint,
			    const struct tcp_endpoint *before)
{
	/* The payload is not addressed to its sender. */
	uint32_t payload = endpoint == work->sender ? 0 : work->packet.payload_wire;
	struct tcp_delivery delivery = tcp_delivery_since(work->flow, endpoint, before, payload);

	if (delivery.bytes > 0 && (work->flow->local >> endpoint & 1) != 0)
		fire_socket_receive(o->emitter, work->flow, endpoint, delivery.bytes, delivery.offset);
}

/* Fires the send probe for the bytes that the segment's sender has accepted from its application since: those of the
 * segment, and bytes in front of them that were not captured or are late. */
static void
observe_emit_socket_send(struct observer *o, const struct packet_work *work, const struct tcp_endpoint *before)
{
	const struct tcp_layer *t = &work->packet.tcp;
	uint32_t seq = t->seq + ((t->flags & TCP_SYN) != 0);
	struct tcp_delivery sent = tcp_sent_since(work->flow, work->sender, before, seq);

	if ((work->flow->local >> work->sender & 1) != 0 && sent.bytes != 0)
		fire_socket_send(o->emitter, work->flow, work->sender, sent.bytes, sent.offset);
}

/* Runs the application providers, at their two points in the firing order; they read streams and datagrams on the slow
 * path only. */
static inline void
observe_app_layer(struct observer *o, const struct packet_work *work, struct locality locality, bool sending)
{
	if (__builtin_expect(!app_layer_may_match(o->app_layer, &work->key), 1) || work->ignored ||
	    work->flow->app == FLOW_APP_NONE)
		return;
	engine_layer_enter(o->last_packet_id, ENGINE_LAYER_APPLICATION);
	app_layer_observe(o->app_layer, o->emitter,
			  &(struct app_segment){.packet = &work->packet,
						.flow = work->flow,
						.sender = work->sender,
						.packet_id = o->last_packet_id,
						.now = o->clock.now,
						.on_send_side = sending,
						.has_send_side = locality.fire_send});
	engine_layer_leave(o->last_packet_id, ENGINE_LAYER_APPLICATION);
}

static void
observe_count_anomalies(struct observer *o, const struct packet *p)
{
	struct observe_counters *c = &o->counters;

	if (p->worst_anomaly == ANOMALY_NONE)
		return;
	c->truncated += anomaly_severity(p->worst_anomaly) == SEVERITY_TRUNCATED;
	for (unsigned word = 0; word < sizeof p->anomalies.bits / sizeof p->anomalies.bits[0]; word++)
		for (uint64_t bits = p->anomalies.bits[word]; bits != 0; bits &= bits - 1)
			c->anomalies[64 * word + (unsigned)__builtin_ctzll(bits)]++;
}

/* Marks a segment that the TCP machine has found to be a duplicate. */
static void
observe_mark_duplicate(struct observer *o, struct packet_work *work)
{
	packet_add_anomaly(&work->packet, ANOMALY_DUPLICATE);
	duplicates_prove(o->duplicates, &work->print, o->clock.now);
}

/* Marks a segment that its receiver ignores. */
static void
observe_check_segment(struct observer *o, struct packet_work *work)
{
	enum anomaly anomaly = tcp_segment_check(o->flows, work->flow, 1 - work->sender, &work->packet);

	work->ignored = anomaly != ANOMALY_NONE;
	if (work->ignored)
		packet_add_anomaly(&work->packet, anomaly);
}

static void
observe_tcp_sent(struct observer *o, struct packet_work *work, struct locality locality)
{
	struct flow_events events;
	const struct packet *p = &work->packet;
	unsigned sender = work->sender, accepts;
	struct tcp_endpoint before;
	bool sockets = socket_probes_enabled();

	events.count = 0;
	o->counters.tcp_segments++;
	work->flow = flow_table_lookup_tcp(o->flows, p, &work->key, work->hash, sender, o->clock.now);
	if (work->flow != NULL) {
		observe_learn_sum(work->flow, sender, p);
		observe_update_local_endpoints(o, work, locality);
		if (sockets)
			before = work->flow->tcp[sender];
		tcp_segment_sent(o->flows, work->flow, sender, p, o->clock.now, &events);
		observe_note_events(o, work->flow, &events);
		/* Before any probe of the packet fires. */
		if (tcp_segment_is_duplicate(work->flow, sender))
			observe_mark_duplicate(o, work);
		observe_check_segment(o, work);
		accepts = observe_count_accept_events(&events);
		observe_fire_events(o, work->flow, &events, 0, accepts);
		if (sockets) {
			observe_emit_socket_receive(o, work, sender, &before);
			if (locality.fire_send)
				observe_emit_socket_send(o, work, &before);
		}
		observe_app_layer(o, work, locality, true);
		observe_fire_events(o, work->flow, &events, accepts, events.count);
	}
	if (!locality.fire_send)
		return;
	fire_tcp_send(o->emitter, work->flow, sender);
	if (work->flow != NULL && work->flow->same_host && p->payload_wire > 0)
		fire_tcpf_send(o->emitter, work->flow, sender);
}

static void
observe_tcp_received(struct observer *o, struct packet_work *work, struct locality locality)
{
	struct flow_events events;
	const struct packet *p = &work->packet;
	unsigned receiver = 1 - work->sender, accepts;
	struct tcp_endpoint before;
	bool sockets = socket_probes_enabled(), deferred;

	if (locality.fire_receive && !locality.foreign) {
		fire_tcp_receive(o->emitter, work->flow, receiver);
		if (work->flow != NULL && work->flow->same_host && p->payload_wire > 0)
			fire_tcpf_receive(o->emitter, work->flow, receiver);
	}
	if (work->flow == NULL)
		return;
	events.count = 0;
	if (sockets)
		before = work->flow->tcp[receiver];
	deferred = tcp_ack_is_deferred(&work->flow->tcp[receiver]);
	tcp_segment_received(o->flows, work->flow, receiver, p, o->clock.now, &events);
	if (!deferred && tcp_ack_is_deferred(&work->flow->tcp[receiver]))
		emitter_save_ack(o->emitter, work->flow, receiver);
	if (__builtin_expect((p->tcp.flags & TCP_SYN) != 0, 0) &&
	    work->flow->tcp[receiver].state == TCP_STATE_SYN_SENT &&
	    (work->flow->tcp[receiver].slow_reasons & TCP_SLOW_SYN_ACK_DEFERRED) != 0)
		emitter_save_syn_ack(o->emitter, work->flow, receiver);
	observe_note_events(o, work->flow, &events);
	accepts = deferred ? observe_count_accept_events(&events) : 0;
	observe_fire_events(o, work->flow, &events, 0, accepts);
	if (accepts != 0)
		observe_deliver_accepted(o, work->flow, receiver);
	observe_fire_events(o, work->flow, &events, accepts, events.count);
	if (sockets && accepts == 0)
		observe_emit_socket_receive(o, work, receiver, &before);
	observe_app_layer(o, work, locality, false);
	if (flow_has_ended(o->flows, work->flow))
		app_layer_end_connection(o->app_layer, o->emitter, work->flow, o->clock.now);
}

static void
observe_untraced_udp(struct observer *o, struct packet_work *work)
{
	struct flow_events ignored_events;
	const struct packet *p = &work->packet;

	ignored_events.count = 0;
	work->flow =
	    flow_table_lookup_udp(o->flows, p, &work->key, work->hash, work->sender, o->clock.now, &ignored_events);
	if (!observe_is_locality_known(o, work->flow, p))
		observe_update_local_endpoints(o, work, locality_of_packet(p, o->view, o->local_addrs));
}

static void
observe_untraced_tcp(struct observer *o, struct packet_work *work)
{
	struct flow_events events;
	const struct packet *p = &work->packet;
	enum anomaly anomaly;
	struct flow *flow;

	o->counters.tcp_segments++;
	work->flow = flow = flow_table_lookup_tcp(o->flows, p, &work->key, work->hash, work->sender, o->clock.now);
	if (flow == NULL)
		return;
	observe_learn_sum(flow, work->sender, p);
	if (!observe_is_locality_known(o, flow, p))
		observe_update_local_endpoints(o, work, locality_of_packet(p, o->view, o->local_addrs));
	events.count = 0;
	tcp_segment_sent(o->flows, flow, work->sender, p, o->clock.now, &events);
	if (events.count != 0)
		observe_note_events(o, flow, &events);
	if (__builtin_expect(tcp_segment_is_duplicate(flow, work->sender), 0)) {
		observe_mark_duplicate(o, work);
		o->counters.anomalies[ANOMALY_DUPLICATE]++;
	}
	events.count = 0;
	anomaly = tcp_segment_received(o->flows, flow, 1 - work->sender, p, o->clock.now, &events);
	if (__builtin_expect(anomaly != ANOMALY_NONE, 0))
		o->counters.anomalies[anomaly]++;
	if (events.count != 0)
		observe_note_events(o, flow, &events);
}

bool
observe_untraced(struct observer *o, struct packet_work *work)
{
	const struct packet *p = &work->packet;
	uint64_t id;

	if (!o->untraced || p->worst_anomaly != ANOMALY_NONE || p->inner != INNER_NONE || p->ip.fragment)
		return false;
	if (p->transport != TRANSPORT_TCP && p->transport != TRANSPORT_UDP)
		return false;
	/* Some application providers read connections even while no probe is enabled: for tracers that attach later, or
	 * for the names in records. */
	if (app_layer_may_match(o->app_layer, &work->key))
		return false;
	id = observe_count_packet(o);
	work->damaged = observe_is_damaged(o, work);
	if (work->damaged) {
		observe_find_duplicate_flow(o, work);
		o->counters.anomalies[ANOMALY_CHECKSUM_WRONG]++;
	} else if (observe_find_duplicate(o, work)) {
		observe_find_duplicate_flow(o, work);
		o->counters.anomalies[ANOMALY_DUPLICATE]++;
	} else if (p->transport == TRANSPORT_UDP)
		observe_untraced_udp(o, work);
	else
		observe_untraced_tcp(o, work);
	if (__builtin_expect(o->reports, 0))
		observe_report_packet(o, p, work->flow, work->sender, id, false);
	return true;
}

/* ---------------------------------------------------------------------------------------------- UDP, top to bottom */

static void
observe_udp_sent(struct observer *o, struct packet_work *work, struct locality locality)
{
	struct flow_events events;
	const struct packet *p = &work->packet;

	events.count = 0;
	work->flow = flow_table_lookup_udp(o->flows, p, &work->key, work->hash, work->sender, o->clock.now, &events);
	observe_update_local_endpoints(o, work, locality);
	work->ignored = false;
	if (locality.fire_send)
		fire_socket_send(o->emitter, work->flow, work->sender, p->payload_wire,
				 work->flow->udp[work->sender].bytes - p->payload_wire);
	observe_app_layer(o, work, locality, true);
	if (locality.fire_send) {
		observe_emit_events(o, work->flow, &events);
		fire_udp_send(o->emitter, work->flow, work->sender);
	}
	work->stream_starts = !locality.fire_send && events.count > 0;
}

static void
observe_udp_received(struct observer *o, struct packet_work *work, struct locality locality)
{
	const struct packet *p = &work->packet;
	unsigned receiver = 1 - work->sender;

	if (locality.fire_receive && !locality.foreign) {
		fire_udp_receive(o->emitter, work->flow, receiver);
		if (work->stream_starts) {
			struct flow_events events = {.count = 1};

			events.event[0] = (struct flow_event){
			    .kind = EVENT_UDP_STREAM_START, .endpoint = (uint8_t)receiver, .ts = o->clock.now};
			observe_emit_events(o, work->flow, &events);
		}
		fire_socket_receive(o->emitter, work->flow, receiver, p->payload_wire,
				    work->flow->udp[work->sender].bytes - p->payload_wire);
	}
	observe_app_layer(o, work, locality, false);
}

/* --------------------------------------------------------------------------------------------- SCTP, top to bottom */

static void
observe_sctp_sent(struct observer *o, struct packet_work *work, struct locality locality)
{
	struct flow_events events;
	enum anomaly anomaly;

	work->flow = flow_table_lookup_sctp(o->flows, &work->packet, &work->key, work->hash, &work->sender,
					    o->clock.now, &anomaly);
	if (anomaly != ANOMALY_NONE)
		packet_add_anomaly(&work->packet, anomaly);
	if (work->flow != NULL) {
		observe_update_local_endpoints(o, work, locality);
		events.count = 0;
		sctp_packet_sent(o->flows, work->flow, work->sender, &work->packet, o->clock.now, &events);
		observe_emit_events(o, work->flow, &events);
	}
	if (locality.fire_send)
		fire_sctp_send(o->emitter, work->flow, work->sender);
}

static void
observe_sctp_received(struct observer *o, struct packet_work *work, struct locality locality)
{
	struct flow_events events;
	unsigned receiver = 1 - work->sender;

	if (locality.fire_receive && !locality.foreign)
		fire_sctp_receive(o->emitter, work->flow, receiver);
	if (work->flow == NULL)
		return;
	events.count = 0;
	sctp_packet_received(o->flows, work->flow, receiver, &work->packet, o->clock.now, &events);
	observe_emit_events(o, work->flow, &events);
}

/* ----------------------------------------------------------------------------------------------------- all of them */

/* Finds the connection that an ICMP error quotes.  The error concerns the end that sent the quoted packet. */
static void
observe_find_quoted_flow(struct observer *o, struct packet_work *work)
{
	unsigned quoted_sender;

	if (!work->packet.icmp.error || !flow_key_from_icmp_error(&work->packet, &work->key, &quoted_sender))
		return;
	work->flow = flow_table_lookup(o->flows, &work->key, flow_key_hash(o->flows, &work->key));
	work->sender = 1 - quoted_sender;
}

/* An ICMP error that its receiver accepts may end the attempt that it quotes. */
static void
observe_icmp_error_received(struct observer *o, const struct packet_work *work)
{
	struct flow_events events;

	if (work->flow == NULL || work->duplicate || checksum_verify(&work->packet) == CHECKSUM_BAD)
		return;
	events.count = 0;
	tcp_icmp_received(o->flows, work->flow, 1 - work->sender, &work->packet, o->clock.now, &events);
	observe_emit_events(o, work->flow, &events);
}

/* A duplicate fires the probes of its transport, and no others. */
static void
observe_duplicate_sent(struct observer *o, struct packet_work *work, struct locality locality)
{
	unsigned sender = work->sender;

	observe_find_duplicate_flow(o, work);
	if (!locality.fire_send)
		return;
	switch (work->packet.transport) {
	case TRANSPORT_TCP:
		fire_tcp_send(o->emitter, work->flow, sender);
		return;
	case TRANSPORT_UDP:
		fire_udp_send(o->emitter, work->flow, sender);
		return;
	case TRANSPORT_SCTP:
		fire_sctp_send(o->emitter, work->flow, sender);
		return;
	default:
		return;
	}
}

static void
observe_duplicate_received(struct observer *o, struct packet_work *work, struct locality locality)
{
	unsigned receiver = 1 - work->sender;

	if (!locality.fire_receive || locality.foreign)
		return;
	switch (work->packet.transport) {
	case TRANSPORT_TCP:
		fire_tcp_receive(o->emitter, work->flow, receiver);
		return;
	case TRANSPORT_UDP:
		fire_udp_receive(o->emitter, work->flow, receiver);
		return;
	case TRANSPORT_SCTP:
		fire_sctp_receive(o->emitter, work->flow, receiver);
		return;
	default:
		return;
	}
}

/* Whether a duplicate, or a damaged segment, could change a connection. */
static bool
observe_duplicate_is_of_connection(const struct packet_work *work)
{
	enum transport_layer transport = work->packet.transport;

	return (work->duplicate || work->damaged) &&
	       (transport == TRANSPORT_TCP || transport == TRANSPORT_UDP || transport == TRANSPORT_SCTP);
}

static void
observe_transport_sent(struct observer *o, struct packet_work *work, struct locality locality)
{
	if (observe_duplicate_is_of_connection(work)) {
		observe_duplicate_sent(o, work, locality);
		return;
	}
	switch (work->packet.transport) {
	case TRANSPORT_TCP:
		observe_tcp_sent(o, work, locality);
		return;
	case TRANSPORT_UDP:
		observe_udp_sent(o, work, locality);
		return;
	case TRANSPORT_SCTP:
		observe_sctp_sent(o, work, locality);
		return;
	case TRANSPORT_DCCP: /* not tracked as a connection */
		if (locality.fire_send)
			fire_dccp_send(o->emitter);
		return;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		observe_find_quoted_flow(o, work);
		if (locality.fire_send)
			fire_icmp_send(o->emitter, work->flow, work->sender);
		return;
	case TRANSPORT_NONE:
		if (work->packet.network == NETWORK_ARP && locality.fire_send)
			fire_arp_send(o->emitter);
		return;
	}
}

static void
observe_transport_received(struct observer *o, struct packet_work *work, struct locality locality)
{
	if (observe_duplicate_is_of_connection(work)) {
		observe_duplicate_received(o, work, locality);
		return;
	}
	switch (work->packet.transport) {
	case TRANSPORT_TCP:
		observe_tcp_received(o, work, locality);
		return;
	case TRANSPORT_UDP:
		observe_udp_received(o, work, locality);
		return;
	case TRANSPORT_SCTP:
		observe_sctp_received(o, work, locality);
		return;
	case TRANSPORT_DCCP:
		if (locality.fire_receive && !locality.foreign)
			fire_dccp_receive(o->emitter);
		return;
	case TRANSPORT_ICMP:
	case TRANSPORT_ICMPV6:
		if (locality.fire_receive && !locality.foreign)
			fire_icmp_receive(o->emitter, work->flow, 1 - work->sender);
		observe_icmp_error_received(o, work);
		return;
	case TRANSPORT_NONE:
		if (work->packet.network == NETWORK_ARP && locality.fire_receive && !locality.foreign)
			fire_arp_receive(o->emitter);
		return;
	}
}

/* ------------------------------------------------------------------------------------------------------ the packet */

void
observe_on_reassembly_failure(void *observer, const struct packet *first, unsigned fragments)
{
	struct observer *o = observer;
	struct locality locality = locality_of_packet(first, o->view, o->local_addrs);

	(void)fragments;
	o->counters.anomalies[first->worst_anomaly]++;
	emitter_set_packet(o->emitter, first, observe_take_packet_id(o), o->clock.now);
	if (locality.fire_receive && !locality.foreign)
		fire_ip_drop_in(o->emitter, NULL, 0);
	fire_ip_packet_free(o->emitter);
}

/* The datagram that this packet is, or completes; NULL if IP drops it or fragments are missing.  Marks a duplicate. */
static struct packet_work *
observe_reassemble(struct observer *o, struct packet_work *work)
{
	struct packet *p = &work->packet;
	struct reassembly_result result;

	work->duplicate = work->damaged = false;
	if (anomaly_severity(p->worst_anomaly) == SEVERITY_DROP)
		return NULL;
	if (!observe_packet_is_ip(p))
		return work;
	work->damaged = observe_is_damaged(o, work);
	work->duplicate = !work->damaged && (observe_find_duplicate(o, work) || work->inside_duplicate);
	if (work->duplicate || work->damaged)
		packet_add_anomaly(p, work->damaged ? ANOMALY_CHECKSUM_WRONG : ANOMALY_DUPLICATE);
	if (!p->ip.fragment || work->duplicate)
		return p->ip.fragment ? NULL : work;
	switch (reassembly_add(o->fragments, p, 0, o->clock.now, &result)) {
	case REASSEMBLY_COMPLETE:
		if (__builtin_expect(o->reports, 0))
			o->listener->on_fragment(o->listener_context, p);
		dissect_reassembled(p, result.first, result.bytes, result.captured, result.wire,
				    &o->reassembled.packet);
		observe_set_flow_key(o, &o->reassembled);
		o->reassembled.duplicate = o->reassembled.damaged = false;
		return &o->reassembled;
	case REASSEMBLY_DROPPED:
		packet_add_anomaly(p, result.anomaly);
		break;
	case REASSEMBLY_HELD:
		if (__builtin_expect(o->reports, 0))
			o->listener->on_fragment(o->listener_context, p);
		break;
	}
	return NULL;
}

static void
observe_ip_sent(struct observer *o, struct packet_work *work, const struct packet_work *datagram, bool dropped)
{
	const struct flow *flow = datagram != NULL ? datagram->flow : NULL;
	unsigned endpoint = datagram != NULL ? datagram->sender : 0;

	if (!observe_packet_is_ip(&work->packet))
		return;
	if (dropped)
		fire_ip_drop_out(o->emitter, flow, endpoint);
	else
		fire_ip_send(o->emitter, flow, endpoint);
}

/* A packet with the datagram that it is or completes, NULL none. */
static void
observe_report_datagram(struct observer *o, const struct packet_work *work, const struct packet_work *datagram,
		      uint64_t id)
{
	if (datagram == NULL)
		observe_report_packet(o, &work->packet, NULL, 0, id, false);
	else
		observe_report_packet(o, &datagram->packet, datagram->flow, datagram->sender, id, datagram != work);
}

/* observe_transport_sent(), and the probes of netobs_engine that follow packet `id`. */
static void
observe_followed_sent(struct observer *o, struct packet_work *work, struct locality locality, uint64_t id)
{
	uint64_t created = flow_table_counters(o->flows)->created;

	engine_layer_enter(id, ENGINE_LAYER_TRANSPORT_SENT);
	observe_transport_sent(o, work, locality);
	engine_layer_leave(id, ENGINE_LAYER_TRANSPORT_SENT);
	if (work->flow == NULL)
		return;
	if (flow_table_counters(o->flows)->created != created)
		engine_flow_born(id, flow_cid(o->flows, work->flow, work->sender));
	else
		engine_flow_found(id, flow_cid(o->flows, work->flow, work->sender));
}

struct packet_work *
observe_packet(struct observer *o, struct packet_work *work, bool outermost)
{
	struct packet *p = &work->packet;
	struct locality locality = locality_of_packet(p, o->view, o->local_addrs);
	struct packet_work *datagram = observe_reassemble(o, work);
	bool dropped = anomaly_severity(p->worst_anomaly) == SEVERITY_DROP, ip = observe_packet_is_ip(p);
	uint64_t id = p->network != NETWORK_NONE ? observe_count_packet(o) : observe_take_packet_id(o);

	engine_layer_enter(id, ENGINE_LAYER_NETWORK);
	if (datagram != NULL) {
		emitter_set_packet(o->emitter, &datagram->packet, id, o->clock.now);
		observe_followed_sent(o, datagram, locality, id);
		if (ip && locality.fire_send)
			fire_ip_request(o->emitter, datagram->flow, datagram->sender);
	}
	if (datagram != work)
		emitter_set_packet(o->emitter, p, id, o->clock.now);
	if (locality.fire_send) {
		observe_ip_sent(o, work, datagram, dropped);
		if (outermost)
			fire_gld_send(o->emitter);
	}
	if (locality.fire_receive) {
		if (outermost)
			fire_gld_receive(o->emitter);
		if (ip)
			fire_ip_receive(o->emitter, datagram != NULL ? datagram->flow : NULL,
					datagram != NULL ? 1 - datagram->sender : 0);
		if (ip && dropped && !locality.foreign)
			fire_ip_drop_in(o->emitter, NULL, 0);
	}
	if (datagram != NULL) {
		if (datagram != work)
			emitter_set_packet(o->emitter, &datagram->packet, id, o->clock.now);
		if (ip && locality.fire_receive && !locality.foreign)
			fire_ip_deliver(o->emitter, datagram->flow, 1 - datagram->sender);
		engine_layer_enter(id, ENGINE_LAYER_TRANSPORT_RECEIVED);
		observe_transport_received(o, datagram, locality);
		engine_layer_leave(id, ENGINE_LAYER_TRANSPORT_RECEIVED);
	}
	if (__builtin_expect(o->reports, 0))
		observe_report_datagram(o, work, datagram, id);
	flow_table_report_ended(o->flows);
	fire_ip_packet_free(o->emitter);
	observe_count_anomalies(o, p);
	if (datagram != NULL && datagram != work)
		observe_count_anomalies(o, &datagram->packet);
	engine_layer_leave(id, ENGINE_LAYER_NETWORK);
	return datagram;
}
