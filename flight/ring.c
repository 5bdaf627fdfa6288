/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring: its memory, its oldest frames. */
#include "flight/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flight/ring_internal.h"
#include "flow/memory.h"

#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* A frame is cut to this part of the ring, and its links and notes are no larger. */
#define RING_FRAME_PART 8u

/* Bytes of the ring for each mark in a small ring: with its header a TCP segment without data, options and link header
 * takes as many. */
#define RING_FRAME_LEAST 96u

/* Units for which a mark is enough, except in a small ring, whose frames have one each. */
#define RING_MARK_DISTANCE 64u
#define RING_SMALL	   (2 * RING_MEMORY_MIN)

/* How far ahead of new frames memory is fetched for writing. */
#define FETCH_AHEAD 1024u

/* --------------------------------------------------------------------------------------------------------- memory */

static size_t
ring_mapped_size(size_t memory)
{
	size_t page = memory >= HUGE_PAGE ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);

	return (memory + page - 1) / page * page;
}

static size_t
ring_slots_size(const struct ring_limits *limits)
{
	return flow_index_space(limits->flows) * sizeof(struct ring_slot);
}

/* Two successive distances between marks are at least RING_MARK_DISTANCE together. */
static size_t
ring_mark_count(size_t memory)
{
	return memory < RING_SMALL ? memory / RING_FRAME_LEAST : memory / RING_UNIT / (RING_MARK_DISTANCE / 2);
}

size_t
ring_memory_size(const struct ring_limits *limits)
{
	return ring_mapped_size(limits->memory) + (ring_mark_count(limits->memory) + 1) * sizeof(struct ring_mark) +
	       ring_slots_size(limits) + sizeof(struct ring) + ring_interfaces_memory_size() +
	       fragment_frames_memory_size();
}

/* Makes every page present, so that memory that is missing is an error now and not a fault later. */
static bool
ring_populate(void *memory, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	if (madvise(memory, size, MADV_POPULATE_WRITE) == 0)
		return true;
	if (errno != EINVAL) /* Linux before 5.14 */
		return false;
#endif
	for (size_t at = 0; at < size; at += 4096)
		((volatile uint8_t *)memory)[at] = 0;
	return true;
}

/* Without MAP_NORESERVE: the kernel refuses what it cannot give. */
static void *
ring_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, size, MADV_HUGEPAGE); /* small pages work, too */
	if (ring_populate(memory, size))
		return memory;
	munmap(memory, size);
	errno = ENOMEM;
	return NULL;
}

static void
ring_unmap(void *memory, size_t size)
{
	if (memory != NULL)
		munmap(memory, size);
}

static bool
ring_allocate(struct ring *ring, const struct ring_limits *limits)
{
	ring->mapped = ring_mapped_size(limits->memory);
	ring->memory = ring_map(ring->mapped);
	if (ring->memory == NULL)
		return false;
	ring->mark_count = ring_mark_count(limits->memory) + 1; /* one is always free */
	ring->marks = ring_map(ring->mark_count * sizeof *ring->marks);
	ring->slots = memory_reserve_huge(ring_slots_size(limits));
	ring->interfaces = ring_interfaces_new(limits->seed);
	ring->fragments = fragment_frames_new(limits->seed);
	errno = ENOMEM;
	return ring->marks != NULL && ring->slots != NULL && ring->interfaces != NULL && ring->fragments != NULL;
}

struct ring *
ring_new(const struct ring_limits *limits)
{
	uint64_t part = limits->memory / RING_FRAME_PART - sizeof(struct ring_frame_entry);
	struct ring *ring;

	if (limits->memory < RING_MEMORY_MIN || limits->memory > RING_MEMORY_MAX) {
		errno = EINVAL;
		return NULL;
	}
	ring = calloc(1, sizeof *ring);
	if (ring == NULL)
		return NULL;
	ring->slot_count = (uint32_t)flow_index_space(limits->flows);
	if (!ring_allocate(ring, limits)) {
		int error = errno;

		ring_free(ring);
		errno = error;
		return NULL;
	}
	ring->units = limits->memory / RING_UNIT;
	/* Positions begin with the second lap, so that 0 is none. */
	ring->lap = ring->head = ring->tail = ring->limit = ring->units;
	ring->mark_distance = limits->memory < RING_SMALL ? 1 : RING_MARK_DISTANCE;
	ring->caplen_max = part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
	if (limits->snap != 0 && limits->snap < ring->caplen_max)
		ring->caplen_max = limits->snap;
	ring->bytes_max = limits->bytes != 0 ? limits->bytes : UINT64_MAX;
	return ring;
}

