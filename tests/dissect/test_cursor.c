/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dissect/cursor.h"

static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09};

static void
takes_in_order(void **state)
{
	struct cursor c = cursor_init(bytes, sizeof bytes, sizeof bytes);
	struct slice v;

	(void)state;
	assert_true(cursor_take(&c, 2, &v));
	assert_ptr_equal(v.at, bytes);
	assert_int_equal(v.len, 2);
	assert_true(cursor_take(&c, 7, &v));
	assert_int_equal(slice_u8(v, 6), 9);
	assert_int_equal(c.captured, 0);
	assert_int_equal(c.wire, 0);
	assert_int_equal(c.error, CURSOR_OK);
}

static void
takes_nothing_at_the_end(void **state)
{
	struct cursor c = cursor_init(bytes, 0, 0);
	struct slice v;

	(void)state;
	assert_true(cursor_take(&c, 0, &v));
	assert_int_equal(v.len, 0);
}

static void
a_cut_capture_is_truncated(void **state)
{
	struct cursor c = cursor_init(bytes, 4, 9);
	struct slice v;

	(void)state;
	assert_false(cursor_take(&c, 5, &v));
	assert_int_equal(c.error, CURSOR_TRUNCATED);
	assert_null(v.at);
	assert_int_equal(v.len, 0);
}

static void
a_complete_buffer_is_short(void **state)
{
	struct cursor c = cursor_init(bytes, 4, 9);
	struct slice v;

	(void)state;
	assert_false(cursor_take(&c, 10, &v));
	assert_int_equal(c.error, CURSOR_SHORT);
}

static void
errors_stick(void **state)
{
	struct cursor c = cursor_init(bytes, 4, 9);
	struct slice v;

	(void)state;
	assert_false(cursor_take(&c, 5, &v));
	assert_false(cursor_take(&c, 1, &v)); /* it is there, and yet */
	assert_false(cursor_take(&c, 100, &v));
	assert_int_equal(c.error, CURSOR_TRUNCATED); /* the first error stays */
	assert_ptr_equal(c.at, bytes);		     /* and so does the place */
	assert_false(cursor_peek(&c, 1, &v));
	assert_int_equal(cursor_captured_slice(&c).len, 0);
}

static void
peeking_leaves_no_trace(void **state)
{
	struct cursor c = cursor_init(bytes, 4, 9);
	struct slice v;

	(void)state;
	assert_false(cursor_peek(&c, 5, &v));
	assert_int_equal(c.error, CURSOR_OK);
	assert_true(cursor_peek(&c, 4, &v));
	assert_int_equal(v.len, 4);
	assert_int_equal(c.captured, 4);
}

static void
takes_partly(void **state)
{
	struct cursor c = cursor_init(bytes, 4, 9);
	struct slice v;

	(void)state;
	assert_true(cursor_take_captured(&c, 6, &v));
	assert_int_equal(v.len, 4);
	assert_int_equal(c.captured, 0);
	assert_int_equal(c.wire, 3);
	assert_false(cursor_take_captured(&c, 4, &v));
	assert_int_equal(c.error, CURSOR_SHORT);
}

static void
limits(void **state)
{
	struct cursor c = cursor_init(bytes, 9, 9);

	(void)state;
	cursor_limit(&c, 20);
	assert_int_equal(c.wire, 9);
	cursor_limit(&c, 3);
	assert_int_equal(c.wire, 3);
	assert_int_equal(c.captured, 3);
	c = cursor_init(bytes, 2, 9);
	cursor_limit(&c, 3);
	assert_int_equal(c.wire, 3);
	assert_int_equal(c.captured, 2);
}

/* A record with more bytes than its length on the wire. */
static void
wire_is_never_less_than_captured(void **state)
{
	struct cursor c = cursor_init(bytes, 9, 4);

	(void)state;
	assert_int_equal(c.wire, 9);
}

static void
between(void **state)
{
	struct cursor start = cursor_init(bytes, 9, 9), c = start;

	(void)state;
	assert_int_equal(cursor_slice_between(&start, &c).len, 0);
	cursor_skip(&c, 3);
	assert_ptr_equal(cursor_slice_between(&start, &c).at, bytes);
	assert_int_equal(cursor_slice_between(&start, &c).len, 3);
}

static void
getters_read_network_order(void **state)
{
	struct slice v = {bytes, sizeof bytes};

	(void)state;
	assert_int_equal(slice_u8(v, 8), 0x09);
	assert_int_equal(slice_u16(v, 0), 0x0102);
	assert_int_equal(slice_u16(v, 7), 0x0809);
	assert_int_equal(slice_u32(v, 5), 0x06070809);
	assert_true(slice_u64(v, 1) == 0x0203040506070809);
}

static void
getters_give_zero_beyond_the_end(void **state)
{
	struct slice v = {bytes, sizeof bytes};
	uint8_t copy[4] = {1, 1, 1, 1};

	(void)state;
	assert_int_equal(slice_u8(v, 9), 0);
	assert_int_equal(slice_u16(v, 8), 0);
	assert_int_equal(slice_u32(v, 6), 0);
	assert_int_equal(slice_u32(v, UINT32_MAX), 0); /* offset + size must not wrap */
	slice_copy(v, 6, copy, sizeof copy);
	assert_int_equal(copy[0] | copy[1] | copy[2] | copy[3], 0);
	slice_copy(v, 5, copy, sizeof copy);
	assert_int_equal(copy[3], 9);
}

static void
parts(void **state)
{
	struct slice v = {bytes, sizeof bytes};

	(void)state;
	assert_int_equal(slice_sub(v, 2, 3).len, 3);
	assert_ptr_equal(slice_sub(v, 2, 3).at, bytes + 2);
	assert_int_equal(slice_sub(v, 8, 3).len, 1);
	assert_int_equal(slice_sub(v, 9, 3).len, 0);
	assert_int_equal(slice_sub(v, UINT32_MAX, UINT32_MAX).len, 0);
}

/* Pair by pair, as slowly as RFC 1071 section 4.1 writes it. */
static uint16_t
naive_sum(const uint8_t *data, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)data[i] << 8 : data[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void
sums(void **state)
{
	static const uint8_t rfc1071[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	uint8_t random[259];

	(void)state;
	assert_int_equal(slice_checksum((struct slice){rfc1071, sizeof rfc1071}), 0xddf2); /* section 3 */
	assert_int_equal(slice_checksum((struct slice){NULL, 0}), 0);
	srand(1);
	for (uint32_t i = 0; i < sizeof random; i++)
		random[i] = (uint8_t)(rand() >> 7);
	for (uint32_t n = 0; n <= sizeof random; n++)
		assert_int_equal(slice_checksum((struct slice){random, n}), naive_sum(random, n));
	memset(random, 0xff, sizeof random);
	for (uint32_t n = 0; n <= sizeof random; n++)
		assert_int_equal(slice_checksum((struct slice){random, n}), naive_sum(random, n));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_in_order),
		cmocka_unit_test(takes_nothing_at_the_end),
		cmocka_unit_test(a_cut_capture_is_truncated),
		cmocka_unit_test(a_complete_buffer_is_short),
		cmocka_unit_test(errors_stick),
		cmocka_unit_test(peeking_leaves_no_trace),
		cmocka_unit_test(takes_partly),
		cmocka_unit_test(limits),
		cmocka_unit_test(wire_is_never_less_than_captured),
		cmocka_unit_test(between),
		cmocka_unit_test(getters_read_network_order),
		cmocka_unit_test(getters_give_zero_beyond_the_end),
		cmocka_unit_test(parts),
		cmocka_unit_test(sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
