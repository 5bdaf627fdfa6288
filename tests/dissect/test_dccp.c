/* SPDX-License-Identifier: BSD-2-Clause */
/* The DCCP dissector: header of every type, options, checksum coverage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum { PROTOCOL = 33, IPV4_HEADER = 20, NUMBERS_LONG = 1, NUMBERS_SHORT = 0 };

static struct frame_buffer packet_bytes;

static const struct packet *
dissect_dccp_bytes(const struct frame_buffer *inside)
{
	packet_bytes = frame_wrap_ipv4(PROTOCOL, inside);
	return frame_dissect(DLT_IPV4, &packet_bytes);
}

/* 5001 > 5002, CCVal 9, coverage 0, checksum 0xbeef; sequence number 0x010203040506 or 0x040506, acknowledgement number
 * 0x111213141516 or 0x141516, service code 0x61626364, reset code 3; then `options`, padded by the caller, then the
 * data "data". */
static struct frame_buffer
dccp_build(uint8_t type, bool extended, const void *options, uint32_t length)
{
	uint8_t header[16] = {0x13, 0x89, 0x13, 0x8a, 0, 0x90, 0xbe, 0xef, (uint8_t)(type << 1 | extended), 4, 5, 6};
	static const uint8_t numbers[6] = {1, 2, 3, 4, 5, 6}, ack[8] = {0, 0, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16};
	static const uint8_t ack_short[4] = {0, 0x14, 0x15, 0x16}, service[4] = {'a', 'b', 'c', 'd'};
	static const uint8_t reset[4] = {3, 0x77, 0x88, 0x99};
	struct frame_buffer bytes;

	if (extended) {
		header[9] = 0;
		memcpy(header + 10, numbers, sizeof numbers);
	}
	bytes = frame_buffer_from(header, extended ? 16 : 12);
	if (type != DCCP_REQUEST && type != DCCP_DATA && type <= DCCP_SYNC_ACK)
		frame_buffer_append(&bytes, extended ? ack : ack_short, extended ? sizeof ack : sizeof ack_short);
	if (type == DCCP_REQUEST || type == DCCP_RESPONSE)
		frame_buffer_append(&bytes, service, sizeof service);
	if (type == DCCP_RESET)
		frame_buffer_append(&bytes, reset, sizeof reset);
	frame_buffer_append(&bytes, options, length);
	bytes.data[4] = (uint8_t)(bytes.len / 4);
	frame_buffer_append(&bytes, "data", 4);
	return bytes;
}

/* The reason of a Sync with these options, padded to a multiple of 4. */
static const struct packet *
dissect_options(uint8_t type, const void *options, uint32_t length)
{
	uint8_t padded[64] = {0};
	struct frame_buffer bytes;

	memcpy(padded, options, length);
	bytes = dccp_build(type, NUMBERS_LONG, padded, (length + 3) / 4 * 4);
	return dissect_dccp_bytes(&bytes);
}

