/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_index.h"

#include <errno.h>
#include <string.h>

#define DIRECTION_SHIFT 30u
#define ENDPOINT_SHIFT	31u
#define NO_FRAME	UINT64_MAX

/* No note: its frame is that of the notes before, for notes that are far behind. */
#define NOTE_DISTANCE 0xffu

struct indexed_connection {
	uint64_t frame;
	uint32_t connection, unused;
};

struct indexed_id {
	uint64_t frame, packet_id;
};

struct indexed_note {
	uint32_t distance;   /* from the frame of the note before */
	uint32_t connection; /* endpoint in the highest bit */
	uint8_t event;
	uint8_t before, after;
	uint8_t words; /* of 4 bytes, that follow: two numbers, or a text */
};

void
excerpt_index_open(struct excerpt_index *index, const int files[], size_t memory)
{
	*index = (struct excerpt_index){.count = 0};
	spool_open(&index->frames, files[0], memory);
	spool_open(&index->further, files[1], memory);
	spool_open(&index->ids, files[2], memory);
	spool_open(&index->notes, files[3], memory);
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

static __attribute__((noinline)) bool
index_add_id(struct excerpt_index *index, uint64_t packet_id)
{
	const struct indexed_id id = {index->count, packet_id};

	index->packet_id = packet_id;
	return spool_add(&index->ids, &id, sizeof id);
}

bool
excerpt_index_add(struct excerpt_index *index, uint32_t connection, unsigned direction, uint64_t packet_id)
{
	uint32_t entry = connection | (uint32_t)direction << DIRECTION_SHIFT;

	if (__builtin_expect(packet_id != ++index->packet_id, 0) && !index_add_id(index, packet_id))
		return false;
	if (!spool_add(&index->frames, &entry, sizeof entry))
		return false;
	index->count++;
	return true;
}

bool
excerpt_index_add_further(struct excerpt_index *index, uint32_t connection)
{
	const struct indexed_connection further = {.frame = index->count, .connection = connection};

	return spool_add(&index->further, &further, sizeof further);
}

/* The offset in memory of the first further connection of a frame that is not before `frame`. */
static size_t
index_find_further(const struct spool *further, uint64_t frame)
{
	const size_t size = sizeof(struct indexed_connection);
	size_t low = 0, high = further->used / size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct indexed_connection at;

		memcpy(&at, further->data + middle * size, size);
		if (at.frame < frame)
			low = middle + 1;
		else
			high = middle;
	}
	return low * size;
}

void
excerpt_index_resolve(struct excerpt_index *index, uint64_t frame, uint32_t connection)
{
	uint8_t *bytes = spool_memory_at(&index->frames, frame * sizeof(uint32_t));
	struct indexed_connection further;
	uint32_t entry;

	if (bytes == NULL)
		return;
	memcpy(&entry, bytes, sizeof entry);
	if ((entry & EXCERPT_CONNECTIONS_MAX) == 0) {
		entry |= connection;
		memcpy(bytes, &entry, sizeof entry);
	}
	if ((entry & EXCERPT_CONNECTIONS_MAX) == connection)
		return;
	for (size_t at = index_find_further(&index->further, frame); at < index->further.used; at += sizeof further) {
		memcpy(&further, index->further.data + at, sizeof further);
		if (further.frame != frame || further.connection == connection)
			return;
		if (further.connection != 0)
			continue;
		further.connection = connection;
		memcpy(index->further.data + at, &further, sizeof further);
		return;
	}
}

/* Adds a note whose distance is not set yet. */
static bool
index_add_note(struct excerpt_index *index, struct indexed_note *note, const void *words)
{
	const struct indexed_note far = {.distance = UINT32_MAX, .event = NOTE_DISTANCE};

	for (; index->count - index->note_frame > UINT32_MAX; index->note_frame += UINT32_MAX)
		if (!spool_add(&index->notes, &far, sizeof far))
			return false;
	note->distance = (uint32_t)(index->count - index->note_frame);
	index->note_frame = index->count;
	return spool_add(&index->notes, note, sizeof *note) && spool_add(&index->notes, words, note->words * 4u);
}

bool
excerpt_index_add_note(struct excerpt_index *index, uint32_t connection, unsigned endpoint,
		       const struct event_note *note)
{
	const uint32_t numbers[2] = {note->count, note->elapsed_us};
	struct indexed_note stored = {
	    .connection = connection | (uint32_t)endpoint << ENDPOINT_SHIFT,
	    .event = note->event,
	    .before = note->before,
	    .after = note->after,
	    .words = note->count != 0 || note->elapsed_us != 0 ? 2 : 0,
	};

	return index_add_note(index, &stored, numbers);
}

