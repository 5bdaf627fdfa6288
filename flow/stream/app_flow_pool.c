/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/app_flow_pool.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdlib.h>
#include <string.h>

#include "flow/memory.h"

/* Bytes of the parts of a table of `all` app flows; number 0 is none. */
struct app_flow_sizes {
	size_t state; /* of one: whole cache lines */
	size_t entries, states, histories, buckets;
};

static struct app_flow_sizes
app_flow_sizes_for(const struct app_reader *reader, uint32_t all)
{
	struct app_flow_sizes sizes = {.state = (reader->state_size + 63) & ~(size_t)63};
	size_t index_space = (size_t)all + 1;

	sizes.entries = index_space * sizeof(struct app_flow);
	sizes.states = index_space * sizes.state;
	sizes.histories = index_space * 2 * reader->history_size;
	sizes.buckets = 2 * (size_t)all * sizeof(uint32_t);
	return sizes;
}

struct app_flow_table *
app_flow_table_new(const struct app_reader *reader, const struct app_settings *settings, struct stream_pool *pool)
{
	struct app_flow_table *table = calloc(1, sizeof *table);
	struct app_flow_sizes sizes;

	if (table == NULL)
		return NULL;
	table->reader = reader;
	table->seed = settings->seed;
	table->pool = pool;
	table->connections_max = app_settings_share(settings, reader->connections_max);
	sizes = app_flow_sizes_for(reader, table->connections_max);
	table->state_size = sizes.state;
	table->bucket_mask = 2 * table->connections_max - 1;
	table->entries = memory_reserve(sizes.entries);
	table->states = memory_reserve(sizes.states);
	if (reader->history_size > 0)
		table->histories = memory_reserve(sizes.histories);
	table->bucket = memory_reserve(sizes.buckets);
	table->index = memory_reserve(sizes.buckets);
	if (table->entries == NULL || table->states == NULL || table->bucket == NULL || table->index == NULL ||
	    (reader->history_size > 0 && table->histories == NULL)) {
		app_flow_table_free(table);
		return NULL;
	}
	return table;
}

void
app_flow_table_free(struct app_flow_table *table)
{
	struct app_flow_sizes sizes;

	if (table == NULL)
		return;
	sizes = app_flow_sizes_for(table->reader, table->connections_max);
	memory_release(table->entries, sizes.entries);
	memory_release(table->states, sizes.states);
	memory_release(table->histories, sizes.histories);
	memory_release(table->bucket, sizes.buckets);
	memory_release(table->index, sizes.buckets);
	free(table);
}

size_t
app_flow_table_memory_size(const struct app_reader *reader, const struct app_settings *settings)
{
	struct app_flow_sizes sizes =
	    app_flow_sizes_for(reader, app_settings_share(settings, reader->connections_max));

	return sizeof(struct app_flow_table) + sizes.entries + sizes.states + sizes.histories + 2 * sizes.buckets;
}

void
app_flow_count_unread(struct app_flow_table *table, bool unread)
{
	if (unread)
		table->counters.unread++;
	else
		table->counters.unread--;
}

void
app_flow_count_cut(struct app_flow_table *table, const struct packet *packet)
{
	table->counters.cut += packet->payload.captured < packet->payload_wire;
}

const struct app_flow_counters *
app_flow_table_counters(const struct app_flow_table *table)
{
	return &table->counters;
}

uint32_t
app_flow_number(const struct app_flow_table *table, const struct app_flow *c)
{
	return (uint32_t)(c - table->entries);
}

void *
app_flow_state(const struct app_flow_table *table, const struct app_flow *c)
{
	return table->states + app_flow_number(table, c) * table->state_size;
}

/* Ids are consecutive, so their low bits are a good hash. */
static uint32_t *
app_flow_bucket(struct app_flow_table *table, uint64_t cid)
{
	return &table->bucket[cid / 2 & table->bucket_mask];
}

/* --- lists --- */

static void
app_flow_list_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	struct app_flow_ends *ends = &table->lists[c->list];

	if (c->newer != 0)
		table->entries[c->newer].older = c->older;
	else
		ends->newest = c->older;
	if (c->older != 0)
		table->entries[c->older].newer = c->newer;
	else
		ends->oldest = c->newer;
	table->retired -= c->list == APP_FLOWS_CLOSED;
}

static void
app_flow_list_push(struct app_flow_table *table, struct app_flow *c, enum app_flow_list list)
{
	struct app_flow_ends *ends = &table->lists[list];
	uint32_t index = app_flow_number(table, c);

	c->list = (uint8_t)list;
	c->newer = 0;
	c->older = ends->newest;
	if (ends->newest != 0)
		table->entries[ends->newest].newer = index;
	else
		ends->oldest = index;
	ends->newest = index;
	table->retired += list == APP_FLOWS_CLOSED;
}

/* --- sources --- */

