/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of app flows, private to app_flow.c and app_flow_pool.c.  Index 0 means none. */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_POOL_H
#define NETOBS_FLOW_STREAM_APP_FLOW_POOL_H

#include "flow/stream/app_flow.h"

struct app_flow {
	const struct flow *flow; /* NULL: free.  The memory may belong to another connection by now; compare `cid` */
	uint64_t cid;		 /* connection id of the flow's endpoint 0 */
	const struct app_reader *reader;
	uint16_t bucket_next;	 /* next in the hash bucket */
	uint16_t newer, older;	 /* LRU list */
	bool closed;		 /* both endpoints have closed, or one has reset: segments are ignored */
	struct stream stream[2]; /* by sender */
};

#define APP_FLOW_BUCKETS 2048u

struct app_flow_table {
	struct app_flow *entries;
	uint8_t *states;    /* `state_size` bytes each */
	uint8_t *histories; /* STREAM_HISTORY bytes, two for each app flow */
	size_t state_size;
	struct stream_pool *pool;
	uint16_t high_water;	 /* highest index used so far */
	uint16_t newest, oldest; /* ends of the LRU list */
	uint16_t bucket[APP_FLOW_BUCKETS];
	struct app_flow_counters counters;
};

/* The app flow of a connection, moved to the front of the LRU list; NULL if there is none. */
struct app_flow *app_flow_lookup(struct app_flow_table *table, const struct flow *flow, uint64_t cid);

/* Creates an app flow, evicting the least recently used one if all are in use. */
struct app_flow *app_flow_create(struct app_flow_table *table, const struct flow *flow, uint64_t cid,
				 const struct app_reader *reader);

/* The connection is over: its app flow becomes the first candidate for eviction. */
void app_flow_retire(struct app_flow_table *table, struct app_flow *c);

void *app_flow_state(const struct app_flow_table *table, const struct app_flow *c);

#endif
