/* SPDX-License-Identifier: BSD-2-Clause */
#include "records/record_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records/record_json.h"

/* Words of eight bytes in a record, and of a set of as many bits. */
#define WORDS	  (sizeof(struct connrow) / sizeof(uint64_t))
#define MAP_WORDS ((WORDS + 63) / 64)

_Static_assert(sizeof(struct connrow) % sizeof(uint64_t) == 0, "a record is whole words");

/* A record without its zero words: most of its text is short, and many of its counts are 0. */
struct packed_record {
	uint64_t rank;		 /* value of the order's field, complemented if it descends */
	uint64_t end, uid;	 /* cr_end and cr_uid, which decide between equal ranks */
	uint64_t size;		 /* words in use of what follows `map` */
	uint64_t map[MAP_WORDS]; /* bit N: word N of the record is not 0 */
	uint64_t words[];
};

#define PACKED_WORDS_MAX (sizeof(struct packed_record) / sizeof(uint64_t) + WORDS)

struct sort_entry {
	uint64_t rank; /* of the record */
	const struct packed_record *packed;
};

/* A sorted part of the temporary file, in words. */
struct sort_run {
	uint64_t at, end; /* what is not read yet */
	uint64_t *buffer; /* of `chunk` words */
	size_t next, count; /* in the buffer: the next record; words */
	const struct packed_record *packed; /* the run's smallest record that was not returned yet */
};

struct record_sort {
	struct record_sort_settings settings;
	struct record_json *json; /* compares records that are equal otherwise */
	char *lines;		  /* two lines */
	uint64_t *words;	  /* packed records */
	size_t word_capacity, word_count;
	struct sort_entry *entries;
	size_t capacity, count;
	size_t next; /* entry that record_sort_next() returns, if nothing was spilled */
	bool reading;
	uint64_t returned;
	struct connrow row; /* the last one that was returned */
	uint64_t spilled;      /* words in the temporary file */
	struct sort_run *runs;
	size_t run_count, run_capacity;
	size_t *heap; /* numbers of runs, the smallest record first */
	size_t heap_count;
	size_t chunk; /* words of a run's buffer */
	int error;
};

/* Fewest and most words that a run reads at once. */
#define CHUNK_MIN ((size_t)8 * PACKED_WORDS_MAX)
#define CHUNK_MAX ((size_t)128 * 1024)

/* Words of the records for each entry in memory, about: the usual size of a packed record. */
#define WORDS_PER_ENTRY 40

struct record_sort *
record_sort_new(const struct record_sort_settings *settings)
{
	struct record_sort *sort = calloc(1, sizeof *sort);
	size_t unit = WORDS_PER_ENTRY * sizeof(uint64_t) + sizeof(struct sort_entry);

	if (sort == NULL)
		return NULL;
	sort->settings = *settings;
	sort->capacity = settings->memory / unit;
	if (sort->capacity < PACKED_WORDS_MAX)
		sort->capacity = PACKED_WORDS_MAX;
	sort->word_capacity = sort->capacity * WORDS_PER_ENTRY;
	sort->words = malloc(sort->word_capacity * sizeof *sort->words);
	sort->entries = malloc(sort->capacity * sizeof *sort->entries);
	sort->lines = malloc((size_t)2 * RECORD_LINE_MAX);
	sort->json = record_json_new(NULL, false);
	if (sort->words != NULL && sort->entries != NULL && sort->lines != NULL && sort->json != NULL)
		return sort;
	record_sort_free(sort);
	return NULL;
}

void
record_sort_free(struct record_sort *sort)
{
	if (sort == NULL)
		return;
	for (size_t i = 0; i < sort->run_count; i++)
		free(sort->runs[i].buffer);
	free(sort->runs);
	free(sort->heap);
	free(sort->words);
	free(sort->entries);
	free(sort->lines);
	record_json_free(sort->json);
	free(sort);
}

int
record_sort_error(const struct record_sort *sort)
{
	return sort->error;
}

/* --------------------------------------------------------------------------------------------------------- packing */

static size_t
packed_size(const struct packed_record *packed)
{
	return sizeof *packed / sizeof(uint64_t) + (size_t)packed->size;
}

