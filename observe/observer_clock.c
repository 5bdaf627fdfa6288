/* SPDX-License-Identifier: BSD-2-Clause */
/* Irregular time stamps: frames that wait for a decision, counters and messages. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "observe/observer_internal.h"

struct held_frames {
	unsigned count;
	struct frame frames[OBSERVE_HELD_MAX];
	uint8_t bytes[]; /* of all frames, one behind the other */
};

/* Copies the last frames of a call.  False if out of memory. */
static bool
observe_hold_frames(struct observer *o, const struct frame *frames, unsigned count)
{
	struct held_frames *held;
	size_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		bytes += frames[i].caplen;
	held = malloc(sizeof *held + bytes);
	if (held == NULL)
		return false;
	held->count = count;
	bytes = 0;
	for (unsigned i = 0; i < count; i++) {
		held->frames[i] = frames[i];
		held->frames[i].data = held->bytes + bytes;
		memcpy(held->bytes + bytes, frames[i].data, frames[i].caplen);
		bytes += frames[i].caplen;
	}
	o->held = held;
	return true;
}

unsigned
observe_join_held(struct observer *o, const struct frame *frames, unsigned count, struct frame *joined)
{
	const struct held_frames *held = o->held;

	memcpy(joined, held->frames, held->count * sizeof joined[0]);
	if (count > 0)
		memcpy(joined + held->count, frames, count * sizeof joined[0]);
	return held->count + count;
}

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

static void
observe_ignore_stamp(struct observer *o, const struct frame *frame)
{
	int64_t difference = (int64_t)(frame->ts + o->clock.offset - o->clock.now);
	const char *name = frame->interface->name; /* empty: a file */

	o->counters.stray_stamps++;
	log_warning("the time stamp of a frame is ignored: it differs by %+.3f s from those around it%s%s",
		    (double)difference / 1e9, name[0] != '\0' ? ", interface " : "", name);
}

bool
observe_move_clock_irregularly(struct observer *o, const struct frame *frame)
{
	unsigned behind = (unsigned)(o->batch_end - frame) - 1;
	bool backward = frame->ts + o->clock.offset < o->clock.now;
	enum packet_clock_verdict verdict =
	    packet_clock_decide(&o->clock, frame->ts, frame + 1, behind, o->input_waits);

	if (verdict == PACKET_CLOCK_UNDECIDED) {
		if (observe_hold_frames(o, frame, behind + 1))
			return false;
		verdict = packet_clock_decide(&o->clock, frame->ts, frame + 1, behind, true);
	}
	o->counters.backward_frames += backward;
	if (verdict == PACKET_CLOCK_STEP)
		observe_count_clock_step(o);
	else if (verdict == PACKET_CLOCK_STRAY)
		observe_ignore_stamp(o, frame);
	return true;
}

void
observe_run_app_timers(struct observer *o)
{
	uint64_t due;

	while ((due = o->app_layer->next_timeout) <= o->clock.now) {
		flow_table_run_timers(o->flows, due);
		app_layer_run_timers(o->app_layer, o->emitter, due);
	}
}
