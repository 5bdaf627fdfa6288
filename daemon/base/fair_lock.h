/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fair lock between a thread and others that occasionally read or change its data.
 *
 * The thread holds its guard while it works and releases it while it waits for events (see loop.h).  Another thread
 * that holds the guard may read and change everything that the owner thread uses.  There are two mutexes, so that a
 * busy thread cannot take the guard again before those already waiting have had it.
 *
 * A NULL guard is never locked: for a thread whose data no other thread accesses.
 */
#ifndef NETOBS_DAEMON_BASE_FAIR_LOCK_H
#define NETOBS_DAEMON_BASE_FAIR_LOCK_H

#include <pthread.h>
#include <stddef.h>

struct guard {
	pthread_mutex_t turn; /* held while waiting for `work` */
	pthread_mutex_t work; /* held while working on the data */
};

#define GUARD_INITIALIZER {.turn = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_MUTEX_INITIALIZER}

static inline void
guard_enter(struct guard *guard)
{
	if (guard == NULL)
		return;
	pthread_mutex_lock(&guard->turn);
	pthread_mutex_lock(&guard->work);
	pthread_mutex_unlock(&guard->turn);
}

static inline void
guard_leave(struct guard *guard)
{
	if (guard != NULL)
		pthread_mutex_unlock(&guard->work);
}

#endif
