/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading an interface in place, with a ring whose blocks become ready when the test says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/batch.h"
#include "capture/live_interface.h"
#include "capture/packet_ring.h"

static unsigned ready, late;	   /* blocks of a frame each; those that become ready after a discard */
static unsigned discards, observed; /* calls; frames */
static bool interface_exists;
static bool frame_taken; /* of the present block */

/* These replace packet_ring.c and batch.c. */
struct packet_ring *
packet_ring_map(pcap_t *pcap, struct ring_geometry *geometry)
{
	(void)pcap;
	(void)geometry;
	return NULL;
}

void
packet_ring_unmap(struct packet_ring *ring)
{
	(void)ring;
}

bool
packet_ring_is_ready(const struct packet_ring *ring)
{
	(void)ring;
	return ready > 0;
}

unsigned
packet_ring_take(struct packet_ring *ring, struct frame *frames, unsigned most)
{
	(void)ring;
	assert_true(most > 0 && ready > 0);
	frames[0] = (struct frame){.ts = 1};
	frame_taken = true;
	return 1;
}

void
packet_ring_release(struct packet_ring *ring)
{
	(void)ring;
	ready -= frame_taken;
	frame_taken = false;
}

void
packet_ring_discard(struct packet_ring *ring)
{
	(void)ring;
	discards++;
	ready = late;
	late = 0;
}

bool
packet_ring_check(struct packet_ring *ring)
{
	(void)ring;
	return interface_exists;
}

void
batch_take_in_place(struct batch *batch, const struct frame *frames, unsigned count)
{
	(void)batch;
	(void)frames;
	observed += count;
}

bool
batch_flush_output(struct batch *batch)
{
	(void)batch;
	return true;
}

struct frame *
batch_next_frame(struct batch *batch)
{
	(void)batch;
	fail();
	return NULL;
}

void
batch_commit_frame(struct batch *batch)
{
	(void)batch;
}

/* ------------------------------------------------------------------------------------------------------- the tests */

static struct live live;
static struct packet_ring *const ring = (struct packet_ring *)(void *)&live; /* any but NULL: the test has the blocks */
static struct live_interface interface;

static int
setup(void **state)
{
	(void)state;
	live = (struct live){0};
	interface = (struct live_interface){.live = &live, .ring = ring};
	ready = late = discards = observed = 0;
	interface_exists = true;
	return 0;
}

static void
test_reads_at_most(void **state)
{
	(void)state;
	ready = FRAMES_PER_DISPATCH + 2;
	assert_int_equal(live_interface_dispatch(&interface), FRAMES_PER_DISPATCH);
	assert_int_equal(observed, FRAMES_PER_DISPATCH);
	assert_int_equal(live_interface_dispatch(&interface), 2);
	assert_int_equal(live_interface_dispatch(&interface), 0);
	assert_int_equal(observed, FRAMES_PER_DISPATCH + 2);
	assert_int_equal(discards, 0);
}

/* A block that becomes ready while the others are discarded is not observed. */
static void
test_suspended(void **state)
{
	(void)state;
	live.suspended = true;
	ready = 2;
	late = 1;
	assert_int_equal(live_interface_dispatch(&interface), 0);
	assert_int_equal(observed, 0);
	assert_int_equal(live_interface_dispatch(&interface), 0);
	assert_int_equal(ready, 0);
	assert_int_equal(observed, 0);
	assert_int_equal(discards, 2);
}

/* A removed interface is an error once its frames have been read. */
static void
test_removed(void **state)
{
	(void)state;
	interface_exists = false;
	ready = 1;
	assert_int_equal(live_interface_dispatch(&interface), 1);
	assert_int_equal(live_interface_dispatch(&interface), PCAP_ERROR);
}

/* Frames from before the fanout group was complete are not counted: every worker has received them. */
static void
test_fanout(void **state)
{
	(void)state;
	live.counters.received = interface.stats.received = 2;
	interface.fanout_since = 2;
	ready = 1;
	assert_int_equal(live_interface_dispatch(&interface), 1);
	assert_int_equal(observed, 0);
	assert_int_equal(live.counters.received, 1);
	assert_int_equal(interface.stats.received, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_reads_at_most, setup),
	    cmocka_unit_test_setup(test_suspended, setup),
	    cmocka_unit_test_setup(test_removed, setup),
	    cmocka_unit_test_setup(test_fanout, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
