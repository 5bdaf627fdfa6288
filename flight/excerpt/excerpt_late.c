/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_late.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* A frame of a connection: it is that of all comments behind it that have none. */
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
