/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum {
	HOP_BY_HOP = 0,
	UDP = 17,
	ROUTING = 43,
	FRAGMENT = 44,
	ESP = 50,
	AH = 51,
	NO_NEXT = 59,
	DESTINATION = 60,
	MOBILITY = 135,
	HIP = 139,
	SHIM6 = 140,
	UNASSIGNED = 253,
};

/* UDP 1 > 2, 8 bytes, checksum left out. */
#define UDP_HEADER 0, 1, 0, 2, 0, 8, 0, 0

static struct frame_buffer packet_bytes;

static const struct packet *
dissect_v6(uint8_t next, const void *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len);

	packet_bytes = frame_wrap_ipv6(next, &inside);
	return frame_dissect(DLT_IPV6, &packet_bytes);
}

#define DISSECT_V6(next, array) dissect_v6((next), (array), sizeof(array))

static void
good(void **state)
{
	static const uint8_t udp[] = {UDP_HEADER};
	static const struct truncation_row cuts[] = {
		{40, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_SHORT},
		{48, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	struct frame_buffer inside = frame_buffer_from(udp, sizeof udp), frame = frame_wrap_ipv6(UDP, &inside);
	const struct packet *packet;

	(void)state;
	frame.data[0] = 0x6a; /* traffic class 0xa5, flow label 0x12345 */
	frame.data[1] = 0x51;
	frame.data[2] = 0x23;
	frame.data[3] = 0x45;
	packet = frame_dissect(DLT_IPV6, &frame);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->network, NETWORK_IPV6);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->ip.version, 6);
	assert_int_equal(packet->ip.tos, 0xa5);
	assert_int_equal(packet->ip.flow_label, 0x12345);
	assert_int_equal(packet->ip.payload_length, 8);
	assert_int_equal(packet->ip.payload_len, 8);
	assert_int_equal(packet->ip.length, 48);
	assert_int_equal(packet->ip.next_header, UDP);
	assert_int_equal(packet->ip.protocol, UDP);
	assert_int_equal(packet->ip.ttl, 64);
	assert_int_equal(packet->ip.header.len, 40);
	assert_int_equal(packet->ip.options.len, 0);
	assert_int_equal(packet->ip.fragment_id, 0);
	assert_memory_equal(packet->ip.src, frame.data + 8, 16);
	assert_memory_equal(packet->ip.dst, frame.data + 24, 16);
	assert_truncations(DLT_IPV6, frame.data, frame.len, cuts);
}

static void
every_extension_header(void **state)
{
	static const uint8_t chain[] = {
		DESTINATION, 0, 5, 2, 0, 0, 1, 0,	     /* hop-by-hop: router alert, PadN */
		ROUTING, 0, 1, 4, 0, 0, 0, 0,		     /* destination: PadN */
		AH, 0, 253, 0, 0, 0, 0, 0,		     /* routing: experimental type, no segments left */
		MOBILITY, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1,   /* AH: 24 bytes */
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,	     /* its ICV */
		HIP, 0, 0, 0, 0, 0, 0, 0,		     /* mobility */
		SHIM6, 0, 0, 0, 0, 0, 0, 0,		     /* HIP */
		FRAGMENT, 0, 0, 0, 0, 0, 0, 0,		     /* shim6 */
		UDP, 0, 0, 0, 1, 2, 3, 4,		     /* fragment: atomic */
		UDP_HEADER,
	};
	static const struct truncation_row cuts[] = {
		{40, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV6_SHORT},
		{120, ANOMALY_TRUNCATED_NETWORK, ANOMALY_TRUNCATED_RECORD},
		{128, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = DISSECT_V6(HOP_BY_HOP, chain);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_IPV6_ATOMIC_FRAGMENT);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->ip.next_header, HOP_BY_HOP);
	assert_int_equal(packet->ip.protocol, UDP);
	assert_int_equal(packet->ip.payload_len, 88);
	assert_int_equal(packet->ip.options.len, 80);
	assert_int_equal(packet->ip.fragment_id, 0x01020304);
	assert_false(packet->ip.fragment);
	assert_int_equal(packet->datagram.wire, 8);
	assert_int_equal(packet->layers_spent, 10);
	/* The atomic fragment is seen only once its header is. */
	for (uint32_t n = 112; n < 120; n++)
		assert_worst_anomaly(frame_dissect_cut(DLT_IPV6, packet_bytes.data, n, 128), ANOMALY_TRUNCATED_NETWORK);
	assert_truncations(DLT_IPV6, packet_bytes.data, packet_bytes.len, cuts);
}

