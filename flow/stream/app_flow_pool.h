/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of conversations, private to conversation.c and conversation_pool.c.  Index 0 means none. */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_POOL_H
#define NETOBS_FLOW_STREAM_APP_FLOW_POOL_H

#include "flow/stream/app_flow.h"

struct conversation {
	const struct flow *flow; /* NULL: free.  The memory may belong to another connection by now; compare `cid` */
	uint64_t cid;		 /* connection id of the flow's end 0 */
	const struct app_reader *reader;
	uint16_t chain;		 /* next in the hash bucket */
	uint16_t newer, older;	 /* LRU list */
	bool over;		 /* both ends have closed, or one has reset: segments are ignored */
	struct stream stream[2]; /* by sender */
};

#define CONVERSATION_BUCKETS 2048u

struct conversations {
	struct conversation *slots;
	uint8_t *states;    /* `state_size` bytes each */
	uint8_t *histories; /* STREAM_HISTORY bytes, two for each conversation */
	size_t state_size;
	struct stream_pool *pool;
	uint16_t top;		 /* highest index used so far */
	uint16_t newest, oldest; /* ends of the LRU list */
	uint16_t bucket[CONVERSATION_BUCKETS];
	struct conversation_counters counters;
};

/* The conversation of a connection, moved to the front of the LRU list; NULL if there is none. */
struct conversation *conversation_find(struct conversations *all, const struct flow *flow, uint64_t cid);

/* Creates a conversation, evicting the least recently used one if all are in use. */
struct conversation *conversation_create(struct conversations *all, const struct flow *flow, uint64_t cid,
					 const struct app_reader *reader);

/* The conversation is over: it becomes the first candidate for eviction. */
void conversation_retire(struct conversations *all, struct conversation *c);

void *conversation_state(const struct conversations *all, const struct conversation *c);

#endif
