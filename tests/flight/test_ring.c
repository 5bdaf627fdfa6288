/* SPDX-License-Identifier: BSD-2-Clause */
/* What the ring holds: the latest frames whole, the oldest overwritten first; limits, notes, interfaces. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pcap/dlt.h>

#include "flight/ring_internal.h"
#include "tests/flight/ring_fixture.h"

static struct ring_fixture fixture;

static int
close_ring(void **state)
{
	(void)state;
	ring_fixture_close(&fixture);
	return 0;
}

static struct ring_reader *
read_all(void)
{
	struct ring_reader *reader = ring_reader_new(fixture.ring, &(struct ring_selection){0, 0});

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

/* The ring has the frames `first` to `last`, each of `length` bytes, and no others. */
static void
check_frames(uint64_t first, uint64_t last, uint32_t length)
{
	struct ring_counters counters = ring_counters(fixture.ring);
	struct ring_reader *reader = read_all();
	struct ring_frame frame;

	for (uint64_t number = first; number <= last; number++) {
		assert_true(next_frame(reader, &frame));
		assert_int_equal(frame.caplen, length);
		assert_true(ring_fixture_matches(&frame, number));
		assert_int_equal(frame.packet_id, number + 1);
		assert_int_equal(frame.cid_count, 1);
	}
	assert_false(next_frame(reader, &frame));
	assert_int_equal(ring_reader_lost(reader), 0);
	ring_reader_free(reader);
	assert_int_equal(counters.frames_now, last + 1 - first);
	assert_int_equal(counters.overwritten, first);
	assert_int_equal(counters.oldest, FIXTURE_NOW + first);
	assert_int_equal(counters.newest, FIXTURE_NOW + last);
}

static void
test_an_empty_ring(void **state)
{
	struct ring_reader *reader;
	struct ring_counters counters;
	struct ring_frame frame;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	counters = ring_counters(fixture.ring);
	reader = read_all();
	assert_false(next_frame(reader, &frame));
	ring_reader_free(reader);
	assert_int_equal(counters.frames_now, 0);
	assert_int_equal(counters.oldest, 0);
	assert_int_equal(counters.newest, 0);
	ring_drain(fixture.ring);
}

/* Frames of every length around the units, several laps each: the latest are there, as many as fit. */
static void
test_it_wraps_at_every_length(void **state)
{
	(void)state;
	for (uint32_t length = 0; length < 100; length++) {
		uint32_t units = (48 + length + 15) / 16 * 16;
		uint64_t fit = RING_MEMORY_MIN / (units < 96 ? 96 : units), frames = 4 * fit + length;

		ring_fixture_open(&fixture, (struct ring_limits){0});
		for (uint64_t number = 0; number < frames; number++)
			ring_fixture_add(&fixture, number, length, 1);
		check_frames(frames - fit, frames - 1, length);
		if (length != 99)
			ring_fixture_close(&fixture);
	}
}

static void
test_limits_out_of_range(void **state)
{
	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	errno = 0;
	assert_null(ring_new(&(struct ring_limits){.memory = RING_MEMORY_MIN - 1, .flows = 1}));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ring_new(&(struct ring_limits){.memory = RING_MEMORY_MAX + 1, .flows = 1}));
	assert_int_equal(errno, EINVAL);
}

/* A frame larger than the ring allows is cut, and the frames around it are whole. */
static void
test_a_frame_larger_than_the_ring(void **state)
{
	struct ring_reader *reader;
	struct ring_frame frame;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	ring_fixture_add(&fixture, 0, 60, 1);
	ring_fixture_add(&fixture, 1, 2 * RING_MEMORY_MIN, 1);
	ring_fixture_add(&fixture, 2, 60, 1);
	reader = read_all();
	assert_true(next_frame(reader, &frame));
	assert_true(next_frame(reader, &frame));
	assert_true(ring_fixture_matches(&frame, 1));
	assert_in_range(frame.caplen, RING_MEMORY_MIN / 8 - 64, RING_MEMORY_MIN / 8);
	assert_int_equal(frame.len, 2 * RING_MEMORY_MIN);
	assert_true(next_frame(reader, &frame));
	assert_true(ring_fixture_matches(&frame, 2));
	assert_int_equal(ring_counters(fixture.ring).cut, 1);
	ring_reader_free(reader);
}

