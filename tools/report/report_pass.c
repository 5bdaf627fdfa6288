/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_pass.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/output.h"
#include "confine/confine_replay.h"
#include "confine/privileges.h"
#include "dissect/peek.h"
#include "observe/frame_listener.h"
#include "observe/second_pass.h"
#include "observe/workers.h"
#include "probes/fire.h"
#include "probes/netobs.h"
#include "probes/site/semaphores.h"
#include "usdt/site_disabled.h"

struct report_passes {
	struct config first, second; /* that of the user, as the passes need it */
	struct privileges privileges;
	struct loop *loop;
	struct workers *workers[2];
	struct input_start start;
	struct frame_tally frames; /* of the first pass */

	/* The present pass. */
	struct report_pass *pass;
	struct frame_tally present;
	uint64_t now; /* packet time of the present frame */
	const struct config *config;
	bool over; /* the second pass has seen all frames of the first one */
};

/* ------------------------------------------------------------------------------------------------------- listening */

static void
report_pass_frame_begins(void *context, const struct frame *frame, uint64_t now)
{
	struct report_passes *passes = context;
	struct report_pass *pass = passes->pass;
	const struct config *config = passes->config;

	passes->now = now;
	/* Frames beside the window are observed, and no probe fires for them. */
	if (now < config->from || (config->to != 0 && now >= config->to))
		return;
	passes->over = passes->config == &passes->second && passes->present.frames == passes->frames.frames;
	if (passes->over)
		return;
	frame_tally_add(&passes->present, frame->caplen, frame->len, frame->ts);
	pass->frame++;
	if (pass->begin_frame != NULL)
		pass->begin_frame(pass->context, frame);
}

static void
report_pass_packet(void *context, const struct frame_packet *packet)
{
	const struct report_passes *passes = context;
	const struct report_pass *pass = passes->pass;

	if (pass->take_packet != NULL && packet->flow != NULL && !passes->over)
		pass->take_packet(pass->context, packet->flow, packet->sender,
				  flow_table_time_stamp(pass->flows, passes->now));
}

static void
report_pass_fast_frame(void *context, const struct frame *frame, uint64_t now, const struct frame_packet *packet)
{
	report_pass_frame_begins(context, frame, now);
	report_pass_packet(context, packet);
}

static void
report_pass_prefetch(void *context, const struct flow *const *flows, unsigned count)
{
	(void)context;
	(void)flows;
	(void)count;
}

static void
report_pass_fragment(void *context, const struct packet *fragment)
{
	(void)context;
	(void)fragment;
}

static void
report_pass_event(void *context, const struct flow *flow, const struct flow_event *event)
{
	(void)context;
	(void)flow;
	(void)event;
}

static void
report_pass_frame_ends(void *context)
{
	(void)context;
}

static const struct frame_listener frame_listener = {
    .on_fast_frame = report_pass_fast_frame,
    .prefetch = report_pass_prefetch,
    .begin_frame = report_pass_frame_begins,
    .on_fragment = report_pass_fragment,
    .on_packet = report_pass_packet,
    .on_event = report_pass_event,
    .end_frame = report_pass_frame_ends,
};

static void
report_pass_fire(void *context, struct firing *firing)
{
	struct report_passes *passes = context;

	if (!passes->over)
		passes->pass->fire(passes->pass->context, firing);
}

static void
report_pass_poll(void *context)
{
	(void)context;
}

/* Headers of the fast path: only segments are screened. */
static bool
report_pass_rejects(void *context, struct firing *firing)
{
	const struct report_pass *pass = ((struct report_passes *)context)->pass;
	const struct tcpinfo *tcp;

	if (firing->probe != PROBE_TCP_SEND && firing->probe != PROBE_TCP_RECEIVE)
		return false;
	tcp = firing_argument(firing, 4);
	return tcp != NULL && pass->rejects_ports(pass->context, tcp->tcp_sport, tcp->tcp_dport);
}

static void
report_pass_count_rejected(void *context, enum probe_id probe)
{
	(void)context;
	(void)probe;
}

/* --------------------------------------------------------------------------------------------------------- opening */

