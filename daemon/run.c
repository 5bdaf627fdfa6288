/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/log_limit.h"
#include "daemon/base/loop.h"
#include "daemon/capture/workers.h"
#include "daemon/confine/privileges.h"
#include "daemon/confine/sandbox.h"
#include "daemon/query/control.h"
#include "daemon/query/metrics.h"
#include "daemon/reload.h"
#include "daemon/service.h"
#include "daemon/stats/stats.h"
#include "daemon/stats/summary.h"
#include "daemon/wait_tracer.h"
#include "probes/manifest.h"
#include "probes/print/probe_list.h"

/* Resources of a run, in order of acquisition; released in reverse order. */
struct run {
	struct config *config;
	struct privileges privileges; /* the target state once everything is open */
	bool chosen[PROBE_COUNT]; /* probes to print */
	struct loop *loop;
	struct service *service;
	struct watch *signals[4];
	struct workers *workers;
	bool observing; /* workers_prepare() has succeeded */
	struct reload *reload; /* NULL until reloads are possible */
	struct insight insight;
	struct control *control; /* NULL: disabled, as is `metrics` */
	struct metrics *metrics;
};

/* --------------------------------------------------------------------------------------------------------- signals */

static void
on_stop(void *context)
{
	struct run *run = context;

	loop_stop(run->loop);
}

static void
on_summary(void *context)
{
	struct run *run = context;

	if (run->observing)
		summary_write(stderr, run->workers);
	else
		log_notice("no counters yet: still starting");
}

static void
on_reload(void *context)
{
	struct run *run = context;

	if (run->reload == NULL) {
		log_warning("reload ignored: still starting");
		return;
	}
	service_reloading(run->service);
	reload_now(run->reload);
	service_reloaded(run->service);
}

/* SIGHUP reloads the configuration file.  Without one it stops the run, because it means that the terminal is gone,
 * unless it is ignored (nohup(1)). */
static bool
watch_hangup(struct run *run)
{
	struct sigaction inherited;

	if (run->config->file == NULL && sigaction(SIGHUP, NULL, &inherited) == 0 && inherited.sa_handler == SIG_IGN)
		return true;
	run->signals[3] = loop_signal(run->loop, SIGHUP, run->config->file != NULL ? on_reload : on_stop, run);
	return run->signals[3] != NULL;
}

