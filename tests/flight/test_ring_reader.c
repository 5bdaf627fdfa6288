/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading connections: chains, tunnels, fragments, reused indices, and a ring that goes on meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/flight/ring_fixture.h"

static struct ring_fixture fixture;

static int
open_ring(void **state)
{
	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	return 0;
}

static int
close_ring(void **state)
{
	(void)state;
	ring_fixture_close(&fixture);
	return 0;
}

static struct ring_reader *
read_from(uint64_t cid, uint64_t from)
{
	struct ring_reader *reader = ring_reader_new(fixture.ring, &(struct ring_selection){cid, from});

	assert_non_null(reader);
	return reader;
}

static bool
next_frame(struct ring_reader *reader, struct ring_frame *frame)
{
	enum ring_read read;

	while ((read = ring_reader_next(reader, frame)) == RING_LATER)
		;
	assert_int_not_equal(read, RING_NO_MEMORY);
	return read == RING_FRAME;
}

/* A connection has exactly these frames. */
static void
check_connection(uint64_t cid, const uint64_t *numbers, size_t count, bool cut)
{
	struct ring_reader *reader = read_from(cid, 0);
	struct ring_frame frame;

	for (size_t i = 0; i < count; i++) {
		assert_true(next_frame(reader, &frame));
		assert_true(ring_fixture_matches(&frame, numbers[i]));
	}
	assert_false(next_frame(reader, &frame));
	assert_int_equal(ring_reader_is_cut(reader), cut);
	assert_int_equal(ring_reader_lost(reader), 0);
	ring_reader_free(reader);
}

static uint64_t
cid_of(unsigned stream)
{
	return flow_cid(fixture.flows, ring_fixture_flow(&fixture, stream, FIXTURE_NOW), 0);
}

static void
test_a_connection_has_its_frames(void **state)
{
	uint64_t numbers[100];

	(void)state;
	for (uint64_t number = 0; number < 300; number++)
		ring_fixture_add(&fixture, number, 100, (unsigned)(number % 3));
	for (uint64_t i = 0; i < 100; i++)
		numbers[i] = 3 * i + 1;
	check_connection(cid_of(1), numbers, 100, false);
	check_connection(cid_of(1) + 1, numbers, 100, false); /* the other end's id */
	check_connection(999999, NULL, 0, false);
}

static void
test_a_connection_whose_first_frames_are_gone(void **state)
{
	uint64_t numbers[5000];
	size_t count = 0, fit = RING_MEMORY_MIN / 160;

	(void)state;
	for (uint64_t number = 0; number < 10000; number++)
		ring_fixture_add(&fixture, number, 100, number < 9000 ? (unsigned)(number % 3) : 4);
	for (uint64_t number = 10000 - fit; number < 9000; number++)
		if (number % 3 == 1)
			numbers[count++] = number;
	check_connection(cid_of(1), numbers, count, true);
	for (uint64_t number = 10000; number < 20000; number++)
		ring_fixture_add(&fixture, number, 100, 5);
	check_connection(cid_of(1), NULL, 0, true);
}

/* Ids of the fast path are those of the slow path. */
static void
test_frames_of_the_fast_path(void **state)
{
	uint64_t numbers[20];
	struct flow *flow;

	(void)state;
	ring_fixture_add(&fixture, 0, 60, 1);
	flow = ring_fixture_flow(&fixture, 1, FIXTURE_NOW);
	for (uint64_t number = 1; number < 20; number++) {
		struct frame frame = ring_fixture_frame(&fixture, number, 700);

		ring_prefetch(fixture.ring, (const struct flow *const[]){flow}, 1);
		ring_add_frame(fixture.ring, &frame, frame.ts, flow, 1, DIRECTION_IN, number + 1);
	}
	for (uint64_t number = 0; number < 20; number++)
		numbers[number] = number;
	check_connection(flow_cid(fixture.flows, flow, 0), numbers, 20, false);
}

/* A flow is removed, and its index goes to another connection: both have their own frames. */
static void
test_a_reused_index(void **state)
{
	static const uint64_t first[] = {0, 1, 2}, second[] = {3, 4};
	uint64_t old_cid, cid;

	(void)state;
	for (uint64_t number = 0; number < 3; number++)
		ring_fixture_add(&fixture, number, 100, 1);
	old_cid = cid_of(1);
	flow_table_clear(fixture.flows);
	check_connection(old_cid, first, 3, false); /* the slot is not reused yet */
	for (uint64_t number = 3; number < 5; number++)
		ring_fixture_add(&fixture, number, 100, 2);
	cid = cid_of(2);
	assert_int_not_equal(cid, old_cid);
	check_connection(cid, second, 2, false);
	check_connection(old_cid, first, 3, false);
	for (uint64_t number = 5; number < 10000; number++)
		ring_fixture_add(&fixture, number, 60, 3);
	check_connection(old_cid, first + 3, 0, false); /* nothing is known of it any more */
}

