/* SPDX-License-Identifier: BSD-2-Clause */
/* The look-up thread: owner_worker.c is its day, owner_look.c what it makes of the kernel's answers, owner_missed.c the
 * sockets that could not be asked for by name. */
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
	WORK_IN_RETRIES = 0x01,	 /* its slot is in the list of retries */
	WORK_IN_HOMELESS = 0x02, /* and in that of sockets whose process is sought */
	WORK_WALKED = 0x04,	 /* was in that list when the present walk began */
	WORK_SEEKS = 0x08,	 /* a socket with an inode, and no process yet */
	WORK_SETTLED = 0x10,	 /* was looked at again after its first answer */
	WORK_GIVEN_UP = 0x20,	 /* no socket found, by name or in the whole table */
};

/* What the thread knows of a slot beside its record. */
struct owner_work {
	uint64_t cookie;   /* the socket that a process held when last seen, 0 for none yet */
	uint64_t retry_ms; /* when to look again, 0 for never */
	uint64_t hopeless_ms; /* until then no walk is begun for it */
	uint32_t inode;	   /* whose process is sought or known, 0 for none */
	uint32_t ifindex;
	uint32_t as_of;	   /* questions taken out when the kernel was last asked */
	int32_t fd;
	uint8_t flags; /* enum owner_work_flag */
	uint8_t tries; /* looks since the question that found no process */
	uint8_t walks; /* walks that found no process */
};

struct owner_list {
	uint32_t *slots; /* room for all */
	uint32_t count;
};

/* An endpoint that was not found by name. */
struct owner_missed {
	struct owner_key key;
	uint32_t slot, ifindex;
	int score; /* of `best`; -1: none */
	bool ambiguous;
	struct sockdiag_socket best;
};

struct owner_worker {
	struct owner_mailbox *mailbox;
	struct sockdiag *diag;
	struct procfs *procfs;
	struct owner_work *work; /* per slot */
	uint64_t now_ms;	 /* monotonic, when this turn began */
	uint64_t refresh_ms;	 /* the limit */

	struct owner_list retries;
	uint64_t retries_due; /* of the earliest, 0 for none */

	struct owner_list homeless;
	bool walking;
	uint64_t walk_due, walk_us; /* earliest next walk; time spent in this one */

	bool refreshing;
	uint32_t refresh_word;		  /* next word of the wanted bits */
	uint64_t refresh_due, refresh_us; /* 0: nobody wanted anything lately */
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

/* The thread: returns when mailbox->stop is set. */
void *owner_worker_run(void *worker);

/* The clock of everything that ends in _ms. */
uint64_t owner_worker_clock_us(void);

/* owner_look.c: a new question about a slot, whose record may be another endpoint's. */
void owner_look_anew(struct owner_worker *worker, uint32_t slot, const struct owner_question *question);

/* Asks the kernel again. */
void owner_look(struct owner_worker *worker, uint32_t slot);

/* The kernel has told of the socket of a slot by another way. */
void owner_look_found(struct owner_worker *worker, uint32_t slot, const struct sockdiag_socket *socket);

/* Tries the remembered inodes for a slot that seeks its process; true if it need seek no more. */
bool owner_look_process(struct owner_worker *worker, uint32_t slot);

/* A whole walk has found none. */
void owner_look_give_up(struct owner_worker *worker, uint32_t slot);

/* owner_missed.c: remembers an endpoint for the next dump; false if there is no room. */
bool owner_missed_add(struct owner_worker *worker, uint32_t slot, const struct owner_key *key);

/* Looks for all of them in the whole socket tables. */
void owner_missed_run(struct owner_worker *worker);

#endif
