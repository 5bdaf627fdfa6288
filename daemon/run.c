/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "apps/app.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/output.h"
#include "base/thread.h"
#include "config/formula_names.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "confine/sandbox.h"
#include "daemon/dtrace.h"
#include "daemon/formula_sites.h"
#include "daemon/metrics/metrics.h"
#include "daemon/query/control.h"
#include "daemon/query/server.h"
#include "daemon/query/service_table.h"
#include "daemon/record/record_output.h"
#include "daemon/reload.h"
#include "daemon/service.h"
#include "daemon/stats/counters.h"
#include "daemon/stats/stats.h"
#include "engine/engine.h"
#include "flight/excerpt/excerpts.h"
#include "observe/workers.h"
#include "probes/fire.h"
#include "probes/manifest.h"
#include "probes/print/probe_list.h"
#include "probes/site/semaphores.h"
#include "records/record_ring.h"
#include "usdt/site_disabled.h"
#include "usdt/site_table.h"

/* Resources of a run, in order of acquisition; released in reverse order. */
struct daemon_state {
	struct config *config;
	struct privileges privileges;	/* the target state once everything is open */
	bool opens;			/* interfaces that have returned */
	bool print_probes[PROBE_COUNT]; /* probes to print */
	struct loop *loop;
	struct service *service;
	struct watch *signals[4];
	struct record_output *records; /* NULL: no records are written */
	struct record_ring *closed;    /* NULL: no records are kept */
	struct service_table *services; /* NULL without metrics */
	struct excerpts *excerpts;     /* NULL: no captures are written */
	struct formula_sites *formulas;
	struct dtrace *dtrace; /* NULL: the probes are not described to DTrace */
	struct workers *workers;
	bool observing;	       /* workers_make_observers() has succeeded */
	struct reload *reload; /* NULL until reloads are possible */
	struct query_context query;
	struct control *control; /* NULL: disabled, as is `metrics` */
	struct metrics *metrics;
};

/* --------------------------------------------------------------------------------------------------------- signals */

static void
daemon_on_stop(void *context)
{
	struct daemon_state *state = context;

	loop_stop(state->loop);
}

static void
daemon_on_summary(void *context)
{
	struct daemon_state *state = context;

	if (state->observing && state->config->interface_names[0] != NULL)
		summary_write_now(state->workers); /* frames arrive meanwhile */
	else if (state->observing)
		(void)summary_write(state->workers);
	else
		log_notice("no counters yet: still starting");
}

static bool
daemon_run_reload(struct daemon_state *state)
{
	bool done;

	service_notify_reloading(state->service);
	done = reload_run(state->reload);
	dtrace_update(state->dtrace, state->formulas);
	service_notify_reloaded(state->service);
	return done;
}

static void
daemon_on_reload(void *context)
{
	struct daemon_state *state = context;

	if (state->reload != NULL)
		daemon_run_reload(state);
	else
		log_warning("reload ignored: still starting");
}

/* SIGHUP reloads the configuration file.  Without one it stops the run, because it means that the terminal is gone,
 * unless it is ignored (nohup(1)). */
static bool
daemon_watch_hangup(struct daemon_state *state)
{
	struct sigaction inherited;

	if (state->config->config_path == NULL && sigaction(SIGHUP, NULL, &inherited) == 0 &&
	    inherited.sa_handler == SIG_IGN)
		return true;
	if (state->config->config_path != NULL)
		state->signals[3] = loop_watch_signal(state->loop, SIGHUP, daemon_on_reload, state);
	else
		state->signals[3] = loop_watch_stop_signal(state->loop, SIGHUP, daemon_on_stop, state);
	return state->signals[3] != NULL;
}