/* Frames whose first ones are overwritten are cut even if their index was reused. */
static void
test_a_reused_index_of_a_cut_connection(void **state)
{
	uint64_t numbers[6000], old_cid;
	size_t fit = RING_MEMORY_MIN / 112;

	(void)state;
	for (uint64_t number = 0; number < 12000; number++)
		ring_fixture_add(&fixture, number, 60, 1);
	old_cid = cid_of(1);
	flow_table_clear(fixture.flows);
	for (uint64_t number = 12000; number < 17000; number++)
		ring_fixture_add(&fixture, number, 60, 2);
	for (size_t i = 0; i < fit - 5000; i++)
		numbers[i] = 17000 - fit + i;
	check_connection(old_cid, numbers, fit - 5000, true);
}

/* A frame of a tunnel belongs to each of its connections. */
static void
test_a_tunnel(void **state)
{
	static const uint64_t outer[] = {0, 1, 2}, inner[] = {1, 2, 3}, all[] = {0, 1, 2, 3};
	struct ring_reader *reader;
	struct ring_frame found;

	(void)state;
	for (uint64_t number = 0; number < 4; number++) {
		struct frame frame = ring_fixture_frame(&fixture, number, 100);

		ring_begin_frame(fixture.ring, &frame, frame.ts);
		if (number != 3)
			ring_add_packet(fixture.ring, ring_fixture_flow(&fixture, 1, frame.ts), 0, DIRECTION_IN, 2);
		if (number != 0)
			ring_add_packet(fixture.ring, ring_fixture_flow(&fixture, 2, frame.ts), 1, DIRECTION_IN, 3);
		ring_add_packet(fixture.ring, NULL, 0, DIRECTION_IN, 4);
		ring_end_frame(fixture.ring);
	}
	check_connection(cid_of(1), outer, 3, false);
	check_connection(cid_of(2), inner, 3, false);
	check_connection(0, all, 4, false);
	reader = read_from(0, FIXTURE_NOW + 1);
	assert_true(next_frame(reader, &found));
	assert_int_equal(found.cid_count, 2);
	assert_int_equal(found.cids[0], cid_of(1));
	assert_int_equal(found.cids[1], cid_of(2));
	assert_int_equal(found.sender, 0);
	assert_int_equal(found.packet_id, 2);
	ring_reader_free(reader);
}

static void
add_fragment(uint64_t number, uint32_t id, int stream, bool in_tunnel)
{
	struct frame frame = ring_fixture_frame(&fixture, number, 100);
	struct packet packet = ring_fixture_fragment(id);

	ring_begin_frame(fixture.ring, &frame, frame.ts);
	if (in_tunnel)
		ring_add_packet(fixture.ring, ring_fixture_flow(&fixture, 99, frame.ts), 0, DIRECTION_IN, 1);
	ring_add_fragment(fixture.ring, &packet);
	ring_add_packet(fixture.ring, stream >= 0 ? ring_fixture_flow(&fixture, (unsigned)stream, frame.ts) : NULL, 0,
			DIRECTION_IN, 2);
	if (stream == -2)
		ring_complete_datagram(fixture.ring);
	ring_end_frame(fixture.ring);
}

/* Fragments belong to the connection of their datagram, in their place, even with frames of it between them. */
static void
test_fragments(void **state)
{
	static const uint64_t first[] = {0, 2, 3, 4, 6}, second[] = {1, 5}, third[] = {8};
	uint64_t cid;

	(void)state;
	ring_fixture_add(&fixture, 0, 60, 1);
	add_fragment(1, 2, -1, false);
	add_fragment(2, 1, -1, false);
	ring_fixture_add(&fixture, 3, 60, 1);
	add_fragment(4, 1, -1, false);
	add_fragment(5, 2, 2, false);
	add_fragment(6, 1, 1, false);
	add_fragment(7, 1, -2, false); /* a datagram of no connection, with the same identification */
	add_fragment(8, 1, 3, false);
	check_connection(cid_of(1), first, 5, false);
	check_connection(cid_of(2), second, 2, false);
	check_connection(cid_of(3), third, 1, false);
	cid = cid_of(1);
	flow_table_clear(fixture.flows);
	for (unsigned stream = 10; stream < 13; stream++)
		ring_fixture_add(&fixture, 10 + stream, 60, stream);
	check_connection(cid, first, 5, false); /* by examining all frames */
}

