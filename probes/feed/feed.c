/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/feed/feed.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "probes/feed/feed_queue.h"
#include "probes/print/print.h"
#include "probes/print/print_fields.h"
#include "probes/sites.h"

/* Least bytes of the queue of a part: the longest line fits after a gap, which leaves a quarter free. */
#define PART_QUEUE_LEAST (2 * (size_t)PRINT_LINE_MAX)

/* Longest name or wildcard; longer ones select nothing. */
#define NAME_MAX_LENGTH 256

struct feed {
	unsigned place; /* in the set */
	bool large;	/* its queues have FEED_QUEUE_SIZE bytes */
	enum print_format format;
	bool probes[PROBE_COUNT];
	char *names;
	struct print_fields *fields; /* NULL: whole lines */
	unsigned reading;	     /* part whose lines are removed now */
	size_t left;		     /* bytes to remove before another part: up to the end of a line */
	unsigned part_count;
	struct feed_queue queues[]; /* by part */
};

/* Used by the thread of one emitter. */
struct feed_part {
	struct feed_set *set;
	unsigned index;
	bool added; /* lines since the last feed_part_flush() */
	struct printer *formatter;
	struct feed_mask in_gap; /* feeds whose queue of this part may have a gap */
	size_t
	    length[PRINT_JSON + 1]; /* of the whole line of the present firing in each format; 0: not formatted yet */
	char line[PRINT_JSON + 1][PRINT_LINE_MAX];
	char chosen[PRINT_LINE_MAX];			  /* line of chosen fields */
	char object[PRINT_LINE_MAX * JSON_BYTE_MAX + 32]; /* a line of text as a member */
};

struct feed_set {
	void (*wake)(void *context);
	void *context;
	struct feed *feeds[FEEDS_MAX]; /* by place; NULL: the place is free */
	struct feed_mask wanted[PROBE_COUNT];
	struct feed_counters past; /* of removed feeds */
	unsigned part_count;
	struct feed_part *parts[];
};

/* ---------------------------------------------------------------------------------------------------------- the set */

static struct feed_part *
part_new(struct feed_set *set, unsigned index)
{
	struct feed_part *part = calloc(1, sizeof *part);

	if (part == NULL)
		return NULL;
	part->set = set;
	part->index = index;
	part->formatter = printer_new_formatter();
	if (part->formatter != NULL)
		return part;
	free(part);
	return NULL;
}

struct feed_set *
feed_set_new(unsigned parts, void (*wake)(void *context), void *context)
{
	struct feed_set *set = calloc(1, sizeof *set + parts * sizeof(struct feed_part *));

	if (set == NULL)
		return NULL;
	set->wake = wake;
	set->context = context;
	for (; set->part_count < parts; set->part_count++) {
		set->parts[set->part_count] = part_new(set, set->part_count);
		if (set->parts[set->part_count] == NULL) {
			feed_set_free(set);
			return NULL;
		}
	}
	return set;
}

void
feed_set_free(struct feed_set *set)
{
	if (set == NULL)
		return;
	for (unsigned i = 0; i < set->part_count; i++) {
		printer_free(set->parts[i]->formatter);
		free(set->parts[i]);
	}
	free(set);
}

struct feed_part *
feed_set_part(struct feed_set *set, unsigned index)
{
	return set->parts[index];
}

static void
counters_add_feed(struct feed_counters *counters, const struct feed *feed)
{
	for (unsigned i = 0; i < feed->part_count; i++) {
		const struct feed_queue *queue = &feed->queues[i];

		counters->lines += atomic_load_explicit(&queue->lines, memory_order_relaxed);
		counters->dropped += atomic_load_explicit(&queue->dropped, memory_order_relaxed);
	}
}

struct feed_counters
feed_set_counters(const struct feed_set *set)
{
	struct feed_counters counters = set->past;

	for (unsigned i = 0; i < FEEDS_MAX; i++)
		if (set->feeds[i] != NULL) {
			counters.feeds++;
			counters_add_feed(&counters, set->feeds[i]);
		}
	return counters;
}

/* ------------------------------------------------------------------------------------------------------------ feeds */

bool
feed_names_select(const char *names, const char *name)
{
	char word[NAME_MAX_LENGTH];

	for (;;) {
		size_t length = strcspn(names, ",");

		if (length < sizeof word) {
			memcpy(word, names, length);
			word[length] = '\0';
			if (fnmatch(word, name, 0) == 0)
				return true;
		}
		if (names[length] == '\0')
			return false;
		names += length + 1;
	}
}

