/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"

void
spool_open(struct spool *spool, int fd, size_t memory)
{
	*spool = (struct spool){.fd = fd, .memory = memory};
}

void
spool_close(struct spool *spool)
{
	free(spool->data);
	free(spool->window);
	if (spool->fd >= 0)
		close(spool->fd);
	*spool = (struct spool){.fd = -1};
}

/* --------------------------------------------------------------------------------------------------------- writing */

/* Moves the older half of the memory to the file. */
static bool
spool_move_half(struct spool *spool)
{
	size_t half = spool->memory / 2;

	if (!output_write_all(spool->fd, spool->data, half))
		return false;
	spool->used -= half;
	spool->start += half;
	memmove(spool->data, spool->data + half, spool->used);
	return true;
}

static bool
spool_grow_memory(struct spool *spool, size_t needed)
{
	size_t capacity = spool->capacity > 0 ? spool->capacity : SPOOL_MEMORY_MIN;
	uint8_t *larger;

	while (capacity < needed)
		capacity += capacity / 2;
	if (spool->fd >= 0 && capacity > spool->memory)
		capacity = spool->memory;
	larger = realloc(spool->data, capacity);
	if (larger == NULL)
		return false;
	spool->data = larger;
	spool->capacity = capacity;
	return true;
}

bool
spool_reserve(struct spool *spool, size_t more)
{
	if (more > SIZE_MAX / 2 - spool->used) {
		errno = ENOMEM;
		return false;
	}
	if (spool->fd >= 0 && spool->used + more > spool->memory && !spool_move_half(spool))
		return false;
	return spool->used + more <= spool->capacity || spool_grow_memory(spool, spool->used + more);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static bool
spool_read_file(struct spool *spool, uint64_t offset, uint8_t *to, size_t size)
{
	while (size > 0) {
		ssize_t done = pread(spool->fd, to, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done == 0)
			errno = EIO; /* another program has shortened the file */
		if (done <= 0)
			return false;
		to += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return true;
}

/* Fills the window with the bytes of the file around `offset`. */
static bool
spool_load_window(struct spool *spool, uint64_t offset)
{
	uint64_t left;

	if (spool->window == NULL && (spool->window = malloc(SPOOL_WINDOW)) == NULL)
		return false;
	spool->window_start = offset / SPOOL_WINDOW * SPOOL_WINDOW;
	left = spool->start - spool->window_start;
	spool->window_size = left < SPOOL_WINDOW ? (size_t)left : SPOOL_WINDOW;
	if (spool_read_file(spool, spool->window_start, spool->window, spool->window_size))
		return true;
	spool->window_size = 0;
	return false;
}

/* Copies a part of the bytes, 0 on failure. */
static size_t
spool_read_part(struct spool *spool, uint64_t offset, uint8_t *to, size_t size)
{
	const uint8_t *from;
	size_t part;

	if (offset >= spool->start) {
		memcpy(to, spool->data + (offset - spool->start), size);
		return size;
	}
	if ((offset < spool->window_start || offset - spool->window_start >= spool->window_size) &&
	    !spool_load_window(spool, offset))
		return 0;
	from = spool->window + (offset - spool->window_start);
	part = spool->window_size - (size_t)(offset - spool->window_start);
	part = part < size ? part : size;
	memcpy(to, from, part);
	return part;
}

/* Copies bytes to `to`.  False with errno, EINVAL if the array has no such bytes. */
static bool
spool_read(struct spool *spool, uint64_t offset, void *to, size_t size)
{
	uint8_t *at = to;

	if (offset > spool_size(spool) || size > spool_size(spool) - offset) {
		errno = EINVAL;
		return false;
	}
	while (size > 0) {
		size_t part = spool_read_part(spool, offset, at, size);

		if (part == 0)
			return false;
		at += part;
		offset += part;
		size -= part;
	}
	return true;
}

/* The bytes from `offset` on, up to the end; NULL if they are not in memory: the file is written only once. */
static uint8_t *
spool_memory_at(const struct spool *spool, uint64_t offset)
{
	return offset >= spool->start && offset < spool_size(spool) ? spool->data + (offset - spool->start) : NULL;
}

/* -------------------------------------------------------------------------------------------------------- the index */

#define DIRECTION_SHIFT 30u
#define ENDPOINT_SHIFT	31u
#define NO_FRAME	UINT64_MAX

/* No note: its frame is that of the notes before, for notes that are much later. */
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

/* ---------------------------------------------------------------------------------------------------- late comments */

#define NO_FRAME UINT64_MAX

struct late_entry {
	uint64_t frame;	     /* frames before the comment; then the number of its frame */
	uint64_t text;	     /* offset */
	uint32_t connection;
	uint32_t unresolved; /* of the first entry of a connection: the number of its first entries without a frame */
};

void
excerpt_late_open(struct excerpt_late *late, int file, size_t memory)
{
	late->next = 0;
	late->error = 0;
	spool_open(&late->entries, -1, memory);
	spool_open(&late->texts, file, memory);
}

void
excerpt_late_close(struct excerpt_late *late)
{
	spool_close(&late->entries);
	spool_close(&late->texts);
}

bool
excerpt_late_add(struct excerpt_late *late, uint32_t connection, uint64_t frames, const char *text)
{
	const struct late_entry entry = {.frame = frames, .text = spool_size(&late->texts), .connection = connection};

	return spool_add(&late->texts, text, strlen(text) + 1) && spool_add(&late->entries, &entry, sizeof entry);
}

/* -------------------------------------------------------------------------------------------------------- the order */

static struct late_entry *
late_entries(const struct excerpt_late *late, size_t *count)
{
	*count = late->entries.used / sizeof(struct late_entry);
	return (struct late_entry *)(void *)late->entries.data;
}

static int
late_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By connection, then in the order of addition. */
static int
late_compare_connections(const void *one, const void *other)
{
	const struct late_entry *a = one, *b = other;
	int order = late_compare_numbers(a->connection, b->connection);

	return order != 0 ? order : late_compare_numbers(a->text, b->text);
}

/* By frame, then in the order of addition. */
static int
late_compare_frames(const void *one, const void *other)
{
	const struct late_entry *a = one, *b = other;
	int order = late_compare_numbers(a->frame, b->frame);

	return order != 0 ? order : late_compare_numbers(a->text, b->text);
}

/* The first entry of the connection, which has one; the entries are sorted by connection. */
static size_t
late_first_of(const struct late_entry *entries, size_t count, uint32_t connection)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].connection < connection)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Counts the entries of each connection, which are sorted, and selects the connections. */
static bool
late_group(struct late_entry *entries, size_t count, struct excerpt_selection *unresolved)
{
	struct late_entry *first = entries;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].connection != first->connection)
			first = &entries[i];
		if (first == &entries[i] && !excerpt_selection_add(unresolved, first->connection))
			return false;
		first->unresolved++;
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------- the frames */