static void
test_fragments_in_a_tunnel(void **state)
{
	static const uint64_t outer[] = {0, 1, 2, 3}, inner[] = {1, 3}, other[] = {0, 2};
	struct ring_reader *reader;
	struct ring_frame found;

	(void)state;
	add_fragment(0, 2, -1, true);
	add_fragment(1, 1, -1, true);
	add_fragment(2, 2, 2, true);
	add_fragment(3, 1, 1, true);
	check_connection(cid_of(99), outer, 4, false);
	check_connection(cid_of(1), inner, 2, false);
	check_connection(cid_of(2), other, 2, false);
	reader = read_from(0, 0);
	assert_true(next_frame(reader, &found));
	assert_int_equal(found.cid_count, 2);
	assert_int_equal(found.cids[0], cid_of(99));
	assert_int_equal(found.cids[1], cid_of(2));
	ring_reader_free(reader);
}

/* The last fragment of a tunnel's datagram with a connection inside; itself it has one unless `outer` is negative. */
static void
complete_tunnel(uint64_t number, uint32_t id, int outer, unsigned inner)
{
	struct frame frame = ring_fixture_frame(&fixture, number, 100);
	struct packet packet = ring_fixture_fragment(id);

	ring_begin_frame(fixture.ring, &frame, frame.ts);
	ring_add_fragment(fixture.ring, &packet);
	ring_add_packet(fixture.ring, outer >= 0 ? ring_fixture_flow(&fixture, (unsigned)outer, frame.ts) : NULL, 0,
			DIRECTION_IN, 1);
	ring_complete_datagram(fixture.ring);
	ring_add_packet(fixture.ring, ring_fixture_flow(&fixture, inner, frame.ts), 0, DIRECTION_IN, 2);
	ring_end_frame(fixture.ring);
}

/* The fragments of a tunnel belong to the connection inside, too. */
static void
test_fragments_of_a_tunnel(void **state)
{
	static const uint64_t frames[2][3] = {{0, 1, 4}, {2, 3, 5}};
	uint64_t first, second;

	(void)state;
	for (uint64_t number = 0; number < 4; number++)
		add_fragment(number, number < 2 ? 1 : 2, -1, false);
	complete_tunnel(4, 1, -1, 1);
	complete_tunnel(5, 2, 2, 3);
	check_connection(cid_of(1), frames[0], 3, false);
	check_connection(cid_of(2), frames[1], 3, false);
	check_connection(cid_of(3), frames[1], 3, false);
	first = cid_of(1);
	second = cid_of(3);
	flow_table_clear(fixture.flows);
	for (unsigned stream = 10; stream < 14; stream++)
		ring_fixture_add(&fixture, 10 + stream, 60, stream);
	check_connection(first, frames[0], 3, false); /* by examining all frames */
	check_connection(second, frames[1], 3, false);
}

/* Fragments that were overwritten before their datagram was complete. */
static void
test_fragments_that_are_gone(void **state)
{
	static const uint64_t numbers[] = {10000};

	(void)state;
	add_fragment(0, 1, -1, false);
	for (uint64_t number = 1; number < 10000; number++)
		ring_fixture_add(&fixture, number, 60, 5);
	add_fragment(10000, 1, 1, false);
	check_connection(cid_of(1), numbers, 1, false);
}

/* A thousand datagrams at once whose fragments are out of order: the list is sorted in several steps. */
static void
test_many_fragments(void **state)
{
	static uint64_t numbers[6000];
	size_t count = 0;

	(void)state;
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t id = 0; id < 2000; id++, count++)
			add_fragment(count, id, pass == 1 ? 1 : -1, false);
	for (size_t i = 0; i < count; i++)
		numbers[i] = i;
	check_connection(cid_of(1), numbers, count, false);
}

/* A connection with more frames than a reader lists is read, too: all frames are examined. */
static void
test_more_frames_than_a_list_has(void **state)
{
	const uint64_t count = 1200000;
	uint64_t number = 0, read = 0;
	struct ring_reader *reader;
	struct ring_frame frame;
	struct flow *flow;

	(void)state;
	ring_fixture_close(&fixture);
	ring_fixture_open(&fixture, (struct ring_limits){.memory = (size_t)128 * 1024 * 1024});
	ring_fixture_add(&fixture, number++, 30, 2);
	ring_fixture_add(&fixture, number++, 30, 1);
	flow = ring_fixture_flow(&fixture, 1, FIXTURE_NOW);
	while (number < count) {
		struct frame added = ring_fixture_frame(&fixture, number++, 30);

		ring_add_frame(fixture.ring, &added, added.ts, flow, 0, DIRECTION_UNKNOWN, number);
	}
	reader = read_from(flow_cid(fixture.flows, flow, 0), 0);
	while (next_frame(reader, &frame))
		assert_true(ring_fixture_matches(&frame, ++read));
	assert_int_equal(read, count - 1);
	assert_false(ring_reader_is_cut(reader));
	ring_reader_free(reader);
}

