/* SPDX-License-Identifier: BSD-2-Clause */
/* App flows by a key of their reader: one for each key, the latest.  The hash has a secret seed, so buckets stay
 * short. */
#include "flow/stream/app_flow_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static uint32_t *
app_flow_index_bucket(struct app_flow_table *table, uint64_t key)
{
	return &table->index[XXH3_64bits_withSeed(&key, sizeof key, table->seed) & table->bucket_mask];
}

static struct app_flow *
app_flow_index_lookup(struct app_flow_table *table, uint64_t key)
{
	uint32_t number = *app_flow_index_bucket(table, key);

	for (; number != 0; number = table->entries[number].index_next)
		if (table->entries[number].index_key == key)
			return &table->entries[number];
	return NULL;
}

void
app_flow_index_remove(struct app_flow_table *table, struct app_flow *c)
{
	uint32_t *link, number = app_flow_number(table, c);

	if (c->index_key == 0)
		return;
	link = app_flow_index_bucket(table, c->index_key);
	while (*link != number)
		link = &table->entries[*link].index_next;
	*link = c->index_next;
	c->index_key = 0;
}

void
app_flow_index_set(struct app_context *ctx, uint64_t key)
{
	struct app_flow *c = ctx->app_flow, *before = app_flow_index_lookup(ctx->table, key);
	uint32_t *bucket = app_flow_index_bucket(ctx->table, key);

	if (before == c)
		return;
	if (before != NULL)
		app_flow_index_remove(ctx->table, before);
	app_flow_index_remove(ctx->table, c);
	c->index_key = key;
	c->index_next = *bucket;
	*bucket = app_flow_number(ctx->table, c);
}

const void *
app_flow_index_find(const struct app_context *ctx, uint64_t key)
{
	const struct app_flow *c = app_flow_index_lookup(ctx->table, key);

	return c == NULL || c == ctx->app_flow ? NULL : app_flow_state(ctx->table, c);
}
