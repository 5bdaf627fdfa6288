/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data shared by the capture thread and the lookup thread: a queue of requests and a table of replies.
 *
 * Requests are numbered from 1; numbers wrap and are compared by the sign of their difference.  A reply carries the
 * number of the last request taken from the queue when the kernel was queried.  A reader thus distinguishes a reply
 * that is newer than its own request from one about an earlier connection between the same ends.
 */
#ifndef NETOBS_OWNER_OWNER_QUEUE_H
#define NETOBS_OWNER_OWNER_QUEUE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "owner/owner_table.h"

#define OWNER_QUEUE_SIZE 8192u /* a power of two */
#define OWNER_WORD_BITS	 64u	/* of a word of owner_queue.referenced */

struct owner_request {
	struct owner_key key;
	uint32_t ifindex; /* 0 if unknown */
};

struct owner_queue {
	struct owner_table *table;
	_Atomic uint64_t *referenced; /* one bit per slot, set when its reply is read */
	uint32_t referenced_words;

	_Alignas(64) _Atomic uint32_t enqueued; /* number of the last request; written by the capture thread */
	_Alignas(64) _Atomic uint32_t dequeued; /* number of the last request taken; written by the lookup thread */
	_Atomic uint32_t completed;		/* the table has the replies to all requests up to this number */
	_Atomic bool wake_on_reference;		/* setting a referenced bit must wake the lookup thread */
	_Atomic bool stop;
	_Atomic bool reader_waits; /* the capture thread waits for `replied` */
	sem_t wakeup;
	sem_t replied; /* the lookup thread has made progress while `reader_waits` */
	struct owner_request requests[OWNER_QUEUE_SIZE];
};

/* Words of `referenced` of a table with so many slots. */
static inline uint32_t
owner_referenced_words(uint32_t slots)
{
	return (slots + OWNER_WORD_BITS - 1) / OWNER_WORD_BITS;
}

/* Whether request `a` was made before request `b`. */
static inline bool
owner_request_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
