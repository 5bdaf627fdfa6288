/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "flight/ring_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "flow/memory.h"

/* Sources: one for each interface, and some for interfaces with several link types.  The last ones are for those of
 * the unknown interface, one for each link type. */
#define RING_SOURCES	 (RING_INTERFACES + 1024u)
#define RING_SOURCES_OWN (RING_SOURCES - 512u)
#define SOURCE_SLOTS	 16384u /* more than twice RING_SOURCES */
#define INTERFACE_SLOTS	 16384u

struct ring_interfaces {
	uint64_t seed;
	uint64_t sweep_after; /* position before which no source can be free */
	unsigned interface_count, source_count;
	unsigned interfaces_before, sources_before; /* those with lower numbers are all used */
	uint16_t latest;			    /* source of the latest frame */
	/* Hash tables with linear hash probes: number of a source, of an interface + 1, 0 free. */
	uint16_t slots[SOURCE_SLOTS];
	uint16_t interface_slots[INTERFACE_SLOTS];
	struct ring_source sources[RING_SOURCES];
	struct interface unknown;
	struct interface interfaces[RING_INTERFACES];
	bool interface_used[RING_INTERFACES];
};

struct ring_interfaces *
ring_interfaces_new(uint64_t seed)
{
	struct ring_interfaces *t = memory_reserve(sizeof *t);

	if (t != NULL)
		t->seed = seed;
	return t;
}

void
ring_interfaces_free(struct ring_interfaces *t)
{
	memory_release(t, sizeof *t);
}

size_t
ring_interfaces_memory_size(void)
{
	return sizeof(struct ring_interfaces);
}

const struct ring_source *
ring_interfaces_source(const struct ring_interfaces *t, uint16_t number)
{
	return &t->sources[number];
}

unsigned
ring_interfaces_add_link_types(const struct ring_interfaces *t, int *types, unsigned count, unsigned most)
{
	for (unsigned i = 0; i < RING_SOURCES && count < most; i++) {
		unsigned known = 0;

		if (t->sources[i].interface == NULL)
			continue;
		while (known < count && types[known] != t->sources[i].dlt)
			known++;
		if (known == count)
			types[count++] = t->sources[i].dlt;
	}
	return count;
}

static bool
ring_interface_equals(const struct interface *a, const struct interface *b)
{
	return strncmp(a->name, b->name, sizeof a->name) == 0 && a->ifindex == b->ifindex && a->netns == b->netns;
}

static bool
ring_source_equals(const struct ring_source *source, const struct interface *interface, int dlt)
{
	return source->interface != NULL && source->dlt == dlt && ring_interface_equals(source->interface, interface);
}

/* Whether the frame certainly has this source. */
static inline bool
ring_source_is_same(const struct ring_source *source, const struct frame *frame)
{
	const struct interface *a = source->interface, *b = frame->interface;

	return a != NULL && source->dlt == frame->dlt && memcmp(a->name, b->name, sizeof a->name) == 0 &&
	       a->ifindex == b->ifindex && a->netns == b->netns;
}

static uint64_t
ring_interface_hash(const struct ring_interfaces *t, const struct interface *interface, int dlt)
{
	struct {
		char name[16];
		uint64_t netns;
		uint32_t ifindex;
		int dlt;
	} key = {.netns = interface->netns, .ifindex = interface->ifindex, .dlt = dlt};

	memcpy(key.name, interface->name, strnlen(interface->name, sizeof key.name));
	return XXH3_64bits_withSeed(&key, sizeof key, t->seed);
}

/* The slot of the source, or the free slot where it belongs. */
static uint16_t *
ring_source_slot(struct ring_interfaces *t, const struct interface *interface, int dlt)
{
	size_t at = ring_interface_hash(t, interface, dlt) % SOURCE_SLOTS;

	while (t->slots[at] != 0 && !ring_source_equals(&t->sources[t->slots[at] - 1], interface, dlt))
		at = (at + 1) % SOURCE_SLOTS;
	return &t->slots[at];
}

