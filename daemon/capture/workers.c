/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/capture/workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/capture/fanout.h"
#include "daemon/capture/live.h"
#include "daemon/capture/replay.h"
#include "daemon/host/view.h"
#include "daemon/observe/batch.h"
#include "probes/fire.h"
#include "probes/print/print.h"

unsigned
workers_wanted(const struct config *config)
{
	return config->files[0] != NULL ? 1 : config->workers;
}

static bool
out_of_memory(void)
{
	log_error("out of memory");
	return false;
}

/* --------------------------------------------------------------------------------------------------------- opening */

/* A bell's callback. */
static void
stop(void *loop)
{
	loop_stop(loop);
}

/* Opens the objects that only a worker with its own thread needs. */
static bool
open_loop(struct worker *worker)
{
	if (worker->number == 0) {
		worker->loop = worker->all->loop;
		return true;
	}
	worker->own_guard = (struct guard)GUARD_INITIALIZER;
	worker->guard = &worker->own_guard;
	worker->loop = loop_new();
	if (worker->loop == NULL)
		return false;
	loop_guard(worker->loop, worker->guard);
	worker->stop = loop_bell(worker->loop, stop, worker->loop);
	return worker->stop != NULL || out_of_memory();
}

static bool
open_interfaces(struct worker *worker)
{
	const struct config *config = worker->all->config;
	const struct live_share share = {.number = worker->number, .fanout = worker->all->fanout};

	worker->interfaces = interfaces_new();
	if (worker->interfaces == NULL)
		return out_of_memory();
	if (strcmp(config->interfaces[0], "any") == 0) {
		worker->uppers = uppers_new(worker->interfaces);
		if (worker->uppers == NULL)
			return out_of_memory();
	}
	worker->rtnl = rtnl_open(worker->loop, worker->locals, worker->interfaces, worker->uppers);
	if (worker->rtnl != NULL)
		worker->input = live_open(config, worker->loop, worker->interfaces, &share);
	return worker->input != NULL;
}

static bool
open_input(struct worker *worker)
{
	const struct config *config = worker->all->config;

	worker->locals = locals_new(config->locals, config->local_count);
	if (worker->locals == NULL)
		return out_of_memory();
	if (config->files[0] == NULL)
		return open_interfaces(worker);
	worker->input = replay_open(config, worker->loop);
	return worker->input != NULL;
}

/* Opens the objects shared by several workers. */
static bool
open_common(struct workers *workers)
{
	size_t interfaces = 0;

	if (workers->count == 1)
		return true;
	while (workers->config->interfaces[interfaces] != NULL)
		interfaces++;
	workers->fanout = fanout_new(interfaces);
	workers->sequences = sequences_new();
	workers->ended = loop_bell(workers->loop, stop, workers->loop);
	return (workers->fanout != NULL && workers->sequences != NULL && workers->ended != NULL) || out_of_memory();
}

struct workers *
workers_open(const struct config *config, struct loop *loop)
{
	unsigned count = workers_wanted(config);
	struct workers *workers = calloc(1, sizeof *workers + count * sizeof workers->each[0]);
	bool good;

	if (workers == NULL) {
		out_of_memory();
		return NULL;
	}
	workers->config = config;
	workers->loop = loop;
	workers->count = count;
	good = open_common(workers);
	for (unsigned i = 0; i < count; i++) {
		struct worker *worker = &workers->each[i];

		worker->all = workers;
		worker->number = i;
		good = good && open_loop(worker) && open_input(worker);
	}
	if (good)
		return workers;
	workers_free(workers);
	return NULL;
}

