/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "flight/ring_internal.h"

/* ------------------------------------------------------------------------------------------------------- the chain */

/* Links an entry at `position` after the latest one of its connection; returns the distance between them. */
static inline uint32_t
ring_chain(struct ring_slot *slot, uint64_t position)
{
	uint64_t back = slot->head != 0 ? position - slot->head : 0;

	slot->head = position;
	return back < RING_BACK_BEYOND ? (uint32_t)back : RING_BACK_BEYOND;
}

static inline struct ring_slot *
ring_slot_of(const struct ring *ring, const struct flow *flow)
{
	return &ring->slots[flow_table_index(ring->flows, flow)];
}

void
ring_prefetch(const struct ring *ring, const struct flow *const *flows, unsigned count)
{
	if (ring->flows == NULL)
		return;
	for (unsigned i = 0; i < count; i++)
		__builtin_prefetch(ring_slot_of(ring, flows[i]), 1);
}

/* Counts a frame for its sender; false if it is beyond the limit. */
static inline bool
ring_slot_count(const struct ring *ring, struct ring_slot *slot, unsigned sender, uint32_t len)
{
	slot->bytes[sender] += len;
	return slot->bytes[sender] <= ring->bytes_max;
}

/* Marks the frame or link before a frame that is left out. */
static void
ring_mark_gap(struct ring *ring, struct ring_slot *slot)
{
	if (slot->head >= ring->tail)
		((struct ring_frame_entry *)ring_entry_at(ring, slot->head))->bits |= RING_GAP;
	else if (slot->head == 0)
		slot->head = RING_BEFORE;
}

/* ------------------------------------------------------------------------------------------------------- the frame */

static inline uint32_t
ring_stored_length(const struct ring *ring, const struct frame *frame)
{
	return frame->caplen < ring->caplen_max ? frame->caplen : ring->caplen_max;
}

/* Stores a frame at `position`, where there is room. */
static inline struct ring_frame_entry *
ring_store_frame(struct ring *ring, uint64_t position, const struct frame *frame, uint64_t now, uint32_t caplen)
{
	struct ring_frame_entry *entry = ring_entry_at(ring, position);

	entry->kind = RING_ENTRY_FRAME;
	entry->source = ring_interfaces_find(ring->interfaces, frame, position, ring->readers == 0 ? ring->tail : 0);
	entry->caplen = caplen;
	entry->len = frame->len;
	entry->ts = frame->ts;
	entry->now = now;
	frame_copy_bytes(entry->data, frame->data, caplen);
	ring->counters.frames++;
	ring->counters.bytes += caplen;
	ring->counters.cut += caplen < frame->caplen;
	ring->newest = now;
	return entry;
}

void
ring_add_frame(struct ring *ring, const struct frame *frame, uint64_t now, const struct flow *flow, unsigned sender,
	       unsigned direction, uint64_t packet_id)
{
	struct ring_slot *slot = ring_slot_of(ring, flow);
	uint32_t caplen = ring_stored_length(ring, frame);
	uint64_t units = ring_units(sizeof(struct ring_frame_entry) + caplen), position;
	struct ring_frame_entry *entry;

	if (__builtin_expect(slot->cid == 0, 0))
		slot->cid = flow_cid(ring->flows, flow, 0);
	if (ring->bytes_max != UINT64_MAX && !ring_slot_count(ring, slot, sender, frame->len)) {
		ring->counters.left_out++;
		ring_mark_gap(ring, slot);
		return;
	}
	position = ring_reserve(ring, units);
	entry = ring_store_frame(ring, position, frame, now, caplen);
	entry->bits = (uint8_t)(direction | (sender != 0 ? RING_FRAME_SENDER : 0u));
	entry->cid = slot->cid;
	entry->packet_id = packet_id;
	entry->back = ring_chain(slot, position);
	ring->head = position + units;
}

/* ------------------------------------------------------------------------------------------- the frame in progress */

/* The frame in progress may be the one after a copy, which is then treated like a fragment of its datagram. */
static void
ring_expect_copy(struct ring *ring)
{
	struct ring_pending *p = &ring->pending;

	if (ring->copy_frame == ring->counters.frames + 1 && ring->copy_len == p->frame.len) {
		p->fragment = ring->copy_key;
		p->has_fragment = true;
	}
	ring->copy_frame = 0;
}

void
ring_begin_frame(struct ring *ring, const struct frame *frame, uint64_t now)
{
	struct ring_pending *p = &ring->pending;

	p->frame = *frame;
	p->now = now;
	p->packet_id = 0;
	p->direction = DIRECTION_UNKNOWN;
	p->has_packet = p->has_fragment = false;
	p->connection_count = p->fragment_count = p->fragment_links = p->notes = p->notes_size = 0;
	if (__builtin_expect(ring->copy_frame != 0, 0))
		ring_expect_copy(ring);
}