static void
test_frames_are_cut(void **state)
{
	struct ring_reader *reader;
	struct ring_frame frame;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){.snap = 64});
	ring_fixture_add(&fixture, 0, 64, 1);
	ring_fixture_add(&fixture, 1, 65, 1);
	reader = read_all();
	for (uint64_t number = 0; number < 2; number++) {
		assert_true(next_frame(reader, &frame));
		assert_true(ring_fixture_matches(&frame, number));
		assert_int_equal(frame.caplen, 64);
		assert_int_equal(frame.len, 64 + number);
	}
	ring_reader_free(reader);
	assert_int_equal(ring_counters(fixture.ring).cut, 1);
	assert_int_equal(ring_counters(fixture.ring).bytes, 128);
}

/* Beyond the limit only frames with notes are kept; each direction has its own. */
static void
test_frames_beyond_the_limit_are_left_out(void **state)
{
	static const uint64_t kept[] = {0, 1, 3, 5};
	struct ring_reader *reader;
	struct ring_frame found;
	struct flow *flow;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){.bytes = 200});
	flow = ring_fixture_flow(&fixture, 1, FIXTURE_NOW);
	for (uint64_t number = 0; number < 6; number++) {
		struct frame frame = ring_fixture_frame(&fixture, number, 100);
		bool other = number == 3;

		if (number == 4) {
			ring_add_frame(fixture.ring, &frame, frame.ts, flow, 0, DIRECTION_UNKNOWN, 1);
			continue;
		}
		ring_begin_frame(fixture.ring, &frame, frame.ts);
		if (number == 5)
			ring_add_remark(fixture.ring, flow, 0, RING_RESET);
		ring_add_packet(fixture.ring, flow, other, DIRECTION_UNKNOWN, 1);
		ring_end_frame(fixture.ring);
	}
	reader = read_all();
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		assert_true(next_frame(reader, &found));
		assert_true(ring_fixture_matches(&found, kept[i]));
	}
	assert_false(next_frame(reader, &found));
	ring_reader_free(reader);
	assert_int_equal(ring_counters(fixture.ring).left_out, 2);
	reader = ring_reader_new(fixture.ring, &(struct ring_selection){flow_cid(fixture.flows, flow, 1), 0});
	while (next_frame(reader, &found))
		;
	assert_true(ring_reader_is_cut(reader));
	ring_reader_free(reader);
}

/* Adds a frame of 100 bytes that has a note, or completes a datagram. */
static void
add_kept(uint64_t number, const struct flow *flow, unsigned sender, bool fragment)
{
	struct packet packet = ring_fixture_fragment((uint32_t)number);
	struct frame frame = ring_fixture_frame(&fixture, number, 100);

	if (fragment) {
		ring_begin_frame(fixture.ring, &frame, frame.ts);
		ring_add_fragment(fixture.ring, &packet);
		ring_add_packet(fixture.ring, NULL, 0, DIRECTION_UNKNOWN, 1);
		ring_end_frame(fixture.ring);
	}
	ring_begin_frame(fixture.ring, &frame, frame.ts);
	if (fragment)
		ring_add_fragment(fixture.ring, &packet);
	else
		ring_add_remark(fixture.ring, flow, sender, RING_ZERO_WINDOW);
	ring_add_packet(fixture.ring, flow, sender, DIRECTION_UNKNOWN, 1);
	ring_end_frame(fixture.ring);
}