/* Whether a further feed may be large. */
static bool
feed_set_has_large(const struct feed_set *set)
{
	unsigned large = 0;

	for (unsigned i = 0; i < FEEDS_MAX; i++)
		large += set->feeds[i] != NULL && set->feeds[i]->large;
	return large < FEEDS_LARGE;
}

/* Bytes of the queue of one part: the largest power of 2 with which those of all parts fit in `total`. */
static size_t
feed_part_queue_size(unsigned parts, size_t total)
{
	size_t size = total;

	while (size > PART_QUEUE_LEAST && size * parts > total)
		size /= 2;
	return size;
}

static struct feed *
feed_allocate(const struct feed_set *set, const struct feed_choice *choice)
{
	struct feed *feed =
	    aligned_alloc(_Alignof(struct feed), sizeof *feed + set->part_count * sizeof feed->queues[0]);
	size_t queue_size;

	if (feed == NULL)
		return NULL;
	memset(feed, 0, sizeof *feed + set->part_count * sizeof feed->queues[0]);
	feed->format = choice->text ? PRINT_TEXT : PRINT_JSON;
	feed->part_count = set->part_count;
	feed->large = feed_set_has_large(set);
	queue_size = feed_part_queue_size(set->part_count, feed->large ? FEED_QUEUE_SIZE : FEED_QUEUE_SIZE_SMALL);
	feed->names = strdup(choice->names);
	memcpy(feed->probes, choice->probes, sizeof feed->probes);
	for (unsigned i = 0; i < set->part_count; i++)
		if (feed->names == NULL || !feed_queue_open(&feed->queues[i], queue_size)) {
			feed_free(feed);
			return NULL;
		}
	return feed;
}

struct feed *
feed_new(const struct feed_set *set, const struct feed_choice *choice, char *error, size_t size)
{
	struct feed *feed = feed_allocate(set, choice);
	bool selected[PROBE_COUNT];

	if (feed == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return NULL;
	}
	if (choice->fields == NULL)
		return feed;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		selected[i] = choice->probes[i] || choice->of_formulas[i];
	feed->fields = print_fields_new(choice->fields, selected, error, size);
	if (feed->fields != NULL)
		return feed;
	feed_free(feed);
	return NULL;
}

void
feed_free(struct feed *feed)
{
	if (feed == NULL)
		return;
	for (unsigned i = 0; i < feed->part_count; i++)
		feed_queue_close(&feed->queues[i]);
	print_fields_free(feed->fields);
	free(feed->names);
	free(feed);
}

static void
mask_set(struct feed_mask *mask, unsigned place, bool value)
{
	uint64_t bit = (uint64_t)1 << place % 64;

	if (value)
		mask->bits[place / 64] |= bit;
	else
		mask->bits[place / 64] &= ~bit;
}

bool
feed_set_add(struct feed_set *set, struct feed *feed)
{
	unsigned place = 0;

	while (place < FEEDS_MAX && set->feeds[place] != NULL)
		place++;
	if (place == FEEDS_MAX)
		return false;
	feed->place = place;
	set->feeds[place] = feed;
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		if (!feed->probes[i])
			continue;
		mask_set(&set->wanted[i], place, true);
		/* Atomic, because the kernel counts tracers in it too. */
		__atomic_fetch_add(probe_semaphores[i], 1, __ATOMIC_RELAXED);
	}
	return true;
}

void
feed_set_remove(struct feed_set *set, struct feed *feed)
{
	set->feeds[feed->place] = NULL;
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		if (!feed->probes[i])
			continue;
		mask_set(&set->wanted[i], feed->place, false);
		__atomic_fetch_sub(probe_semaphores[i], 1, __ATOMIC_RELAXED);
	}
	for (unsigned i = 0; i < set->part_count; i++)
		mask_set(&set->parts[i]->in_gap, feed->place, false);
	counters_add_feed(&set->past, feed);
}

struct feed_mask
feed_set_select_formula(const struct feed_set *set, const char *name)
{
	struct feed_mask mask = {{0}};

	for (unsigned i = 0; i < FEEDS_MAX; i++)
		if (set->feeds[i] != NULL && feed_names_select(set->feeds[i]->names, name))
			mask_set(&mask, i, true);
	return mask;
}

/* ----------------------------------------------------------------------------------------------------- adding lines */

bool
feed_wants(const struct feed_part *part, enum probe_id probe)
{
	return !feed_mask_is_empty(&part->set->wanted[probe]);
}

/* One firing, which is formatted when a feed needs it. */
struct feed_firing {
	const char *formula; /* NULL: a firing of the probe itself */
	enum probe_id probe;
	const void *const *args;
};

