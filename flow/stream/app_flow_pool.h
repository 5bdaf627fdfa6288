/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of conversations: conversation.c and conversation_pool.c only.  Index 0 is nobody. */
#ifndef NETOBS_FLOW_STREAM_APP_FLOW_POOL_H
#define NETOBS_FLOW_STREAM_APP_FLOW_POOL_H

#include "flow/stream/app_flow.h"

struct conversation {
	const struct flow *flow; /* NULL: free.  Its memory may be another connection's by now: `cid` tells */
	uint64_t cid;		 /* connection id of its end 0 */
	const struct app_reader *reader;
	uint16_t chain;		 /* next in its bucket */
	uint16_t newer, older;	 /* by last use */
	bool over;		 /* both ends have closed, or one has reset: nothing more is read */
	struct stream stream[2]; /* by sender */
};

#define CONVERSATION_BUCKETS 2048u

struct conversations {
	struct conversation *slots;
	uint8_t *states;    /* state_size each */
	uint8_t *histories; /* two each */
	size_t state_size;
	struct stream_pool *pool;
	uint16_t top;		 /* highest ever used */
	uint16_t newest, oldest; /* by last use */
	uint16_t bucket[CONVERSATION_BUCKETS];
	struct conversation_counters counters;
};

/* The conversation of a connection, which becomes the newest; NULL if it has none. */
struct conversation *conversation_find(struct conversations *all, const struct flow *flow, uint64_t cid);

/* A new one.  The oldest makes room where there is none. */
struct conversation *conversation_create(struct conversations *all, const struct flow *flow, uint64_t cid,
					 const struct app_reader *reader);

/* Nothing more comes of it: it is the next to make room. */
void conversation_retire(struct conversations *all, struct conversation *c);

void *conversation_state(const struct conversations *all, const struct conversation *c);

#endif