bool
workers_begin(struct workers *workers)
{
	for (unsigned i = 0; i < workers->count; i++)
		if (!input_begin(workers->each[i].input))
			return false;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- preparing */

static bool
prepare_printer(struct worker *worker, const bool chosen[])
{
	const struct worker *first = &worker->all->each[0];

	if (worker->all->config->print == PRINT_OFF)
		return true;
	if (worker == first)
		worker->printer = printer_new(STDOUT_FILENO, worker->all->config->print, chosen);
	else
		worker->printer = printer_beside(first->printer);
	return worker->printer != NULL || out_of_memory();
}

/* Live: looks up owners of this host's sockets.  Failure is not fatal. */
static void
prepare_owners(struct worker *worker, uint64_t seed)
{
	const struct config *config = worker->all->config;
	struct owners_limits limits = owners_limits_for(worker->all->count);

	if (config->files[0] != NULL || !config->owners)
		return;
	worker->owners = owners_new(&limits, seed);
	if (worker->owners == NULL && errno != ENOTSUP)
		log_warning("processes cannot be looked up: %s", strerror(errno));
	observer_set_owners(worker->observer, worker->owners);
}

static bool
prepare_observer(struct worker *worker, enum view_kind view)
{
	const struct workers *all = worker->all;
	const struct observer_share share = {worker->number, all->count, all->sequences};
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
		log_warning("no random numbers available: an attacker could predict the hash of the connection table");
	worker->observer = observer_new(all->config, view, worker->locals, worker->printer, seed, &share);
	if (worker->observer == NULL) {
		log_error("not enough memory for %u connections: %s; reduce --max-flows",
			  (unsigned)all->config->limits.flows, strerror(errno));
		return false;
	}
	prepare_owners(worker, seed);
	observer_leave_out_copies(worker->observer, worker->uppers);
	worker->batch = batch_new(worker->observer, worker->printer);
	return worker->batch != NULL || out_of_memory();
}

bool
workers_prepare(struct workers *workers, const bool chosen[])
{
	const struct config *config = workers->config;
	size_t count;
	const int *link_types = input_link_types(workers->each[0].input, &count);
	enum view_kind view = view_resolve(config, link_types, count);

	if (view == VIEW_HOST && config->files[0] != NULL && !view_is_told(config, link_types, count))
		log_warning("no endpoint is known to be local: give --local PREFIX");
	for (unsigned i = 0; i < workers->count; i++)
		if (!prepare_printer(&workers->each[i], chosen) || !prepare_observer(&workers->each[i], view))
			return false;
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- running */

static void *
work(void *context)
{
	struct worker *worker = context;

	guard_enter(worker->guard);
	worker->result = input_run(worker->input, worker->batch);
	guard_leave(worker->guard);
	bell_ring(worker->all->ended);
	return NULL;
}

/* Signals are handled by the main thread. */
static bool
start(struct worker *worker)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	worker->started = error == 0;
	if (error != 0)
		log_error("cannot start a worker: %s", strerror(error));
	return worker->started;
}

enum input_result
workers_run(struct workers *workers)
{
	struct worker *first = &workers->each[0];
	bool started = true;

	for (unsigned i = 1; i < workers->count && started; i++)
		started = start(&workers->each[i]);
	first->result = started ? input_run(first->input, first->batch) : INPUT_FAILED;
	for (unsigned i = 1; i < workers->count; i++)
		if (workers->each[i].started)
			bell_ring(workers->each[i].stop);
	for (unsigned i = 0; i < workers->count; i++) {
		struct worker *worker = &workers->each[i];

		if (worker->started)
			pthread_join(worker->thread, NULL);
		worker->started = false;
		observer_finish(worker->observer);
		if (worker->result != INPUT_DONE)
			first->result = worker->result;
	}
	return first->result;
}

void
workers_pause(struct workers *workers)
{
	for (unsigned i = 0; i < workers->count; i++)
		guard_enter(workers->each[i].guard);
}

void
workers_resume(struct workers *workers)
{
	for (unsigned i = workers->count; i-- > 0;)
		guard_leave(workers->each[i].guard);
}

/* ----------------------------------------------------------------------------------------------------------- ending */

static int
release(struct worker *worker)
{
	int error;

	batch_free(worker->batch);
	observer_free(worker->observer);
	owners_free(worker->owners);
	error = printer_free(worker->printer);
	input_free(worker->input);
	rtnl_close(worker->rtnl);
	uppers_free(worker->uppers);
	interfaces_free(worker->interfaces);
	locals_free(worker->locals);
	bell_free(worker->stop);
	if (worker->number > 0)
		loop_free(worker->loop);
	return error;
}

int
workers_free(struct workers *workers)
{
	int error = 0;

	if (workers == NULL)
		return 0;
	/* The first printer holds what all of them share, so it is freed last. */
	for (unsigned i = workers->count; i-- > 0;) {
		int failed = release(&workers->each[i]);

		error = failed != 0 ? failed : error;
	}
	bell_free(workers->ended);
	sequences_free(workers->sequences);
	fanout_free(workers->fanout);
	free(workers);
	return error;
}