/* Gives a slot to another connection, which may have evicted one of the frame in progress. */
static void
ring_slot_reset(struct ring_pending *p, struct ring_slot *slot, uint64_t cid)
{
	for (unsigned i = 0; i < p->connection_count; i++)
		if (p->connections[i].slot == slot) {
			p->removed[i] = *slot;
			p->connections[i].slot = &p->removed[i];
		}
	*slot = (struct ring_slot){.cid = cid};
}

/* The number of the flow's connection in the frame in progress; RING_CONNECTIONS_MAX if there are too many. */
static unsigned
ring_pending_connection(struct ring *ring, const struct flow *flow, unsigned sender)
{
	struct ring_pending *p = &ring->pending;
	uint64_t cid = flow_cid(ring->flows, flow, 0);
	struct ring_slot *slot = ring_slot_of(ring, flow);
	unsigned at = 0;

	while (at < p->connection_count && p->connections[at].cid != cid)
		at++;
	if (at < p->connection_count)
		return at;
	if (at == RING_CONNECTIONS_MAX) {
		ring->counters.notes_dropped++;
		return at;
	}
	if (slot->cid != cid)
		ring_slot_reset(p, slot, cid);
	p->connections[p->connection_count++] = (struct ring_connection){slot, cid, sender, 0};
	return at;
}

/* The latest fragment has completed its datagram. */
static void
ring_take_fragments(struct ring *ring)
{
	struct ring_pending *p = &ring->pending;

	if (p->has_fragment)
		p->fragment_count +=
		    fragment_frames_take(ring->fragments, &p->fragment, p->now, p->fragments + p->fragment_count,
					 RING_FRAGMENTS_MAX - p->fragment_count);
	p->has_fragment = false;
}

/* A packet is in all datagrams that the frame has completed so far: their earlier frames belong to its connection. */
static void
ring_link_fragments(struct ring_pending *p, struct ring_connection *connection)
{
	unsigned more = p->fragment_count - connection->fragments, left = RING_FRAGMENTS_MAX - p->fragment_links;

	more = more < left ? more : left;
	connection->fragments += more;
	p->fragment_links += more;
}

void
ring_add_packet(struct ring *ring, const struct flow *flow, unsigned sender, unsigned direction, uint64_t packet_id)
{
	struct ring_pending *p = &ring->pending;
	unsigned connection;

	if (!p->has_packet) {
		p->packet_id = packet_id;
		p->direction = direction;
		p->has_packet = true;
	}
	if (flow == NULL || ring->flows == NULL)
		return;
	connection = ring_pending_connection(ring, flow, sender);
	ring_take_fragments(ring);
	if (connection != RING_CONNECTIONS_MAX)
		ring_link_fragments(p, &p->connections[connection]);
}

void
ring_add_fragment(struct ring *ring, const struct packet *fragment)
{
	fragment_key_set(&ring->pending.fragment, fragment);
	ring->pending.has_fragment = true;
}

void
ring_complete_datagram(struct ring *ring)
{
	ring_take_fragments(ring);
}

/* The key of a copy is that of no datagram. */
void
ring_add_copy(struct ring *ring, const struct frame *frame, uint64_t now, const struct flow *flow, unsigned sender,
	      unsigned direction)
{
	ring_begin_frame(ring, frame, now);
	ring_add_packet(ring, flow, sender, direction, 0);
	if (flow == NULL) {
		ring->copy_key.version = UINT8_MAX;
		ring->copy_key.id++;
		ring->copy_len = frame->len;
		ring->pending.fragment = ring->copy_key;
		ring->pending.has_fragment = true;
	}
	ring_end_frame(ring);
	if (flow == NULL)
		ring->copy_frame = ring->counters.frames + 1;
}

/* Counts a frame beyond the limit that has notes or completes datagrams; false if there were too many for each of its
 * connections. */
static bool
ring_pending_keep(struct ring_pending *p)
{
	bool kept = false;

	for (unsigned i = 0; i < p->connection_count; i++) {
		uint64_t *bytes = &p->connections[i].slot->bytes[p->connections[i].sender];

		if (*bytes >> RING_KEPT_SHIFT >= RING_KEPT_MAX)
			continue;
		*bytes += UINT64_C(1) << RING_KEPT_SHIFT;
		kept = true;
	}
	return kept;
}

/* Whether every connection of the frame is beyond the limit, and nothing keeps the frame. */
static bool
ring_pending_is_beyond(struct ring *ring)
{
	struct ring_pending *p = &ring->pending;
	bool beyond = p->connection_count != 0;

	for (unsigned i = 0; i < p->connection_count; i++)
		if (ring_slot_count(ring, p->connections[i].slot, p->connections[i].sender, p->frame.len))
			beyond = false;
	return beyond && ((p->notes == 0 && p->fragment_links == 0) || !ring_pending_keep(p));
}

