/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/workers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/high_sockets.h"
#include "base/log.h"
#include "base/output.h"
#include "base/thread.h"
#include "capture/batch.h"
#include "capture/input.h"
#include "capture/live_pcap.h"
#include "config/options.h"
#include "host/locality.h"
#include "observe/ring_listener.h"
#include "probes/fire.h"
#include "probes/print/print.h"
#include "probes/print/writer.h"

/* Descriptors, besides those of the sockets that capture: of the process, without clients; of a worker, with its
 * thread that looks up processes; those of both without which nothing can be observed. */
#define PROCESS_DESCRIPTORS	  32
#define WORKER_DESCRIPTORS	  14
#define PROCESS_DESCRIPTORS_LEAST 16
#define WORKER_DESCRIPTORS_LEAST  7

/* Longest wait for a reader of the output that does not read, when a run ends. */
#define FINISH_OUTPUT_MS 400

unsigned
workers_count_for(const struct config *config)
{
	return config->capture_paths[0] != NULL ? 1 : config->workers;
}

/* --------------------------------------------------------------------------------------------------------- opening */

/* Callback of the wakeups. */
static void
worker_stop_loop(void *loop)
{
	loop_stop(loop);
}

/* Opens the objects that only a worker with its own thread needs. */
static bool
worker_open_loop(struct worker *worker)
{
	if (worker->index == 0) {
		worker->loop = worker->workers->loop;
		return true;
	}
	worker->own_lock = (struct fair_lock)FAIR_LOCK_INITIALIZER;
	worker->lock = &worker->own_lock;
	worker->loop = loop_new();
	if (worker->loop == NULL)
		return false;
	loop_set_lock(worker->loop, worker->lock);
	worker->stop_wakeup = wakeup_new(worker->loop, worker_stop_loop, worker->loop);
	return worker->stop_wakeup != NULL || log_out_of_memory();
}

static bool
worker_open_interfaces(struct worker *worker)
{
	const struct config *config = worker->workers->config;
	const struct live_partition partition = {
	    .number = worker->index, .fanout = worker->workers->fanout, .may_reopen = worker->workers->may_reopen};

	worker->interfaces = interfaces_new();
	if (worker->interfaces == NULL)
		return log_out_of_memory();
	if (strcmp(config->interface_names[0], "any") == 0) {
		worker->lower_dedup = lower_dedup_new(worker->interfaces);
		if (worker->lower_dedup == NULL)
			return log_out_of_memory();
	}
	worker->rtnl = rtnl_open(worker->loop, worker->local_addrs, worker->interfaces, worker->lower_dedup);
	if (worker->rtnl != NULL)
		worker->input = live_open(config, worker->loop, worker->interfaces, &partition);
	return worker->input != NULL;
}

static bool
worker_open_input(struct worker *worker)
{
	const struct config *config = worker->workers->config;

	worker->local_addrs = local_addrs_new(config->local_prefixes, config->local_prefix_count);
	if (worker->local_addrs == NULL)
		return log_out_of_memory();
	if (config->capture_paths[0] == NULL)
		return worker_open_interfaces(worker);
	worker->input = replay_open(config, worker->loop);
	return worker->input != NULL;
}

static unsigned
workers_own_descriptors(const struct workers *workers)
{
	return PROCESS_DESCRIPTORS + workers->count * WORKER_DESCRIPTORS;
}

unsigned
workers_spare_descriptors(const struct workers *workers)
{
	unsigned own = workers_own_descriptors(workers), others = high_sockets_others();

	return others > own ? others - own : 0;
}

/* In immediate mode a worker may open an interface a second time before it closes the first socket. */
static bool
workers_reserve_descriptors(const struct workers *workers, unsigned interfaces, unsigned clients)
{
	unsigned count = workers->count;

	return high_sockets_reserve(count * (interfaces + workers->config->immediate),
				    workers_own_descriptors(workers) + clients,
				    PROCESS_DESCRIPTORS_LEAST + count * WORKER_DESCRIPTORS_LEAST);
}

