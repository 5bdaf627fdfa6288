/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --from and --to: a window of packet time.  Before the lead-in only the clock moves, so that packet time is that of a
 * run without a window, whatever the time stamps do.  In the lead-in connections are followed and no probe fires.  With
 * connection records the same holds behind the window, until all connections whose last packet is in it have ended.
 */
#include "observe/observer_internal.h"

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
		return WINDOW_BEHIND;
	if (now >= w->from)
		return WINDOW_OPEN;
	return now >= w->lead_in ? WINDOW_LEAD_IN : WINDOW_SKIPPED;
}

unsigned
observer_window_measure(struct observer *o, const struct frame *frames, unsigned count, enum window_phase *phase)
{
	struct packet_clock clock = o->clock;
	unsigned behind = (unsigned)(o->batch_end - frames) - 1, span = 1;

	if (packet_clock_is_regular(&clock, frames[0].ts))
		clock.now = frames[0].ts + clock.offset;
	else if (packet_clock_decide(&clock, frames[0].ts, frames + 1, behind, o->input_waits) ==
		 PACKET_CLOCK_UNDECIDED)
		span = count;
	if (o->window.first == 0)
		o->window.first = clock.now;
	*phase = window_phase_at(&o->window, clock.now);
	for (; span < count && packet_clock_is_regular(&clock, frames[span].ts); span++) {
		clock.now = frames[span].ts + clock.offset;
		if (window_phase_at(&o->window, clock.now) != *phase)
			break;
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

	if (w->phase != WINDOW_BEHIND || !o->records || w->drained || now < w->next_check)
		return;
	while (flow_table_next(o->flows, &index, &flow)) {
		if (flow != NULL && flow->last_seen < w->to) {
			w->next_check = now + (now - w->to) + NANOSECONDS;
			return;
		}
	}
	w->drained = true;
}

