/* SPDX-License-Identifier: BSD-2-Clause */
/* PPP, Cisco HDLC, Frame Relay, 802.11, and the headers that a capturing system puts in front of a packet. */
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

#define LLC_IPV4 0xaa, 0xaa, 3, 0, 0, 0, 0x08, 0x00
#define ADDRESS(n) 2, 0, 0, 0, 0, (n)

/* Data to the distribution system: receiver 1, sender 2, destination 3. */
#define WLAN_TO_DS 0x08, 0x01, 0, 0, ADDRESS(1), ADDRESS(2), ADDRESS(3), 0, 0

/* Where a frame that is a header of `header` bytes and ECHO_IPV4 is cut. */
#define CUTS(header)                                                           \
	{(header), ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},                \
	{(header) + 20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},        \
	{(header) + 28, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD}

static void
assert_echo(const struct packet *packet, uint32_t header)
{
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->transport == TRANSPORT_ICMP || packet->transport == TRANSPORT_ICMPV6);
	assert_int_equal(packet->ether.header.len, header);
	if (header > 0)
		assert_ptr_equal(packet->ether.header.at, packet->frame->data);
}

/* The frame is not dissected, and nothing is wrong with it. */
static void
assert_opaque(const struct packet *packet)
{
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_NONE);
}

static void
ppp(void **state)
{
	static const uint8_t whole[] = {0xff, 3, 0, 0x21, ECHO_IPV4}, bare[] = {0, 0x57, ECHO_IPV6},
			     byte[] = {0x21, ECHO_IPV4}, lcp[] = {0xff, 3, 0xc0, 0x21, 1, 1, 0, 4};
	static const struct truncation_row cuts[] = {CUTS(4)};

	(void)state;
	assert_echo(DISSECT(DLT_PPP, whole), 4);
	assert_echo(DISSECT(DLT_PPP, bare), 2);
	assert_echo(DISSECT(DLT_PPP, byte), 1);
	assert_echo(DISSECT(DLT_PPP_SERIAL, whole), 4);
	assert_opaque(DISSECT(DLT_PPP, lcp));
	assert_truncations(DLT_PPP, whole, sizeof whole, cuts);
	assert_truncations(DLT_PPP_SERIAL, whole, sizeof whole, cuts);
}

static void
ppp_with_direction(void **state)
{
	uint8_t pppd[] = {1, 3, 0, 0x21, ECHO_IPV4}, with_dir[] = {1, 0xff, 3, 0, 0x21, ECHO_IPV4};
	static const struct truncation_row pppd_cuts[] = {CUTS(4)}, dir_cuts[] = {CUTS(5)};

	(void)state;
	assert_echo(DISSECT(DLT_PPP_PPPD, pppd), 4);
	assert_echo(DISSECT(DLT_PPP_WITH_DIR, with_dir), 5);
	assert_int_equal(DISSECT(DLT_PPP_PPPD, pppd)->direction, DIRECTION_OUT);
	assert_int_equal(DISSECT(DLT_PPP_WITH_DIR, with_dir)->direction, DIRECTION_OUT);
	pppd[0] = with_dir[0] = 0;
	assert_int_equal(DISSECT(DLT_PPP_PPPD, pppd)->direction, DIRECTION_IN);
	assert_int_equal(DISSECT(DLT_PPP_WITH_DIR, with_dir)->direction, DIRECTION_IN);
	assert_truncations(DLT_PPP_PPPD, pppd, sizeof pppd, pppd_cuts);
	assert_truncations(DLT_PPP_WITH_DIR, with_dir, sizeof with_dir, dir_cuts);
}

static void
ppp_ether(void **state)
{
	static const uint8_t session[] = {0x11, 0, 0, 0x11, 0, 30, 0x00, 0x21, ECHO_IPV4};
	static const struct truncation_row cuts[] = {
		{6, ANOMALY_TRUNCATED_LINK, ANOMALY_PPPOE_SHORT},
		{8, ANOMALY_TRUNCATED_LINK, ANOMALY_PPPOE_LENGTH},
		{28, ANOMALY_TRUNCATED_NETWORK, ANOMALY_PPPOE_LENGTH},
		{36, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_PPPOE_LENGTH},
	};

	(void)state;
	assert_echo(DISSECT(DLT_PPP_ETHER, session), 0);
	assert_truncations(DLT_PPP_ETHER, session, sizeof session, cuts);
}