/* The bucket of a client's address: of an IPv4 address the first 24 bits count, of an IPv6 address the first 64. */
static uint16_t
app_flow_source_of(const struct app_flow_table *table, const struct flow *flow, unsigned client)
{
	uint8_t prefix[9] = {flow->key.version};

	memcpy(prefix + 1, flow->key.addr[client], flow->key.version == 4 ? 3 : 8);
	return (uint16_t)(XXH3_64bits_withSeed(prefix, sizeof prefix, table->seed) % APP_FLOW_SOURCES);
}

static void
app_flow_source_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	struct app_flow_source_bucket *source = &table->sources[c->source];

	if (c->source_newer != 0)
		table->entries[c->source_newer].source_older = c->source_older;
	else
		source->ends.newest = c->source_older;
	if (c->source_older != 0)
		table->entries[c->source_older].source_newer = c->source_newer;
	else
		source->ends.oldest = c->source_newer;
	source->count--;
	table->unconfirmed--;
}

static void
app_flow_source_push(struct app_flow_table *table, struct app_flow *c)
{
	struct app_flow_source_bucket *source = &table->sources[c->source];
	uint32_t index = app_flow_number(table, c);

	c->source_newer = 0;
	c->source_older = source->ends.newest;
	if (source->ends.newest != 0)
		table->entries[source->ends.newest].source_newer = index;
	else
		source->ends.oldest = index;
	source->ends.newest = index;
	source->count++;
	table->unconfirmed++;
}

/* Moves an app flow to another list. */
static void
app_flow_set_list(struct app_flow_table *table, struct app_flow *c, enum app_flow_list list)
{
	if (c->list == APP_FLOWS_UNCONFIRMED && list != APP_FLOWS_UNCONFIRMED)
		app_flow_source_unlink(table, c);
	app_flow_list_unlink(table, c);
	app_flow_list_push(table, c, list);
}

void
app_flow_confirm(struct app_flow_table *table, struct app_flow *c)
{
	if (c->list == APP_FLOWS_UNCONFIRMED)
		app_flow_set_list(table, c, APP_FLOWS_CONFIRMED);
}

/* --- create and remove --- */

struct app_flow *
app_flow_lookup(struct app_flow_table *table, const struct flow *flow, uint64_t cid)
{
	for (uint32_t index = *app_flow_bucket(table, cid); index != 0; index = table->entries[index].bucket_next) {
		struct app_flow *c = &table->entries[index];

		if (c->cid != cid || c->flow != flow)
			continue;
		if (c->list != APP_FLOWS_CLOSED && table->lists[c->list].newest != index)
			app_flow_set_list(table, c, (enum app_flow_list)c->list);
		return c;
	}
	return NULL;
}

struct app_flow *
app_flow_find_held(struct app_flow_table *table, const struct flow *flow, uint64_t cid)
{
	struct app_flow *c = table->held.oldest != 0 ? app_flow_lookup(table, flow, cid) : NULL;

	return c != NULL && c->held_until != 0 ? c : NULL;
}

uint64_t
app_flow_held_until(const struct app_flow *c)
{
	return c->held_until;
}

static void
app_flow_held_unlink(struct app_flow_table *table, struct app_flow *c)
{
	if (c->held_newer != 0)
		table->entries[c->held_newer].held_older = c->held_older;
	else
		table->held.newest = c->held_older;
	if (c->held_older != 0)
		table->entries[c->held_older].held_newer = c->held_newer;
	else
		table->held.oldest = c->held_newer;
	c->held_until = 0;
}

void
app_flow_set_held(struct app_flow_table *table, struct app_flow *c, uint64_t until)
{
	uint32_t index = app_flow_number(table, c), older = table->held.newest;

	if (c->held_until == until)
		return;
	if (c->held_until != 0)
		app_flow_held_unlink(table, c);
	if (until == 0)
		return;
	/* Nearly always it is the newest. */
	for (older = table->held.newest; older != 0 && table->entries[older].held_until > until;)
		older = table->entries[older].held_older;
	c->held_until = until;
	c->held_older = older;
	c->held_newer = older != 0 ? table->entries[older].held_newer : table->held.oldest;
	if (c->held_newer != 0)
		table->entries[c->held_newer].held_older = index;
	else
		table->held.newest = index;
	if (older != 0)
		table->entries[older].held_newer = index;
	else
		table->held.oldest = index;
}

uint64_t
app_flow_next_timeout(const struct app_flow_table *table)
{
	return table->held.oldest != 0 ? table->entries[table->held.oldest].held_until : UINT64_MAX;
}

struct app_flow *
app_flow_find_timeout(const struct app_flow_table *table, uint64_t now, const struct flow **flow, uint64_t *cid)
{
	struct app_flow *c = &table->entries[table->held.oldest];

	if (app_flow_next_timeout(table) > now)
		return NULL;
	*flow = c->flow;
	*cid = c->cid;
	return c;
}

/* Counts what was not read of the streams that are. */
static void
app_flow_count_undelivered(const struct app_flow_table *table, const struct app_flow *c)
{
	for (unsigned endpoint = 0; endpoint < 2; endpoint++)
		if (table->reader->is_reading(app_flow_state(table, c), endpoint))
			stream_count_undelivered(table->pool, &c->stream[endpoint]);
}

