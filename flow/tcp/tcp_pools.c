/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/tcp/tcp_pools.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "flow/tcp/tcp.h"
#include "flow/tcp/tcp_loss.h"

#define LOG_PLACES_MIN (1u << 16)
#define LOG_PLACES_MAX (1u << 22)
#define DETAILS_MIN 256u
#define DETAILS_MAX 65535u /* 0 means none: two bytes of each flow */

/* Places of the send log: a power of two, one per flow.  What matters is how far back in time the log reaches, and a
 * few flows may send as fast as many. */
static uint32_t
log_places(uint32_t flows)
{
	uint32_t places = LOG_PLACES_MIN;

	while (places < LOG_PLACES_MAX && places < flows)
		places *= 2;
	return places;
}

/* Entries of the log: three quarters of its places.  With the default of a million flows that is 786432 entries, 12.6
 * MB, and 3/4 s of a million data segments per second: longer than a round trip and the shortest timeouts (200 ms).  A
 * timer with a longer backoff is still recognised by the silence before it; only the time and count of the segment are
 * then unknown. */
static uint32_t
log_entries(uint32_t flows)
{
	return log_places(flows) / 4 * 3;
}

static uint32_t
detail_count(uint32_t flows)
{
	uint32_t count = flows / 16;

	return count < DETAILS_MIN ? DETAILS_MIN : count > DETAILS_MAX ? DETAILS_MAX : count;
}

static size_t
log_size(uint32_t flows)
{
	return (size_t)log_entries(flows) * sizeof(struct log_entry);
}

static size_t
details_size(uint32_t flows)
{
	return (size_t)detail_count(flows) * sizeof(struct loss_detail);
}

size_t
tcp_store_memory(uint32_t flows)
{
	return sizeof(struct tcp_store) + log_size(flows) + details_size(flows);
}

static void *
reserve(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	(void)madvise(memory, size, MADV_HUGEPAGE); /* optional: fewer page faults */
	return memory;
}

struct tcp_store *
tcp_store_new(uint32_t flows)
{
	struct tcp_store *store = calloc(1, sizeof *store);

	if (store == NULL)
		return NULL;
	store->log_mask = log_places(flows) - 1;
	store->log_entries = log_entries(flows);
	store->detail_count = detail_count(flows);
	store->log = reserve(log_size(flows));
	store->details = reserve(details_size(flows));
	if (store->log == NULL || store->details == NULL) {
		tcp_store_free(store);
		return NULL;
	}
	return store;
}

void
tcp_store_free(struct tcp_store *store)
{
	if (store == NULL)
		return;
	if (store->log != NULL)
		munmap(store->log, store->log_entries * sizeof *store->log);
	if (store->details != NULL)
		munmap(store->details, (size_t)store->detail_count * sizeof *store->details);
	free(store);
}

static inline bool
covers(const struct log_entry *entry, uint32_t seq)
{
	return !seq_before(seq, entry->seq) && seq_before(seq, entry->end);
}

struct log_answer
log_search(const struct tcp_store *store, const struct tcp_end *e, uint32_t seq)
{
	struct log_answer answer = {.begin = seq};
	const struct log_entry *entry = log_entry(store, e->sent);
	unsigned looked;

	for (looked = 0; entry != NULL && looked < LOG_SEARCH_MAX; looked++) {
		if (covers(entry, seq)) {
			if (!answer.seen)
				answer.us = entry->us;
			answer.seen = true;
			answer.count++;
			answer.begin = entry->seq;
			if ((entry->link & 1) == 0)
				break; /* first transmission: no older entry can contain it */
		} else if ((entry->link & 1) == 0 && !seq_before(seq, entry->end)) {
			break; /* first transmissions ascend: this entry and all older ones are below */
		}
		entry = log_entry(store, entry->link >> 1);
	}
	return answer;
}

/* --- the pool --- */

struct loss_detail *
detail_of(struct tcp_store *store, const struct flow_cold *cold)
{
	return cold->detail == 0 ? NULL : &store->details[cold->detail - 1];
}

static void
forget(struct flow_table *table, struct loss_detail *detail)
{
	struct flow *flow = detail->owner;

	flow_cold(table, flow)->detail = 0;
	flow->tcp[0].trouble &= (uint8_t)~TCP_TROUBLE_LOSS;
	flow->tcp[1].trouble &= (uint8_t)~TCP_TROUBLE_LOSS;
	detail->owner = NULL;
}

/* All details are in use: takes them in the order of first use, round robin. */
static uint32_t
take_away(struct flow_table *table, struct tcp_store *store)
{
	uint32_t index = store->detail_hand;

	store->detail_hand = (index + 1) % store->detail_count;
	store->details_lost++;
	forget(table, &store->details[index]);
	return index;
}

struct loss_detail *
detail_need(struct flow_table *table, struct flow *flow)
{
	struct tcp_store *store = flow_table_tcp(table);
	struct flow_cold *cold = flow_cold(table, flow);
	uint32_t index;

	if (cold->detail != 0)
		return &store->details[cold->detail - 1];
	if (store->detail_spare != 0) {
		index = store->detail_spare - 1;
		store->detail_spare = store->details[index].next_spare;
	} else if (store->detail_top < store->detail_count) {
		index = store->detail_top++;
	} else {
		index = take_away(table, store);
	}
	store->details[index] = (struct loss_detail){.owner = flow};
	cold->detail = (uint16_t)(index + 1);
	return &store->details[index];
}

void
detail_drop(struct flow_table *table, struct flow *flow)
{
	struct tcp_store *store = flow_table_tcp(table);
	uint32_t number = flow_cold(table, flow)->detail;

	if (number == 0)
		return;
	forget(table, &store->details[number - 1]);
	store->details[number - 1].next_spare = store->detail_spare;
	store->detail_spare = number;
}
