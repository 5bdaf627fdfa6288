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

#define OWNER_MISSED_MAX 256u

enum owner_work_flag {
	WORK_IN_RETRIES = 0x01,	 /* slot is in the retry list */
	WORK_IN_HOMELESS = 0x02, /* slot is in the list of sockets without a known process */
	WORK_WALKED = 0x04,	 /* was in that list when the present walk began */
	WORK_SEEKS = 0x08,	 /* has a socket with an inode; the process is being searched */
	WORK_SETTLED = 0x10,	 /* was queried again after its first answer */
	WORK_GIVEN_UP = 0x20,	 /* no socket was found, by name or by dump */
};

/* State of a slot, in addition to its record. */
struct owner_work {
	uint64_t cookie;   /* cookie of the socket when a process last held it, 0 none yet */
	uint64_t retry_ms; /* time of the next retry, 0 never */
	uint64_t hopeless_ms; /* backoff: no walk is started for this slot before then */
	uint32_t inode;	   /* inode of the socket, 0 none */
	uint32_t ifindex;
	uint32_t as_of;	   /* number of the last question taken when the kernel was queried */
	int32_t fd;
	uint8_t flags; /* enum owner_work_flag */
	uint8_t tries; /* retries since the question */
	uint8_t walks; /* walks that did not find the process */
};

struct owner_list {
	uint32_t *slots; /* capacity: all slots */
	uint32_t count;
};

/* An endpoint that was not found by name. */
struct owner_missed {
	struct owner_key key;
	uint32_t slot, ifindex;
	int score; /* score of `best`; -1 none */
	bool ambiguous;
	struct sockdiag_socket best;
};

struct owner_worker {
	struct owner_mailbox *mailbox;
	struct sockdiag *diag;
	struct procfs *procfs;
	struct owner_work *work; /* one per slot */
	uint64_t now_ms;	 /* monotonic time of the present turn */
	uint64_t refresh_ms;	 /* the configured limit */

	struct owner_list retries;
	uint64_t retries_due; /* earliest retry, 0 none */

	struct owner_list homeless;
	bool walking;
	uint64_t walk_due, walk_us; /* earliest time of the next walk; time spent in the present one */

	bool refreshing;
	uint32_t refresh_word;		  /* next word of the wanted bits to examine */
	uint64_t refresh_due, refresh_us; /* 0: no answer was read lately */
	uint64_t refresh_began;
	bool refresh_found;

	struct owner_missed missed[OWNER_MISSED_MAX];
	uint32_t missed_count;
	uint64_t dump_due;

	struct {
		_Atomic uint64_t answered, no_socket, no_process, processes, unaccepted, refreshed, refresh_late,
		    evicted, scans, scan_links, dumps, errors, hidden;
	} counters;
};

/* Counters have one writer and may be read at any time. */
static inline void
count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
}

/* For the network namespace of the calling thread.  NULL with errno. */
struct owner_worker *owner_worker_new(struct owner_mailbox *mailbox, const struct owners_limits *limits);
void owner_worker_free(struct owner_worker *worker);
size_t owner_worker_memory(uint32_t slots);

/* Thread function: returns when mailbox->stop is set. */
void *owner_worker_run(void *worker);

/* Monotonic clock; all fields that end in _ms use it. */
uint64_t owner_worker_clock_us(void);

/* owner_look.c: handles a new question about a slot, whose record may be another endpoint's. */
void owner_look_anew(struct owner_worker *worker, uint32_t slot, const struct owner_question *question);

/* Queries the kernel again. */
void owner_look(struct owner_worker *worker, uint32_t slot);

/* The socket of a slot was found by a dump. */
void owner_look_found(struct owner_worker *worker, uint32_t slot, const struct sockdiag_socket *socket);

/* Tries the remembered inodes for a slot without a process; true if the search is over. */
bool owner_look_process(struct owner_worker *worker, uint32_t slot);

/* A complete walk has not found the process. */
void owner_look_give_up(struct owner_worker *worker, uint32_t slot);

/* owner_missed.c: queues an endpoint for the next dump; false if the queue is full. */
bool owner_missed_add(struct owner_worker *worker, uint32_t slot, const struct owner_key *key);

/* Looks for all queued endpoints in the socket tables. */
void owner_missed_run(struct owner_worker *worker);

#endif