/* A frame of a connection: it is that of all later comments that have no frame. */
static void
late_resolve_frame(struct excerpt_late *late, struct excerpt_selection *unresolved, uint32_t connection, uint64_t frame)
{
	struct late_entry *first;
	size_t count;

	if (!excerpt_selection_has(unresolved, connection))
		return;
	first = late_entries(late, &count);
	first += late_first_of(first, count, connection);
	while (first->unresolved > 0 && first[first->unresolved - 1].frame > frame)
		first[--first->unresolved].frame = frame;
	if (first->unresolved == 0)
		excerpt_selection_remove(unresolved, connection);
}

/* Passes backwards over the frames. */
static void
late_resolve_all(struct excerpt_late *late, struct excerpt_index *index, struct excerpt_selection *unresolved)
{
	uint64_t further = spool_size(&index->further);
	uint32_t connection;

	for (uint64_t frame = index->count; frame-- > 0 && unresolved->count > 0;) {
		late_resolve_frame(late, unresolved, excerpt_index_first_connection(index, frame), frame);
		while (excerpt_index_further_backwards(index, frame, &further, &connection))
			late_resolve_frame(late, unresolved, connection, frame);
	}
}

/* Comments of connections without a frame in the index. */
static void
late_drop_unresolved(struct late_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t left = entries[i].unresolved; left > 0; left--)
			entries[i + left - 1].frame = NO_FRAME;
}

bool
excerpt_late_resolve(struct excerpt_late *late, struct excerpt_index *index)
{
	struct excerpt_selection unresolved = {NULL, 0, 0};
	size_t count;
	struct late_entry *entries = late_entries(late, &count);
	bool good = true;

	if (count == 0)
		return true;
	qsort(entries, count, sizeof *entries, late_compare_connections);
	good = late_group(entries, count, &unresolved);
	if (good) {
		late_resolve_all(late, index, &unresolved);
		late_drop_unresolved(entries, count);
		qsort(entries, count, sizeof *entries, late_compare_frames);
	}
	free(unresolved.bits);
	return good;
}

static bool
late_read_text(struct excerpt_late *late, uint64_t at, char text[RING_COMMENT_MAX])
{
	uint64_t left = spool_size(&late->texts) - at;

	text[RING_COMMENT_MAX - 1] = '\0';
	if (spool_read(&late->texts, at, text, left < RING_COMMENT_MAX - 1 ? (size_t)left : RING_COMMENT_MAX - 1))
		return true;
	late->error = errno;
	return false;
}

bool
excerpt_late_next(struct excerpt_late *late, uint64_t frame, uint32_t *connection, char text[RING_COMMENT_MAX])
{
	size_t count;
	const struct late_entry *entries = late_entries(late, &count);

	while (late->next < count && entries[late->next].frame < frame)
		late->next++;
	if (late->next == count || entries[late->next].frame != frame)
		return false;
	*connection = entries[late->next].connection;
	return late_read_text(late, entries[late->next++].text, text);
}