bool
excerpt_index_add_text(struct excerpt_index *index, uint32_t connection, const char *text)
{
	char words[RING_COMMENT_MAX] = "";
	size_t length = strnlen(text, sizeof words - 1);
	struct indexed_note stored = {
	    .connection = connection,
	    .event = EVENT_NOTE_TEXT,
	    .words = (uint8_t)(length / 4 + 1),
	};

	memcpy(words, text, length);
	return index_add_note(index, &stored, words);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static bool
index_read(struct excerpt_index *index, struct spool *spool, uint64_t offset, void *to, size_t size)
{
	if (spool_read(spool, offset, to, size))
		return true;
	index->error = errno;
	memset(to, 0, size);
	return false;
}

uint32_t
excerpt_index_connection(struct excerpt_index *index, const struct indexed_frame *frame, size_t i)
{
	struct indexed_connection further;

	if (i == 0)
		return frame->connection;
	if (i > frame->further_count)
		return 0;
	index_read(index, &index->further, frame->further + (i - 1) * sizeof further, &further, sizeof further);
	return further.connection;
}

uint32_t
excerpt_index_first_connection(struct excerpt_index *index, uint64_t frame)
{
	uint32_t entry;

	index_read(index, &index->frames, frame * sizeof entry, &entry, sizeof entry);
	return entry & EXCERPT_CONNECTIONS_MAX;
}

bool
excerpt_index_further_backwards(struct excerpt_index *index, uint64_t frame, uint64_t *at, uint32_t *connection)
{
	struct indexed_connection further;

	if (*at == 0 ||
	    !index_read(index, &index->further, *at - sizeof further, &further, sizeof further) ||
	    further.frame != frame)
		return false;
	*at -= sizeof further;
	*connection = further.connection;
	return true;
}

static void
cursor_fetch_further(struct excerpt_cursor *cursor)
{
	struct indexed_connection further = {.frame = NO_FRAME};

	if (cursor->further < spool_size(&cursor->index->further) &&
	    !index_read(cursor->index, &cursor->index->further, cursor->further, &further, sizeof further))
		further.frame = NO_FRAME;
	cursor->further_frame = further.frame;
}

static uint64_t
cursor_fetch_id(struct excerpt_cursor *cursor)
{
	struct indexed_id id = {.frame = NO_FRAME};

	if (cursor->ids < spool_size(&cursor->index->ids) &&
	    !index_read(cursor->index, &cursor->index->ids, cursor->ids, &id, sizeof id))
		id.frame = NO_FRAME;
	cursor->id_frame = id.frame;
	return id.packet_id;
}

void
excerpt_cursor_begin(struct excerpt_cursor *cursor, struct excerpt_index *index)
{
	*cursor = (struct excerpt_cursor){.index = index};
	cursor_fetch_further(cursor);
	(void)cursor_fetch_id(cursor);
}

static uint64_t
cursor_packet_id(struct excerpt_cursor *cursor)
{
	cursor->packet_id++;
	if (cursor->id_frame == cursor->frame) {
		cursor->packet_id = cursor_fetch_id(cursor);
		cursor->ids += sizeof(struct indexed_id);
		(void)cursor_fetch_id(cursor);
	}
	return cursor->packet_id;
}

bool
excerpt_cursor_next(struct excerpt_cursor *cursor, struct indexed_frame *frame)
{
	struct excerpt_index *index = cursor->index;
	uint32_t entry;

	if (cursor->frame == index->count ||
	    !index_read(index, &index->frames, cursor->frame * sizeof entry, &entry, sizeof entry))
		return false;
	*frame = (struct indexed_frame){
	    .number = cursor->frame,
	    .packet_id = cursor_packet_id(cursor),
	    .direction = entry >> DIRECTION_SHIFT,
	    .connection = entry & EXCERPT_CONNECTIONS_MAX,
	    .further = cursor->further,
	};
	while (cursor->further_frame == cursor->frame) {
		cursor->further += sizeof(struct indexed_connection);
		frame->further_count++;
		cursor_fetch_further(cursor);
	}
	cursor->frame++;
	return index->error == 0;
}

/* Makes the text of a note from what follows it. */
static bool
cursor_format_note(struct excerpt_cursor *cursor, const struct indexed_note *note, char text[RING_COMMENT_MAX])
{
	struct excerpt_index *index = cursor->index;
	uint64_t at = cursor->notes + sizeof *note;
	uint32_t numbers[2] = {0, 0}, number = note->connection & EXCERPT_CONNECTIONS_MAX;
	struct event_note event = {.event = note->event, .before = note->before, .after = note->after};

	if (note->event == EVENT_NOTE_TEXT)
		return index_read(index, &index->notes, at, text, note->words * 4u);
	if (note->words != 0 && !index_read(index, &index->notes, at, numbers, sizeof numbers))
		return false;
	event.count = numbers[0];
	event.elapsed_us = numbers[1];
	event_note_format(&event, 2 * (uint64_t)number - 1 + (note->connection >> ENDPOINT_SHIFT), -1, "", text);
	return true;
}

bool
excerpt_cursor_next_note(struct excerpt_cursor *cursor, uint32_t *connection, char text[RING_COMMENT_MAX])
{
	struct spool *notes = &cursor->index->notes;
	struct indexed_note note;
	uint64_t frame;
	bool found;

	while (cursor->notes < spool_size(notes)) {
		if (!index_read(cursor->index, notes, cursor->notes, &note, sizeof note))
			return false;
		frame = cursor->note_frame + note.distance;
		if (frame >= cursor->frame)
			return false;
		found = frame + 1 == cursor->frame && note.event != NOTE_DISTANCE;
		if (found && !cursor_format_note(cursor, &note, text))
			return false;
		cursor->note_frame = frame;
		cursor->notes += sizeof note + note.words * 4u;
		*connection = note.connection & EXCERPT_CONNECTIONS_MAX;
		if (found)
			return true;
	}
	return false;
}
