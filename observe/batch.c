/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/batch.h"

#include <stdlib.h>

#include "probes/print/print.h"

/* Copies start at multiples of this, so that memcpy() writes whole words. */
#define COPY_ALIGNMENT 16u

struct batch {
	struct observer *observer;
	struct printer *printer; /* NULL: nothing is printed */
	unsigned count; /* frames taken */
	uint32_t arena_used;	/* bytes of the arena */
	struct frame frames[BATCH_FRAMES];
	_Alignas(COPY_ALIGNMENT) uint8_t arena[BATCH_FRAMES * BATCH_COPY_MAX];
};

_Static_assert(BATCH_FRAMES <= OBSERVE_FRAMES_MAX, "the observer takes a whole batch");

struct batch *
batch_new(struct observer *observer, struct printer *printer)
{
	struct batch *batch = malloc(sizeof *batch);

	if (batch == NULL)
		return NULL;
	batch->observer = observer;
	batch->printer = printer;
	batch->count = 0;
	batch->arena_used = 0;
	return batch;
}

void
batch_free(struct batch *batch)
{
	free(batch);
}

void
batch_flush(struct batch *batch)
{
	unsigned count = batch->count;

	if (count == 0)
		return;
	batch->count = 0;
	batch->arena_used = 0;
	observe_frames(batch->observer, batch->frames, count);
}

void
batch_observe_in_place(struct batch *batch, const struct frame *frames, unsigned count)
{
	batch_flush(batch);
	if (count > 0)
		observe_frames(batch->observer, frames, count);
}

struct frame *
batch_next_frame(struct batch *batch)
{
	return &batch->frames[batch->count];
}

void
batch_commit_frame(struct batch *batch)
{
	struct frame *frame = &batch->frames[batch->count];

	if (__builtin_expect(frame->caplen > BATCH_COPY_MAX, 0)) {
		struct frame large = *frame;

		batch_flush(batch);
		observe_frames(batch->observer, &large, 1);
		return;
	}
	frame_copy_bytes(batch->arena + batch->arena_used, frame->data, frame->caplen);
	frame->data = batch->arena + batch->arena_used;
	batch->arena_used += (frame->caplen + COPY_ALIGNMENT - 1) & ~(COPY_ALIGNMENT - 1);
	if (++batch->count == BATCH_FRAMES)
		batch_flush(batch);
}

void
batch_populate_flows(struct batch *batch, uint32_t flows)
{
	observer_populate_flows(batch->observer, flows);
}

bool
batch_flush_output(struct batch *batch)
{
	bool good;

	batch_flush(batch);
	good = observer_flush_records(batch->observer);
	if (batch->printer == NULL)
		return good;
	printer_flush(batch->printer);
	return good && printer_error(batch->printer) == 0;
}

bool
batch_has_output(const struct batch *batch)
{
	return batch->printer != NULL && printer_is_waiting(batch->printer);
}

uint64_t
batch_output_dropped(const struct batch *batch)
{
	return batch->printer != NULL ? printer_dropped(batch->printer) : 0;
}

bool
batch_is_complete(const struct batch *batch)
{
	return observer_is_complete(batch->observer);
}

void
batch_stop_printing(struct batch *batch)
{
	if (batch->printer != NULL)
		printer_stop(batch->printer);
	batch->printer = NULL;
}

void
batch_clear_flows(struct batch *batch)
{
	batch_flush(batch);
	observer_clear(batch->observer);
}

void
batch_advance_clock(struct batch *batch, uint64_t now)
{
	batch_flush(batch);
	observer_advance_clock(batch->observer, now);
}

void
batch_poll_tracers(struct batch *batch)
{
	observer_poll_tracers(batch->observer);
}

void
batch_read_host_clock(struct batch *batch, struct host_clock *clock)
{
	batch_flush(batch);
	observer_read_host_clock(batch->observer, clock);
}

void
batch_flush_held(struct batch *batch)
{
	batch_flush(batch);
	observer_decide_held(batch->observer);
}
