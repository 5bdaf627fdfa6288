/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the ring.  Every step is bounded, and the ring's thread may run between two steps: then the oldest frames may
 * be gone.
 *
 * All frames are read from the tail on.  For a connection its frames are listed first, and then read in order: the
 * slots are searched for the connection, whose chain gives them from the latest to the first; fragments that were
 * linked later are out of order there, so that the list is sorted if there are any.  If no slot belongs to the
 * connection any more, or the list becomes too long, all frames are examined.
 */
#include <stdlib.h>
#include <string.h>

#include "flight/ring_internal.h"

/* Work of a step: entries, each a cache miss; slots; elements that are merged. */
#define READER_ENTRIES 2048u
#define READER_SLOTS   16384u
#define READER_MERGES  16384u

/* Most frames in a list, which limits its memory: 16 MiB with the one for sorting. */
#define READER_LIST_MAX (1024u * 1024)

enum reader_phase { READER_SLOT, READER_CHAIN, READER_SORT, READER_LIST, READER_ALL };

struct ring_reader {
	struct ring *ring;
	struct ring_selection selection;
	enum reader_phase phase;
	uint64_t end, end_ordinal;  /* frames from here on are not read */
	uint64_t position, ordinal; /* READER_ALL: the next frame, and its number in the run; READER_CHAIN: the entry */
	uint32_t slot;		    /* READER_SLOT: the next one */
	uint64_t lost;
	bool cut;
	/* The frames of a connection, the latest one first; from READER_LIST on those that are not read yet. */
	uint64_t *list, *merged;
	size_t count, capacity;
	bool sorted;
	/* READER_SORT: length of the sorted runs; the two runs that are merged begin at `at`, and their next elements
	 * are `left` and `right`. */
	size_t width, at, left, right;
	uint64_t latest; /* READER_LIST: the latest frame read */
	uint64_t cids[RING_CONNECTIONS_MAX];
};

struct ring_reader *
ring_reader_new(struct ring *ring, const struct ring_selection *selection)
{
	struct ring_reader *r = calloc(1, sizeof *r);

	if (r == NULL)
		return NULL;
	r->ring = ring;
	r->selection = *selection;
	r->selection.cid = ring_connection_cid(selection->cid);
	r->phase = r->selection.cid != 0 ? READER_SLOT : READER_ALL;
	r->end = ring->head;
	r->end_ordinal = ring->counters.frames;
	r->position = ring->tail;
	r->ordinal = ring->counters.overwritten;
	r->sorted = true;
	ring->readers++;
	return r;
}

void
ring_reader_free(struct ring_reader *r)
{
	if (r == NULL)
		return;
	r->ring->readers--;
	free(r->list);
	free(r->merged);
	free(r);
}

uint64_t
ring_reader_lost(const struct ring_reader *r)
{
	return r->lost;
}

bool
ring_reader_keeps(struct ring_reader *r, const struct ring_frame *frame)
{
	bool kept = frame->position >= r->ring->tail;

	r->lost += !kept;
	return kept;
}

bool
ring_reader_is_cut(const struct ring_reader *r)
{
	return r->cut;
}

/* ------------------------------------------------------------------------------------------------------ the list */

/* Examines all frames instead. */
static enum ring_read
reader_begin_all(struct ring_reader *r)
{
	r->phase = READER_ALL;
	r->position = r->ring->tail;
	r->ordinal = r->ring->counters.overwritten;
	return RING_LATER;
}

static bool
reader_list_add(struct ring_reader *r, uint64_t position)
{
	if (r->count == r->capacity) {
		size_t capacity = r->capacity == 0 ? 512 : 2 * r->capacity;
		uint64_t *list = realloc(r->list, capacity * sizeof *list);

		if (list == NULL)
			return false;
		r->list = list;
		r->capacity = capacity;
	}
	if (r->count != 0 && r->list[r->count - 1] <= position)
		r->sorted = false;
	r->list[r->count++] = position;
	return true;
}

static enum ring_read
reader_find_slot(struct ring_reader *r)
{
	const struct ring *ring = r->ring;
	uint32_t end = ring->slot_count - r->slot > READER_SLOTS ? r->slot + READER_SLOTS : ring->slot_count;

	for (; r->slot < end; r->slot++)
		if (ring->slots[r->slot].cid == r->selection.cid) {
			r->phase = READER_CHAIN;
			r->position = ring->slots[r->slot].head;
			return RING_LATER;
		}
	if (end == ring->slot_count)
		r->phase = READER_ALL;
	return RING_LATER;
}

/* Examines an entry of the chain. */
static bool
reader_follow_entry(struct ring_reader *r, const struct ring_frame_entry *entry)
{
	uint64_t position = r->position;

	if (entry->kind == RING_ENTRY_LINK)
		position = ((const struct ring_link_entry *)(const void *)entry)->position;
	if (position < r->ring->tail)
		r->cut = true; /* a fragment */
	else if (r->position < r->end) {
		r->cut = r->cut || (entry->bits & RING_GAP) != 0;
		return reader_list_add(r, position);
	}
	return true;
}

static enum ring_read
reader_follow_chain(struct ring_reader *r)
{
	const struct ring *ring = r->ring;

	for (unsigned i = 0; i < READER_ENTRIES; i++) {
		const struct ring_frame_entry *entry;

		if (r->position < ring->tail) {
			r->cut = r->cut || r->position != 0;
			r->phase = READER_SORT;
			return RING_LATER;
		}
		if (r->count == READER_LIST_MAX)
			return reader_begin_all(r);
		entry = ring_entry_at(ring, r->position);
		if (!reader_follow_entry(r, entry))
			return RING_NO_MEMORY;
		if (entry->back == RING_BACK_BEYOND)
			r->cut = true;
		r->position = entry->back == 0 || entry->back == RING_BACK_BEYOND ? 0 : r->position - entry->back;
	}
	return RING_LATER;
}

