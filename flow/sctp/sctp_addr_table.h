/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where SCTP endpoints are at home: their addresses, and finding their association by ports and verification tag.
 *
 * Reserved with the table and bounded: an endpoint gets a home when its tag is known, if there is room.  Homes with the
 * same hash are chained; a search gives up after a fixed number of them, so that nobody can make it long.
 */
#ifndef NETOBS_FLOW_SCTP_SCTP_ADDR_TABLE_H
#define NETOBS_FLOW_SCTP_SCTP_ADDR_TABLE_H

#include "flow/flow_internal.h"
#include "flow/sctp/sctp.h"

/* Who has a tag: it is unique between two ports of two hosts. */
struct sctp_tag {
	uint32_t tag;
	uint16_t port, peer_port; /* its owner's and the other end's */
};

/* An entry of the hash.  Name 2 * h and name 2 * h + 1 are those of home h: its present tag and its other one. */
struct sctp_name {
	struct sctp_tag tag; /* tag 0: in no bucket */
	uint32_t next, prev, bucket;
};

struct sctp_home {
	flow_index flow;
	uint32_t next; /* free home */
	uint8_t end;
	uint8_t count; /* addresses */
	struct sctp_address address[SCTP_ADDRESSES_MAX];
	struct sctp_name name[2];
};

struct sctp_store {
	struct sctp_home *homes; /* index 0 is nobody */
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t most;	 /* homes that there may be */
	uint32_t top;	 /* highest index ever used */
	uint32_t spare;	 /* first free one below it */
	struct sctp_counters counters;
};

/* Makes an endpoint known under its present tags; gives it a home if it has none. */
void home_rename(struct flow_table *table, struct flow *flow, unsigned end);

/* Takes an endpoint's home away. */
void home_drop(struct flow_table *table, struct flow *flow, unsigned end);

/* Adds an address to an endpoint's home, if it has one and there is room. */
void home_add(struct flow_table *table, struct flow *flow, unsigned end, const uint8_t address[16], uint8_t version);

/* Whether an address is known to be an endpoint's. */
bool home_has(const struct flow_table *table, const struct flow *flow, unsigned end, const uint8_t address[16],
	      uint8_t version);

/* The next name with this tag, behind name `from` (0: the first); 0 if there is none. */
uint32_t home_find(const struct flow_table *table, const struct sctp_tag *tag, uint32_t from);

static inline const struct sctp_home *
home_named(const struct sctp_store *store, uint32_t name)
{
	return &store->homes[name / 2];
}

#endif