/* Notes and completed datagrams keep a bounded number of frames beyond the limit, for each direction. */
static void
test_frames_kept_beyond_the_limit_are_bounded(void **state)
{
	enum { BEFORE = 2, BEYOND = 100 };
	const uint64_t kept = BEFORE + RING_KEPT_MAX;
	struct ring_counters counters;
	struct flow *flow;

	(void)state;
	for (unsigned fragment = 0; fragment <= 1; fragment++) {
		ring_fixture_open(&fixture, (struct ring_limits){.bytes = 200});
		flow = ring_fixture_flow(&fixture, 1, FIXTURE_NOW);
		for (uint64_t number = 0; number < kept + BEYOND; number++)
			add_kept(number, flow, 1, fragment != 0);
		counters = ring_counters(fixture.ring);
		assert_int_equal(counters.left_out, BEYOND);
		assert_int_equal(counters.frames, kept + (fragment != 0 ? kept + BEYOND : 0));
		assert_int_equal(counters.notes, fragment != 0 ? 0 : kept);
		assert_int_equal(counters.notes_dropped, fragment != 0 ? 0 : BEYOND);
		add_kept(0, flow, 0, false);
		assert_int_equal(ring_counters(fixture.ring).left_out, BEYOND);
		if (fragment == 0)
			ring_fixture_close(&fixture);
	}
}

/* A frame with a note is kept as long as one of its connections has room. */
static void
test_a_kept_frame_of_two_connections(void **state)
{
	struct flow *outer, *inner;
	struct frame frame;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){.bytes = 1});
	outer = ring_fixture_flow(&fixture, 1, FIXTURE_NOW);
	inner = ring_fixture_flow(&fixture, 2, FIXTURE_NOW);
	for (unsigned number = 0; number < RING_KEPT_MAX; number++)
		add_kept(number, outer, 0, false);
	for (unsigned number = 0; number < RING_KEPT_MAX + 1; number++) {
		assert_int_equal(ring_counters(fixture.ring).left_out, 0);
		frame = ring_fixture_frame(&fixture, number, 100);
		ring_begin_frame(fixture.ring, &frame, frame.ts);
		ring_add_remark(fixture.ring, inner, 0, RING_RESET);
		ring_add_packet(fixture.ring, outer, 0, DIRECTION_UNKNOWN, 1);
		ring_add_packet(fixture.ring, inner, 0, DIRECTION_UNKNOWN, 1);
		ring_end_frame(fixture.ring);
	}
	assert_int_equal(ring_counters(fixture.ring).left_out, 1);
}

static void
check_cut(uint64_t cid, size_t frames)
{
	struct ring_reader *reader = ring_reader_new(fixture.ring, &(struct ring_selection){cid, 0});
	struct ring_frame found;

	assert_non_null(reader);
	while (next_frame(reader, &found))
		frames--;
	assert_int_equal(frames, 0);
	assert_true(ring_reader_is_cut(reader));
	ring_reader_free(reader);
}

/* A frame that is left out is missing in each of its connections, even if nothing of one is kept. */
static void
test_every_connection_of_a_frame_that_is_left_out_is_cut(void **state)
{
	struct flow *flows[3];
	struct frame frame;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){.bytes = 150});
	for (unsigned i = 0; i < 3; i++)
		flows[i] = ring_fixture_flow(&fixture, i, FIXTURE_NOW);
	for (uint64_t number = 0; number < 2; number++) {
		frame = ring_fixture_frame(&fixture, number, 100);
		ring_begin_frame(fixture.ring, &frame, frame.ts);
		ring_add_packet(fixture.ring, flows[0], 0, DIRECTION_UNKNOWN, 1);
		ring_add_packet(fixture.ring, flows[1], 0, DIRECTION_UNKNOWN, 1);
		ring_end_frame(fixture.ring);
	}
	frame = ring_fixture_frame(&fixture, 2, 200);
	ring_begin_frame(fixture.ring, &frame, frame.ts);
	ring_add_packet(fixture.ring, flows[2], 0, DIRECTION_UNKNOWN, 1);
	ring_end_frame(fixture.ring);
	assert_int_equal(ring_counters(fixture.ring).left_out, 2);
	check_cut(flow_cid(fixture.flows, flows[0], 0), 1);
	check_cut(flow_cid(fixture.flows, flows[1], 0), 1);
	check_cut(flow_cid(fixture.flows, flows[2], 0), 0);
	frame = ring_fixture_frame(&fixture, 3, 60);
	ring_begin_frame(fixture.ring, &frame, frame.ts);
	ring_add_packet(fixture.ring, flows[2], 1, DIRECTION_UNKNOWN, 1);
	ring_end_frame(fixture.ring);
	check_cut(flow_cid(fixture.flows, flows[2], 0), 1);
}

