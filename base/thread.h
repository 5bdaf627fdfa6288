/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads beside the main thread, which handles all signals. */
#ifndef NETOBS_BASE_THREAD_H
#define NETOBS_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum thread_role {
	THREAD_WORKER, /* captures and observes frames */
	THREAD_OWNER,  /* looks up processes */
	THREAD_READER, /* decompresses capture files */
};

/* Gives up what a thread of this role does not need; called in the thread, before its main function.  False: the thread
 * must not run. */
typedef bool thread_confine(void *context, enum thread_role role);

/* Sets the function that confines later threads; NULL for none. */
void thread_set_confine(thread_confine *confine, void *context);

/* Starts a thread with all signals blocked, and waits until it is confined.  Returns 0 or an error number. */
int thread_start(pthread_t *thread, enum thread_role role, void *(*main_function)(void *context), void *context);

/* -------------------------------------------------------------------------------------------------------- fair lock */

/*
 * A fair lock between a thread and others that occasionally read or change its data.
 *
 * The thread holds its lock while it works and releases it while it waits for events (see loop.h).  Another thread that
 * holds the lock may read and change everything that the first thread uses.  There are two mutexes, so that a busy
 * thread cannot take the lock again before the threads that already wait for it.
 *
 * A NULL lock is never taken: for a thread whose data no other thread accesses.
 */

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
