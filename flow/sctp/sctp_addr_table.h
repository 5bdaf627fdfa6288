/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address records of SCTP endpoints: their addresses, and the lookup of an association by ports and verification tag.
 *
 * Memory is reserved with the table and bounded: an endpoint gets a record when its tag is known, if one is free.
 * Entries with the same hash are in one bucket; a lookup gives up after a fixed number of entries, so an attacker
 * cannot make it long.
 */
#ifndef NETOBS_FLOW_SCTP_SCTP_ADDR_TABLE_H
#define NETOBS_FLOW_SCTP_SCTP_ADDR_TABLE_H

#include "flow/flow_internal.h"
#include "flow/sctp/sctp.h"

/* A verification tag with its ports.  Between two ports of two hosts a tag is unique. */
struct sctp_tag_key {
	uint32_t tag;
	uint16_t port, peer_port; /* port of the endpoint that chose the tag, and of its peer */
};

/* A hash entry.  Entries 2 * h and 2 * h + 1 belong to record h: its tag and its pending tag. */
struct sctp_tag_entry {
	struct sctp_tag_key tag; /* tag 0: not in a bucket */
	uint32_t next, prev, bucket;
};

struct sctp_addrs {
	flow_index flow;
	uint32_t next; /* next free record */
	uint8_t endpoint;
	uint8_t count; /* number of addresses */
	struct sctp_address address[SCTP_ADDRESSES_MAX];
	struct sctp_tag_entry tag_entry[2];
};

struct sctp_addr_table {
	struct sctp_addrs *addrs; /* index 0 means none */
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t capacity;	 /* limit on records */
	uint32_t high_water;	 /* highest index used so far */
	uint32_t free_head;	 /* head of the free list below high_water */
	struct sctp_counters counters;
};

/* Enters an endpoint under its tags; allocates a record if it has none. */
void sctp_addrs_index_tags(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Frees an endpoint's record. */
void sctp_addrs_release(struct flow_table *table, struct flow *flow, unsigned endpoint);

/* Adds an address to an endpoint's record.  An endpoint with a tag but without a record is flagged
 * SCTP_EP_ADDR_DROPPED. */
void sctp_addrs_add(struct flow_table *table, struct flow *flow, unsigned endpoint, const uint8_t address[16],
		    uint8_t version);

/* Whether an address belongs to an endpoint, as far as known. */
bool sctp_addrs_contain(const struct flow_table *table, const struct flow *flow, unsigned endpoint,
			const uint8_t address[16], uint8_t version);

/* Whether every packet of the association belongs to this flow.  False if addresses were dropped because all records
 * were in use, and for a flow in mid-stream if that ever happened: the flow may be another path of an association.  The
 * end of such a flow, if no packet proves it, is not reported. */
bool sctp_paths_are_known(const struct flow_table *table, const struct flow *flow);

/* The next entry with this tag behind entry `from` (0: from the start); 0 if there is none. */
uint32_t sctp_tag_find_next(const struct flow_table *table, const struct sctp_tag_key *tag, uint32_t from);

/* The record that an entry belongs to. */
static inline const struct sctp_addrs *
sctp_tag_addrs(const struct sctp_addr_table *addr_table, uint32_t entry)
{
	return &addr_table->addrs[entry / 2];
}

#endif
