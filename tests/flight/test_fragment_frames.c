/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a datagram's fragments are found again, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flight/fragment_frames.h"
#include "tests/flight/ring_fixture.h"

static struct fragment_key
key_of(uint32_t id)
{
	struct packet packet = ring_fixture_fragment(id);
	struct fragment_key key;

	fragment_key_set(&key, &packet);
	return key;
}

static void
test_a_datagram_has_its_frames(void **state)
{
	struct fragment_frames *fragments = fragment_frames_new(1);
	struct fragment_key a = key_of(1), b = key_of(2);
	uint64_t frames[4];

	(void)state;
	assert_non_null(fragments);
	fragment_frames_add(fragments, &a, 10, 0);
	fragment_frames_add(fragments, &b, 11, 0);
	fragment_frames_add(fragments, &a, 12, 0);
	assert_int_equal(fragment_frames_take(fragments, &a, 0, frames, 4), 2);
	assert_int_equal(frames[0], 12);
	assert_int_equal(frames[1], 10);
	assert_int_equal(fragment_frames_take(fragments, &a, 0, frames, 4), 0);
	assert_int_equal(fragment_frames_take(fragments, &b, 0, frames, 4), 1);
	assert_int_equal(frames[0], 11);
	fragment_frames_free(fragments);
}

static void
test_the_protocol_counts_in_ipv4_only(void **state)
{
	struct packet packet = ring_fixture_fragment(1);
	struct fragment_key a, b;

	(void)state;
	fragment_key_set(&a, &packet);
	packet.ip.protocol = 6;
	fragment_key_set(&b, &packet);
	assert_memory_not_equal(&a, &b, sizeof a);
	packet.ip.version = 6;
	fragment_key_set(&a, &packet);
	packet.ip.protocol = 17;
	fragment_key_set(&b, &packet);
	assert_memory_equal(&a, &b, sizeof a);
}

static void
test_the_oldest_are_dropped(void **state)
{
	struct fragment_frames *fragments = fragment_frames_new(1);
	uint64_t frames[2];
	struct fragment_key key;

	(void)state;
	for (uint32_t id = 0; id < 3 * FRAGMENT_FRAMES; id++) {
		key = key_of(id);
		fragment_frames_add(fragments, &key, id, 0);
	}
	for (uint32_t id = 0; id < 3 * FRAGMENT_FRAMES; id++) {
		key = key_of(id);
		assert_int_equal(fragment_frames_take(fragments, &key, 0, frames, 2), id >= 2 * FRAGMENT_FRAMES);
		if (id >= 2 * FRAGMENT_FRAMES)
			assert_int_equal(frames[0], id);
	}
	fragment_frames_free(fragments);
}

static void
test_what_does_not_fit_is_removed_too(void **state)
{
	struct fragment_frames *fragments = fragment_frames_new(1);
	struct fragment_key key = key_of(1);
	uint64_t frames[2];

	(void)state;
	for (uint64_t frame = 0; frame < 5; frame++)
		fragment_frames_add(fragments, &key, frame, 0);
	assert_int_equal(fragment_frames_take(fragments, &key, 0, frames, 2), 2);
	assert_int_equal(frames[0], 4);
	assert_int_equal(frames[1], 3);
	assert_int_equal(fragment_frames_take(fragments, &key, 0, frames, 2), 0);
	fragment_frames_free(fragments);
}

/* The identification is used again after the timeout, which starts with the first fragment. */
static void
test_a_datagram_that_timed_out_is_another(void **state)
{
	const uint64_t second = UINT64_C(1000000000);
	struct fragment_frames *fragments = fragment_frames_new(1);
	struct fragment_key key = key_of(1);
	uint64_t frames[4], timeout = (key.version == 4 ? 30 : 60) * second;

	(void)state;
	fragment_frames_add(fragments, &key, 10, second);
	fragment_frames_add(fragments, &key, 11, timeout);
	fragment_frames_add(fragments, &key, 12, timeout + second);
	assert_int_equal(fragment_frames_take(fragments, &key, timeout + second, frames, 4), 1);
	assert_int_equal(frames[0], 12);
	assert_int_equal(fragment_frames_take(fragments, &key, timeout + second, frames, 4), 0);
	fragment_frames_add(fragments, &key, 13, second);
	assert_int_equal(fragment_frames_take(fragments, &key, timeout + second - 1, frames, 4), 1);
	fragment_frames_add(fragments, &key, 14, second);
	assert_int_equal(fragment_frames_take(fragments, &key, timeout + second, frames, 4), 0);
	fragment_frames_free(fragments);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_datagram_has_its_frames),
	    cmocka_unit_test(test_the_protocol_counts_in_ipv4_only),
	    cmocka_unit_test(test_the_oldest_are_dropped),
	    cmocka_unit_test(test_what_does_not_fit_is_removed_too),
	    cmocka_unit_test(test_a_datagram_that_timed_out_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
