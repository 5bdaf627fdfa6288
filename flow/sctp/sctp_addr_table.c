/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow/sctp/sctp_internal.h"

#include <stdlib.h>

#define SCTP_ADDRS_MIN 64u
#define SCTP_ADDRS_MANY 16384u

/* Most entries examined in a bucket.  An endpoint usually has one tag, so buckets have 2 entries on average when
 * all records are in use. */
#define SCTP_TAG_SEARCH_MAX 64

/* Number of address records: both endpoints of a sixteenth of the flows, because SCTP is rare; above SCTP_ADDRS_MANY
 * records, of every 32nd flow. */
static uint32_t
sctp_addrs_for(uint32_t flows)
{
	uint32_t records = flows / 8;

	if (records < SCTP_ADDRS_MIN)
		return SCTP_ADDRS_MIN;
	if (records > SCTP_ADDRS_MANY)
		return flows / 16 > SCTP_ADDRS_MANY ? flows / 16 : SCTP_ADDRS_MANY;
	return records;
}

/* Entries of the array of address records: index 0 is unused. */
static size_t
sctp_addr_index_space(uint32_t flows)
{
	return (size_t)sctp_addrs_for(flows) + 1;
}

/* Number of hash buckets: a power of two, at least half the number of records. */
static uint32_t
sctp_tag_buckets_for(uint32_t flows)
{
	uint32_t buckets = SCTP_ADDRS_MIN / 2;

	while (buckets < sctp_addrs_for(flows) / 2)
		buckets *= 2;
	return buckets;
}

size_t
sctp_addr_table_memory_size(uint32_t flows)
{
	return sizeof(struct sctp_addr_table) + sctp_addr_index_space(flows) * sizeof(struct sctp_addrs) +
	       sctp_tag_buckets_for(flows) * sizeof(uint32_t);
}

struct sctp_addr_table *
sctp_addr_table_new(uint32_t flows)
{
	struct sctp_addr_table *addr_table = calloc(1, sizeof *addr_table);

	if (addr_table == NULL)
		return NULL;
	addr_table->capacity = sctp_addrs_for(flows);
	addr_table->addrs = calloc(sctp_addr_index_space(flows), sizeof *addr_table->addrs);
	addr_table->bucket_mask = sctp_tag_buckets_for(flows) - 1;
	addr_table->buckets = calloc(addr_table->bucket_mask + 1, sizeof *addr_table->buckets);
	if (addr_table->addrs == NULL || addr_table->buckets == NULL) {
		sctp_addr_table_free(addr_table);
		return NULL;
	}
	return addr_table;
}

void
sctp_addr_table_free(struct sctp_addr_table *addr_table)
{
	if (addr_table == NULL)
		return;
	free(addr_table->addrs);
	free(addr_table->buckets);
	free(addr_table);
}

const struct sctp_counters *
sctp_counters(const struct flow_table *table)
{
	return &flow_table_sctp_addrs(table)->counters;
}

/* Uses the table's seeded hash with a key that no flow has. */
static uint32_t
sctp_tag_bucket(const struct flow_table *table, const struct sctp_tag_key *tag)
{
	struct flow_key key = {.port = {tag->port, tag->peer_port}, .version = 4};

	memcpy(key.addr[0], &tag->tag, sizeof tag->tag);
	return flow_key_hash(table, &key) & flow_table_sctp_addrs(table)->bucket_mask;
}

static struct sctp_tag_entry *
sctp_tag_entry_at(const struct sctp_addr_table *addr_table, uint32_t index)
{
	return &addr_table->addrs[index / 2].tag_entry[index % 2];
}

static void
sctp_tag_unlink(struct sctp_addr_table *addr_table, uint32_t index)
{
	struct sctp_tag_entry *entry = sctp_tag_entry_at(addr_table, index);

	if (entry->tag.tag == 0)
		return;
	if (entry->prev != 0)
		sctp_tag_entry_at(addr_table, entry->prev)->next = entry->next;
	else
		addr_table->buckets[entry->bucket] = entry->next;
	if (entry->next != 0)
		sctp_tag_entry_at(addr_table, entry->next)->prev = entry->prev;
	entry->tag.tag = 0;
}

static void
sctp_tag_link(const struct flow_table *table, struct sctp_addr_table *addr_table, uint32_t index,
	      const struct sctp_tag_key *tag)
{
	struct sctp_tag_entry *entry = sctp_tag_entry_at(addr_table, index);

	entry->tag = *tag;
	if (tag->tag == 0)
		return;
	entry->bucket = sctp_tag_bucket(table, tag);
	entry->prev = 0;
	entry->next = addr_table->buckets[entry->bucket];
	if (entry->next != 0)
		sctp_tag_entry_at(addr_table, entry->next)->prev = index;
	addr_table->buckets[entry->bucket] = index;
}

static uint32_t
sctp_addrs_alloc(struct sctp_addr_table *addr_table)
{
	uint32_t index = addr_table->free_head;

	if (index != 0) {
		addr_table->free_head = addr_table->addrs[index].next;
	} else if (addr_table->high_water < addr_table->capacity) {
		index = ++addr_table->high_water;
	} else {
		addr_table->counters.addr_table_full++;
		return 0;
	}
	addr_table->counters.addr_entries++;
	return index;
}

