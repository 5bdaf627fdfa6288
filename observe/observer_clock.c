/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet time: irregular time stamps, and the window of --from and --to.
 *
 * Before the lead-in of a window only the clock moves, so that packet time is that of a run without a window, whatever
 * the time stamps do.  In the lead-in connections are followed and no probe fires.  With connection records the same
 * holds after the window, until all connections whose last packet is in it have ended.
 */
#include "base/log.h"
#include "observe/observe_internal.h"

/* --- irregular time stamps --- */

void
observe_count_clock_step(struct observer *o)
{
	/* Modulo 2^64: a step back gives a large number. */
	int64_t step = (int64_t)(o->clock.other_offset - o->clock.offset);

	o->counters.clock_steps++;
	flow_table_set_clock_offset(o->flows, o->clock.offset);
	if (!o->logs_steps)
		return;
	log_notice("the time stamps step by %+.3f s: the clock was set, or the time stamps before are wrong; "
		   "connections and timers are not affected",
		   (double)step / 1e9);
}

bool
observe_move_clock_irregularly(struct observer *o, const struct frame *frame)
{
	unsigned after = (unsigned)(o->batch_end - frame) - 1;
	bool backward = frame->ts + o->clock.offset < o->clock.now;
	int64_t difference = (int64_t)(frame->ts + o->clock.offset - o->clock.now);
	const char *name = frame->interface->name; /* empty: a file */
	enum packet_clock_verdict verdict =
	    packet_clock_decide(&o->clock, frame->ts, frame + 1, after, o->input_waits);

	if (verdict == PACKET_CLOCK_UNDECIDED) {
		o->undecided = frame;
		return false;
	}
	o->counters.backward_frames += backward;
	if (verdict == PACKET_CLOCK_STEP)
		observe_count_clock_step(o);
	if (verdict != PACKET_CLOCK_STRAY)
		return true;
	o->counters.stray_stamps++;
	log_warning("the time stamp of a frame is ignored: it differs by %+.3f s from those around it%s%s",
		    (double)difference / 1e9, name[0] != '\0' ? ", interface " : "", name);
	return true;
}

/* --- the window --- */

void
observer_window_open(struct observer *o, const struct config *config)
{
	struct observe_window *w = &o->window;

	w->limited = config->from != 0 || config->to != 0;
	w->from = config->from;
	w->to = config->to != 0 ? config->to : UINT64_MAX;
	w->lead_in = config->from > config->lead_in ? config->from - config->lead_in : 0;
	w->phase = WINDOW_SKIPPED;
}

static enum window_phase
window_phase_at(const struct observe_window *w, uint64_t now)
{
	if (now >= w->to)
		return WINDOW_AFTER;
	if (now >= w->from)
		return WINDOW_OPEN;
	return now >= w->lead_in ? WINDOW_LEAD_IN : WINDOW_SKIPPED;
}

unsigned
observer_window_measure(struct observer *o, const struct frame *frames, unsigned count, enum window_phase *phase)
{
	struct packet_clock clock = o->clock;
	unsigned after = (unsigned)(o->batch_end - frames) - 1, span;

	for (span = 0; span < count; span++) {
		if (packet_clock_is_regular(&clock, frames[span].ts))
			clock.now = frames[span].ts + clock.offset;
		else if (span != 0)
			break;
		else if (packet_clock_decide(&clock, frames[0].ts, frames + 1, after, o->input_waits) ==
			 PACKET_CLOCK_UNDECIDED)
			count = 1; /* all are held */
		if (span != 0 && window_phase_at(&o->window, clock.now) != *phase)
			break;
		if (span == 0 && o->window.first == 0)
			o->window.first = clock.now;
		*phase = window_phase_at(&o->window, clock.now);
	}
	return span;
}

bool
observer_window_has_record(const struct observer *o, const struct flow *flow, const struct flow_record *record,
			   enum record_reason reason)
{
	const struct observe_window *w = &o->window;
	uint64_t time = reason == RECORD_OPEN ? flow_record_active_time(o->flows, flow, record) : flow->last_seen;

	return !w->limited || (time >= w->from && time < w->to);
}

void
observer_window_check_drained(struct observer *o)
{
	struct observe_window *w = &o->window;
	uint64_t now = o->clock.now;
	const struct flow *flow;
	uint32_t index = 0;

	if (w->phase != WINDOW_AFTER || !o->records || w->drained || now < w->next_check)
		return;
	while (flow_table_next(o->flows, &index, &flow)) {
		if (flow != NULL && flow->last_seen < w->to) {
			w->next_check = now + (now - w->to) + NANOSECONDS;
			return;
		}
	}
	w->drained = true;
}
