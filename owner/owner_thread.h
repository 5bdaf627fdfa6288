/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup thread. */
#ifndef NETOBS_OWNER_OWNER_THREAD_H
#define NETOBS_OWNER_OWNER_THREAD_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "owner/owner_table.h"
#include "owner/procfs.h"
#include "owner/sockdiag.h"

/*
 * Data shared by the capture thread and the lookup thread: a queue of requests and a table of replies.
 *
 * Requests are numbered from 1; numbers wrap and are compared by the sign of their difference.  A reply carries the
 * number of the last request taken from the queue when the kernel was queried.  A reader thus distinguishes a reply
 * that is newer than its own request from one about an earlier connection between the same ends.
 */

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

#define OWNER_DUMP_MAX 256u

enum owner_state_flag {
	OWNER_IN_RETRY_LIST = 0x01,	 /* slot is in the retry list */
	OWNER_IN_UNRESOLVED_LIST = 0x02, /* slot is in the list of sockets without a known process */
	OWNER_IN_CURRENT_SCAN = 0x04,	 /* was in that list when the present scan began */
	OWNER_NEEDS_PROCESS = 0x08,	 /* has a socket with an inode, and its process is not known yet */
	OWNER_RECHECKED = 0x10,		 /* was queried again after its first reply */
	OWNER_NO_SOCKET = 0x20,		 /* no socket was found, by key or by dump */
};

/* State of a slot, in addition to its record. */
struct owner_state {
	uint64_t cookie;	   /* cookie of the socket when a process last held it, 0 none yet */
	uint64_t retry_ms;	   /* time of the next retry, 0 never */
	uint64_t backoff_until_ms; /* no scan is started for this slot before then */
	uint32_t inode;		   /* inode of the socket, 0 none */
	uint32_t ifindex;
	uint32_t request_number; /* number of the last request taken when the kernel was queried */
	int32_t fd;
	uint8_t flags;	      /* enum owner_state_flag */
	uint8_t retries;      /* retries since the request */
	uint8_t failed_scans; /* scans that did not find the process */
};

struct owner_slot_list {
	uint32_t *slots; /* capacity: all slots */
	uint32_t count;
};

/* An endpoint that was not found by key. */
struct owner_dump_entry {
	struct owner_key key;
	uint32_t slot, ifindex;
	int score; /* score of `best`; -1 none */
	bool ambiguous;
	struct sockdiag_socket best;
};

struct owner_thread {
	struct owner_queue *queue;
	struct sockdiag *diag;
	struct procfs *procfs;
	struct owner_state *states; /* one per slot */
	uint64_t now_ms;	    /* time of the present round, on the monotonic clock like all fields in _ms */
	uint64_t refresh_ms;	    /* the configured limit */

	struct owner_slot_list retries;
	uint64_t retries_due; /* earliest retry, 0 none */

	struct owner_slot_list unresolved;
	bool scanning;
	uint64_t scan_due, scan_us; /* earliest time of the next scan; time spent in the present one */

	bool refreshing;
	uint32_t refresh_word;		  /* next word of the referenced bits to examine */
	uint64_t refresh_due, refresh_us; /* time of the next round, 0: no reply was read lately; time spent in it */
	uint64_t refresh_began;
	bool refresh_any;

	struct owner_dump_entry dump_entries[OWNER_DUMP_MAX];
	uint32_t dump_count;
	uint64_t dump_due;

	struct {
		_Atomic uint64_t replies, no_socket, no_process, processes, unaccepted, refreshed, refresh_late,
		    evicted, scans, scan_links, dumps, errors, unreadable;
	} counters;
};

/* Counters have one writer and may be read at any time. */
static inline void
owner_counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* For the network namespace of the calling thread.  `refresh_ms`: see struct owner_lookup_limits.  NULL with errno. */
struct owner_thread *owner_thread_new(struct owner_queue *queue, uint32_t refresh_ms);
void owner_thread_free(struct owner_thread *thread);
size_t owner_thread_memory(uint32_t slots);

/* Thread function: returns when queue->stop is set. */
void *owner_thread_main(void *thread);

#endif
