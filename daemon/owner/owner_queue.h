/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the capture thread and the look-up thread share: questions one way, answers the other.
 *
 * Questions are numbered from 1 and wrap; a number is compared by the sign of a difference.  An answer carries the
 * number of the last question that had been taken out when the kernel gave it, so that a reader can tell an answer that
 * is younger than its own question from one about an earlier connection between the same ends.
 */
#ifndef NETOBS_DAEMON_OWNER_OWNER_QUEUE_H
#define NETOBS_DAEMON_OWNER_OWNER_QUEUE_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/owner/owner_table.h"

#define OWNER_QUESTIONS 8192u /* a power of two */

struct owner_question {
	struct owner_key key;
	uint32_t ifindex; /* 0 if unknown */
};

struct owner_mailbox {
	struct owner_table *table;
	_Atomic uint64_t *wanted; /* a bit per slot, set by the reader of its answer */
	uint32_t wanted_words;

	_Alignas(64) _Atomic uint32_t put; /* number of the last question; the capture thread's */
	_Alignas(64) _Atomic uint32_t taken; /* number of the last one taken out; the look-up thread's */
	_Atomic uint32_t done;		     /* all up to this one have their answers in the table */
	_Atomic bool heeds_wanted;	     /* the look-up thread sleeps and plans to look at no wanted bits */
	_Atomic bool stop;
	sem_t bell;
	struct owner_question questions[OWNER_QUESTIONS];
};

/* Whether question `a` was put before question `b`. */
static inline bool
question_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

#endif
