/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum { TCP = 6 };

/* 443 > 50000, seq 0x01020304, ack 0xfffefdfc, window 0x1234, checksum 0xabcd, urgent 0x0102. */
#define FIXED(offset, flags)                                                                                  \
	0x01, 0xbb, 0xc3, 0x50, 1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc, ((offset) / 4) << 4, (flags), 0x12, 0x34, \
		0xab, 0xcd, 1, 2

static struct frame_buffer packet_bytes;

static const struct packet *
dissect_tcp_bytes(const void *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len);

	packet_bytes = frame_wrap_ipv4(TCP, &inside);
	return frame_dissect(DLT_IPV4, &packet_bytes);
}

/* A SYN with these options, padded with zeros. */
static const struct packet *
with_options(const void *options, uint32_t len)
{
	const uint32_t padded = (len + 3) / 4 * 4;
	uint8_t segment[60] = {FIXED(0, TCP_SYN)};

	segment[12] = (uint8_t)((20 + padded) / 4 << 4);
	memcpy(segment + 20, options, len);
	return dissect_tcp_bytes(segment, 20 + padded);
}

#define WITH_OPTIONS(...) with_options((uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static void
good(void **state)
{
	static const uint8_t segment[] = {FIXED(20, TCP_ACK | TCP_PSH), 'a', 'b', 'c'};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{40, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{43, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = dissect_tcp_bytes(segment, sizeof segment);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_TCP);
	assert_int_equal(packet->tcp.sport, 443);
	assert_int_equal(packet->tcp.dport, 50000);
	assert_int_equal(packet->tcp.seq, 0x01020304);
	assert_int_equal(packet->tcp.ack, 0xfffefdfc);
	assert_int_equal(packet->tcp.header_len, 20);
	assert_int_equal(packet->tcp.flags, TCP_ACK | TCP_PSH);
	assert_int_equal(packet->tcp.window, 0x1234);
	assert_int_equal(packet->tcp.checksum, 0xabcd);
	assert_int_equal(packet->tcp.urgent, 0x0102);
	assert_int_equal(packet->tcp.options, 0);
	assert_int_equal(packet->tcp.sack_count, 0);
	assert_int_equal(packet->tcp.header.len, 20);
	assert_int_equal(packet->payload_wire, 3);
	assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
}

/* The form nearly every segment has. */
static void
timestamps_alone(void **state)
{
	static const uint8_t segment[] = {FIXED(32, TCP_ACK), 1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 'x'};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{40, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{52, ANOMALY_TRUNCATED_OPTIONS, ANOMALY_TRUNCATED_RECORD},
		{53, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = dissect_tcp_bytes(segment, sizeof segment);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->tcp.options, TCP_OPTION_TIMESTAMPS);
	assert_int_equal(packet->tcp.tsval, 0x01020304);
	assert_int_equal(packet->tcp.tsecr, 0x05060708);
	assert_int_equal(packet->tcp.header.len, 32);
	assert_int_equal(packet->payload_wire, 1);
	assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
	/* Options cut by the capture: the segment is there, and its length on the wire is known. */
	packet = frame_dissect_cut(DLT_IPV4, packet_bytes.data, 45, 53);
	assert_int_equal(packet->transport, TRANSPORT_TCP);
	assert_int_equal(packet->tcp.options, 0);
	assert_int_equal(packet->tcp.header.len, 25);
	assert_int_equal(packet->payload_wire, 1);
	assert_int_equal(packet->payload.captured, 0);
}

static void
every_option(void **state)
{
	/* MSS 1460, SACK permitted, timestamps 1 2, NOP, window scale 7, fast open cookie of 4, AO of 4 */
	const struct packet *packet = WITH_OPTIONS(2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7,
						   34, 6, 1, 2, 3, 4, 29, 4, 1, 1);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->tcp.options, TCP_OPTION_MSS | TCP_OPTION_SACK_PERMITTED | TCP_OPTION_TIMESTAMPS |
						      TCP_OPTION_WSCALE | TCP_OPTION_FAST_OPEN | TCP_OPTION_AO);
	assert_int_equal(packet->tcp.mss, 1460);
	assert_int_equal(packet->tcp.wscale, 7);
	assert_int_equal(packet->tcp.tsval, 1);
	assert_int_equal(packet->tcp.tsecr, 2);
	packet = WITH_OPTIONS(19, 18, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
	assert_int_equal(packet->tcp.options, TCP_OPTION_MD5);
	packet = WITH_OPTIONS(34, 2);
	assert_int_equal(packet->tcp.options, TCP_OPTION_FAST_OPEN);
	packet = WITH_OPTIONS(254, 4, 0xf9, 0x89);
	assert_int_equal(packet->tcp.options, TCP_OPTION_FAST_OPEN);
	/* another experiment, MPTCP, user timeout */
	packet = WITH_OPTIONS(254, 4, 0xf9, 0x88, 30, 4, 1, 1, 28, 4, 1, 1);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->tcp.options, 0);
	packet = WITH_OPTIONS(0, 0, 0, 0, 2, 4, 5, 0xb4); /* nothing counts after the end */
	assert_int_equal(packet->tcp.options, 0);
	packet = WITH_OPTIONS(2, 4, 0, 1, 2, 4, 0, 2); /* twice: the second */
	assert_int_equal(packet->tcp.mss, 2);
}

static void
sack_blocks(void **state)
{
	uint8_t option[36] = {1, 1, 5, 34};
	const struct packet *packet;

	(void)state;
	for (uint8_t i = 0; i < 8; i++)
		option[4 + 4 * i + 3] = (uint8_t)(i + 1);
	packet = with_options(option, sizeof option);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->tcp.options, TCP_OPTION_SACK);
	assert_int_equal(packet->tcp.sack_count, 4);
	for (uint8_t i = 0; i < 4; i++) {
		assert_int_equal(packet->tcp.sack[i][0], 2 * i + 1);
		assert_int_equal(packet->tcp.sack[i][1], 2 * i + 2);
	}
	option[3] = 10;
	packet = with_options(option, 12);
	assert_int_equal(packet->tcp.sack_count, 1);
}