static void
cisco_hdlc(void **state)
{
	static const uint8_t frame[] = {0x0f, 0, 0x08, 0, ECHO_IPV4}, v6[] = {0x8f, 0, 0x86, 0xdd, ECHO_IPV6},
			     with_dir[] = {1, 0x0f, 0, 0x08, 0, ECHO_IPV4},
			     slarp[] = {0x8f, 0, 0x80, 0x35, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0xff, 0xff};
	static const struct truncation_row cuts[] = {CUTS(4)}, dir_cuts[] = {CUTS(5)};

	(void)state;
	assert_echo(DISSECT(DLT_C_HDLC, frame), 4);
	assert_int_equal(DISSECT(DLT_C_HDLC, frame)->ether.type, 0x0800);
	assert_echo(DISSECT(DLT_PPP_SERIAL, frame), 4);
	assert_echo(DISSECT(DLT_PPP_SERIAL, v6), 4);
	assert_echo(DISSECT(DLT_C_HDLC_WITH_DIR, with_dir), 5);
	assert_int_equal(DISSECT(DLT_C_HDLC_WITH_DIR, with_dir)->direction, DIRECTION_OUT);
	assert_opaque(DISSECT(DLT_C_HDLC, slarp)); /* not RARP */
	assert_truncations(DLT_C_HDLC, frame, sizeof frame, cuts);
	assert_truncations(DLT_C_HDLC_WITH_DIR, with_dir, sizeof with_dir, dir_cuts);
}

static void
frame_relay(void **state)
{
	static const uint8_t nlpid[] = {0x18, 0x41, 3, 0xcc, ECHO_IPV4}, v6[] = {0x18, 0x41, 3, 0x8e, ECHO_IPV6},
			     long_address[] = {0x18, 0x40, 0x42, 5, 3, 0xcc, ECHO_IPV4},
			     snap[] = {0x18, 0x41, 3, 0, 0x80, 0, 0, 0, 8, 0, ECHO_IPV4},
			     type[] = {0x18, 0x41, 8, 0, ECHO_IPV4},
			     carries_ppp[] = {0x18, 0x41, 3, 0xcf, 0, 0x21, ECHO_IPV4},
			     with_dir[] = {1, 0x18, 0x41, 3, 0xcc, ECHO_IPV4},
			     bridged[] = {0x18, 0x41, 3, 0, 0x80, 0, 0x80, 0xc2, 0, 7, ECHO_IPV4},
			     lmi[] = {0, 1, 3, 8, 0, 0x75, 0x95, 1, 1, 0},
			     one_byte[] = {0x19, 0x41, 3, 0xcc, ECHO_IPV4},
			     endless[] = {0x18, 0x40, 0x42, 4, 3, 0xcc, ECHO_IPV4};
	static const struct truncation_row cuts[] = {CUTS(4)}, snap_cuts[] = {CUTS(10)}, dir_cuts[] = {CUTS(5)};

	(void)state;
	assert_echo(DISSECT(DLT_FRELAY, nlpid), 4);
	assert_int_equal(DISSECT(DLT_FRELAY, nlpid)->ether.type, 0);
	assert_echo(DISSECT(DLT_FRELAY, v6), 4);
	assert_echo(DISSECT(DLT_FRELAY, long_address), 6);
	assert_echo(DISSECT(DLT_FRELAY, snap), 10);
	assert_int_equal(DISSECT(DLT_FRELAY, snap)->ether.type, 0x0800);
	assert_echo(DISSECT(DLT_FRELAY, type), 4);
	assert_int_equal(DISSECT(DLT_FRELAY, type)->ether.type, 0x0800);
	assert_echo(DISSECT(DLT_FRELAY, carries_ppp), 6);
	assert_echo(DISSECT(DLT_FRELAY_WITH_DIR, with_dir), 5);
	assert_int_equal(DISSECT(DLT_FRELAY_WITH_DIR, with_dir)->direction, DIRECTION_OUT);
	assert_opaque(DISSECT(DLT_FRELAY, bridged));
	assert_opaque(DISSECT(DLT_FRELAY, lmi));
	assert_worst_anomaly(DISSECT(DLT_FRELAY, one_byte), ANOMALY_LINK_FIELD);
	assert_worst_anomaly(DISSECT(DLT_FRELAY, endless), ANOMALY_LINK_FIELD);
	assert_truncations(DLT_FRELAY, nlpid, sizeof nlpid, cuts);
	assert_truncations(DLT_FRELAY, snap, sizeof snap, snap_cuts);
	assert_truncations(DLT_FRELAY_WITH_DIR, with_dir, sizeof with_dir, dir_cuts);
}

