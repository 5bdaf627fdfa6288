/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/base/thread.h"

#include <signal.h>

int
thread_start(pthread_t *thread, void *(*main_function)(void *context), void *context)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, main_function, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