/* A chain that ends before the payload length does: what is missing was never on the wire. */
static void
short_headers(void **state)
{
	static const uint8_t header[8] = {UDP, 1, 1, 4, 0, 0, 0, 0};
	static const uint8_t nexts[] = {HOP_BY_HOP, ROUTING, AH, DESTINATION, MOBILITY, HIP, SHIM6};

	(void)state;
	for (unsigned i = 0; i < sizeof nexts; i++) {
		const struct packet *packet;

		for (uint32_t n = 1; n < 8; n++)
			assert_worst_anomaly(dissect_v6(nexts[i], header, n), ANOMALY_IPV6_EXTENSION);
		packet = dissect_v6(nexts[i], header, 8);
		assert_worst_anomaly(packet, ANOMALY_IPV6_EXTENSION);
		assert_int_equal(packet->network, NETWORK_IPV6);
		assert_int_equal(packet->transport, TRANSPORT_NONE);
		assert_int_equal(packet->ip.protocol, nexts[i]);
	}
	assert_worst_anomaly(dissect_v6(FRAGMENT, header, 7), ANOMALY_IPV6_EXTENSION);
}

static void
where_a_chain_ends(void **state)
{
	static const uint8_t esp[] = {0, 0, 0, 1, 0, 0, 0, 1, 9, 9};
	static const uint8_t none[] = {NO_NEXT, 0, 1, 4, 0, 0, 0, 0, 9, 9, 9};
	const struct packet *packet = DISSECT_V6(ESP, esp);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ip.protocol, ESP);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	packet = DISSECT_V6(DESTINATION, none);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->ip.protocol, NO_NEXT);
}

static void
order_and_options(void **state)
{
	static const uint8_t late[] = {HOP_BY_HOP, 0, 1, 4, 0, 0, 0, 0, UDP, 0, 1, 4, 0, 0, 0, 0, UDP_HEADER};
	static const uint8_t beyond[] = {UDP, 0, 1, 5, 0, 0, 0, 0, UDP_HEADER};
	static const uint8_t no_length[] = {UDP, 0, 1, 3, 0, 0, 0, 5, UDP_HEADER};
	static const uint8_t pad1[] = {UDP, 0, 0, 0, 0, 0, 0, 0, UDP_HEADER};
	static const uint8_t jumbo_size[] = {UDP, 0, 0xc2, 3, 0, 0, 0, 0, UDP_HEADER};

	(void)state;
	assert_worst_anomaly(DISSECT_V6(DESTINATION, late), ANOMALY_IPV6_EXTENSION_ORDER);
	assert_worst_anomaly(DISSECT_V6(HOP_BY_HOP, beyond), ANOMALY_IPV6_OPTIONS);
	assert_worst_anomaly(DISSECT_V6(DESTINATION, no_length), ANOMALY_IPV6_OPTIONS);
	assert_worst_anomaly(DISSECT_V6(HOP_BY_HOP, pad1), ANOMALY_NONE);
	assert_worst_anomaly(DISSECT_V6(HOP_BY_HOP, jumbo_size), ANOMALY_IPV6_OPTIONS);
}

static void
routing_type_zero(void **state)
{
	uint8_t chain[8 + 16 + 8] = {UDP, 2, 0, 1};
	static const uint8_t udp[] = {UDP_HEADER};

	(void)state;
	memcpy(chain + 24, udp, 8);
	assert_worst_anomaly(DISSECT_V6(ROUTING, chain), ANOMALY_IPV6_ROUTING_ZERO);
	chain[3] = 2; /* more segments left than there are addresses */
	assert_worst_anomaly(DISSECT_V6(ROUTING, chain), ANOMALY_IPV6_EXTENSION);
	chain[3] = 0;
	chain[1] = 1; /* half an address */
	assert_worst_anomaly(DISSECT_V6(ROUTING, chain), ANOMALY_IPV6_EXTENSION);
}