/* Packs a record at `to`, where PACKED_WORDS_MAX words may be overwritten. */
static void
packed_fill(struct packed_record *to, const struct connrow *row)
{
	const char *from = (const char *)row;
	size_t used = 0;

	for (size_t i = 0; i < MAP_WORDS; i++) {
		size_t first = i * 64, count = WORDS - first < 64 ? WORDS - first : 64;
		uint64_t map = 0, word;

		for (size_t bit = 0; bit < count; bit++) {
			memcpy(&word, from + (first + bit) * sizeof word, sizeof word);
			to->words[used] = word;
			used += word != 0;
			map |= (uint64_t)(word != 0) << bit;
		}
		to->map[i] = map;
	}
	to->size = used;
}

static void
packed_restore(const struct packed_record *from, struct connrow *row)
{
	const uint64_t *word = from->words;

	memset(row, 0, sizeof *row);
	for (size_t i = 0; i < MAP_WORDS; i++)
		for (uint64_t map = from->map[i]; map != 0; map &= map - 1, word++)
			memcpy((char *)row + (i * 64 + (size_t)__builtin_ctzll(map)) * sizeof *word, word,
			       sizeof *word);
}

/* ------------------------------------------------------------------------------------------------------- comparing */

static uint64_t
record_sort_rank_text(const char *text, size_t size)
{
	uint64_t rank = 0;

	for (size_t i = 0; i < size && i < sizeof rank && text[i] != '\0'; i++)
		rank |= (uint64_t)(unsigned char)text[i] << (56 - 8 * i);
	return rank;
}

static uint64_t
record_sort_rank(const struct record_sort *sort, const struct connrow *row)
{
	const struct field_info *field = sort->settings.order.field;
	uint64_t rank;

	if (field == NULL)
		rank = row->record.cr_end;
	else if (field->kind == FIELD_TEXT)
		rank = record_sort_rank_text((const char *)row + field->offset, field->size);
	else
		rank = record_field_rank(field, row);
	return sort->settings.order.descending ? ~rank : rank;
}

/* Compares the text of the order's field after what the ranks contain. */
static int
record_sort_compare_text(const struct record_sort *sort, const struct packed_record *a, const struct packed_record *b)
{
	const struct record_order *order = &sort->settings.order;
	struct connrow one, other;
	int result;

	if (order->field == NULL || order->field->kind != FIELD_TEXT)
		return 0;
	packed_restore(a, &one);
	packed_restore(b, &other);
	result = strncmp((const char *)&one + order->field->offset, (const char *)&other + order->field->offset,
			 order->field->size);
	return order->descending ? -result : result;
}

/* Compares records of the same end and cr_uid as `LC_ALL=C sort` compares their lines. */
static int
record_sort_compare_lines(const struct record_sort *sort, const struct packed_record *a, const struct packed_record *b)
{
	char *lines[] = {sort->lines, sort->lines + RECORD_LINE_MAX};
	struct connrow row;

	packed_restore(a, &row);
	record_json_put_line(sort->json, &row, lines[0])[-1] = '\0';
	packed_restore(b, &row);
	record_json_put_line(sort->json, &row, lines[1])[-1] = '\0';
	return strcmp(lines[0], lines[1]);
}

static int
record_sort_compare(const struct record_sort *sort, const struct packed_record *a, const struct packed_record *b)
{
	int result;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	result = record_sort_compare_text(sort, a, b);
	if (result != 0)
		return result;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return record_sort_compare_lines(sort, a, b);
}

/* For qsort_r(). */
static int
record_sort_compare_entries(const void *one, const void *other, void *sort)
{
	const struct sort_entry *a = one, *b = other;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return record_sort_compare(sort, a->packed, b->packed);
}

static void
record_sort_entries(struct record_sort *sort)
{
	qsort_r(sort->entries, sort->count, sizeof sort->entries[0], record_sort_compare_entries, sort);
}

/* -------------------------------------------------------------------------------------------------------- spilling */

static bool
record_sort_write(struct record_sort *sort, const uint64_t *from, size_t words)
{
	const char *at = (const char *)from;
	size_t left = words * sizeof *from;

	while (left > 0 && sort->error == 0) {
		ssize_t done = write(sort->settings.spill_fd, at, left);

		if (done > 0) {
			at += done;
			left -= (size_t)done;
		} else if (done == 0 || errno != EINTR) {
			sort->error = done == 0 ? EIO : errno;
		}
	}
	sort->spilled += words;
	return sort->error == 0;
}