void
ring_free(struct ring *ring)
{
	if (ring == NULL)
		return;
	ring_unmap(ring->memory, ring->mapped);
	ring_unmap(ring->marks, ring->mark_count * sizeof *ring->marks);
	memory_release(ring->slots, (size_t)ring->slot_count * sizeof *ring->slots);
	if (ring->interfaces != NULL)
		ring_interfaces_free(ring->interfaces);
	if (ring->fragments != NULL)
		fragment_frames_free(ring->fragments);
	free(ring);
}

void
ring_set_flow_table(struct ring *ring, const struct flow_table *flows)
{
	ring->flows = flows;
}

void
ring_set_owner_lookup(struct ring *ring, emitter_find_owner *find, void *context)
{
	ring->find_owner = find;
	ring->owner_context = context;
}

void
ring_set_leave_handler(struct ring *ring, ring_leave_handler *handler, void *context)
{
	ring->leave = handler;
	ring->leave_context = context;
}

/* -------------------------------------------------------------------------------------------------------- entries */

static uint64_t
ring_skip_padding(const struct ring *ring, uint64_t position)
{
	if (position < ring->head) {
		const struct ring_padding_entry *padding = ring_entry_at(ring, position);

		if (padding->kind == RING_ENTRY_PADDING)
			return position + padding->units;
	}
	return position;
}

enum ring_entry_kind
ring_next_annex(const struct ring *ring, uint64_t *position, const void **entry)
{
	const struct ring_note_entry *note;

	if (*position >= ring->head)
		return RING_ENTRY_PADDING;
	*entry = note = ring_entry_at(ring, *position);
	if (note->kind == RING_ENTRY_LINK)
		*position += ring_units(sizeof(struct ring_link_entry));
	else if (note->kind == RING_ENTRY_NOTE)
		*position += ring_units(note->size);
	else
		return RING_ENTRY_PADDING;
	return (enum ring_entry_kind)note->kind;
}

uint64_t
ring_next_frame(const struct ring *ring, uint64_t position)
{
	const struct ring_frame_entry *frame = ring_entry_at(ring, position);
	const void *annex;

	position += ring_frame_units(frame);
	if ((frame->bits & RING_FRAME_MORE) != 0)
		while (ring_next_annex(ring, &position, &annex) != RING_ENTRY_PADDING)
			;
	return ring_skip_padding(ring, position);
}

static void
ring_frame_add_cid(struct ring_frame *frame, uint64_t cids[RING_CONNECTIONS_MAX], uint64_t cid)
{
	for (size_t i = 0; i < frame->cid_count; i++)
		if (cids[i] == cid)
			return;
	if (cid != 0 && frame->cid_count < RING_CONNECTIONS_MAX)
		cids[frame->cid_count++] = cid;
}

void
ring_fill_frame(const struct ring *ring, uint64_t position, struct ring_frame *frame,
		uint64_t cids[RING_CONNECTIONS_MAX])
{
	const struct ring_frame_entry *entry = ring_entry_at(ring, position);
	const struct ring_source *source = ring_interfaces_source(ring->interfaces, entry->source);
	uint64_t at = position + ring_frame_units(entry);
	enum ring_entry_kind kind;
	const void *annex;

	*frame = (struct ring_frame){
	    .interface = source->interface,
	    .dlt = source->dlt,
	    .ts = entry->ts,
	    .now = entry->now,
	    .data = entry->data,
	    .caplen = entry->caplen,
	    .len = entry->len,
	    .direction = entry->bits & RING_FRAME_DIRECTION,
	    .packet_id = entry->packet_id,
	    .cids = cids,
	    .sender = (entry->bits & RING_FRAME_SENDER) != 0,
	    .position = position,
	};
	ring_frame_add_cid(frame, cids, entry->cid);
	if ((entry->bits & RING_FRAME_MORE) == 0)
		return;
	while ((kind = ring_next_annex(ring, &at, &annex)) != RING_ENTRY_PADDING) {
		const struct ring_link_entry *link = annex;

		if (kind == RING_ENTRY_NOTE)
			frame->notes++;
		else if ((link->bits & RING_LINK_EARLIER) == 0)
			ring_frame_add_cid(frame, cids, link->cid);
	}
}

