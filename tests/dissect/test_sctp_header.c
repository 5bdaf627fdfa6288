/* SPDX-License-Identifier: BSD-2-Clause */
/* The SCTP dissector: common header and the row of chunks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/dissect/frame_buffer.h"

enum { SCTP = 132 };

/* 2905 > 36412, verification tag 0x01020304, checksum 0x0a0b0c0d. */
#define COMMON 0x0b, 0x59, 0x8e, 0x3c, 1, 2, 3, 4, 0x0a, 0x0b, 0x0c, 0x0d

static struct frame_buffer packet_bytes;

static const struct packet *
dissect_sctp_bytes(const void *data, uint32_t len)
{
	struct frame_buffer inside = frame_buffer_from(data, len);

	packet_bytes = frame_wrap_ipv4(SCTP, &inside);
	return frame_dissect(DLT_IPV4, &packet_bytes);
}

static void
good(void **state)
{
	/* SACK (3) of 4 bytes, DATA (0) of 6 padded to 8 */
	static const uint8_t sctp[] = {COMMON, 3, 0, 0, 4, 0, 3, 0, 6, 'a', 'b', 0, 0};
	static const struct truncation_row cuts[] = {
		{20, ANOMALY_TRUNCATED_NETWORK, ANOMALY_IPV4_SHORT},
		{32, ANOMALY_TRUNCATED_TRANSPORT, ANOMALY_TRUNCATED_RECORD},
		{40, ANOMALY_TRUNCATED_CHUNKS, ANOMALY_TRUNCATED_RECORD},
		{44, ANOMALY_NONE, ANOMALY_TRUNCATED_RECORD}, /* only data is missing */
	};
	const struct packet *packet = dissect_sctp_bytes(sctp, sizeof sctp);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->transport, TRANSPORT_SCTP);
	assert_int_equal(packet->sctp.sport, 2905);
	assert_int_equal(packet->sctp.dport, 36412);
	assert_int_equal(packet->sctp.verification_tag, 0x01020304);
	assert_int_equal(packet->sctp.checksum, 0x0a0b0c0d);
	assert_int_equal(packet->sctp.first_chunk, 3);
	assert_int_equal(packet->sctp.chunk_count, 2);
	assert_int_equal(packet->sctp.chunks.len, 12);
	assert_int_equal(packet->sctp.header.len, 12);
	assert_int_equal(packet->payload_wire, 12);
	assert_truncations(DLT_IPV4, packet_bytes.data, packet_bytes.len, cuts);
}

static void
last_padding_may_be_missing(void **state)
{
	static const uint8_t sctp[] = {COMMON, 0, 3, 0, 6, 'a', 'b'};
	const struct packet *packet = dissect_sctp_bytes(sctp, sizeof sctp);

	(void)state;
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->sctp.chunk_count, 1);
}

static void
bad_chunks(void **state)
{
	uint8_t sctp[] = {COMMON, 1, 0, 0, 4, 6, 0, 0, 4};
	const struct packet *packet;

	(void)state;
	for (uint8_t length = 0; length < 4; length++) {
		sctp[19] = length;
		packet = dissect_sctp_bytes(sctp, sizeof sctp);
		assert_worst_anomaly(packet, ANOMALY_SCTP_CHUNK_LENGTH);
		assert_int_equal(packet->transport, TRANSPORT_SCTP);
		assert_int_equal(packet->sctp.first_chunk, 1);
		assert_int_equal(packet->sctp.chunk_count, 1);
	}
	sctp[19] = 5;
	assert_worst_anomaly(dissect_sctp_bytes(sctp, sizeof sctp), ANOMALY_SCTP_CHUNK_LENGTH);
	for (uint32_t n = 17; n < 20; n++)
		assert_worst_anomaly(dissect_sctp_bytes(sctp, n), ANOMALY_SCTP_CHUNK_LENGTH);
	assert_worst_anomaly(dissect_sctp_bytes(sctp, 12), ANOMALY_SCTP_NO_CHUNK);
	for (uint32_t n = 0; n < 12; n++)
		assert_worst_anomaly(dissect_sctp_bytes(sctp, n), ANOMALY_SCTP_SHORT);
}

static void
chunks_have_a_limit(void **state)
{
	uint8_t sctp[12 + 4 * 130] = {COMMON};
	const struct packet *packet;

	(void)state;
	for (unsigned i = 0; i < 130; i++)
		memcpy(sctp + 12 + 4 * i, ((uint8_t[4]){4, 0, 0, 4}), 4);
	packet = dissect_sctp_bytes(sctp, 12 + 4 * 80);
	assert_worst_anomaly(packet, ANOMALY_NONE);
	assert_int_equal(packet->sctp.chunk_count, 80);
	assert_int_equal(packet->sctp.chunks_wire, 4 * 80);
	packet = dissect_sctp_bytes(sctp, sizeof sctp);
	assert_worst_anomaly(packet, ANOMALY_SCTP_CHUNK_LIMIT);
	assert_int_equal(packet->sctp.chunk_count, 80);
	assert_int_equal(packet->sctp.chunks_wire, 4 * 80);
	assert_int_equal(packet->sctp.chunks.len, 4 * 80);
	assert_int_equal(packet->payload_wire, 4 * 130);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(last_padding_may_be_missing),
		cmocka_unit_test(bad_chunks),
		cmocka_unit_test(chunks_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
