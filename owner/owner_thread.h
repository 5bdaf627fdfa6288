/* SPDX-License-Identifier: BSD-2-Clause */
/* The lookup thread: owner_thread.c is its main loop, owner_resolve.c evaluates the kernel's replies, owner_dump.c
 * handles sockets that cannot be queried by key. */
#ifndef NETOBS_OWNER_OWNER_THREAD_H
#define NETOBS_OWNER_OWNER_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "owner/owner_lookup.h"
#include "owner/owner_queue.h"
#include "owner/procfs.h"
#include "owner/sockdiag.h"

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

/* For the network namespace of the calling thread.  NULL with errno. */
struct owner_thread *owner_thread_new(struct owner_queue *queue, const struct owner_lookup_limits *limits);
void owner_thread_free(struct owner_thread *thread);
size_t owner_thread_memory(uint32_t slots);

/* Thread function: returns when queue->stop is set. */
void *owner_thread_main(void *thread);

/* owner_resolve.c: handles a request for a slot, whose record may be another endpoint's. */
void owner_resolve_request(struct owner_thread *thread, uint32_t slot, const struct owner_request *request);

/* Queries the kernel again. */
void owner_resolve_again(struct owner_thread *thread, uint32_t slot);

/* The socket of a slot was found by a dump. */
void owner_resolve_from_dump(struct owner_thread *thread, uint32_t slot, const struct sockdiag_socket *socket);

/* Tries the hints of procfs for a slot without a process; false if the process is still unknown. */
bool owner_resolve_process(struct owner_thread *thread, uint32_t slot);

/* A complete scan has not found the process. */
void owner_resolve_set_unknown(struct owner_thread *thread, uint32_t slot);

/* owner_dump.c: queues an endpoint for the next dump; false if the queue is full. */
bool owner_dump_add(struct owner_thread *thread, uint32_t slot, const struct owner_key *key);

/* Dumps the socket tables and looks up all queued endpoints in them. */
void owner_dump_run(struct owner_thread *thread);

#endif