void
app_flow_table_end(const struct app_flow_table *table)
{
	for (uint32_t index = 1; index <= table->high_water; index++) {
		const struct app_flow *c = &table->entries[index];

		if (c->flow != NULL && c->list != APP_FLOWS_CLOSED)
			app_flow_count_undelivered(table, c);
	}
}

static void
app_flow_end_streams(struct app_flow_table *table, struct app_flow *c)
{
	app_flow_count_undelivered(table, c);
	app_flow_set_held(table, c, 0);
	stream_end(table->pool, &c->stream[0]);
	stream_end(table->pool, &c->stream[1]);
}

static void
app_flow_bucket_unlink(struct app_flow_table *table, const struct app_flow *c)
{
	uint32_t *link = app_flow_bucket(table, c->cid);

	while (*link != app_flow_number(table, c))
		link = &table->entries[*link].bucket_next;
	*link = c->bucket_next;
}

/* Removes an app flow; its entry is free. */
static void
app_flow_remove(struct app_flow_table *table, struct app_flow *c)
{
	if (c->list != APP_FLOWS_CLOSED) {
		app_flow_end_streams(table, c);
		table->counters.evicted += c->list == APP_FLOWS_CONFIRMED;
		table->counters.evicted_unconfirmed += c->list == APP_FLOWS_UNCONFIRMED;
		table->counters.active--;
	}
	app_flow_index_remove(table, c);
	app_flow_set_list(table, c, APP_FLOWS_CLOSED);
	app_flow_list_unlink(table, c);
	app_flow_bucket_unlink(table, c);
	c->flow = NULL;
	c->bucket_next = table->free_head;
	table->free_head = app_flow_number(table, c);
}

/* Closed app flows are evicted first.  Unconfirmed ones come before confirmed ones, except for a share that lets new
 * connections be confirmed while the table is full. */
static uint32_t
app_flow_pick_victim(const struct app_flow_table *table)
{
	if (table->lists[APP_FLOWS_CLOSED].oldest != 0)
		return table->lists[APP_FLOWS_CLOSED].oldest;
	if (table->unconfirmed > APP_FLOWS_UNCONFIRMED_MIN(table->connections_max) ||
	    table->lists[APP_FLOWS_CONFIRMED].oldest == 0)
		return table->lists[APP_FLOWS_UNCONFIRMED].oldest;
	return table->lists[APP_FLOWS_CONFIRMED].oldest;
}

static struct app_flow *
app_flow_alloc(struct app_flow_table *table, uint16_t source)
{
	uint32_t all = table->connections_max, index;

	if (table->sources[source].count >= APP_FLOWS_SOURCE_MAX(all))
		app_flow_remove(table, &table->entries[table->sources[source].ends.oldest]);
	else if (table->unconfirmed >= APP_FLOWS_UNCONFIRMED_MAX(all))
		app_flow_remove(table, &table->entries[table->lists[APP_FLOWS_UNCONFIRMED].oldest]);
	else if (table->free_head == 0 && (table->high_water == all || table->retired > APP_FLOWS_RETIRED_MAX))
		app_flow_remove(table, &table->entries[app_flow_pick_victim(table)]);
	index = table->free_head;
	if (index == 0)
		index = ++table->high_water;
	else
		table->free_head = table->entries[index].bucket_next;
	return &table->entries[index];
}

struct app_flow *
app_flow_create(struct app_flow_table *table, const struct flow *flow, uint64_t cid, unsigned client)
{
	uint16_t source = app_flow_source_of(table, flow, client);
	struct app_flow *c = app_flow_alloc(table, source);
	uint32_t index = app_flow_number(table, c), *bucket = app_flow_bucket(table, cid);

	*c = (struct app_flow){.flow = flow, .cid = cid, .bucket_next = *bucket, .source = source};
	for (unsigned sender = 0; sender < 2 && table->histories != NULL; sender++) {
		c->stream[sender].history_size = table->reader->history_size;
		c->stream[sender].history =
		    table->histories + ((size_t)index * 2 + sender) * table->reader->history_size;
	}
	*bucket = index;
	app_flow_list_push(table, c, APP_FLOWS_UNCONFIRMED);
	app_flow_source_push(table, c);
	memset(app_flow_state(table, c), 0, table->state_size);
	table->counters.begun++;
	table->counters.active++;
	return c;
}

void
app_flow_table_clear(struct app_flow_table *table)
{
	for (uint32_t index = 1; index <= table->high_water; index++) {
		struct app_flow *c = &table->entries[index];

		if (c->flow == NULL)
			continue;
		if (c->list != APP_FLOWS_CLOSED)
			app_flow_retire(table, c);
		app_flow_remove(table, c);
	}
}

void
app_flow_retire(struct app_flow_table *table, struct app_flow *c)
{
	app_flow_end_streams(table, c);
	table->counters.active--;
	app_flow_set_list(table, c, APP_FLOWS_CLOSED);
}

const struct flow *
app_flow_get_flow(const struct app_flow *c)
{
	return c->flow;
}