static bool
record_sort_add_run(struct record_sort *sort)
{
	struct sort_run *longer = sort->runs;

	if (sort->run_count == sort->run_capacity) {
		sort->run_capacity = sort->run_capacity * 2 + 16;
		longer = realloc(sort->runs, sort->run_capacity * sizeof *longer);
	}
	if (longer == NULL) {
		sort->error = ENOMEM;
		return false;
	}
	sort->runs = longer;
	sort->runs[sort->run_count++] =
	    (struct sort_run){.at = sort->spilled, .end = sort->spilled + sort->word_count};
	return true;
}

/* Writes the records in memory as a run. */
static bool
record_sort_spill(struct record_sort *sort)
{
	uint64_t *buffer = malloc(CHUNK_MAX * sizeof *buffer);
	size_t used = 0;

	if (buffer == NULL)
		sort->error = ENOMEM;
	else
		(void)record_sort_add_run(sort);
	for (size_t i = 0; i < sort->count && sort->error == 0; i++) {
		size_t size = packed_size(sort->entries[i].packed);

		if (CHUNK_MAX - used < size) {
			record_sort_write(sort, buffer, used);
			used = 0;
		}
		memcpy(buffer + used, sort->entries[i].packed, size * sizeof *buffer);
		used += size;
	}
	if (sort->error == 0)
		record_sort_write(sort, buffer, used);
	free(buffer);
	sort->count = sort->word_count = 0;
	return sort->error == 0;
}

/* Keeps the first `limit` records. */
static void
record_sort_keep_first(struct record_sort *sort)
{
	size_t limit = (size_t)sort->settings.limit, used = 0;
	uint64_t *words = malloc(sort->word_capacity * sizeof *words);

	if (words == NULL) {
		sort->error = ENOMEM;
		return;
	}
	for (size_t i = 0; i < limit; i++) {
		size_t size = packed_size(sort->entries[i].packed);

		memcpy(words + used, sort->entries[i].packed, size * sizeof *words);
		sort->entries[i].packed = (const struct packed_record *)(const void *)(words + used);
		used += size;
	}
	free(sort->words);
	sort->words = words;
	sort->word_count = used;
	sort->count = limit;
}

static bool
record_sort_make_space(struct record_sort *sort)
{
	record_sort_entries(sort);
	if (sort->settings.limit == 0 || sort->settings.limit > sort->count / 2)
		return record_sort_spill(sort);
	record_sort_keep_first(sort);
	return sort->error == 0;
}

bool
record_sort_add(struct record_sort *sort, const struct connrow *row)
{
	struct packed_record *to;

	if (sort->error != 0)
		return false;
	while (sort->count == sort->capacity || sort->word_capacity - sort->word_count < PACKED_WORDS_MAX)
		if (!record_sort_make_space(sort))
			return false;
	to = (struct packed_record *)(void *)(sort->words + sort->word_count);
	packed_fill(to, row);
	to->rank = record_sort_rank(sort, row);
	to->end = row->record.cr_end;
	to->uid = row->record.cr_uid;
	sort->word_count += packed_size(to);
	sort->entries[sort->count++] = (struct sort_entry){.rank = to->rank, .packed = to};
	return true;
}

/* --------------------------------------------------------------------------------------------------------- merging */

/* Moves what is left in the buffer to its begin, and fills it up. */
static bool
record_sort_read(struct record_sort *sort, struct sort_run *run)
{
	size_t kept = run->count - run->next, count = sort->chunk - kept, done = 0, size;

	memmove(run->buffer, run->buffer + run->next, kept * sizeof *run->buffer);
	if (run->end - run->at < count)
		count = (size_t)(run->end - run->at);
	size = count * sizeof *run->buffer;
	while (done < size) {
		ssize_t n = pread(sort->settings.spill_fd, (char *)(run->buffer + kept) + done, size - done,
				  (off_t)(run->at * sizeof *run->buffer + done));

		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			sort->error = n == 0 ? EIO : errno;
			return false;
		}
	}
	run->at += count;
	run->next = 0;
	run->count = kept + count;
	return true;
}