static void
fragments(void **state)
{
	/* next UDP, offset 185, more, id 0xcafebabe; 16 bytes; then the last one, and a first */
	uint8_t piece[8 + 16] = {UDP, 0, 0x05, 0xc9, 0xca, 0xfe, 0xba, 0xbe, 1};
	const struct packet *packet = DISSECT_V6(FRAGMENT, piece);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->ip.fragment);
	assert_true(packet->ip.more_fragments);
	assert_int_equal(packet->ip.fragment_offset, 185);
	assert_int_equal(packet->ip.fragment_id, 0xcafebabe);
	assert_int_equal(packet->ip.protocol, UDP);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_int_equal(packet->payload.wire, 16);
	assert_int_equal(packet->payload.at[0], 1);
	piece[3] = 0xc8;
	packet = DISSECT_V6(FRAGMENT, piece);
	assert_true(packet->ip.fragment);
	assert_false(packet->ip.more_fragments);
	piece[2] = 0;
	piece[3] = 1;
	piece[0] = DESTINATION; /* of the fragmentable part: comes back with reassembly */
	packet = DISSECT_V6(FRAGMENT, piece);
	assert_true(packet->ip.fragment);
	assert_int_equal(packet->ip.protocol, DESTINATION);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_int_equal(packet->ip.options.len, 8);
	assert_worst_anomaly(dissect_v6(FRAGMENT, piece, sizeof piece - 1), ANOMALY_FRAGMENT_UNALIGNED);
	piece[2] = 0xff;
	piece[3] = 0xf8;
	assert_worst_anomaly(DISSECT_V6(FRAGMENT, piece), ANOMALY_FRAGMENT_TOO_LONG);
}

static void
discarded(void **state)
{
	static const uint8_t udp[] = {UDP_HEADER};
	struct frame_buffer inside = frame_buffer_from(udp, sizeof udp), frame = frame_wrap_ipv6(UDP, &inside);
	const struct packet *packet;

	(void)state;
	frame.data[8] = 0xff;
	packet = frame_dissect(DLT_IPV6, &frame);
	assert_worst_anomaly(packet, ANOMALY_IPV6_SOURCE);
	assert_int_equal(packet->network, NETWORK_IPV6);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	frame.data[8] = 0x20;
	frame.data[7] = 0;
	packet = frame_dissect(DLT_IPV6, &frame);
	assert_worst_anomaly(packet, ANOMALY_IPV6_HOP_LIMIT_ZERO);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	frame.data[7] = 1;
	frame.data[5] = 9;
	packet = frame_dissect(DLT_IPV6, &frame); /* the record was cut without a note */
	assert_true(anomaly_has(&packet->anomalies, ANOMALY_TRUNCATED_RECORD));
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_worst_anomaly(frame_dissect_cut(DLT_IPV6, frame.data, 47, 48), ANOMALY_IPV6_LENGTH);
	frame.data[0] = 0x40;
	packet = frame_dissect(DLT_IPV6, &frame);
	assert_worst_anomaly(packet, ANOMALY_IP_VERSION);
	assert_int_equal(packet->network, NETWORK_NONE);
}

/* BIG TCP without a jumbo header, and what looks like it and is not. */
static void
big_tcp(void **state)
{
	static const uint8_t udp[] = {UDP_HEADER};
	struct frame_buffer inside = frame_buffer_from(udp, sizeof udp), frame = frame_wrap_ipv6(UDP, &inside);
	const struct packet *packet;

	(void)state;
	frame.data[5] = 0;
	packet = frame_dissect_cut(DLT_IPV6, frame.data, frame.len, 80040);
	assert_worst_anomaly(packet, ANOMALY_SUPER_PACKET);
	assert_true(packet->ip.super_packet);
	assert_int_equal(packet->ip.length, 80040);
	assert_int_equal(packet->ip.payload_len, 80000);
	assert_int_equal(packet->ip.payload_length, 0);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->payload_wire, 79992);
	/* no next header, padded by the link */
	frame.data[6] = NO_NEXT;
	packet = frame_dissect(DLT_IPV6, &frame);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_false(packet->ip.super_packet);
	assert_int_equal(packet->ip.length, 40);
	assert_int_equal(packet->payload.wire, 0);
	/* TCP, but only six bytes of padding */
	frame.data[6] = 6;
	packet = frame_dissect_cut(DLT_IPV6, frame.data, 46, 46);
	assert_worst_anomaly(packet, ANOMALY_TCP_SHORT);
	assert_false(packet->ip.super_packet);
}

