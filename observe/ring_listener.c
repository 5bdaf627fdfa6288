/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/ring_listener.h"

#include "flight/ring.h"
#include "observe/frame_listener.h"
#include "observe/observer.h"
#include "owner/owner_lookup.h"

static void
ring_listener_prefetch(void *ring, const struct flow *const *flows, unsigned count)
{
	ring_prefetch(ring, flows, count);
}

static void
ring_listener_begin_frame(void *ring, const struct frame *frame, uint64_t now)
{
	ring_begin_frame(ring, frame, now);
}

static void
ring_listener_on_fragment(void *ring, const struct packet *fragment)
{
	ring_add_fragment(ring, fragment);
}

static void
ring_listener_on_packet(void *ring, const struct frame_packet *packet)
{
	ring_add_packet(ring, packet->flow, packet->sender, packet->direction, packet->packet_id);
	if (packet->datagram)
		ring_complete_datagram(ring); /* no effect if it has a flow */
	if (packet->flow == NULL)
		return;
	if (packet->reset)
		ring_add_remark(ring, packet->flow, packet->sender, RING_RESET);
	if (packet->zero_window)
		ring_add_remark(ring, packet->flow, packet->sender, RING_ZERO_WINDOW);
}

/* The start and the end of a UDP stream are not notes: they add nothing to its frames. */
static void
ring_listener_on_event(void *ring, const struct flow *flow, const struct flow_event *event)
{
	if (event->kind != EVENT_UDP_STREAM_START && event->kind != EVENT_UDP_STREAM_END)
		ring_add_event(ring, flow, event);
}

static void
ring_listener_end_frame(void *ring)
{
	ring_end_frame(ring);
}

static void
ring_listener_on_fast_frame(void *ring, const struct frame *frame, uint64_t now, const struct frame_packet *packet)
{
	if (__builtin_expect(!packet->zero_window, 1)) {
		ring_add_frame(ring, frame, now, packet->flow, packet->sender, packet->direction, packet->packet_id);
		return;
	}
	ring_begin_frame(ring, frame, now);
	ring_listener_on_packet(ring, packet);
	ring_end_frame(ring);
}

static void
ring_listener_on_copy(void *ring, const struct frame *frame, uint64_t now, const struct packet *packet,
		      const struct frame_packet *found)
{
	/* A SYN may begin another connection than the one that was found. */
	bool opens = packet->transport == TRANSPORT_TCP && (packet->tcp.flags & TCP_SYN) != 0;

	/* A fragment has the connection of its datagram. */
	if (packet->ip.fragment) {
		ring_begin_frame(ring, frame, now);
		ring_add_packet(ring, NULL, 0, found->direction, 0);
		ring_add_fragment(ring, packet);
		ring_end_frame(ring);
		return;
	}
	ring_add_copy(ring, frame, now, opens ? NULL : found->flow, found->sender, found->direction);
}

static bool
ring_listener_find_owner(void *owners, const struct owner_key *key, uint32_t ifindex, uint64_t since_ns,
			 struct owner *owner)
{
	return owner_lookup_find(owners, key, ifindex, since_ns, owner);
}

#define RING_LISTENER \
	.on_fast_frame = ring_listener_on_fast_frame, .prefetch = ring_listener_prefetch, \
	.begin_frame = ring_listener_begin_frame, .on_fragment = ring_listener_on_fragment, \
	.on_packet = ring_listener_on_packet, .on_event = ring_listener_on_event, \
	.end_frame = ring_listener_end_frame

void
ring_listener_attach(struct ring *ring, struct observer *observer, struct owner_lookup *owners)
{
	static const struct frame_listener listener = {RING_LISTENER};

	ring_set_flow_table(ring, observer_flows(observer));
	ring_set_owner_lookup(ring, owners != NULL ? ring_listener_find_owner : NULL, owners);
	observer_set_frame_listener(observer, &listener, ring);
}

void
ring_listener_attach_with_copies(struct ring *ring, struct observer *observer)
{
	static const struct frame_listener listener = {RING_LISTENER, .on_copy = ring_listener_on_copy};

	ring_set_flow_table(ring, observer_flows(observer));
	observer_set_frame_listener(observer, &listener, ring);
}