/* Advances to the run's next record; false at its end. */
static bool
record_sort_advance(struct record_sort *sort, struct sort_run *run)
{
	if (run->count - run->next < PACKED_WORDS_MAX && run->at < run->end && !record_sort_read(sort, run))
		return false;
	if (run->next == run->count)
		return false;
	run->packed = (const struct packed_record *)(const void *)(run->buffer + run->next);
	run->next += packed_size(run->packed);
	return true;
}

static bool
record_sort_heap_less(struct record_sort *sort, size_t a, size_t b)
{
	return record_sort_compare(sort, sort->runs[sort->heap[a]].packed, sort->runs[sort->heap[b]].packed) < 0;
}

static void
record_sort_heap_down(struct record_sort *sort, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1, run = sort->heap[at];

		if (child >= sort->heap_count)
			return;
		if (child + 1 < sort->heap_count && record_sort_heap_less(sort, child + 1, child))
			child++;
		if (!record_sort_heap_less(sort, child, at))
			return;
		sort->heap[at] = sort->heap[child];
		sort->heap[child] = run;
		at = child;
	}
}

/* Opens all runs.  Their buffers take the memory of the records. */
static bool
record_sort_open_runs(struct record_sort *sort)
{
	sort->chunk = sort->word_capacity / sort->run_count;
	sort->chunk = sort->chunk > CHUNK_MAX ? CHUNK_MAX : sort->chunk < CHUNK_MIN ? CHUNK_MIN : sort->chunk;
	free(sort->words);
	sort->words = NULL;
	sort->heap = malloc(sort->run_count * sizeof *sort->heap);
	if (sort->heap == NULL)
		sort->error = ENOMEM;
	for (size_t i = 0; i < sort->run_count && sort->error == 0; i++) {
		struct sort_run *run = &sort->runs[i];

		run->buffer = malloc(sort->chunk * sizeof *run->buffer);
		if (run->buffer == NULL)
			sort->error = ENOMEM;
		else if (record_sort_advance(sort, run))
			sort->heap[sort->heap_count++] = i;
	}
	for (size_t i = sort->heap_count / 2; i-- > 0 && sort->error == 0;)
		record_sort_heap_down(sort, i);
	return sort->error == 0;
}

/* Ends the first phase. */
static bool
record_sort_begin(struct record_sort *sort)
{
	sort->reading = true;
	record_sort_entries(sort);
	if (sort->run_count == 0)
		return true;
	return (sort->count == 0 || record_sort_spill(sort)) && record_sort_open_runs(sort);
}

/* The smallest record of all runs, whose run advances in the next call: that may overwrite the record. */
static const struct packed_record *
record_sort_next_merged(struct record_sort *sort)
{
	if (sort->returned > 0 && sort->heap_count > 0) {
		if (!record_sort_advance(sort, &sort->runs[sort->heap[0]]))
			sort->heap[0] = sort->heap[--sort->heap_count];
		record_sort_heap_down(sort, 0);
	}
	if (sort->heap_count == 0 || sort->error != 0)
		return NULL;
	return sort->runs[sort->heap[0]].packed;
}

/* Records in memory are in no order: the next ones are fetched ahead. */
static const struct packed_record *
record_sort_next_in_memory(struct record_sort *sort)
{
	enum { AHEAD = 8, LINES = 7 };

	if (sort->next == sort->count)
		return NULL;
	if (sort->next + AHEAD < sort->count)
		for (size_t line = 0; line < LINES; line++)
			__builtin_prefetch((const char *)sort->entries[sort->next + AHEAD].packed + line * 64);
	return sort->entries[sort->next++].packed;
}

const struct connrow *
record_sort_next(struct record_sort *sort)
{
	const struct packed_record *packed;

	if (sort->error != 0 || (!sort->reading && !record_sort_begin(sort)) ||
	    (sort->settings.limit != 0 && sort->returned == sort->settings.limit))
		return NULL;
	packed = sort->run_count > 0 ? record_sort_next_merged(sort) : record_sort_next_in_memory(sort);
	if (packed == NULL)
		return NULL;
	sort->returned++;
	packed_restore(packed, &sort->row);
	return &sort->row;
}
