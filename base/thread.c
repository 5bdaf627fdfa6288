/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/thread.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>

static struct {
	thread_confine *confine;
	void *context;
} thread_hook;

/* Valid until `confined` is posted. */
struct thread_begin {
	enum thread_role role;
	void *(*main_function)(void *context);
	void *context;
	bool may_run;
	sem_t confined;
};

void
thread_set_confine(thread_confine *confine, void *context)
{
	thread_hook.confine = confine;
	thread_hook.context = context;
}

static void *
thread_main(void *context)
{
	struct thread_begin *begin = context;
	void *(*main_function)(void *) = begin->main_function;
	void *main_context = begin->context;
	bool may_run = thread_hook.confine == NULL || thread_hook.confine(thread_hook.context, begin->role);

	begin->may_run = may_run;
	sem_post(&begin->confined);
	return may_run ? main_function(main_context) : NULL;
}

int
thread_start(pthread_t *thread, enum thread_role role, void *(*main_function)(void *context), void *context)
{
	struct thread_begin begin = {.role = role, .main_function = main_function, .context = context};
	sigset_t all, before;
	int error;

	sem_init(&begin.confined, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, thread_main, &begin);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0) {
		while (sem_wait(&begin.confined) != 0)
			continue; /* interrupted by a signal */
		if (!begin.may_run) {
			pthread_join(*thread, NULL);
			error = EPERM;
		}
	}
	sem_destroy(&begin.confined);
	return error;
}
