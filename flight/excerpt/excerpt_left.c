/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_left.h"

#include <stdlib.h>

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
