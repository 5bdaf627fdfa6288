/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/app_flow_pool.h"

#include <stdlib.h>
#include <string.h>

#include "flow/memory.h"

_Static_assert(APP_FLOWS_MAX < UINT16_MAX, "indices have 16 bits");

static size_t
app_flow_states_memory_size(const struct app_flow_table *table)
{
	return (APP_FLOWS_MAX + 1) * table->state_size;
}

#define HISTORIES_SIZE ((size_t)(APP_FLOWS_MAX + 1) * 2 * STREAM_HISTORY)

struct app_flow_table *
app_flow_table_new(size_t state_size)
{
	struct app_flow_table *table = calloc(1, sizeof *table);

	if (table == NULL)
		return NULL;
	table->state_size = (state_size + 63) & ~(size_t)63;
	table->entries = calloc(APP_FLOWS_MAX + 1, sizeof table->entries[0]);
	table->states = memory_reserve(app_flow_states_memory_size(table));
	table->histories = memory_reserve(HISTORIES_SIZE);
	table->pool = stream_pool_new();
	if (table->entries == NULL || table->states == NULL || table->histories == NULL || table->pool == NULL) {
		app_flow_table_free(table);
		return NULL;
	}
	return table;
}

void
app_flow_table_free(struct app_flow_table *table)
{
	if (table == NULL)
		return;
	stream_pool_free(table->pool);
	memory_release(table->states, app_flow_states_memory_size(table));
	memory_release(table->histories, HISTORIES_SIZE);
	free(table->entries);
	free(table);
}

const struct app_flow_counters *
app_flow_table_counters(const struct app_flow_table *table)
{
	return &table->counters;
}

const struct stream_counters *
app_flow_table_stream_counters(const struct app_flow_table *table)
{
	return stream_pool_counters(table->pool);
}

static uint16_t
app_flow_index(const struct app_flow_table *table, const struct app_flow *c)
{
	return (uint16_t)(c - table->entries);
}

void *
app_flow_state(const struct app_flow_table *table, const struct app_flow *c)
{
	return table->states + app_flow_index(table, c) * table->state_size;
}

/* Ids are consecutive, so their low bits are a good hash. */
static uint16_t *
app_flow_bucket(struct app_flow_table *table, uint64_t cid)
{
	return &table->bucket[cid / 2 % APP_FLOW_BUCKETS];
}

/* --- LRU list --- */

static void
app_flow_lru_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	if (c->newer != 0)
		table->entries[c->newer].older = c->older;
	else
		table->newest = c->older;
	if (c->older != 0)
		table->entries[c->older].newer = c->newer;
	else
		table->oldest = c->newer;
}

static void
app_flow_lru_push_newest(struct app_flow_table *table, struct app_flow *c)
{
	uint16_t index = app_flow_index(table, c);

	c->newer = 0;
	c->older = table->newest;
	if (table->newest != 0)
		table->entries[table->newest].newer = index;
	else
		table->oldest = index;
	table->newest = index;
}

static void
app_flow_lru_push_oldest(struct app_flow_table *table, struct app_flow *c)
{
	uint16_t index = app_flow_index(table, c);

	c->older = 0;
	c->newer = table->oldest;
	if (table->oldest != 0)
		table->entries[table->oldest].older = index;
	else
		table->newest = index;
	table->oldest = index;
}

/* --- create and remove --- */

struct app_flow *
app_flow_lookup(struct app_flow_table *table, const struct flow *flow, uint64_t cid)
{
	for (uint16_t index = *app_flow_bucket(table, cid); index != 0; index = table->entries[index].bucket_next) {
		struct app_flow *c = &table->entries[index];

		if (c->cid != cid || c->flow != flow)
			continue;
		if (!c->closed && table->newest != index) {
			app_flow_lru_unlink(table, c);
			app_flow_lru_push_newest(table, c);
		}
		return c;
	}
	return NULL;
}

static void
app_flow_end_streams(struct app_flow_table *table, struct app_flow *c)
{
	stream_end(table->pool, &c->stream[0]);
	stream_end(table->pool, &c->stream[1]);
}

static void
app_flow_bucket_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	uint16_t *link = app_flow_bucket(table, c->cid);

	while (*link != app_flow_index(table, c))
		link = &table->entries[*link].bucket_next;
	*link = c->bucket_next;
}

static struct app_flow *
app_flow_alloc(struct app_flow_table *table)
{
	struct app_flow *c;

	if (table->high_water < APP_FLOWS_MAX)
		return &table->entries[++table->high_water];
	c = &table->entries[table->oldest];
	if (!c->closed) {
		app_flow_end_streams(table, c);
		table->counters.evicted++;
		table->counters.active--;
	}
	app_flow_bucket_unlink(table, c);
	app_flow_lru_unlink(table, c);
	return c;
}

struct app_flow *
app_flow_create(struct app_flow_table *table, const struct flow *flow, uint64_t cid, const struct app_reader *reader)
{
	struct app_flow *c = app_flow_alloc(table);
	uint16_t index = app_flow_index(table, c), *bucket = app_flow_bucket(table, cid);
	uint8_t *history = table->histories + (size_t)index * 2 * STREAM_HISTORY;

	*c = (struct app_flow){.flow = flow, .cid = cid, .reader = reader, .bucket_next = *bucket};
	c->stream[0].history = history;
	c->stream[1].history = history + STREAM_HISTORY;
	*bucket = index;
	app_flow_lru_push_newest(table, c);
	memset(app_flow_state(table, c), 0, table->state_size);
	table->counters.begun++;
	table->counters.active++;
	return c;
}

void
app_flow_retire(struct app_flow_table *table, struct app_flow *c)
{
	app_flow_end_streams(table, c);
	c->closed = true;
	table->counters.active--;
	app_flow_lru_unlink(table, c);
	app_flow_lru_push_oldest(table, c);
}

void
app_flow_visit_others(const struct app_context *ctx, bool (*visit)(void *context, const void *state), void *context)
{
	const struct app_flow_table *table = ctx->table;

	for (uint16_t index = table->newest; index != 0; index = table->entries[index].older) {
		const struct app_flow *c = &table->entries[index];

		if (c != ctx->app_flow && c->reader == ctx->app_flow->reader &&
		    visit(context, app_flow_state(table, c)))
			return;
	}
}

const struct flow *
app_flow_get_flow(const struct app_flow *c)
{
	return c->flow;
}
