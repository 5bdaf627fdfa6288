/* SPDX-License-Identifier: BSD-2-Clause */
/* Link types other than Ethernet, and what is between the link and the network: MPLS and PPPoE. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

/* ICMP echo request 10.0.0.1 > 10.0.0.2, 28 bytes. */
#define ECHO_IPV4                                                                                              \
	0x45, 0, 0, 28, 0, 1, 0, 0, 64, 1, 0x66, 0xde, 10, 0, 0, 1, 10, 0, 0, 2, 8, 0, 0xe5, 0xca, 0x12, 0x34, \
		0, 1

/* ICMPv6 echo request ::1 > ::1, 48 bytes. */
#define ECHO_IPV6                                                                                         \
	0x60, 0, 0, 0, 0, 8, 58, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, \
		0, 0, 0, 0, 0, 0, 0, 0, 1, 128, 0, 0, 0, 0x12, 0x34, 0, 1

static void
supported_types(void **state)
{
	(void)state;
	assert_true(dissect_link_supported(DLT_EN10MB));
	assert_true(dissect_link_supported(DLT_LINUX_SLL));
	assert_true(dissect_link_supported(DLT_LINUX_SLL2));
	assert_true(dissect_link_supported(DLT_NULL));
	assert_true(dissect_link_supported(DLT_LOOP));
	assert_true(dissect_link_supported(12)); /* DLT_RAW here */
	assert_true(dissect_link_supported(14)); /* on OpenBSD */
	assert_true(dissect_link_supported(101)); /* LINKTYPE_RAW */
	assert_true(dissect_link_supported(DLT_IPV4));
	assert_true(dissect_link_supported(DLT_IPV6));
	assert_false(dissect_link_supported(DLT_DBUS));
	assert_false(dissect_link_supported(-1));
	assert_non_null(strstr(dissect_link_names(), "LINUX_SLL2"));
}

static void
unsupported_type(void **state)
{
	static const uint8_t frame[] = {ECHO_IPV4};

	(void)state;
	assert_worst_anomaly(DISSECT(DLT_DBUS, frame), ANOMALY_LINK_UNSUPPORTED);
}

