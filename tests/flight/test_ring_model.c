/* SPDX-License-Identifier: BSD-2-Clause */
/* The ring compared with a plain list: random frames of random connections, tunnels and fragments, read at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flight/ring_internal.h"
#include "tests/flight/ring_fixture.h"

#define FRAMES	 40000u
#define STREAMS	 40u
#define CIDS_MAX 3u
#define OPEN_MAX 64u

/* A frame as it was added. */
struct model_frame {
	uint64_t cids[CIDS_MAX];
	unsigned cid_count;
	uint32_t caplen, len;
	unsigned notes;
};

/* An incomplete datagram. */
struct model_datagram {
	uint32_t id;
	unsigned count;
	size_t frames[8];
};

struct model {
	struct ring_fixture fixture;
	struct model_frame frames[FRAMES];
	size_t count;
	struct model_datagram open[OPEN_MAX];
	uint64_t left; /* frames that have left, by the handler */
	uint64_t removed[FRAMES];
	uint32_t next_id;
	uint64_t random;
};

static struct model *model;

static unsigned
model_random(unsigned below)
{
	model->random = model->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(model->random >> 33) % below;
}

static void
on_leave(void *context, const struct ring_frame *frame)
{
	(void)context;
	model->removed[model->left++] = frame->ts - FIXTURE_NOW;
}

static struct flow *
model_flow(unsigned stream)
{
	return ring_fixture_flow(&model->fixture, stream, FIXTURE_NOW + model->count);
}

static void
model_add_cid(struct model_frame *frame, uint64_t cid)
{
	for (unsigned i = 0; i < frame->cid_count; i++)
		if (frame->cids[i] == cid)
			return;
	assert_true(frame->cid_count < CIDS_MAX);
	frame->cids[frame->cid_count++] = cid;
}

static void
model_add_flow(struct model_frame *frame, unsigned stream)
{
	struct flow *flow = model_flow(stream);

	ring_add_packet(model->fixture.ring, flow, model_random(2), DIRECTION_UNKNOWN, 1);
	model_add_cid(frame, flow_cid(model->fixture.flows, flow, 0));
}

/* A fragment of a new or of an incomplete datagram, which may become complete. */
static void
model_add_fragment(struct model_frame *frame)
{
	struct model_datagram *datagram = &model->open[model_random(OPEN_MAX)];
	struct packet packet;

	if (datagram->count == 0)
		datagram->id = model->next_id++;
	packet = ring_fixture_fragment(datagram->id);
	ring_add_fragment(model->fixture.ring, &packet);
	datagram->frames[datagram->count++] = model->count;
	if (datagram->count < 2 || (datagram->count < 8 && model_random(3) != 0)) {
		ring_add_packet(model->fixture.ring, NULL, 0, DIRECTION_UNKNOWN, 1);
		return;
	}
	if (model_random(4) == 0) {
		ring_complete_datagram(model->fixture.ring);
	} else {
		unsigned stream = model_random(STREAMS);

		model_add_flow(frame, stream);
		for (unsigned i = 0; i + 1 < datagram->count; i++)
			model_add_cid(&model->frames[datagram->frames[i]],
				      flow_cid(model->fixture.flows, model_flow(stream), 0));
	}
	datagram->count = 0;
}

static void
model_add(uint32_t length_max)
{
	struct model_frame *added = &model->frames[model->count];
	struct frame frame = ring_fixture_frame(&model->fixture, model->count, model_random(length_max + 1));

	added->caplen = frame.caplen;
	added->len = frame.len += model_random(3);
	if (model_random(2) == 0) { /* the fast path, after the slow one */
		struct flow *flow = model_flow(model_random(4));

		ring_begin_frame(model->fixture.ring, &frame, frame.ts);
		ring_add_packet(model->fixture.ring, flow, 0, DIRECTION_UNKNOWN, 1);
		ring_end_frame(model->fixture.ring);
		model_add_cid(added, flow_cid(model->fixture.flows, flow, 0));
		added++;
		model->count++;
		frame = ring_fixture_frame(&model->fixture, model->count, model_random(length_max + 1));
		added->caplen = added->len = frame.caplen;
		ring_add_frame(model->fixture.ring, &frame, frame.ts, flow, 1, DIRECTION_UNKNOWN, 1);
		model_add_cid(added, flow_cid(model->fixture.flows, flow, 0));
		model->count++;
		return;
	}
	ring_begin_frame(model->fixture.ring, &frame, frame.ts);
	if (model_random(4) == 0)
		model_add_flow(added, model_random(STREAMS));
	if (model_random(10) == 0)
		model_add_fragment(added);
	else if (model_random(4) == 0)
		model_add_flow(added, model_random(STREAMS));
	added->notes = model_random(8) == 0 ? model_random(4) : 0;
	for (unsigned i = 0; i < added->notes; i++)
		ring_add_text(model->fixture.ring, 1, "note");
	ring_end_frame(model->fixture.ring);
	model->count++;
}

