/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP packets built chunk by chunk, for tests. */
#ifndef NETOBS_TESTS_FLOW_SCTP_SCTP_BUILDER_H
#define NETOBS_TESTS_FLOW_SCTP_SCTP_BUILDER_H

#include "dissect/transport/sctp_chunks.h"
#include "tests/flow/reassembly/packet_buffer.h"

/* Begins a packet: an IPv4 header, to be completed by script_end(), and the common header. */
static inline void
script_begin(struct raw *raw, unsigned src, unsigned dst, unsigned sport, unsigned dport, uint32_t verify)
{
	raw->len = 0;
	raw_ipv4(raw, src, dst, 132, 0, 0, 12);
	raw_u16(raw, sport);
	raw_u16(raw, dport);
	raw_u32(raw, verify);
	raw_u32(raw, 0);
}

/* A chunk header whose length counts `value` bytes, which the caller appends, then script_pad(). */
static inline void
script_chunk(struct raw *raw, unsigned type, unsigned flags, uint32_t value)
{
	raw_u8(raw, type);
	raw_u8(raw, flags);
	raw_u16(raw, 4 + value);
}

static inline void
script_pad(struct raw *raw)
{
	while (raw->len % 4 != 0)
		raw_u8(raw, 0);
}

/* INIT or INIT ACK with the IPv4 addresses 10.0.0.n for each n of `addresses`. */
static inline void
script_init(struct raw *raw, unsigned type, uint32_t tag, const uint8_t *addresses, unsigned count)
{
	script_chunk(raw, type, 0, 16 + 8 * count);
	raw_u32(raw, tag);
	raw_u32(raw, 100000); /* a_rwnd */
	raw_u16(raw, 10);
	raw_u16(raw, 20);
	raw_u32(raw, 1000); /* initial TSN */
	for (unsigned i = 0; i < count; i++) {
		raw_u16(raw, SCTP_PARAMETER_IPV4);
		raw_u16(raw, 8);
		raw_u32(raw, 0x0a000000u | addresses[i]);
	}
}

static inline void
script_data(struct raw *raw, uint32_t tsn, uint32_t bytes)
{
	script_chunk(raw, SCTP_CHUNK_DATA, 3, 12 + bytes);
	raw_u32(raw, tsn);
	raw_u32(raw, 0); /* stream and its sequence number */
	raw_u32(raw, 0); /* payload protocol */
	for (uint32_t i = 0; i < bytes; i++)
		raw_u8(raw, i);
	script_pad(raw);
}

static inline void
script_sack(struct raw *raw, uint32_t acked)
{
	script_chunk(raw, SCTP_CHUNK_SACK, 0, 12);
	raw_u32(raw, acked);
	raw_u32(raw, 90000);
	raw_u32(raw, 0);
}

static inline void
script_shutdown(struct raw *raw, uint32_t acked)
{
	script_chunk(raw, SCTP_CHUNK_SHUTDOWN, 0, 4);
	raw_u32(raw, acked);
}

/* Sets the lengths and the IP checksum. */
static inline void
script_end(struct raw *raw)
{
	raw_set_u16(raw, 2, raw->len);
	raw_set_u16(raw, 10, 0);
	raw_set_u16(raw, 10, (uint16_t)~view_sum((struct view){raw->bytes, 20}));
}

#endif