static void
malformed_options(void **state)
{
	(void)state;
	assert_worst_anomaly(WITH_OPTIONS(2, 0, 0, 0), ANOMALY_TCP_OPTIONS); /* would never end */
	assert_worst_anomaly(WITH_OPTIONS(2, 1, 0, 0), ANOMALY_TCP_OPTIONS);
	assert_worst_anomaly(WITH_OPTIONS(2, 5, 0, 0), ANOMALY_TCP_OPTIONS); /* beyond the header */
	assert_worst_anomaly(WITH_OPTIONS(1, 1, 1, 2), ANOMALY_TCP_OPTIONS); /* no room for the length */
	assert_worst_anomaly(WITH_OPTIONS(2, 3, 5, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(3, 4, 5, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(4, 3, 5, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(5, 2, 1, 1), ANOMALY_TCP_OPTION_LENGTH); /* no block */
	assert_worst_anomaly(WITH_OPTIONS(5, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(8, 8, 0, 0, 0, 0, 0, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(34, 4, 0, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(29, 3, 0, 0), ANOMALY_TCP_OPTION_LENGTH);
	assert_worst_anomaly(WITH_OPTIONS(19, 4, 0, 0), ANOMALY_TCP_OPTION_LENGTH);
	/* What holds in front of it counts, and the segment with it. */
	assert_int_equal(WITH_OPTIONS(2, 4, 5, 0xb4, 3, 0, 0, 0)->tcp.mss, 1460);
	assert_int_equal(WITH_OPTIONS(2, 0, 0, 0)->transport, TRANSPORT_TCP);
	assert_int_equal(WITH_OPTIONS(2, 3, 5, 0)->tcp.options, 0);
}

static void
window_scale_limit(void **state)
{
	const struct packet *packet = WITH_OPTIONS(3, 3, 14, 0);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->tcp.wscale, 14);
	packet = WITH_OPTIONS(3, 3, 15, 0);
	assert_worst_anomaly(packet, ANOMALY_TCP_WSCALE);
	assert_int_equal(packet->tcp.wscale, 14);
}

static void
header_length(void **state)
{
	static const uint8_t below[] = {FIXED(16, TCP_ACK)}, beyond[] = {FIXED(24, TCP_ACK)};
	const struct packet *packet = dissect_tcp_bytes(below, sizeof below);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_TCP_HEADER_LENGTH);
	assert_int_equal(packet->network, NETWORK_IPV4);
	assert_int_equal(packet->transport, TRANSPORT_NONE);
	assert_int_equal(packet->payload.captured, 20);
	assert_worst_anomaly(dissect_tcp_bytes(beyond, sizeof beyond), ANOMALY_TCP_HEADER_LENGTH);
	for (uint32_t n = 0; n < 20; n++)
		assert_worst_anomaly(dissect_tcp_bytes(below, n), ANOMALY_TCP_SHORT);
}

static void
flags(void **state)
{
	static const uint8_t possible[] = {
		TCP_SYN, TCP_SYN | TCP_ACK, TCP_ACK, TCP_FIN | TCP_ACK, TCP_RST, TCP_RST | TCP_ACK,
		TCP_ACK | TCP_PSH, TCP_ACK | TCP_URG, TCP_SYN | TCP_ECE | TCP_CWR, TCP_FIN | TCP_PSH | TCP_ACK,
		TCP_SYN | TCP_PSH,
	};
	static const uint8_t impossible[] = {
		0, TCP_FIN, TCP_PSH, TCP_SYN | TCP_FIN, TCP_SYN | TCP_RST, TCP_FIN | TCP_RST,
		TCP_FIN | TCP_PSH | TCP_URG, TCP_SYN | TCP_FIN | TCP_ACK, 0xff,
	};

	(void)state;
	for (unsigned i = 0; i < sizeof possible; i++) {
		const uint8_t segment[] = {FIXED(20, possible[i])};

		assert_worst_anomaly(dissect_tcp_bytes(segment, sizeof segment), ANOMALY_NONE);
	}
	for (unsigned i = 0; i < sizeof impossible; i++) {
		const uint8_t segment[] = {FIXED(20, impossible[i])};

		assert_worst_anomaly(dissect_tcp_bytes(segment, sizeof segment), ANOMALY_TCP_FLAGS);
		assert_int_equal(dissect_tcp_bytes(segment, sizeof segment)->transport, TRANSPORT_TCP);
	}
}

static void
reserved_bits(void **state)
{
	uint8_t segment[] = {FIXED(20, TCP_ACK)};

	(void)state;
	segment[12] |= 1; /* accurate ECN */
	assert_worst_anomaly(dissect_tcp_bytes(segment, sizeof segment), ANOMALY_NONE);
	segment[12] |= 4;
	assert_worst_anomaly(dissect_tcp_bytes(segment, sizeof segment), ANOMALY_TCP_RESERVED);
	segment[12] = 0x50;
	segment[0] = segment[1] = 0;
	assert_worst_anomaly(dissect_tcp_bytes(segment, sizeof segment), ANOMALY_TCP_PORT_ZERO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(timestamps_alone),
		cmocka_unit_test(every_option),
		cmocka_unit_test(sack_blocks),
		cmocka_unit_test(malformed_options),
		cmocka_unit_test(window_scale_limit),
		cmocka_unit_test(header_length),
		cmocka_unit_test(flags),
		cmocka_unit_test(reserved_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
