/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads beside the main thread, which handles all signals. */
#ifndef NETOBS_DAEMON_BASE_THREAD_H
#define NETOBS_DAEMON_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread with all signals blocked.  Returns 0 or an error number. */
int thread_start(pthread_t *thread, void *(*main_function)(void *context), void *context);

#endif
