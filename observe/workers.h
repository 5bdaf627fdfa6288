/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture threads: one worker, or several that share the frames of the interfaces (live_pcap.h).  A worker owns all
 * that its frames touch, from the input to the printer's buffer, including its own copy of this host's addresses and
 * interfaces, so that no frame waits for another thread.  The first worker runs in the main thread, which also serves
 * requests; with one worker there is no other thread.  Another thread that reads a worker's data, or changes something
 * that it reads, must hold the worker's lock.
 */
#ifndef NETOBS_OBSERVE_WORKERS_H
#define NETOBS_OBSERVE_WORKERS_H

#include <stdbool.h>

#include "base/loop.h"
#include "base/thread.h"
#include "capture/input.h"
#include "config/config.h"
#include "flight/ring.h"
#include "host/interfaces.h"
#include "host/local_addrs.h"
#include "host/lower_dedup.h"
#include "host/rtnl.h"
#include "observe/observer.h"
#include "observe/observer_sink.h"
#include "owner/owner_lookup.h"

struct formula_set;
struct feed_set;
struct record_ring;
struct workers;

/* Resources of a worker, in order of acquisition. */
struct worker {
	struct workers *workers;
	unsigned index;
	struct fair_lock *lock; /* NULL for the main thread's worker */
	struct loop *loop;	/* borrowed for the main thread's worker */
	struct local_addrs *local_addrs;
	struct interfaces *interfaces;	 /* live only, like the next two */
	struct lower_dedup *lower_dedup; /* for "any" only */
	struct rtnl *rtnl;
	struct input *input;
	struct printer *printer;	   /* NULL: printing is disabled */
	struct observer *observer;	   /* NULL until workers_make_observers() */
	struct owner_lookup *owner_lookup; /* NULL: owners are not looked up, as in a replay */
	struct observer_sink sink;	   /* what the frames of the input are handed to, by the batch */
	struct batch *batch;
	struct ring *ring; /* the flight memory, NULL: frames are not kept */
	/* All workers except the first: */
	struct fair_lock own_lock;
	pthread_t thread;
	bool started;
	struct wakeup *stop_wakeup; /* stops the worker's loop */
	enum input_result result;
};

struct workers {
	const struct config *config;
	struct loop *loop;     /* the main thread's loop, borrowed */
	bool may_reopen;       /* the capability to open interfaces is kept */
	struct fanout *fanout; /* NULL if there is only one worker, like the next two */
	struct firing_sequences *sequences;
	struct formula_set *formulas; /* borrowed; NULL if there are none */
	struct feed_set *feeds;	      /* borrowed; NULL if there is no control socket */
	struct record_ring *closed;   /* borrowed; NULL: records of connections that have ended are not kept */
	struct wakeup *ended_wakeup; /* sent when a worker ends, which ends the run */
	unsigned count;
	struct worker worker[];
};

/* Number of workers for this configuration. */
unsigned workers_count_for(const struct config *config);

/* Opens the input of every worker.  `may_reopen`: the capability to open interfaces is kept.
 * As many descriptors as `client_descriptors` remain for clients, if the limit of open files permits that.
 * NULL, with a message logged, on failure. */
struct workers *workers_open(const struct config *config, struct loop *loop, bool may_reopen,
			     unsigned client_descriptors);

/* How many descriptors the workers and the process leave for clients. */
unsigned workers_spare_descriptors(const struct workers *workers);

/* Reads what precedes the frames, see struct input_ops. */
bool workers_start_inputs(struct workers *workers);

/* Creates everything that needs no privileges; `selected`: the probes to print.  False with a message logged. */
bool workers_make_observers(struct workers *workers, const bool selected[]);

/* Limits of the flight memory of each of so many workers. */
struct ring_limits workers_ring_limits(const struct config *config, unsigned workers);

/* Logs that no packet of the replay was in the window of --from and --to. */
void workers_log_empty_window(const struct workers *workers);

/* Logs the prefixes of --local that contain no address of the packets observed so far by a replay. */
void workers_log_unmatched_prefixes(const struct workers *workers);

/* Observes until all input has been read, a worker fails, or the loop is stopped. */
enum input_result workers_run(struct workers *workers);

/* After workers_run(): writes out what --print has buffered. */
void workers_finish_output(struct workers *workers);

/* Returns the printer's error, as printer_error() does.  NULL is allowed. */
int workers_free(struct workers *workers);

/* Takes the locks of all workers, so that nothing is observed until workers_resume(). */
void workers_pause(struct workers *workers);
void workers_resume(struct workers *workers);

#endif