/* ----------------------------------------------------------------------------------------------------- the oldest */

static void
ring_report_leave(struct ring *ring)
{
	uint64_t cids[RING_CONNECTIONS_MAX];
	struct ring_frame frame;

	ring_fill_frame(ring, ring->tail, &frame, cids);
	ring->leave(ring->leave_context, &frame);
}

/* Reports and removes the oldest frames one by one, up to `end`. */
static void
ring_report_oldest(struct ring *ring, uint64_t end)
{
	while (ring->tail != end) {
		ring_report_leave(ring);
		ring->counters.overwritten++;
		ring->tail = ring_next_frame(ring, ring->tail);
	}
}

/* Removes the oldest frames, up to the next mark. */
static void
ring_remove_oldest(struct ring *ring)
{
	uint64_t end = ring->head, number = ring->counters.frames;

	if (++ring->mark_tail == ring->mark_count)
		ring->mark_tail = 0;
	if (ring->mark_tail != ring->mark_head) {
		const struct ring_mark *mark = &ring->marks[ring->mark_tail];

		end = ring->tail + (mark->position - (uint32_t)ring->tail);
		number = ring->counters.overwritten + (mark->number - (uint32_t)ring->counters.overwritten);
	} else {
		ring->limit = ring->head; /* the next frame needs a mark */
	}
	if (__builtin_expect(ring->leave != NULL, 0))
		ring_report_oldest(ring, end);
	ring->counters.overwritten = number;
	ring->tail = end;
}

void
ring_drain(struct ring *ring)
{
	while (ring->tail < ring->head)
		ring_remove_oldest(ring);
}

/* Fetches the memory that the frames behind these units overwrite.  A fetch behind the end of the ring has no
 * effect. */
static void
ring_fetch_ahead(const struct ring *ring, uint64_t units)
{
	const uint8_t *ahead = (const uint8_t *)ring_entry_at(ring, ring->head) + FETCH_AHEAD;

	for (uint64_t line = 0; line <= units / (64 / RING_UNIT); line++)
		__builtin_prefetch(ahead + line * 64, 1);
}

static void
ring_remove_before(struct ring *ring, uint64_t end)
{
	while (end - ring->tail > ring->units)
		ring_remove_oldest(ring);
}

/* Fills the end of the memory, which is too small for the next entry. */
static void
ring_begin_lap(struct ring *ring, uint64_t left)
{
	ring_remove_before(ring, ring->head + left);
	if (left != 0)
		*(struct ring_padding_entry *)ring_entry_at(ring, ring->head) =
		    (struct ring_padding_entry){.kind = RING_ENTRY_PADDING, .units = (uint32_t)left};
	if (ring->tail == ring->head)
		ring->tail += left;
	ring->head += left;
	ring->lap = ring->head;
}

/* Marks the frame at `head`, which is added next. */
static void
ring_add_mark(struct ring *ring)
{
	size_t next = ring->mark_head + 1 == ring->mark_count ? 0 : ring->mark_head + 1;

	if (next == ring->mark_tail)
		ring_remove_oldest(ring);
	ring->marks[ring->mark_head] = (struct ring_mark){(uint32_t)ring->head, (uint32_t)ring->counters.frames};
	ring->mark_head = next;
}

void
ring_make_room(struct ring *ring, uint64_t units)
{
	uint64_t left = ring->units - (ring->head - ring->lap);

	if (left < units) {
		ring_begin_lap(ring, left);
		left = ring->units;
	}
	if (units < ring->mark_distance)
		units = ring->mark_distance < left ? ring->mark_distance : left;
	ring_remove_before(ring, ring->head + units);
	ring_add_mark(ring);
	ring->limit = ring->head + units;
	ring_fetch_ahead(ring, units);
}

struct ring_counters
ring_counters(const struct ring *ring)
{
	struct ring_counters counters = ring->counters;

	counters.frames_now = counters.frames - counters.overwritten;
	if (counters.frames_now != 0) {
		counters.oldest = ((const struct ring_frame_entry *)ring_entry_at(ring, ring->tail))->now;
		counters.newest = ring->newest;
	}
	return counters;
}

unsigned
ring_add_link_types(const struct ring *ring, int *types, unsigned count, unsigned most)
{
	return ring_interfaces_add_link_types(ring->interfaces, types, count, most);
}