static bool
model_has_cid(const struct model_frame *frame, uint64_t cid)
{
	bool has = cid == 0;

	for (unsigned i = 0; i < frame->cid_count; i++)
		has = has || frame->cids[i] == cid;
	return has;
}

static void
check_frame(const struct ring_frame *frame, size_t number)
{
	const struct model_frame *expected = &model->frames[number];

	assert_true(ring_fixture_matches(frame, number));
	assert_int_equal(frame->caplen, expected->caplen);
	assert_int_equal(frame->len, expected->len);
	assert_int_equal(frame->notes, expected->notes);
	assert_int_equal(frame->cid_count, expected->cid_count);
	for (unsigned i = 0; i < expected->cid_count; i++)
		assert_true(model_has_cid(expected, frame->cids[i]));
}

/* What is read is exactly what the list has after the frames that have left. */
static void
check_reading(uint64_t cid)
{
	struct ring_reader *reader =
	    ring_reader_new(model->fixture.ring, &(struct ring_selection){cid + (cid != 0 && model_random(2)), 0});
	size_t next = model->left;
	struct ring_frame frame;
	enum ring_read read;

	while ((read = ring_reader_next(reader, &frame)) != RING_END) {
		assert_int_not_equal(read, RING_NO_MEMORY);
		if (read != RING_FRAME)
			continue;
		while (next < model->count && !model_has_cid(&model->frames[next], cid))
			next++;
		assert_true(next < model->count);
		check_frame(&frame, next++);
	}
	while (next < model->count && !model_has_cid(&model->frames[next], cid))
		next++;
	assert_int_equal(next, model->count);
	assert_int_equal(ring_reader_lost(reader), 0);
	ring_reader_free(reader);
}

static void
check_everything(void)
{
	struct ring_counters counters = ring_counters(model->fixture.ring);
	uint64_t latest;

	assert_int_equal(counters.frames, model->count);
	assert_int_equal(counters.overwritten, model->left);
	for (size_t i = 0; i < model->left; i++)
		assert_int_equal(model->removed[i], i);
	check_reading(0);
	latest = flow_cid(model->fixture.flows, model_flow(0), 0);
	for (uint64_t cid = 1; cid <= latest; cid += 2)
		check_reading(cid);
}

/* As after as many laps that the low 32 bits of positions soon begin again, which takes 64 GiB of frames; marks are as
 * far apart as in a ring of 64 MiB. */
static void
advance_positions(struct ring *ring)
{
	ring->lap = ring->head = ring->tail = ring->limit = UINT64_C(3) * UINT32_MAX - 5 * ring->units / 2;
	ring->mark_distance = 64;
}

static void
run_model(uint64_t seed, size_t memory, uint32_t length_max, bool advanced)
{
	model = calloc(1, sizeof *model);
	assert_non_null(model);
	model->random = seed;
	/* Fewer flows than streams: indices are reused all the time. */
	ring_fixture_open(&model->fixture, (struct ring_limits){.memory = memory, .flows = 16, .seed = seed});
	if (advanced)
		advance_positions(model->fixture.ring);
	ring_set_leave_handler(model->fixture.ring, on_leave, NULL);
	while (model->count + 2 < FRAMES) {
		model_add(length_max);
		if (model->count == 2000 || model_random(8000) == 0)
			check_everything();
	}
	check_everything();
	assert_int_equal(model->fixture.ring->head > UINT64_C(3) * UINT32_MAX, advanced);
	ring_drain(model->fixture.ring);
	assert_int_equal(model->left, model->count);
	ring_fixture_close(&model->fixture);
	free(model);
}

static void
test_random_frames(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++)
		run_model(seed, RING_MEMORY_MIN + seed * 12345, seed % 2 == 0 ? 60 : 1500, seed > 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_random_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