static bool
watch_signals(struct run *run)
{
	run->signals[0] = loop_signal(run->loop, SIGINT, on_stop, run);
	run->signals[1] = loop_signal(run->loop, SIGTERM, on_stop, run);
	run->signals[2] = loop_signal(run->loop, SIGUSR1, on_summary, run);
	if (run->signals[0] == NULL || run->signals[1] == NULL || run->signals[2] == NULL || !watch_hangup(run)) {
		log_error("cannot watch for signals");
		return false;
	}
	return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* -------------------------------------------------------------------------------------------------------- starting */

static bool
out_of_memory(void)
{
	log_error("out of memory");
	return false;
}

static bool
choose_probes(struct run *run)
{
	const char *unknown;
	size_t length;

#ifdef NETOBS_NO_PROBES
	if (run->config->print != PRINT_OFF) {
		log_error("--print is not available: this netobsd was built with --disable-probes");
		return false;
	}
#endif
	if (run->config->print == PRINT_OFF ||
	    manifest_choose(run->config->print_probes, run->chosen, &unknown, &length))
		return true;
	log_error("there is no probe \"%.*s\"; netobsd --list-probes lists them all", (int)length, unknown);
	return false;
}

/* Opens the server sockets before privileges are dropped. */
static bool
open_sockets(struct run *run)
{
	const struct config *config = run->config;
	uid_t uid = run->privileges.change ? run->privileges.uid : geteuid();

	if (config->control != NULL && (run->control = control_open(config, uid)) == NULL)
		return false;
	if (config->metrics != NULL && (run->metrics = metrics_open(config, uid)) == NULL)
		return false;
	build_id_read(&run->insight.build);
	return true;
}

static bool
reload_for_control(void *context, char *why, size_t size)
{
	struct run *run = context;
	bool done;

	if (run->config->file == NULL) {
		snprintf(why, size, "no configuration file was given (-c)");
		return false;
	}
	service_reloading(run->service);
	done = reload_now(run->reload);
	service_reloaded(run->service);
	snprintf(why, size, "%s is not good: the log says where; nothing was changed", run->config->file);
	return done;
}

static bool
serve(struct run *run)
{
	struct insight *insight = &run->insight;

	insight->config = run->config;
	insight->workers = run->workers;
	insight->started = time(NULL);
	insight->reload = reload_for_control;
	insight->context = run;
	return (run->control == NULL || control_serve(run->control, run->loop, insight)) &&
	       (run->metrics == NULL || metrics_serve(run->metrics, run->loop, insight));
}

/* Untrusted input is parsed from here on: drop every privilege worth stealing. */
static bool
confine(struct run *run)
{
	bool live = run->config->interfaces[0] != NULL;

	return privileges_leave(&run->privileges) && (!run->config->seccomp || sandbox_enter(live));
}

static bool
wait_if_asked(struct run *run)
{
	if (!run->config->wait_tracer)
		return true;
	service_ready(run->service); /* whoever waits for netobsd may be the one that starts the tracer */
	return wait_for_tracer(run->loop, run->config->wait_seconds);
}

static bool
make_reloadable(struct run *run)
{
	const struct reload_targets targets = {run->config, run->workers};

	run->reload = reload_new(&targets);
	return run->reload != NULL || out_of_memory();
}

/* Logs the reserved memory if netobsd runs as a service, so that its limits can be planned. */
static void
tell_memory(const struct run *run)
{
	const struct config *config = run->config;
	struct insight_memory memory = insight_memory(config);

	if (config->control != NULL || config->metrics != NULL || config->file != NULL)
		log_notice("memory reserved: %llu MiB for %u connections, %llu MiB for fragments, %llu MiB for "
			   "process lookups",
			   (unsigned long long)memory.flows >> 20, (unsigned)config->limits.flows,
			   (unsigned long long)memory.fragments >> 20, (unsigned long long)memory.owners >> 20);
}

static bool
choose_site(const struct config *config)
{
	if (site_choose(config->site))
		return true;
	log_error("--probe-site fast is not available on this processor; use auto or plain");
	return false;
}

/* Does everything before the first frame.  False on failure, and if the loop was stopped. */
static bool
start(struct run *run)
{
	if (!choose_probes(run) || !choose_site(run->config) || !privileges_plan(run->config, &run->privileges))
		return false;
	run->loop = loop_new();
	if (run->loop == NULL || (run->service = service_new(run->loop)) == NULL || !watch_signals(run))
		return false;
	run->workers = workers_open(run->config, run->loop);
	if (run->workers == NULL || !open_sockets(run) || !confine(run) || !workers_begin(run->workers) ||
	    !wait_if_asked(run))
		return false;
	run->observing = workers_prepare(run->workers, run->chosen);
	if (!run->observing || !make_reloadable(run) || !serve(run))
		return false;
	service_watch(run->service, run->workers);
	service_ready(run->service);
	tell_memory(run);
	log_limit_start();
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- ending */

static enum run_status
status_of(struct run *run, enum input_result result)
{
	struct insight_totals totals;
	const struct input_counters *counters = &totals.taken;

	if (result == INPUT_FAILED)
		return RUN_FAILED;
	if (result == INPUT_DAMAGED)
		return RUN_BROKE_OFF;
	insight_totals(run->workers, &totals);
	if (run->config->strict && counters->dropped + counters->interface_dropped > 0) {
		log_warning("%llu frames were dropped by the kernel, %llu by interfaces",
			    (unsigned long long)counters->dropped, (unsigned long long)counters->interface_dropped);
		return RUN_LOST;
	}
	return RUN_DONE;
}

/* A failure of the output determines the exit status.  EPIPE is success: the reader has seen enough. */
static enum run_status
status_of_output(int error, enum run_status status)
{
	if (error == 0)
		return status;
	if (error == EPIPE)
		return RUN_DONE;
	log_error("cannot write to standard output: %s", strerror(error));
	return RUN_FAILED;
}

static enum run_status
release(struct run *run, enum run_status status)
{
	service_unwatch(run->service);
	metrics_free(run->metrics);
	control_free(run->control);
	reload_free(run->reload);
	status = status_of_output(workers_free(run->workers), status);
	for (size_t i = sizeof run->signals / sizeof run->signals[0]; i-- > 0;)
		watch_free(run->signals[i]);
	service_free(run->service);
	loop_free(run->loop);
	log_limit_end();
	return status;
}

enum run_status
run(struct config *config)
{
	struct run run = {.config = config};
	enum run_status status;

	if (config->list_probes)
		return status_of_output(list_probes(STDOUT_FILENO, config->list_format), RUN_DONE);
	if (start(&run)) {
		status = status_of(&run, workers_run(run.workers));
		if (config->summary)
			summary_write(stderr, run.workers);
	} else {
		status = run.loop != NULL && loop_stopped(run.loop) ? RUN_DONE : RUN_FAILED;
	}
	return release(&run, status);
}