#define OPTIONS_OF(type, ...) \
	dissect_options((type), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* A good packet of a type whose header without options has `fixed` bytes, whole and cut at every byte. */
static void
check_type(uint8_t type, bool extended, uint32_t fixed)
{
	static const uint8_t options[8] = {1, 41, 6, 1, 2, 3, 4, 2}; /* Mandatory, Timestamp, Slow Receiver */
	const uint8_t *first = type == DCCP_DATA ? options + 1 : options;
	uint8_t area[8] = {0};
	struct frame_buffer bytes;
	const struct packet *packet;

	memcpy(area, first, type == DCCP_DATA ? 7 : 8);
	bytes = dccp_build(type, extended, area, sizeof area);
	packet = dissect_dccp_bytes(&bytes);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_DCCP);
	assert_int_equal(packet->dccp.sport, 5001);
	assert_int_equal(packet->dccp.dport, 5002);
	assert_int_equal(packet->dccp.type, type);
	assert_int_equal(packet->dccp.extended, extended);
	assert_int_equal(packet->dccp.ccval, 9);
	assert_int_equal(packet->dccp.coverage, 0);
	assert_int_equal(packet->dccp.checksum, 0xbeef);
	assert_int_equal(packet->dccp.header_len, fixed + 8);
	assert_int_equal(packet->dccp.header.len, fixed + 8);
	assert_true(packet->dccp.seq == (extended ? 0x010203040506 : 0x040506));
	if (type == DCCP_REQUEST || type == DCCP_DATA) {
		assert_false(packet->dccp.has_ack);
		assert_int_equal(packet->dccp.ack, 0);
	} else {
		assert_true(packet->dccp.has_ack);
		assert_true(packet->dccp.ack == (extended ? 0x111213141516 : 0x141516));
	}
	assert_int_equal(packet->dccp.service, type == DCCP_REQUEST || type == DCCP_RESPONSE ? 0x61626364 : 0);
	assert_int_equal(packet->dccp.reset_code, type == DCCP_RESET ? 3 : 0);
	assert_int_equal(packet->payload_wire, 4);
	assert_int_equal(packet->payload.captured, 4);
	{
		const struct truncation_row cuts[] = {
			{IPV4_HEADER, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
			{IPV4_HEADER + fixed, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
			{IPV4_HEADER + fixed + 8, ANOMALY_TRUNCATED_OPTIONS, ANOMALY_TRUNCATED_RECORD},
			{IPV4_HEADER + fixed + 12, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD},
		};

		assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
	}
}

static void
good_types(void **state)
{
	(void)state;
	check_type(DCCP_REQUEST, NUMBERS_LONG, 20);
	check_type(DCCP_RESPONSE, NUMBERS_LONG, 28);
	check_type(DCCP_DATA, NUMBERS_LONG, 16);
	check_type(DCCP_ACK, NUMBERS_LONG, 24);
	check_type(DCCP_DATA_ACK, NUMBERS_LONG, 24);
	check_type(DCCP_CLOSE_REQ, NUMBERS_LONG, 24);
	check_type(DCCP_CLOSE, NUMBERS_LONG, 24);
	check_type(DCCP_RESET, NUMBERS_LONG, 28);
	check_type(DCCP_SYNC, NUMBERS_LONG, 24);
	check_type(DCCP_SYNC_ACK, NUMBERS_LONG, 24);
	check_type(DCCP_DATA, NUMBERS_SHORT, 12);
	check_type(DCCP_ACK, NUMBERS_SHORT, 16);
	check_type(DCCP_DATA_ACK, NUMBERS_SHORT, 16);
}

static void
over_ipv6(void **state)
{
	struct frame_buffer bytes = dccp_build(DCCP_SYNC, NUMBERS_LONG, NULL, 0), frame;
	const struct packet *packet;

	(void)state;
	frame = frame_wrap_ipv6(PROTOCOL, &bytes);
	packet = frame_dissect(DLT_IPV6, &frame);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_DCCP);
	assert_int_equal(packet->payload_wire, 4);
}

static void
shorter_than_the_generic_header(void **state)
{
	struct frame_buffer bytes = dccp_build(DCCP_DATA, NUMBERS_SHORT, NULL, 0);

	(void)state;
	bytes.len = 12;
	assert_worst_anomaly(dissect_dccp_bytes(&bytes), ANOMALY_NONE);
	for (bytes.len = 0; bytes.len < 12; bytes.len++) {
		const struct packet *packet = dissect_dccp_bytes(&bytes);

		assert_worst_anomaly(packet, ANOMALY_DCCP_SHORT);
		assert_int_equal(packet->network, NETWORK_IPV4);
		assert_int_equal(packet->transport, TRANSPORT_NONE);
		assert_int_equal(packet->payload_wire, 0);
	}
}

static void
data_offset(void **state)
{
	struct frame_buffer bytes = dccp_build(DCCP_RESPONSE, NUMBERS_LONG, NULL, 0);

	(void)state;
	for (unsigned words = 0; words < 256; words++) {
		const struct packet *packet;

		bytes.data[4] = (uint8_t)words;
		packet = dissect_dccp_bytes(&bytes);
		if (words == 7 || words == 8) { /* the data are options then, of which 'd' has the length 'a' */
			assert_worst_anomaly(packet, words == 7 ? ANOMALY_NONE : ANOMALY_DCCP_OPTIONS);
			assert_int_equal(packet->payload_wire, words == 7 ? 4 : 0);
			continue;
		}
		assert_worst_anomaly(packet, ANOMALY_DCCP_DATA_OFFSET);
		assert_int_equal(packet->transport, TRANSPORT_NONE);
	}
}

static void
reserved_types(void **state)
{
	(void)state;
	for (uint8_t type = DCCP_SYNC_ACK + 1; type < 16; type++) {
		static const uint8_t no_options[4] = {255, 1, 1, 1};
		struct frame_buffer bytes = dccp_build(type, NUMBERS_LONG, no_options, 4);
		const struct packet *packet = dissect_dccp_bytes(&bytes);

		assert_worst_anomaly(packet, ANOMALY_DCCP_TYPE);
		assert_false(anomaly_has(&packet->anomalies, ANOMALY_DCCP_OPTIONS));
		assert_int_equal(packet->transport, TRANSPORT_DCCP);
		assert_int_equal(packet->dccp.type, type);
		assert_true(packet->dccp.seq == 0x010203040506);
		assert_false(packet->dccp.has_ack);
		assert_int_equal(packet->payload_wire, 4);
	}
}

/* Types that must have 48-bit sequence numbers, with 24 bits. */
static void
short_sequence_numbers(void **state)
{
	(void)state;
	for (uint8_t type = 0; type <= DCCP_SYNC_ACK; type++) {
		struct frame_buffer bytes = dccp_build(type, NUMBERS_SHORT, NULL, 0);
		const struct packet *packet = dissect_dccp_bytes(&bytes);
		bool allowed = type == DCCP_DATA || type == DCCP_ACK || type == DCCP_DATA_ACK;

		assert_worst_anomaly(packet, allowed ? ANOMALY_NONE : ANOMALY_DCCP_SHORT_SEQUENCE);
		assert_int_equal(packet->transport, TRANSPORT_DCCP);
		assert_true(packet->dccp.seq == 0x040506);
		if (!allowed) {
			assert_false(packet->dccp.has_ack);
			assert_int_equal(packet->dccp.service, 0);
			assert_int_equal(packet->dccp.reset_code, 0);
		}
	}
}

/* Sets `bits` in byte `at` of a packet of the type, which must be found. */
static void
check_reserved(uint8_t type, bool extended, uint32_t at, uint8_t bits)
{
	struct frame_buffer bytes = dccp_build(type, extended, NULL, 0);
	const struct packet *packet;

	bytes.data[at] |= bits;
	packet = dissect_dccp_bytes(&bytes);
	assert_worst_anomaly(packet, ANOMALY_DCCP_RESERVED);
	assert_int_equal(packet->dccp.type, type);
	assert_true(packet->dccp.seq == (extended ? 0x010203040506 : 0x040506));
}

static void
reserved_bits(void **state)
{
	(void)state;
	check_reserved(DCCP_DATA, NUMBERS_SHORT, 8, 0x20);
	check_reserved(DCCP_DATA, NUMBERS_LONG, 8, 0x80);
	check_reserved(DCCP_DATA, NUMBERS_LONG, 9, 0x01);
	check_reserved(DCCP_ACK, NUMBERS_LONG, 16, 0x80);
	check_reserved(DCCP_ACK, NUMBERS_LONG, 17, 0x01);
	check_reserved(DCCP_ACK, NUMBERS_SHORT, 12, 0x01);
}

static void
port_zero(void **state)
{
	(void)state;
	for (uint32_t at = 0; at < 4; at += 2) {
		struct frame_buffer bytes = dccp_build(DCCP_SYNC, NUMBERS_LONG, NULL, 0);

		bytes.data[at] = bytes.data[at + 1] = 0;
		assert_worst_anomaly(dissect_dccp_bytes(&bytes), ANOMALY_DCCP_PORT_ZERO);
	}
}

static void
coverage(void **state)
{
	struct frame_buffer bytes = dccp_build(DCCP_DATA_ACK, NUMBERS_LONG, NULL, 0);

	(void)state;
	for (uint8_t coverage = 0; coverage < 16; coverage++) { /* 4 bytes of data */
		const struct packet *packet;

		bytes.data[5] = (uint8_t)(0x90 | coverage);
		packet = dissect_dccp_bytes(&bytes);
		assert_worst_anomaly(packet, coverage <= 2 ? ANOMALY_NONE : ANOMALY_DCCP_COVERAGE);
		assert_int_equal(packet->dccp.coverage, coverage);
		assert_int_equal(packet->dccp.ccval, 9);
	}
}

static void
invalid_service_code(void **state)
{
	struct frame_buffer bytes = dccp_build(DCCP_REQUEST, NUMBERS_LONG, NULL, 0);

	(void)state;
	memset(bytes.data + 16, 0xff, 4);
	assert_worst_anomaly(dissect_dccp_bytes(&bytes), ANOMALY_DCCP_SERVICE);
	bytes.data[19] = 0xfe;
	assert_worst_anomaly(dissect_dccp_bytes(&bytes), ANOMALY_NONE);
}

static void
impossible_options(void **state)
{
	(void)state;
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 0, 2, 31, 200, 3, 1, 41, 6, 1, 2, 3, 4), ANOMALY_NONE);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 200, 0, 0, 0), ANOMALY_DCCP_OPTIONS);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 200, 1, 0, 0), ANOMALY_DCCP_OPTIONS);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 200, 5, 0, 0), ANOMALY_DCCP_OPTIONS);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 0, 0, 0, 32), ANOMALY_DCCP_OPTIONS);
	/* what follows is ignored */
	assert_false(anomaly_has(&OPTIONS_OF(DCCP_SYNC, 200, 0, 1, 1)->anomalies, ANOMALY_DCCP_MANDATORY));
}