static size_t
reader_bounded(const struct ring_reader *r, size_t index)
{
	return index < r->count ? index : r->count;
}

/* Two runs are merged, which end at `end`: goes on to the next two, if necessary of the next pass. */
static void
reader_next_runs(struct ring_reader *r, size_t end)
{
	uint64_t *list = r->list;

	if (end == r->count) {
		r->list = r->merged;
		r->merged = list;
		r->width *= 2;
		r->sorted = r->width >= r->count;
		end = 0;
	}
	r->at = r->left = end;
	r->right = reader_bounded(r, end + r->width);
}

/* Merges sorted runs of the list until it is one run. */
static enum ring_read
reader_sort(struct ring_reader *r)
{
	if (r->sorted || r->count < 2) {
		r->phase = READER_LIST;
		return RING_LATER;
	}
	if (r->merged == NULL) {
		r->merged = malloc(r->count * sizeof *r->merged);
		if (r->merged == NULL)
			return RING_NO_MEMORY;
		r->width = r->right = 1;
	}
	for (unsigned i = 0; i < READER_MERGES; i++) {
		size_t middle = reader_bounded(r, r->at + r->width), end = reader_bounded(r, middle + r->width);
		size_t out = r->left + r->right - middle;

		if (r->left < middle && (r->right == end || r->list[r->left] >= r->list[r->right]))
			r->merged[out] = r->list[r->left++];
		else
			r->merged[out] = r->list[r->right++];
		if (out + 1 == end)
			reader_next_runs(r, end);
		if (r->sorted)
			break;
	}
	return RING_LATER;
}

/* --------------------------------------------------------------------------------------------------- the frames */

static bool
reader_fill(struct ring_reader *r, uint64_t position, struct ring_frame *frame)
{
	ring_fill_frame(r->ring, position, frame, r->cids);
	return frame->now >= r->selection.from;
}

static enum ring_read
reader_read_list(struct ring_reader *r, struct ring_frame *frame)
{
	for (unsigned i = 0; i < READER_ENTRIES; i++) {
		uint64_t position;

		if (r->count == 0)
			return RING_END;
		position = r->list[--r->count];
		if (position == r->latest)
			continue; /* a fragment that is linked twice */
		r->latest = position;
		if (position < r->ring->tail)
			r->lost++;
		else if (reader_fill(r, position, frame))
			return RING_FRAME;
	}
	return RING_LATER;
}

/* Frames were overwritten before they were read.  Their number is known, but not their connections, nor their times. */
static void
reader_skip_overwritten(struct ring_reader *r)
{
	const struct ring *ring = r->ring;
	uint64_t overwritten = ring->counters.overwritten;

	if (overwritten > r->end_ordinal)
		overwritten = r->end_ordinal;
	if (r->selection.cid != 0)
		r->cut = true;
	else if (ring->tail == ring->head ||
		 ((const struct ring_frame_entry *)ring_entry_at(ring, ring->tail))->now >= r->selection.from)
		r->lost += overwritten - r->ordinal;
	r->position = ring->tail;
	r->ordinal = overwritten;
}

/* Whether a frame belongs to the connection. */
static bool
reader_examine_entries(struct ring_reader *r, uint64_t position)
{
	const struct ring_frame_entry *entry = ring_entry_at(r->ring, position);
	uint64_t at = position + ring_frame_units(entry), link_at = position;
	const void *annex = entry;
	bool found = false;

	do {
		const struct ring_link_entry *link = annex;
		bool is_frame = link->kind == RING_ENTRY_FRAME;
		uint64_t cid = is_frame ? entry->cid : link->cid;

		if (link->kind != RING_ENTRY_NOTE && cid == r->selection.cid) {
			found = found || is_frame || (link->bits & RING_LINK_EARLIER) == 0;
			r->cut = r->cut || (link->bits & RING_GAP) != 0 || link_at - link->back < r->ring->tail;
		}
		link_at = at;
	} while ((entry->bits & RING_FRAME_MORE) != 0 && ring_next_annex(r->ring, &at, &annex) != RING_ENTRY_PADDING);
	return found;
}

static enum ring_read
reader_read_all(struct ring_reader *r, struct ring_frame *frame)
{
	for (unsigned i = 0; i < READER_ENTRIES; i++) {
		uint64_t position;

		if (r->position < r->ring->tail)
			reader_skip_overwritten(r);
		if (r->position >= r->end)
			return RING_END;
		position = r->position;
		r->position = ring_next_frame(r->ring, position);
		r->ordinal++;
		if ((r->selection.cid == 0 || reader_examine_entries(r, position)) && reader_fill(r, position, frame))
			return RING_FRAME;
	}
	return RING_LATER;
}

enum ring_read
ring_reader_next(struct ring_reader *r, struct ring_frame *frame)
{
	switch (r->phase) {
	case READER_SLOT:
		return reader_find_slot(r);
	case READER_CHAIN:
		return reader_follow_chain(r);
	case READER_SORT:
		return reader_sort(r);
	case READER_LIST:
		return reader_read_list(r, frame);
	case READER_ALL:
		break;
	}
	return reader_read_all(r, frame);
}
