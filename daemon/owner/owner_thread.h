/* SPDX-License-Identifier: BSD-2-Clause */
/* The look-up thread: owner_worker.c is its main loop, owner_look.c evaluates the kernel's answers, owner_missed.c
 * handles sockets that cannot be queried by name. */
#ifndef NETOBS_DAEMON_OWNER_OWNER_THREAD_H
#define NETOBS_DAEMON_OWNER_OWNER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/owner/owner_lookup.h"
#include "daemon/owner/owner_queue.h"
#include "daemon/owner/procfs.h"
#include "daemon/owner/sockdiag.h"

#define OWNER_DUMP_MAX 256u

enum owner_state_flag {
	OWNER_IN_RETRY_LIST = 0x01,	 /* slot is in the retry list */
	OWNER_IN_UNRESOLVED_LIST = 0x02, /* slot is in the list of sockets without a known process */
	OWNER_IN_CURRENT_SCAN = 0x04,	 /* was in that list when the present walk began */
	OWNER_NEEDS_PROCESS = 0x08,	 /* has a socket with an inode; the process is being searched */
	OWNER_RECHECKED = 0x10,		 /* was queried again after its first answer */
	OWNER_NO_SOCKET = 0x20,		 /* no socket was found, by name or by dump */
};

/* State of a slot, in addition to its record. */
struct owner_state {
	uint64_t cookie;   /* cookie of the socket when a process last held it, 0 none yet */
	uint64_t retry_ms; /* time of the next retry, 0 never */
	uint64_t backoff_until_ms; /* backoff: no walk is started for this slot before then */
	uint32_t inode;	   /* inode of the socket, 0 none */
	uint32_t ifindex;
	uint32_t request_number;	   /* number of the last question taken when the kernel was queried */
	int32_t fd;
	uint8_t flags;	      /* enum owner_state_flag */
	uint8_t retries;      /* retries since the question */
	uint8_t failed_scans; /* walks that did not find the process */
};

struct owner_slot_list {
	uint32_t *slots; /* capacity: all slots */
	uint32_t count;
};

/* An endpoint that was not found by name. */
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
	uint64_t now_ms;	    /* monotonic time of the present turn */
	uint64_t refresh_ms;	    /* the configured limit */

	struct owner_slot_list retries;
	uint64_t retries_due; /* earliest retry, 0 none */

	struct owner_slot_list unresolved;
	bool scanning;
	uint64_t scan_due, walk_us; /* earliest time of the next walk; time spent in the present one */

	bool refreshing;
	uint32_t refresh_word;		  /* next word of the wanted bits to examine */
	uint64_t refresh_due, refresh_us; /* 0: no answer was read lately */
	uint64_t refresh_began;
	bool refresh_any;

	struct owner_dump_entry dump_entries[OWNER_DUMP_MAX];
	uint32_t dump_count;
	uint64_t dump_due;

	struct {
		_Atomic uint64_t answered, no_socket, no_process, processes, unaccepted, refreshed, refresh_late,
		    evicted, scans, scan_links, dumps, errors, hidden;
	} counters;
};

/* Counters have one writer and may be read at any time. */
static inline void
counter_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* For the network namespace of the calling thread.  NULL with errno. */
struct owner_thread *owner_thread_new(struct owner_queue *queue, const struct owner_lookup_limits *limits);
void owner_thread_free(struct owner_thread *thread);
size_t owner_thread_memory(uint32_t slots);

/* Thread function: returns when mailbox->stop is set. */
void *owner_thread_main(void *worker);

/* Monotonic clock; all fields that end in _ms use it. */
uint64_t clock_monotonic_us(void);

/* owner_look.c: handles a new question about a slot, whose record may be another endpoint's. */
void owner_resolve_request(struct owner_thread *thread, uint32_t slot, const struct owner_request *request);

/* Queries the kernel again. */
void owner_resolve_again(struct owner_thread *thread, uint32_t slot);

/* The socket of a slot was found by a dump. */
void owner_resolve_from_dump(struct owner_thread *thread, uint32_t slot, const struct sockdiag_socket *socket);

/* Tries the remembered inodes for a slot without a process; true if the search is over. */
bool owner_resolve_process(struct owner_thread *thread, uint32_t slot);

/* A complete walk has not found the process. */
void owner_resolve_set_unknown(struct owner_thread *thread, uint32_t slot);

/* owner_missed.c: queues an endpoint for the next dump; false if the queue is full. */
bool owner_dump_add(struct owner_thread *thread, uint32_t slot, const struct owner_key *key);

/* Looks for all queued endpoints in the socket tables. */
void owner_dump_run(struct owner_thread *thread);

#endif
