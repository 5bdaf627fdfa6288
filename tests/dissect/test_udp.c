/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum { UDP = 17 };

static struct frame_buffer packet_bytes;

static const struct packet *
dissect_udp_bytes(const void *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len);

	packet_bytes = frame_wrap_ipv4(UDP, &inside);
	return frame_dissect(DLT_IPV4, &packet_bytes);
}

static void
good(void **state)
{
	/* 5353 > 53, length 11, checksum 0xbeef, 3 bytes */
	static const uint8_t datagram[] = {0x14, 0xe9, 0, 53, 0, 11, 0xbe, 0xef, 'a', 'b', 'c'};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{28, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{31, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
	};
	const struct packet *packet = dissect_udp_bytes(datagram, sizeof datagram);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->udp.sport, 5353);
	assert_int_equal(packet->udp.dport, 53);
	assert_int_equal(packet->udp.length, 11);
	assert_int_equal(packet->udp.checksum, 0xbeef);
	assert_int_equal(packet->udp.header.len, 8);
	assert_int_equal(packet->payload_wire, 3);
	assert_int_equal(packet->payload.captured, 3);
	assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
	packet = frame_dissect_cut(DLT_IPV4, packet_bytes.data, 29, 31);
	assert_int_equal(packet->payload_wire, 3); /* on the wire */
	assert_int_equal(packet->payload.captured, 1);
}

static void
shorter_than_its_header(void **state)
{
	static const uint8_t datagram[] = {0, 1, 0, 2, 0, 8, 0, 0};

	(void)state;
	for (uint32_t n = 0; n < 8; n++) {
		const struct packet *packet = dissect_udp_bytes(datagram, n);

		assert_worst_anomaly(packet, ANOMALY_UDP_SHORT);
		assert_int_equal(packet->network, NETWORK_IPV4);
		assert_int_equal(packet->transport, TRANSPORT_NONE);
		assert_int_equal(packet->payload_wire, 0);
	}
}

static void
lengths(void **state)
{
	uint8_t datagram[] = {0, 1, 0, 2, 0, 0, 0, 0, 'a', 'b', 'c'};
	const struct packet *packet;

	(void)state;
	for (uint8_t n = 0; n < 8; n++) {
		datagram[5] = n;
		packet = dissect_udp_bytes(datagram, sizeof datagram);
		assert_worst_anomaly(packet, ANOMALY_UDP_LENGTH);
		assert_int_equal(packet->transport, TRANSPORT_NONE);
	}
	datagram[5] = 12;
	assert_worst_anomaly(dissect_udp_bytes(datagram, sizeof datagram), ANOMALY_UDP_LENGTH);
	datagram[5] = 9;
	packet = dissect_udp_bytes(datagram, sizeof datagram);
	assert_worst_anomaly(packet, ANOMALY_UDP_SURPLUS);
	assert_int_equal(packet->transport, TRANSPORT_UDP);
	assert_int_equal(packet->payload_wire, 1);
	assert_int_equal(packet->payload.wire, 1);
}

static void
super_datagram(void **state)
{
	/* total length 0: UDP's own length is not used, whether it is 0 or fits in 16 bits */
	uint8_t datagram[] = {0, 1, 0, 2, 0, 0, 0, 0};
	struct frame_buffer inside, frame;
	const struct packet *packet;

	(void)state;
	for (uint8_t length = 0; length < 20; length = (uint8_t)(length + 9)) {
		datagram[5] = length;
		inside = frame_buffer_from(datagram, sizeof datagram);
		frame = frame_wrap_ipv4(UDP, &inside);
		frame.data[2] = frame.data[3] = 0;
		frame_fix_ipv4_checksum(&frame);
		packet = frame_dissect_cut(DLT_IPV4, frame.data, frame.len, 70028);
		assert_worst_anomaly(packet, ANOMALY_SUPER_PACKET);
		assert_int_equal(packet->transport, TRANSPORT_UDP);
		assert_int_equal(packet->payload_wire, 70000);
	}
}

static void
port_zero(void **state)
{
	static const uint8_t to_zero[] = {0, 1, 0, 0, 0, 8, 0, 0}, from_zero[] = {0, 0, 0, 1, 0, 8, 0, 0};

	(void)state;
	assert_worst_anomaly(dissect_udp_bytes(to_zero, 8), ANOMALY_UDP_PORT_ZERO);
	assert_worst_anomaly(dissect_udp_bytes(from_zero, 8), ANOMALY_NONE); /* "no port" in RFC 768 */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(shorter_than_its_header),
		cmocka_unit_test(lengths),
		cmocka_unit_test(super_datagram),
		cmocka_unit_test(port_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
