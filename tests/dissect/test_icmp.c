/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP, ICMPv6 and the packets their errors quote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

/* IPv4 10.0.0.9 > 10.0.0.8, TCP, as a router quotes it: the header and 8 bytes, ports 443 and 50000, seq 0x01020304. */
#define QUOTED_IPV4                                                                                       \
	0x45, 0, 0x05, 0xdc, 0, 1, 0x40, 0, 1, 6, 0, 0, 10, 0, 0, 9, 10, 0, 0, 8, 0x01, 0xbb, 0xc3, 0x50, \
		1, 2, 3, 4

#define ADDRESS_A 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a
#define ADDRESS_B 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b

static struct frame_buffer packet_bytes;

static const struct packet *
dissect_v4(const void *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len);

	packet_bytes = frame_wrap_ipv4(1, &inside);
	return frame_dissect(DLT_IPV4, &packet_bytes);
}

static const struct packet *
dissect_v6(const void *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len);

	packet_bytes = frame_wrap_ipv6(58, &inside);
	return frame_dissect(DLT_IPV6, &packet_bytes);
}

static void
echo(void **state)
{
	/* echo request, id 0x1234, sequence 7, 4 bytes of data */
	static const uint8_t request[] = {8, 0, 0xe5, 0xc4, 0x12, 0x34, 0, 7, 'a', 'b', 'c', 'd'};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{28, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{32, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = dissect_v4(request, sizeof request);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_int_equal(packet->icmp.type, 8);
	assert_int_equal(packet->icmp.code, 0);
	assert_int_equal(packet->icmp.checksum, 0xe5c4);
	assert_int_equal(packet->icmp.echo_id, 0x1234);
	assert_int_equal(packet->icmp.echo_seq, 7);
	assert_false(packet->icmp.error);
	assert_int_equal(packet->icmp.header.len, 8);
	assert_int_equal(packet->payload_wire, 4);
	assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
}

static void
short_messages(void **state)
{
	static const uint8_t request[] = {8, 0, 0xe5, 0xc4, 0x12, 0x34, 0, 7};
	const struct packet *packet;

	(void)state;
	for (uint32_t n = 0; n < 4; n++) {
		packet = dissect_v4(request, n);
		assert_worst_anomaly(packet, ANOMALY_ICMP_SHORT);
		assert_int_equal(packet->transport, TRANSPORT_NONE);
		assert_worst_anomaly(dissect_v6(request, n), ANOMALY_ICMP_SHORT);
	}
	for (uint32_t n = 4; n < 8; n++) {
		packet = dissect_v4(request, n);
		assert_worst_anomaly(packet, ANOMALY_ICMP_INCOMPLETE);
		assert_int_equal(packet->transport, TRANSPORT_ICMP);
		assert_int_equal(packet->icmp.header.len, 4);
		assert_int_equal(packet->icmp.echo_id, 0);
	}
	/* cut by the capture after the checksum: type and code are known */
	(void)dissect_v4(request, 8);
	packet = frame_dissect_cut(DLT_IPV4, packet_bytes.data, 25, 28);
	assert_worst_anomaly(packet, ANOMALY_TRUNCATED_TRANSPORT);
	assert_int_equal(packet->transport, TRANSPORT_ICMP);
	assert_int_equal(packet->icmp.type, 8);
}

static void
unreachable(void **state)
{
	/* fragmentation needed, MTU 1400 */
	uint8_t error[] = {3, 4, 0, 0, 0, 0, 0x05, 0x78, QUOTED_IPV4};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{28, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{48, ANOMALY_TRUNCATED_QUOTE, ANOMALY_TRUNCATED_RECORD},
		{56, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = dissect_v4(error, sizeof error);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->icmp.error);
	assert_int_equal(packet->icmp.mtu, 1400);
	assert_int_equal(packet->icmp.quote.version, 4);
	assert_int_equal(packet->icmp.quote.protocol, 6);
	assert_int_equal(packet->icmp.quote.header.len, 20);
	assert_memory_equal(packet->icmp.quote.src, ((uint8_t[]){10, 0, 0, 9, 0}), 5);
	assert_memory_equal(packet->icmp.quote.dst, ((uint8_t[]){10, 0, 0, 8, 0}), 5);
	assert_true(packet->icmp.quote.has_ports);
	assert_int_equal(packet->icmp.quote.sport, 443);
	assert_int_equal(packet->icmp.quote.dport, 50000);
	assert_true(packet->icmp.quote.has_seq);
	assert_int_equal(packet->icmp.quote.seq, 0x01020304);
	assert_int_equal(packet->payload_wire, 28);
	assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
	error[8 + 6] = 0x20; /* more fragments, offset 5: no ports there */
	error[8 + 7] = 5;
	packet = dissect_v4(error, sizeof error);
	assert_int_equal(packet->icmp.quote.version, 4);
	assert_false(packet->icmp.quote.has_ports);
}

/* Quotes shorter than they should be: what is there is used. */
static void
short_quotes(void **state)
{
	uint8_t error[] = {11, 0, 0, 0, 0, 0, 0, 0, QUOTED_IPV4};
	const struct packet *packet;

	(void)state;
	for (uint32_t n = 0; n < 20; n++) {
		packet = dissect_v4(error, 8 + n);
		assert_worst_anomaly(packet, ANOMALY_ICMP_QUOTE);
		assert_int_equal(packet->transport, TRANSPORT_ICMP);
		assert_int_equal(packet->icmp.quote.version, 0);
	}
	for (uint32_t n = 20; n <= 28; n++) {
		packet = dissect_v4(error, 8 + n);
		assert_worst_anomaly(packet, ANOMALY_NONE);
		assert_int_equal(packet->icmp.quote.version, 4);
		assert_int_equal(packet->icmp.quote.has_ports, n >= 24);
		assert_int_equal(packet->icmp.quote.has_seq, n >= 28);
	}
	error[8] = 0x44;
	assert_worst_anomaly(dissect_v4(error, sizeof error), ANOMALY_ICMP_QUOTE);
	error[8] = 0x15;
	assert_worst_anomaly(dissect_v4(error, sizeof error), ANOMALY_ICMP_QUOTE);
	error[8] = 0x4f; /* options that are not there */
	packet = dissect_v4(error, sizeof error);
	assert_worst_anomaly(packet, ANOMALY_ICMP_QUOTE);
	assert_int_equal(packet->icmp.quote.version, 4);
	assert_false(packet->icmp.quote.has_ports);
}

static void
other_messages(void **state)
{
	static const uint8_t redirect[] = {5, 1, 0, 0, 10, 0, 0, 254, QUOTED_IPV4};
	static const uint8_t parameter[] = {12, 0, 0, 0, 20, 0, 0, 0, QUOTED_IPV4};
	static const uint8_t timestamp[20] = {13, 0, 0, 0, 0, 1, 0, 2};
	static const uint8_t extended[] = {42, 0, 0, 0, 0x12, 0x34, 5, 1};
	static const uint8_t router[] = {9, 0, 0, 0, 1, 2, 0, 0};
	const struct packet *packet = dissect_v4(redirect, sizeof redirect);

	(void)state;
	assert_true(packet->icmp.has_gateway);
	assert_memory_equal(packet->icmp.gateway, ((uint8_t[]){10, 0, 0, 254, 0}), 5);
	assert_true(packet->icmp.error);
	packet = dissect_v4(parameter, sizeof parameter);
	assert_int_equal(packet->icmp.pointer, 20);
	assert_true(packet->icmp.error);
	packet = dissect_v4(timestamp, sizeof timestamp);
	assert_int_equal(packet->icmp.echo_id, 1);
	assert_int_equal(packet->icmp.echo_seq, 2);
	packet = dissect_v4(extended, sizeof extended);
	assert_int_equal(packet->icmp.echo_id, 0x1234);
	assert_int_equal(packet->icmp.echo_seq, 5);
	packet = dissect_v4(router, sizeof router);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_false(packet->icmp.error);
	assert_int_equal(packet->icmp.echo_id, 0);
}

static void
version_6_echo(void **state)
{
	static const uint8_t reply[] = {129, 0, 0xab, 0xcd, 0, 1, 0, 2};
	const struct packet *packet = dissect_v6(reply, sizeof reply);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_ICMPV6);
	assert_int_equal(packet->icmp.checksum, 0xabcd);
	assert_int_equal(packet->icmp.echo_id, 1);
	assert_int_equal(packet->icmp.echo_seq, 2);
	assert_false(packet->icmp.error);
}

static void
version_6_errors(void **state)
{
	/* packet too big, MTU 1280: quotes A > B, hop-by-hop, UDP 53 > 5353 */
	uint8_t error[] = {2, 0, 0, 0, 0, 0, 0x05, 0x00, 0x60, 0, 0, 0, 0, 16, 0, 1, ADDRESS_A, ADDRESS_B,
			   17, 0, 1, 4, 0, 0, 0, 0, 0, 53, 0x14, 0xe9, 0, 8, 0, 0};
	const struct packet *packet = dissect_v6(error, sizeof error);
	static const uint8_t a[] = {ADDRESS_A}, b[] = {ADDRESS_B};

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->icmp.error);
	assert_int_equal(packet->icmp.mtu, 1280);
	assert_int_equal(packet->icmp.quote.version, 6);
	assert_int_equal(packet->icmp.quote.protocol, 17);
	assert_memory_equal(packet->icmp.quote.src, a, 16);
	assert_memory_equal(packet->icmp.quote.dst, b, 16);
	assert_int_equal(packet->icmp.quote.header.len, 40);
	assert_true(packet->icmp.quote.has_ports);
	assert_false(packet->icmp.quote.has_seq);
	assert_int_equal(packet->icmp.quote.sport, 53);
	assert_int_equal(packet->icmp.quote.dport, 5353);
	for (uint32_t n = 8; n < sizeof error; n++) {
		packet = dissect_v6(error, n);
		assert_worst_anomaly(packet, n < 48 ? ANOMALY_ICMP_QUOTE : ANOMALY_NONE);
		assert_int_equal(packet->icmp.quote.version, n < 48 ? 0 : 6);
		assert_int_equal(packet->icmp.quote.has_ports, n >= 60);
	}
	error[0] = 4; /* parameter problem: the same four bytes are a pointer */
	packet = dissect_v6(error, sizeof error);
	assert_int_equal(packet->icmp.pointer, 1280);
	assert_int_equal(packet->icmp.mtu, 0);
}

static void
neighbour_discovery(void **state)
{
	/* solicitation for A; redirect to A for B */
	uint8_t solicitation[] = {135, 0, 0, 0, 0, 0, 0, 0, ADDRESS_A};
	uint8_t redirect[] = {137, 0, 0, 0, 0, 0, 0, 0, ADDRESS_A, ADDRESS_B};
	static const uint8_t a[] = {ADDRESS_A};
	const struct packet *packet = dissect_v6(solicitation, sizeof solicitation);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->icmp.has_target);
	assert_false(packet->icmp.has_gateway);
	assert_memory_equal(packet->icmp.target, a, 16);
	for (uint32_t n = 8; n < sizeof solicitation; n++) {
		packet = dissect_v6(solicitation, n);
		assert_worst_anomaly(packet, ANOMALY_ICMP_INCOMPLETE);
		assert_false(packet->icmp.has_target);
	}
	packet = dissect_v6(redirect, sizeof redirect);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_true(packet->icmp.has_target && packet->icmp.has_gateway);
	assert_memory_equal(packet->icmp.gateway, a, 16);
	assert_false(packet->icmp.error);
	assert_worst_anomaly(frame_dissect_cut(DLT_IPV6, packet_bytes.data, 60, packet_bytes.len),
			     ANOMALY_TRUNCATED_TRANSPORT);
}

/* Each version has its own ICMP. */
static void
wrong_version(void **state)
{
	static const uint8_t message[] = {8, 0, 0, 0, 0, 0, 0, 0};
	struct frame_buffer inside = frame_buffer_from(message, sizeof message);
	struct frame_buffer v4 = frame_wrap_ipv4(58, &inside), v6 = frame_wrap_ipv6(1, &inside);

	(void)state;
	assert_int_equal(frame_dissect(DLT_IPV4, &v4)->transport, TRANSPORT_NONE);
	assert_int_equal(frame_dissect(DLT_IPV6, &v6)->transport, TRANSPORT_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo),
		cmocka_unit_test(short_messages),
		cmocka_unit_test(unreachable),
		cmocka_unit_test(short_quotes),
		cmocka_unit_test(other_messages),
		cmocka_unit_test(version_6_echo),
		cmocka_unit_test(version_6_errors),
		cmocka_unit_test(neighbour_discovery),
		cmocka_unit_test(wrong_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