/* ----------------------------------------------------------------------------------- comments of frames in the ring */

#define WAITING_BUCKETS 16384u

struct waiting_comment {
	struct waiting_comment *next; /* of the same bucket, in the order of addition */
	uint64_t position;
	uint32_t connection;
	char text[];
};

struct waiting_bucket {
	struct waiting_comment *first, **end;
};

struct excerpt_waiting {
	struct waiting_bucket buckets[WAITING_BUCKETS];
};

struct excerpt_waiting *
excerpt_waiting_new(void)
{
	struct excerpt_waiting *waiting = calloc(1, sizeof *waiting);

	for (unsigned i = 0; waiting != NULL && i < WAITING_BUCKETS; i++)
		waiting->buckets[i].end = &waiting->buckets[i].first;
	return waiting;
}

/* Positions of the frames in the ring are close to each other, so that they need no hash function. */
static struct waiting_bucket *
waiting_bucket_of(struct excerpt_waiting *waiting, uint64_t position)
{
	return &waiting->buckets[position / 4 % WAITING_BUCKETS];
}

bool
excerpt_waiting_add(struct excerpt_waiting *waiting, uint64_t position, uint32_t connection, const char *text)
{
	struct waiting_bucket *bucket = waiting_bucket_of(waiting, position);
	size_t size = strlen(text) + 1;
	struct waiting_comment *comment = malloc(sizeof *comment + size);

	if (comment == NULL)
		return false;
	comment->next = NULL;
	comment->position = position;
	comment->connection = connection;
	memcpy(comment->text, text, size);
	*bucket->end = comment;
	bucket->end = &comment->next;
	return true;
}

bool
excerpt_waiting_take(struct excerpt_waiting *waiting, uint64_t position, uint32_t *connection, char *text,
		     unsigned size)
{
	struct waiting_bucket *bucket = waiting_bucket_of(waiting, position);
	struct waiting_comment **link = &bucket->first, *comment;

	while (*link != NULL && (*link)->position != position)
		link = &(*link)->next;
	comment = *link;
	if (comment == NULL)
		return false;
	*connection = comment->connection;
	snprintf(text, size, "%s", comment->text);
	*link = comment->next;
	if (comment->next == NULL)
		bucket->end = link;
	free(comment);
	return true;
}

void
excerpt_waiting_free(struct excerpt_waiting *waiting)
{
	if (waiting == NULL)
		return;
	for (unsigned i = 0; i < WAITING_BUCKETS; i++)
		while (waiting->buckets[i].first != NULL) {
			struct waiting_comment *comment = waiting->buckets[i].first;

			waiting->buckets[i].first = comment->next;
			free(comment);
		}
	free(waiting);
}

/* -------------------------------------------------------------------------------------------- frames that have left */

#define LEFT_LEAST ((size_t)1024)

void
excerpt_left_open(struct excerpt_left *left, size_t max)
{
	*left = (struct excerpt_left){.max = max};
}

void
excerpt_left_close(struct excerpt_left *left)
{
	free(left->counts);
	*left = (struct excerpt_left){.max = left->max};
}

/* Two counts that differ in the place of fewer bits differ in that of more, too. */
static bool
left_grow(struct excerpt_left *left)
{
	size_t size = left->size == 0 ? LEFT_LEAST : 2 * left->size;
	struct left_count *counts = calloc(size, sizeof *counts);

	if (counts == NULL)
		return false;
	for (size_t i = 0; i < left->size; i++)
		if (left->counts[i].connection != 0)
			counts[left->counts[i].connection & (size - 1)] = left->counts[i];
	free(left->counts);
	left->counts = counts;
	left->size = size;
	return true;
}

static struct left_count *
left_at(const struct excerpt_left *left, uint32_t connection)
{
	return &left->counts[connection & (left->size - 1)];
}

bool
excerpt_left_add(struct excerpt_left *left, uint32_t connection)
{
	struct left_count *count;

	if (left->size == 0 && !left_grow(left))
		return false;
	while ((count = left_at(left, connection))->connection != connection && count->connection != 0 &&
	       left->size < left->max)
		if (!left_grow(left))
			return false;
	if (count->connection != connection) {
		left->dropped = left->dropped || count->connection != 0;
		*count = (struct left_count){.connection = connection};
	}
	count->frames += count->frames < UINT32_MAX;
	if (connection > left->latest)
		left->latest = connection;
	return true;
}

/* Connections are numbered in the order of their first frames, which leave in this order. */
uint32_t
excerpt_left_frames(const struct excerpt_left *left, uint32_t connection)
{
	if (left->size != 0 && left_at(left, connection)->connection == connection)
		return left_at(left, connection)->frames;
	return left->dropped && connection <= left->latest;
}
