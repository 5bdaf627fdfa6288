/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fair lock between a thread and others that occasionally read or change its data.
 *
 * The thread holds its lock while it works and releases it while it waits for events (see loop.h).  Another thread that
 * holds the lock may read and change everything that the first thread uses.  There are two mutexes, so that a busy
 * thread cannot take the lock again before the threads that already wait for it.
 *
 * A NULL lock is never taken: for a thread whose data no other thread accesses.
 */
#ifndef NETOBS_BASE_FAIR_LOCK_H
#define NETOBS_BASE_FAIR_LOCK_H

#include <pthread.h>
#include <stddef.h>

struct fair_lock {
	pthread_mutex_t turnstile; /* held while waiting for `mutex` */
	pthread_mutex_t mutex;	   /* held while working on the data */
};

#define FAIR_LOCK_INITIALIZER {.turnstile = PTHREAD_MUTEX_INITIALIZER, .mutex = PTHREAD_MUTEX_INITIALIZER}

static inline void
fair_lock_acquire(struct fair_lock *lock)
{
	if (lock == NULL)
		return;
	pthread_mutex_lock(&lock->turnstile);
	pthread_mutex_lock(&lock->mutex);
	pthread_mutex_unlock(&lock->turnstile);
}

static inline void
fair_lock_release(struct fair_lock *lock)
{
	if (lock != NULL)
		pthread_mutex_unlock(&lock->mutex);
}

#endif