/* Opens the objects shared by several workers. */
static bool
workers_open_shared(struct workers *workers, unsigned client_descriptors)
{
	size_t interfaces = 0;

	while (workers->config->interface_names[interfaces] != NULL)
		interfaces++;
	if (interfaces > 0 && !workers_reserve_descriptors(workers, (unsigned)interfaces, client_descriptors))
		return false;
	if (workers->count == 1)
		return true;
	workers->fanout = fanout_new(interfaces);
	workers->sequences = firing_sequences_new();
	workers->ended_wakeup = wakeup_new(workers->loop, worker_stop_loop, workers->loop);
	return (workers->fanout != NULL && workers->sequences != NULL && workers->ended_wakeup != NULL) ||
	       log_out_of_memory();
}

struct workers *
workers_open(const struct config *config, struct loop *loop, bool may_reopen, unsigned client_descriptors)
{
	unsigned count = workers_count_for(config);
	struct workers *workers = calloc(1, sizeof *workers + count * sizeof workers->worker[0]);
	bool good;

	if (workers == NULL) {
		log_out_of_memory();
		return NULL;
	}
	workers->config = config;
	workers->loop = loop;
	workers->may_reopen = may_reopen;
	workers->count = count;
	good = workers_open_shared(workers, client_descriptors);
	for (unsigned i = 0; i < count; i++) {
		struct worker *worker = &workers->worker[i];

		worker->workers = workers;
		worker->index = i;
		good = good && worker_open_loop(worker) && worker_open_input(worker);
	}
	if (good)
		return workers;
	workers_free(workers);
	return NULL;
}