/* ---------------------------------------------------------------------------------------------------------- leaving */

struct leaving {
	uint64_t next;
};

static void
on_leave(void *context, const struct ring_frame *frame)
{
	struct leaving *leaving = context;

	assert_true(ring_fixture_matches(frame, leaving->next));
	assert_int_equal(frame->cid_count, 1);
	leaving->next++;
}

static void
test_every_frame_leaves_in_order(void **state)
{
	struct leaving leaving = {0};

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	ring_set_leave_handler(fixture.ring, on_leave, &leaving);
	for (uint64_t number = 0; number < 5000; number++) {
		ring_fixture_add(&fixture, number, (uint32_t)(number * 37 % 1500), (unsigned)(number % 7));
		assert_int_equal(leaving.next, ring_counters(fixture.ring).overwritten);
	}
	assert_in_range(leaving.next, 3000, 4500);
	ring_drain(fixture.ring);
	assert_int_equal(leaving.next, 5000);
	assert_int_equal(ring_counters(fixture.ring).frames_now, 0);
	ring_fixture_add(&fixture, 5000, 100, 1);
	ring_drain(fixture.ring);
	assert_int_equal(leaving.next, 5001);
}

/* ------------------------------------------------------------------------------------------------------------ notes */

static bool
find_owner(void *context, const struct owner_key *key, uint32_t ifindex, uint64_t since, struct owner *owner)
{
	(void)key;
	(void)ifindex;
	(void)since;
	*owner = *(const struct owner *)context;
	return true;
}

static void
check_comment(const struct ring_frame *frame, size_t index, const char *expected)
{
	char text[RING_COMMENT_MAX];

	ring_frame_comment(fixture.ring, frame, index, text);
	assert_string_equal(text, expected);
}

static void
test_notes_are_text_when_they_are_read(void **state)
{
	static const struct owner curl = {.pid = 917, .comm = "curl"};
	struct flow_event change = {.kind = EVENT_TCP_STATE_CHANGE, .endpoint = 1};
	struct flow_event retransmit = {.kind = EVENT_TCP_RETRANSMIT,
					.retransmission = {RETRANSMIT_TAIL_LOSS_PROBE, 3, 250000}};
	struct flow_event timeout = {.kind = EVENT_TCP_TIMEOUT, .timeout = TIMEOUT_RETRANSMIT};
	struct ring_reader *reader;
	struct ring_frame found;
	struct frame frame;
	struct flow *flow;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	ring_set_owner_lookup(fixture.ring, find_owner, (void *)(uintptr_t)&curl);
	flow = ring_fixture_flow(&fixture, 1, FIXTURE_NOW);
	flow->local = 2;
	change.tcp_before.state = TCP_STATE_ESTABLISHED;
	change.tcp_after.state = TCP_STATE_FIN_WAIT_1;
	frame = ring_fixture_frame(&fixture, 0, 77);
	ring_begin_frame(fixture.ring, &frame, frame.ts);
	ring_add_event(fixture.ring, flow, &change);
	ring_add_event(fixture.ring, flow, &retransmit);
	ring_add_event(fixture.ring, flow, &timeout);
	ring_add_remark(fixture.ring, flow, 0, RING_ZERO_WINDOW);
	ring_add_text(fixture.ring, 1, "slow: tcps_srtt_us = 180231");
	ring_add_packet(fixture.ring, flow, 0, DIRECTION_OUT, 9);
	ring_end_frame(fixture.ring);
	ring_fixture_add(&fixture, 1, 60, 1);
	reader = read_all();
	assert_true(next_frame(reader, &found));
	assert_int_equal(found.notes, 5);
	assert_int_equal(found.direction, DIRECTION_OUT);
	check_comment(&found, 0, "tcp-state-change state-established -> state-fin-wait-1, cid 2, pid 917 curl");
	check_comment(&found, 1, "tcp-retransmit tail-loss-probe, sent 3 times, the last 250000 us before, cid 1");
	check_comment(&found, 2, "tcp-timeout-retransmit, cid 1");
	check_comment(&found, 3, "tcp-zero-window, cid 1");
	check_comment(&found, 4, "slow: tcps_srtt_us = 180231");
	check_comment(&found, 5, "");
	assert_true(next_frame(reader, &found));
	assert_int_equal(found.notes, 0);
	ring_reader_free(reader);
	assert_int_equal(ring_counters(fixture.ring).notes, 5);
}