/* The ring goes on between two frames: what was overwritten is counted, never read; what came later is not read. */
static void
check_reading_between_laps(uint64_t cid, uint64_t frames, uint64_t between)
{
	struct ring_reader *reader = read_from(cid, 0);
	uint64_t number = frames, expected = ring_counters(fixture.ring).frames_now, read = 0, latest = 0;
	enum ring_read next;
	struct ring_frame frame;

	while ((next = ring_reader_next(reader, &frame)) != RING_END) {
		assert_int_not_equal(next, RING_NO_MEMORY);
		if (next == RING_FRAME) {
			uint64_t found = frame.ts - FIXTURE_NOW;

			assert_true(ring_fixture_matches(&frame, found));
			assert_true(read == 0 || found > latest);
			assert_true(found < frames);
			latest = found;
			read++;
		}
		for (uint64_t i = 0; i < between; i++)
			ring_fixture_add(&fixture, number++, 100, 1);
	}
	assert_true(read > 0);
	assert_true(between <= 1 || ring_reader_lost(reader) > 0);
	if (cid == 0)
		assert_int_equal(read + ring_reader_lost(reader), expected);
	else /* frames that were overwritten before they were listed are not counted */
		assert_true(read + ring_reader_lost(reader) == expected || ring_reader_is_cut(reader));
	ring_reader_free(reader);
}

static void
test_the_ring_goes_on_while_it_is_read(void **state)
{
	(void)state;
	for (uint64_t between = 0; between < 30; between = 2 * between + 1) {
		uint64_t frames = 9000;

		for (uint64_t number = 0; number < frames; number++)
			ring_fixture_add(&fixture, number, 100, 1);
		check_reading_between_laps(0, frames, between);
		ring_fixture_close(&fixture);
		open_ring(NULL);
		for (uint64_t number = 0; number < frames; number++)
			ring_fixture_add(&fixture, number, 100, 1);
		/* A step that follows the chain takes some thousand frames. */
		check_reading_between_laps(cid_of(1), frames, between);
		ring_fixture_close(&fixture);
		open_ring(NULL);
	}
}

static void
test_the_time_of_the_first_frame(void **state)
{
	struct ring_reader *reader;
	struct ring_frame frame;
	uint64_t read = 0;

	(void)state;
	for (uint64_t number = 0; number < 5000; number++)
		ring_fixture_add(&fixture, number, 100, (unsigned)(number % 2));
	reader = read_from(0, FIXTURE_NOW + 4000);
	while (next_frame(reader, &frame))
		assert_true(ring_fixture_matches(&frame, 4000 + read++));
	assert_int_equal(read, 1000);
	ring_reader_free(reader);
	read = 0;
	reader = read_from(cid_of(1), FIXTURE_NOW + 4000);
	while (next_frame(reader, &frame))
		read++;
	assert_int_equal(read, 500);
	ring_reader_free(reader);
}

/* Time going backwards changes no order. */
static void
test_time_goes_backwards(void **state)
{
	struct ring_reader *reader;
	struct ring_frame frame;

	(void)state;
	for (uint64_t number = 100; number-- > 0;)
		ring_fixture_add(&fixture, number, 100, 1);
	reader = read_from(0, 0);
	for (uint64_t number = 100; number-- > 0;) {
		assert_true(next_frame(reader, &frame));
		assert_true(ring_fixture_matches(&frame, number));
	}
	ring_reader_free(reader);
	reader = read_from(0, FIXTURE_NOW + 50);
	for (uint64_t number = 100; number-- > 50;) {
		assert_true(next_frame(reader, &frame));
		assert_true(ring_fixture_matches(&frame, number));
	}
	assert_false(next_frame(reader, &frame));
	ring_reader_free(reader);
}

#define RING_TEST(test) cmocka_unit_test_setup_teardown(test, open_ring, close_ring)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    RING_TEST(test_a_connection_has_its_frames),
	    RING_TEST(test_a_connection_whose_first_frames_are_gone),
	    RING_TEST(test_frames_of_the_fast_path),
	    RING_TEST(test_a_reused_index),
	    RING_TEST(test_a_reused_index_of_a_cut_connection),
	    RING_TEST(test_a_tunnel),
	    RING_TEST(test_fragments),
	    RING_TEST(test_fragments_in_a_tunnel),
	    RING_TEST(test_fragments_of_a_tunnel),
	    RING_TEST(test_fragments_that_are_gone),
	    RING_TEST(test_many_fragments),
	    RING_TEST(test_more_frames_than_a_list_has),
	    RING_TEST(test_the_ring_goes_on_while_it_is_read),
	    RING_TEST(test_the_time_of_the_first_frame),
	    RING_TEST(test_time_goes_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
