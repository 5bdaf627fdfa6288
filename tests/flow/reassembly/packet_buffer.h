/* SPDX-License-Identifier: BSD-2-Clause */
/* IP packets built byte by byte, for tests: frames of link type raw. */
#ifndef NETOBS_TESTS_FLOW_REASSEMBLY_PACKET_BUFFER_H
#define NETOBS_TESTS_FLOW_REASSEMBLY_PACKET_BUFFER_H

#include <pcap/dlt.h>
#include <string.h>

#include "dissect/dissect.h"

enum { RAW_MAX = 65536 + 64 };

/* Bytes in the making; `len` never passes the end. */
struct raw {
	uint32_t len;
	uint8_t bytes[RAW_MAX];
};

static inline void
raw_put(struct raw *raw, const void *bytes, uint32_t n)
{
	if (n > RAW_MAX - raw->len)
		n = RAW_MAX - raw->len;
	memcpy(raw->bytes + raw->len, bytes, n);
	raw->len += n;
}

static inline void
raw_u8(struct raw *raw, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	raw_put(raw, &byte, 1);
}

static inline void
raw_u16(struct raw *raw, unsigned value)
{
	raw_u8(raw, value >> 8);
	raw_u8(raw, value);
}

static inline void
raw_u32(struct raw *raw, uint32_t value)
{
	raw_u16(raw, value >> 16);
	raw_u16(raw, value & 0xffff);
}

static inline void
raw_set_u16(struct raw *raw, uint32_t offset, unsigned value)
{
	raw->bytes[offset] = (uint8_t)(value >> 8);
	raw->bytes[offset + 1] = (uint8_t)value;
}

/* An IPv4 header without options for `payload` bytes; addresses are 10.0.0.n.  `fragment` is the 16-bit word of flags
 * and offset. */
static inline void
raw_ipv4(struct raw *raw, unsigned src, unsigned dst, unsigned protocol, unsigned id, unsigned fragment,
	 uint32_t payload)
{
	uint32_t at = raw->len;

	raw_u16(raw, 0x4500);
	raw_u16(raw, 20 + payload);
	raw_u16(raw, id);
	raw_u16(raw, fragment);
	raw_u8(raw, 64);
	raw_u8(raw, protocol);
	raw_u16(raw, 0);
	raw_u32(raw, 0x0a000000 | src);
	raw_u32(raw, 0x0a000000 | dst);
	raw_set_u16(raw, at + 10, (uint16_t)~view_sum((struct view){raw->bytes + at, 20}));
}

/* An IPv6 header; addresses are fd00::n. */
static inline void
raw_ipv6(struct raw *raw, unsigned src, unsigned dst, unsigned next, uint32_t payload)
{
	static const uint8_t prefix[12] = {0xfd};

	raw_u32(raw, 0x60000000);
	raw_u16(raw, payload);
	raw_u8(raw, next);
	raw_u8(raw, 64);
	raw_put(raw, prefix, sizeof prefix);
	raw_u32(raw, src);
	raw_put(raw, prefix, sizeof prefix);
	raw_u32(raw, dst);
}

/* An IPv6 fragment header. */
static inline void
raw_fragment(struct raw *raw, unsigned next, unsigned offset, bool more, uint32_t id)
{
	raw_u8(raw, next);
	raw_u8(raw, 0);
	raw_u16(raw, offset << 3 | (unsigned)more);
	raw_u32(raw, id);
}

/* Dissects what was built, of which the capture holds `caplen` bytes. */
static inline void
raw_dissect_cut(const struct raw *raw, uint32_t caplen, uint64_t ts, struct frame *frame, struct packet *packet)
{
	static const struct interface interface = {.name = "test"};

	*frame = (struct frame){
		.data = raw->bytes,
		.interface = &interface,
		.ts = ts,
		.caplen = caplen < raw->len ? caplen : raw->len,
		.len = raw->len,
		.dlt = DLT_RAW,
	};
	dissect_frame(frame, packet);
}

static inline void
raw_dissect(const struct raw *raw, uint64_t ts, struct frame *frame, struct packet *packet)
{
	raw_dissect_cut(raw, raw->len, ts, frame, packet);
}

#endif