static void
test_too_many_notes_are_dropped(void **state)
{
	struct frame frame;
	char text[2 * RING_COMMENT_MAX];
	struct ring_reader *reader;
	struct ring_frame found;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	frame = ring_fixture_frame(&fixture, 0, 60);
	ring_begin_frame(fixture.ring, &frame, frame.ts);
	for (unsigned i = 0; i < 100; i++)
		ring_add_text(fixture.ring, 1, text);
	ring_end_frame(fixture.ring);
	reader = read_all();
	assert_true(next_frame(reader, &found));
	text[RING_COMMENT_MAX - 1] = '\0';
	assert_in_range(found.notes, 10, 20);
	check_comment(&found, found.notes - 1, text);
	assert_int_equal(ring_counters(fixture.ring).notes_dropped, 100 - found.notes);
	ring_reader_free(reader);
}

/* ------------------------------------------------------------------------------------------------------- interfaces */

static void
add_on_interface(uint64_t number, unsigned interface, int dlt)
{
	struct frame frame = ring_fixture_frame(&fixture, number, 60);

	snprintf(fixture.interface.name, sizeof fixture.interface.name, "veth%u", interface);
	frame.dlt = dlt;
	ring_begin_frame(fixture.ring, &frame, frame.ts);
	ring_end_frame(fixture.ring);
}

static void
test_a_thousand_interfaces(void **state)
{
	const struct interface *first[1000];
	struct ring_reader *reader;
	struct ring_frame frame;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	for (unsigned number = 0; number < 3000; number++)
		add_on_interface(number, number % 1000, number < 2000 ? DLT_EN10MB : DLT_RAW);
	reader = read_all();
	for (unsigned number = 0; number < 3000; number++) {
		char name[16];

		snprintf(name, sizeof name, "veth%u", number % 1000);
		assert_true(next_frame(reader, &frame));
		assert_string_equal(frame.interface->name, name);
		assert_int_equal(frame.dlt, number < 2000 ? DLT_EN10MB : DLT_RAW);
		if (number < 1000)
			first[number] = frame.interface;
		else if (number < 2000)
			assert_ptr_equal(frame.interface, first[number % 1000]);
	}
	ring_reader_free(reader);
}

/* Names come and go: those that no frame in the ring uses make room. */
static void
test_interfaces_come_and_go(void **state)
{
	struct ring_reader *reader;
	struct ring_frame frame;
	uint64_t number = 0, named = 0, unnamed = 0;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	for (unsigned interface = 0; interface < 10 * RING_INTERFACES; interface++)
		for (unsigned i = 0; i < 5; i++)
			add_on_interface(number++, interface, DLT_EN10MB);
	reader = read_all();
	while (next_frame(reader, &frame)) {
		char name[16];

		snprintf(name, sizeof name, "veth%u", (unsigned)((frame.ts - FIXTURE_NOW) / 5));
		assert_string_equal(frame.interface->name, name);
		named++;
	}
	ring_reader_free(reader);
	assert_int_equal(named, RING_MEMORY_MIN / 112);
	/* More than the table has, at once: the others have no name, and their link type. */
	for (unsigned interface = 0; interface < 3 * RING_INTERFACES; interface++)
		add_on_interface(number++, interface, interface % 2 == 0 ? DLT_EN10MB : DLT_RAW);
	reader = read_all();
	named = 0;
	while (next_frame(reader, &frame)) {
		if (frame.interface->name[0] == '\0')
			unnamed++;
		else
			named++;
		assert_int_equal(frame.dlt, (number - (frame.ts - FIXTURE_NOW)) % 2 == 0 ? DLT_EN10MB : DLT_RAW);
	}
	ring_reader_free(reader);
	assert_true(unnamed > 0);
	assert_true(named > 0);
}

