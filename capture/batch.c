/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/batch.h"

#include <stdlib.h>

/* Copies start at multiples of this, so that memcpy() writes whole words. */
#define COPY_ALIGNMENT 16u

struct batch {
	struct frame_sink *sink;
	unsigned count;	     /* frames taken */
	uint32_t arena_used; /* bytes of the arena */
	struct frame frames[BATCH_FRAMES];
	_Alignas(COPY_ALIGNMENT) uint8_t arena[BATCH_FRAMES * BATCH_COPY_MAX];
};

_Static_assert(BATCH_FRAMES <= FRAME_SINK_FRAMES_MAX, "the sink takes a whole batch");

struct batch *
batch_new(struct frame_sink *sink)
{
	struct batch *batch = malloc(sizeof *batch);

	if (batch == NULL)
		return NULL;
	batch->sink = sink;
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
	batch->sink->ops->take(batch->sink, batch->frames, count);
}

void
batch_take_in_place(struct batch *batch, const struct frame *frames, unsigned count)
{
	batch_flush(batch);
	if (count > 0)
		batch->sink->ops->take(batch->sink, frames, count);
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
		batch->sink->ops->take(batch->sink, &large, 1);
		return;
	}
	frame_copy_bytes(batch->arena + batch->arena_used, frame->data, frame->caplen);
	frame->data = batch->arena + batch->arena_used;
	batch->arena_used += (frame->caplen + COPY_ALIGNMENT - 1) & ~(COPY_ALIGNMENT - 1);
	if (++batch->count == BATCH_FRAMES)
		batch_flush(batch);
}

struct frame_sink *
batch_sink(const struct batch *batch)
{
	return batch->sink;
}

bool
batch_flush_output(struct batch *batch)
{
	batch_flush(batch);
	return batch->sink->ops->flush_output(batch->sink);
}

void
batch_clear_flows(struct batch *batch)
{
	batch_flush(batch);
	batch->sink->ops->clear_flows(batch->sink);
}

void
batch_advance_clock(struct batch *batch, uint64_t now)
{
	batch_flush(batch);
	batch->sink->ops->advance_clock(batch->sink, now);
}

void
batch_read_host_clock(struct batch *batch, struct host_clock *clock)
{
	batch_flush(batch);
	batch->sink->ops->read_host_clock(batch->sink, clock);
}

void
batch_flush_held(struct batch *batch)
{
	batch_flush(batch);
	batch->sink->ops->take_held(batch->sink);
}