static const struct packet *
dissect_jumbo(uint32_t jumbo, uint16_t payload_length, uint32_t wire)
{
	/* hop-by-hop with the jumbo option, UDP with length 0 */
	const uint8_t chain[] = {
		UDP, 0, 0xc2, 4, (uint8_t)(jumbo >> 24), (uint8_t)(jumbo >> 16), (uint8_t)(jumbo >> 8), (uint8_t)jumbo,
		0, 1, 0, 2, 0, 0, 0, 0,
	};
	struct frame_buffer inside = frame_buffer_from(chain, sizeof chain),
			    frame = frame_wrap_ipv6(HOP_BY_HOP, &inside);

	frame.data[4] = (uint8_t)(payload_length >> 8);
	frame.data[5] = (uint8_t)payload_length;
	return frame_dissect_cut(DLT_IPV6, frame.data, frame.len, wire);
}

static void
jumbograms(void **state)
{
	static const uint8_t without[] = {UDP, 0, 1, 4, 0, 0, 0, 0, UDP_HEADER};
	const struct packet *packet = dissect_jumbo(80000, 0, 80044); /* 4 bytes of padding */
	struct frame_buffer inside = frame_buffer_from(without, sizeof without),
			    frame = frame_wrap_ipv6(HOP_BY_HOP, &inside);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_SUPER_PACKET);
	assert_true(packet->ip.super_packet);
	assert_int_equal(packet->ip.length, 80040);
	assert_int_equal(packet->ip.payload_len, 80000);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->payload_wire, 80000 - 16);
	assert_worst_anomaly(dissect_jumbo(65535, 0, 80040), ANOMALY_IPV6_JUMBO); /* would have fitted */
	assert_worst_anomaly(dissect_jumbo(80000, 16, 80040), ANOMALY_IPV6_JUMBO); /* two lengths */
	assert_worst_anomaly(dissect_jumbo(80000, 0, 80039), ANOMALY_IPV6_LENGTH);
	frame.data[5] = 0;
	assert_worst_anomaly(frame_dissect(DLT_IPV6, &frame), ANOMALY_IPV6_JUMBO); /* no length at all */
}

static void
chains_spend_the_budget(void **state)
{
	uint8_t chain[40 * 8];
	const struct packet *packet;

	(void)state;
	for (unsigned i = 0; i < 40; i++)
		memcpy(chain + 8 * i, ((uint8_t[8]){DESTINATION, 0, 1, 4, 0, 0, 0, 0}), 8);
	packet = DISSECT_V6(DESTINATION, chain);
	assert_worst_anomaly(packet, ANOMALY_LAYER_BUDGET);
	assert_int_equal(packet->layers_spent, DISSECT_LAYER_BUDGET);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_false(anomaly_has(&packet->anomalies, ANOMALY_IPV6_ROUTING_ZERO));
	/* A routing header of type 0 before the end of the budget is reported, too; one after it is not parsed. */
	memcpy(chain, ((uint8_t[8]){ROUTING, 0, 1, 4, 0, 0, 0, 0}), 8);
	memcpy(chain + 8, ((uint8_t[8]){DESTINATION, 0, 0, 0, 0, 0, 0, 0}), 8);
	packet = DISSECT_V6(DESTINATION, chain);
	assert_worst_anomaly(packet, ANOMALY_LAYER_BUDGET);
	assert_true(anomaly_has(&packet->anomalies, ANOMALY_IPV6_ROUTING_ZERO));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(every_extension_header),
		cmocka_unit_test(short_headers),
		cmocka_unit_test(where_a_chain_ends),
		cmocka_unit_test(order_and_options),
		cmocka_unit_test(routing_type_zero),
		cmocka_unit_test(fragments),
		cmocka_unit_test(discarded),
		cmocka_unit_test(big_tcp),
		cmocka_unit_test(jumbograms),
		cmocka_unit_test(chains_spend_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
