/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads beside the main thread, which handles all signals. */
#ifndef NETOBS_BASE_THREAD_H
#define NETOBS_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

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

#endif