/* Every interface has a second link type: those that the ring has no room for have no name, and their link type. */
static void
test_more_link_types_than_sources(void **state)
{
	struct ring_reader *reader;
	struct ring_frame frame;
	unsigned number = 0, named = 0, frames = 2 * RING_INTERFACES;

	(void)state;
	ring_fixture_open(&fixture, (struct ring_limits){0});
	for (; number < frames; number++)
		add_on_interface(number, number % RING_INTERFACES, number < RING_INTERFACES ? DLT_EN10MB : DLT_RAW);
	reader = read_all();
	for (number = 0; number < frames; number++) {
		char name[16];

		snprintf(name, sizeof name, "veth%u", number % RING_INTERFACES);
		assert_true(next_frame(reader, &frame));
		assert_int_equal(frame.dlt, number < RING_INTERFACES ? DLT_EN10MB : DLT_RAW);
		if (frame.interface->name[0] == '\0')
			continue;
		assert_string_equal(frame.interface->name, name);
		named++;
	}
	ring_reader_free(reader);
	assert_in_range(named, RING_INTERFACES + 1, frames - 1);
}

/* Frames of interfaces beyond the limit have the unknown interface, without a search of all for each of them; a second
 * link type of a known interface still has its name. */
static void
test_interfaces_beyond_the_limit(void **state)
{
	enum { FRAMES = 1000000 };
	struct ring_interfaces *interfaces = ring_interfaces_new(1);
	struct ring_source source;
	struct frame frame;

	(void)state;
	assert_non_null(interfaces);
	ring_fixture_open(&fixture, (struct ring_limits){0});
	frame = ring_fixture_frame(&fixture, 0, 60);
	for (uint32_t i = 0; i < FRAMES; i++) {
		fixture.interface.ifindex = i + 1;
		source = *ring_interfaces_source(interfaces, ring_interfaces_find(interfaces, &frame, i, 0));
		assert_int_equal(source.interface->ifindex, i < RING_INTERFACES ? i + 1 : 0);
	}
	fixture.interface.ifindex = 1;
	frame.dlt = DLT_RAW;
	source = *ring_interfaces_source(interfaces, ring_interfaces_find(interfaces, &frame, FRAMES, 0));
	assert_int_equal(source.interface->ifindex, 1);
	assert_int_equal(source.dlt, DLT_RAW);
	ring_interfaces_free(interfaces);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(test_an_empty_ring, close_ring),
	    cmocka_unit_test_teardown(test_it_wraps_at_every_length, close_ring),
	    cmocka_unit_test_teardown(test_limits_out_of_range, close_ring),
	    cmocka_unit_test_teardown(test_a_frame_larger_than_the_ring, close_ring),
	    cmocka_unit_test_teardown(test_frames_are_cut, close_ring),
	    cmocka_unit_test_teardown(test_frames_beyond_the_limit_are_left_out, close_ring),
	    cmocka_unit_test_teardown(test_frames_kept_beyond_the_limit_are_bounded, close_ring),
	    cmocka_unit_test_teardown(test_a_kept_frame_of_two_connections, close_ring),
	    cmocka_unit_test_teardown(test_every_connection_of_a_frame_that_is_left_out_is_cut, close_ring),
	    cmocka_unit_test_teardown(test_every_frame_leaves_in_order, close_ring),
	    cmocka_unit_test_teardown(test_notes_are_text_when_they_are_read, close_ring),
	    cmocka_unit_test_teardown(test_too_many_notes_are_dropped, close_ring),
	    cmocka_unit_test_teardown(test_a_thousand_interfaces, close_ring),
	    cmocka_unit_test_teardown(test_interfaces_come_and_go, close_ring),
	    cmocka_unit_test_teardown(test_more_link_types_than_sources, close_ring),
	    cmocka_unit_test_teardown(test_interfaces_beyond_the_limit, close_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