static void
nflog(void **state)
{
	/* IPv4; attributes: hook, prefix with padding, payload */
	uint8_t frame[] = {2, 0, 0, 5, 8, 0, 1, 0, 8, 0, 1, 0, 7, 0, 10, 0, 'i', 'n', 0, 0, 32, 0, 9, 0, ECHO_IPV4};
	static const uint8_t big[] = {10, 0, 0, 5, 0, 8, 0, 1, 0x86, 0xdd, 3, 0, 0, 52, 0, 9, ECHO_IPV6},
			     bridge[] = {7, 0, 0, 5, 8, 0, 1, 0, 8, 0, 2, 0, 32, 0, 9, 0, ECHO_IPV4},
			     /* With a nested attribute, of a VLAN tag (NLA_F_NESTED). */
			     tagged[] = {7, 0, 0, 5, 8, 0, 1, 0, 8, 0, 1, 0, 12, 0, 20, 0x80, 6, 0, 2, 0, 0, 5, 0, 0,
					 32, 0, 9, 0, ECHO_IPV4},
			     big_tagged[] = {7, 0, 0, 5, 0, 8, 0, 1, 8, 0, 1, 0, 0, 12, 0x80, 20, 0, 6, 0, 2, 0, 5, 0,
					     0, 0, 32, 0, 9, ECHO_IPV4},
			     loop[] = {2, 0, 0, 5, 6, 0, 15, 0, 3, 4, 0, 0, 32, 0, 9, 0, ECHO_IPV4},
			     none[] = {2, 0, 0, 5, 8, 0, 1, 0, 8, 0, 1, 0};
	static const enum direction directions[] = {DIRECTION_IN,  DIRECTION_IN,  DIRECTION_OTHER,
						    DIRECTION_OUT, DIRECTION_OUT, DIRECTION_UNKNOWN};
	static const struct truncation_row cuts[] = {
		{4, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{5, ANOMALY_TRUNCATED_LINK, ANOMALY_NONE}, /* no attribute is left */
		{8, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{12, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_FIELD},
		{13, ANOMALY_TRUNCATED_LINK, ANOMALY_NONE},
		{16, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{19, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_FIELD},
		{21, ANOMALY_TRUNCATED_LINK, ANOMALY_NONE}, /* nor padding */
		{24, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{44, ANOMALY_TRUNCATED_NETWORK, ANOMALY_LINK_FIELD},
		{52, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_LINK_FIELD},
	};

	(void)state;
	assert_echo(DISSECT(DLT_NFLOG, frame), 24);
	assert_echo(DISSECT(DLT_NFLOG, big), 16);
	assert_int_equal(DISSECT(DLT_NFLOG, big)->direction, DIRECTION_OUT);
	assert_echo(DISSECT(DLT_NFLOG, bridge), 16);
	assert_int_equal(DISSECT(DLT_NFLOG, bridge)->direction, DIRECTION_UNKNOWN);
	assert_echo(DISSECT(DLT_NFLOG, tagged), 28);
	assert_echo(DISSECT(DLT_NFLOG, big_tagged), 28);
	assert_echo(DISSECT(DLT_NFLOG, loop), 16);
	assert_true(DISSECT(DLT_NFLOG, loop)->loopback);
	assert_opaque(DISSECT(DLT_NFLOG, none));
	assert_truncations(DLT_NFLOG, frame, sizeof frame, cuts);
	for (uint8_t hook = 0; hook < 6; hook++) {
		frame[10] = hook;
		assert_int_equal(DISSECT(DLT_NFLOG, frame)->direction, directions[hook]);
	}
	frame[4] = 3; /* shorter than itself */
	assert_worst_anomaly(DISSECT(DLT_NFLOG, frame), ANOMALY_LINK_FIELD);
	frame[4] = 8;
	frame[7] = 1; /* type 257 */
	assert_worst_anomaly(DISSECT(DLT_NFLOG, frame), ANOMALY_LINK_FIELD);
	frame[7] = 0;
	frame[1] = 1; /* version */
	assert_worst_anomaly(DISSECT(DLT_NFLOG, frame), ANOMALY_LINK_FIELD);
}

static void
nflog_attribute_limit(void **state)
{
	static const uint8_t header[] = {2, 0, 0, 5}, empty[] = {4, 0, 14, 0}, payload[] = {32, 0, 9, 0, ECHO_IPV4};
	struct frame_buffer frame = frame_buffer_from(header, sizeof header), more;

	(void)state;
	for (unsigned i = 0; i < 63; i++)
		frame_buffer_append(&frame, empty, sizeof empty);
	more = frame;
	frame_buffer_append(&frame, payload, sizeof payload);
	assert_echo(frame_dissect(DLT_NFLOG, &frame), 4 + 64 * 4);
	frame_buffer_append(&more, empty, sizeof empty);
	frame_buffer_append(&more, payload, sizeof payload);
	assert_worst_anomaly(frame_dissect(DLT_NFLOG, &more), ANOMALY_LAYER_BUDGET);
}

static void
ipnet(void **state)
{
	uint8_t frame[24 + 28] = {2, 2, 0, 1, 0, 0, 0, 28, 0, 0, 0, 2};
	static const uint8_t echo[] = {ECHO_IPV4}, v6[] = {ECHO_IPV6};
	static const struct truncation_row cuts[] = {CUTS(24)};
	uint8_t frame6[24 + 48] = {2, 26, 0, 0};

	(void)state;
	memcpy(frame + 24, echo, sizeof echo);
	memcpy(frame6 + 24, v6, sizeof v6);
	assert_echo(DISSECT(DLT_IPNET, frame), 24);
	assert_int_equal(DISSECT(DLT_IPNET, frame)->direction, DIRECTION_OUT);
	assert_false(DISSECT(DLT_IPNET, frame)->loopback);
	assert_echo(DISSECT(DLT_IPNET, frame6), 24);
	assert_int_equal(DISSECT(DLT_IPNET, frame6)->direction, DIRECTION_IN);
	assert_truncations(DLT_IPNET, frame, sizeof frame, cuts);
	frame[2] = 1; /* version 1 on x86 */
	frame[3] = 0;
	assert_int_equal(DISSECT(DLT_IPNET, frame)->direction, DIRECTION_OUT);
	frame[2] = 0;
	frame[3] = 2;
	assert_int_equal(DISSECT(DLT_IPNET, frame)->direction, DIRECTION_UNKNOWN);
	assert_true(DISSECT(DLT_IPNET, frame)->loopback);
}

static void
enc(void **state)
{
	static const uint8_t frame[] = {2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, ECHO_IPV4},
			     v6[] = {0, 0, 0, 24, 0, 0, 1, 0, 0, 0, 0, 0, ECHO_IPV6};
	static const struct truncation_row cuts[] = {CUTS(12)};

	(void)state;
	assert_echo(DISSECT(DLT_ENC, frame), 12);
	assert_echo(DISSECT(DLT_ENC, v6), 12);
	assert_truncations(DLT_ENC, frame, sizeof frame, cuts);
}

static void
ipoib(void **state)
{
	uint8_t frame[44 + 28] = {[40] = 8};
	static const uint8_t echo[] = {ECHO_IPV4};
	static const struct truncation_row cuts[] = {CUTS(44)};

	(void)state;
	memcpy(frame + 44, echo, sizeof echo);
	assert_echo(DISSECT(DLT_IPOIB, frame), 44);
	assert_int_equal(DISSECT(DLT_IPOIB, frame)->ether.type, 0x0800);
	assert_truncations(DLT_IPOIB, frame, sizeof frame, cuts);
}

static void
fibre_channel(void **state)
{
	static const uint8_t frame[] = {0x10, 0, ADDRESS(3), 0x10, 0, ADDRESS(1), LLC_IPV4, ECHO_IPV4};
	static const struct truncation_row cuts[] = {
		{16, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{24, ANOMALY_TRUNCATED_LINK, ANOMALY_LLC_SHORT},
		{44, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{52, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};

	(void)state;
	assert_echo(DISSECT(DLT_IP_OVER_FC, frame), 24);
	assert_memory_equal(DISSECT(DLT_IP_OVER_FC, frame)->ether.src, frame + 10, 6);
	assert_memory_equal(DISSECT(DLT_IP_OVER_FC, frame)->ether.dst, frame + 2, 6);
	assert_truncations(DLT_IP_OVER_FC, frame, sizeof frame, cuts);
}

static void
wlan(void **state)
{
	uint8_t frame[] = {WLAN_TO_DS, LLC_IPV4, ECHO_IPV4};
	static const struct truncation_row cuts[] = {
		{24, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{25, ANOMALY_TRUNCATED_LINK, ANOMALY_NONE}, /* a frame without data */
		{32, ANOMALY_TRUNCATED_LINK, ANOMALY_LLC_SHORT},
		{52, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{60, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	/* Where destination and source are without the distribution system, to it, from it. */
	static const unsigned places[3][2] = {{4, 10}, {16, 10}, {4, 16}};

	(void)state;
	assert_truncations(DLT_IEEE802_11, frame, sizeof frame, cuts);
	for (uint8_t ds = 0; ds < 3; ds++) {
		frame[1] = ds;
		assert_echo(DISSECT(DLT_IEEE802_11, frame), 32);
		assert_memory_equal(DISSECT(DLT_IEEE802_11, frame)->ether.dst, frame + places[ds][0], 6);
		assert_memory_equal(DISSECT(DLT_IEEE802_11, frame)->ether.src, frame + places[ds][1], 6);
		assert_int_equal(DISSECT(DLT_IEEE802_11, frame)->ether.type, 0x0800);
	}
}

static void
wlan_opaque(void **state)
{
	/* Changes of a data frame: byte, value. */
	static const uint8_t changes[][2] = {{0, 0x48}, {1, 0x41}, {1, 0x05}, {22, 1}, {0, 0x80}, {0, 0xd4}, {0, 0x09}};

	(void)state;
	for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
		uint8_t frame[] = {WLAN_TO_DS, LLC_IPV4, ECHO_IPV4};

		frame[changes[i][0]] = changes[i][1];
		assert_opaque(DISSECT(DLT_IEEE802_11, frame));
	}
}

static void
wlan_further_fields(void **state)
{
	static const uint8_t four[] = {0x08, 3, 0, 0, ADDRESS(1), ADDRESS(2), ADDRESS(3), 0, 0, ADDRESS(4),
				       LLC_IPV4, ECHO_IPV4},
			     ht[] = {0x88, 0x81, 0, 0, ADDRESS(1), ADDRESS(2), ADDRESS(3), 0, 0, 0, 0, 0, 0, 0, 0,
				     LLC_IPV4, ECHO_IPV4};
	uint8_t amsdu[] = {0x88, 3, 0, 0, ADDRESS(1), ADDRESS(2), ADDRESS(3), 0, 0, ADDRESS(4), 0x80, 0,
			   ADDRESS(5), ADDRESS(6), 0, 36, LLC_IPV4, ECHO_IPV4, 0, 0};
	static const struct truncation_row cuts[] = {
		{32, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{33, ANOMALY_TRUNCATED_LINK, ANOMALY_NONE},
		{46, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{54, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_FIELD},
		{74, ANOMALY_TRUNCATED_NETWORK, ANOMALY_LINK_FIELD},
		{82, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_LINK_FIELD},
		{84, ANOMALY_NONE, ANOMALY_NONE},
	};

	(void)state;
	assert_echo(DISSECT(DLT_IEEE802_11, four), 38);
	assert_memory_equal(DISSECT(DLT_IEEE802_11, four)->ether.dst, four + 16, 6);
	assert_memory_equal(DISSECT(DLT_IEEE802_11, four)->ether.src, four + 24, 6);
	assert_echo(DISSECT(DLT_IEEE802_11, ht), 38);
	assert_echo(DISSECT(DLT_IEEE802_11, amsdu), 54);
	assert_memory_equal(DISSECT(DLT_IEEE802_11, amsdu)->ether.dst, amsdu + 32, 6);
	assert_memory_equal(DISSECT(DLT_IEEE802_11, amsdu)->ether.src, amsdu + 38, 6);
	assert_truncations(DLT_IEEE802_11, amsdu, sizeof amsdu, cuts);
}

static void
radiotap(void **state)
{
	/* Time stamp and flags (FCS, padding) after two words; QoS data with padding; FCS */
	uint8_t frame[] = {0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x30,
			   0x88, 0x01, 0, 0, ADDRESS(1), ADDRESS(2), ADDRESS(3), 0, 0, 0, 0, 0, 0,
			   LLC_IPV4, ECHO_IPV4, 0xfc, 0xfc, 0xfc, 0xfc};
	static const uint8_t none[] = {0, 0, 8, 0, 0, 0, 0, 0, WLAN_TO_DS, LLC_IPV4, ECHO_IPV4},
			     words[] = {0, 0, 12, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x80, WLAN_TO_DS},
			     no_flags[] = {0, 0, 8, 0, 2, 0, 0, 0, WLAN_TO_DS},
			     only_fcs[] = {0, 0, 9, 0, 2, 0, 0, 0, 0x10, WLAN_TO_DS, 0xaa, 0xaa, 3, 0};
	const struct packet *packet = DISSECT(DLT_IEEE802_11_RADIO, frame);

	(void)state;
	assert_echo(packet, 25 + 28 + 8);
	assert_int_equal(packet->payload.wire, 0);
	for (uint32_t n = 0; n < sizeof frame; n++) {
		enum anomaly cut = n < 61 ? ANOMALY_TRUNCATED_LINK : n < 81 ? ANOMALY_TRUNCATED_NETWORK :
				   n < 89 ? ANOMALY_TRUNCATED_TRANSPORT : ANOMALY_NONE;

		assert_worst_anomaly(frame_dissect_cut(DLT_IEEE802_11_RADIO, frame, n, sizeof frame), cut);
		if (n < 53)
			assert_worst_anomaly(frame_dissect_cut(DLT_IEEE802_11_RADIO, frame, n, n), ANOMALY_LINK_SHORT);
	}
	assert_echo(DISSECT(DLT_IEEE802_11_RADIO, none), 40);
	assert_opaque(DISSECT(DLT_IEEE802_11_RADIO, only_fcs)); /* a checksum, not the start of a SNAP header */
	assert_worst_anomaly(DISSECT(DLT_IEEE802_11_RADIO, words), ANOMALY_LINK_FIELD);
	assert_worst_anomaly(DISSECT(DLT_IEEE802_11_RADIO, no_flags), ANOMALY_LINK_FIELD);
	frame[24] = 0x40;
	assert_worst_anomaly(DISSECT(DLT_IEEE802_11_RADIO, frame), ANOMALY_WLAN_FCS);
	frame[2] = 7;
	assert_worst_anomaly(DISSECT(DLT_IEEE802_11_RADIO, frame), ANOMALY_LINK_FIELD);
	frame[2] = 25;
	frame[0] = 1;
	assert_worst_anomaly(DISSECT(DLT_IEEE802_11_RADIO, frame), ANOMALY_LINK_FIELD);
}

static void
prism(void **state)
{
	uint8_t little[] = {0x44, 0, 0, 0, 12, 0, 0, 0, 1, 2, 3, 4, WLAN_TO_DS, LLC_IPV4, ECHO_IPV4};
	static const uint8_t big[] = {0, 0, 0, 0x44, 0, 0, 0, 12, 1, 2, 3, 4, WLAN_TO_DS, LLC_IPV4, ECHO_IPV4},
			     avs[] = {0x80, 0x21, 0x10, 1, 0, 0, 0, 12, 1, 2, 3, 4, WLAN_TO_DS, LLC_IPV4, ECHO_IPV4};
	static const struct truncation_row cuts[] = {
		{36, ANOMALY_TRUNCATED_LINK, ANOMALY_LINK_SHORT},
		{37, ANOMALY_TRUNCATED_LINK, ANOMALY_NONE},
		{44, ANOMALY_TRUNCATED_LINK, ANOMALY_LLC_SHORT},
		{64, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{72, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};

	(void)state;
	assert_echo(DISSECT(DLT_PRISM_HEADER, little), 44);
	assert_echo(DISSECT(DLT_PRISM_HEADER, big), 44);
	assert_echo(DISSECT(DLT_PRISM_HEADER, avs), 44);
	assert_echo(DISSECT(DLT_IEEE802_11_RADIO_AVS, avs), 44);
	assert_truncations(DLT_PRISM_HEADER, little, sizeof little, cuts);
	assert_truncations(DLT_IEEE802_11_RADIO_AVS, avs, sizeof avs, cuts);
	little[4] = 7;
	assert_worst_anomaly(DISSECT(DLT_PRISM_HEADER, little), ANOMALY_LINK_FIELD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ppp),
		cmocka_unit_test(ppp_with_direction),
		cmocka_unit_test(ppp_ether),
		cmocka_unit_test(cisco_hdlc),
		cmocka_unit_test(frame_relay),
		cmocka_unit_test(nflog),
		cmocka_unit_test(nflog_attribute_limit),
		cmocka_unit_test(ipnet),
		cmocka_unit_test(enc),
		cmocka_unit_test(ipoib),
		cmocka_unit_test(fibre_channel),
		cmocka_unit_test(wlan),
		cmocka_unit_test(wlan_opaque),
		cmocka_unit_test(wlan_further_fields),
		cmocka_unit_test(radiotap),
		cmocka_unit_test(prism),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