/* Formats the whole line, once for all feeds. */
static const char *
part_format_line(struct feed_part *part, const struct feed_firing *firing, enum print_format format, size_t *length)
{
	char *line = part->line[format];

	if (part->length[format] == 0)
		part->length[format] = (size_t)(printer_format_line(part->formatter, format, firing->formula,
								    firing->probe, firing->args, line) -
						line);
	*length = part->length[format];
	return line;
}

/* The object whose only member is a line of text. */
static const char *
part_wrap_line(struct feed_part *part, const char *line, size_t *length)
{
	char *at = put_json_key(part->object, '{', "text");

	at = put_json_string(at, line, *length - 1);
	at = PUT(at, "}\n");
	*length = (size_t)(at - part->object);
	return part->object;
}

static void
part_add_line(struct feed_part *part, struct feed *feed, const struct feed_firing *firing)
{
	struct feed_queue *queue = &feed->queues[part->index];
	const char *line = part->chosen;
	size_t length;

	if (feed_queue_drop(queue))
		return;
	if (feed->fields != NULL)
		length = (size_t)(print_fields_line(feed->fields, feed->format, firing->formula, firing->probe,
						    firing->args, part->chosen) -
				  part->chosen);
	else
		line = part_format_line(part, firing, feed->format, &length);
	if (feed->format == PRINT_TEXT)
		line = part_wrap_line(part, line, &length);
	feed_queue_add(queue, line, length);
	if (queue->gap != 0)
		mask_set(&part->in_gap, feed->place, true);
}

static void
part_add(struct feed_part *part, const struct feed_mask *feeds, const struct feed_firing *firing)
{
	part->length[PRINT_TEXT] = part->length[PRINT_JSON] = 0;
	for (unsigned i = 0; i < FEEDS_MAX / 64; i++)
		for (uint64_t left = feeds->bits[i]; left != 0; left &= left - 1)
			part_add_line(part, part->set->feeds[i * 64 + (unsigned)__builtin_ctzll(left)], firing);
	part->added = true;
}

void
feed_add_firing(struct feed_part *part, enum probe_id probe, const void *const args[6])
{
	const struct feed_firing firing = {.probe = probe, .args = args};

	if (feed_wants(part, probe))
		part_add(part, &part->set->wanted[probe], &firing);
}

void
feed_add_formula(struct feed_part *part, const struct feed_mask *feeds, const char *name, enum probe_id of,
		 const void *const args[6])
{
	const struct feed_firing firing = {.formula = name, .probe = of, .args = args};

	part_add(part, feeds, &firing);
}

static void
part_end_gaps(struct feed_part *part)
{
	for (unsigned i = 0; i < FEEDS_MAX / 64; i++)
		for (uint64_t left = part->in_gap.bits[i]; left != 0; left &= left - 1) {
			unsigned place = i * 64 + (unsigned)__builtin_ctzll(left);

			if (!feed_queue_end_gap(&part->set->feeds[place]->queues[part->index]))
				continue;
			mask_set(&part->in_gap, place, false);
			part->added = true;
		}
}

void
feed_part_flush(struct feed_part *part)
{
	if (!feed_mask_is_empty(&part->in_gap))
		part_end_gaps(part);
	if (!part->added)
		return;
	part->added = false;
	part->set->wake(part->set->context);
}

void
feed_end_gaps(struct feed *feed)
{
	for (unsigned i = 0; i < feed->part_count; i++)
		(void)feed_queue_end_gap(&feed->queues[i]);
}

/* --------------------------------------------------------------------------------------------------- removing lines */

/* Selects the next part with lines, and reads up to the end of what is in its queue now: the end of a line. */
static bool
feed_select_part(struct feed *feed)
{
	for (unsigned i = 1; i <= feed->part_count; i++) {
		unsigned part = (feed->reading + i) % feed->part_count;

		feed->left = feed_queue_used(&feed->queues[part]);
		if (feed->left > 0) {
			feed->reading = part;
			return true;
		}
	}
	return false;
}

size_t
feed_peek(struct feed *feed, const char **bytes)
{
	size_t length;

	if (feed->left == 0 && !feed_select_part(feed))
		return 0;
	length = feed_queue_peek(&feed->queues[feed->reading], bytes);
	return length < feed->left ? length : feed->left;
}

void
feed_remove(struct feed *feed, size_t count)
{
	feed_queue_remove(&feed->queues[feed->reading], count);
	feed->left -= count;
}

size_t
feed_waiting(const struct feed *feed)
{
	size_t waiting = 0;

	for (unsigned i = 0; i < feed->part_count; i++)
		waiting += feed_queue_used(&feed->queues[i]);
	return waiting;
}
