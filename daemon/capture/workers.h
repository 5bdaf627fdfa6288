/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who captures: one worker, or several that share the frames of the interfaces (fanout.h).
 *
 * A worker owns all that its frames touch, from the input to the buffer of the printer, and what is known of this
 * host's addresses and interfaces, so that no frame waits for another thread.  The first one works in the main thread,
 * which serves everybody else as well; with one worker there is no other thread.  Whoever wants to look at a worker, or
 * to change something that it reads, does it within the worker's guard.
 */
#ifndef NETOBS_DAEMON_CAPTURE_WORKERS_H
#define NETOBS_DAEMON_CAPTURE_WORKERS_H

#include <stdbool.h>

#include "daemon/base/fair_lock.h"
#include "daemon/base/loop.h"
#include "daemon/capture/input.h"
#include "daemon/config/config.h"
#include "daemon/host/interfaces.h"
#include "daemon/host/local_addrs.h"
#include "daemon/host/lower_dedup.h"
#include "daemon/host/rtnl.h"
#include "daemon/observe/observer.h"
#include "daemon/owner/owner_lookup.h"

struct workers;

/* What a worker holds, in the order in which it is acquired. */
struct worker {
	struct workers *all;
	unsigned number;
	struct guard *guard; /* NULL: the main thread's */
	struct loop *loop;   /* the main one is borrowed */
	struct locals *locals;
	struct interfaces *interfaces; /* live only, as are the next two */
	struct uppers *uppers;	       /* "any" only */
	struct rtnl *rtnl;
	struct input *input;
	struct printer *printer; /* NULL: nothing is printed */
	struct observer *observer; /* NULL until workers_prepare() */
	struct owners *owners; /* NULL: of nothing, as in a file */
	struct batch *batch;
	/* All but the first: */
	struct guard own_guard;
	pthread_t thread;
	bool started;
	struct bell *stop; /* ends the worker */
	enum input_result result;
};

struct workers {
	const struct config *config;
	struct loop *loop; /* of the main thread, borrowed */
	struct fanout *fanout; /* NULL where there is only one, as are the next two */
	struct sequences *sequences;
	struct bell *ended; /* a worker has ended, which ends the run */
	unsigned count;
	struct worker each[];
};

/* How many a run of this configuration has. */
unsigned workers_wanted(const struct config *config);

/* Opens what is to be observed, once for each.  NULL, with a message logged, where that fails. */
struct workers *workers_open(const struct config *config, struct loop *loop);

/* Reads what comes before the frames, see struct input_class. */
bool workers_begin(struct workers *workers);

/* Makes all that takes no privileges; `chosen`: the probes to print.  False with a message logged. */
bool workers_prepare(struct workers *workers, const bool chosen[]);

/* Observes until there is nothing left, a worker fails, or the loop is stopped. */
enum input_result workers_run(struct workers *workers);

/* Returns as printer_failed().  NULL is fine. */
int workers_free(struct workers *workers);

/* Within the guards of all workers nothing is observed. */
void workers_pause(struct workers *workers);
void workers_resume(struct workers *workers);

#endif