/* Stores a link to the frame at `frame` and returns the position after it. */
static uint64_t
ring_store_link(struct ring *ring, uint64_t position, unsigned bits, struct ring_slot *slot, uint64_t frame)
{
	struct ring_link_entry *link = ring_entry_at(ring, position);

	*link = (struct ring_link_entry){.kind = RING_ENTRY_LINK, .bits = (uint8_t)bits, .position = frame};
	if (slot != NULL) {
		link->cid = slot->cid;
		link->back = ring_chain(slot, position);
	}
	return position + ring_units(sizeof *link);
}

/* A fragment that waited for its connection. */
static void
ring_resolve_fragment(struct ring *ring, uint64_t position, uint64_t cid)
{
	struct ring_frame_entry *entry = ring_entry_at(ring, position);
	uint64_t at = position + ring_frame_units(entry);
	const void *annex;

	if (entry->cid == 0)
		entry->cid = cid;
	if (entry->cid == cid)
		return;
	while (ring_next_annex(ring, &at, &annex) == RING_ENTRY_LINK) {
		struct ring_link_entry *link = (struct ring_link_entry *)(uintptr_t)annex;

		if (link->cid == 0)
			link->cid = cid;
		if (link->cid == cid)
			return;
	}
}

static uint64_t
ring_store_fragments(struct ring *ring, const struct ring_connection *connection, uint64_t position)
{
	const uint64_t *fragments = ring->pending.fragments;

	for (unsigned i = 0; i < connection->fragments; i++) {
		if (fragments[i] < ring->tail)
			continue; /* overwritten */
		ring_resolve_fragment(ring, fragments[i], connection->cid);
		position = ring_store_link(ring, position, RING_LINK_EARLIER, connection->slot, fragments[i]);
	}
	return position;
}

/* Stores the frame in progress with its links and notes. */
static void
ring_store_pending(struct ring *ring, uint32_t caplen)
{
	struct ring_pending *p = &ring->pending;
	const struct ring_connection *first = p->connections;
	bool waits = p->has_fragment && ring->flows != NULL;
	unsigned spare = !waits ? 0 : RING_FRAGMENT_CONNECTIONS - (p->connection_count == 0);
	uint64_t links = p->connection_count - (p->connection_count != 0) + spare + p->fragment_links;
	uint64_t units = ring_units(sizeof(struct ring_frame_entry) + caplen);
	uint64_t position =
	    ring_reserve(ring, units + links * ring_units(sizeof(struct ring_link_entry)) + p->notes_size / RING_UNIT);
	struct ring_frame_entry *entry = ring_store_frame(ring, position, &p->frame, p->now, caplen);
	uint64_t at = position + units;

	entry->bits = (uint8_t)p->direction;
	entry->packet_id = p->packet_id;
	entry->cid = 0;
	entry->back = 0;
	if (p->connection_count != 0) {
		entry->bits |= first->sender != 0 ? RING_FRAME_SENDER : 0;
		entry->cid = first->cid;
		entry->back = ring_chain(first->slot, position);
	}
	for (unsigned i = 1; i < p->connection_count; i++)
		at = ring_store_link(ring, at, 0, p->connections[i].slot, position);
	if (waits)
		fragment_frames_add(ring->fragments, &p->fragment, position, p->now);
	while (spare-- > 0)
		at = ring_store_link(ring, at, 0, NULL, position);
	for (unsigned i = 0; i < p->connection_count; i++)
		at = ring_store_fragments(ring, &p->connections[i], at);
	memcpy(ring_entry_at(ring, at), p->note_bytes, p->notes_size);
	at += p->notes_size / RING_UNIT;
	if (at != position + units)
		entry->bits |= RING_FRAME_MORE;
	ring->counters.notes += p->notes;
	ring->head = at;
}

void
ring_end_frame(struct ring *ring)
{
	struct ring_pending *p = &ring->pending;

	if (ring->bytes_max == UINT64_MAX || !ring_pending_is_beyond(ring)) {
		ring_store_pending(ring, ring_stored_length(ring, &p->frame));
		return;
	}
	ring->counters.left_out++;
	ring->counters.notes_dropped += p->notes;
	for (unsigned i = 0; i < p->connection_count; i++)
		ring_mark_gap(ring, p->connections[i].slot);
}

uint64_t
ring_latest_frame(const struct ring *ring, const struct flow *flow)
{
	const struct ring_slot *slot = ring_slot_of(ring, flow);
	uint64_t position = slot->cid == flow_cid(ring->flows, flow, 0) ? slot->head : 0;

	while (position != 0 && position >= ring->tail) {
		const struct ring_link_entry *link = ring_entry_at(ring, position);

		if (link->kind == RING_ENTRY_FRAME)
			return position;
		if ((link->bits & RING_LINK_EARLIER) == 0)
			return link->position >= ring->tail ? link->position : 0;
		if (link->back == 0 || link->back == RING_BACK_BEYOND)
			return 0;
		position -= link->back;
	}
	return 0;
}
