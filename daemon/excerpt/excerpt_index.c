/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/excerpt/excerpt_index.h"

#include <errno.h>
#include <string.h>

#define DIRECTION_SHIFT 30u

struct indexed_connection {
	uint64_t frame;
	uint32_t connection, unused;
};

struct indexed_id {
	uint64_t frame, packet_id;
};

struct indexed_note {
	uint64_t frame;
	uint32_t connection;
	uint32_t size; /* of the note that follows, a multiple of 8 */
};

void
excerpt_index_open(struct excerpt_index *index, const int files[])
{
	*index = (struct excerpt_index){.count = 0};
	spool_open(&index->frames, files[0]);
	spool_open(&index->further, files[1]);
	spool_open(&index->ids, files[2]);
	spool_open(&index->notes, files[3]);
}

void
excerpt_index_close(struct excerpt_index *index)
{
	spool_close(&index->frames);
	spool_close(&index->further);
	spool_close(&index->ids);
	spool_close(&index->notes);
}

/* --------------------------------------------------------------------------------------------------------- writing */

static bool
index_add_further(struct excerpt_index *index, const struct ring_frame *frame)
{
	struct indexed_connection further = {.frame = index->count};

	for (size_t i = 1; i < frame->cid_count; i++) {
		further.connection = (uint32_t)excerpt_connection_number(frame->cids[i]);
		if (!spool_add(&index->further, &further, sizeof further))
			return false;
	}
	return true;
}

static bool
index_add_notes(struct excerpt_index *index, const struct ring *ring, const struct ring_frame *frame)
{
	static const uint8_t zeros[8];
	struct ring_note note;

	for (size_t i = 0; i < frame->notes && ring_frame_note(ring, frame, i, &note); i++) {
		size_t padding = -note.size % 8;
		struct indexed_note head = {.frame = index->count,
					    .connection = (uint32_t)excerpt_connection_number(note.cid),
					    .size = (uint32_t)(note.size + padding)};

		if (!spool_add(&index->notes, &head, sizeof head) ||
		    !spool_add(&index->notes, note.bytes, note.size) || !spool_add(&index->notes, zeros, padding))
			return false;
	}
	return true;
}

static bool
index_add_id(struct excerpt_index *index, uint64_t packet_id)
{
	const struct indexed_id id = {index->count, packet_id};

	index->packet_id++;
	if (packet_id == index->packet_id)
		return true;
	index->packet_id = packet_id;
	return spool_add(&index->ids, &id, sizeof id);
}

bool
excerpt_index_add(struct excerpt_index *index, const struct ring *ring, const struct ring_frame *frame, bool with_notes)
{
	uint64_t connection = frame->cid_count > 0 ? excerpt_connection_number(frame->cids[0]) : 0;
	uint32_t entry = (uint32_t)connection | (uint32_t)frame->direction << DIRECTION_SHIFT;

	if (__builtin_expect(connection > EXCERPT_CONNECTIONS_MAX, 0)) {
		errno = EOVERFLOW;
		return false;
	}
	if (!spool_add(&index->frames, &entry, sizeof entry) ||
	    (frame->cid_count > 1 && !index_add_further(index, frame)) || !index_add_id(index, frame->packet_id) ||
	    (with_notes && frame->notes > 0 && !index_add_notes(index, ring, frame)))
		return false;
	index->count++;
	return true;
}

/* --------------------------------------------------------------------------------------------------------- reading */

static const struct indexed_connection *
index_further_at(const struct excerpt_index *index, size_t at)
{
	return (const struct indexed_connection *)(const void *)(index->further.data + at);
}

uint32_t
excerpt_index_connection(const struct excerpt_index *index, const struct indexed_frame *frame, size_t i)
{
	if (i == 0)
		return frame->connection;
	if (i > frame->further_count)
		return 0;
	return index_further_at(index, frame->further + (i - 1) * sizeof(struct indexed_connection))->connection;
}

bool
excerpt_index_frame_has(const struct excerpt_index *index, const struct indexed_frame *frame, uint32_t connection)
{
	for (size_t i = 0; i <= frame->further_count; i++)
		if (excerpt_index_connection(index, frame, i) == connection)
			return true;
	return false;
}

uint32_t
excerpt_index_first_connection(const struct excerpt_index *index, uint64_t frame)
{
	uint32_t entry;

	memcpy(&entry, index->frames.data + frame * sizeof entry, sizeof entry);
	return entry & EXCERPT_CONNECTIONS_MAX;
}

bool
excerpt_index_further_backwards(const struct excerpt_index *index, uint64_t frame, size_t *at, uint32_t *connection)
{
	const size_t size = sizeof(struct indexed_connection);

	if (*at == 0 || index_further_at(index, *at - size)->frame != frame)
		return false;
	*at -= size;
	*connection = index_further_at(index, *at)->connection;
	return true;
}

void
excerpt_cursor_begin(struct excerpt_cursor *cursor, const struct excerpt_index *index)
{
	*cursor = (struct excerpt_cursor){.index = index};
}

static uint64_t
cursor_packet_id(struct excerpt_cursor *cursor)
{
	const struct excerpt_index *index = cursor->index;
	const struct indexed_id *id;

	cursor->packet_id++;
	if (cursor->ids == index->ids.size)
		return cursor->packet_id;
	id = (const struct indexed_id *)(const void *)(index->ids.data + cursor->ids);
	if (id->frame == cursor->frame) {
		cursor->packet_id = id->packet_id;
		cursor->ids += sizeof *id;
	}
	return cursor->packet_id;
}

bool
excerpt_cursor_next(struct excerpt_cursor *cursor, struct indexed_frame *frame)
{
	const struct excerpt_index *index = cursor->index;
	uint32_t entry;

	if (cursor->frame == index->count)
		return false;
	memcpy(&entry, index->frames.data + cursor->frame * sizeof entry, sizeof entry);
	*frame = (struct indexed_frame){
	    .number = cursor->frame,
	    .packet_id = cursor_packet_id(cursor),
	    .direction = entry >> DIRECTION_SHIFT,
	    .connection = entry & EXCERPT_CONNECTIONS_MAX,
	    .further = cursor->further,
	};
	while (cursor->further < index->further.size &&
	       index_further_at(index, cursor->further)->frame == cursor->frame) {
		cursor->further += sizeof(struct indexed_connection);
		frame->further_count++;
	}
	cursor->frame++;
	return true;
}

const void *
excerpt_cursor_next_note(struct excerpt_cursor *cursor, uint32_t *connection)
{
	const struct spool *notes = &cursor->index->notes;

	while (cursor->notes < notes->size) {
		const uint8_t *at = notes->data + cursor->notes;
		const struct indexed_note *note = (const struct indexed_note *)(const void *)at;

		if (note->frame >= cursor->frame)
			return NULL;
		cursor->notes += sizeof *note + note->size;
		*connection = note->connection;
		if (note->frame + 1 == cursor->frame)
			return at + sizeof *note;
	}
	return NULL;
}