bool
workers_start_inputs(struct workers *workers)
{
	for (unsigned i = 0; i < workers->count; i++)
		if (!input_start(workers->worker[i].input))
			return false;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- preparing */

static bool
worker_make_printer(struct worker *worker, const bool selected[])
{
	const struct config *config = worker->workers->config;
	const struct worker *first = &worker->workers->worker[0];
	/* A file can wait for a slow reader, the frames of an interface cannot. */
	const struct writer_policy policy = {.write = output_write,
					     .stopping = loop_stop_requested,
					     .drop = config->capture_paths[0] == NULL};

	if (config->print == PRINT_OFF)
		return true;
	if (worker == first)
		worker->printer = printer_new(output_fd(OUTPUT_STDOUT), config->print, selected);
	else
		worker->printer = printer_new_shared(first->printer);
	return (worker->printer != NULL && printer_set_policy(worker->printer, &policy) &&
		(config->print_fields == NULL || printer_set_fields(worker->printer, config->print_fields))) ||
	       log_out_of_memory();
}

/* Live: looks up owners of this host's sockets.  Failure is not fatal. */
static void
worker_make_owner_lookup(struct worker *worker, uint64_t seed)
{
	const struct config *config = worker->workers->config;
	struct owner_lookup_limits limits = owner_lookup_limits_for(worker->workers->count);

	if (config->capture_paths[0] != NULL || !config->lookup_owners)
		return;
	worker->owner_lookup = owner_lookup_new(&limits, seed);
	if (worker->owner_lookup == NULL)
		log_warning("processes cannot be looked up: %s", strerror(errno));
	if (worker->owner_lookup != NULL && config->wait_owners)
		owner_lookup_set_waiting(worker->owner_lookup, true);
	if (worker->owner_lookup != NULL)
		log_debug(DEBUG_OWNER, "worker %u looks up sockets of network namespace %lld, at most %u endpoints",
			  worker->index, (long long)owner_lookup_netns_inode(worker->owner_lookup),
			  (unsigned)limits.endpoints);
	observer_set_owners(worker->observer, worker->owner_lookup);
}

struct ring_limits
workers_ring_limits(const struct config *config, unsigned workers)
{
	uint64_t memory = config->flight_memory / workers;

	return (struct ring_limits){
	    .memory = memory <= RING_MEMORY_MAX ? (size_t)memory : RING_MEMORY_MAX + 1, /* which ring_new() refuses */
	    .snap = config->flight_snap,
	    .bytes = config->flight_bytes,
	    .flows = observer_flow_limit(config, workers),
	};
}

/* With --write the ring is that of the excerpts. */
static bool
worker_make_ring(struct worker *worker, uint64_t seed)
{
	const struct config *config = worker->workers->config;
	unsigned workers = worker->workers->count;
	struct ring_limits limits = workers_ring_limits(config, workers);
	unsigned long long size = (unsigned long long)config->flight_memory;

	if (size == 0 || config->writes[0] != NULL)
		return true;
	limits.seed = seed;
	worker->ring = ring_new(&limits);
	if (worker->ring == NULL && errno == EINVAL)
		log_error("--flight-memory %llu: each of %u workers needs at least %zu bytes, and at most %zu are "
			  "possible", size, workers, RING_MEMORY_MIN, RING_MEMORY_MAX);
	else if (worker->ring == NULL)
		log_error("not enough memory for the flight memory, %llu MiB: %s; reduce --flight-memory", size >> 20,
			  strerror(errno));
	else
		ring_listener_attach(worker->ring, worker->observer, worker->owner_lookup);
	return worker->ring != NULL;
}

static bool
worker_make_observer(struct worker *worker, enum view_mode view)
{
	const struct workers *all = worker->workers;
	const struct observer_partition partition = {worker->index, all->count, all->sequences};
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
		log_warning("no random numbers available: an attacker could predict the hash of the connection table");
	worker->observer = observer_new(all->config, view, worker->local_addrs, worker->printer, seed, &partition);
	if (worker->observer == NULL) {
		log_error("not enough memory for %u connections: %s; reduce --max-flows",
			  (unsigned)all->config->flow_limits.flows, strerror(errno));
		return false;
	}
	worker_make_owner_lookup(worker, seed);
	observer_set_lower_dedup(worker->observer, worker->lower_dedup);
	if (!worker_make_ring(worker, seed))
		return false;
	observer_sink_init(&worker->sink, worker->observer, worker->printer);
	worker->batch = batch_new(&worker->sink.sink);
	return worker->batch != NULL || log_out_of_memory();
}

bool
workers_make_observers(struct workers *workers, const bool selected[])
{
	const struct config *config = workers->config;
	size_t count;
	const int *link_types = input_link_types(workers->worker[0].input, &count);
	enum view_mode view = view_resolve(config, link_types, count);

	if (view == VIEW_HOST && config->capture_paths[0] != NULL &&
	    !view_knows_local_endpoints(config, link_types, count))
		log_warning("no endpoint is known to be local: give --local PREFIX");
	log_debug(DEBUG_CAPTURE, "view %s%s",
		  view == VIEW_HOST ? "host" : view == VIEW_BOTH ? "both" : "monitor",
		  config->view == VIEW_AUTO ? ", selected automatically" : "");
	for (unsigned i = 0; i < workers->count; i++)
		if (!worker_make_printer(&workers->worker[i], selected) ||
		    !worker_make_observer(&workers->worker[i], view))
			return false;
	return true;
}

void
workers_log_unmatched_prefixes(const struct workers *workers)
{
	const struct option_row *row = options_find_setting("local");
	char buffer[OPTIONS_VALUE_MAX];

	for (size_t i = 0; i < workers->config->local_prefix_count; i++)
		if (local_addrs_prefix_is_unmatched(workers->worker[0].local_addrs, i))
			log_warning("--local %s matches no endpoint of the capture",
				    row->kind->get(workers->config, row, i, buffer));
}

static void
workers_format_time(uint64_t ns, char text[32])
{
	time_t seconds = (time_t)(ns / NANOSECONDS);
	struct tm tm;
	size_t length = gmtime_r(&seconds, &tm) != NULL ? strftime(text, 20, "%Y-%m-%dT%H:%M:%S", &tm) : 0;

	snprintf(text + length, 32 - length, ".%09uZ", (unsigned)(ns % NANOSECONDS));
}

void
workers_log_empty_window(const struct workers *workers)
{
	uint64_t first, last;
	char first_text[32], last_text[32];

	if (!observer_window_is_empty(workers->worker[0].observer, &first, &last) || first == 0)
		return;
	workers_format_time(first, first_text);
	workers_format_time(last, last_text);
	log_warning("no packet is between --from and --to: the first one is of %s, the last one that was read of %s",
		    first_text, last_text);
}

/* ---------------------------------------------------------------------------------------------------------- running */

static void *
worker_main(void *context)
{
	struct worker *worker = context;

	fair_lock_acquire(worker->lock);
	worker->result = input_run(worker->input, worker->batch);
	fair_lock_release(worker->lock);
	wakeup_send(worker->workers->ended_wakeup);
	return NULL;
}

static bool
worker_start_thread(struct worker *worker)
{
	int error = thread_start(&worker->thread, THREAD_WORKER, worker_main, worker);

	worker->started = error == 0;
	if (error != 0)
		log_error("cannot start a worker: %s", strerror(error));
	return worker->started;
}

enum input_result
workers_run(struct workers *workers)
{
	struct worker *first = &workers->worker[0];
	bool started = true;

	for (unsigned i = 1; i < workers->count && started; i++)
		started = worker_start_thread(&workers->worker[i]);
	log_debug(DEBUG_CAPTURE, "capture starts; workers: %u", workers->count);
	first->result = started ? input_run(first->input, first->batch) : INPUT_FAILED;
	for (unsigned i = 1; i < workers->count; i++)
		if (workers->worker[i].started)
			wakeup_send(workers->worker[i].stop_wakeup);
	for (unsigned i = 0; i < workers->count; i++) {
		struct worker *worker = &workers->worker[i];

		if (worker->started)
			pthread_join(worker->thread, NULL);
		worker->started = false;
		observer_end_input(worker->observer);
		if (worker->result != INPUT_DONE)
			first->result = worker->result;
	}
	return first->result;
}

void
workers_finish_output(struct workers *workers)
{
	uint64_t end = clock_monotonic_ns() / 1000000 + FINISH_OUTPUT_MS;

	for (unsigned i = 0; i < workers->count; i++) {
		uint64_t now = clock_monotonic_ns() / 1000000;

		if (workers->worker[i].printer != NULL)
			printer_finish(workers->worker[i].printer, now < end ? end - now : 0);
	}
}

void
workers_pause(struct workers *workers)
{
	for (unsigned i = 0; i < workers->count; i++)
		fair_lock_acquire(workers->worker[i].lock);
}

void
workers_resume(struct workers *workers)
{
	for (unsigned i = workers->count; i-- > 0;)
		fair_lock_release(workers->worker[i].lock);
}

/* ----------------------------------------------------------------------------------------------------------- ending */

static int
worker_release(struct worker *worker)
{
	int error;

	batch_free(worker->batch);
	observer_free(worker->observer);
	ring_free(worker->ring);
	owner_lookup_free(worker->owner_lookup);
	error = printer_free(worker->printer);
	input_free(worker->input);
	rtnl_close(worker->rtnl);
	lower_dedup_free(worker->lower_dedup);
	interfaces_free(worker->interfaces);
	local_addrs_free(worker->local_addrs);
	wakeup_free(worker->stop_wakeup);
	if (worker->index > 0)
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
		int failed = worker_release(&workers->worker[i]);

		error = failed != 0 ? failed : error;
	}
	wakeup_free(workers->ended_wakeup);
	firing_sequences_free(workers->sequences);
	fanout_free(workers->fanout);
	free(workers);
	return error;
}