/* The slot of the interface, with any link type, or the free slot where it belongs. */
static uint16_t *
ring_interface_slot(struct ring_interfaces *t, const struct interface *interface)
{
	size_t at = ring_interface_hash(t, interface, 0) % INTERFACE_SLOTS;

	while (t->interface_slots[at] != 0 &&
	       !ring_interface_equals(&t->interfaces[t->interface_slots[at] - 1], interface))
		at = (at + 1) % INTERFACE_SLOTS;
	return &t->interface_slots[at];
}

/* Drops the sources and interfaces that no frame in the ring uses. */
static void
ring_interfaces_sweep(struct ring_interfaces *t, uint64_t tail)
{
	memset(t->slots, 0, sizeof t->slots);
	memset(t->interface_slots, 0, sizeof t->interface_slots);
	memset(t->interface_used, 0, sizeof t->interface_used);
	t->interface_count = t->source_count = t->interfaces_before = t->sources_before = 0;
	for (unsigned i = 0; i < RING_SOURCES; i++) {
		struct ring_source *source = &t->sources[i];

		if (source->interface == NULL)
			continue;
		if (source->used < tail) {
			source->interface = NULL;
			continue;
		}
		t->source_count++;
		*ring_source_slot(t, source->interface, source->dlt) = (uint16_t)(i + 1);
		if (source->interface != &t->unknown)
			t->interface_used[source->interface - t->interfaces] = true;
	}
	for (unsigned i = 0; i < RING_INTERFACES; i++) {
		if (!t->interface_used[i])
			continue;
		t->interface_count++;
		*ring_interface_slot(t, &t->interfaces[i]) = (uint16_t)(i + 1);
	}
}

/* Beyond the limits it is the unknown interface, without a search: there may be many such frames. */
static const struct interface *
ring_interface_copy(struct ring_interfaces *t, const struct interface *interface)
{
	uint16_t *slot = ring_interface_slot(t, interface);
	unsigned *unused = &t->interfaces_before;

	if (t->source_count >= RING_SOURCES_OWN)
		return &t->unknown;
	if (*slot != 0)
		return &t->interfaces[*slot - 1];
	if (t->interface_count == RING_INTERFACES)
		return &t->unknown;
	while (t->interface_used[*unused])
		++*unused;
	t->interface_used[*unused] = true;
	t->interfaces[*unused] = *interface;
	t->interface_count++;
	*slot = (uint16_t)(*unused + 1);
	return &t->interfaces[*unused];
}

static uint16_t
ring_source_add(struct ring_interfaces *t, const struct frame *frame, uint16_t *slot)
{
	const struct interface *interface = ring_interface_copy(t, frame->interface);
	unsigned *unused = &t->sources_before;

	if (interface == &t->unknown) {
		slot = ring_source_slot(t, interface, frame->dlt);
		if (*slot != 0)
			return (uint16_t)(*slot - 1);
	}
	while (t->sources[*unused].interface != NULL)
		++*unused;
	t->sources[*unused] = (struct ring_source){.interface = interface, .dlt = frame->dlt};
	t->source_count++;
	*slot = (uint16_t)(*unused + 1);
	return (uint16_t)*unused;
}

static __attribute__((noinline)) uint16_t
ring_interfaces_search(struct ring_interfaces *t, const struct frame *frame, uint64_t position, uint64_t tail)
{
	uint16_t *slot = ring_source_slot(t, frame->interface, frame->dlt);

	if (*slot != 0)
		return (uint16_t)(*slot - 1);
	if ((t->interface_count == RING_INTERFACES || t->source_count >= RING_SOURCES_OWN) && tail > t->sweep_after) {
		ring_interfaces_sweep(t, tail);
		t->sweep_after = position;
		slot = ring_source_slot(t, frame->interface, frame->dlt);
	}
	return ring_source_add(t, frame, slot);
}

uint16_t
ring_interfaces_find(struct ring_interfaces *t, const struct frame *frame, uint64_t position, uint64_t tail)
{
	if (__builtin_expect(!ring_source_is_same(&t->sources[t->latest], frame), 0))
		t->latest = ring_interfaces_search(t, frame, position, tail);
	t->sources[t->latest].used = position;
	return t->latest;
}

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