static void
report_passes_configure(struct report_passes *passes, const struct config *config)
{
	passes->first = *config;
	passes->first.view = VIEW_BOTH; /* the sender of a segment is known */
	passes->first.print = PRINT_OFF;
	passes->first.records = true;
	passes->first.active_records_ns = 0;
	passes->first.flight_memory = 0;
	passes->second = passes->first;
	passes->second.records = false;
	input_start_note(&passes->start, config);
}

struct report_passes *
report_passes_open(struct config *config)
{
	struct report_passes *passes;

	if (!PROBES_BUILT) {
		log_error("a report needs probes: this program was built with --disable-probes");
		return NULL;
	}
	passes = calloc(1, sizeof *passes);
	if (passes == NULL) {
		log_out_of_memory();
		return NULL;
	}
	report_passes_configure(passes, config);
	if (privileges_plan(&passes->first, &passes->privileges) && (passes->loop = loop_new()) != NULL &&
	    (passes->workers[0] = workers_open(&passes->first, passes->loop, false, 0)) != NULL &&
	    (passes->workers[1] = workers_open(&passes->second, passes->loop, false, 0)) != NULL &&
	    confine_replay(&passes->first, &passes->privileges, NULL, NULL))
		return passes;
	report_passes_free(passes);
	return NULL;
}

/* --------------------------------------------------------------------------------------------------------- running */

static void
report_passes_connect(struct report_passes *passes, struct observer *observer)
{
	static const struct emitter_listener all = {.fire = report_pass_fire, .poll = report_pass_poll};
	static const struct emitter_listener screening = {.fire = report_pass_fire,
							  .poll = report_pass_poll,
							  .rejects = report_pass_rejects,
							  .count_rejected = report_pass_count_rejected};
	struct report_pass *pass = passes->pass;

	pass->flows = observer_flows(observer);
	observer_set_frame_listener(observer, &frame_listener, passes);
	observer_set_listener(observer, pass->rejects_ports != NULL ? &screening : &all, passes);
	for (size_t i = 0; i < pass->probes_count; i++)
		semaphores_add_formula(pass->probes[i]);
}

/* Observes all frames with a new observer, which is freed. */
static enum input_result
report_passes_run(struct report_passes *passes, unsigned number, struct report_pass *pass,
		  struct report_pass_counters *counters)
{
	struct workers *workers = passes->workers[number];
	enum input_result result = INPUT_FAILED;

	passes->pass = pass;
	passes->present = (struct frame_tally){0};
	passes->config = workers->config;
	if (workers_start_inputs(workers) && workers_make_observers(workers, NULL)) {
		report_passes_connect(passes, workers->worker[0].observer);
		result = workers_run(workers);
		for (size_t i = 0; i < pass->probes_count; i++)
			semaphores_remove_formula(pass->probes[i]);
		if (counters != NULL) {
			counters->observed = *observer_counters(workers->worker[0].observer);
			counters->input = *input_counters(workers->worker[0].input);
			workers_log_empty_window(workers);
		}
	}
	workers_free(workers);
	passes->workers[number] = NULL;
	return result;
}

enum input_result
report_passes_first(struct report_passes *passes, struct report_pass *pass, struct report_pass_counters *counters)
{
	enum input_result result = report_passes_run(passes, 0, pass, counters);

	passes->frames = passes->present;
	return result;
}

enum input_result
report_passes_second(struct report_passes *passes, struct report_pass *pass)
{
	enum input_result result;

	if (!input_start_return(&passes->start))
		return INPUT_FAILED;
	log_mute(true);
	result = report_passes_run(passes, 1, pass, NULL);
	log_mute(false);
	if (result == INPUT_FAILED)
		log_error("the captures cannot be read again");
	else if (passes->present.frames == passes->frames.frames && passes->present.hash == passes->frames.hash)
		return result;
	else
		log_error("the captures changed while they were read");
	return INPUT_FAILED;
}

size_t
report_passes_flows(const struct report_passes *passes)
{
	return flow_index_space(observer_flow_limit(&passes->first, 1));
}

void
report_passes_free(struct report_passes *passes)
{
	if (passes == NULL)
		return;
	workers_free(passes->workers[0]);
	workers_free(passes->workers[1]);
	loop_free(passes->loop);
	free(passes);
}
