/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/stream/app_flow_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(CONVERSATIONS_MAX < UINT16_MAX, "indices have 16 bits");

static size_t
states_size(const struct conversations *all)
{
	return (CONVERSATIONS_MAX + 1) * all->state_size;
}

#define HISTORIES_SIZE ((size_t)(CONVERSATIONS_MAX + 1) * 2 * STREAM_HISTORY)

/* Reserves address space; pages are allocated when they are first touched. */
static void *
reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct conversations *
conversations_new(size_t state_size)
{
	struct conversations *all = calloc(1, sizeof *all);

	if (all == NULL)
		return NULL;
	all->state_size = (state_size + 63) & ~(size_t)63;
	all->slots = calloc(CONVERSATIONS_MAX + 1, sizeof all->slots[0]);
	all->states = reserve(states_size(all));
	all->histories = reserve(HISTORIES_SIZE);
	all->pool = stream_pool_new();
	if (all->slots == NULL || all->states == NULL || all->histories == NULL || all->pool == NULL) {
		conversations_free(all);
		return NULL;
	}
	return all;
}

void
conversations_free(struct conversations *all)
{
	if (all == NULL)
		return;
	stream_pool_free(all->pool);
	if (all->states != NULL)
		munmap(all->states, states_size(all));
	if (all->histories != NULL)
		munmap(all->histories, HISTORIES_SIZE);
	free(all->slots);
	free(all);
}

const struct conversation_counters *
conversations_counters(const struct conversations *all)
{
	return &all->counters;
}

const struct stream_counters *
conversations_streams(const struct conversations *all)
{
	return stream_pool_counters(all->pool);
}

static uint16_t
index_of(const struct conversations *all, const struct conversation *c)
{
	return (uint16_t)(c - all->slots);
}

void *
conversation_state(const struct conversations *all, const struct conversation *c)
{
	return all->states + index_of(all, c) * all->state_size;
}

/* Ids are consecutive, so their low bits are a good hash. */
static uint16_t *
bucket_of(struct conversations *all, uint64_t cid)
{
	return &all->bucket[cid / 2 % CONVERSATION_BUCKETS];
}

/* --- LRU list --- */

static void
unlink_use(struct conversations *all, const struct conversation *c)
{
	if (c->newer != 0)
		all->slots[c->newer].older = c->older;
	else
		all->newest = c->older;
	if (c->older != 0)
		all->slots[c->older].newer = c->newer;
	else
		all->oldest = c->newer;
}

static void
link_newest(struct conversations *all, struct conversation *c)
{
	uint16_t index = index_of(all, c);

	c->newer = 0;
	c->older = all->newest;
	if (all->newest != 0)
		all->slots[all->newest].newer = index;
	else
		all->oldest = index;
	all->newest = index;
}

static void
link_oldest(struct conversations *all, struct conversation *c)
{
	uint16_t index = index_of(all, c);

	c->older = 0;
	c->newer = all->oldest;
	if (all->oldest != 0)
		all->slots[all->oldest].older = index;
	else
		all->newest = index;
	all->oldest = index;
}

/* --- create and remove --- */

struct conversation *
conversation_find(struct conversations *all, const struct flow *flow, uint64_t cid)
{
	for (uint16_t index = *bucket_of(all, cid); index != 0; index = all->slots[index].chain) {
		struct conversation *c = &all->slots[index];

		if (c->cid != cid || c->flow != flow)
			continue;
		if (!c->over && all->newest != index) {
			unlink_use(all, c);
			link_newest(all, c);
		}
		return c;
	}
	return NULL;
}

static void
end_streams(struct conversations *all, struct conversation *c)
{
	stream_end(all->pool, &c->stream[0]);
	stream_end(all->pool, &c->stream[1]);
}

static void
leave_bucket(struct conversations *all, const struct conversation *c)
{
	uint16_t *link = bucket_of(all, c->cid);

	while (*link != index_of(all, c))
		link = &all->slots[*link].chain;
	*link = c->chain;
}

static struct conversation *
make_room(struct conversations *all)
{
	struct conversation *c;

	if (all->top < CONVERSATIONS_MAX)
		return &all->slots[++all->top];
	c = &all->slots[all->oldest];
	if (!c->over) {
		end_streams(all, c);
		all->counters.evicted++;
		all->counters.now--;
	}
	leave_bucket(all, c);
	unlink_use(all, c);
	return c;
}

struct conversation *
conversation_create(struct conversations *all, const struct flow *flow, uint64_t cid, const struct app_reader *reader)
{
	struct conversation *c = make_room(all);
	uint16_t index = index_of(all, c), *bucket = bucket_of(all, cid);
	uint8_t *history = all->histories + (size_t)index * 2 * STREAM_HISTORY;

	*c = (struct conversation){.flow = flow, .cid = cid, .reader = reader, .chain = *bucket};
	c->stream[0].history = history;
	c->stream[1].history = history + STREAM_HISTORY;
	*bucket = index;
	link_newest(all, c);
	memset(conversation_state(all, c), 0, all->state_size);
	all->counters.begun++;
	all->counters.now++;
	return c;
}

void
conversation_retire(struct conversations *all, struct conversation *c)
{
	end_streams(all, c);
	c->over = true;
	all->counters.now--;
	unlink_use(all, c);
	link_oldest(all, c);
}

void
conversation_others(const struct reading *reading, bool (*visit)(void *context, const void *state), void *context)
{
	const struct conversations *all = reading->all;

	for (uint16_t index = all->newest; index != 0; index = all->slots[index].older) {
		const struct conversation *c = &all->slots[index];

		if (c != reading->conversation && c->reader == reading->conversation->reader &&
		    visit(context, conversation_state(all, c)))
			return;
	}
}

const struct flow *
conversation_flow(const struct conversation *c)
{
	return c->flow;
}
