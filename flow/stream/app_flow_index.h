/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of app flows, private to app_flow.c and app_flow_index.c.  Index 0 means none. */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_INDEX_H
#define NETOBS_FLOW_STREAM_APP_FLOW_INDEX_H

#include "flow/stream/app_reader.h"
#include "flow/stream/stream.h"

/* An app flow is in one of these lists, each ordered by the time of the last segment.  It is confirmed when both ends
 * have sent a complete message, and closed when its connection is or when its reader needs no more bytes. */
enum app_flow_list {
	APP_FLOWS_CLOSED,
	APP_FLOWS_UNCONFIRMED,
	APP_FLOWS_CONFIRMED,
	APP_FLOW_LISTS
};

struct app_flow {
	const struct flow *flow; /* NULL: free.  The memory may belong to another connection by now; compare `cid` */
	uint64_t cid;		 /* connection id of the flow's endpoint 0 */
	uint64_t index_key;	 /* key in the index, 0 none (app_flow_index_set()) */
	uint32_t bucket_next;		     /* next in the hash bucket */
	uint32_t index_next;		     /* next in the bucket of the index */
	uint32_t newer, older;		     /* neighbours in `list` */
	uint32_t source_newer, source_older; /* neighbours in the list of `source`; unconfirmed app flows only */
	uint32_t held_newer, held_older;     /* neighbours in the list of those whose bytes are held */
	uint64_t held_until;		     /* packet time, ns; 0 not in that list */
	uint16_t source;		     /* bucket of the client's address */
	uint8_t list;			     /* enum app_flow_list */
	uint8_t senders;		     /* bit n: endpoint n has sent a complete message */
	uint8_t ended;			     /* bit n: the end of the stream of endpoint n was reported */
	struct stream stream[2];	     /* by sender */
};

#define APP_FLOW_SOURCES 1024u

struct app_flow_ends {
	uint32_t newest, oldest;
};

struct app_flow_table {
	const struct app_reader *reader;
	struct app_flow *entries;
	uint8_t *states;      /* `state_size` bytes each */
	uint8_t *histories;   /* reader->history_size bytes, two for each app flow */
	uint32_t *bucket;     /* by connection id, `bucket_mask` + 1 of them */
	uint32_t *index;      /* by key of the reader, as many */
	size_t state_size;    /* of the reader, rounded up */
	uint32_t connections_max;
	uint32_t bucket_mask; /* two buckets for each app flow */
	uint64_t seed;
	struct stream_pool *pool; /* borrowed */
	uint32_t high_water;	  /* highest index used so far */
	uint32_t free_head;	  /* head of the free list below, linked by bucket_next */
	uint32_t unconfirmed;
	uint32_t retired; /* number of app flows in APP_FLOWS_CLOSED */
	struct app_flow_ends lists[APP_FLOW_LISTS];
	struct app_flow_ends held; /* by held_until */
	struct app_flow_source_bucket {
		struct app_flow_ends ends;
		uint32_t count;
	} sources[APP_FLOW_SOURCES];
	struct app_flow_counters counters;
};

static inline uint32_t
app_flow_number(const struct app_flow_table *table, const struct app_flow *c)
{
	return (uint32_t)(c - table->entries);
}

static inline void *
app_flow_state(const struct app_flow_table *table, const struct app_flow *c)
{
	return table->states + app_flow_number(table, c) * table->state_size;
}

/* Takes an app flow out of the index. */
void app_flow_index_remove(struct app_flow_table *table, struct app_flow *c);

#endif
