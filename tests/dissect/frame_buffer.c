/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/dissect/frame_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct frame_buffer
frame_buffer_from(const void *data, uint32_t len)
{
	struct frame_buffer bytes = {.len = 0};

	frame_buffer_append(&bytes, data, len);
	return bytes;
}

void
frame_buffer_append(struct frame_buffer *to, const void *data, uint32_t len)
{
	assert_true(len <= sizeof to->data - to->len);
	if (len > 0)
		memcpy(to->data + to->len, data, len);
	to->len += len;
}

struct frame_buffer
frame_wrap_ether(uint16_t type, const struct frame_buffer *inside)
{
	const uint8_t header[14] = {
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, (uint8_t)(type >> 8), (uint8_t)type,
	};
	struct frame_buffer frame = frame_buffer_from(header, sizeof header);

	frame_buffer_append(&frame, inside->data, inside->len);
	return frame;
}

void
frame_fix_ipv4_checksum(struct frame_buffer *packet)
{
	uint32_t sum = 0, length = (packet->data[0] & 15u) * 4;

	packet->data[10] = packet->data[11] = 0;
	for (uint32_t i = 0; i < length; i += 2)
		sum += (uint32_t)packet->data[i] << 8 | packet->data[i + 1];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	packet->data[10] = (uint8_t)(~sum >> 8);
	packet->data[11] = (uint8_t)~sum;
}

static struct frame_buffer
frame_wrap(uint8_t protocol, uint16_t flags_offset, const struct frame_buffer *options,
	   const struct frame_buffer *inside)
{
	uint32_t header_length = 20 + options->len, length = header_length + inside->len;
	const uint8_t header[20] = {
		(uint8_t)(0x40 | header_length / 4), 0, (uint8_t)(length >> 8), (uint8_t)length, 0x12, 0x34,
		(uint8_t)(flags_offset >> 8), (uint8_t)flags_offset, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
	};
	struct frame_buffer packet = frame_buffer_from(header, sizeof header);

	frame_buffer_append(&packet, options->data, options->len);
	frame_buffer_append(&packet, inside->data, inside->len);
	frame_fix_ipv4_checksum(&packet);
	return packet;
}

struct frame_buffer
frame_wrap_ipv4(uint8_t protocol, const struct frame_buffer *inside)
{
	const struct frame_buffer none = {.len = 0};

	return frame_wrap(protocol, 0x4000, &none, inside);
}

struct frame_buffer
frame_wrap_ipv4_fragment(uint8_t protocol, uint16_t flags_offset, const struct frame_buffer *inside)
{
	const struct frame_buffer none = {.len = 0};

	return frame_wrap(protocol, flags_offset, &none, inside);
}

struct frame_buffer
frame_wrap_ipv4_options(uint8_t protocol, const struct frame_buffer *options, const struct frame_buffer *inside)
{
	return frame_wrap(protocol, 0x4000, options, inside);
}

struct frame_buffer
frame_wrap_ipv6(uint8_t next_header, const struct frame_buffer *inside)
{
	const uint8_t header[40] = {
		0x60, 0, 0, 0, (uint8_t)(inside->len >> 8), (uint8_t)inside->len, next_header, 64,
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	};
	struct frame_buffer packet = frame_buffer_from(header, sizeof header);

	frame_buffer_append(&packet, inside->data, inside->len);
	return packet;
}

const struct packet *
frame_dissect_cut(int dlt, const void *data, uint32_t have, uint32_t wire)
{
	static const struct interface interface;
	static struct frame frame;
	static struct packet packet;
	static uint8_t *copy;

	/* Memory of exactly that size, so that a sanitizer sees a read beyond it; nothing left of the last packet. */
	free(copy);
	copy = malloc(have > 0 ? have : 1);
	assert_non_null(copy);
	if (have > 0)
		memcpy(copy, data, have);
	memset(&packet, 0xa5, sizeof packet);
	frame = (struct frame){.data = copy, .interface = &interface, .caplen = have, .len = wire, .dlt = dlt};
	dissect_frame(&frame, &packet);
	return &packet;
}

const struct packet *
frame_dissect(int dlt, const struct frame_buffer *bytes)
{
	return frame_dissect_cut(dlt, bytes->data, bytes->len, bytes->len);
}

const struct packet *
frame_dissect_inner(const struct packet *outer)
{
	static struct packet inner;

	memset(&inner, 0xa5, sizeof inner);
	dissect_inner(outer, &inner);
	return &inner;
}

void
assert_worst_anomaly(const struct packet *packet, enum anomaly reason)
{
	assert_string_equal(anomaly_name(packet->worst_anomaly), anomaly_name(reason));
	assert_true(reason == ANOMALY_NONE || anomaly_has(&packet->anomalies, reason));
}

void
assert_truncations(int dlt, const void *data, uint32_t len, const struct truncation_row *cuts)
{
	struct anomaly_set whole = frame_dissect_cut(dlt, data, len, len)->anomalies;

	for (uint32_t n = 0; n < len; n++) {
		const struct packet *packet;

		while (n >= cuts->upto)
			cuts++;
		packet = frame_dissect_cut(dlt, data, n, len);
		if (packet->worst_anomaly != cuts->snaplen)
			print_message("cut by the capture at byte %u of %u\n", n, len);
		assert_worst_anomaly(packet, cuts->snaplen);
		for (unsigned a = 1; a < ANOMALY_COUNT; a++)
			if (anomaly_has(&packet->anomalies, (enum anomaly)a) && !anomaly_has(&whole, (enum anomaly)a))
				assert_int_equal(anomaly_severity((enum anomaly)a), SEVERITY_TRUNCATED);
		packet = frame_dissect_cut(dlt, data, n, n);
		if (packet->worst_anomaly != cuts->wire)
			print_message("cut on the wire at byte %u of %u\n", n, len);
		assert_worst_anomaly(packet, cuts->wire);
	}
}
