/* SPDX-License-Identifier: BSD-2-Clause */
/* Intervals of the overview: their width, protocols, silence, and frames with wrong time stamps. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/report/report_volume.h"

#define SECOND 1000000000ull
#define START  (1700000000ull * SECOND)

static struct report_volume volume;

static void
begin(void)
{
	memset(&volume, 0, sizeof volume);
}

/* The sums of the intervals, of one protocol. */
static struct report_bin
sums(enum report_protocol protocol)
{
	struct report_bin sum = {0};

	for (size_t i = 0; i < REPORT_BINS; i++) {
		sum.frames[protocol] += volume.bins[i].frames[protocol];
		sum.bytes[protocol] += volume.bins[i].bytes[protocol];
	}
	return sum;
}

static void
test_empty(void **state)
{
	(void)state;
	begin();
	report_volume_end(&volume);
	assert_int_equal(volume.frames, 0);
	assert_int_equal(report_volume_bin(&volume, START), 0);
}

static void
test_protocols(void **state)
{
	static const struct {
		unsigned number;
		enum report_protocol protocol;
	} cases[] = {{IPPROTO_TCP, REPORT_TCP},	      {IPPROTO_UDP, REPORT_UDP},   {IPPROTO_ICMP, REPORT_ICMP},
		     {IPPROTO_ICMPV6, REPORT_ICMP}, {IPPROTO_SCTP, REPORT_SCTP}, {IPPROTO_ESP, REPORT_OTHER_IP}};

	(void)state;
	begin();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		report_volume_frame(&volume, START + i, 100);
		report_volume_protocol(&volume, cases[i].number);
	}
	report_volume_frame(&volume, START + SECOND, 60);
	report_volume_end(&volume);
	assert_int_equal(sums(REPORT_ICMP).frames[REPORT_ICMP], 2);
	assert_int_equal(sums(REPORT_ICMP).bytes[REPORT_ICMP], 200);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_true(sums(cases[i].protocol).frames[cases[i].protocol] > 0);
	assert_int_equal(sums(REPORT_NOT_IP).bytes[REPORT_NOT_IP], 60);
	assert_int_equal(volume.bytes, 660);
}

/* However long the capture is, it fills more than half of the intervals, and all of its frames are counted. */
static void
test_width(void **state)
{
	(void)state;
	for (uint64_t span = 1000; span < 3650 * 86400 * SECOND; span *= 7) {
		begin();
		for (uint64_t i = 0; i <= 1000; i++)
			report_volume_frame(&volume, START + span / 1000 * i, 1);
		report_volume_end(&volume);
		assert_int_equal(sums(REPORT_NOT_IP).frames[REPORT_NOT_IP] + volume.stray, 1001);
		assert_int_equal(volume.stray, 0);
		if (span < 240 * 1000)
			continue;
		assert_true(report_volume_bin(&volume, volume.last) >= REPORT_BINS / 2 - 1);
		assert_true(volume.last - volume.first < volume.width * REPORT_BINS);
	}
}

static void
test_silence(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < 10; i++)
		report_volume_frame(&volume, START + i * SECOND + (i > 6 ? 20 * SECOND : 0), 1);
	report_volume_end(&volume);
	assert_true(volume.gap == 21 * SECOND);
	assert_int_equal(volume.gap_at, 8);
}

/* Stamps of 2106 and of 1970 in the middle, and at both ends. */
static void
test_stray(void **state)
{
	static const uint64_t wrong[] = {1, 4294967295ull * SECOND};

	(void)state;
	for (size_t w = 0; w < 2; w++) {
		for (uint64_t at = 0; at < 10; at++) {
			begin();
			for (uint64_t i = 0; i < 10; i++)
				report_volume_frame(&volume, i == at ? wrong[w] : START + i * SECOND, 1);
			report_volume_end(&volume);
			assert_int_equal(volume.stray, 1);
			assert_int_equal(volume.stray_at, at + 1);
			assert_true(volume.first >= START && volume.last <= START + 9 * SECOND);
			assert_int_equal(sums(REPORT_NOT_IP).frames[REPORT_NOT_IP], 9);
		}
	}
}

/* Frames that are slightly out of order are in the intervals. */
static void
test_out_of_order(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < 100; i++)
		report_volume_frame(&volume, START + (i ^ 1) * 1000, 1);
	report_volume_end(&volume);
	assert_int_equal(volume.stray, 0);
	assert_int_equal(sums(REPORT_NOT_IP).frames[REPORT_NOT_IP], 100);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),   cmocka_unit_test(test_protocols), cmocka_unit_test(test_width),
	    cmocka_unit_test(test_silence), cmocka_unit_test(test_stray),     cmocka_unit_test(test_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