static bool
daemon_watch_signals(struct daemon_state *state)
{
	state->signals[0] = loop_watch_stop_signal(state->loop, SIGINT, daemon_on_stop, state);
	state->signals[1] = loop_watch_stop_signal(state->loop, SIGTERM, daemon_on_stop, state);
	state->signals[2] = loop_watch_signal(state->loop, SIGUSR1, daemon_on_summary, state);
	if (state->signals[0] == NULL || state->signals[1] == NULL || state->signals[2] == NULL ||
	    !daemon_watch_hangup(state)) {
		log_error("cannot watch for signals");
		return false;
	}
	return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* -------------------------------------------------------------------------------------------------------- starting */

static bool
daemon_select_probes(struct daemon_state *state)
{
	const char *unknown;
	size_t length;

	if (!PROBES_BUILT && state->config->print != PRINT_OFF) {
		log_error("--print is not available: this netobsd was built with --disable-probes");
		return false;
	}
	if (state->config->print == PRINT_OFF || formula_names_select_probes(state->config, state->config->print_probes,
									     state->print_probes, &unknown, &length))
		return true;
	log_error("there is no probe \"%.*s\"; netobsd --list-probes lists them all", (int)length, unknown);
	return false;
}

static bool
daemon_open_records(struct daemon_state *state)
{
	if (state->config->closed_connections != 0) {
		state->closed = record_ring_new(state->config->closed_connections);
		if (state->closed == NULL)
			return log_out_of_memory();
	}
	if (state->config->metrics_address != NULL && (state->services = service_table_new()) == NULL)
		return false;
	if (!state->config->records)
		return true;
	state->records = record_output_open(state->config);
	return state->records != NULL;
}

static void
daemon_take_record(void *context, const struct connrec *record)
{
	struct daemon_state *state = context;

	if (state->records != NULL)
		record_output_take(state->records, record);
	if (state->closed != NULL)
		record_ring_take(state->closed, record);
	if (state->services != NULL)
		service_table_take(state->services, record);
}

static bool
daemon_flush_records(void *context)
{
	struct daemon_state *state = context;

	return state->records == NULL || record_output_flush(state->records);
}

static void
daemon_connect_records(struct daemon_state *state)
{
	const struct record_sink sink = {.take = daemon_take_record, .flush = daemon_flush_records, .context = state};

	if (state->records == NULL && state->closed == NULL && state->services == NULL)
		return;
	state->workers->closed = state->closed;
	for (unsigned i = 0; i < state->workers->count; i++)
		observer_set_record_sink(state->workers->worker[i].observer, &sink);
}

static bool
daemon_open_excerpts(struct daemon_state *state)
{
	if (state->config->writes[0] == NULL)
		return true;
	state->excerpts = excerpts_open(state->config);
	return state->excerpts != NULL;
}

static bool
daemon_connect_excerpts(struct daemon_state *state)
{
	return state->excerpts == NULL || excerpts_connect(state->excerpts, formula_sites_set(state->formulas),
							   state->workers->worker[0].observer);
}

/* Opens the server sockets before privileges are dropped. */
static bool
daemon_open_sockets(struct daemon_state *state)
{
	const struct config *config = state->config;
	uid_t uid = state->privileges.change ? state->privileges.uid : geteuid();

	if (config->control_path != NULL && (state->control = control_open(config, uid)) == NULL)
		return false;
	if (config->metrics_address != NULL && (state->metrics = metrics_open(config, uid)) == NULL)
		return false;
	state->query.closed = state->closed;
	state->query.services = state->services;
	build_id_read(&state->query.build);
	stats_open_memory();
	return true;
}

static bool
daemon_reload_for_control(void *context, char *error, size_t size)
{
	struct daemon_state *state = context;
	bool done;

	if (state->config->config_path == NULL) {
		snprintf(error, size, "no configuration file was given (-c)");
		return false;
	}
	done = daemon_run_reload(state);
	snprintf(error, size, "%s is invalid: the log names the place; nothing was changed",
		 state->config->config_path);
	return done;
}

static bool
daemon_define_formula(void *context, const char *text, char *error, size_t size)
{
	struct daemon_state *state = context;
	bool done;

	workers_pause(state->workers);
	done = formula_sites_define(state->formulas, text, error, size);
	workers_resume(state->workers);
	dtrace_update(state->dtrace, state->formulas);
	return done;
}

static bool
daemon_undefine_formula(void *context, const char *name, char *error, size_t size)
{
	struct daemon_state *state = context;
	bool done;

	workers_pause(state->workers);
	done = formula_sites_undefine(state->formulas, name);
	workers_resume(state->workers);
	dtrace_update(state->dtrace, state->formulas);
	snprintf(error, size, "there is no formula \"%.60s\"; \"formulas\" lists them all", name);
	return done;
}

static void
daemon_update_sites(void *context)
{
	struct daemon_state *state = context;

	formula_sites_read_names(state->formulas);
	workers_pause(state->workers);
	formula_sites_update(state->formulas);
	workers_resume(state->workers);
	dtrace_update(state->dtrace, state->formulas);
}

static bool
daemon_describe_site(void *context, unsigned slot, const char **name, bool *traced)
{
	const struct daemon_state *state = context;

	return formula_sites_describe(state->formulas, slot, name, traced);
}

static bool
daemon_start_servers(struct daemon_state *state)
{
	struct query_context *query = &state->query;

	query->config = state->config;
	query->workers = state->workers;
	query->started = time(NULL);
	query->reload = daemon_reload_for_control;
	query->formulas = formula_sites_set(state->formulas);
	query->define_formula = daemon_define_formula;
	query->undefine_formula = daemon_undefine_formula;
	query->update_sites = daemon_update_sites;
	query->describe_site = daemon_describe_site;
	query->context = state;
	client_descriptors_limit(workers_spare_descriptors(state->workers));
	return (state->control == NULL || control_serve(state->control, state->loop, query)) &&
	       (state->metrics == NULL || metrics_serve(state->metrics, state->loop, query));
}

/* Gives up in a new thread what its role does not need. */
static bool
daemon_confine_thread(void *context, enum thread_role role)
{
	static const enum sandbox_role sandbox_roles[] = {
	    [THREAD_WORKER] = SANDBOX_WORKER, [THREAD_OWNER] = SANDBOX_OWNER, [THREAD_READER] = SANDBOX_READER};
	const struct daemon_state *state = context;

	if (!privileges_drop_in_thread(role == THREAD_WORKER, role == THREAD_OWNER))
		return false;
	return !state->config->seccomp || sandbox_enter_thread(sandbox_roles[role]);
}

/* Untrusted input is parsed from here on: drop every privilege worth stealing. */
static bool
daemon_confine(struct daemon_state *state)
{
	const struct sandbox_process process = {.live = state->config->interface_names[0] != NULL,
						.opens = state->opens,
						.suspends = state->config->on_demand,
						.dtrace = state->dtrace != NULL};

	if (!privileges_drop(&state->privileges) ||
	    (state->config->seccomp && (!landlock_prepare(state->config) || !sandbox_enter(&process))))
		return false;
	thread_set_confine(daemon_confine_thread, state);
	return process.live || landlock_enter();
}

/* The second step, once the threads exist that look up processes, and before the first frame of an interface. */
static bool
daemon_confine_more(void)
{
	return privileges_drop_in_thread(true, false) && landlock_enter();
}

/* Polling interval: the kernel changes semaphores without a notification. */
#define TRACER_POLL_NS (10 * 1000000u)

/* A tracer enables its probes one by one.  It is taken to be ready when nothing has changed for this many polls, a
 * quarter of a second; but it may need longer for one, and several clauses that read a probe are one change.  Only
 * wait-done shows the end, if the tracer enables it last. */
#define STABLE_POLLS 25

static bool
tracer_has_enabled_formulas(const struct formula_set *formulas, const char *names)
{
	for (unsigned i = 0; formulas != NULL && i < formula_set_count(formulas); i++) {
		struct formula_status status = formula_set_status(formulas, i);

		if (formula_names_select(names, formula_name(status.formula)) && !status.traced)
			return false;
	}
	return true;
}

/* Whether a tracer has enabled all probes and formulas to wait for, or any if there are none. */
static bool
tracer_has_enabled(const struct config *config, const struct formula_set *formulas)
{
	const char *probes = config->wait_probes;
	bool wanted[PROBE_COUNT];
	const char *unknown;
	size_t length;

	if (config->wait_done && !engine_wait_done_enabled())
		return false;
	if (probes == NULL || !formula_names_select_probes(config, probes, wanted, &unknown, &length))
		return semaphores_sum() + engine_tracers() != 0;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (wanted[i] && semaphores_read(i) == 0)
			return false;
	return tracer_has_enabled_formulas(formulas, probes);
}

/* Waits until a tracer has enabled all probes and formulas that config->wait_probes selects, or any probe if that is
 * NULL, and with config->wait_done also wait-done of netobs_engine, and no probe has followed for a quarter of a
 * second.  `formulas` is NULL if there are none.  If the probes are not enabled it gives up after config->wait_timeout
 * (0: never) and logs that.  False if the loop was stopped.  Call it before the printer is created, which enables
 * probes itself. */
static bool
wait_for_tracer(struct loop *loop, const struct config *config, const struct formula_set *formulas)
{
	const char *probes = config->wait_probes;
	double seconds = config->wait_timeout;
	double polls = seconds * 1e9 / TRACER_POLL_NS;
	unsigned before = 0, stable_polls = 0;

	for (double i = 0; stable_polls < STABLE_POLLS; i++) {
		unsigned now;
		bool enabled;

		site_watch_poll();
		now = semaphores_sum() + engine_tracers();
		enabled = tracer_has_enabled(config, formulas);
		if (!enabled && seconds > 0 && i >= polls) {
			if (probes != NULL || config->wait_done)
				log_warning("no tracer enabled %s within %g s; starting without",
					    probes != NULL ? probes : "wait-done", seconds);
			else
				log_warning("no tracer attached within %g s; starting without one", seconds);
			return true;
		}
		stable_polls = enabled && now == before ? stable_polls + 1 : 0;
		before = now;
		if (!loop_sleep(loop, TRACER_POLL_NS))
			return false;
	}
	engine_wait_done(before);
	return true;
}

static bool
daemon_wait_for_tracer(struct daemon_state *state)
{
	if (!state->config->wait_tracer)
		return true;
	service_notify_ready(state->service); /* the tracer may be started only after netobsd is ready */
	return wait_for_tracer(state->loop, state->config, formula_sites_set(state->formulas));
}

static bool
daemon_make_reload(struct daemon_state *state)
{
	const struct reload_targets targets = {state->config, state->workers, state->formulas};

	state->reload = reload_new(&targets);
	return state->reload != NULL || log_out_of_memory();
}

/* Logs the reserved memory if netobsd runs as a service, so that its limits can be planned. */
static void
daemon_log_memory(const struct daemon_state *state)
{
	const struct config *config = state->config;
	struct stats_memory memory = stats_reserved_memory(config);
	char flight[64] = "", closed[64] = "";

	if (memory.flight != 0)
		snprintf(flight, sizeof flight, ", %llu MiB for the flight memory",
			 (unsigned long long)memory.flight >> 20);
	if (memory.closed != 0)
		snprintf(closed, sizeof closed, ", %llu MiB for connections that have ended",
			 (unsigned long long)memory.closed >> 20);
	if (config->control_path != NULL || config->metrics_address != NULL || config->config_path != NULL)
		log_notice("memory reserved: %llu MiB for %u connections, %llu MiB for fragments, %llu MiB for "
			   "application protocols, %llu MiB for process lookups%s%s",
			   (unsigned long long)(memory.flows + memory.records) >> 20,
			   (unsigned)config->flow_limits.flows, (unsigned long long)memory.fragments >> 20,
			   (unsigned long long)memory.applications >> 20, (unsigned long long)memory.owner_lookup >> 20,
			   flight, closed);
}

/* Logs the name of the provider in DTrace, if netobsd runs as a service. */
static void
daemon_log_dtrace(const struct daemon_state *state)
{
	const struct config *config = state->config;

	if (dtrace_is_listed(state->dtrace) &&
	    (config->control_path != NULL || config->metrics_address != NULL || config->config_path != NULL))
		log_notice("DTrace lists the probes of process %d as netobs*:::", (int)getpid());
}

/* Says on a terminal what is observed, if nothing would say it: no service, no printer, no tracer. */
static void
daemon_log_observing(const struct config *config)
{
	char names[256] = "";
	size_t used = 0;

	if (config->interface_names[0] == NULL || config->print != PRINT_OFF || config->records ||
	    config->config_path != NULL || config->control_path != NULL || config->metrics_address != NULL ||
	    isatty(STDERR_FILENO) == 0 || semaphores_sum() != 0)
		return;
	for (size_t i = 0; config->interface_names[i] != NULL && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
					 config->interface_names[i]);
	log_notice("observing %s; to see something, run in another terminal: netobs tcpsnoop (netobs --list shows all "
		   "scripts; netobs(7) has other tracers), or start netobsd with --print",
		   names);
}

static bool
daemon_select_probe_site(const struct config *config)
{
	if (site_select(config->probe_site))
		return true;
	log_error("--probe-site fast is not available on this processor; use auto or plain");
	return false;
}

/* Whether DTrace can attach in time.  The replay of a file that runs at once ends before; its probes would also match
 * netobs* of those who trace another process. */
static bool
daemon_may_be_traced(const struct config *config)
{
	for (size_t i = 0; config->capture_paths[i] != NULL; i++)
		if (strcmp(config->capture_paths[i], "-") == 0)
			return true;
	return config->interface_names[0] != NULL || config->wait_tracer || config->replay_speed != 0;
}

/* Does everything before the first frame.  False on failure, and if the loop was stopped. */
static bool
daemon_start(struct daemon_state *state)
{
	if (!daemon_select_probes(state) || !daemon_select_probe_site(state->config) ||
	    !privileges_plan(state->config, &state->privileges) || !daemon_open_records(state) ||
	    !daemon_open_excerpts(state))
		return false;
	state->loop = loop_new();
	if (state->loop == NULL || (state->service = service_new(state->loop)) == NULL || !daemon_watch_signals(state))
		return false;
	state->opens = privileges_keep_capture(&state->privileges);
	state->workers =
	    workers_open(state->config, state->loop, state->opens, client_descriptors_wanted(state->config));
	state->formulas = formula_sites_open(state->config);
	if (state->workers == NULL || state->formulas == NULL || !daemon_open_sockets(state))
		return false;
	if (daemon_may_be_traced(state->config))
		state->dtrace = dtrace_open(state->formulas);
	if ((state->excerpts != NULL && !excerpts_open_inputs(state->excerpts, state->loop)) ||
	    !daemon_confine(state) || !workers_start_inputs(state->workers) || !daemon_wait_for_tracer(state))
		return false;
	app_register_text();
	state->observing = workers_make_observers(state->workers, state->print_probes);
	if (state->observing) {
		formula_sites_connect(state->formulas, state->workers);
		daemon_connect_records(state);
	}
	if (!state->observing || !daemon_connect_excerpts(state))
		return false;
	if (!daemon_confine_more() || !daemon_make_reload(state) || !daemon_start_servers(state))
		return false;
	service_set_workers(state->service, state->workers);
	service_notify_ready(state->service);
	daemon_log_memory(state);
	daemon_log_dtrace(state);
	daemon_log_observing(state->config);
	log_limit_enable();
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- ending */

static enum exit_status
daemon_exit_status(struct daemon_state *state, enum input_result result)
{
	struct stats_totals totals;
	const struct input_counters *counters = &totals.input;

	if (result == INPUT_FAILED)
		return EXIT_STATUS_FAILED;
	if (result == INPUT_DAMAGED)
		return EXIT_STATUS_DAMAGED;
	stats_collect(state->workers, &totals);
	if (state->config->strict && counters->dropped + counters->interface_dropped > 0) {
		log_warning("%llu frames were dropped by the kernel, %llu by interfaces",
			    (unsigned long long)counters->dropped, (unsigned long long)counters->interface_dropped);
		return EXIT_STATUS_DROPPED;
	}
	return EXIT_STATUS_OK;
}

/* A failure of the output determines the exit status.  EPIPE is success: the reader has closed the pipe because it
 * needs no more. */
static enum exit_status
daemon_output_status(int error, enum exit_status status)
{
	if (error == 0)
		return status;
	if (error == EPIPE)
		return EXIT_STATUS_OK;
	log_error("cannot write to standard output: %s", strerror(error));
	return EXIT_STATUS_FAILED;
}

/* Freeing a watch restores the default action of its signal: a stop signal that repeats an earlier one would end the
 * process with a status of its own. */
static void
daemon_block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static enum exit_status
daemon_release(struct daemon_state *state, enum exit_status status)
{
	service_clear_workers(state->service);
	metrics_free(state->metrics);
	control_free(state->control);
	reload_free(state->reload);
	status = daemon_output_status(workers_free(state->workers), status);
	record_output_free(state->records);
	service_table_free(state->services);
	record_ring_free(state->closed);
	excerpts_free(state->excerpts);
	dtrace_close(state->dtrace);
	formula_sites_free(state->formulas);
	daemon_block_signals();
	for (size_t i = sizeof state->signals / sizeof state->signals[0]; i-- > 0;)
		watch_free(state->signals[i]);
	service_free(state->service);
	loop_free(state->loop);
	log_limit_disable();
	return status;
}

/* Logs how much of the output was not written because it was not read. */
static void
daemon_log_dropped(struct workers *workers)
{
	struct stats_totals totals;

	stats_collect(workers, &totals);
	if (totals.print_dropped > 0)
		log_warning("standard output was not read: %llu lines were dropped",
			    (unsigned long long)totals.print_dropped);
}

/* Logs why a table of connections is empty. */
static void
daemon_log_no_connection(const struct daemon_state *state)
{
	const struct config *config = state->config;
	struct stats_totals totals;

	if (!config->records || config->records_path != NULL || config->records_format == PRINT_JSON)
		return;
	stats_collect(state->workers, &totals);
	if (totals.flows.created == 0)
		log_notice("no TCP or UDP connection and no SCTP association in %llu frames",
			   (unsigned long long)totals.observed.frames);
}

/* Logs what is missing because of how the capture was taken. */
static void
daemon_log_uncaptured(const struct daemon_state *state)
{
	struct stats_totals totals;

	for (unsigned i = 0; i < APP_COUNT; i++) {
		struct app_flow_counters c = stats_app_flows(state->workers, i);

		if (c.unread != 0)
			log_notice("connections on %s ports not read, because their beginning or one direction is not "
				   "captured: %llu",
				   app_protocols[i]->name, (unsigned long long)c.unread);
		if (c.cut != 0)
			log_notice("%s packets whose end the snapshot length has cut off: %llu", app_protocols[i]->name,
				   (unsigned long long)c.cut);
	}
	stats_collect(state->workers, &totals);
	if (totals.flows.one_way != 0)
		log_notice("connections of which only one direction is captured: %llu",
			   (unsigned long long)totals.flows.one_way);
	if (totals.observed.closed_tunnels != 0 || totals.flows.tunnel_streams != 0)
		log_notice("tunnels that are not unpacked, so that connections inside them are not observed: %llu "
			   "packets, %llu UDP streams",
			   (unsigned long long)totals.observed.closed_tunnels,
			   (unsigned long long)totals.flows.tunnel_streams);
}

/* Logs what a replay observed, if nothing else shows it: no printer, no summary, no tracer. */
static void
daemon_log_observed(const struct daemon_state *state)
{
	const struct config *config = state->config;
	struct stats_totals totals;
	uint64_t fired = 0;

	if (config->print != PRINT_OFF || config->records || config->summary || config->wait_tracer ||
	    config->writes[0] != NULL || config->config_path != NULL || semaphores_sum() != 0)
		return;
	stats_collect(state->workers, &totals);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		fired += totals.fired[i];
	if (fired == 0)
		log_notice("observed %llu frames and %llu connections; --print shows what happened, --summary all "
			   "counters, and netobs tcpsnoop -r FILE runs a script (netobs --list shows all of them)",
			   (unsigned long long)totals.observed.frames, (unsigned long long)totals.flows.created);
}

/* Logs what remains to be said of a replay: for the most part, of one that reached the end of its files. */
static void
daemon_log_replay(const struct daemon_state *state, enum input_result result)
{
	if (state->config->interface_names[0] != NULL || loop_is_stopped(state->loop))
		return;
	workers_log_empty_window(state->workers);
	if (result != INPUT_DONE)
		return;
	workers_log_unmatched_prefixes(state->workers);
	daemon_log_no_connection(state);
	/* Files of records and frames are written in silence. */
	if (!state->config->records && state->config->writes[0] == NULL)
		daemon_log_uncaptured(state);
	daemon_log_observed(state);
}

/* Writes the records of a run that has ended.  A replay that a signal or a failure of the output has stopped is not
 * complete; one whose input is damaged is complete up to the damage. */
static enum exit_status
daemon_finish_records(struct daemon_state *state, enum input_result result, enum exit_status status)
{
	bool complete = result != INPUT_FAILED && !loop_stop_requested() && !loop_is_stopped(state->loop);
	int error;

	if (state->records == NULL)
		return status;
	error = record_output_finish(state->records, complete || state->config->interface_names[0] != NULL);
	if (record_output_dropped(state->records) > 0)
		log_warning("records were not taken in time: %llu lines were dropped",
			    (unsigned long long)record_output_dropped(state->records));
	return error == 0 ? status : error == EPIPE ? EXIT_STATUS_OK : EXIT_STATUS_FAILED;
}

/* Writes the captures of --write. */
static enum exit_status
daemon_finish_excerpts(struct daemon_state *state, enum input_result result, enum exit_status status)
{
	bool complete = result != INPUT_FAILED && !loop_stop_requested() && !loop_is_stopped(state->loop);

	if (state->excerpts == NULL || excerpts_finish(state->excerpts, state->workers, complete))
		return status;
	return EXIT_STATUS_FAILED;
}

/* A start that did not come to its end.  One that a signal has stopped has read nothing: files of a result that would
 * be complete are not written. */
static enum exit_status
daemon_finish_start(struct daemon_state *state)
{
	enum exit_status status = EXIT_STATUS_OK;

	if (state->loop == NULL || !loop_is_stopped(state->loop))
		return EXIT_STATUS_FAILED;
	status = daemon_finish_records(state, INPUT_FAILED, status);
	return daemon_finish_excerpts(state, INPUT_FAILED, status);
}

/* Counters that cannot be written are a failure if all else is good: there is nowhere to say so. */
static enum exit_status
daemon_summary_status(bool written, enum exit_status status)
{
	return written || status != EXIT_STATUS_OK ? status : EXIT_STATUS_FAILED;
}

/* Logs the settings that differ from the defaults. */
static void
daemon_debug_settings(const struct config *config)
{
	struct config defaults;
	char buffer[OPTIONS_VALUE_MAX], next[OPTIONS_VALUE_MAX];

	if (!log_debug_is_on(DEBUG_CONFIG))
		return;
	log_debug(DEBUG_CONFIG, "configuration file: %s", config->config_path != NULL ? config->config_path : "none");
	if (config_set_defaults(&defaults)) {
		for (size_t i = 0; i < options_table_rows; i++) {
			const struct option_row *row = &options_table[i];
			const char *value = row->kind->get(config, row, 0, buffer);

			if (row->source != OPTION_COMMAND_LINE && !options_values_equal(row, config, &defaults))
				log_debug(DEBUG_CONFIG, "%s is %s%s", row->name, value != NULL ? value : "unset",
					  row->kind->get(config, row, 1, next) != NULL ? " and more" : "");
		}
	}
	config_free(&defaults);
}

static enum exit_status
daemon_install_formulas(const struct config *config)
{
	char error[INSTALL_ERROR_MAX];

	if (install_formulas(config, config->install_formulas, error))
		return EXIT_STATUS_OK;
	log_error("cannot install the formulas: %s", error);
	return EXIT_STATUS_FAILED;
}

static enum exit_status
daemon_list_probes(const struct config *config)
{
	int error = config->list_engine ? probe_list_write_engine(STDOUT_FILENO, config->list_format)
					: probe_list_write(STDOUT_FILENO, config->list_format);

	return daemon_output_status(error, EXIT_STATUS_OK);
}

enum exit_status
daemon_run(struct config *config)
{
	struct daemon_state state = {.config = config};
	enum input_result result;
	enum exit_status status;

	descriptors_close_inherited(config);
	if (config->list_probes)
		return daemon_list_probes(config);
	if (config->install_formulas != NULL)
		return daemon_install_formulas(config);
	output_open();
	log_debug_enable(config->debug_topics);
	daemon_debug_settings(config);
	if (daemon_start(&state)) {
		result = workers_run(state.workers);
		status = daemon_exit_status(&state, result);
		workers_finish_output(state.workers);
		status = daemon_finish_records(&state, result, status);
		status = daemon_finish_excerpts(&state, result, status);
		control_finish(state.control);
		daemon_log_dropped(state.workers);
		daemon_log_replay(&state, result);
		if (config->summary)
			status = daemon_summary_status(summary_write(state.workers), status);
	} else {
		status = daemon_finish_start(&state);
	}
	return daemon_release(&state, status);
}
