/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between a thread that works and whoever wants to look at its work now and then.
 *
 * The thread holds its guard while it works and lets go of it while it waits for events (loop.h does that).  Whoever
 * else has it meanwhile may read and change all that the thread owns.  There are two locks, so that a thread that
 * always has something to do cannot take the guard again before those who wait have had it.
 *
 * NULL is the guard of a thread that nobody else looks at: nothing is done.
 */
#ifndef NETOBS_DAEMON_BASE_FAIR_LOCK_H
#define NETOBS_DAEMON_BASE_FAIR_LOCK_H

#include <pthread.h>
#include <stddef.h>

struct guard {
	pthread_mutex_t turn; /* held by who is next */
	pthread_mutex_t work; /* held by who works or looks */
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
