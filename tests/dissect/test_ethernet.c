/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet II, 802.3 with LLC and SNAP, tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

#define MACS 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x1b, 0x21, 0x3c, 0x4d, 0x5e

/* ICMP echo request 10.0.0.1 > 10.0.0.2, 28 bytes. */
#define ECHO_IPV4                                                                                              \
	0x45, 0, 0, 28, 0, 1, 0, 0, 64, 1, 0x66, 0xde, 10, 0, 0, 1, 10, 0, 0, 2, 8, 0, 0xe5, 0xca, 0x12, 0x34, \
		0, 1

static void
ethernet_ii(void **state)
{
	/* broadcast from 00:1b:21:3c:4d:5e, EtherType 0x88cc (LLDP): nothing netobs looks into */
	static const uint8_t frame[] = {MACS, 0x88, 0xcc, 0x02, 0x07, 0x04};
	static const struct truncation_row cuts[] = {
		{14, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT},
		{17, ANOMALY_NONE, ANOMALY_NONE},
	};
	const struct packet *packet = DISSECT(DLT_EN10MB, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_NONE);
	assert_int_equal(packet->ether.present, 1);
	assert_int_equal(packet->ether.type, 0x88cc);
	assert_int_equal(packet->ether.header.len, 14);
	assert_memory_equal(packet->ether.dst, frame, 6);
	assert_memory_equal(packet->ether.src, frame + 6, 6);
	assert_false(packet->ether.tagged);
	assert_int_equal(packet->payload.captured, 3);
	assert_int_equal(packet->direction, DIRECTION_UNKNOWN);
	assert_false(packet->loopback);
	assert_truncations(DLT_EN10MB, frame, sizeof frame, cuts);
	packet = frame_dissect_cut(DLT_EN10MB, frame, 13, 13);
	assert_int_equal(packet->ether.present, 0);
	assert_int_equal(packet->ether.header.len, 0);
}

static void
padding_is_cut_off(void **state)
{
	/* Ethernet / IPv4 28 bytes / ICMP echo, padded to 60 */
	uint8_t frame[60] = {MACS, 0x08, 0x00, ECHO_IPV4};
	const struct packet *packet = DISSECT(DLT_EN10MB, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_int_equal(packet->ip.length, 28);
	assert_int_equal(packet->payload.wire, 0);
}

static void
one_tag(void **state)
{
	/* 802.1Q: priority 4, DEI, VLAN 0x123; IPv4 */
	static const uint8_t frame[] = {MACS, 0x81, 0x00, 0x91, 0x23, 0x08, 0x00, ECHO_IPV4};
	static const struct truncation_row cuts[] = {
		{14, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT},
		{18, ANOMALY_TRUNCATED_LINK, ANOMALY_VLAN_SHORT},
		{38, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{42, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{46, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = DISSECT(DLT_EN10MB, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->ether.tagged);
	assert_int_equal(packet->ether.priority, 4);
	assert_int_equal(packet->ether.dei, 1);
	assert_int_equal(packet->ether.vlan, 0x123);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_int_equal(packet->ether.header.len, 18);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_truncations(DLT_EN10MB, frame, sizeof frame, cuts);
	packet = frame_dissect_cut(DLT_EN10MB, frame, 16, 16); /* addresses are there, the tag is not */
	assert_int_equal(packet->ether.present, 1);
	assert_int_equal(packet->ether.type, 0x8100);
}

static void
stacked_tags(void **state)
{
	/* 802.1ad VLAN 100 priority 1, 0x9100 VLAN 200, 802.1Q VLAN 300, IPv4 */
	static const uint8_t frame[] = {MACS, 0x88, 0xa8, 0x20, 100,  0x91, 0x00, 0x00,
					200,  0x81, 0x00, 0x01, 0x2c, 0x08, 0x00, ECHO_IPV4};
	const struct packet *packet = DISSECT(DLT_EN10MB, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ether.vlan, 100); /* the outermost */
	assert_int_equal(packet->ether.priority, 1);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_int_equal(packet->ether.header.len, 26);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_int_equal(packet->layers_spent, 6);
}

static void
tags_spend_the_budget(void **state)
{
	uint8_t frame[14 + 4 * 40] = {MACS};
	const struct packet *packet;

	(void)state;
	for (unsigned i = 0; i < 41; i++) {
		frame[12 + 4 * i] = 0x81;
		frame[13 + 4 * i] = 0x00;
	}
	packet = DISSECT(DLT_EN10MB, frame);
	assert_worst_anomaly(packet, ANOMALY_LAYER_BUDGET);
	assert_int_equal(packet->layers_spent, DISSECT_LAYER_BUDGET);
}

static void
snap(void **state)
{
	/* 802.3 length 36: LLC aa aa 03, OUI 0, type 0x0800, IPv4 28 bytes; 4 bytes of padding */
	static const uint8_t frame[] = {MACS, 0, 36, 0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00, ECHO_IPV4, 0, 0, 0, 0};
	static const struct truncation_row cuts[] = {
		{14, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT},
		{22, ANOMALY_TRUNCATED_LINK, ANOMALY_LLC_SHORT},
		{42, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{50, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{54, ANOMALY_NONE, ANOMALY_NONE},
	};
	const struct packet *packet = DISSECT(DLT_EN10MB, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_int_equal(packet->ether.header.len, 22);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_truncations(DLT_EN10MB, frame, sizeof frame, cuts);
}

static void
llc(void **state)
{
	/* 802.3 length 5: spanning tree, 42 42 03; and CDP, SNAP with Cisco's OUI: neither has an EtherType */
	static const uint8_t stp[] = {MACS, 0, 5, 0x42, 0x42, 3, 0, 0};
	static const uint8_t cdp[] = {MACS, 0, 9, 0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0x00, 2};
	const struct packet *packet = DISSECT(DLT_EN10MB, stp);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ether.type, 0);
	assert_int_equal(packet->ether.header.len, 17);
	packet = DISSECT(DLT_EN10MB, cdp);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ether.type, 0);
}

static void
bad_lengths(void **state)
{
	static const uint8_t longer[] = {MACS, 0, 200, 0x42, 0x42, 3, 0, 0};
	static const uint8_t empty[] = {MACS, 0, 0, 0x42, 0x42, 3, 0, 0};
	static const uint8_t undefined[] = {MACS, 0x05, 0xdd, 0x42, 0x42, 3, 0, 0};

	(void)state;
	assert_worst_anomaly(DISSECT(DLT_EN10MB, longer), ANOMALY_LLC_LENGTH);
	assert_worst_anomaly(DISSECT(DLT_EN10MB, empty), ANOMALY_LLC_SHORT);
	assert_worst_anomaly(DISSECT(DLT_EN10MB, undefined), ANOMALY_ETHER_TYPE_UNDEFINED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ethernet_ii),
		cmocka_unit_test(padding_is_cut_off),
		cmocka_unit_test(one_tag),
		cmocka_unit_test(stacked_tags),
		cmocka_unit_test(tags_spend_the_budget),
		cmocka_unit_test(snap),
		cmocka_unit_test(llc),
		cmocka_unit_test(bad_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
