/* SPDX-License-Identifier: BSD-2-Clause */
/* IP packets built byte by byte, for tests: frames of link type raw. */
#ifndef NETOBS_TESTS_FLOW_REASSEMBLY_PACKET_BUFFER_H
#define NETOBS_TESTS_FLOW_REASSEMBLY_PACKET_BUFFER_H

#include <pcap/dlt.h>
#include <string.h>

#include "dissect/dissect.h"

enum { RAW_MAX = 65536 + 64 };

/* A packet under construction; `len` never passes the end. */
struct packet_buffer {
	uint32_t len;
	uint8_t bytes[RAW_MAX];
};

static inline void
packet_put_bytes(struct packet_buffer *buffer, const void *bytes, uint32_t n)
{
	if (n > RAW_MAX - buffer->len)
		n = RAW_MAX - buffer->len;
	memcpy(buffer->bytes + buffer->len, bytes, n);
	buffer->len += n;
}

static inline void
packet_put_u8(struct packet_buffer *buffer, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	packet_put_bytes(buffer, &byte, 1);
}

static inline void
packet_put_u16(struct packet_buffer *buffer, unsigned value)
{
	packet_put_u8(buffer, value >> 8);
	packet_put_u8(buffer, value);
}

static inline void
packet_put_u32(struct packet_buffer *buffer, uint32_t value)
{
	packet_put_u16(buffer, value >> 16);
	packet_put_u16(buffer, value & 0xffff);
}

static inline void
packet_set_u16(struct packet_buffer *buffer, uint32_t offset, unsigned value)
{
	buffer->bytes[offset] = (uint8_t)(value >> 8);
	buffer->bytes[offset + 1] = (uint8_t)value;
}

/* An IPv4 header without options for `payload` bytes; addresses are 10.0.0.n.  `fragment` is the 16-bit word of flags
 * and offset. */
static inline void
packet_put_ipv4(struct packet_buffer *buffer, unsigned src, unsigned dst, unsigned protocol, unsigned id,
		unsigned fragment, uint32_t payload)
{
	uint32_t at = buffer->len;

	packet_put_u16(buffer, 0x4500);
	packet_put_u16(buffer, 20 + payload);
	packet_put_u16(buffer, id);
	packet_put_u16(buffer, fragment);
	packet_put_u8(buffer, 64);
	packet_put_u8(buffer, protocol);
	packet_put_u16(buffer, 0);
	packet_put_u32(buffer, 0x0a000000 | src);
	packet_put_u32(buffer, 0x0a000000 | dst);
	packet_set_u16(buffer, at + 10, (uint16_t)~slice_checksum((struct slice){buffer->bytes + at, 20}));
}

/* An IPv6 header; addresses are fd00::n. */
static inline void
packet_put_ipv6(struct packet_buffer *buffer, unsigned src, unsigned dst, unsigned next, uint32_t payload)
{
	static const uint8_t prefix[12] = {0xfd};

	packet_put_u32(buffer, 0x60000000);
	packet_put_u16(buffer, payload);
	packet_put_u8(buffer, next);
	packet_put_u8(buffer, 64);
	packet_put_bytes(buffer, prefix, sizeof prefix);
	packet_put_u32(buffer, src);
	packet_put_bytes(buffer, prefix, sizeof prefix);
	packet_put_u32(buffer, dst);
}

/* An IPv6 fragment header. */
static inline void
packet_put_ipv6_fragment(struct packet_buffer *buffer, unsigned next, unsigned offset, bool more, uint32_t id)
{
	packet_put_u8(buffer, next);
	packet_put_u8(buffer, 0);
	packet_put_u16(buffer, offset << 3 | (unsigned)more);
	packet_put_u32(buffer, id);
}

/* Dissects the packet, of which the capture has `caplen` bytes. */
static inline void
packet_dissect_truncated(const struct packet_buffer *buffer, uint32_t caplen, uint64_t ts, struct frame *frame,
			 struct packet *packet)
{
	static const struct interface interface = {.name = "test"};

	*frame = (struct frame){
		.data = buffer->bytes,
		.interface = &interface,
		.ts = ts,
		.caplen = caplen < buffer->len ? caplen : buffer->len,
		.len = buffer->len,
		.dlt = DLT_RAW,
	};
	dissect_frame(frame, packet);
}

static inline void
packet_dissect(const struct packet_buffer *buffer, uint64_t ts, struct frame *frame, struct packet *packet)
{
	packet_dissect_truncated(buffer, buffer->len, ts, frame, packet);
}

#endif
