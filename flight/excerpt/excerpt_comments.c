/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_comments.h"

#include <stdlib.h>

struct excerpt_comment *
excerpt_comments_reserve(struct excerpt_comments *c)
{
	size_t capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
	struct excerpt_comment *comments;
	const char **selected;

	if (c->count < c->capacity)
		return &c->comments[c->count];
	comments = realloc(c->comments, capacity * sizeof *comments);
	if (comments == NULL)
		return NULL;
	c->comments = comments;
	selected = realloc(c->selected, capacity * sizeof *selected);
	if (selected == NULL)
		return NULL;
	c->selected = selected;
	c->capacity = capacity;
	return &c->comments[c->count];
}

void
excerpt_comments_free(struct excerpt_comments *c)
{
	free(c->comments);
	free(c->selected);
	*c = (struct excerpt_comments){.count = 0};
}
