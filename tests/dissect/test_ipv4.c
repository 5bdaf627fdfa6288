/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum { UNASSIGNED = 253 }; /* a protocol that nothing dissects */

static const uint8_t eight[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static struct frame_buffer
plain(void)
{
	struct frame_buffer inside = frame_buffer_from(eight, sizeof eight);

	return frame_wrap_ipv4(UNASSIGNED, &inside);
}

/* The reason of plain() with one byte changed; the checksum is made right again. */
static const struct packet *
with_byte(uint32_t at, uint8_t value)
{
	struct frame_buffer packet = plain();

	packet.data[at] = value;
	frame_fix_ipv4_checksum(&packet);
	return frame_dissect(DLT_IPV4, &packet);
}

static void
good(void **state)
{
	/* version 4, header 20, TOS 0xb8, length 28, id 0x1234, DF, TTL 64, protocol 253, 10.0.0.1 > 10.0.0.2 */
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{28, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	static const uint8_t zero[12];
	const struct packet *packet = with_byte(1, 0xb8);
	struct frame_buffer frame = plain();

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_IPV4);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_int_equal(packet->ip.version, 4);
	assert_int_equal(packet->ip.header.len, 20);
	assert_int_equal(packet->ip.options.len, 0);
	assert_int_equal(packet->ip.tos, 0xb8);
	assert_int_equal(packet->ip.length, 28);
	assert_int_equal(packet->ip.total_length, 28);
	assert_int_equal(packet->ip.payload_len, 8);
	assert_int_equal(packet->ip.fragment_id, 0x1234);
	assert_int_equal(packet->ip.flags, 2);
	assert_int_equal(packet->ip.fragment_offset, 0);
	assert_false(packet->ip.fragment);
	assert_false(packet->ip.super_packet);
	assert_int_equal(packet->ip.ttl, 64);
	assert_int_equal(packet->ip.protocol, UNASSIGNED);
	assert_memory_equal(packet->ip.src, ((uint8_t[]){10, 0, 0, 1}), 4);
	assert_memory_equal(packet->ip.dst, ((uint8_t[]){10, 0, 0, 2}), 4);
	assert_memory_equal(packet->ip.src + 4, zero, 12);
	assert_memory_equal(packet->ip.dst + 4, zero, 12);
	assert_int_equal(packet->payload.captured, 8);
	assert_int_equal(packet->datagram.captured, 8);
	assert_truncations(DLT_IPV4, frame.data, frame.len, cuts);
}

static void
options(void **state)
{
	/* NOP, record route (7) length 7 pointer 4 one slot, end, padding: 12 bytes */
	static const uint8_t route[12] = {1, 7, 7, 4, 0, 0, 0, 0, 0, 0, 0, 0};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{32, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_HEADER_LENGTH},
		{40, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	struct frame_buffer inside = frame_buffer_from(eight, sizeof eight),
			    some = frame_buffer_from(route, sizeof route);
	struct frame_buffer frame = frame_wrap_ipv4_options(UNASSIGNED, &some, &inside);
	const struct packet *packet = frame_dissect(DLT_IPV4, &frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ip.header.len, 32);
	assert_int_equal(packet->ip.options.len, 12);
	assert_int_equal(packet->ip.payload_len, 8);
	assert_int_equal(packet->payload.captured, 8);
	assert_truncations(DLT_IPV4, frame.data, frame.len, cuts);
	packet = frame_dissect_cut(DLT_IPV4, frame.data, 26, 40); /* the fixed header is whole, the options are not */
	assert_int_equal(packet->network, NETWORK_IPV4);
	assert_int_equal(packet->ip.header.len, 26);
	assert_int_equal(packet->ip.length, 40);
	assert_int_equal(packet->payload.wire, 8);
}

static enum anomaly
reason_of_options(const uint8_t *bytes, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(eight, sizeof eight), some = frame_buffer_from(bytes, len);
	struct frame_buffer packet = frame_wrap_ipv4_options(UNASSIGNED, &some, &inside);

	return frame_dissect(DLT_IPV4, &packet)->worst_anomaly;
}

static void
malformed_options(void **state)
{
	static const uint8_t bad[][4] = {
		{0x94, 0, 0, 0},  /* length 0 */
		{0x94, 1, 0, 0},  /* length 1 */
		{0x94, 5, 0, 0},  /* beyond the header */
		{1, 1, 1, 0x94},  /* no room for the length */
		{7, 2, 1, 1},	  /* record route without a pointer */
		{7, 4, 3, 0},	  /* pointer into its own header */
		{68, 4, 4, 0},	  /* timestamp pointer below 5 */
		{131, 2, 0, 0},	  /* loose source route without a pointer */
	};
	static const uint8_t router_alert[4] = {0x94, 4, 0, 0};

	(void)state;
	for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_string_equal(anomaly_name(reason_of_options(bad[i], 4)), "ipv4-options");
	assert_string_equal(anomaly_name(reason_of_options(router_alert, 4)), "");
}

static void
source_route(void **state)
{
	static const uint8_t route[] = {131, 7, 4, 10, 0, 0, 3, 0}, strict[] = {137, 7, 4, 10, 0, 0, 3, 0};
	struct frame_buffer inside = frame_buffer_from(eight, sizeof eight),
			    some = frame_buffer_from(route, sizeof route);
	struct frame_buffer packet = frame_wrap_ipv4_options(UNASSIGNED, &some, &inside);

	(void)state;
	assert_worst_anomaly(frame_dissect(DLT_IPV4, &packet), ANOMALY_IPV4_SOURCE_ROUTE);
	some = frame_buffer_from(strict, sizeof strict);
	packet = frame_wrap_ipv4_options(UNASSIGNED, &some, &inside);
	assert_worst_anomaly(frame_dissect(DLT_IPV4, &packet), ANOMALY_IPV4_SOURCE_ROUTE);
}

/* What IP discards: its layer is there, nothing above it is. */
static void
dropped(const struct packet *packet, enum anomaly reason)
{
	assert_worst_anomaly(packet, reason);
	assert_int_equal(anomaly_severity(reason), SEVERITY_DROP);
	assert_int_equal(packet->network, NETWORK_IPV4);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_int_equal(packet->inner, INNER_NONE);
	assert_int_equal(packet->ip.ttl, packet->ip.header.at[8]);
}

static void
discarded(void **state)
{
	(void)state;
	assert_worst_anomaly(with_byte(0, 0x55), ANOMALY_IP_VERSION);
	assert_int_equal(with_byte(0, 0x55)->network, NETWORK_NONE);
	dropped(with_byte(0, 0x44), ANOMALY_IPV4_HEADER_LENGTH); /* 16 */
	dropped(with_byte(0, 0x48), ANOMALY_IPV4_HEADER_LENGTH); /* 32 of 28 */
	dropped(with_byte(3, 19), ANOMALY_IPV4_TOTAL_LENGTH);
	assert_int_equal(with_byte(3, 19)->ip.payload_len, 0);
	dropped(with_byte(12, 224), ANOMALY_IPV4_SOURCE);
	dropped(with_byte(12, 239), ANOMALY_IPV4_SOURCE);
	assert_worst_anomaly(with_byte(12, 240), ANOMALY_NONE); /* class E is only unusual */
	assert_worst_anomaly(with_byte(12, 127), ANOMALY_NONE);
	assert_worst_anomaly(with_byte(6, 0x80), ANOMALY_IPV4_RESERVED_FLAG);
}

/* A record that claims to be whole is shorter than its packet: cut by an old capture program, not damaged. */
static void
cut_without_a_note(void **state)
{
	struct frame_buffer packet = plain();
	const struct packet *dissected;

	(void)state;
	packet.data[3] = 128;
	frame_fix_ipv4_checksum(&packet);
	dissected = frame_dissect(DLT_IPV4, &packet);
	assert_worst_anomaly(dissected, ANOMALY_TRUNCATED_RECORD);
	assert_int_equal(anomaly_severity(ANOMALY_TRUNCATED_RECORD), SEVERITY_TRUNCATED);
	assert_int_equal(dissected->ip.length, 128);
	assert_int_equal(dissected->payload.wire, 108);
	assert_int_equal(dissected->payload.captured, 8);
	packet.data[3] = 128;
	dropped(frame_dissect_cut(DLT_IPV4, packet.data, 27, 28), ANOMALY_IPV4_TOTAL_LENGTH); /* the record says so */
}

/* RFC 1122 section 3.2.1.7: no reason to discard a packet on receipt. */
static void
time_to_live_zero(void **state)
{
	(void)state;
	assert_worst_anomaly(with_byte(8, 0), ANOMALY_IPV4_TTL_ZERO);
	assert_int_equal(anomaly_severity(ANOMALY_IPV4_TTL_ZERO), SEVERITY_UNUSUAL);
}

static void
broadcast_source(void **state)
{
	struct frame_buffer packet = plain();

	(void)state;
	memset(packet.data + 12, 0xff, 4);
	frame_fix_ipv4_checksum(&packet);
	dropped(frame_dissect(DLT_IPV4, &packet), ANOMALY_IPV4_SOURCE);
}

/* On a network only: a host talks to itself over its loopback. */
static void
land(void **state)
{
	struct frame_buffer packet = plain(), frame;

	(void)state;
	memcpy(packet.data + 16, packet.data + 12, 4);
	frame_fix_ipv4_checksum(&packet);
	assert_worst_anomaly(frame_dissect(DLT_IPV4, &packet), ANOMALY_NONE);
	frame = frame_wrap_ether(0x0800, &packet);
	dropped(frame_dissect(DLT_EN10MB, &frame), ANOMALY_IPV4_LAND);
	memset(frame.data, 0, 12); /* Linux's loopback device */
	assert_worst_anomaly(frame_dissect(DLT_EN10MB, &frame), ANOMALY_NONE);
	packet.data[12] = packet.data[16] = 127;
	frame_fix_ipv4_checksum(&packet);
	frame = frame_wrap_ether(0x0800, &packet);
	assert_worst_anomaly(frame_dissect(DLT_EN10MB, &frame), ANOMALY_NONE);
}

static void
header_checksum(void **state)
{
	struct frame_buffer packet = plain();
	const struct packet *dissected;

	(void)state;
	packet.data[11] ^= 1;
	dissected = frame_dissect(DLT_IPV4, &packet);
	assert_worst_anomaly(dissected, ANOMALY_IPV4_CHECKSUM);
	assert_int_equal(dissected->payload.captured, 8); /* and dissection continues */
	packet.data[10] = packet.data[11] = 0;
	assert_worst_anomaly(frame_dissect(DLT_IPV4, &packet), ANOMALY_IPV4_CHECKSUM_OFFLOAD);
	assert_int_equal(anomaly_severity(ANOMALY_IPV4_CHECKSUM), SEVERITY_UNUSUAL);
}

static void
super_packet(void **state)
{
	struct frame_buffer packet = plain();
	const struct packet *dissected;

	(void)state;
	packet.data[3] = 0;
	frame_fix_ipv4_checksum(&packet);
	dissected = frame_dissect(DLT_IPV4, &packet);
	assert_worst_anomaly(dissected, ANOMALY_SUPER_PACKET);
	assert_true(dissected->ip.super_packet);
	assert_int_equal(dissected->ip.total_length, 0);
	assert_int_equal(dissected->ip.length, 28);
	assert_int_equal(dissected->ip.payload_len, 8);
	dissected =
	    frame_dissect_cut(DLT_IPV4, packet.data, 24, 100000); /* BIG TCP: the length of the frame is the length of
								     * the packet */
	assert_int_equal(dissected->ip.length, 100000);
	assert_int_equal(dissected->payload.wire, 99980);
	packet.data[11] ^= 1; /* the sum goes with the length: both are the interface's */
	dissected = frame_dissect(DLT_IPV4, &packet);
	assert_true(anomaly_has(&dissected->anomalies, ANOMALY_IPV4_CHECKSUM_OFFLOAD));
	packet.data[6] = 0x20; /* no fragment is one */
	frame_fix_ipv4_checksum(&packet);
	dropped(frame_dissect(DLT_IPV4, &packet), ANOMALY_IPV4_TOTAL_LENGTH);
}

static void
fragments(void **state)
{
	/* 8 bytes of UDP: first (MF), middle (MF, offset 185), last (offset 370) */
	static const struct {
		uint16_t flags_offset;
		bool more;
		uint16_t offset;
	} cases[] = {{0x2000, true, 0}, {0x20b9, true, 185}, {0x0172, false, 370}};
	struct frame_buffer inside = frame_buffer_from(eight, sizeof eight), frame;
	const struct packet *packet;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		frame = frame_wrap_ipv4_fragment(17, cases[i].flags_offset, &inside);
		packet = frame_dissect(DLT_IPV4, &frame);
		assert_worst_anomaly(packet, ANOMALY_NONE);
		assert_true(packet->ip.fragment);
		assert_int_equal(packet->ip.more_fragments, cases[i].more);
		assert_int_equal(packet->ip.fragment_offset, cases[i].offset);
		assert_int_equal(packet->ip.protocol, 17);
		assert_int_equal(packet->transport, TRANSPORT_NONE); /* the first one too */
		assert_memory_equal(packet->payload.at, eight, 8);
		assert_int_equal(packet->payload.wire, 8);
		assert_memory_equal(packet->datagram.at, eight, 8);
	}
}

static const struct packet *
fragment(uint8_t protocol, uint16_t flags_offset, uint32_t len)
{
	struct frame_buffer inside = {.len = len}, frame = frame_wrap_ipv4_fragment(protocol, flags_offset, &inside);

	return frame_dissect(DLT_IPV4, &frame);
}

static void
bad_fragments(void **state)
{
	(void)state;
	dropped(fragment(17, 0x2000, 7), ANOMALY_FRAGMENT_UNALIGNED);
	assert_worst_anomaly(fragment(17, 0x0001, 7), ANOMALY_NONE); /* the last one may have any length */
	dropped(fragment(17, 0x1fff, 8), ANOMALY_FRAGMENT_TOO_LONG);
	assert_worst_anomaly(fragment(17, 0x1fff, 7), ANOMALY_NONE); /* 65535 and no more */
	assert_worst_anomaly(fragment(17, 0x6000, 8), ANOMALY_IPV4_DF_FRAGMENT);
	assert_worst_anomaly(fragment(6, 0x2000, 16), ANOMALY_FRAGMENT_TINY);
	assert_worst_anomaly(fragment(6, 0x2001, 16), ANOMALY_FRAGMENT_TINY);
	assert_worst_anomaly(fragment(6, 0x2000, 24), ANOMALY_NONE);
}

/* An authentication header is skipped; the IP layer keeps the values of its header. */
static void
authentication_header(void **state)
{
	/* AH: next UDP, length 4 words (24 bytes less 8), SPI 1, sequence 1, 12 bytes of ICV; UDP 1 > 2, 8 bytes */
	static const uint8_t ah[32] = {17, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0,
				       0,  0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 8, 0, 0};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{52, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	struct frame_buffer inside = frame_buffer_from(ah, sizeof ah), frame = frame_wrap_ipv4(51, &inside);
	const struct packet *packet = frame_dissect(DLT_IPV4, &frame);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ip.protocol, 51);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->datagram.wire, 8);
	assert_truncations(DLT_IPV4, frame.data, frame.len, cuts);
	inside.data[1] = 7; /* 36 bytes */
	frame = frame_wrap_ipv4(51, &inside);
	assert_worst_anomaly(frame_dissect(DLT_IPV4, &frame), ANOMALY_AH_LENGTH);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(options),
		cmocka_unit_test(malformed_options),
		cmocka_unit_test(source_route),
		cmocka_unit_test(discarded),
		cmocka_unit_test(cut_without_a_note),
		cmocka_unit_test(time_to_live_zero),
		cmocka_unit_test(broadcast_source),
		cmocka_unit_test(land),
		cmocka_unit_test(header_checksum),
		cmocka_unit_test(super_packet),
		cmocka_unit_test(fragments),
		cmocka_unit_test(bad_fragments),
		cmocka_unit_test(authentication_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
