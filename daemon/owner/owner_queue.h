/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data shared by the capture thread and the look-up thread: a queue of questions and a table of answers.
 *
 * Questions are numbered from 1; numbers wrap and are compared by the sign of their difference.  An answer carries the
 * number of the last question taken from the queue when the kernel was queried.  A reader can thus tell an answer that
 * is newer than its own question from one about an earlier connection between the same ends.
 */
#ifndef NETOBS_DAEMON_OWNER_OWNER_QUEUE_H
#define NETOBS_DAEMON_OWNER_OWNER_QUEUE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/owner/owner_table.h"

#define OWNER_QUEUE_SIZE 8192u /* a power of two */

struct owner_request {
	struct owner_key key;
	uint32_t ifindex; /* 0 if unknown */
};

struct owner_queue {
	struct owner_table *table;
	_Atomic uint64_t *referenced; /* one bit per slot, set when its answer is read */
	uint32_t wanted_words;

	_Alignas(64) _Atomic uint32_t enqueued; /* number of the last question; written by the capture thread */
	_Alignas(64) _Atomic uint32_t dequeued; /* number of the last question taken; written by the look-up thread */
	_Atomic uint32_t completed;		/* every question up to this number is answered in the table */
	_Atomic bool wake_on_reference; /* the look-up thread sleeps with no refresh planned: setting a wanted bit
					      * must wake it */
	_Atomic bool stop;
	sem_t wakeup;
	struct owner_request requests[OWNER_QUEUE_SIZE];
};

/* Whether question `a` was asked before question `b`. */
static inline bool
owner_request_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
