/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/sctp/sctp_addr_table.h"

#include <stdlib.h>

#define HOMES_MIN 64u
#define HOMES_MAX 16384u

/* Most entries examined in a bucket.  An endpoint usually has one name, so chains have a length of 2 on average when
 * all records are in use. */
#define SEARCH_MAX 64

/* Number of address records: both ends of a sixteenth of the flows, because SCTP is rare. */
static uint32_t
homes_for(uint32_t flows)
{
	uint32_t homes = flows / 8;

	return homes < HOMES_MIN ? HOMES_MIN : homes > HOMES_MAX ? HOMES_MAX : homes;
}

/* Number of hash buckets: a power of two, at least half the number of records. */
static uint32_t
buckets_for(uint32_t flows)
{
	uint32_t buckets = HOMES_MIN / 2;

	while (buckets < homes_for(flows) / 2)
		buckets *= 2;
	return buckets;
}

size_t
sctp_store_memory(uint32_t flows)
{
	return sizeof(struct sctp_store) + ((size_t)homes_for(flows) + 1) * sizeof(struct sctp_home) +
	       buckets_for(flows) * sizeof(uint32_t);
}

struct sctp_store *
sctp_store_new(uint32_t flows)
{
	struct sctp_store *store = calloc(1, sizeof *store);

	if (store == NULL)
		return NULL;
	store->most = homes_for(flows);
	store->homes = calloc((size_t)store->most + 1, sizeof *store->homes);
	store->bucket_mask = buckets_for(flows) - 1;
	store->buckets = calloc(store->bucket_mask + 1, sizeof *store->buckets);
	if (store->homes == NULL || store->buckets == NULL) {
		sctp_store_free(store);
		return NULL;
	}
	return store;
}

void
sctp_store_free(struct sctp_store *store)
{
	if (store == NULL)
		return;
	free(store->homes);
	free(store->buckets);
	free(store);
}

const struct sctp_counters *
sctp_counters(const struct flow_table *table)
{
	return &flow_table_sctp(table)->counters;
}

/* Uses the table's seeded hash with a key that no flow has. */
static uint32_t
bucket_of(const struct flow_table *table, const struct sctp_tag *tag)
{
	struct flow_key key = {.port = {tag->port, tag->peer_port}, .version = 4};

	memcpy(key.addr[0], &tag->tag, sizeof tag->tag);
	return flow_hash(table, &key) & flow_table_sctp(table)->bucket_mask;
}

static struct sctp_name *
name_at(const struct sctp_store *store, uint32_t index)
{
	return &store->homes[index / 2].name[index % 2];
}

static void
unlink_name(struct sctp_store *store, uint32_t index)
{
	struct sctp_name *name = name_at(store, index);

	if (name->tag.tag == 0)
		return;
	if (name->prev != 0)
		name_at(store, name->prev)->next = name->next;
	else
		store->buckets[name->bucket] = name->next;
	if (name->next != 0)
		name_at(store, name->next)->prev = name->prev;
	name->tag.tag = 0;
}

static void
link_name(const struct flow_table *table, struct sctp_store *store, uint32_t index, const struct sctp_tag *tag)
{
	struct sctp_name *name = name_at(store, index);

	name->tag = *tag;
	if (tag->tag == 0)
		return;
	name->bucket = bucket_of(table, tag);
	name->prev = 0;
	name->next = store->buckets[name->bucket];
	if (name->next != 0)
		name_at(store, name->next)->prev = index;
	store->buckets[name->bucket] = index;
}

static uint32_t
take_home(struct sctp_store *store)
{
	uint32_t index = store->spare;

	if (index != 0) {
		store->spare = store->homes[index].next;
	} else if (store->top < store->most) {
		index = ++store->top;
	} else {
		store->counters.homeless++;
		return 0;
	}
	store->counters.homes++;
	return index;
}

void
home_rename(struct flow_table *table, struct flow *flow, unsigned end)
{
	struct sctp_store *store = flow_table_sctp(table);
	struct sctp_end *e = &flow->sctp[end];
	const uint32_t tags[2] = {e->tag, e->other_tag};

	if (e->home == 0) {
		e->home = take_home(store);
		if (e->home == 0)
			return;
		store->homes[e->home] =
		    (struct sctp_home){.flow = flow_table_index(table, flow), .end = (uint8_t)end};
		home_add(table, flow, end, flow->key.addr[end], flow->key.version);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct sctp_tag tag = {tags[i], flow->key.port[end], flow->key.port[1 - end]};

		if (name_at(store, 2 * e->home + i)->tag.tag == tag.tag)
			continue;
		unlink_name(store, 2 * e->home + i);
		link_name(table, store, 2 * e->home + i, &tag);
	}
}

void
home_drop(struct flow_table *table, struct flow *flow, unsigned end)
{
	struct sctp_store *store = flow_table_sctp(table);
	uint32_t index = flow->sctp[end].home;

	if (index == 0)
		return;
	unlink_name(store, 2 * index);
	unlink_name(store, 2 * index + 1);
	store->homes[index].next = store->spare;
	store->spare = index;
	store->counters.homes--;
	flow->sctp[end].home = 0;
}

static bool
has_address(const struct sctp_home *home, const uint8_t address[16], uint8_t version)
{
	for (unsigned i = 0; i < home->count; i++)
		if (home->address[i].version == version && memcmp(home->address[i].bytes, address, 16) == 0)
			return true;
	return false;
}

void
home_add(struct flow_table *table, struct flow *flow, unsigned end, const uint8_t address[16], uint8_t version)
{
	struct sctp_store *store = flow_table_sctp(table);
	struct sctp_home *home = &store->homes[flow->sctp[end].home];

	if (flow->sctp[end].home == 0 || has_address(home, address, version))
		return;
	if (home->count == SCTP_ADDRESSES_MAX) {
		store->counters.addresses_lost++;
		return;
	}
	home->address[home->count].version = version;
	memcpy(home->address[home->count].bytes, address, 16);
	home->count++;
}

bool
home_has(const struct flow_table *table, const struct flow *flow, unsigned end, const uint8_t address[16],
	 uint8_t version)
{
	const struct sctp_store *store = flow_table_sctp(table);

	if (flow->sctp[end].home != 0)
		return has_address(&store->homes[flow->sctp[end].home], address, version);
	return flow->key.version == version && memcmp(flow->key.addr[end], address, 16) == 0;
}

uint32_t
home_find(const struct flow_table *table, const struct sctp_tag *tag, uint32_t from)
{
	const struct sctp_store *store = flow_table_sctp(table);
	uint32_t index = from == 0 ? store->buckets[bucket_of(table, tag)] : name_at(store, from)->next;

	for (unsigned looked = 0; index != 0 && looked < SEARCH_MAX; looked++) {
		const struct sctp_name *name = name_at(store, index);

		if (name->tag.tag == tag->tag && name->tag.port == tag->port && name->tag.peer_port == tag->peer_port)
			return index;
		index = name->next;
	}
	return 0;
}

unsigned
sctp_addresses(const struct flow_table *table, const struct flow *flow, unsigned end,
	       struct sctp_address addresses[SCTP_ADDRESSES_MAX])
{
	const struct sctp_store *store = flow_table_sctp(table);
	const struct sctp_home *home = &store->homes[flow->sctp[end].home];

	if (flow->sctp[end].home != 0) {
		memcpy(addresses, home->address, home->count * sizeof *addresses);
		return home->count;
	}
	memcpy(addresses[0].bytes, flow->key.addr[end], sizeof addresses[0].bytes);
	addresses[0].version = flow->key.version;
	return 1;
}