/* Every length of every option type with a length. */
static void
option_lengths(void **state)
{
	(void)state;
	for (unsigned type = 32; type < 256; type++)
		for (uint8_t length = 2; length < 16; length++) {
			uint8_t option[16] = {(uint8_t)type, length};
			bool right = true;

			if (type <= 35)
				right = length >= 3;
			else if (type == 37)
				right = length >= 3 && length <= 8;
			else if (type == 41 || type == 44)
				right = length == 6;
			else if (type == 42)
				right = length == 6 || length == 8 || length == 10;
			else if (type == 43)
				right = length == 4 || length == 6;
			assert_worst_anomaly(dissect_options(DCCP_SYNC, option, length),
					     right ? ANOMALY_NONE : ANOMALY_DCCP_OPTION_LENGTH);
		}
}

static void
mandatory(void **state)
{
	(void)state;
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 0, 1, 2, 0), ANOMALY_NONE);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 0, 0, 0, 1), ANOMALY_DCCP_MANDATORY);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 1, 1, 2, 0), ANOMALY_DCCP_MANDATORY);
	assert_worst_anomaly(OPTIONS_OF(DCCP_SYNC, 1, 2, 1, 2), ANOMALY_NONE);
}

/* Section 5.8, table 3: options of a Data packet. */
static void
options_of_data(void **state)
{
	static const uint8_t lengths[] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 6, 6, 4, 6};

	(void)state;
	for (uint8_t type = 32; type <= 44; type++) {
		uint8_t option[8] = {type, lengths[type - 32]};
		bool allowed = type == 37 || type == 41 || type == 42 || type == 44;

		assert_worst_anomaly(dissect_options(DCCP_DATA, option, option[1]),
				     allowed ? ANOMALY_NONE : ANOMALY_DCCP_DATA_OPTION);
		assert_worst_anomaly(dissect_options(DCCP_DATA_ACK, option, option[1]), ANOMALY_NONE);
	}
	assert_worst_anomaly(OPTIONS_OF(DCCP_DATA, 1, 2, 0, 0), ANOMALY_DCCP_DATA_OPTION);
	assert_worst_anomaly(OPTIONS_OF(DCCP_DATA, 0, 2, 128, 2), ANOMALY_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_types),
		cmocka_unit_test(over_ipv6),
		cmocka_unit_test(shorter_than_the_generic_header),
		cmocka_unit_test(data_offset),
		cmocka_unit_test(reserved_types),
		cmocka_unit_test(short_sequence_numbers),
		cmocka_unit_test(reserved_bits),
		cmocka_unit_test(port_zero),
		cmocka_unit_test(coverage),
		cmocka_unit_test(invalid_service_code),
		cmocka_unit_test(impossible_options),
		cmocka_unit_test(option_lengths),
		cmocka_unit_test(mandatory),
		cmocka_unit_test(options_of_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