void
sctp_addrs_index_tags(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	struct sctp_endpoint *e = &flow->sctp[endpoint];
	const uint32_t tags[2] = {e->tag, e->pending_tag};

	if (e->addr_index == 0) {
		e->addr_index = sctp_addrs_alloc(addr_table);
		if (e->addr_index == 0)
			return;
		addr_table->addrs[e->addr_index] =
		    (struct sctp_addrs){.flow = flow_table_index(table, flow), .endpoint = (uint8_t)endpoint};
		sctp_addrs_add(table, flow, endpoint, flow->key.addr[endpoint], flow->key.version);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct sctp_tag_key tag = {tags[i], flow->key.port[endpoint], flow->key.port[1 - endpoint]};

		if (sctp_tag_entry_at(addr_table, 2 * e->addr_index + i)->tag.tag == tag.tag)
			continue;
		sctp_tag_unlink(addr_table, 2 * e->addr_index + i);
		sctp_tag_link(table, addr_table, 2 * e->addr_index + i, &tag);
	}
}

void
sctp_addrs_release(struct flow_table *table, struct flow *flow, unsigned endpoint)
{
	struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	uint32_t index = flow->sctp[endpoint].addr_index;

	if (index == 0)
		return;
	sctp_tag_unlink(addr_table, 2 * index);
	sctp_tag_unlink(addr_table, 2 * index + 1);
	addr_table->addrs[index].next = addr_table->free_head;
	addr_table->free_head = index;
	addr_table->counters.addr_entries--;
	flow->sctp[endpoint].addr_index = 0;
}

static bool
sctp_addrs_has_address(const struct sctp_addrs *addrs, const uint8_t address[16], uint8_t version)
{
	for (unsigned i = 0; i < addrs->count; i++)
		if (addrs->address[i].version == version && memcmp(addrs->address[i].bytes, address, 16) == 0)
			return true;
	return false;
}

bool
sctp_addrs_contain(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
		   const uint8_t address[16], uint8_t version)
{
	const struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);

	if (flow->sctp[endpoint].addr_index != 0)
		return sctp_addrs_has_address(&addr_table->addrs[flow->sctp[endpoint].addr_index], address, version);
	return flow->key.version == version && memcmp(flow->key.addr[endpoint], address, 16) == 0;
}

bool
sctp_paths_are_known(const struct flow_table *table, const struct flow *flow)
{
	bool was_full = flow_table_sctp_addrs(table)->counters.addr_table_full > 0;

	for (unsigned i = 0; i < 2; i++) {
		const struct sctp_endpoint *e = &flow->sctp[i];

		if ((e->flags & SCTP_EP_ADDR_DROPPED) != 0 ||
		    (was_full && e->tag != 0 && (e->flags & SCTP_EP_INIT_SEEN) == 0))
			return false;
	}
	return true;
}

void
sctp_addrs_add(struct flow_table *table, struct flow *flow, unsigned endpoint, const uint8_t address[16],
	       uint8_t version)
{
	struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	struct sctp_addrs *addrs = &addr_table->addrs[flow->sctp[endpoint].addr_index];

	if (sctp_addrs_contain(table, flow, endpoint, address, version))
		return;
	if (flow->sctp[endpoint].addr_index == 0) {
		if (flow->sctp[endpoint].tag != 0) /* else it gets a record when its tag is known */
			flow->sctp[endpoint].flags |= SCTP_EP_ADDR_DROPPED;
		return;
	}
	if (addrs->count == SCTP_ADDRESSES_MAX) {
		addr_table->counters.addresses_dropped++;
		return;
	}
	addrs->address[addrs->count].version = version;
	memcpy(addrs->address[addrs->count].bytes, address, 16);
	addrs->count++;
}

uint32_t
sctp_tag_find_next(const struct flow_table *table, const struct sctp_tag_key *tag, uint32_t from)
{
	const struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	uint32_t index =
	    from == 0 ? addr_table->buckets[sctp_tag_bucket(table, tag)] : sctp_tag_entry_at(addr_table, from)->next;

	for (unsigned examined = 0; index != 0 && examined < SCTP_TAG_SEARCH_MAX; examined++) {
		const struct sctp_tag_entry *entry = sctp_tag_entry_at(addr_table, index);

		if (entry->tag.tag == tag->tag && entry->tag.port == tag->port &&
		    entry->tag.peer_port == tag->peer_port)
			return index;
		index = entry->next;
	}
	return 0;
}

unsigned
sctp_get_addresses(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
		   struct sctp_address addresses[SCTP_ADDRESSES_MAX])
{
	const struct sctp_addr_table *addr_table = flow_table_sctp_addrs(table);
	const struct sctp_addrs *addrs = &addr_table->addrs[flow->sctp[endpoint].addr_index];

	if (flow->sctp[endpoint].addr_index != 0) {
		memcpy(addresses, addrs->address, addrs->count * sizeof *addresses);
		return addrs->count;
	}
	memcpy(addresses[0].bytes, flow->key.addr[endpoint], sizeof addresses[0].bytes);
	addresses[0].version = flow->key.version;
	return 1;
}
