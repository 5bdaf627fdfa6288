/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