static void
raw(void **state)
{
	static const uint8_t v4[] = {ECHO_IPV4}, v6[] = {ECHO_IPV6}, v5[] = {0x50, 0, 0, 0};
	static const int types[] = {DLT_RAW, 14, 101};
	static const struct truncation_row cuts[] = {
		{1, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IP_SHORT},
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{28, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(DISSECT(types[i], v4)->transport, TRANSPORT_ICMP);
		assert_int_equal(DISSECT(types[i], v6)->transport, TRANSPORT_ICMPV6);
		assert_worst_anomaly(DISSECT(types[i], v5), ANOMALY_IP_VERSION);
		assert_truncations(types[i], v4, sizeof v4, cuts);
	}
	assert_int_equal(DISSECT(DLT_RAW, v4)->ether.header.len, 0);
	assert_int_equal(DISSECT(DLT_RAW, v4)->ether.present, 0);
}

static void
ip_of_one_version(void **state)
{
	static const uint8_t v4[] = {ECHO_IPV4}, v6[] = {ECHO_IPV6};

	(void)state;
	assert_int_equal(DISSECT(DLT_IPV4, v4)->network, NETWORK_IPV4);
	assert_int_equal(DISSECT(DLT_IPV6, v6)->network, NETWORK_IPV6);
	assert_worst_anomaly(DISSECT(DLT_IPV4, v6), ANOMALY_IP_VERSION);
	assert_worst_anomaly(DISSECT(DLT_IPV6, v4), ANOMALY_IPV6_SHORT);
}

static void
bsd_loopback(void **state)
{
	static const uint8_t little[] = {2, 0, 0, 0, ECHO_IPV4}, big[] = {0, 0, 0, 2, ECHO_IPV4};
	static const uint8_t families[] = {10, 23, 24, 26, 28, 30};
	static const struct truncation_row cuts[] = {
		{4, ANOMALY_TRUNCATED_LINK, ANOMALY_NULL_SHORT},
		{24, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{32, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = DISSECT(DLT_NULL, little);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_true(packet->loopback);
	assert_int_equal(packet->ether.header.len, 4);
	assert_int_equal(DISSECT(DLT_NULL, big)->transport, TRANSPORT_ICMP);
	assert_int_equal(DISSECT(DLT_LOOP, big)->transport, TRANSPORT_ICMP);
	assert_true(DISSECT(DLT_LOOP, big)->loopback);
	assert_truncations(DLT_NULL, little, sizeof little, cuts);
	for (unsigned i = 0; i < sizeof families; i++) {
		const uint8_t frame[] = {0, 0, 0, families[i], ECHO_IPV6};

		assert_int_equal(DISSECT(DLT_LOOP, frame)->transport, TRANSPORT_ICMPV6);
	}
}

static void
cooked(void **state)
{
	/* SLL: outgoing (4), ARPHRD_ETHER, address 00:1b:21:3c:4d:5e, IPv4 */
	uint8_t frame[] = {0, 4, 0, 1, 0, 6, 0x00, 0x1b, 0x21, 0x3c, 0x4d, 0x5e, 0, 0, 0x08, 0x00, ECHO_IPV4};
	static const enum direction directions[] = {DIRECTION_IN,    DIRECTION_IN,  DIRECTION_IN,
						    DIRECTION_OTHER, DIRECTION_OUT, DIRECTION_UNKNOWN};
	static const struct truncation_row cuts[] = {
		{16, ANOMALY_TRUNCATED_LINK, ANOMALY_COOKED_SHORT},
		{36, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{44, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = DISSECT(DLT_LINUX_SLL, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->direction, DIRECTION_OUT);
	assert_false(packet->loopback);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_int_equal(packet->ether.header.len, 16);
	assert_int_equal(packet->ether.present, 0);
	assert_memory_equal(packet->ether.src, frame + 6, 6);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_truncations(DLT_LINUX_SLL, frame, sizeof frame, cuts);
	for (uint8_t i = 0; i < 6; i++) {
		frame[1] = i;
		assert_int_equal(DISSECT(DLT_LINUX_SLL, frame)->direction, directions[i]);
	}
	frame[2] = 772 >> 8; /* ARPHRD_LOOPBACK */
	frame[3] = 772 & 0xff;
	assert_true(DISSECT(DLT_LINUX_SLL, frame)->loopback);
	frame[2] = 824 >> 8; /* ARPHRD_NETLINK: 0x0800 is not an EtherType there */
	frame[3] = 824 & 0xff;
	assert_int_equal(DISSECT(DLT_LINUX_SLL, frame)->network, NETWORK_NONE);
}

static void
cooked_tagged_and_llc(void **state)
{
	static const uint8_t tagged[] = {0, 0, 0, 1, 0, 6, 0,	 0x1b, 0x21, 0x3c, 0x4d,
					 0x5e, 0, 0, 0x81, 0, 0, 7,    0x08, 0x00, ECHO_IPV4};
	static const uint8_t llc[] = {0, 0, 0, 1, 0, 6, 0, 0x1b, 0x21, 0x3c, 0x4d,	    0x5e,
				      0, 0, 0, 4, 0xaa, 0xaa, 3, 0,    0,    0,	   0x08, 0x00, ECHO_IPV4};
	const struct packet *packet = DISSECT(DLT_LINUX_SLL, tagged);

	(void)state;
	assert_int_equal(packet->ether.vlan, 7);
	assert_int_equal(packet->ether.header.len, 20);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	packet = DISSECT(DLT_LINUX_SLL, llc);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_int_equal(packet->ether.header.len, 24);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
}

static void
cooked_tagged_twice(void **state)
{
	/* SLL2: IPv4 or ARP, interface 3, ARPHRD_ETHER, to this host; a tag of VLAN 201, then the packet */
	static const uint8_t ipv4[] = {8, 0, 0, 0, 0, 0,    0,	  3,	0,    1,    0, 6,   0,	  0x1b,
				       0x21, 0x3c, 0x4d, 0x5e, 0, 0, 0, 201, 0x08, 0x00, ECHO_IPV4};
	static const uint8_t arp[] = {8,    6,	  0,	0, 0, 0, 0, 3,	  0, 1, 0, 6, 0, 0x1b, 0x21, 0x3c, 0x4d, 0x5e,
				      0,    0,	  0,	201, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1,
				      10,   0,	  0,	1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2};
	const struct packet *packet = DISSECT(DLT_LINUX_SLL2, ipv4);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ether.vlan, 201);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	packet = DISSECT(DLT_LINUX_SLL2, arp);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ether.vlan, 201);
	assert_int_equal(packet->network, NETWORK_ARP);
}

static void
cooked_v2(void **state)
{
	/* SLL2: IPv4, interface 3, ARPHRD_ETHER, to this host (0), address 00:1b:21:3c:4d:5e */
	static const uint8_t frame[] = {0x08, 0x00, 0,	  0,	0,    0,    0, 3, 0,	1,   0, 6,
					0x00, 0x1b, 0x21, 0x3c, 0x4d, 0x5e, 0, 0, ECHO_IPV4};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_LINK, ANOMALY_COOKED_SHORT},
		{40, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{48, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = DISSECT(DLT_LINUX_SLL2, frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->direction, DIRECTION_IN);
	assert_int_equal(packet->ifindex, 3);
	assert_int_equal(packet->ether.type, 0x0800);
	assert_memory_equal(packet->ether.src, frame + 12, 6);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_truncations(DLT_LINUX_SLL2, frame, sizeof frame, cuts);
}

static void
mpls(void **state)
{
	/* Ethernet, labels 100 and 200 (bottom), IPv4 */
	static const uint8_t stack[] = {0x00, 0x06, 0x40, 64, 0x00, 0x0c, 0x81, 64, ECHO_IPV4};
	static const uint8_t pseudowire[] = {0x00, 0x06, 0x41, 64, 0, 0, 0, 0, 1, 2, 3};
	static const struct truncation_row cuts[] = {
		{14, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT},
		{22, ANOMALY_TRUNCATED_LINK, ANOMALY_MPLS_SHORT},
		{23, ANOMALY_NONE, ANOMALY_NONE}, /* the label stack alone does not name its payload */
		{42, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{50, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	struct frame_buffer inside = frame_buffer_from(stack, sizeof stack), frame = frame_wrap_ether(0x8847, &inside);
	const struct packet *packet = frame_dissect(DLT_EN10MB, &frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_int_equal(packet->ether.type, 0x8847);
	assert_int_equal(packet->layers_spent, 5);
	assert_truncations(DLT_EN10MB, frame.data, frame.len, cuts);
	inside = frame_buffer_from(pseudowire, sizeof pseudowire);
	frame = frame_wrap_ether(0x8848, &inside);
	packet = frame_dissect(DLT_EN10MB, &frame);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_NONE);
}

static void
pppoe(void **state)
{
	/* PPPoE version 1 type 1 code 0, session 0x11, length 30: PPP 0x0021, IPv4; 4 bytes of padding */
	uint8_t session[] = {0x11, 0, 0, 0x11, 0, 30, 0x00, 0x21, ECHO_IPV4, 0, 0, 0, 0};
	static const uint8_t compressed[] = {0x11, 0, 0, 0x11, 0, 29, 0x21, ECHO_IPV4};
	static const uint8_t v6[] = {0x11, 0, 0, 0x11, 0, 50, 0x00, 0x57, ECHO_IPV6};
	static const struct truncation_row cuts[] = {
		{14, ANOMALY_TRUNCATED_LINK, ANOMALY_ETHER_SHORT},
		{20, ANOMALY_TRUNCATED_LINK, ANOMALY_PPPOE_SHORT},
		{22, ANOMALY_TRUNCATED_LINK, ANOMALY_PPPOE_LENGTH},
		{42, ANOMALY_TRUNCATED_NETWORK, ANOMALY_PPPOE_LENGTH},
		{50, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_PPPOE_LENGTH},
		{54, ANOMALY_NONE, ANOMALY_NONE},
	};
	struct frame_buffer inside = frame_buffer_from(session, sizeof session),
			    frame = frame_wrap_ether(0x8864, &inside);
	const struct packet *packet = frame_dissect(DLT_EN10MB, &frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_truncations(DLT_EN10MB, frame.data, frame.len, cuts);
	frame.data[15] = 9; /* not a session's code */
	assert_worst_anomaly(frame_dissect(DLT_EN10MB, &frame), ANOMALY_PPPOE_VERSION);
	frame.data[15] = 0;
	frame.data[14] = 0x21;
	assert_worst_anomaly(frame_dissect(DLT_EN10MB, &frame), ANOMALY_PPPOE_VERSION);
	frame.data[14] = 0x11;
	frame.data[19] = 1; /* PPP's protocol does not fit */
	assert_worst_anomaly(frame_dissect(DLT_EN10MB, &frame), ANOMALY_PPPOE_SHORT);
	inside = frame_buffer_from(compressed, sizeof compressed);
	frame = frame_wrap_ether(0x8864, &inside);
	assert_int_equal(frame_dissect(DLT_EN10MB, &frame)->transport, TRANSPORT_ICMP);
	inside = frame_buffer_from(v6, sizeof v6);
	frame = frame_wrap_ether(0x8864, &inside);
	assert_int_equal(frame_dissect(DLT_EN10MB, &frame)->transport, TRANSPORT_ICMPV6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(supported_types),
		cmocka_unit_test(unsupported_type),
		cmocka_unit_test(raw),
		cmocka_unit_test(ip_of_one_version),
		cmocka_unit_test(bsd_loopback),
		cmocka_unit_test(cooked),
		cmocka_unit_test(cooked_tagged_and_llc),
		cmocka_unit_test(cooked_tagged_twice),
		cmocka_unit_test(cooked_v2),
		cmocka_unit_test(mpls),
		cmocka_unit_test(pppoe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
