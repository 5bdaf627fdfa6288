/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

/* ARP request: who has 10.0.0.2, tell 10.0.0.1 at 02:00:00:00:00:01 */
static const uint8_t request[28] = {
	0, 1, 0x08, 0x00, 6, 4, 0, 1,		   /* Ethernet, IPv4, 6, 4, request */
	2, 0, 0, 0, 0, 1, 10, 0, 0, 1,		   /* sender */
	0, 0, 0, 0, 0, 0, 10, 0, 0, 2,		   /* target */
};

static const struct packet *
dissect_arp_bytes(uint16_t type, const uint8_t *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len), frame = frame_wrap_ether(type, &inside);

	return frame_dissect(DLT_EN10MB, &frame);
}

static void
good(void **state)
{
	static const struct truncation_row cuts[] = {
		{14, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT},
		{42, ANOMALY_TRUNCATED_NETWORK, ANOMALY_ARP_SHORT},
	};
	struct frame_buffer inside = frame_buffer_from(request, sizeof request),
			    frame = frame_wrap_ether(0x0806, &inside);
	const struct packet *packet = frame_dissect(DLT_EN10MB, &frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_ARP);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_false(packet->arp.reverse);
	assert_int_equal(packet->arp.htype, 1);
	assert_int_equal(packet->arp.ptype, 0x0800);
	assert_int_equal(packet->arp.hlen, 6);
	assert_int_equal(packet->arp.plen, 4);
	assert_int_equal(packet->arp.op, 1);
	assert_int_equal(packet->arp.sha.len, 6);
	assert_memory_equal(packet->arp.sha.at, request + 8, 6);
	assert_memory_equal(packet->arp.spa.at, request + 14, 4);
	assert_memory_equal(packet->arp.tha.at, request + 18, 6);
	assert_memory_equal(packet->arp.tpa.at, request + 24, 4);
	assert_truncations(DLT_EN10MB, frame.data, frame.len, cuts);
	assert_int_equal(frame_dissect_cut(DLT_EN10MB, frame.data, 41, 42)->network, NETWORK_NONE);
}

static void
reverse(void **state)
{
	uint8_t rarp[28];
	const struct packet *packet;

	(void)state;
	memcpy(rarp, request, sizeof rarp);
	rarp[7] = 3; /* reverse request */
	packet = dissect_arp_bytes(0x8035, rarp, sizeof rarp);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->arp.reverse);
	assert_int_equal(packet->arp.op, 3);
}

static void
invalid(void **state)
{
	uint8_t arp[28];
	const struct packet *packet;

	(void)state;
	memcpy(arp, request, sizeof arp);
	arp[7] = 26;
	packet = dissect_arp_bytes(0x0806, arp, sizeof arp);
	assert_worst_anomaly(packet, ANOMALY_ARP_OPERATION);
	assert_int_equal(packet->network, NETWORK_ARP); /* invalid, and there */
	arp[7] = 0;
	assert_worst_anomaly(dissect_arp_bytes(0x0806, arp, sizeof arp), ANOMALY_ARP_OPERATION);
	arp[7] = 1;
	arp[4] = 5;
	assert_worst_anomaly(dissect_arp_bytes(0x0806, arp, sizeof arp), ANOMALY_ARP_ADDRESS_LENGTH);
	arp[4] = 6;
	arp[5] = 2;
	assert_worst_anomaly(dissect_arp_bytes(0x0806, arp, sizeof arp), ANOMALY_ARP_ADDRESS_LENGTH);
}

static void
lengths_beyond_the_frame(void **state)
{
	uint8_t arp[28];
	const struct packet *packet;

	(void)state;
	memcpy(arp, request, sizeof arp);
	arp[4] = arp[5] = 255;
	packet = dissect_arp_bytes(0x0806, arp, sizeof arp);
	assert_worst_anomaly(packet, ANOMALY_ARP_SHORT);
	assert_int_equal(packet->network, NETWORK_NONE);
}

/* ATM and other hardware: addresses of other lengths, even of length 0. */
static void
other_hardware(void **state)
{
	static const uint8_t none[8] = {0, 20, 0x12, 0x34, 0, 0, 0, 2};
	const struct packet *packet = dissect_arp_bytes(0x0806, none, sizeof none);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_ARP);
	assert_int_equal(packet->arp.tpa.len, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(reverse),
		cmocka_unit_test(invalid),
		cmocka_unit_test(lengths_beyond_the_frame),
		cmocka_unit_test(other_hardware),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
